//! Side calls: model calls whose answers are not messages. One at a time, and any new work ends it.

use super::{
    JobReport,
    compacting::RunningCompaction,
    current_turn::RunningTurn,
    meter::{CallMeter, MeteredRequest, millis},
    outgoing::RequestMessages,
    state::Session,
    step::Step,
};
use crate::suggestion;
use futures::StreamExt;
use octo_llm::{BilledUsage, ErrorClass, FinishReason, ModelEvent, ProviderError, SentRequest};
use octo_protocol::{
    ApiError, Block, CallOutcome, Event, Message, MessageId, Origin, Purpose, Role, Source, Suggestion,
    Switch, TurnId,
};
use octo_runtime::now;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// A running side call.
pub(crate) struct SideCall {
    id: MessageId,
    cancel: CancellationToken,
    /// `None` once it has ended and its ledger row is written.
    meter: Option<CallMeter>,
    aim: SideCallAim,
}

/// The purpose of a side call.
pub(super) enum SideCallAim {
    /// Summarising earlier messages.
    Compaction(Box<RunningCompaction>),
    /// Keeping the cache alive.
    KeepWarm,
    /// Guessing the person's next message after this turn.
    Suggestion(TurnId),
}

/// A report of a side call's job.
pub(crate) struct SideCallReport {
    id: MessageId,
    event: SideCallEvent,
}

enum SideCallEvent {
    Asked(Box<MeteredRequest>),
    FirstByte(u64),
    Usage(BilledUsage),
    Ended(Result<SideAnswer, ProviderError>),
}

/// The model's answer to a side call.
pub(super) struct SideAnswer {
    text: String,
    /// Number of tool calls in it. None of them runs.
    calls: usize,
    finish: FinishReason,
}

impl SideAnswer {
    /// Returns its text and the number of its tool calls, if it is complete.
    pub(super) fn complete(&self) -> Option<(&str, usize)> {
        match self.finish {
            FinishReason::Stop => Some((&self.text, self.calls)),
            FinishReason::Length | FinishReason::Refused => None,
        }
    }
}

impl Session {
    /// Begins a side call, once the step is stored.
    ///
    /// It starts after a pause, which is part of it: ending the call also ends the pause.
    pub(super) fn begin_side_call(
        &mut self,
        aim: SideCallAim,
        request: RequestMessages,
        pause: Duration,
        step: &mut Step,
    ) {
        self.end_side_call(step);
        let purpose = match &aim {
            SideCallAim::Compaction(_) => Purpose::Compaction,
            SideCallAim::KeepWarm => Purpose::Warmth,
            SideCallAim::Suggestion(_) => Purpose::Suggestion,
        };
        let cancel = self.turn.get().map_or_else(|| self.actor.child_token(), RunningTurn::child_token);
        let (id, model) = (MessageId::new(), request.model().or_else(|| self.model()));
        let meter = Some(CallMeter::begin(purpose, self.turn.id(), None, model));
        self.side_call = Some(SideCall { id, cancel: cancel.clone(), meter, aim });
        step.job(move |session| session.spawn_side_call(id, request, pause, cancel));
    }

    /// Guesses the person's next message after a turn. Uses only a light model, since the guess is not worth
    /// the price of another, and never exceeds a budget.
    pub(super) async fn suggest(&mut self, turn: TurnId) -> Result<(), ApiError> {
        let settings = self.runtime.base.preferences();
        let is_wanted = settings.suggestions == Switch::On && self.info.source == Source::Window;
        let (true, Some(model)) = (is_wanted && !self.turn.is_running(), settings.light_model) else {
            return Ok(());
        };
        // A failed lookup is not worth ending a session for.
        let Ok(false) = self.is_over_budget().await else { return Ok(()) };
        let todos = self.todos();
        let Some(question) = suggestion::question(&self.conversation, &todos) else { return Ok(()) };
        let mut step = Step::default();
        let blocks = vec![Block::Text { text: question }];
        let messages: Vec<Message> = vec![self.message(turn, Role::User, Origin::Octo, blocks)];
        let request =
            RequestMessages::separate(messages, model, suggestion::SYSTEM, suggestion::LONGEST_ANSWER);
        self.begin_side_call(SideCallAim::Suggestion(turn), request, Duration::ZERO, &mut step);
        self.finish(step).await
    }

