//! One model call: its attempts, streaming, retries and end.

use super::{
    JobReport,
    before_call::{Gate, GatedCall},
    current_turn::RunningTurn,
    meter::{CallMeter, MeteredRequest, millis},
    outgoing::RequestMessages,
    state::Session,
    step::{Change, Step},
};
use crate::{
    live::LiveStreams,
    turn::{CallKey, Input, MessageFinish},
};
use futures::StreamExt;
use octo_llm::{
    BilledUsage, BlockKind, ErrorClass, FinishReason, ModelEvent, ModelRequest, Provider, ProviderError,
    RetryPolicy, SentRequest,
};
use octo_protocol::{
    ApiError, Block, CallId, CallOutcome, Event, Message, MessageEnd, MessageId, Origin, Purpose, Retry,
    Role, StreamKind, ToolCall, TurnId,
};
use octo_runtime::now;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// How many times in a row a conversation that is too long for the model is compacted.
const MAX_OVERFLOWS: u32 = 2;

/// The model calls of a turn.
#[derive(Default)]
pub(super) struct ModelCalls {
    running: Option<ModelCall>,
    /// A failed call that waits for its next attempt.
    retry: Option<CallAttempt>,
    /// Number of consecutive times the provider rejected the conversation as too long.
    overflows: u32,
    /// The final error of the last call, for the turn's end.
    failure: Option<ApiError>,
}

/// The running model call.
pub(super) struct ModelCall {
    attempt: CallAttempt,
    message: MessageId,
    meter: CallMeter,
    cancel: CancellationToken,
}

/// An attempt of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallAttempt {
    turn: TurnId,
    /// Identifies the model call, so that late reports of an earlier one are recognised.
    call: MessageId,
    /// Number of the attempt, from 1.
    number: u32,
}

/// A report of a model call's job.
pub(crate) struct ModelCallReport {
    attempt: CallAttempt,
    event: ModelCallEvent,
}

enum ModelCallEvent {
    /// The request was sent.
    Asked(Box<MeteredRequest>),
    /// The answer began, this many milliseconds after the call did.
    FirstByte(u64),
    Block {
        index: u32,
        content: Block,
    },
    Usage(BilledUsage),
    Finished(FinishReason),
    Failed(ProviderError),
}

impl CallAttempt {
    /// Creates the first attempt of a call.
    fn first(turn: TurnId) -> Self {
        Self { turn, call: MessageId::new(), number: 1 }
    }

    /// Returns the next attempt of the same call.
    fn next(self) -> Self {
        Self { number: self.number + 1, ..self }
    }
}

impl ModelCalls {
    fn attempt(&self) -> Option<CallAttempt> {
        self.running.as_ref().map(|call| call.attempt)
    }

    /// Returns the running call if it is this attempt.
    pub(super) fn get(&mut self, attempt: CallAttempt) -> Option<&mut ModelCall> {
        self.running.as_mut().filter(|call| call.attempt == attempt)
    }

    /// Returns the running call's meter as it is, and leaves an empty one.
    fn take_meter(&mut self) -> Option<CallMeter> {
        let call = self.running.as_mut()?;
        Some(std::mem::replace(&mut call.meter, CallMeter::begin(Purpose::Turn, None, None, None)))
    }

    /// Cancels the running call, or the wait for the next attempt. Returns whether it was the wait.
    fn cancel(&mut self) -> bool {
        if let Some(call) = &self.running {
            call.cancel.cancel();
        }
        self.running.is_none() && self.retry.take().is_some()
    }

    /// Counts a rejection of the conversation as too long. Returns whether it may be compacted once more.
    fn count_overflow(&mut self) -> bool {
        let is_allowed = self.overflows < MAX_OVERFLOWS;
        self.overflows += u32::from(is_allowed);
        is_allowed
    }

    /// Records that the last call finally failed.
    pub(super) fn fail(&mut self, error: ApiError) {
        self.failure = Some(error);
    }

