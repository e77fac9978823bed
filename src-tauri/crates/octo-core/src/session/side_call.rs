//! Calls beside the conversation: their answers are not messages. One at a time, and any new work ends it.

use super::{
    Report,
    compacting::Compacting,
    meter::{Asked, Meter, millis},
    outgoing::Said,
    state::{Session, now},
    turns::Step,
};
use futures::StreamExt;
use octo_llm::{ErrorClass, FinishReason, ModelEvent, ProviderError, Sent};
use octo_protocol::{ApiError, Block, CallOutcome, MessageId, Purpose, Usage};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// A call beside the conversation.
pub(crate) struct SideCall {
    id: MessageId,
    cancel: CancellationToken,
    /// None once it is over and its line is in the ledger.
    meter: Option<Meter>,
    pub(super) aim: Aim,
}

/// What a side call is for.
pub(super) enum Aim {
    /// Summing up earlier messages.
    Compaction(Box<Compacting>),
    /// Keeping the cache alive.
    Warmth,
}

/// A side call's job reports.
pub(crate) struct SideProgress {
    id: MessageId,
    what: What,
}

enum What {
    Asked(Box<Asked>),
    FirstByte(u64),
    Usage(Usage),
    Ended(Result<SideAnswer, ProviderError>),
}

/// What a model answered beside the conversation.
pub(super) struct SideAnswer {
    /// Its text.
    pub(super) text: String,
    /// How many tools it called. None of them runs.
    pub(super) calls: usize,
    /// Why it ended.
    pub(super) finish: FinishReason,
}

impl Session {
    /// Begins a side call, once the step is stored.
    pub(super) fn call_beside(&mut self, aim: Aim, said: Said, step: &mut Step) {
        self.end_side_call(step);
        let purpose = match &aim {
            Aim::Compaction(_) => Purpose::Compaction,
            Aim::Warmth => Purpose::Warmth,
        };
        let turn = self.running.as_ref().map(|running| running.view.id);
        let parent = self.running.as_ref().map_or(&self.ending, |running| &running.cancel);
        let (id, cancel) = (MessageId::new(), parent.child_token());
        let meter = Some(Meter::begin(purpose, turn, None, self.model()));
        self.side = Some(SideCall { id, cancel: cancel.clone(), meter, aim });
        step.jobs.push(Box::new(move |session| session.spawn_beside(id, said, cancel)));
    }

    fn spawn_beside(&self, id: MessageId, said: Said, cancel: CancellationToken) {
        let (outgoing, report) = (self.outgoing(), self.reporter());
        let broken = report.clone();
        let call = tokio::spawn(async move {
            let send = |what| report(Report::Beside(SideProgress { id, what }));
            let connection = match outgoing.connect().await {
                Ok(connection) => connection,
                Err(error) => return send(What::Ended(Err(error))),
            };
            let request = outgoing.request(&connection, said).await;
            let sent = Sent::new(&request, now());
            send(What::Asked(Box::new(Asked { card: connection.card, sent })));
            let mut began = Some(Instant::now());
            let mut answer = SideAnswer { text: String::new(), calls: 0, finish: FinishReason::Stop };
            let mut events = connection.provider.stream(request, cancel);
            while let Some(event) = events.next().await {
                if let (Ok(_), Some(began)) = (&event, began.take()) {
                    send(What::FirstByte(millis(began.elapsed())));
                }
                match event {
                    Ok(ModelEvent::BlockFinished { content: Block::Text { text }, .. }) => {
                        answer.text.push_str(&text);
                    }
                    Ok(ModelEvent::BlockFinished { content: Block::ToolCall(_), .. }) => answer.calls += 1,
                    Ok(ModelEvent::Usage(usage)) => send(What::Usage(usage)),
                    Ok(ModelEvent::Finished(finish)) => {
                        return send(What::Ended(Ok(SideAnswer { finish, ..answer })));
                    }
                    Ok(
                        ModelEvent::BlockStarted { .. }
                        | ModelEvent::Delta { .. }
                        | ModelEvent::BlockFinished { .. },
                    ) => {}
                    Err(error) => return send(What::Ended(Err(error))),
                }
            }
            let cut = ProviderError::new(ErrorClass::CutOff, "the stream ended without its last event");
            send(What::Ended(Err(cut)));
        });
        tokio::spawn(async move {
            if let Err(error) = call.await {
                tracing::error!(%error, "a side call broke");
                let error =
                    ProviderError::new(ErrorClass::Invalid, "the model call itself broke; the log says more");
                broken(Report::Beside(SideProgress { id, what: What::Ended(Err(error)) }));
            }
        });
    }

    /// A side call's job reported. One that was ended meanwhile is heard no more.
    pub(super) async fn side_progressed(&mut self, progress: SideProgress) -> Result<(), ApiError> {
        let Some(side) = self.side.as_mut().filter(|side| side.id == progress.id) else { return Ok(()) };
        let Some(meter) = &mut side.meter else { return Ok(()) };
        let answer = match progress.what {
            What::Asked(asked) => {
                meter.asked(*asked);
                self.pause.cache_used();
                return Ok(());
            }
            What::FirstByte(after_ms) => {
                meter.first_byte(after_ms);
                return Ok(());
            }
            What::Usage(usage) => {
                meter.used(usage);
                return Ok(());
            }
            What::Ended(answer) => answer,
        };
        let mut step = Step::default();
        let outcome = if answer.is_ok() { CallOutcome::Answered } else { CallOutcome::Failed };
        if let Some(meter) = side.meter.take() {
            self.bill(meter, outcome, &mut step);
        }
        match self.side.take().map(|side| side.aim) {
            Some(Aim::Compaction(compacting)) => self.compaction_answered(compacting, answer, &mut step),
            Some(Aim::Warmth) => self.refreshed(answer.is_ok()),
            None => {}
        }
        self.finish(step).await
    }

    /// Ends the side call that runs, if one does. What it was for does not happen.
    pub(super) fn end_side_call(&mut self, step: &mut Step) -> Option<Aim> {
        let side = self.side.take()?;
        side.cancel.cancel();
        if let Some(meter) = side.meter {
            self.bill(meter, CallOutcome::Stopped, step);
        }
        Some(side.aim)
    }
}
