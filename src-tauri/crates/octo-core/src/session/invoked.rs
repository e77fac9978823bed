//! A skill invoked by the person: a turn that begins with the call, before any model call.
//!
//! The call is part of the conversation like a call of the model, followed by its result. So a slash command
//! and a model invoke a skill in the same way, with the same card, the same Stop and the same restart; and the
//! summary of a sub-agent is in its parent's conversation, where the next model call reads it.

use super::{
    after::TurnFacts, calls::OpenCall, inbox::UserMessage, state::Session, step::Step, turns::TurnCause,
};
use crate::turn::{CallKey, Input};
use octo_protocol::{
    ApiError, Block, CallId, CallView, Message, MessageEnd, MessageId, Meta, Origin, Role, SendOutcome,
    ToolCall, TurnId,
};
use octo_runtime::now;
use octo_tools::{INVOKE_SKILL, SkillTask};
use serde_json::json;

/// Creates the call that invokes a skill in the person's name. Returns the message with the call, which follows
/// the person's own message of the turn, and the planned call.
pub(crate) fn asked_call(turn: TurnId, wish: &SkillTask) -> (Message, CallView) {
    let call_id = CallId::new();
    let call = ToolCall {
        id: call_id,
        // An id that every provider accepts.
        provider_id: format!("octo_{call_id}"),
        name: INVOKE_SKILL.to_owned(),
        arguments: json!({ "skill_name": wish.name, "task": wish.task }).to_string(),
    };
    let end = Some(MessageEnd::Complete);
    let meta = Meta { end, ..Meta::new(Origin::Octo, now()) };
    let id = MessageId::new();
    let view = OpenCall::planned(turn, id, call.clone()).view().clone();
    let message = Message { id, turn, role: Role::Assistant, blocks: vec![Block::ToolCall(call)], meta };
    (message, view)
}

impl Session {
    /// Begins a turn whose first step is a skill. While another turn is running, the typed text is queued like
    /// any message.
    pub(super) async fn begin_with_skill(
        &mut self,
        said: UserMessage,
        wish: &SkillTask,
    ) -> Result<SendOutcome, ApiError> {
        // The model reads the command later and then invokes the skill.
        if self.turn.is_running() || self.restoring.is_under_way() {
            return self.queue_up(said).await;
        }
        self.must_be_own()?;
        self.check_folder()?;
        let turn = TurnId::new();
        let mut step = Step::once();
        self.open_turn(turn, TurnCause::ByThePerson, &mut step);
        self.drain_queue(turn, &mut step);
        self.add_user_message(turn, said, &mut step);
        let (message, _) = asked_call(turn, wish);
        let (id, calls) = (message.id, message.calls().cloned().collect::<Vec<_>>());
        self.add_message(message, &mut step);
        self.turn.with(|turn| {
            *turn.course_mut() = TurnFacts::begun_with(&wish.name);
            turn.batch.plan(turn.id(), id, &calls, &mut step);
        });
        let keys = calls.iter().map(|call| (call.id, CallKey::of(call))).collect();
        self.feed_with(Input::BeginWith { calls: keys }, step).await?;
        Ok(SendOutcome::Started)
    }
}
