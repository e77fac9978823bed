//! The observers of a session, which are notified after each stored step: the board of running work, and
//! clients that wait for the end of its turn.

use super::{ReplySender, current_turn::RunningTurn, state::Session};
use crate::activity::{BoardEntry, SessionActivity, TurnActivity, TurnActivityStatus};
use octo_protocol::SessionStatus;

/// The observers of a session.
pub(super) struct Observers {
    board: BoardEntry,
    /// Clients that wait until no turn is running.
    idle: Vec<ReplySender<()>>,
}

impl Observers {
    pub(super) fn new(board: BoardEntry) -> Self {
        Self { board, idle: Vec::new() }
    }

    /// Stores a reply to send once no turn is running.
    pub(super) fn wait_until_idle(&mut self, reply: ReplySender<()>) {
        self.idle.push(reply);
    }

    /// Replies to the waiting clients, because no turn is running.
    pub(super) fn notify_idle(&mut self) {
        for waiter in self.idle.drain(..) {
            // A client that no longer waits needs no reply.
            let _gone = waiter.send(Ok(()));
        }
    }
}

impl Session {
    /// Publishes the session's activity to the board.
    pub(super) fn publish_activity(&self) {
        self.observers.board.publish(self.activity());
    }

    fn activity(&self) -> Option<SessionActivity> {
        let turn = self.turn.get().map(|turn| TurnActivity {
            turn: turn.id(),
            since: turn.view().started_at,
            status: self.turn_status(turn),
            steps: turn.facts().answers(),
            usage: turn.view().usage,
        });
        let commands = self.background.running();
        if turn.is_none() && commands.is_empty() {
            return None;
        }
        Some(SessionActivity {
            title: self.info.title.clone(),
            folder: self.info.folder.clone(),
            sub_agent: self.sub_agent.as_ref().map(|sub_agent| sub_agent.origin().clone()),
            turn,
            commands,
        })
    }

    fn turn_status(&self, turn: &RunningTurn) -> TurnActivityStatus {
        match self.info.status {
            SessionStatus::Waiting => TurnActivityStatus::NeedsYou,
            _ if turn.permit.has_waiting() => TurnActivityStatus::Queued,
            SessionStatus::Running | SessionStatus::Idle | SessionStatus::Failed => {
                TurnActivityStatus::Working
            }
        }
    }
}
