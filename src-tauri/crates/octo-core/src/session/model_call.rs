//! One model call: the attempt, what streams in, trying again, and its end.

use super::{
    Report,
    budget::Next,
    calls::OpenCall,
    meter::{Asked, Meter, millis},
    outgoing::Said,
    state::{Change, Session},
    turns::Step,
};
use crate::{
    clock::now,
    live::Live,
    pairing::paired,
    turn::{CallKey, Finish, Input},
};
use futures::StreamExt;
use octo_llm::{
    Billed, BlockKind, ErrorClass, FinishReason, ModelEvent, ModelRequest, Provider, ProviderError,
    RetryPolicy, Sent,
};
use octo_protocol::{
    ApiError, Block, CallId, CallOutcome, Event, Message, MessageEnd, MessageId, Origin, Purpose, Retry,
    Role, StreamKind, ToolCall, TurnId,
};
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// How often in a row a conversation that is too long for the model is compacted.
const OVERFLOWS: u32 = 2;

/// The model call that runs.
pub(crate) struct ModelCall {
    attempt: Attempt,
    message: MessageId,
    meter: Meter,
    cancel: CancellationToken,
}

/// Which try of which call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    turn: TurnId,
    /// Counts the turn's model calls, so that a late report of an earlier one is told apart.
    call: MessageId,
    /// From 1.
    number: u32,
}

/// What a model call's job reports.
pub(crate) struct Progress {
    attempt: Attempt,
    what: What,
}

enum What {
    /// The request is on its way.
    Asked(Box<Asked>),
    /// The answer begins, so many milliseconds after the call did.
    FirstByte(u64),
    Block {
        index: u32,
        content: Block,
    },
    Usage(Billed),
    Finished(FinishReason),
    Failed(ProviderError),
}

impl Session {
    /// A new model call, if no budget is used up.
    pub(super) fn call_model(&mut self, step: &mut Step) {
        self.forget_lost_fallback();
        self.probe_if_due();
        self.call_within_budget(Next::Call, step);
    }

    /// A new model call. A conversation that reached its limit is compacted before.
    pub(super) fn call_now(&mut self, step: &mut Step) {
        if !self.compacts_first(step) {
            self.attempt_anew(step);
        }
    }

    /// The first try of a model call.
    fn attempt_anew(&mut self, step: &mut Step) {
        let Some(running) = &self.running else { return };
        let attempt = Attempt { turn: running.view.id, call: MessageId::new(), number: 1 };
        self.attempt_model(attempt, step);
    }

    pub(super) fn attempt_model(&mut self, attempt: Attempt, step: &mut Step) {
        let model = self.model();
        let mut message = self.message(attempt.turn, Role::Assistant, Origin::Model, Vec::new());
        message.meta.model = model;
        step.changes.push(Change::Event(Event::MessageStarted { message: message.clone() }));
        step.changes.push(Change::IntoContext(message.id));
        let id = message.id;
        // What is sent is everything before the message that is about to begin.
        let messages = paired(&self.context).into_owned();
        self.context.push(message);
        let purpose = if self.fork.is_some() { Purpose::SubAgent } else { Purpose::Turn };
        let Some(running) = &mut self.running else { return };
        let cancel = running.cancel.child_token();
        let meter = Meter::begin(purpose, Some(attempt.turn), Some(id), model);
        running.model = Some(ModelCall { attempt, message: id, meter, cancel: cancel.clone() });
        step.jobs.push(Box::new(move |session| session.spawn_model(attempt, id, messages, cancel)));
    }

    fn spawn_model(
        &self,
        attempt: Attempt,
        message: MessageId,
        messages: Vec<Message>,
        cancel: CancellationToken,
    ) {
        let (outgoing, live, report) = (self.outgoing(), self.live.clone(), self.reporter());
        let broken = report.clone();
        let call = tokio::spawn(async move {
            let send = |what| report(Report::Model(Progress { attempt, what }));
            let connection = match outgoing.connect().await {
                Ok(connection) => connection,
                Err(error) => return send(What::Failed(error)),
            };
            let request = outgoing.request(&connection, Said::lasting(messages)).await;
            let sent = Sent::new(&request, now());
            send(What::Asked(Box::new(Asked { card: connection.card, sent })));
            stream(connection.provider, request, cancel, message, &live, send).await;
        });
        tokio::spawn(async move {
            if let Err(error) = call.await {
                tracing::error!(%error, "a model call broke");
                let error =
                    ProviderError::new(ErrorClass::Invalid, "the model call itself broke; the log says more");
                broken(Report::Model(Progress { attempt, what: What::Failed(error) }));
            }
        });
    }

