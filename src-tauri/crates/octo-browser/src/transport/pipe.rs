//! The pipe of a browser that Octo started: JSON with a NUL after each message, without any port.

use crate::{BrowserMessage, LinkEnd, Transport, message};
use async_tungstenite::tungstenite::Utf8Bytes;
use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodCall, MethodId},
};
use serde_json::Value;
use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Number of bytes read at once.
const READ_BYTES: usize = 64 * 1024;

/// The protocol over two byte streams.
#[derive(Debug)]
pub struct Pipe<R, W> {
    reader: R,
    writer: W,
    /// Bytes of the incomplete message, and the offset up to which they were searched for its end.
    received: Vec<u8>,
    searched: usize,
    /// Complete messages not yet taken.
    parsed: VecDeque<BrowserMessage>,
    /// Bytes to be written.
    queued: VecDeque<u8>,
    next_id: usize,
    end_reason: Option<LinkEnd>,
}

impl<R, W> Pipe<R, W> {
    /// Creates a pipe from the browser's output and input.
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            reader,
            writer,
            received: Vec::new(),
            searched: 0,
            parsed: VecDeque::new(),
            queued: VecDeque::new(),
            next_id: 0,
            end_reason: None,
        }
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Pipe<R, W> {
    fn poll_write(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while !self.queued.is_empty() {
            let (bytes, _) = self.queued.as_slices();
            match Pin::new(&mut self.writer).poll_write(context, bytes) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => drop(self.queued.drain(..count)),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(()),
            }
        }
        // Data left in a buffer is retried at the next poll, which its waker triggers.
        match Pin::new(&mut self.writer).poll_flush(context) {
            Poll::Ready(Err(error)) => Err(error),
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }

    /// Reads once. Returns `false` if no data is available now.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<bool, LinkEnd> {
        let mut chunk = vec![0; READ_BYTES];
        let mut buffer = ReadBuf::new(&mut chunk);
        match Pin::new(&mut self.reader).poll_read(context, &mut buffer) {
            Poll::Pending => return Ok(false),
            Poll::Ready(Err(error)) => return Err(LinkEnd::Broken(error.to_string())),
            Poll::Ready(Ok(())) if buffer.filled().is_empty() => return Err(LinkEnd::ByBrowser),
            Poll::Ready(Ok(())) => self.received.extend_from_slice(buffer.filled()),
        }
        while let Some(end) = memchr::memchr(0, self.received.get(self.searched..).unwrap_or_default()) {
            let mut message: Vec<u8> = self.received.drain(..=self.searched + end).collect();
            message.pop();
            self.searched = 0;
            self.parsed.push_back(message::parse(text_of(message)));
        }
        self.searched = self.received.len();
        Ok(true)
    }
}

/// Converts a message to text, replacing only invalid bytes.
fn text_of(bytes: Vec<u8>) -> Utf8Bytes {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        .into()
}

impl<R, W> Transport for Pipe<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    fn submit(&mut self, method: MethodId, session: Option<SessionId>, params: Value) -> CallId {
        let id = CallId::new(self.next_id);
        self.next_id += 1;
        let call = MethodCall { id, method, session_id: session.map(Into::into), params };
        // Serialising a value with string keys cannot fail.
        self.queued.extend(serde_json::to_vec(&call).unwrap_or_default());
        self.queued.push_back(0);
        id
    }

    fn poll_incoming(&mut self, context: &mut Context<'_>) -> Poll<Result<BrowserMessage, LinkEnd>> {
        if let Some(message) = self.parsed.pop_front() {
            return Poll::Ready(Ok(message));
        }
        if let Some(reason) = &self.end_reason {
            return Poll::Ready(Err(reason.clone()));
        }
        // Read the browser's last messages even if it no longer accepts input.
        let write_error = self.poll_write(context).err();
        loop {
            match self.poll_read(context) {
                Ok(true) => {
                    if let Some(message) = self.parsed.pop_front() {
                        return Poll::Ready(Ok(message));
                    }
                }
                Ok(false) if write_error.is_none() => return Poll::Pending,
                Ok(false) => {
                    let reason = write_error.map_or(LinkEnd::ByBrowser, |error| match error.kind() {
                        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => LinkEnd::ByBrowser,
                        _ => LinkEnd::Broken(error.to_string()),
                    });
                    self.end_reason = Some(reason.clone());
                    return Poll::Ready(Err(reason));
                }
                Err(reason) => {
                    self.end_reason = Some(reason.clone());
                    return Poll::Ready(Err(reason));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
