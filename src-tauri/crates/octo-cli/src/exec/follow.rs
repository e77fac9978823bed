//! Follows a turn to its end: prints events, answers questions with no, ends on a spent budget, handles
//! signals.

use crate::{
    exec::{
        begin::{MessageEffect, StartedTurn},
        watch::StorageWatch,
    },
    exit::{Exit, Failure},
    feed::{Feed, FeedItem},
    output::{OutputLines, catalogue_text, print_error, print_error_line},
    signals::Signals,
};
use octo_core::Octo;
use octo_protocol::{
    Answer, AnswerBudget, AnswerQuestion, ApiError, BilledCall, BudgetAnswer, BudgetScope, BudgetStop,
    CallOutcome, Cost, Envelope, ErrorCode, Event, Language, OpenSession, Question, QuestionContent,
    QuestionId, Role, SessionId, SessionSnapshot, SessionStatus, Stop, StoredTopic, TurnEnd, words,
};
use std::{
    cell::Cell,
    collections::HashSet,
    io::Write,
    pin::{Pin, pin},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// How long a stopped turn may take to end before the run ends without it. The core promises 3 seconds.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the last events of a finished turn may take to arrive.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// Content of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputMode {
    /// Every event of the session.
    Events,
    /// Final text of the turn.
    FinalText,
}

/// Follows a session's turn.
pub(super) struct Follower<'a, W> {
    octo: &'a Octo,
    session: SessionId,
    /// Sequence number of the last processed event.
    last_seq: u64,
    origin: MessageEffect,
    /// Whether a turn began or ended since the start of this run.
    worked: bool,
    /// Whether a slash command was unknown or misused.
    refused: bool,
    language: Language,
    mode: OutputMode,
    output: OutputLines<W>,
    answered: HashSet<QuestionId>,
    /// Budget of the turn given to this run.
    budget: Option<Cost>,
    /// Models whose calls were reported as not counted.
    unpriced: HashSet<String>,
    /// Spent budget that ended the turn.
    used_up: Option<BudgetStop>,
}

/// The run was interrupted and the core has stopped the turn.
#[derive(Default)]
struct StopFlag {
    is_set: Cell<bool>,
    changes: Notify,
}

/// Consequence of an event for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    /// The session may be at rest: check.
    Check,
    /// Continue.
    Wait,
}

impl<'a, W: Write> Follower<'a, W> {
    pub fn new(
        octo: &'a Octo,
        started: StartedTurn,
        language: Language,
        mode: OutputMode,
        output: OutputLines<W>,
    ) -> Self {
        let StartedTurn { session, last_seq: seen, effect: asked } = started;
        Self {
            octo,
            session,
            last_seq: seen,
            origin: asked,
            worked: false,
            refused: false,
            language,
            mode,
            output,
            answered: HashSet::new(),
            budget: None,
            unpriced: HashSet::new(),
            used_up: None,
        }
    }

    /// Sets the budget of the turn.
    pub fn with_budget(self, budget: Option<Cost>) -> Self {
        Self { budget, ..self }
    }

    /// Follows the session until it rests. A request to the core may take as long as the session cannot be
    /// stored, so signals are still handled during one.
    pub async fn follow(self, feed: Feed, signals: &mut Signals) -> Result<Exit, Failure> {
        let (octo, session) = (self.octo, self.session);
        let mut watch = StorageWatch::begin(octo, session, self.language).await?;
        let stopped = StopFlag::default();
        let mut turn = pin!(self.work(feed, &stopped));
        // After an interrupt: the pending stop, and the latest end of the run.
        let (mut stopping, mut deadline) = (None, None);
        loop {
            tokio::select! {
                biased;
                () = signals.next() => {
                    if deadline.is_some() {
                        return Err(Failure::Interrupted);
                    }
                    deadline = Some(Instant::now() + STOP_TIMEOUT);
                    stopping = Some(Box::pin(octo.call(Stop { session })));
                }
                () = wait_until(deadline) => return Err(Failure::Interrupted),
                error = watch.fault() => return Err(error.into()),
                done = await_call(&mut stopping) => {
                    done?;
                    stopped.is_set.set(true);
                    stopped.changes.notify_one();
                }
                exit = &mut turn => return exit,
            }
        }
    }