    /// A model call's job reported.
    pub(super) async fn model_progressed(&mut self, progress: Progress) -> Result<(), ApiError> {
        let Some(call) = self.running.as_mut().and_then(|running| running.model.as_mut()) else {
            return Ok(());
        };
        if call.attempt != progress.attempt {
            return Ok(());
        }
        match progress.what {
            What::Asked(asked) => {
                self.card = Some(asked.card.clone());
                self.pause.cache_used();
                call.meter.asked(*asked);
                Ok(())
            }
            What::FirstByte(after_ms) => {
                call.meter.first_byte(after_ms);
                Ok(())
            }
            What::Usage(billed) => {
                call.meter.used(billed);
                Ok(())
            }
            What::Block { index, content } => {
                let message = call.message;
                if let Some(open) = self.context.last_mut().filter(|open| open.id == message) {
                    open.blocks.push(content.clone());
                }
                let event = Event::BlockAdded { message, index, block: content };
                let stored = self.commit(vec![Change::Event(event)]).await;
                self.live.close_block(message, index);
                stored
            }
            What::Finished(reason) => self.model_finished(reason).await,
            What::Failed(error) => self.model_failed(error).await,
        }
    }

    async fn model_finished(&mut self, reason: FinishReason) -> Result<(), ApiError> {
        let mut step = Step::default();
        if let Some(running) = &mut self.running {
            running.overflows = 0;
        }
        self.service_works(&mut step);
        let (end, finish) = match reason {
            FinishReason::Stop => (MessageEnd::Complete, Finish::Complete),
            FinishReason::Length => (MessageEnd::Truncated, Finish::Truncated),
            FinishReason::Refused => (MessageEnd::Complete, Finish::Refused),
        };
        let calls = self.end_message(end, &mut step);
        let keys = calls
            .into_iter()
            .map(|call| (call.id, CallKey { tool: call.name, arguments: call.arguments }))
            .collect();
        self.feed_with(Input::Answered { calls: keys, finish }, step).await
    }

    /// Ends the open message, plans its calls and returns them.
    fn end_message(&mut self, end: MessageEnd, step: &mut Step) -> Vec<ToolCall> {
        let Some(running) = &mut self.running else { return Vec::new() };
        let Some(call) = running.model.take() else { return Vec::new() };
        let (turn, usage) = (running.view.id, call.meter.usage());
        let outcome = match end {
            MessageEnd::Complete | MessageEnd::Truncated => CallOutcome::Answered,
            MessageEnd::Stopped => CallOutcome::Stopped,
            MessageEnd::Cut => CallOutcome::Failed,
        };
        self.bill(call.meter, outcome, step);
        step.changes.push(Change::Event(Event::MessageEnded { message: call.message, end, usage }));
        self.live.close_message(call.message);
        let Some(message) = self.context.last_mut().filter(|open| open.id == call.message) else {
            return Vec::new();
        };
        let call_message = message.id;
        message.meta.end = Some(end);
        message.meta.usage = usage;
        let messages = self.context.len();
        self.size.answered(usage, messages);
        self.restraint.answered();
        let Some(message) = self.context.last().cloned() else { return Vec::new() };
        self.note_step(&message);
        self.note_answer();
        let calls: Vec<ToolCall> = message.calls().cloned().collect();
        let Some(running) = &mut self.running else { return calls };
        for call in &calls {
            let open = OpenCall::planned(turn, call_message, call.clone());
            step.changes.push(Change::Event(Event::CallChanged { call: open.view.clone() }));
            running.calls.push(open);
        }
        calls
    }

