//! The pairing pass before every request: every call has its result, in order, directly after it.
//!
//! The actor's context is paired already; this pass guarantees that nothing else is ever sent, whatever an
//! older version, a crash or an import left in the store. It looks only at a message and its successor, so its
//! result for a prefix never depends on later messages.
//!
//! A call made by the person (a slash command for a skill) is kept as a call but sent as a notice: a provider
//! may insist that a call of the model begins with its reasoning, and for this one there is none.

use octo_protocol::{
    Block, CallStatus, Message, MessageId, Meta, NoticeKind, Origin, Role, ToolCall, ToolResult,
};
use std::borrow::Cow;

/// Replaces a result that was never stored. Part of the request: never change the words.
const MISSING_RESULT: &str =
    "No result was kept for this call: it may or may not have run. Check before you rely on it.";

/// The notice of a skill the person invoked. Part of the request: never change the words.
const INVOKED_NOTICE: &str =
    "The person invoked a skill with these words; what it gave follows. Do not invoke it again for them.";

/// Returns the conversation with every call paired, borrowed if nothing had to be repaired.
pub(crate) fn pair_results(messages: &[Message]) -> Cow<'_, [Message]> {
    let repaired = if is_paired(messages) { Cow::Borrowed(messages) } else { Cow::Owned(mend(messages)) };
    if repaired.iter().any(has_person_calls) {
        Cow::Owned(as_notices(repaired.into_owned()))
    } else {
        repaired
    }
}

/// Whether a message contains calls made by the person.
fn has_person_calls(message: &Message) -> bool {
    message.role == Role::Assistant && message.meta.origin == Origin::Octo && message.calls().next().is_some()
}

/// Turns the person's own calls into notices with their results.
fn as_notices(messages: Vec<Message>) -> Vec<Message> {
    let mut with_notices: Vec<Message> = Vec::with_capacity(messages.len());
    let mut called: Vec<ToolCall> = Vec::new();
    for mut message in messages {
        if has_person_calls(&message) {
            called = message.calls().cloned().collect();
            continue;
        }
        let calls = std::mem::take(&mut called);
        for block in &mut message.blocks {
            if let Block::ToolResult(result) = block
                && let Some(call) = calls.iter().find(|call| call.id == result.call)
            {
                let text = format!("{INVOKED_NOTICE}\n{}\n\n{}", call.arguments, result.text);
                *block = Block::Notice { kind: NoticeKind::Skill, text };
            }
        }
        with_notices.push(message);
    }
    with_notices
}

fn is_paired(messages: &[Message]) -> bool {
    let mut expected: Vec<&ToolCall> = Vec::new();
    for message in messages {
        let results: Vec<&ToolResult> = results(message).collect();
        let complete = results.len() == expected.len()
            && results.iter().zip(&expected).all(|(result, call)| result.call == call.id);
        let misplaced = message.role == Role::Assistant && !results.is_empty();
        if !complete || misplaced || !opens_with_results(message) {
            return false;
        }
        expected = if message.role == Role::Assistant { message.calls().collect() } else { Vec::new() };
    }
    expected.is_empty()
}

/// Whether the results come first in their message. Repairing puts them there, so a message that has them
/// elsewhere needs repair too: otherwise a fault in a later message would move them and change text that was
/// already sent.
fn opens_with_results(message: &Message) -> bool {
    let is_result = |block: &&Block| matches!(block, Block::ToolResult(_));
    !message.blocks.iter().skip_while(is_result).any(|block| is_result(&block))
}

