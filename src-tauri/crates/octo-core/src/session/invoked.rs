//! A skill the person invokes: a turn that begins with the call, before any model is asked.
//!
//! The call stands in the conversation as one of the model's would, with its result behind it. So a slash and a model
//! invoke a skill by one way: the same card, the same Stop, the same restart; and what a sub-agent gives back is in
//! its parent's conversation, where the model that is asked next reads it.

use super::{
    after::Course,
    calls::OpenCall,
    inbox::Said,
    state::{Change, Session},
    turns::{Began, Step},
};
use crate::{
    clock::now,
    turn::{CallKey, Input},
};
use octo_protocol::{
    ApiError, Block, CallId, CallView, Event, Message, MessageEnd, MessageId, Meta, Origin, Role, Sent,
    ToolCall, TurnId,
};
use octo_tools::{INVOKE_SKILL, SkillWish};
use serde_json::json;

/// A skill the person invoked, as it stands in the conversation.
pub(crate) struct AskedCall {
    /// The message with the call. It belongs behind the person's own message of the turn.
    pub(crate) message: Message,
    /// The call, planned.
    pub(crate) view: CallView,
}

/// The call that invokes a skill in the person's name.
pub(crate) fn asked_call(turn: TurnId, wish: &SkillWish) -> AskedCall {
    let call_id = CallId::new();
    let call = ToolCall {
        id: call_id,
        // What every provider takes for an id.
        provider_id: format!("octo_{call_id}"),
        name: INVOKE_SKILL.to_owned(),
        arguments: json!({ "skill_name": wish.name, "task": wish.task }).to_string(),
    };
    let end = Some(MessageEnd::Complete);
    let meta = Meta { origin: Origin::Octo, at: now(), model: None, usage: None, end, via: None };
    let id = MessageId::new();
    let view = OpenCall::planned(turn, id, call.clone()).view;
    let message = Message { id, turn, role: Role::Assistant, blocks: vec![Block::ToolCall(call)], meta };
    AskedCall { message, view }
}

impl Session {
    /// Begins a turn whose first step is a skill. While another turn runs, what was typed waits like any message.
    pub(super) async fn begin_with_skill(&mut self, said: Said, wish: &SkillWish) -> Result<Sent, ApiError> {
        // The model reads the command when its turn comes, and invokes the skill by it.
        if self.running.is_some() || self.away.is_some() {
            return self.queue_up(said).await;
        }
        self.must_be_own()?;
        self.check_folder()?;
        let turn = TurnId::new();
        let mut step = Step::default();
        self.granted_sites.clear();
        self.open_turn(turn, Began::ByThePerson, &mut step);
        self.drain_queue(turn, &mut step);
        self.add_said(turn, said, &mut step);
        let AskedCall { message, .. } = asked_call(turn, wish);
        let (id, calls) = (message.id, message.calls().cloned().collect::<Vec<_>>());
        self.add_message(message, &mut step.changes);
        let mut keys = Vec::new();
        for call in calls {
            let open = OpenCall::planned(turn, id, call.clone());
            step.changes.push(Change::Event(Event::CallChanged { call: open.view.clone() }));
            if let Some(running) = &mut self.running {
                running.course = Course::begun_with(&wish.name);
                running.calls.push(open);
            }
            keys.push((call.id, CallKey { tool: call.name, arguments: call.arguments }));
        }
        self.feed_with(Input::BeginWith { calls: keys }, step).await?;
        Ok(Sent::Started)
    }
}