    /// Takes the final error of the last call.
    pub(super) fn failure(&mut self) -> Option<ApiError> {
        self.failure.take()
    }
}

impl Session {
    /// Begins the first attempt of a model call.
    pub(super) fn begin_first_attempt(&mut self, step: &mut Step) {
        if let Some(turn) = self.turn.id() {
            self.attempt_model(CallAttempt::first(turn), step);
        }
    }

    pub(super) fn attempt_model(&mut self, attempt: CallAttempt, step: &mut Step) {
        let model = self.model();
        let mut message = self.message(attempt.turn, Role::Assistant, Origin::Model, Vec::new());
        message.meta.model = model;
        step.event(Event::MessageStarted { message: message.clone() });
        step.change(Change::IntoContext(message.id));
        let id = message.id;
        // The request contains everything before the message that is about to begin.
        let messages = self.conversation.with_paired_results();
        self.conversation.add(message);
        let purpose = if self.sub_agent.is_some() { Purpose::SubAgent } else { Purpose::Turn };
        let meter = CallMeter::begin(purpose, Some(attempt.turn), Some(id), model);
        let begun_call = self.turn.with(|turn| {
            let cancel = turn.child_token();
            turn.model.running = Some(ModelCall { attempt, message: id, meter, cancel: cancel.clone() });
            cancel
        });
        let Some(cancel) = begun_call else { return };
        step.job(move |session| session.spawn_model(attempt, id, messages, cancel));
    }

    fn spawn_model(
        &self,
        attempt: CallAttempt,
        message: MessageId,
        messages: Vec<Message>,
        cancel: CancellationToken,
    ) {
        let (outgoing, live, report) = (self.outgoing(), self.live.clone(), self.reporter());
        let sender = report.clone();
        let call = tokio::spawn(async move {
            let send = |event| report.send(JobReport::Model(ModelCallReport { attempt, event }));
            let connection = match outgoing.connect().await {
                Ok(connection) => connection,
                Err(error) => return send(ModelCallEvent::Failed(error)),
            };
            let request = outgoing.request(&connection, RequestMessages::continuing(messages)).await;
            let sent_request = SentRequest::new(&request, now());
            send(ModelCallEvent::Asked(Box::new(MeteredRequest::new(connection.card, sent_request))));
            stream(connection.provider, request, cancel, message, &live, send).await;
        });
        tokio::spawn(async move {
            if let Err(error) = call.await {
                tracing::error!(%error, "a model call broke");
                let error =
                    ProviderError::new(ErrorClass::Invalid, "the model call itself broke; the log says more");
                let event = ModelCallEvent::Failed(error);
                sender.send(JobReport::Model(ModelCallReport { attempt, event }));
            }
        });
    }

    /// Takes a report of a model call's job.
    pub(super) async fn model_progressed(&mut self, progress: ModelCallReport) -> Result<(), ApiError> {
        let attempt = progress.attempt;
        let Some(call) = self.turn.model_call(attempt) else { return Ok(()) };
        match progress.event {
            ModelCallEvent::Asked(request) => {
                self.warmth.record_call(request.card());
                call.meter.request_sent(*request);
                Ok(())
            }
            ModelCallEvent::FirstByte(after_ms) => {
                call.meter.first_byte(after_ms);
                Ok(())
            }
            ModelCallEvent::Usage(billed) => {
                call.meter.set_billed_usage(billed);
                Ok(())
            }
            ModelCallEvent::Block { index, content } => {
                let message = call.message;
                if let Some(open) = self.conversation.last_mut(message) {
                    open.blocks.push(content.clone());
                }
                let event = Event::BlockAdded { message, index, block: content };
                let result = self.finish(Step::default().with(event)).await;
                self.live.close_block(message, index);
                result
            }
            ModelCallEvent::Finished(reason) => self.model_finished(reason).await,
            ModelCallEvent::Failed(error) => self.model_failed(error).await,
        }
    }

