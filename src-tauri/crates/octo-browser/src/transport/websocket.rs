//! The websocket of a running browser.
//!
//! This replaces chromiumoxide's `Connection`, which parses every message into a generic value tree before
//! passing it on (for a long page the most expensive step), and which leaves Nagle's algorithm on: of commands
//! sent together, the second waited for the acknowledgement of the first. This connection does neither; the
//! command and response types are still chromiumoxide's.

use crate::{BrowserMessage, LinkEnd, Transport, message};
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

/// The reason why no connection was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// The person pressed Cancel, or the browser's administrator forbids it.
    #[error("the connection was declined in the browser")]
    Declined,
    /// Nothing listens there any more.
    #[error("no browser listens there: {0}")]
    Unreachable(String),
    /// The listener is not a browser, or not the expected one.
    #[error("what listens there is not the browser that was looked for: {0}")]
    WrongListener(String),
}

struct WebSocket {
    socket: WebSocketStream<TokioAdapter<TcpStream>>,
    /// Messages to be written.
    queued: VecDeque<String>,
    /// True if written messages were not flushed yet.
    unflushed: bool,
    next_id: usize,
    end_reason: Option<LinkEnd>,
}

/// Opens the single websocket. If the browser asks the person first, this takes as long as they do: it has no
/// timeout, and dropping the future is the only way to cancel. A cancelled handshake leaves the browser's
/// question on screen, where an answer has no effect.
///
/// # Errors
///
/// [`DialError`] if no connection is made.
pub async fn dial(address: &str) -> Result<impl Transport + use<>, DialError> {
    let wrong_listener = |error: &dyn std::fmt::Display| DialError::WrongListener(error.to_string());
    let request = address.into_client_request().map_err(|error| wrong_listener(&error))?;
    let uri = request.uri();
    let (Some("ws"), Some(host), Some(port)) = (uri.scheme_str(), uri.host(), uri.port_u16()) else {
        return Err(wrong_listener(&"its address is not that of a browser"));
    };
    // An IPv6 address is in brackets.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let unreachable = |error: std::io::Error| DialError::Unreachable(error.to_string());
    let stream = TcpStream::connect((host, port)).await.map_err(unreachable)?;
    // Commands are small and often sent together: none may wait for an acknowledgement of the previous one.
    stream.set_nodelay(true).map_err(unreachable)?;
    // A page in one answer may have any size.
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((socket, _)) => {
            Ok(WebSocket { socket, queued: VecDeque::new(), unflushed: false, next_id: 0, end_reason: None })
        }
        Err(tungstenite::Error::Http(response)) => Err(match response.status().as_u16() {
            403 => DialError::Declined,
            status => DialError::WrongListener(format!("it answered {status}")),
        }),
        Err(tungstenite::Error::Io(error)) => Err(unreachable(error)),
        Err(error) => Err(wrong_listener(&error)),
    }
}

impl WebSocket {
    /// Writes queued messages as far as the socket accepts them. The waker triggers the rest.
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

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        let write_error = self.poll_write(context).err();
        loop {
            // Read the browser's last messages even if it no longer accepts input.
            return match Pin::new(&mut self.socket).poll_next(context) {
                Poll::Pending => match write_error {
                    Some(error) => Poll::Ready(Err(end_reason_of(error))),
                    None => Poll::Pending,
                },
                Poll::Ready(Some(Ok(Message::Text(text)))) => Poll::Ready(Ok(message::parse(text))),
                // The socket itself answers pings.
                Poll::Ready(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
                Poll::Ready(Some(Ok(Message::Binary(_) | Message::Frame(_)))) => {
                    Poll::Ready(Ok(BrowserMessage::Unreadable))
                }
                Poll::Ready(Some(Ok(Message::Close(_))) | None) => Poll::Ready(Err(LinkEnd::ByBrowser)),
                Poll::Ready(Some(Err(error))) => Poll::Ready(Err(end_reason_of(error))),
            };
        }
    }
}

impl Transport for WebSocket {
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId {
        let id = CallId::new(self.next_id);
        self.next_id += 1;
        let call = MethodCall { id, method, session_id: session.map(Into::into), params };
        // Serialising a value with string keys cannot fail.
        self.queued.push_back(serde_json::to_string(&call).unwrap_or_default());
        id
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        if let Some(reason) = &self.end_reason {
            return Poll::Ready(Err(reason.clone()));
        }
        let result = self.poll_message(context);
        if let Poll::Ready(Err(reason)) = &result {
            self.end_reason = Some(reason.clone());
        }
        result
    }
}

fn end_reason_of(error: tungstenite::Error) -> LinkEnd {
    match error {
        tungstenite::Error::ConnectionClosed
        | tungstenite::Error::AlreadyClosed
        | tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => LinkEnd::ByBrowser,
        tungstenite::Error::Io(error) if is_disconnect(&error) => LinkEnd::ByBrowser,
        error => LinkEnd::Broken(error.to_string()),
    }
}

/// Returns whether the peer just disappeared, as it does when killed.
fn is_disconnect(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