    async fn model_failed(&mut self, error: ProviderError) -> Result<(), ApiError> {
        let Some(attempt) =
            self.running.as_ref().and_then(|running| running.model.as_ref()).map(|call| call.attempt)
        else {
            return Ok(());
        };
        // After Stop every failure is the end that was asked for: nothing is tried again.
        if error.class == ErrorClass::Cancelled || self.is_stopping() {
            return self.model_stopped().await;
        }
        tracing::warn!(session = %self.id(), class = ?error.class, attempt = attempt.number, "model call failed");
        let mut step = Step::default();
        if error.class == ErrorClass::ContextTooLong && self.recovers_from_overflow(&error, &mut step) {
            return self.finish(step).await;
        }
        if self.leaves_attached_out(&error, &mut step) || self.falls_back(&error, &mut step) {
            self.discard_message(CallOutcome::Failed, &mut step);
            let attempt = Attempt { call: MessageId::new(), number: 1, ..attempt };
            self.call_within_budget(Next::Attempt(attempt), &mut step);
            return self.finish(step).await;
        }
        let policy = RetryPolicy::default();
        if let Some(pause) = policy.next(attempt.number, &error, jitter(attempt.call, attempt.number)) {
            self.discard_message(CallOutcome::Failed, &mut step);
            let next = Attempt { number: attempt.number + 1, ..attempt };
            let retry = Retry {
                attempt: next.number,
                attempts: policy.attempts,
                at: now() + i64::try_from(pause.as_millis()).unwrap_or(i64::MAX),
                error: error.to_api(),
            };
            step.changes.push(Change::Event(Event::RetryScheduled { retry }));
            if let Some(running) = &mut self.running {
                running.pause = Some(next);
            }
            step.jobs.push(Box::new(move |session| session.spawn_pause(next, pause)));
            return self.finish(step).await;
        }
        if let Some(running) = &mut self.running {
            running.failure = Some(error.to_api());
        }
        let calls = self.end_partial(MessageEnd::Cut, &mut step);
        self.feed_with(Input::ModelFailed { calls }, step).await
    }

    /// The conversation is too long for the model: it is compacted and the call made again. Twice in a row; more
    /// often would change nothing.
    fn recovers_from_overflow(&mut self, error: &ProviderError, step: &mut Step) -> bool {
        let counted = self.is_counted();
        let Some(running) = self.running.as_mut().filter(|running| counted && running.overflows < OVERFLOWS)
        else {
            return false;
        };
        running.overflows += 1;
        self.discard_message(CallOutcome::Failed, step);
        if !self.compacts_overflow(error.to_api(), step) {
            if let Some(running) = &mut self.running {
                running.failure = Some(error.to_api());
            }
            self.feed_step(Input::ModelFailed { calls: Vec::new() }, step);
        }
        true
    }

    async fn model_stopped(&mut self) -> Result<(), ApiError> {
        let mut step = Step::default();
        let calls = self.end_partial(MessageEnd::Stopped, &mut step);
        self.feed_with(Input::ModelStopped { calls }, step).await
    }

    /// Ends a message that is not whole: what had streamed stays, the text of a block that had not ended
    /// included; a message with nothing in it is taken back.
    fn end_partial(&mut self, end: MessageEnd, step: &mut Step) -> Vec<CallId> {
        let Some(message) =
            self.running.as_ref().and_then(|running| running.model.as_ref()).map(|call| call.message)
        else {
            return Vec::new();
        };
        self.keep_streaming_text(message, step);
        let is_empty = self.context.last().is_some_and(|open| open.id == message && open.blocks.is_empty());
        if is_empty {
            let outcome = match end {
                MessageEnd::Stopped => CallOutcome::Stopped,
                MessageEnd::Complete | MessageEnd::Truncated | MessageEnd::Cut => CallOutcome::Failed,
            };
            self.discard_message(outcome, step);
            return Vec::new();
        }
        self.end_message(end, step).into_iter().map(|call| call.id).collect()
    }