fn mend(messages: &[Message]) -> Vec<Message> {
    let mut repaired: Vec<Message> = Vec::with_capacity(messages.len() + 2);
    let mut missing_calls: Vec<ToolCall> = Vec::new();
    for message in messages {
        let mut message = message.clone();
        let was_empty = message.blocks.is_empty();
        let calls = std::mem::take(&mut missing_calls);
        if message.role == Role::Assistant {
            if !calls.is_empty() {
                repaired.push(placeholder(&calls, &message));
            }
            message.blocks.retain(|block| !matches!(block, Block::ToolResult(_)));
            missing_calls = message.calls().cloned().collect();
        } else {
            let results_here: Vec<ToolResult> = results(&message).cloned().collect();
            message.blocks.retain(|block| !matches!(block, Block::ToolResult(_)));
            let in_order = calls.iter().map(|call| {
                let result = results_here.iter().find(|result| result.call == call.id).cloned();
                Block::ToolResult(result.unwrap_or_else(|| missing(call)))
            });
            message.blocks.splice(0..0, in_order);
        }
        // A message left empty by the omissions is dropped; all others stay.
        if was_empty || !message.blocks.is_empty() {
            repaired.push(message);
        }
    }
    if let (false, Some(last_message)) = (missing_calls.is_empty(), repaired.last().cloned()) {
        repaired.push(placeholder(&missing_calls, &last_message));
    }
    repaired
}

fn results(message: &Message) -> impl Iterator<Item = &ToolResult> {
    message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(result),
        _ => None,
    })
}

fn missing(call: &ToolCall) -> ToolResult {
    ToolResult {
        call: call.id,
        provider_id: call.provider_id.clone(),
        status: CallStatus::Interrupted,
        text: MISSING_RESULT.to_owned(),
        images: Vec::new(),
    }
}

