//! What the scripted server answers.

use crate::Gate;
use serde_json::Value;
use std::time::Duration;

/// One answer of the server.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) kind: Kind,
    /// Into how many pieces every text and every call's arguments are split.
    pub(crate) chunks: usize,
    /// Gates, by the number of pieces sent before them.
    pub(crate) holds: Vec<(usize, Gate)>,
    /// The time from one piece to the next; none where they go out as fast as they can.
    pub(crate) pace: Option<Duration>,
    /// Where the stream breaks.
    pub(crate) cut: Option<(usize, Cut)>,
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Message {
        parts: Vec<Part>,
        end: End,
    },
    /// An error of the vendor's shape.
    Error {
        status: u16,
        name: String,
        message: String,
    },
    /// Anything else, as it is.
    Raw {
        status: u16,
        content_type: String,
        body: Vec<u8>,
    },
    /// No answer, ever.
    Hang,
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    Text(String),
    Reasoning {
        text: String,
        signature: String,
    },
    /// Arguments as text, so that broken ones can be scripted.
    Call {
        name: String,
        arguments: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum End {
    Finish(Finish),
    /// An error event instead of the terminal one.
    Error {
        name: String,
        message: String,
    },
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Done, or waiting for results, as fits the content.
    Stop,
    /// The output limit.
    Length,
    /// A refusal.
    Refusal,
}

/// How a stream breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The connection is dropped in the middle of the body.
    Abort,
    /// The body ends properly, as if it were whole.
    End,
}

impl Reply {
    fn new(kind: Kind) -> Self {
        Self { kind, chunks: 3, holds: Vec::new(), pace: None, cut: None, headers: Vec::new() }
    }

    fn message(parts: Vec<Part>) -> Self {
        Self::new(Kind::Message { parts, end: End::Finish(Finish::Stop) })
    }

    fn push(mut self, part: Part) -> Self {
        let Kind::Message { parts, .. } = &mut self.kind else { panic!("only a message has parts") };
        parts.push(part);
        self
    }

    fn end(mut self, new: End) -> Self {
        let Kind::Message { end, .. } = &mut self.kind else { panic!("only a message has an end") };
        *end = new;
        self
    }

    /// A message that says `text`.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(vec![Part::Text(text.into())])
    }

    /// A message that calls a tool.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::message(vec![Part::Call { name: name.into(), arguments: arguments.to_string() }])
    }

    /// A message that calls a tool with arguments that need not be JSON.
    pub fn raw_call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::message(vec![Part::Call { name: name.into(), arguments: arguments.into() }])
    }

    /// A message that begins with reasoning.
    pub fn reasoning(text: impl Into<String>, signature: impl Into<String>) -> Self {
        Self::message(vec![Part::Reasoning { text: text.into(), signature: signature.into() }])
    }

    /// A message of nothing.
    pub fn nothing() -> Self {
        Self::message(Vec::new())
    }

    /// An error of the vendor's shape, for example `(429, "rate_limit_error", "slow down")`.
    pub fn error(status: u16, name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Kind::Error { status, name: name.into(), message: message.into() })
    }

    /// Any answer at all.
    pub fn raw(status: u16, content_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Kind::Raw { status, content_type: content_type.into(), body: body.into() })
    }

    /// A web page with status 200, as a captive portal or a wrong address gives.
    pub fn html() -> Self {
        let page =
            "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>";
        Self::raw(200, "text/html; charset=utf-8", page)
    }

    /// No answer, ever.
    pub fn hang() -> Self {
        Self::new(Kind::Hang)
    }

    /// And says `text`.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.push(Part::Text(text.into()))
    }

    /// And calls a tool, in parallel to other calls of the message.
    #[must_use]
    pub fn and_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.push(Part::Call { name: name.into(), arguments: arguments.to_string() })
    }

    /// And calls a tool with arguments that need not be JSON.
    #[must_use]
    pub fn and_raw_call(self, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.push(Part::Call { name: name.into(), arguments: arguments.into() })
    }

    /// Every text and every call's arguments in so many pieces (three, if not said).
    #[must_use]
    pub fn in_chunks(mut self, chunks: usize) -> Self {
        self.chunks = chunks.max(1);
        self
    }

    /// One piece after the other at this pace, as a model writes.
    #[must_use]
    pub fn paced(mut self, pace: Duration) -> Self {
        self.pace = Some(pace);
        self
    }

    /// Stops at a gate after so many pieces; 0 before the first, more than there are before the terminal event.
    #[must_use]
    pub fn hold_after(mut self, pieces: usize, gate: &Gate) -> Self {
        self.holds.push((pieces, gate.clone()));
        self
    }

    /// Ends for this reason.
    #[must_use]
    pub fn finish(self, finish: Finish) -> Self {
        self.end(End::Finish(finish))
    }

    /// Ends with an error event instead of the terminal one.
    #[must_use]
    pub fn then_error(self, name: impl Into<String>, message: impl Into<String>) -> Self {
        self.end(End::Error { name: name.into(), message: message.into() })
    }

    /// Breaks after so many bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize, cut: Cut) -> Self {
        self.cut = Some((bytes, cut));
        self
    }

    /// With a header, for example `retry-after`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// A piece of a streamed body.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// Whether it carries a piece of content: these are counted for gates.
    pub(crate) is_piece: bool,
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Part::Text(text) | Part::Reasoning { text, .. } => text.len(),
            Part::Call { name, arguments } => name.len() + arguments.len(),
        }
    }
}

/// Tokens of an answer, at four bytes each.
pub(crate) fn output_tokens(parts: &[Part]) -> u64 {
    parts.iter().map(Part::len).sum::<usize>().div_ceil(4) as u64
}

/// A text in `chunks` nearly equal pieces of whole characters.
pub(crate) fn pieces(text: &str, chunks: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(chunks).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