    /// Text that streamed in is kept though its block never ended. Reasoning and arguments are not: the
    /// first is worth nothing unsigned, the second may be half a call.
    fn keep_streaming_text(&mut self, message: MessageId, step: &mut Step) {
        let streams = self.live.now();
        let Some(open) = self.context.last_mut().filter(|open| open.id == message) else { return };
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
            step.changes.push(Change::Event(Event::BlockAdded { message, index, block: block.clone() }));
            open.blocks.push(block);
        }
    }

    /// Takes the open message back, because its call is tried again or brought nothing.
    fn discard_message(&mut self, outcome: CallOutcome, step: &mut Step) {
        let Some(call) = self.running.as_mut().and_then(|running| running.model.take()) else { return };
        self.bill(call.meter, outcome, step);
        self.live.close_message(call.message);
        if self.context.last().is_some_and(|open| open.id == call.message) {
            self.context.pop();
        }
        step.changes.push(Change::OutOfContext(call.message));
        step.changes.push(Change::Event(Event::MessageDiscarded { message: call.message }));
    }

    /// Puts the call that runs into the ledger as it is: its end will not be heard.
    pub(super) fn bill_model_call(&mut self, step: &mut Step) {
        let Some(call) = self.running.as_mut().and_then(|running| running.model.as_mut()) else { return };
        let nothing = Meter::begin(Purpose::Turn, None, None, None);
        let meter = std::mem::replace(&mut call.meter, nothing);
        self.bill(meter, CallOutcome::Stopped, step);
    }

    /// Puts a call into the ledger, and what it used to the turn it belongs to.
    pub(super) fn bill(&mut self, meter: Meter, outcome: CallOutcome, step: &mut Step) {
        if let (Some(usage), Some(running)) = (meter.usage(), &mut self.running) {
            running.add_usage(usage);
        }
        if !self.is_counted() {
            return;
        }
        if let Some(call) = meter.end(outcome, &mut self.seen) {
            self.note_bill(&call);
            step.changes.push(Change::Event(Event::CallBilled { call }));
        }
    }

    fn spawn_pause(&self, next: Attempt, pause: Duration) {
        let report = self.reporter();
        let Some(running) = &self.running else { return };
        let cancel = running.cancel.child_token();
        let runtime = self.runtime.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = runtime.waking.pause(pause) => report(Report::RetryDue(next)),
                () = cancel.cancelled() => {}
            }
        });
    }

    /// The pause before the next try is over.
    pub(super) async fn retry_due(&mut self, attempt: Attempt) -> Result<(), ApiError> {
        let Some(running) = &mut self.running else { return Ok(()) };
        if running.pause != Some(attempt) {
            return Ok(());
        }
        running.pause = None;
        let mut step = Step::default();
        step.changes.push(Change::Event(Event::RetryStarted));
        self.call_within_budget(Next::Attempt(attempt), &mut step);
        self.finish(step).await
    }

    /// Stop while the model is called, or while a failed call waits for its next try.
    pub(super) fn cancel_model(&mut self, step: &mut Step) {
        if self.leave_line() || self.cancel_budget(step) || self.cancel_compaction(step) {
            return self.feed_step(Input::ModelStopped { calls: Vec::new() }, step);
        }
        let Some(running) = &mut self.running else { return };
        if let Some(call) = &running.model {
            call.cancel.cancel();
        } else if running.pause.take().is_some() {
            step.changes.push(Change::Event(Event::RetryStarted));
            self.feed_step(Input::ModelStopped { calls: Vec::new() }, step);
        }
    }

    /// Gives up a model call that does not react to being cancelled.
    pub(super) fn abandon_model(&mut self, step: &mut Step) {
        if self.running.as_ref().is_some_and(|running| running.model.is_some()) {
            let calls = self.end_partial(MessageEnd::Stopped, step);
            self.feed_step(Input::ModelStopped { calls }, step);
        }
    }
}

/// A number in 0..1 that differs between sessions, so that many do not try again at the same moment.
pub(super) fn jitter(call: MessageId, number: u32) -> f64 {
    let hash = blake3::hash(format!("{call}{number}").as_bytes());
    let [a, b, ..] = *hash.as_bytes();
    f64::from(u16::from_be_bytes([a, b])) / 65_536.0
}

/// Streams one attempt: text goes to whoever watches, whole blocks and the end to the actor.
async fn stream(
    provider: Arc<dyn Provider>,
    request: ModelRequest,
    cancel: CancellationToken,
    message: MessageId,
    live: &Live,
    send: impl Fn(What),
) {
    let mut events = provider.stream(request, cancel);
    let mut kinds: HashMap<u32, StreamKind> = HashMap::new();
    let mut began = Some(Instant::now());
    while let Some(event) = events.next().await {
        if let (Ok(_), Some(began)) = (&event, began.take()) {
            send(What::FirstByte(millis(began.elapsed())));
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
            Ok(ModelEvent::BlockFinished { block, content }) => send(What::Block { index: block, content }),
            Ok(ModelEvent::Usage(billed)) => send(What::Usage(billed)),
            Ok(ModelEvent::Finished(reason)) => return send(What::Finished(reason)),
            Err(error) => return send(What::Failed(error)),
        }
    }
    // A provider's stream always ends with one of the two above; one that does not is cut off.
    send(What::Failed(ProviderError::new(ErrorClass::CutOff, "the stream ended without its last event")));
}
