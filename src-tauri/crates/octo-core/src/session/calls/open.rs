//! A call of the open batch.

use super::{CallEnding, plain};
use crate::{
    permission::{Decision, PermissionContext},
    session::{
        ready::ReadyCall,
        step::{Change, Step},
        sub_agent::close_card,
        texts,
    },
    turn::{CallOrder, CallVerdict, SettleReason, StoredCallState},
};
use octo_policy::RunningCallEntry;
use octo_protocol::{
    CallId, CallState, CallStatus, CallView, Event, MessageId, Question, QuestionId, SubAgentStatus,
    ToolCall, ToolResult, ToolView, TurnId,
};
use octo_runtime::now;
use octo_store::StoredCall;
use octo_tools::{Effects, Outcome, ToolError, ToolOutput};
use tokio_util::sync::CancellationToken;

/// The parts of a call that is taken to run.
type CallStart = (ReadyCall, MessageId, CancellationToken, Option<RunningCallEntry>);

/// A call of the open batch.
pub(in crate::session) struct OpenCall {
    call: ToolCall,
    view: CallView,
    message: MessageId,
    ready: Option<ReadyCall>,
    result: Option<ToolResult>,
    cancel: Option<CancellationToken>,
    /// Its entry among the running calls, until it is taken to run.
    entry: Option<RunningCallEntry>,
}

impl OpenCall {
    /// Creates a call that the model has just made.
    pub(in crate::session) fn planned(turn: TurnId, message: MessageId, call: ToolCall) -> Self {
        let view =
            CallView { id: call.id, turn, tool: call.name.clone(), state: CallState::Planned, view: None };
        Self { call, view, message, ready: None, result: None, cancel: None, entry: None }
    }

    /// Restores a call that an earlier process left open, with its progress.
    pub(in crate::session) fn restored(
        message: MessageId,
        call: ToolCall,
        stored: &StoredCall,
        questions: &[Question],
    ) -> (Self, StoredCallState) {
        let stored_state = match stored.view.state {
            CallState::Planned => StoredCallState::Planned,
            CallState::Asking if questions.iter().any(|question| question.call == call.id) => {
                StoredCallState::Asking
            }
            CallState::Asking => StoredCallState::Planned,
            CallState::Started { .. } => StoredCallState::Started,
            CallState::Ended { .. } if stored.result.is_some() => StoredCallState::Ended,
            CallState::Ended { .. } => StoredCallState::Started,
        };
        let (view, result) = (stored.view.clone(), stored.result.clone());
        (Self { call, view, message, ready: None, result, cancel: None, entry: None }, stored_state)
    }

    pub(in crate::session) fn id(&self) -> CallId {
        self.call.id
    }

