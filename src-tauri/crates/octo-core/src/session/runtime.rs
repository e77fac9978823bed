//! The environment of session actors.

use super::{registry::OpenSessions, sub_agent::SubAgentPool};
use crate::{activity::ActivityBoard, base::Base, services::Services, troubles::Troubles};
use octo_protocol::Delta;
use octo_runtime::{TurnLimiter, WakeSignal};
use std::sync::Arc;
use tokio::sync::broadcast;

/// Number of deltas a slow subscription may fall behind before it gets a snapshot.
const DELTAS: usize = 4_096;

/// The environment of session actors.
pub(crate) struct Runtime {
    pub base: Arc<Base>,
    pub services: Arc<Services>,
    /// The sessions with a running actor.
    pub open: OpenSessions,
    /// The running work of this process.
    pub board: ActivityBoard,
    /// The turn limiter.
    pub admission: TurnLimiter,
    /// Sub-agents, and the skills they use.
    pub sub_agents: SubAgentPool,
    /// Sessions that cannot be stored.
    pub troubles: Troubles,
    /// The text that models are streaming.
    pub deltas: broadcast::Sender<Arc<Delta>>,
    /// Signals that the machine slept.
    pub waking: WakeSignal,
}

impl Runtime {
    /// Creates the environment of an application without running sessions.
    pub fn new(base: Arc<Base>, services: Arc<Services>) -> Self {
        let board = ActivityBoard::default();
        let limit = base.preferences().live_turns.effective();
        Self {
            admission: TurnLimiter::new(limit, board.change().clone()),
            board,
            sub_agents: SubAgentPool::new(Arc::new(services.library.clone())),
            open: OpenSessions::default(),
            troubles: Troubles::new(base.updates.clone()),
            deltas: broadcast::channel(DELTAS).0,
            waking: WakeSignal::default(),
            base,
            services,
        }
    }
}
