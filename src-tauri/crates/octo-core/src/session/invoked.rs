//! A skill invoked by the person: a turn that begins with the call, before any model call.
//!
//! The call and its result are part of the conversation, like those of the model. A slash command and a model
//! therefore invoke a skill in the same way: with the same card, and the same behaviour on Stop and after a
//! restart. The summary of a sub-agent is in its parent's conversation, where the next model call reads it.

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
pub(crate) fn skill_call(turn: TurnId, skill_task: &SkillTask) -> (Message, CallView) {
    let call_id = CallId::new();
    let call = ToolCall {
        id: call_id,
        // An id that every provider accepts.
        provider_id: format!("octo_{call_id}"),
        name: INVOKE_SKILL.to_owned(),
        arguments: json!({ "skill_name": skill_task.name, "task": skill_task.task }).to_string(),
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
        user_message: UserMessage,
        skill_task: &SkillTask,
    ) -> Result<SendOutcome, ApiError> {
        // The model reads the command later and then invokes the skill.
        if self.turn.is_running() || self.restoring.is_under_way() {
            return self.queue_up(user_message).await;
        }
        self.check_owned_here()?;
        self.check_folder()?;
        let turn = TurnId::new();
        let mut step = Step::once();
        self.open_turn(turn, TurnCause::Person, &mut step);
        self.drain_queue(turn, &mut step);
        self.add_user_message(turn, user_message, &mut step);
        let (message, _) = skill_call(turn, skill_task);
        let (id, calls) = (message.id, message.calls().cloned().collect::<Vec<_>>());
        self.add_message(message, &mut step);
        self.turn.with(|turn| {
            *turn.facts_mut() = TurnFacts::with_skill(&skill_task.name);
            turn.batch.plan(turn.id(), id, &calls, &mut step);
        });
        let keys = calls.iter().map(|call| (call.id, CallKey::of(call))).collect();
        self.feed_with(Input::BeginWith { calls: keys }, step).await?;
        Ok(SendOutcome::Started)
    }
}
