//! Decides where to set cache markers in a conversation. Pure.
//!
//! # The policy
//!
//! Measured with the simulated Anthropic cache at 3 / 15 / 3.75 / 6 / 0.3 $ per million tokens and a fixed
//! prefix of 3,000 tokens: dollars, and their ratio to a harness that writes each token once and reads it
//! afterwards. The chats have 11 pauses each, log-normal with a median of 40 s and one in eight over five
//! minutes. `tests/cache/policies.rs` verifies the decision with fewer chats.
//!
//! |policy | 40 tool turns | 40 chats | the same, kept warm | 8 sessions, 4 min apart | 15 min apart |
//! |-|-|-|-|-|-|
//! |two rolling markers | 0.376 (1.000) | 23.78 (1.188) | 21.34 (1.067) | 0.356 (1.314) | 0.356 (1.314) |
//! |plus one after tools and system | 0.376 (1.000) | 23.78 (1.188) | 21.34 (1.067) | 0.279 (1.027) | 0.356 (1.314) |
//! |the latter for an hour | 0.383 (1.019) | 23.41 (1.170) | 21.52 (1.076) | 0.286 (1.054) | 0.286 (1.054) |
//! |finished turns for an hour too | 0.383 (1.019) | 24.99 (1.249) | 21.88 (1.093) | 0.286 (1.054) | 0.286 (1.054) |
//! |everything for an hour | 0.444 (1.181) | 23.36 (1.167) | 23.95 (1.197) | 0.337 (1.243) | 0.337 (1.243) |
//!
//! So the default is five minutes everywhere, with a marker after tools and system that all sessions of a
//! profile share, and warm-keeping (see [`keep_warm`](crate::keep_warm)) for the pauses. An hour for tools and
//! system would pay only for a person who mostly begins a session between five minutes and an hour after the
//! last one ended. An hour throughout costs twice the write price on every token: on chats with pauses it beats
//! five minutes by two percent without warm-keeping, and loses eighteen percent on work without pauses.

use crate::{CacheKind, CacheLifetime, CachePlan, Caching};
use octo_protocol::{Block, Message, ModelId, Role, SessionId};

/// Shape of a conversation at the time of a request.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    messages: &'a [Message],
    lasting_count: usize,
    model: Option<ModelId>,
    conversation: Option<SessionId>,
}

impl<'a> Layout<'a> {
    /// Creates a layout of all messages of the request, assuming the next one will include them too.
    pub fn new(messages: &'a [Message]) -> Self {
        Self { messages, lasting_count: messages.len(), model: None, conversation: None }
    }

    /// Declares that the next request lacks the last `count` messages (for example the instruction of a
    /// compaction).
    #[must_use]
    pub fn without_last(self, count: usize) -> Self {
        Self { lasting_count: self.messages.len().saturating_sub(count), ..self }
    }

    /// Sets the model of the call. Messages of another model were not sent to its cache.
    #[must_use]
    pub fn for_model(self, model: ModelId) -> Self {
        Self { model: Some(model), ..self }
    }

    /// Sets the session of the conversation. For a sub-agent it is the root session, whose prefix it shares.
    #[must_use]
    pub fn for_session(self, session: SessionId) -> Self {
        Self { conversation: Some(session), ..self }
    }
}

/// Requested lifetimes of markers. A lifetime that a provider does not offer is replaced by the nearest one it
/// does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerPolicy {
    /// Lifetime of the marker after tools and system prompt; `None` for no marker there.
    pub fixed: Option<CacheLifetime>,
    /// Lifetime after the turns before the current one.
    pub finished: CacheLifetime,
    /// Lifetime after the current turn.
    pub current: CacheLifetime,
}

impl Default for MarkerPolicy {
    /// Returns the cheapest of the measured policies.
    fn default() -> Self {
        Self {
            fixed: Some(CacheLifetime::FiveMinutes),
            finished: CacheLifetime::FiveMinutes,
            current: CacheLifetime::FiveMinutes,
        }
    }
}