    /// Returns the call as the model made it.
    pub(in crate::session) fn request(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the message that contains the call.
    pub(in crate::session) fn message(&self) -> MessageId {
        self.message
    }

    /// Returns the call's view in the transcript.
    pub(in crate::session) fn view(&self) -> &CallView {
        &self.view
    }

    /// Returns the call's view in the transcript as an event.
    pub(in crate::session) fn event(&self) -> Event {
        Event::CallChanged { call: self.view.clone() }
    }

    /// Whether it has no result yet.
    pub(in crate::session) fn is_open(&self) -> bool {
        self.result.is_none()
    }

    /// Whether it is running.
    pub(in crate::session) fn is_started(&self) -> bool {
        matches!(self.view.state, CallState::Started { .. })
    }

    /// Returns its effects once a decision on it exists.
    pub(in crate::session) fn effects(&self) -> Option<&Effects> {
        self.ready.as_ref().map(ReadyCall::effects)
    }

    /// Replaces its card.
    pub(in crate::session) fn show(&mut self, view: ToolView) {
        self.view.view = Some(view);
    }

    /// Replaces the parsed call and its decision after the call was read again.
    pub(in crate::session) fn replace_ready(&mut self, ready: ReadyCall) {
        self.ready = Some(ready);
    }

    /// Stores the parsed call and its decision, or the error of reading it.
    pub(super) fn prepare(&mut self, outcome: Result<ReadyCall, ToolError>, step: &mut Step) -> CallVerdict {
        let ready = match outcome {
            Ok(ready) => ready,
            Err(error) => {
                self.show(plain(&error.text));
                self.end(CallStatus::Failed, error.text, step);
                return CallVerdict::Failed;
            }
        };
        ready.tool().clone_into(&mut self.view.tool);
        if let Decision::Deny { refusal, subject, part } = ready.decision().clone() {
            let message = texts::refusal_text_with(refusal, part.as_deref());
            self.show(ToolView::Refused { subject, part, refusal });
            self.end(CallStatus::Denied, message, step);
            return CallVerdict::Failed;
        }
        self.show(ready.preview().clone());
        let order = match ready.effects().order {
            octo_tools::CallConcurrency::Parallel => CallOrder::Parallel,
            octo_tools::CallConcurrency::Alone => CallOrder::Alone,
        };
        let verdict = match ready.decision() {
            Decision::Run(_) => CallVerdict::Run(order),
            Decision::Ask { .. } | Decision::Feedback | Decision::Deny { .. } => CallVerdict::Ask(order),
        };
        self.ready = Some(ready);
        verdict
    }

    /// Creates its question for the person, if it has one.
    pub(super) fn ask(&mut self, step: &mut Step) -> Option<Question> {
        let ready = self.ready.as_ref()?;
        let content = ready.question()?;
        let tool = ready.tool().to_owned();
        self.view.state = CallState::Asking;
        step.event(self.event());
        Some(Question { id: QuestionId::new(), call: self.call.id, tool, ask: content, at: now() })
    }

    /// Marks it as started. A call that the present mode forbids, or that conflicts with a call started after the
    /// decision, ends instead. Returns whether it starts.
    pub(super) fn start(
        &mut self,
        context: &PermissionContext,
        cancel: CancellationToken,
        step: &mut Step,
    ) -> bool {
        if self.ready.as_ref().is_some_and(|ready| ready.is_forbidden_by_now(context)) {
            self.end(CallStatus::Denied, texts::MODE_CHANGED.to_owned(), step);
            return false;
        }
        match self.ready.as_ref().map(|ready| ready.enter(context)).transpose() {
            Ok(entry) => self.entry = entry.flatten(),
            Err(running) => {
                self.end(CallStatus::Denied, texts::conflict(&running), step);
                return false;
            }
        }
        self.view.state = CallState::Started { at: now() };
        self.cancel = Some(cancel);
        step.event(self.event());
        true
    }

    /// Takes the decided call, its message, its cancellation token and its entry, once, to run it.
    pub(super) fn take_start(&mut self) -> Option<CallStart> {
        let cancel = self.cancel.clone()?;
        let entry = self.entry.take();
        Some((self.ready.take()?, self.message, cancel, entry))
    }

    pub(super) fn cancel(&self) {
        if let Some(cancel) = &self.cancel {
            cancel.cancel();
        }
    }

    /// Ends it with the outcome of its run.
    pub(super) fn finish(
        &mut self,
        outcome: Result<ToolOutput, ToolError>,
        ending: CallEnding,
        duration_ms: u64,
        step: &mut Step,
    ) {
        let mut result = match outcome {
            Ok(ToolOutput { text, images, view, outcome }) => {
                self.show(view);
                let status = match outcome {
                    Outcome::Done | Outcome::AwaitsPerson => CallStatus::Done,
                };
                ToolResult { images, ..tool_result(&self.call, status, text) }
            }
            Err(error) => {
                let view = failed_view(self.view.view.take(), &error.text);
                self.show(view);
                tool_result(&self.call, CallStatus::Failed, error.text)
            }
        };
        if ending == CallEnding::Stopped {
            result.status = CallStatus::Stopped;
            result.text = format!("{}\n\n{}", result.text.trim_end(), texts::STOPPED).trim_start().to_owned();
        }
        self.set_result(result, duration_ms, step);
    }

    /// Ends it without running it to completion.
    pub(super) fn settle(&mut self, reason: SettleReason, step: &mut Step) {
        let (status, text) = texts::settled_call(reason);
        let card = if reason == SettleReason::Interrupted {
            SubAgentStatus::Interrupted
        } else {
            SubAgentStatus::Stopped
        };
        close_card(&mut self.view, card);
        self.end(status, text.to_owned(), step);
    }

    /// Gives it up because it did not end in time after Stop.
    pub(super) fn abandon(&mut self, step: &mut Step) {
        close_card(&mut self.view, SubAgentStatus::Stopped);
        self.end(CallStatus::Stopped, texts::STOP_OVERDUE.to_owned(), step);
    }

    /// Ends it with a text for the model.
    pub(super) fn end(&mut self, status: CallStatus, text: String, step: &mut Step) {
        self.set_result(tool_result(&self.call, status, text), 0, step);
    }

    fn set_result(&mut self, result: ToolResult, duration_ms: u64, step: &mut Step) {
        self.view.state = CallState::Ended { status: result.status, at: now(), duration_ms };
        step.event(self.event());
        step.change(Change::Result(result.clone()));
        self.result = Some(result);
        self.ready = None;
        self.cancel = None;
        self.entry = None;
    }

    /// Returns its result; a batch is closed only when every call has one.
    pub(super) fn into_result(self) -> ToolResult {
        let Self { call, result, .. } = self;
        result.unwrap_or_else(|| {
            let (status, text) = texts::settled_call(SettleReason::Interrupted);
            tool_result(&call, status, text.to_owned())
        })
    }
}

fn tool_result(call: &ToolCall, status: CallStatus, text: String) -> ToolResult {
    ToolResult { call: call.id, provider_id: call.provider_id.clone(), status, text, images: Vec::new() }
}

/// Returns the view of a failed call: a command keeps its card, any other call shows the error.
fn failed_view(old_view: Option<ToolView>, text: &str) -> ToolView {
    match old_view {
        Some(ToolView::Command(mut command)) => {
            command.output.get_or_insert_with(|| text.chars().take(super::MAX_CARD_CHARS).collect());
            ToolView::Command(command)
        }
        _ => plain(text),
    }
}
