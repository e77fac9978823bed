//! The single link to a browser, and the actor that owns it.

mod actor;
mod error;
mod events;

#[cfg(test)]
mod tests;

pub use error::CallError;
pub use events::{NextEvent, SessionEvents};

use crate::{LinkEnd, Transport};
use actor::{LinkActor, LinkOrder};
use chromiumoxide::{Command, cdp::browser_protocol::target::SessionId};
use events::EventHub;
use std::{fmt, time::Duration};
use tokio::sync::{mpsc, oneshot, watch};

/// A handle on the link to a browser. Clones share one link, as do all of the app's sessions; dropping the last
/// clone closes it.
#[derive(Clone)]
pub struct Link {
    orders: mpsc::UnboundedSender<LinkOrder>,
    event_hub: EventHub,
    ended: watch::Receiver<Option<LinkEnd>>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("ended", &*self.ended.borrow()).finish_non_exhaustive()
    }
}

impl Link {
    /// Starts a link over a transport. Must be called within a tokio runtime.
    pub fn with_transport(transport: impl Transport) -> Self {
        let (orders, inbox) = mpsc::unbounded_channel();
        let (sender, ended) = watch::channel(None);
        let event_hub = EventHub::default();
        tokio::spawn(LinkActor::new(transport, inbox, event_hub.clone(), sender).run());
        Self { orders, event_hub, ended }
    }

    /// Sends a command and waits for its answer, for `limit` at most. A session's calls fail immediately when
    /// the session ends, and all calls fail immediately when the link ends.
    ///
    /// # Errors
    ///
    /// [`CallError`]. After [`CallError::TimedOut`] the browser may still execute the command.
    pub async fn call<C: Command>(
        &self,
        session: Option<&SessionId>,
        command: C,
        limit: Duration,
    ) -> Result<C::Response, CallError> {
        let method = command.identifier();
        let (reply, response) = oneshot::channel();
        let unreadable = |error: serde_json::Error| CallError::Unreadable {
            method: method.to_string(),
            detail: error.to_string(),
        };
        let params = serde_json::to_value(command).map_err(unreadable)?;
        let order = LinkOrder::Call { method: method.clone(), session: session.cloned(), params, reply };
        self.orders.send(order).map_err(|_| self.closed())?;
        match tokio::time::timeout(limit, response).await {
            Ok(Ok(Ok(answer))) => answer.read().map_err(unreadable),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(_)) => Err(self.closed()),
            Err(_) => Err(CallError::TimedOut { method: method.to_string(), limit }),
        }
    }

    /// Sends a command and ignores its answer.
    pub(crate) fn send<C: Command>(&self, session: Option<&SessionId>, command: C) {
        let method = command.identifier();
        let Ok(params) = serde_json::to_value(command) else { return };
        let (reply, _) = oneshot::channel();
        // Ignore an error: it only means that the link is closed.
        let _ = self.orders.send(LinkOrder::Call { method, session: session.cloned(), params, reply });
    }

    /// Subscribes to the events of a session, or with `None` to those of the browser itself. Buffers the last
    /// [`SessionEvents::CAPACITY`] events; a slower reader learns how many it missed.
    pub fn events(&self, session: Option<&SessionId>) -> SessionEvents {
        self.event_hub.subscribe(session)
    }

    /// Waits until the link ends and returns the reason. The future does not keep the link open.
    pub fn wait_ended(&self) -> impl Future<Output = LinkEnd> + Send + use<> {
        let mut ended = self.ended.clone();
        async move {
            match ended.wait_for(Option::is_some).await {
                Ok(reason) => reason.clone().unwrap_or(LinkEnd::ByOcto),
                // The actor disappears without a reason only if its runtime does.
                Err(_) => LinkEnd::ByOcto,
            }
        }
    }

    /// Returns the reason why the link ended, or `None` while it is open.
    pub fn end_reason(&self) -> Option<LinkEnd> {
        self.ended.borrow().clone()
    }

    /// Closes the link for all holders. The browser and its tabs keep running.
    pub fn close(&self) {
        let _ = self.orders.send(LinkOrder::Close);
    }

    fn closed(&self) -> CallError {
        CallError::Closed(self.end_reason().unwrap_or(LinkEnd::ByOcto))
    }
}
