//! The consequences of a call, as presented to the person.

use octo_browser::safety::{self, AddressLeak, Judgement, SensitiveData, Sink};
use octo_protocol::PageRisk;

/// Returns the risks to ask about, the most serious first, without duplicates.
pub(crate) fn risks(judgement: &Judgement) -> Vec<PageRisk> {
    let Judgement::Ask(question) = judgement else { return Vec::new() };
    let mut risks: Vec<PageRisk> = Vec::new();
    for risk in question.sinks().iter().map(risk) {
        if !risks.contains(&risk) {
            risks.push(risk);
        }
    }
    risks
}

fn risk(sink: &Sink) -> PageRisk {
    use safety::ControlEffect;
    match sink {
        Sink::Submits(SensitiveData::Payment) | Sink::Writes(SensitiveData::Payment) => PageRisk::Pays,
        Sink::Submits(SensitiveData::Password | SensitiveData::Code)
        | Sink::Writes(SensitiveData::Password | SensitiveData::Code) => PageRisk::Password,
        Sink::Submits(SensitiveData::Identity)
        | Sink::Writes(SensitiveData::Identity)
        | Sink::SubmitsElsewhere(_)
        | Sink::Enter
        | Sink::Shortcut
        | Sink::Unknown => PageRisk::Sends,
        Sink::AnnouncesEffect(ControlEffect::Buy | ControlEffect::Transfer | ControlEffect::Subscribe) => {
            PageRisk::Pays
        }
        Sink::AnnouncesEffect(ControlEffect::Send | ControlEffect::Publish) => PageRisk::Sends,
        Sink::AnnouncesEffect(
            ControlEffect::Delete | ControlEffect::Unsubscribe | ControlEffect::CloseAccount,
        ) => PageRisk::Deletes,
        Sink::AnnouncesEffect(ControlEffect::Confirm | ControlEffect::Install)
        | Sink::Accepts(_)
        | Sink::OpensProgram => PageRisk::Confirms,
        Sink::Carries(_) | Sink::Leaks(AddressLeak::Quote(_)) => PageRisk::Carries,
        Sink::Leaks(
            AddressLeak::Long { .. } | AddressLeak::Encoded | AddressLeak::Mail | AddressLeak::Number,
        ) => PageRisk::LongAddress,
        Sink::Uploads(_) => PageRisk::Uploads,
        Sink::Downloads(_) => PageRisk::Downloads,
        Sink::Evaluates => PageRisk::Script,
    }
}
