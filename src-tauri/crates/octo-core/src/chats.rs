//! Chat services a person can write to Octo through.
//!
//! | Part | What it is |
//! | --- | --- |
//! | [`pairing`] | who asks to be let in, and their codes: pure |
//! | [`orders`] | what a message asks of Octo itself: pure |
//! | [`telling`] | what a chat is told of an event of its session: pure |
//! | [`fetch`] | the part that waits for what people write, and keeps it |
//! | [`hand`] | what becomes of it |
//! | [`tell`] | the part that waits for what sessions do, and says it |
//! | [`speak`] | sending, as often as it takes and no oftener |
//! | [`setting`] | the settings, and the token in the keychain |
//!
//! What a person wrote is on the disk before the service is asked for more, and leaves its table in the transaction that
//! puts it into its session: it reaches one session, once. What a chat is told stands on the numbered events of its
//! session; that it is being told is on the disk before it is sent, so that after a crash it is said that an answer may be
//! missing, not the answer a second time. Nobody is heard whom the person at the computer did not let in by a code, nothing
//! is approved from a chat, and a session's mode and folder are not changed from there.
//!
//! Of all processes on a home the one with the schedule's lease does this: what is done unattended is done in one place.
//! Settings and codes are in the store, so that any window may be where they are chosen and typed.

mod fetch;
mod hand;
mod orders;
mod pairing;
mod setting;
mod speak;
mod tell;
mod telling;

pub(crate) use setting::Chats;

use crate::octo::Octo;
use octo_chats::Telegram;
use octo_protocol::{ApiError, ChatAccount, Language, words};
use octo_store::ChatRow;
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// Begins to listen and to speak, for as long as the application runs.
pub(crate) fn begin(octo: &Octo, closing: &CancellationToken) {
    fetch::begin(octo, closing.clone());
    tell::begin(octo, closing.clone());
}

/// An account at a service, as it is now.
#[derive(Clone)]
struct Line {
    telegram: Telegram,
    account: ChatAccount,
}

/// Somebody's chat, to say something in.
struct Talk<'a> {
    octo: &'a Octo,
    line: &'a Line,
    chat: &'a ChatRow,
}

/// What is said in chats, in the person's language.
#[derive(Clone, Copy)]
struct Words(Language);

impl Words {
    fn of(octo: &Octo) -> Self {
        Self(octo.shared().preferences().language)
    }

    fn say(self, key: &str) -> String {
        self.fill(key, &[])
    }

    fn fill(self, key: &str, args: &[(&str, &str)]) -> String {
        let args: BTreeMap<String, String> =
            args.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        words::say(self.0, key, &args)
    }

    /// What went wrong, without what only the log needs.
    fn error(self, error: &ApiError) -> String {
        words::say(self.0, &format!("error.{}", error.key), &error.args)
    }
}

/// Whether this process does what is done unattended.
async fn is_in_charge(octo: &Octo) -> Result<bool, ApiError> {
    let shared = octo.shared();
    let lease = shared.store.read(|reader| reader.schedule_lease()).await?;
    Ok(lease.is_some_and(|lease| lease.token == shared.lease.token))
}
