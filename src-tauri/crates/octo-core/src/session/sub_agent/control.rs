//! A sub-agent seen by the code that started it: its slot, and the end of its work.

use super::pool::Slot;
use crate::session::Runtime;
use octo_protocol::SessionId;
use std::sync::Arc;

impl Runtime {
    /// Takes a slot for a sub-agent, if one is free.
    pub(in crate::session) fn free_sub_agent_slot(&self) -> Option<Slot> {
        self.sub_agents.slots().try_take(self.sub_agent_limit())
    }

    /// Waits for a free slot for a sub-agent and takes it.
    pub(in crate::session) async fn sub_agent_slot(&self) -> Slot {
        self.sub_agents.slots().take(|| self.sub_agent_limit()).await
    }

    fn sub_agent_limit(&self) -> u32 {
        self.base.preferences().sub_agents.effective()
    }

    /// Stops a sub-agent's turn without waiting for it: its actor may be busy, and its progress arrives
    /// regardless.
    pub(in crate::session) fn stop_sub_agent(self: &Arc<Self>, session: SessionId) {
        let runtime = Arc::clone(self);
        tokio::spawn(async move {
            let handle = runtime.open.get(session).await;
            if let Some(handle) = handle
                && let Err(error) = handle.stop().await
            {
                tracing::warn!(session = %session, %error, "a sub-agent was not stopped");
            }
        });
    }

    /// Closes a sub-agent's session: its background commands end, and their changes are recorded.
    pub(in crate::session) async fn close_sub_agent(self: Arc<Self>, session: SessionId) {
        self.open.close(session).await;
    }
}
