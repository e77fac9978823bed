//! The scripted server's answers.

use crate::Gate;
use serde_json::Value;
use std::time::Duration;

/// One answer of the server.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) kind: ReplyKind,
    /// Number of pieces every text and every call's arguments are split into.
    pub(crate) chunks: usize,
    /// Gates, each with the number of pieces sent before it.
    pub(crate) holds: Vec<(usize, Gate)>,
    /// Delay between pieces; `None` sends them as fast as possible.
    pub(crate) pace: Option<Duration>,
    /// Position at which the stream breaks.
    pub(crate) cut: Option<(usize, StreamCut)>,
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) enum ReplyKind {
    Message {
        parts: Vec<ReplyPart>,
        end: ReplyEnd,
    },
    /// An error in the vendor's format.
    Error {
        status: u16,
        name: String,
        message: String,
    },
    /// Any other response, sent verbatim.
    Raw {
        status: u16,
        content_type: String,
        body: Vec<u8>,
    },
    /// No answer at all.
    Hang,
}

#[derive(Clone, Debug)]
pub(crate) enum ReplyPart {
    Text(String),
    Reasoning {
        text: String,
        signature: String,
    },
    /// A tool call. Its arguments are text, so that broken ones can be scripted.
    Call {
        name: String,
        arguments: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum ReplyEnd {
    Finish(ReplyFinish),
    /// An error event instead of the terminal one.
    Error {
        name: String,
        message: String,
    },
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyFinish {
    /// The answer is complete or waits for results, depending on the content.
    Stop,
    /// The output limit was reached.
    Length,
    /// The model refused.
    Refusal,
}

/// How a stream breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamCut {
    /// The connection is dropped in the middle of the body.
    Abort,
    /// The body ends properly, as if it were complete.
    End,
}

impl Reply {
    fn new(kind: ReplyKind) -> Self {
        Self { kind, chunks: 3, holds: Vec::new(), pace: None, cut: None, headers: Vec::new() }
    }

    fn message(parts: Vec<ReplyPart>) -> Self {
        Self::new(ReplyKind::Message { parts, end: ReplyEnd::Finish(ReplyFinish::Stop) })
    }

    fn push(mut self, part: ReplyPart) -> Self {
        let ReplyKind::Message { parts, .. } = &mut self.kind else { panic!("only a message has parts") };
        parts.push(part);
        self
    }

    fn end(mut self, reply_end: ReplyEnd) -> Self {
        let ReplyKind::Message { end, .. } = &mut self.kind else { panic!("only a message has an end") };
        *end = reply_end;
        self
    }

    /// Creates a message that says `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(vec![ReplyPart::Text(text.into())])
    }

    /// Creates a message that calls a tool.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::message(vec![ReplyPart::Call { name: name.into(), arguments: arguments.to_string() }])
    }

    /// Creates a message that calls a tool with arguments that need not be JSON.
    pub fn raw_call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::message(vec![ReplyPart::Call { name: name.into(), arguments: arguments.into() }])
    }

    /// Creates a message that begins with reasoning.
    pub fn reasoning(text: impl Into<String>, signature: impl Into<String>) -> Self {
        Self::message(vec![ReplyPart::Reasoning { text: text.into(), signature: signature.into() }])
    }

    /// Creates an empty message.
    pub fn nothing() -> Self {
        Self::message(Vec::new())
    }

    /// Creates an error in the vendor's format, for example `(429, "rate_limit_error", "slow down")`.
    pub fn error(status: u16, name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ReplyKind::Error { status, name: name.into(), message: message.into() })
    }

    /// Creates an arbitrary answer.
    pub fn raw(status: u16, content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self::new(ReplyKind::Raw { status, content_type: content_type.into(), body: body.into() })
    }

    /// Creates a web page with status 200, as returned by a captive portal or a wrong address.
    pub fn html() -> Self {
        let page =
            "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>";
        Self::raw(200, "text/html; charset=utf-8", page)
    }

    /// Creates a reply that never comes.
    pub fn hang() -> Self {
        Self::new(ReplyKind::Hang)
    }

    /// Adds `text` to the message.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.push(ReplyPart::Text(text.into()))
    }

    /// Adds a tool call, parallel to the message's other calls.
    #[must_use]
    pub fn and_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.push(ReplyPart::Call { name: name.into(), arguments: arguments.to_string() })
    }

    /// Adds a tool call with arguments that need not be JSON.
    #[must_use]
    pub fn and_raw_call(self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.push(ReplyPart::Call { name: name.into(), arguments: arguments.into() })
    }

    /// Splits every text and every call's arguments into `chunks` pieces (three by default).
    #[must_use]
    pub fn in_chunks(mut self, chunks: usize) -> Self {
        self.chunks = chunks.max(1);
        self
    }

    /// Sends the pieces at this pace, as a model writes.
    #[must_use]
    pub fn paced(mut self, interval: Duration) -> Self {
        self.pace = Some(interval);
        self
    }

    /// Stops at a gate after `pieces` pieces; 0 stops before the first, a number above the total stops before
    /// the terminal event.
    #[must_use]
    pub fn hold_after(mut self, chunks: usize, gate: &Gate) -> Self {
        self.holds.push((chunks, gate.clone()));
        self
    }

    /// Sets the finish reason.
    #[must_use]
    pub fn finish(self, finish: ReplyFinish) -> Self {
        self.end(ReplyEnd::Finish(finish))
    }

    /// Ends with an error event instead of the terminal one.
    #[must_use]
    pub fn then_error(self, name: impl Into<String>, message: impl Into<String>) -> Self {
        self.end(ReplyEnd::Error { name: name.into(), message: message.into() })
    }

    /// Breaks the stream after `bytes` bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize, cut: StreamCut) -> Self {
        self.cut = Some((bytes, cut));
        self
    }

    /// Adds a header, for example `retry-after`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// A piece of a streamed body.
#[derive(Debug)]
pub(crate) struct ReplyFrame {
    pub(crate) bytes: Vec<u8>,
    /// Whether the frame carries a piece of content; gates count these.
    pub(crate) is_piece: bool,
}

impl ReplyPart {
    fn len(&self) -> usize {
        match self {
            ReplyPart::Text(text) | ReplyPart::Reasoning { text, .. } => text.len(),
            ReplyPart::Call { name, arguments } => name.len() + arguments.len(),
        }
    }
}

/// Returns the number of tokens of an answer, at four bytes each.
pub(crate) fn output_tokens(parts: &[ReplyPart]) -> u64 {
    parts.iter().map(ReplyPart::len).sum::<usize>().div_ceil(4) as u64
}

/// Splits a text into `chunks` nearly equal pieces of whole characters.
pub(crate) fn pieces(text: &str, chunks: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(chunks).max(1);
    characters.chunks(size).map(|chunk| chunk.iter().collect()).collect()
}