    fn spawn_side_call(
        &self,
        id: MessageId,
        request: RequestMessages,
        pause: Duration,
        cancel: CancellationToken,
    ) {
        let (outgoing, report) = (self.outgoing().to(&request), self.reporter());
        let sender = report.clone();
        let call = tokio::spawn(async move {
            let send = |event| report.send(JobReport::SideCall(SideCallReport { id, event }));
            if cancel.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                let error = ProviderError::new(ErrorClass::Cancelled, "it was stopped before it began");
                return send(SideCallEvent::Ended(Err(error)));
            }
            let connection = match outgoing.connect().await {
                Ok(connection) => connection,
                Err(error) => return send(SideCallEvent::Ended(Err(error))),
            };
            let request = outgoing.request(&connection, request).await;
            let sent_request = SentRequest::new(&request, now());
            send(SideCallEvent::Asked(Box::new(MeteredRequest::new(connection.card, sent_request))));
            let mut pending_start = Some(Instant::now());
            let mut answer = SideAnswer { text: String::new(), calls: 0, finish: FinishReason::Stop };
            let mut events = connection.provider.stream(request, cancel);
            while let Some(event) = events.next().await {
                if let (Ok(_), Some(started)) = (&event, pending_start.take()) {
                    send(SideCallEvent::FirstByte(millis(started.elapsed())));
                }
                match event {
                    Ok(ModelEvent::BlockFinished { content: Block::Text { text }, .. }) => {
                        answer.text.push_str(&text);
                    }
                    Ok(ModelEvent::BlockFinished { content: Block::ToolCall(_), .. }) => answer.calls += 1,
                    Ok(ModelEvent::Usage(billed)) => send(SideCallEvent::Usage(billed)),
                    Ok(ModelEvent::Finished(finish)) => {
                        return send(SideCallEvent::Ended(Ok(SideAnswer { finish, ..answer })));
                    }
                    Ok(
                        ModelEvent::BlockStarted { .. }
                        | ModelEvent::Delta { .. }
                        | ModelEvent::BlockFinished { .. },
                    ) => {}
                    Err(error) => return send(SideCallEvent::Ended(Err(error))),
                }
            }
            let cut_off = ProviderError::new(ErrorClass::CutOff, "the stream ended without its last event");
            send(SideCallEvent::Ended(Err(cut_off)));
        });
        tokio::spawn(async move {
            if let Err(error) = call.await {
                tracing::error!(%error, "a side call broke");
                let error =
                    ProviderError::new(ErrorClass::Invalid, "the model call itself broke; the log says more");
                sender.send(JobReport::SideCall(SideCallReport {
                    id,
                    event: SideCallEvent::Ended(Err(error)),
                }));
            }
        });
    }

    /// Takes a report of a side call's job. Reports of an ended call are ignored.
    pub(super) async fn side_progressed(&mut self, progress: SideCallReport) -> Result<(), ApiError> {
        let Some(side_call) = self.side_call.as_mut().filter(|side_call| side_call.id == progress.id) else {
            return Ok(());
        };
        let Some(meter) = &mut side_call.meter else { return Ok(()) };
        let answer = match progress.event {
            SideCallEvent::Asked(request) => {
                meter.request_sent(*request);
                match side_call.aim {
                    SideCallAim::Compaction(_) | SideCallAim::KeepWarm => self.warmth.cache_used(),
                    SideCallAim::Suggestion(_) => {}
                }
                return Ok(());
            }
            SideCallEvent::FirstByte(after_ms) => {
                meter.first_byte(after_ms);
                return Ok(());
            }
            SideCallEvent::Usage(billed) => {
                meter.set_billed_usage(billed);
                return Ok(());
            }
            SideCallEvent::Ended(answer) => answer,
        };
        let mut step = Step::default();
        let outcome = if answer.is_ok() { CallOutcome::Answered } else { CallOutcome::Failed };
        if let Some(meter) = side_call.meter.take() {
            self.bill(meter, outcome, &mut step);
        }
        match self.side_call.take().map(|side| side.aim) {
            Some(SideCallAim::Compaction(running)) => self.compaction_answered(running, answer, &mut step),
            Some(SideCallAim::KeepWarm) => self.finish_refresh(answer.is_ok()),
            // A failed guess is no loss.
            Some(SideCallAim::Suggestion(turn)) => {
                let suggestion = answer.ok().and_then(|answer| suggestion::parse_guess(&answer.text));
                if let Some(text) = suggestion {
                    let suggestion = Suggestion { turn, text };
                    step.event(Event::Suggested { suggestion });
                }
            }
            None => {}
        }
        self.finish(step).await
    }

    /// Ends the running side call and drops its purpose. Returns whether there was one.
    pub(super) fn end_side_call(&mut self, step: &mut Step) -> bool {
        let Some(side_call) = self.side_call.take() else { return false };
        side_call.cancel.cancel();
        if let Some(meter) = side_call.meter {
            self.bill(meter, CallOutcome::Stopped, step);
        }
        true
    }
}
