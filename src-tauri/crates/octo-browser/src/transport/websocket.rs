//! The websocket of a browser that runs already.

use crate::{
    Ending, Incoming, Transport,
    message::{self, Event},
};
use async_tungstenite::tungstenite;
use chromiumoxide::{
    Connection,
    cdp::browser_protocol::target::SessionId,
    error::CdpError,
    types::{CallId, MethodId},
};
use futures::Stream as _;
use serde_json::Value;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Why no connection came about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// The person pressed Cancel, or the browser's administrator forbids it.
    #[error("the connection was declined in the browser")]
    Declined,
    /// Nothing listens there (any more).
    #[error("no browser listens there: {0}")]
    Unreachable(String),
    /// Something listens there that is no browser, or not the one that was meant.
    #[error("what listens there is not the browser that was looked for: {0}")]
    Stranger(String),
}

struct WebSocket {
    connection: Connection<Event>,
    ended: Option<Ending>,
}

/// Opens the one websocket. In a browser that asks its person first, this takes as long as they take: there is no
/// time limit, and dropping the future is the only way to give up. A handshake given up leaves the browser's
/// question standing, where an answer does nothing any more.
///
/// # Errors
///
/// [`DialError`] when there is no connection.
pub async fn dial(address: &str) -> Result<impl Transport + use<>, DialError> {
    match Connection::<Event>::connect(address).await {
        Ok(connection) => Ok(WebSocket { connection, ended: None }),
        Err(CdpError::Ws(tungstenite::Error::Http(answer))) => Err(match answer.status().as_u16() {
            403 => DialError::Declined,
            status => DialError::Stranger(format!("it answered {status}")),
        }),
        Err(CdpError::Ws(tungstenite::Error::Io(error)) | CdpError::Io(error)) => {
            Err(DialError::Unreachable(error.to_string()))
        }
        Err(error) => Err(DialError::Stranger(error.to_string())),
    }
}

impl Transport for WebSocket {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId {
        match self.connection.submit_command(method, session, params) {
            Ok(call) => call,
            // Its signature allows for an error that its body never makes.
            Err(_) => CallId::new(usize::MAX),
        }
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<Incoming, Ending>> {
        if let Some(ending) = &self.ended {
            return Poll::Ready(Err(ending.clone()));
        }
        let ending = match std::task::ready!(Pin::new(&mut self.connection).poll_next(context)) {
            Some(Ok(message)) => return Poll::Ready(Ok(message.into())),
            Some(Err(CdpError::InvalidMessage(text, _))) => return Poll::Ready(Ok(message::read(&text))),
            Some(Err(CdpError::UnexpectedWsMessage(_))) => return Poll::Ready(Ok(Incoming::Unreadable)),
            None => Ending::ByBrowser,
            Some(Err(CdpError::Ws(
                tungstenite::Error::ConnectionClosed
                | tungstenite::Error::AlreadyClosed
                | tungstenite::Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake),
            ))) => Ending::ByBrowser,
            Some(Err(CdpError::Ws(tungstenite::Error::Io(error)))) if went_away(&error) => Ending::ByBrowser,
            Some(Err(error)) => Ending::Broken(error.to_string()),
        };
        self.ended = Some(ending.clone());
        Poll::Ready(Err(ending))
    }
}

/// Whether the other side is simply gone, as it is when it was killed.
fn went_away(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
