//! What an agent asks at the desk about the settings. It changes none: it proposes, and the person sets.

use octo_protocol::{LiveTurnLimit, Settings, SettingsPatch, SubAgentLimit};
use octo_tools::{SettingsQuery, ToolError};

pub(super) fn answer(settings: &Settings, query: SettingsQuery) -> Result<String, ToolError> {
    // No key and no password is among them: those are in the keychain.
    let settings = serde_json::to_value(settings).map_err(|error| ToolError::new(error.to_string()))?;
    let serde_json::Value::Object(settings) = settings else { return Ok(String::new()) };
    match query {
        SettingsQuery::List => Ok(settings.iter().map(|(key, value)| format!("{key}: {value}\n")).collect()),
        SettingsQuery::Show { key } => match settings.get(&key) {
            Some(value) => Ok(format!("{key}: {value}")),
            None => {
                let all: Vec<&str> = settings.keys().map(String::as_str).collect();
                Err(ToolError::new(format!("There is no setting {key}. There are: {}.", all.join(", "))))
            }
        },
        SettingsQuery::Open { page, proposal } => {
            let then = match &proposal {
                Some((key, value)) => {
                    proposed(&page, key, value)?;
                    format!(
                        "There the person sees that you propose {key}: {value}, and sets it or leaves it."
                    )
                }
                None => "Tell the person what to set there.".to_owned(),
            };
            Ok(format!(
                "The card of this call has a button that opens Settings > {page}. Nothing was changed. {then}"
            ))
        }
    }
}

/// The settings that can be proposed, by their pages: those whose value is one word or number, and none that decides
/// what may run unasked.
const PROPOSED: [(&str, &str); 6] = [
    ("appearance", "theme"),
    ("behaviour", "keep_warm"),
    ("behaviour", "live_turns"),
    ("behaviour", "suggestions"),
    ("general", "language"),
    ("knowledge", "sub_agents"),
];

/// Whether a value can be proposed for a setting of a page.
fn proposed(page: &str, key: &str, value: &str) -> Result<(), ToolError> {
    if !PROPOSED.contains(&(page, key)) {
        let all = PROPOSED.map(|(page, key)| format!("{page} {key}")).join(", ");
        return Err(ToolError::new(format!(
            "Not done: {key} of {page} cannot be proposed. These can: {all}. For anything else, open the page and tell the \
             person what to set."
        )));
    }
    let number = value.parse::<u64>().ok();
    let given = number.map_or_else(|| serde_json::Value::from(value), serde_json::Value::from);
    let patch = serde_json::Value::Object([(key.to_owned(), given)].into_iter().collect());
    let wrong = |why: String| Err(ToolError::new(format!("Not done: {key} cannot be {value}: {why}.")));
    let read: SettingsPatch = match serde_json::from_value(patch) {
        Ok(read) => read,
        Err(error) => return wrong(error.to_string()),
    };
    let limits = [
        read.live_turns.map(|limit| (limit.effective(), LiveTurnLimit::MOST)),
        read.sub_agents.map(|limit| (limit.effective(), SubAgentLimit::MOST)),
    ];
    match limits.into_iter().flatten().find(|(effective, _)| number != Some(u64::from(*effective))) {
        Some((_, most)) => wrong(format!("it is a number from 1 to {most}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(page: &str, proposal: Option<(&str, &str)>) -> Result<String, ToolError> {
        let proposal = proposal.map(|(key, value)| (key.to_owned(), value.to_owned()));
        answer(&Settings::default(), SettingsQuery::Open { page: page.to_owned(), proposal })
    }

    #[test]
    fn a_setting_is_proposed_with_a_value_it_can_have() {
        assert!(open("rules", None).unwrap().contains("opens Settings > rules"));
        for (page, key, value) in [
            ("appearance", "theme", "dark"),
            ("behaviour", "live_turns", "2"),
            ("knowledge", "sub_agents", "8"),
        ] {
            assert!(open(page, Some((key, value))).unwrap().contains(&format!("you propose {key}: {value}")));
        }
    }

    #[test]
    fn what_decides_what_may_run_is_not_proposed_nor_is_nonsense() {
        for (page, key, value) in [
            ("behaviour", "confinement", "off"),
            ("general", "default_mode", "autonomous"),
            ("general", "theme", "dark"),
            ("appearance", "theme", "pink"),
            ("behaviour", "live_turns", "99"),
            ("behaviour", "live_turns", "many"),
            ("behaviour", "keep_warm", "1"),
        ] {
            let error = open(page, Some((key, value))).unwrap_err().text;
            assert!(error.starts_with("Not done: "), "{page} {key} {value}: {error}");
        }
    }
}
