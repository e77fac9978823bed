//! The websocket of a browser that runs already.
//!
//! chromiumoxide's `Connection` stood here. It reads every message into a tree of values before it hands it out, which
//! for a long page costs more than all else that is done with it, and it leaves the socket's delay on: of commands
//! that are sent together, the second waited for the first to be acknowledged. What is left of a connection without
//! both is what stands below; the commands and their answers are chromiumoxide's as before.

use crate::{Ending, Incoming, Transport, message};
use async_tungstenite::{
    WebSocketStream,
    tokio::{TokioAdapter, client_async_with_config},
    tungstenite::{
        self, Message, client::IntoClientRequest as _, error::ProtocolError, protocol::WebSocketConfig,
    },
};
use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodCall, MethodId},
};
use futures::{Sink as _, Stream as _};
use serde_json::Value;
use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::net::TcpStream;

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
    socket: WebSocketStream<TokioAdapter<TcpStream>>,
    /// What is to be written, and whether what was is on its way.
    queued: VecDeque<String>,
    unflushed: bool,
    next: usize,
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
    let stranger = |error: &dyn std::fmt::Display| DialError::Stranger(error.to_string());
    let request = address.into_client_request().map_err(|error| stranger(&error))?;
    let uri = request.uri();
    let (Some("ws"), Some(host), Some(port)) = (uri.scheme_str(), uri.host(), uri.port_u16()) else {
        return Err(stranger(&"its address is not that of a browser"));
    };
    // An address of the newer kind stands in brackets.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let unreachable = |error: std::io::Error| DialError::Unreachable(error.to_string());
    let stream = TcpStream::connect((host, port)).await.map_err(unreachable)?;
    // Commands are small and many go together: none waits for the one before to be acknowledged.
    stream.set_nodelay(true).map_err(unreachable)?;
    // A page in one answer may be of any size.
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((socket, _)) => {
            Ok(WebSocket { socket, queued: VecDeque::new(), unflushed: false, next: 0, ended: None })
        }
        Err(tungstenite::Error::Http(answer)) => Err(match answer.status().as_u16() {
            403 => DialError::Declined,
            status => DialError::Stranger(format!("it answered {status}")),
        }),
        Err(tungstenite::Error::Io(error)) => Err(unreachable(error)),
        Err(error) => Err(stranger(&error)),
    }
}

impl WebSocket {
    /// Writes what is queued, as far as there is room: its waker brings the rest.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Result<(), tungstenite::Error> {
        while !self.queued.is_empty() {
            match Pin::new(&mut self.socket).poll_ready(context) {
                Poll::Ready(ready) => ready?,
                Poll::Pending => return Ok(()),
            }
            let Some(message) = self.queued.pop_front() else { break };
            self.unflushed = true;
            Pin::new(&mut self.socket).start_send(Message::text(message))?;
        }
        if self.unflushed
            && let Poll::Ready(flushed) = Pin::new(&mut self.socket).poll_flush(context)
        {
            flushed?;
            self.unflushed = false;
        }
        Ok(())
    }

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<Incoming, Ending>> {
        let unwritten = self.poll_write(context).err();
        loop {
            // What the browser said last is read even when it listens no more.
            return match Pin::new(&mut self.socket).poll_next(context) {
                Poll::Pending => match unwritten {
                    Some(error) => Poll::Ready(Err(ending_of(error))),
                    None => Poll::Pending,
                },
                Poll::Ready(Some(Ok(Message::Text(text)))) => Poll::Ready(Ok(message::read(text))),
                // Signs of life are answered by the socket itself.
                Poll::Ready(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
                Poll::Ready(Some(Ok(Message::Binary(_) | Message::Frame(_)))) => {
                    Poll::Ready(Ok(Incoming::Unreadable))
                }
                Poll::Ready(Some(Ok(Message::Close(_))) | None) => Poll::Ready(Err(Ending::ByBrowser)),
                Poll::Ready(Some(Err(error))) => Poll::Ready(Err(ending_of(error))),
            };
        }
    }
}

impl Transport for WebSocket {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId {
        let id = CallId::new(self.next);
        self.next += 1;
        let call = MethodCall { id, method, session_id: session.map(Into::into), params };
        // A value with names and text for keys is always written.
        self.queued.push_back(serde_json::to_string(&call).unwrap_or_default());
        id
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<Incoming, Ending>> {
        if let Some(ending) = &self.ended {
            return Poll::Ready(Err(ending.clone()));
        }
        let polled = self.poll_message(context);
        if let Poll::Ready(Err(ending)) = &polled {
            self.ended = Some(ending.clone());
        }
        polled
    }
}

fn ending_of(error: tungstenite::Error) -> Ending {
    match error {
        tungstenite::Error::ConnectionClosed
        | tungstenite::Error::AlreadyClosed
        | tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ending::ByBrowser,
        tungstenite::Error::Io(error) if went_away(&error) => Ending::ByBrowser,
        error => Ending::Broken(error.to_string()),
    }
}

/// Whether the other side is simply gone, as it is when it was killed.
fn went_away(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