    async fn model_finished(&mut self, reason: FinishReason) -> Result<(), ApiError> {
        let mut step = Step::default();
        self.turn.with(|turn| turn.model.overflows = 0);
        self.service_works(&mut step);
        let (end, finish) = match reason {
            FinishReason::Stop => (MessageEnd::Complete, MessageFinish::Complete),
            FinishReason::Length => (MessageEnd::Truncated, MessageFinish::Truncated),
            FinishReason::Refused => (MessageEnd::Complete, MessageFinish::Refused),
        };
        let calls = self.end_message(end, &mut step);
        let keys = calls.iter().map(|call| (call.id, CallKey::of(call))).collect();
        self.feed_with(Input::Answered { calls: keys, finish }, step).await
    }

    /// Ends the open message, plans its calls and returns them.
    fn end_message(&mut self, end: MessageEnd, step: &mut Step) -> Vec<ToolCall> {
        let Some(call) = self.take_model_call() else { return Vec::new() };
        let usage = call.meter.usage();
        let outcome = match end {
            MessageEnd::Complete | MessageEnd::Truncated => CallOutcome::Answered,
            MessageEnd::Stopped => CallOutcome::Stopped,
            MessageEnd::Cut => CallOutcome::Failed,
        };
        self.bill(call.meter, outcome, step);
        step.event(Event::MessageEnded { message: call.message, end, usage });
        self.live.close_message(call.message);
        let Some(message) = self.conversation.last_mut(call.message) else { return Vec::new() };
        message.meta.end = Some(end);
        message.meta.usage = usage;
        let message = message.clone();
        self.compaction.record_answer(usage, self.conversation.len());
        self.record_step(&message);
        let calls: Vec<ToolCall> = message.calls().cloned().collect();
        self.turn.with(|turn| {
            turn.facts_mut().count_answer();
            turn.batch.plan(call.attempt.turn, message.id, &calls, step);
        });
        calls
    }

    fn take_model_call(&mut self) -> Option<ModelCall> {
        self.turn.with(|turn| turn.model.running.take()).flatten()
    }

    async fn model_failed(&mut self, error: ProviderError) -> Result<(), ApiError> {
        let Some(attempt) = self.turn.get().and_then(|turn| turn.model.attempt()) else { return Ok(()) };
        // After Stop every failure is the requested end: nothing is retried.
        if error.class == ErrorClass::Cancelled || self.turn.is_stopping() {
            return self.model_stopped().await;
        }
        tracing::warn!(session = %self.id(), class = ?error.class, attempt = attempt.number, "model call failed");
        let mut step = Step::default();
        if error.class == ErrorClass::ContextTooLong && self.recover_from_overflow(&error, &mut step) {
            return self.finish(step).await;
        }
        if self.retry_without_attachments(&error, &mut step) || self.try_fallback(&error, &mut step) {
            self.discard_message(CallOutcome::Failed, &mut step);
            self.before_call(Gate::Budget, GatedCall::Attempt(CallAttempt::first(attempt.turn)), &mut step);
            return self.finish(step).await;
        }
        let policy = RetryPolicy::default();
        if let Some(pause) = policy.next(attempt.number, &error, jitter(attempt.call, attempt.number)) {
            self.discard_message(CallOutcome::Failed, &mut step);
            let next_attempt = attempt.next();
            let retry = Retry {
                attempt: next_attempt.number,
                attempts: policy.attempts,
                at: now() + i64::try_from(pause.as_millis()).unwrap_or(i64::MAX),
                error: error.to_api(),
            };
            step.event(Event::RetryScheduled { retry });
            self.turn.with(|turn| turn.model.retry = Some(next_attempt));
            step.job(move |session| session.spawn_pause(next_attempt, pause));
            return self.finish(step).await;
        }
        self.turn.with(|turn| turn.model.fail(error.to_api()));
        let calls = self.end_partial(MessageEnd::Cut, &mut step);
        self.feed_with(Input::ModelFailed { calls }, step).await
    }

