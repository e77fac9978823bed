//! Where cache markers go in a conversation. Pure.

use crate::{CachePlan, Life};
use octo_protocol::{Block, Message, Role};

/// How many positions before a marker a provider looks for an entry, the marker's own included
/// (Anthropic's documentation of prompt caching, autumn 2026).
pub const LOOKBACK: usize = 20;

/// The plan of a request: markers behind the system prompt and behind the messages of [`plan_marks`].
pub fn plan(messages: &[Message]) -> CachePlan {
    let messages = plan_marks(messages).into_iter().map(|index| (index, Life::FiveMinutes)).collect();
    CachePlan { fixed: Some(Life::FiveMinutes), messages, key: None }
}

/// The messages (by index, rising) after which a marker goes: at most three.
///
/// * The last message of the conversation: what this call writes.
/// * The end of the call before: the message before the model's last one. An entry was written exactly
///   there, so it is found at the marker itself, however much was appended since (a long answer, a large
///   batch of results, queued messages).
/// * Where these two are more than [`LOOKBACK`] positions apart, one message between them, the last one
///   still within reach of the earlier marker: a later call whose tail was taken back finds it from there.
///
/// With the marker at the end of the system prompt this stays within the four a request may have. A message
/// is eligible when it is on the person's side: those always hold a block that takes a marker, while a
/// model's message may hold nothing but reasoning, which takes none.
fn plan_marks(messages: &[Message]) -> Vec<usize> {
    let eligible = |index: &usize| messages.get(*index).is_some_and(|message| message.role == Role::User);
    let Some(last) = (0..messages.len()).rev().find(eligible) else { return Vec::new() };
    let answered = messages.iter().take(last).rposition(|message| message.role == Role::Assistant);
    let Some(before) = answered.and_then(|answer| (0..answer).rev().find(eligible)) else {
        return vec![last];
    };
    let within_reach = |index: &usize| positions(messages, before, *index) < LOOKBACK;
    let mut marks = vec![before, last];
    if !within_reach(&last) {
        let between = (before + 1..last).filter(eligible).take_while(within_reach).last();
        marks.extend(between);
        marks.sort_unstable();
    }
    marks
}

/// Positions between the end of message `from` and the end of message `to`. Each block is one, but calls in
/// a row are one together, and so are results in a row.
fn positions(messages: &[Message], from: usize, to: usize) -> usize {
    let blocks = messages.iter().take(to + 1).skip(from + 1).flat_map(|message| &message.blocks);
    let mut last = Run::Other;
    let mut count = 0;
    for block in blocks {
        let run = match block {
            Block::ToolCall(_) => Run::Calls,
            Block::ToolResult(_) => Run::Results,
            Block::Text { .. }
            | Block::Reasoning { .. }
            | Block::Image { .. }
            | Block::File { .. }
            | Block::Summary { .. }
            | Block::Notice { .. } => Run::Other,
        };
        if run == Run::Other || run != last {
            count += 1;
        }
        last = run;
    }
    count
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Calls,
    Results,
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::{CallId, CallStatus, MessageId, Meta, Origin, ToolCall, ToolResult, TurnId};

    /// `u` and `a` with so many text blocks, `c` and `r` with so many calls or results.
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
                let meta = Meta { origin: Origin::Octo, at: 0, model: None, usage: None, end: None };
                Message { id: MessageId::new(), turn: TurnId::new(), role, blocks, meta }
            })
            .collect()
    }

    #[test]
    fn marks_stand_where_this_call_and_the_one_before_it_end() {
        for (outline, expected) in [
            (&[][..], vec![]),
            (&[('a', 1)], vec![]),
            (&[('u', 1)], vec![0]),
            (&[('u', 1), ('u', 1)], vec![1]),
            (&[('u', 1), ('a', 1), ('u', 1)], vec![0, 2]),
            (&[('u', 1), ('c', 1), ('r', 1), ('c', 1), ('r', 1)], vec![2, 4]),
            // Queued messages behind the results do not move the mark off the end of the call before.
            (&[('u', 1), ('c', 3), ('r', 3), ('u', 1), ('u', 1)], vec![0, 4]),
            (&[('u', 1), ('a', 1)], vec![0]),
            // Calls in a row are one position, and so are results.
            (&[('u', 1), ('c', 40), ('r', 40)], vec![0, 2]),
            // 18 + 1 and 19 + 1 positions: the marker's own position counts, so nineteen apart is in reach.
            (&[('u', 1), ('a', 18), ('u', 1)], vec![0, 2]),
            (&[('u', 1), ('a', 19), ('u', 1)], vec![0, 2]),
            // Beyond reach, the last message within it is marked too.
            (&[('u', 1), ('a', 5), ('u', 5), ('u', 5), ('u', 15)], vec![0, 3, 4]),
            (&[('u', 1), ('a', 30), ('u', 1), ('u', 1)], vec![0, 3]),
        ] {
            assert_eq!(plan_marks(&conversation(outline)), expected, "{outline:?}");
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
