//! The server's answers, request by request.

use crate::{RecordedRequest, Reply};
use serde_json::Value;
use std::{collections::VecDeque, fmt};

type AnswerFn = Box<dyn FnMut(&RecordedRequest) -> Reply + Send>;

/// A queue of replies, or a function of the request.
pub struct Script {
    queue: VecDeque<Reply>,
    /// Called once the queue is empty.
    answer: Option<AnswerFn>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("queue", &self.queue).field("answer", &self.answer.is_some()).finish()
    }
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    /// Creates an empty script.
    pub fn new() -> Self {
        Self { queue: VecDeque::new(), answer: None }
    }

    /// Creates a script whose every reply is a function of its request. A stateless function (see
    /// [`RecordedRequest::answers`]) also serves a client that is killed and restarted.
    pub fn from_fn(answer: impl FnMut(&RecordedRequest) -> Reply + Send + 'static) -> Self {
        Self::new().then_from_fn(answer)
    }

    /// Queues a reply that says `text`.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.reply(Reply::text(text))
    }

    /// Queues a reply that calls a tool.
    #[must_use]
    pub fn call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.reply(Reply::call(name, arguments))
    }

    /// Queues a reply that calls several tools at once.
    #[must_use]
    pub fn calls<'a>(self, calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let reply = calls
            .into_iter()
            .fold(Reply::nothing(), |reply, (name, arguments)| reply.and_call(name, arguments));
        self.reply(reply)
    }

    /// Queues a reply.
    #[must_use]
    pub fn reply(mut self, reply: Reply) -> Self {
        self.queue.push_back(reply);
        self
    }

    /// Queues the same reply `count` times.
    #[must_use]
    pub fn times(mut self, count: usize, reply: &Reply) -> Self {
        self.queue.extend(std::iter::repeat_n(reply.clone(), count));
        self
    }

    /// Answers with a function of the request once the queue is empty.
    #[must_use]
    pub fn then_from_fn(mut self, answer: impl FnMut(&RecordedRequest) -> Reply + Send + 'static) -> Self {
        self.answer = Some(Box::new(answer));
        self
    }

    pub(crate) fn push(&mut self, reply: Reply) {
        self.queue.push_back(reply);
    }

    pub(crate) fn next(&mut self, request: &RecordedRequest) -> Option<Reply> {
        self.queue.pop_front().or_else(|| self.answer.as_mut().map(|answer| answer(request)))
    }

    /// Returns the number of replies still queued.
    pub(crate) fn remaining(&self) -> usize {
        self.queue.len()
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Self::new().reply(reply)
    }
}