fn placeholder(calls: &[ToolCall], neighbour: &Message) -> Message {
    Message {
        id: MessageId::new(),
        turn: neighbour.turn,
        role: Role::User,
        blocks: calls.iter().map(|call| Block::ToolResult(missing(call))).collect(),
        meta: Meta::new(Origin::Octo, neighbour.meta.at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::{CallId, TurnId};
    use proptest::prelude::*;

    fn message(role: Role, blocks: Vec<Block>) -> Message {
        let origin = if role == Role::Assistant { Origin::Model } else { Origin::Octo };
        let meta = Meta::new(origin, 0);
        Message { id: MessageId::new(), turn: TurnId::new(), role, blocks, meta }
    }

    fn text(content: &str) -> Block {
        Block::Text { text: content.into() }
    }

    fn call(id: CallId) -> Block {
        let provider_id = format!("p{id}");
        Block::ToolCall(ToolCall { id, provider_id, name: "grep".into(), arguments: "{}".into() })
    }

    fn result(id: CallId) -> Block {
        Block::ToolResult(ToolResult {
            call: id,
            provider_id: format!("p{id}"),
            status: CallStatus::Done,
            text: "ok".into(),
            images: Vec::new(),
        })
    }

    #[test]
    fn what_is_paired_is_not_touched() {
        let [a, b] = [CallId::new(), CallId::new()];
        let messages = [
            message(Role::User, vec![text("hi")]),
            message(Role::Assistant, vec![text("x"), call(a), call(b)]),
            message(Role::User, vec![result(a), result(b)]),
            message(Role::User, vec![text("and?")]),
        ];
        assert!(matches!(pair_results(&messages), Cow::Borrowed(_)));
    }

    #[test]
    fn a_call_of_the_persons_is_sent_as_a_notice_of_what_it_gave() {
        let [person_call, model_call] = [CallId::new(), CallId::new()];
        let mut request = message(Role::Assistant, vec![call(person_call)]);
        request.meta.origin = Origin::Octo;
        let mut messages = vec![
            message(Role::User, vec![text("/grep x")]),
            request,
            message(Role::User, vec![result(person_call)]),
            message(Role::Assistant, vec![call(model_call)]),
            message(Role::User, vec![result(model_call)]),
        ];
        let paired_messages = pair_results(&messages).into_owned();
        let roles: Vec<Role> = paired_messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::User, Role::Assistant, Role::User]);
        let [Block::Notice { kind: NoticeKind::Skill, text }] = paired_messages[1].blocks.as_slice() else {
            panic!("a notice, and nothing else: {:?}", paired_messages[1].blocks)
        };
        assert!(text.starts_with(INVOKED_NOTICE) && text.ends_with("{}\n\nok"), "{text}");
        assert_eq!(paired_messages[3].blocks, messages[4].blocks, "a call of the model's stays a call");
        // Later messages do not change the result.
        messages.truncate(3);
        assert_eq!(pair_results(&messages).into_owned(), paired_messages[..2]);
    }

    #[test]
    fn results_are_put_in_order_and_missing_ones_stood_in_for() {
        let [a, b, c] = [CallId::new(), CallId::new(), CallId::new()];
        let messages = [
            message(Role::Assistant, vec![call(a), call(b), call(c)]),
            message(Role::User, vec![text("go on"), result(c), result(a)]),
        ];
        let repaired = pair_results(&messages);
        let ids: Vec<CallId> = results(&repaired[1]).map(|result| result.call).collect();
        assert_eq!(ids, [a, b, c]);
        let statuses: Vec<CallStatus> = results(&repaired[1]).map(|result| result.status).collect();
        assert_eq!(statuses, [CallStatus::Done, CallStatus::Interrupted, CallStatus::Done]);
        assert_eq!(repaired[1].text(), "go on");
    }

    #[test]
    fn results_open_their_message_whatever_comes_later() {
        let a = CallId::new();
        let mut messages = vec![
            message(Role::Assistant, vec![call(a)]),
            message(Role::User, vec![text("words"), result(a)]),
        ];
        let alone = pair_results(&messages)[1].blocks.clone();
        assert!(matches!(alone[0], Block::ToolResult(_)), "{alone:?}");
        messages.push(message(Role::User, vec![result(CallId::new())]));
        assert_eq!(pair_results(&messages)[1].blocks, alone);
    }

    #[test]
    fn a_result_nobody_asked_for_is_left_out() {
        let messages =
            [message(Role::User, vec![text("hi")]), message(Role::User, vec![result(CallId::new())])];
        assert_eq!(pair_results(&messages).len(), 1);
    }

    fn shapes() -> impl Strategy<Value = Vec<Message>> {
        let pool: Vec<CallId> = (0..6).map(|_| CallId::new()).collect();
        let block = (0..3u8, 0..6usize).prop_map(move |(kind, index)| match kind {
            0 => text("words"),
            1 => call(pool[index]),
            _ => result(pool[index]),
        });
        let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
        let message = (role, prop::collection::vec(block, 0..5)).prop_map(|(role, blocks)| {
            let mut seen_calls = std::collections::HashSet::new();
            let blocks = blocks
                .into_iter()
                .filter(|block| match block {
                    Block::ToolCall(call) => role == Role::Assistant && seen_calls.insert(call.id),
                    _ => true,
                })
                .collect();
            message(role, blocks)
        });
        prop::collection::vec(message, 0..12)
    }

    proptest! {
        #[test]
        fn whatever_comes_in_is_paired_when_it_goes_out(messages in shapes()) {
            let mended = pair_results(&messages).into_owned();
            prop_assert!(is_paired(&mended));
        }

        #[test]
        fn what_is_made_of_a_prefix_does_not_depend_on_what_follows(messages in shapes(), at in 0..12usize) {
            let at = at.min(messages.len());
            let blocks = |messages: &[Message]| -> Vec<Vec<Block>> {
                pair_results(messages).iter().map(|message| message.blocks.clone()).collect()
            };
            let (whole, prefix) = (blocks(&messages), blocks(&messages[..at]));
            let mut same = prefix;
            // The last message of a prefix may still lack results; placeholders replace them at its end.
            if messages[..at].last().is_some_and(|last| last.role == Role::Assistant && last.calls().count() > 0) {
                same.pop();
            }
            prop_assert!(whole.starts_with(&same));
        }
    }
}
