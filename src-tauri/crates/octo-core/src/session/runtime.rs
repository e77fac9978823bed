//! What session actors run on.

use super::{registry::OpenSessions, sub_agent::SubAgentPool};
use crate::{
    activity::Board, admission::TurnLimiter, base::Base, services::Services, troubles::Troubles,
    waking::Waking,
};
use octo_protocol::Delta;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Number of deltas a slow subscription may fall behind before it gets a snapshot.
const DELTAS: usize = 4_096;

/// What session actors run on.
pub(crate) struct Runtime {
    pub base: Arc<Base>,
    pub services: Arc<Services>,
    /// The sessions whose actor runs.
    pub open: OpenSessions,
    /// The running work of this process.
    pub board: Board,
    /// The turn limiter.
    pub admission: TurnLimiter,
    /// Sub-agents, and the skills they use.
    pub forks: SubAgentPool,
    /// Sessions that cannot be stored.
    pub troubles: Troubles,
    /// What streams.
    pub deltas: broadcast::Sender<Arc<Delta>>,
    /// Signals that the machine slept.
    pub waking: Waking,
}

impl Runtime {
    /// That of an application; no session runs yet.
    pub fn new(base: Arc<Base>, services: Arc<Services>) -> Self {
        let board = Board::default();
        let limit = base.preferences().live_turns.effective();
        Self {
            admission: TurnLimiter::new(limit, board.change().clone()),
            board,
            forks: SubAgentPool::new(Arc::new(services.library.clone())),
            open: OpenSessions::default(),
            troubles: Troubles::new(),
            deltas: broadcast::channel(DELTAS).0,
            waking: Waking::default(),
            base,
            services,
        }
    }
}