    /// Compacts a conversation that is too long for the model and repeats the call. Twice in a row; more often
    /// would change nothing.
    fn recover_from_overflow(&mut self, error: &ProviderError, step: &mut Step) -> bool {
        if !self.is_counted() || self.turn.with(|turn| turn.model.count_overflow()) != Some(true) {
            return false;
        }
        self.discard_message(CallOutcome::Failed, step);
        if !self.compact_after_overflow(error.to_api(), step) {
            self.fail_model(error.to_api(), step);
        }
        true
    }

    /// Ends the turn's work because of a failed call that left no message.
    pub(super) fn fail_model(&mut self, error: ApiError, step: &mut Step) {
        self.turn.with(|turn| turn.model.fail(error));
        self.feed(Input::ModelFailed { calls: Vec::new() }, step);
    }

    async fn model_stopped(&mut self) -> Result<(), ApiError> {
        let mut step = Step::default();
        let calls = self.end_partial(MessageEnd::Stopped, &mut step);
        self.feed_with(Input::ModelStopped { calls }, step).await
    }

    /// Ends an incomplete message: the streamed text stays, including that of an unfinished block; an empty
    /// message is removed.
    fn end_partial(&mut self, end: MessageEnd, step: &mut Step) -> Vec<CallId> {
        let running = self.turn.get().and_then(|turn| turn.model.running.as_ref());
        let Some(message) = running.map(|call| call.message) else { return Vec::new() };
        self.keep_streaming_text(message, step);
        if self.conversation.ends_empty(message) {
            let outcome = match end {
                MessageEnd::Stopped => CallOutcome::Stopped,
                MessageEnd::Complete | MessageEnd::Truncated | MessageEnd::Cut => CallOutcome::Failed,
            };
            self.discard_message(outcome, step);
            return Vec::new();
        }
        self.end_message(end, step).into_iter().map(|call| call.id).collect()
    }

    /// Keeps the streamed text of an unfinished block. Reasoning and arguments are dropped: the former is worth
    /// nothing unsigned, the latter may be half a call.
    fn keep_streaming_text(&mut self, message: MessageId, step: &mut Step) {
        let streams = self.live.now();
        let Some(open) = self.conversation.last_mut(message) else { return };
        for streaming in streams {
            if streaming.message != message
                || streaming.kind != StreamKind::Text
                || (streaming.block as usize) < open.blocks.len()
                || streaming.text.trim().is_empty()
            {
                continue;
            }
            let block = Block::Text { text: streaming.text };
            let index = u32::try_from(open.blocks.len()).unwrap_or(u32::MAX);
            step.event(Event::BlockAdded { message, index, block: block.clone() });
            open.blocks.push(block);
        }
    }

    /// Removes the open message because its call is retried or produced nothing.
    fn discard_message(&mut self, outcome: CallOutcome, step: &mut Step) {
        let Some(call) = self.take_model_call() else { return };
        self.bill(call.meter, outcome, step);
        self.live.close_message(call.message);
        self.conversation.remove_last(call.message);
        step.change(Change::OutOfContext(call.message));
        step.event(Event::MessageDiscarded { message: call.message });
    }

    /// Writes the running call to the ledger as it is, because its end will not be received.
    pub(super) fn bill_model_call(&mut self, step: &mut Step) {
        if let Some(meter) = self.turn.with(|turn| turn.model.take_meter()).flatten() {
            self.bill(meter, CallOutcome::Stopped, step);
        }
    }

    /// Writes a call to the ledger and adds its usage to its turn.
    pub(super) fn bill(&mut self, meter: CallMeter, outcome: CallOutcome, step: &mut Step) {
        if let Some(usage) = meter.usage() {
            self.turn.with(|turn| turn.add_usage(usage));
        }
        if !self.is_counted() {
            return;
        }
        if let Some(call) = self.warmth.bill(meter, outcome) {
            self.record_bill(&call);
            step.event(Event::CallBilled { call });
        }
    }

