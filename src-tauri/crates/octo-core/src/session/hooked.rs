//! Runs the person's hooks for a session. Hooks about tools run with the calls.

use super::state::Session;
use crate::hooks::{HookMoment, Hooks};
use octo_protocol::{TurnEnd, TurnView};
use serde_json::{Map, Value};

impl Session {
    /// Returns the person's hooks, in this session's folder.
    pub(super) fn hooks(&self) -> Hooks {
        self.runtime.services.hooks(&self.runtime.base, self.workspace.folder().to_owned())
    }

    /// Runs the hooks after a turn finished or failed. The session does not wait for them.
    pub(super) fn run_end_hooks(&self, turn: TurnView) {
        let (moment, error) = match turn.end {
            Some(TurnEnd::Finished) => (HookMoment::Finish, None),
            Some(TurnEnd::Failed { error }) => (HookMoment::Error, Some(error.key)),
            Some(TurnEnd::Stopped) | None => return,
        };
        let (hooks, session) = (self.hooks(), self.id());
        tokio::spawn(async move {
            let mut facts: Map<String, Value> = Map::new();
            facts.insert("session".to_owned(), session.to_string().into());
            facts.insert("turn".to_owned(), turn.id.to_string().into());
            if let Some(error) = error {
                facts.insert("error".to_owned(), error.into());
            }
            hooks.run_all(moment, None, facts).await;
        });
    }
}
