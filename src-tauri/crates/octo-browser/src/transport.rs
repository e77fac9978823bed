//! Transports of the protocol: a websocket or a pipe.

mod pipe;
mod websocket;

pub use pipe::Pipe;
pub use websocket::{DialError, dial};

use crate::BrowserMessage;
use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodId},
};
use serde_json::Value;
use std::task::{Context, Poll};

/// A transport to one browser. A single actor owns it, see [`crate::Link`].
pub trait Transport: Send + 'static {
    /// Queues a call under a new number. It is sent only when the transport is polled.
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId;

    /// Polls for the next message. An implementation must also send queued calls, and must keep returning an
    /// error after the first.
    ///
    /// # Errors
    ///
    /// [`LinkEnd`] once the transport has ended. One bad message does not end it.
    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>>;
}

impl Transport for Box<dyn Transport> {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId {
        (**self).submit(method, session, params)
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        (**self).poll_incoming(context)
    }
}

/// The reason why a transport to a browser ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkEnd {
    /// The browser ended it: it was closed, it crashed, or the person disabled debugging.
    #[error("the browser ended the connection")]
    ByBrowser,
    /// Octo ended it.
    #[error("the connection was ended from here")]
    ByOcto,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
}