    fn spawn_pause(&self, attempt: CallAttempt, pause: Duration) {
        let report = self.reporter();
        let Some(cancel) = self.turn.get().map(RunningTurn::child_token) else { return };
        let runtime = self.runtime.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = runtime.waking.pause(pause) => report.send(JobReport::RetryDue(attempt)),
                () = cancel.cancelled() => {}
            }
        });
    }

    /// Continues after the pause before a retry.
    pub(super) async fn retry_due(&mut self, attempt: CallAttempt) -> Result<(), ApiError> {
        let due = self.turn.with(|turn| turn.model.retry.take_if(|pending| *pending == attempt)).flatten();
        if due.is_none() {
            return Ok(());
        }
        let mut step = Step::default().with(Event::RetryStarted);
        self.before_call(Gate::Budget, GatedCall::Attempt(attempt), &mut step);
        self.finish(step).await
    }

    /// Cancels the model call, or the wait for its retry, on Stop.
    pub(super) fn cancel_model(&mut self, step: &mut Step) {
        if self.stop_waiting_for_permit() || self.cancel_budget(step) || self.cancel_compaction(step) {
            return self.feed(Input::ModelStopped { calls: Vec::new() }, step);
        }
        if self.turn.with(|turn| turn.model.cancel()) == Some(true) {
            step.event(Event::RetryStarted);
            self.feed(Input::ModelStopped { calls: Vec::new() }, step);
        }
    }

    /// Gives up a model call that does not react to being cancelled.
    pub(super) fn abandon_model(&mut self, step: &mut Step) {
        if self.turn.get().is_some_and(|turn| turn.model.running.is_some()) {
            let calls = self.end_partial(MessageEnd::Stopped, step);
            self.feed(Input::ModelStopped { calls }, step);
        }
    }
}

/// Returns a number in 0..1 that differs between sessions, so that many do not retry at the same moment.
pub(super) fn jitter(call: MessageId, number: u32) -> f64 {
    let hash = blake3::hash(format!("{call}{number}").as_bytes());
    let [a, b, ..] = *hash.as_bytes();
    f64::from(u16::from_be_bytes([a, b])) / 65_536.0
}

/// Streams one attempt: sends text to watching clients, and complete blocks and the end to the actor.
async fn stream(
    provider: Arc<dyn Provider>,
    request: ModelRequest,
    cancel: CancellationToken,
    message: MessageId,
    live: &LiveStreams,
    send: impl Fn(ModelCallEvent),
) {
    let mut events = provider.stream(request, cancel);
    let mut kinds: HashMap<u32, StreamKind> = HashMap::new();
    let mut pending_start = Some(Instant::now());
    while let Some(event) = events.next().await {
        if let (Ok(_), Some(started)) = (&event, pending_start.take()) {
            send(ModelCallEvent::FirstByte(millis(started.elapsed())));
        }
        match event {
            Ok(ModelEvent::BlockStarted { block, kind }) => {
                let kind = match kind {
                    BlockKind::Text => StreamKind::Text,
                    BlockKind::Reasoning => StreamKind::Reasoning,
                    BlockKind::ToolCall { name } => StreamKind::Arguments { tool: name },
                };
                kinds.insert(block, kind);
            }
            Ok(ModelEvent::Delta { block, text }) => {
                if let Some(kind) = kinds.get(&block) {
                    live.push(message, block, kind, &text);
                }
            }
            Ok(ModelEvent::BlockFinished { block, content }) => {
                send(ModelCallEvent::Block { index: block, content })
            }
            Ok(ModelEvent::Usage(billed)) => send(ModelCallEvent::Usage(billed)),
            Ok(ModelEvent::Finished(reason)) => return send(ModelCallEvent::Finished(reason)),
            Err(error) => return send(ModelCallEvent::Failed(error)),
        }
    }
    // A provider's stream always ends with one of the two events above; a stream without either was cut off.
    send(ModelCallEvent::Failed(ProviderError::new(
        ErrorClass::CutOff,
        "the stream ended without its last event",
    )));
}
