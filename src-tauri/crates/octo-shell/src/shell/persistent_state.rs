//! The remains of a session's ended commands: the state with which the next command starts, and the processes that
//! outlived them.

use super::{
    carry::{self, CarriedState, InitialState},
    tree::Survivors,
};
use crate::CarryScope;
use parking_lot::Mutex;
use std::path::PathBuf;

/// The maximum number of commands whose surviving processes are recorded.
const MAX_SURVIVORS: usize = 1_000;

/// The state changed by the end of a command.
pub(super) struct PersistentState {
    file: PathBuf,
    pub carry: Mutex<NewestCarry>,
    /// The processes that outlived their commands, one entry per command.
    survivors: Mutex<Vec<Survivors>>,
}

/// The carried state and the number of the command that left it. An earlier command that ends later must not undo the
/// changes of a later one.
pub(super) struct NewestCarry {
    pub carry: CarriedState,
    command: u64,
    /// The directory of commands that was lost and that no report named yet.
    pub lost: Option<PathBuf>,
}

impl PersistentState {
    /// Returns the state that an earlier run of the session saved in this file; an empty one if there is none.
    pub fn load(file: PathBuf) -> Self {
        let carry = CarriedState::load(&file);
        Self {
            file,
            carry: Mutex::new(NewestCarry { carry, command: 0, lost: None }),
            survivors: Mutex::default(),
        }
    }

    pub fn take(
        &self,
        number: u64,
        final_state: &carry::FinalState,
        initial_state: &InitialState<'_>,
        scope: CarryScope,
    ) {
        let mut newest = self.carry.lock();
        if number < newest.command {
            return;
        }
        newest.command = number;
        let lost = match scope {
            CarryScope::All => newest.carry.take_state(final_state, initial_state),
            CarryScope::FolderOnly => newest.carry.take_directory(final_state, initial_state),
        };
        newest.lost = lost.or_else(|| newest.lost.take());
        if let Err(error) = newest.carry.save(&self.file) {
            tracing::warn!(%error, "what a command left is carried in this run only");
        }
    }

    /// Records the processes that outlived a command. Forgets those that have ended.
    pub fn record_survivors(&self, survivors: Option<Survivors>) {
        let mut all = self.survivors.lock();
        all.retain(|survivors| !survivors.is_over());
        all.extend(survivors);
        let surplus = all.len().saturating_sub(MAX_SURVIVORS);
        all.drain(..surplus);
    }

    /// Requests that all surviving processes be killed, and returns them.
    pub fn request_kill_of_survivors(&self) -> Vec<Survivors> {
        let survivors = std::mem::take(&mut *self.survivors.lock());
        survivors.iter().for_each(Survivors::request_kill);
        survivors
    }
}