/// Plans the cache markers of a request.
///
/// Markers (and breakpoints) are worth most in this order; those over the limit are left out:
///
/// 1. The last lasting message: this call writes up to there.
/// 2. The end of the model's previous call: the message before its last answer. An entry was written exactly
///    there, so the marker itself finds it, however much was appended since: a long answer, a large batch of
///    results, queued messages, or the turns of another model after a switch away and back.
/// 3. The end of the previous turn. Reading it keeps it alive for free, so after taking back a whole turn of
///    any length, everything before it is still read.
/// 4. If the first two are further apart than the lookback, the last message within reach of the earlier one: a
///    later call whose tail was taken back finds it from there.
///
/// A message is eligible if it is on the person's side: those always contain a block that takes a marker, while
/// a model's message may contain only reasoning, which takes none. Messages that will vanish are never marked:
/// an entry after one could not be read again.
pub fn plan(layout: &Layout<'_>, caching: &Caching, policy: &MarkerPolicy) -> CachePlan {
    let key = layout.conversation.map(|session| format!("octo-{session}"));
    let (limit, lookback, lifetimes): (_, _, &[CacheLifetime]) = match &caching.kind {
        CacheKind::Markers { limit, lookback, lifetimes } => (*limit, *lookback, lifetimes),
        // Their lifetime cannot be requested.
        CacheKind::Breakpoints { limit, lookback, .. } => (*limit, *lookback, &[]),
        CacheKind::Prefix { keyed: true, .. } => return CachePlan { key, ..CachePlan::default() },
        CacheKind::None
        | CacheKind::Prefix { keyed: false, .. }
        | CacheKind::Units { .. }
        | CacheKind::Probabilistic { .. } => return CachePlan::default(),
    };
    let offered = |requested: CacheLifetime| {
        let shorter = lifetimes.iter().filter(|lifetime| **lifetime <= requested).max();
        shorter.or(lifetimes.iter().min()).copied().unwrap_or(CacheLifetime::FiveMinutes)
    };
    let mut fixed = policy.fixed.filter(|_| limit > 0).map(offered);
    let candidates = marker_candidates(layout, lookback);
    let turn = layout.previous_turn();
    let life_of = |index: usize| {
        let is_finished = turn.is_some_and(|turn| index <= turn);
        offered(if is_finished { policy.finished } else { policy.current })
    };
    // A provider with breakpoints automatically sets one after the newest message.
    let set_already = matches!(caching.kind, CacheKind::Breakpoints { .. }).then_some(layout.messages.len());
    let mut messages: Vec<(usize, CacheLifetime)> = candidates
        .into_iter()
        .filter(|index| Some(index + 1) != set_already)
        .take(limit - usize::from(fixed.is_some()))
        .map(|index| (index, life_of(index)))
        .collect();
    messages.sort_unstable_by_key(|marker| marker.0);
    // Longer lifetimes must precede shorter ones.
    let mut longest = CacheLifetime::FiveMinutes;
    for (_, lifetime) in messages.iter_mut().rev() {
        longest = longest.max(*lifetime);
        *lifetime = longest;
    }
    fixed = fixed.map(|lifetime| lifetime.max(longest));
    CachePlan { fixed, messages, key }
}

/// Returns the messages worth a marker, most valuable first.
fn marker_candidates(layout: &Layout<'_>, lookback: usize) -> Vec<usize> {
    let Some(newest) = layout.eligible_before(layout.lasting_count) else { return Vec::new() };
    let mut candidates = vec![newest];
    let previous = layout.previous_call(newest);
    let within_reach =
        |start: usize, index: usize| positions(layout.messages, start, index) < lookback.max(1);
    let intermediate = previous.filter(|previous| !within_reach(*previous, newest)).and_then(|previous| {
        (previous + 1..newest)
            .filter(|index| layout.is_eligible(*index))
            .take_while(|index| within_reach(previous, *index))
            .last()
    });
    for candidate in [previous, layout.previous_turn(), intermediate].into_iter().flatten() {
        if !candidates.contains(&candidate) {
            candidates.push(candidate);
        }
    }
    candidates
}

impl Layout<'_> {
    fn is_eligible(&self, index: usize) -> bool {
        self.messages.get(index).is_some_and(|message| message.role == Role::User)
    }

    fn eligible_before(&self, end: usize) -> Option<usize> {
        (0..end.min(self.messages.len())).rev().find(|index| self.is_eligible(*index))
    }

    /// Returns where the model's previous call ended, before the call that ends with message `newest`.
    fn previous_call(&self, newest: usize) -> Option<usize> {
        let is_answer = |message: &Message| {
            let by_it =
                self.model.is_none() || message.meta.model.is_none() || message.meta.model == self.model;
            message.role == Role::Assistant && by_it
        };
        let call = self.messages.iter().take(newest).rposition(is_answer)?;
        self.eligible_before(call)
    }

    /// Returns where the last call of the previous turn ended.
    fn previous_turn(&self) -> Option<usize> {
        let eligible = self.messages.get(..self.lasting_count)?;
        let current = eligible.last()?.turn;
        let begins = eligible.iter().rposition(|message| message.turn != current)? + 1;
        self.previous_call(begins)
    }
}