    async fn work(mut self, mut feed: Feed, stopped: &StopFlag) -> Result<Exit, Failure> {
        loop {
            let snapshot = self.octo.call(OpenSession { session: self.session }).await?;
            for question in &snapshot.questions {
                self.answer(self.session, question).await?;
            }
            if let Some(stop) = &snapshot.budget {
                self.end_on_budget(stop).await?;
            }
            if self.is_at_rest(&snapshot, stopped) {
                self.drain(&mut feed, snapshot.seq).await;
                return Ok(self.end(&snapshot, stopped));
            }
            loop {
                let item = tokio::select! {
                    biased;
                    () = stopped.changes.notified() => break,
                    item = feed.next() => item,
                };
                match item {
                    Some(FeedItem::Event(envelope)) => match self.handle(&envelope).await? {
                        NextStep::Check => break,
                        NextStep::Wait => {}
                    },
                    Some(FeedItem::Lost(count)) => {
                        print_error(self.language, &ApiError::new("serve.lost").arg("count", count));
                        break;
                    }
                    None => return Err(ApiError::new("internal").detail("the core ended").into()),
                }
            }
        }
    }

    /// Handles an event: prints it and answers its question.
    async fn handle(&mut self, envelope: &Envelope) -> Result<NextStep, ApiError> {
        if envelope.topic != (StoredTopic::Session { id: self.session }) {
            self.handle_other(envelope).await?;
            return Ok(NextStep::Wait);
        }
        if envelope.seq <= self.last_seq {
            return Ok(NextStep::Wait);
        }
        self.last_seq = envelope.seq;
        if self.mode == OutputMode::Events {
            self.output.json(envelope);
        }
        self.worked |= matches!(envelope.event, Event::TurnStarted { .. } | Event::TurnEnded { .. });
        match &envelope.event {
            Event::QuestionAsked { question } => {
                self.answer(self.session, question).await?;
                Ok(NextStep::Wait)
            }
            Event::CommandAnswered { note: notice } if is_refusal(notice) => {
                self.refused = true;
                print_error(self.language, notice);
                Ok(NextStep::Check)
            }
            Event::CommandAnswered { note: notice } if self.mode == OutputMode::FinalText => {
                // The answer to a slash command is the run's output; other notes only accompany the work.
                if notice.key.starts_with("command.") {
                    self.output.text(&words::explain(self.language, notice));
                } else {
                    print_error(self.language, notice);
                }
                Ok(NextStep::Check)
            }
            Event::RetryScheduled { retry } => {
                let retry = ApiError::new("exec.retry")
                    .arg("attempt", retry.attempt)
                    .arg("attempts", retry.attempts)
                    .arg(
                        "why",
                        words::say(self.language, &format!("error.{}", retry.error.key), &retry.error.args),
                    );
                print_error(self.language, &retry);
                Ok(NextStep::Wait)
            }
            Event::BudgetReached { stop } => {
                self.end_on_budget(stop).await?;
                Ok(NextStep::Wait)
            }
            Event::CallBilled { call } => {
                self.warn_unpriced(call);
                Ok(NextStep::Wait)
            }
            Event::CommandAnswered { .. }
            | Event::TurnEnded { .. }
            | Event::SessionChanged { .. }
            | Event::QueueChanged { .. } => Ok(NextStep::Check),
            _ => Ok(NextStep::Wait),
        }
    }

