//! A call of the batch that is open.

use crate::{
    session::{ready::Ready, state::Change, texts, turns::Step},
    turn::Settle,
};
use octo_protocol::{
    CallState, CallStatus, CallView, Event, MessageId, Millis, ToolCall, ToolResult, TurnId,
};
use tokio_util::sync::CancellationToken;

/// A call of the open batch.
pub(crate) struct OpenCall {
    pub(in crate::session) call: ToolCall,
    pub(in crate::session) view: CallView,
    pub(in crate::session) message: MessageId,
    pub(in crate::session) ready: Option<Ready>,
    pub(in crate::session) result: Option<ToolResult>,
    pub(in crate::session) cancel: Option<CancellationToken>,
}

impl OpenCall {
    /// A call that was just heard of.
    pub(in crate::session) fn planned(turn: TurnId, message: MessageId, call: ToolCall) -> Self {
        let view =
            CallView { id: call.id, turn, tool: call.name.clone(), state: CallState::Planned, view: None };
        Self { call, view, message, ready: None, result: None, cancel: None }
    }

    /// Its result; a batch is closed only when each has one.
    pub(in crate::session) fn into_result(self) -> ToolResult {
        let Self { call, result, .. } = self;
        result.unwrap_or_else(|| {
            let (status, text) = texts::settled(Settle::Interrupted);
            result_of(&call, status, text.to_owned())
        })
    }

    /// Ends it with a result and stores both.
    pub(super) fn end(&mut self, result: ToolResult, duration_ms: u64, at: Millis, step: &mut Step) {
        self.view.state = CallState::Ended { status: result.status, at, duration_ms };
        step.changes.push(Change::Event(Event::CallChanged { call: self.view.clone() }));
        step.changes.push(Change::Result(result.clone()));
        self.result = Some(result);
        self.ready = None;
        self.cancel = None;
    }
}

pub(super) fn result_of(call: &ToolCall, status: CallStatus, text: String) -> ToolResult {
    ToolResult { call: call.id, provider_id: call.provider_id.clone(), status, text, images: Vec::new() }
}