/// Counts the positions between the end of message `start` and the end of message `end`. Each block is one, but
/// consecutive calls are one together, and so are consecutive results.
fn positions(messages: &[Message], start: usize, end: usize) -> usize {
    let blocks = messages.iter().take(end + 1).skip(start + 1).flat_map(|message| &message.blocks);
    let mut previous = PositionRun::Other;
    let mut count = 0;
    for block in blocks {
        let run = match block {
            Block::ToolCall(_) => PositionRun::Calls,
            Block::ToolResult(_) => PositionRun::Results,
            Block::Text { .. }
            | Block::Reasoning { .. }
            | Block::Image { .. }
            | Block::Document { .. }
            | Block::File { .. }
            | Block::Summary { .. }
            | Block::Notice { .. }
            | Block::CommandsEnded { .. } => PositionRun::Other,
        };
        if run == PositionRun::Other || run != previous {
            count += 1;
        }
        if matches!(block, Block::Document { .. }) {
            // Its path precedes it, as a block of its own.
            count += 1;
        }
        previous = run;
    }
    count
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PositionRun {
    Calls,
    Results,
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::{CallId, CallStatus, MessageId, Meta, Origin, ToolCall, ToolResult, TurnId};

    /// Builds a conversation: `u` and `a` with that many text blocks, `c` and `r` with that many calls or
    /// results.
    fn conversation(outline: &[(char, usize)]) -> Vec<Message> {
        outline
            .iter()
            .map(|(kind, count)| {
                let role = if matches!(kind, 'u' | 'r') { Role::User } else { Role::Assistant };
                let text = || Block::Text { text: "x".to_owned() };
                let call = || {
                    let (provider_id, name, arguments) = ("t".to_owned(), "grep".to_owned(), "{}".to_owned());
                    Block::ToolCall(ToolCall { id: CallId::new(), provider_id, name, arguments })
                };
                let result = || {
                    let (call, provider_id) = (CallId::new(), "t".to_owned());
                    let (status, text) = (CallStatus::Done, "x".to_owned());
                    Block::ToolResult(ToolResult { call, provider_id, status, text, images: Vec::new() })
                };
                let blocks = (0..*count)
                    .map(|_| match kind {
                        'c' => call(),
                        'r' => result(),
                        _ => text(),
                    })
                    .collect();
                let meta = Meta::new(Origin::Octo, 0);
                Message { id: MessageId::new(), turn: TurnId::new(), role, blocks, meta }
            })
            .collect()
    }

    fn marked(messages: &[Message]) -> CachePlan {
        plan(&Layout::new(messages), &Caching::anthropic(), &MarkerPolicy::default())
    }

    #[test]
    fn markers_are_at_the_ends_of_this_and_the_previous_call() {
        for (outline, expected) in [
            (&[][..], vec![]),
            (&[('a', 1)], vec![]),
            (&[('u', 1)], vec![0]),
            (&[('u', 1), ('u', 1)], vec![1]),
            (&[('u', 1), ('a', 1), ('u', 1)], vec![0, 2]),
            (&[('u', 1), ('c', 1), ('r', 1), ('c', 1), ('r', 1)], vec![2, 4]),
            // Queued messages after the results do not move the mark from the end of the previous call.
            (&[('u', 1), ('c', 3), ('r', 3), ('u', 1), ('u', 1)], vec![0, 4]),
            (&[('u', 1), ('a', 1)], vec![0]),
            // Consecutive calls are one position, and so are results.
            (&[('u', 1), ('c', 40), ('r', 40)], vec![0, 2]),
            // 18 + 1 and 19 + 1 positions: the marker's own position counts, so nineteen apart is within reach.
            (&[('u', 1), ('a', 18), ('u', 1)], vec![0, 2]),
            (&[('u', 1), ('a', 19), ('u', 1)], vec![0, 2]),
            // Out of reach, so the last message within reach is marked too.
            (&[('u', 1), ('a', 5), ('u', 5), ('u', 5), ('u', 15)], vec![0, 3, 4]),
            (&[('u', 1), ('a', 30), ('u', 1), ('u', 1)], vec![0, 3]),
        ] {
            let plan = marked(&conversation(outline));
            let indices: Vec<usize> = plan.messages.iter().map(|marker| marker.0).collect();
            assert_eq!(indices, expected, "{outline:?}");
        }
    }

    #[test]
    fn positions_count_runs_once() {
        for (outline, expected) in [
            (&[('u', 1), ('a', 3)][..], 3),
            (&[('u', 1), ('c', 3)], 1),
            (&[('u', 1), ('c', 3), ('r', 3)], 2),
            (&[('u', 1), ('c', 3), ('r', 3), ('u', 2), ('c', 1)], 5),
        ] {
            assert_eq!(positions(&conversation(outline), 0, outline.len() - 1), expected, "{outline:?}");
        }
    }
}