    /// Handles an event of another session. The run works in one, so any other open session is a sub-agent of
    /// it: its questions also have no person to answer them, and a spent budget ends it; its parent then asks
    /// itself.
    async fn handle_other(&mut self, envelope: &Envelope) -> Result<(), ApiError> {
        let StoredTopic::Session { id } = envelope.topic else { return Ok(()) };
        match &envelope.event {
            Event::QuestionAsked { question } => self.answer(id, question).await,
            Event::BudgetReached { .. } => self.end_for_budget(id).await,
            Event::CallBilled { call } => {
                self.warn_unpriced(call);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Answers a question without a person: a permission with no, any other question with "decide yourself".
    async fn answer(&mut self, session: SessionId, question: &Question) -> Result<(), ApiError> {
        if !self.answered.insert(question.id) {
            return Ok(());
        }
        let answer = match question.ask {
            QuestionContent::Permission { .. } => {
                Answer::No { reason: Some(catalogue_text(self.language, "exec.nobody_permits")) }
            }
            QuestionContent::Feedback { .. } => {
                Answer::Text { text: catalogue_text(self.language, "exec.nobody_answers") }
            }
        };
        let call = AnswerQuestion { session, question: question.id, answer };
        match self.octo.call(call).await {
            Err(error) if error.code != Some(ErrorCode::Gone) => Err(error),
            _ => Ok(()),
        }
    }

    /// Ends the turn on a spent budget, since no person is here to allow more.
    async fn end_on_budget(&mut self, stop: &BudgetStop) -> Result<(), ApiError> {
        if self.used_up.replace(*stop).is_some() {
            return Ok(());
        }
        self.end_for_budget(self.session).await
    }

    async fn end_for_budget(&self, session: SessionId) -> Result<(), ApiError> {
        let call = AnswerBudget { session, answer: BudgetAnswer::Stop };
        match self.octo.call(call).await {
            Err(error) if error.code != Some(ErrorCode::Gone) => Err(error),
            _ => Ok(()),
        }
    }

    /// Warns, once per model, that the budget cannot include calls of unknown cost.
    fn warn_unpriced(&mut self, call: &BilledCall) {
        let is_priced = self.budget.is_none() || call.cost.is_some() || call.outcome != CallOutcome::Answered;
        if !is_priced && self.unpriced.insert(call.name.clone()) {
            print_error(self.language, &ApiError::new("exec.budget_unpriced").arg("model", &call.name));
        }
    }

    /// Returns whether no further work will start on its own. A turn picks up a queued message, except after a
    /// failure or a stop.
    fn is_at_rest(&self, snapshot: &SessionSnapshot, stopped: &StopFlag) -> bool {
        match snapshot.info.status {
            SessionStatus::Running | SessionStatus::Waiting => false,
            SessionStatus::Failed => true,
            SessionStatus::Idle => {
                snapshot.queue.is_empty() || stopped.is_set.get() || self.used_up.is_some()
            }
        }
    }

    /// Processes the events a snapshot already includes; they were published before or are about to be.
    async fn drain(&mut self, feed: &mut Feed, seq: u64) {
        let deadline = Instant::now() + LAST_EVENTS;
        while self.last_seq < seq {
            let Ok(Some(FeedItem::Event(envelope))) = timeout_at(deadline, feed.next()).await else { return };
            // Questions that are still open belong to a finished turn.
            let _ = self.handle(&envelope).await;
        }
    }

    /// Reports the outcome.
    fn end(&mut self, snapshot: &SessionSnapshot, stopped: &StopFlag) -> Exit {
        // The previous turn's text is not the answer to a command.
        match self.origin {
            MessageEffect::Command if !self.worked => {
                return if self.refused { Exit::Failed } else { Exit::Finished };
            }
            MessageEffect::New if !self.worked => {
                print_error_line(&catalogue_text(self.language, "exec.new"));
                return Exit::Finished;
            }
            MessageEffect::Turn | MessageEffect::Command | MessageEffect::New => {}
        }
        let Some(turn) = snapshot.page.turns.last() else { return Exit::Finished };
        match &turn.end {
            Some(TurnEnd::Failed { error }) => {
                print_error(self.language, error);
                Exit::Failed
            }
            Some(TurnEnd::Stopped) => match &self.used_up {
                Some(stop) if !stopped.is_set.get() => {
                    print_error(self.language, &budget_error(stop));
                    Exit::Failed
                }
                _ => {
                    print_error_line(&catalogue_text(self.language, "exec.stopped"));
                    Exit::Interrupted
                }
            },
            Some(TurnEnd::Finished) | None => {
                let last_answer = snapshot.page.messages.iter().rev().find(|message| {
                    message.turn == turn.id && message.role == Role::Assistant && !message.text().is_empty()
                });
                if let (OutputMode::FinalText, Some(message)) = (self.mode, last_answer) {
                    self.output.text(&message.text());
                }
                Exit::Finished
            }
        }
    }
}

/// Returns the error for a spent budget, with the amount spent and the limit.
fn budget_error(stop: &BudgetStop) -> ApiError {
    let key = match stop.scope {
        BudgetScope::Task => "exec.budget_task",
        BudgetScope::Session => "exec.budget_session",
        BudgetScope::Day => "exec.budget_day",
    };
    ApiError::new(key).arg("spent", dollars(stop.spent)).arg("limit", dollars(stop.limit))
}

/// Formats an amount for a person: exact, without trailing zeros, with at least cents.
fn dollars(amount: Cost) -> String {
    let digits = amount.to_string();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    format!("{whole}.{:0<2}", fraction.trim_end_matches('0'))
}

async fn wait_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Waits for the result of a started call; never finishes if there is none.
async fn await_call<F: Future>(call: &mut Option<Pin<Box<F>>>) -> F::Output {
    match call {
        Some(started) => {
            let output = started.await;
            *call = None;
            output
        }
        None => std::future::pending().await,
    }
}

/// Returns whether a slash command was unknown or misused: nothing was done.
fn is_refusal(notice: &ApiError) -> bool {
    notice.key.starts_with("command.unknown")
        || notice.key.starts_with("command.misused.")
        || notice.key == "command.model_unknown"
}
