//! Following a turn to its end: events out, questions answered no, a used-up budget ended, a signal heard.

use crate::{
    exec::{
        begin::{Asked, Begun},
        watch::Watch,
    },
    exit::{Exit, Failure},
    feed::{Fed, Feed},
    output::{Lines, explain, say, say_error},
    signals::Signals,
};
use octo_core::Octo;
use octo_protocol::{
    Answer, AnswerBudget, AnswerQuestion, ApiError, Ask, BilledCall, BudgetAnswer, BudgetScope, BudgetStop,
    CallOutcome, Cost, Envelope, ErrorCode, Event, Language, OpenSession, Question, QuestionId, Role,
    SessionId, SessionSnapshot, SessionStatus, Stop, Topic, TurnEnd, words,
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
const STOPPING: Duration = Duration::from_secs(10);

/// How long the last events of a turn that is over may take to arrive.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// What goes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Every event of the session.
    Events,
    /// The turn's last words.
    FinalText,
}

/// Follows a session's turn.
pub(super) struct Follower<'a, W> {
    octo: &'a Octo,
    session: SessionId,
    /// The number of the last event that was taken.
    seen: u64,
    asked: Asked,
    /// Whether a turn began or ended since this run began.
    worked: bool,
    /// Whether a slash command was none, or was not understood.
    refused: bool,
    language: Language,
    shown: Shown,
    out: Lines<W>,
    answered: HashSet<QuestionId>,
    /// What this run was told the turn may cost.
    budget: Option<Cost>,
    /// The models whose calls were said not to count.
    unpriced: HashSet<String>,
    /// The budget that was used up, which ended the turn.
    used_up: Option<BudgetStop>,
}

/// That the run was interrupted and the core has stopped the turn.
#[derive(Default)]
struct Stopped {
    so: Cell<bool>,
    news: Notify,
}

/// What an event means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// The session may have come to rest: look.
    Look,
    /// Go on.
    Wait,
}

impl<'a, W: Write> Follower<'a, W> {
    pub fn new(octo: &'a Octo, begun: Begun, language: Language, shown: Shown, out: Lines<W>) -> Self {
        let Begun { session, seen, asked } = begun;
        Self {
            octo,
            session,
            seen,
            asked,
            worked: false,
            refused: false,
            language,
            shown,
            out,
            answered: HashSet::new(),
            budget: None,
            unpriced: HashSet::new(),
            used_up: None,
        }
    }

    /// With what the turn may cost.
    pub fn with_budget(self, budget: Option<Cost>) -> Self {
        Self { budget, ..self }
    }

    /// Follows until the session rests. Whatever the core is asked meanwhile may take as long as the session waits until
    /// it can be stored, so nothing of it keeps a signal from being heard.
    pub async fn follow(self, feed: Feed, signals: &mut Signals) -> Result<Exit, Failure> {
        let (octo, session) = (self.octo, self.session);
        let mut watch = Watch::begin(octo, session, self.language).await?;
        let stopped = Stopped::default();
        let mut work = pin!(self.work(feed, &stopped));
        // Once interrupted: the stop that was asked for, and when the run ends at the latest.
        let (mut stopping, mut deadline) = (None, None);
        loop {
            tokio::select! {
                biased;
                () = signals.next() => {
                    if deadline.is_some() {
                        return Err(Failure::Interrupted);
                    }
                    deadline = Some(Instant::now() + STOPPING);
                    stopping = Some(Box::pin(octo.call(Stop { session })));
                }
                () = until(deadline) => return Err(Failure::Interrupted),
                error = watch.fault() => return Err(error.into()),
                done = finished(&mut stopping) => {
                    done?;
                    stopped.so.set(true);
                    stopped.news.notify_one();
                }
                exit = &mut work => return exit,
            }
        }
    }

    async fn work(mut self, mut feed: Feed, stopped: &Stopped) -> Result<Exit, Failure> {
        loop {
            let snapshot = self.octo.call(OpenSession { session: self.session }).await?;
            for question in &snapshot.questions {
                self.answer(self.session, question).await?;
            }
            if let Some(stop) = &snapshot.budget {
                self.stop_for(stop).await?;
            }
            if self.rests(&snapshot, stopped) {
                self.drain(&mut feed, snapshot.seq).await;
                return Ok(self.end(&snapshot, stopped));
            }
            loop {
                let item = tokio::select! {
                    biased;
                    () = stopped.news.notified() => break,
                    item = feed.next() => item,
                };
                match item {
                    Some(Fed::Event(envelope)) => match self.take(&envelope).await? {
                        Sign::Look => break,
                        Sign::Wait => {}
                    },
                    Some(Fed::Lost(count)) => {
                        explain(self.language, &ApiError::new("serve.lost").arg("count", count));
                        break;
                    }
                    None => return Err(ApiError::new("internal").detail("the core ended").into()),
                }
            }
        }
    }

    /// Takes an event: prints it, answers what it asks.
    async fn take(&mut self, envelope: &Envelope) -> Result<Sign, ApiError> {
        if envelope.topic != (Topic::Session { id: self.session }) {
            self.hear_other(envelope).await?;
            return Ok(Sign::Wait);
        }
        if envelope.seq <= self.seen {
            return Ok(Sign::Wait);
        }
        self.seen = envelope.seq;
        if self.shown == Shown::Events {
            self.out.json(envelope);
        }
        self.worked |= matches!(envelope.event, Event::TurnStarted { .. } | Event::TurnEnded { .. });
        match &envelope.event {
            Event::QuestionAsked { question } => {
                self.answer(self.session, question).await?;
                Ok(Sign::Wait)
            }
            Event::CommandAnswered { note } if is_refusal(note) => {
                self.refused = true;
                explain(self.language, note);
                Ok(Sign::Look)
            }
            Event::CommandAnswered { note } if self.shown == Shown::FinalText => {
                // The answer to a slash command is what was asked for; other notes only accompany the work.
                if note.key.starts_with("command.") {
                    self.out.text(&words::explain(self.language, note));
                } else {
                    explain(self.language, note);
                }
                Ok(Sign::Look)
            }
            Event::RetryScheduled { retry } => {
                let again = ApiError::new("exec.retry")
                    .arg("attempt", retry.attempt)
                    .arg("attempts", retry.attempts)
                    .arg(
                        "why",
                        words::say(self.language, &format!("error.{}", retry.error.key), &retry.error.args),
                    );
                explain(self.language, &again);
                Ok(Sign::Wait)
            }
            Event::BudgetReached { stop } => {
                self.stop_for(stop).await?;
                Ok(Sign::Wait)
            }
            Event::CallBilled { call } => {
                self.tell_unpriced(call);
                Ok(Sign::Wait)
            }
            Event::CommandAnswered { .. }
            | Event::TurnEnded { .. }
            | Event::SessionChanged { .. }
            | Event::QueueChanged { .. } => Ok(Sign::Look),
            Event::TurnStarted { .. }
            | Event::MessageAdded { .. }
            | Event::MessageStarted { .. }
            | Event::BlockAdded { .. }
            | Event::MessageEnded { .. }
            | Event::MessageDiscarded { .. }
            | Event::CallChanged { .. }
            | Event::QuestionClosed { .. }
            | Event::TodosChanged { .. }
            | Event::RetryStarted
            | Event::TurnStopping { .. }
            | Event::Suggested { .. }
            | Event::BudgetAnswered
            | Event::CompactionStarted
            | Event::CompactionFailed { .. }
            | Event::ContextCompacted { .. }
            | Event::CommandsChanged { .. }
            | Event::TasksChanged
            | Event::WentTo { .. }
            | Event::SessionListed { .. }
            | Event::SessionRemoved { .. }
            | Event::SettingsChanged { .. }
            | Event::TrashChanged { .. } => Ok(Sign::Wait),
        }
    }

    /// An event of another session. The run works in one, and what else it has open are that one's sub-agents: nobody
    /// is here for their questions either, and a used-up budget ends them; their parent then asks for itself.
    async fn hear_other(&mut self, envelope: &Envelope) -> Result<(), ApiError> {
        let Topic::Session { id } = envelope.topic else { return Ok(()) };
        match &envelope.event {
            Event::QuestionAsked { question } => self.answer(id, question).await,
            Event::BudgetReached { .. } => self.end_for_budget(id).await,
            Event::CallBilled { call } => {
                self.tell_unpriced(call);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Nobody is here: a permission is answered no, a question with "decide yourself".
    async fn answer(&mut self, session: SessionId, question: &Question) -> Result<(), ApiError> {
        if !self.answered.insert(question.id) {
            return Ok(());
        }
        let answer = match question.ask {
            Ask::Permission { .. } => Answer::No { reason: Some(say(self.language, "exec.nobody_permits")) },
            Ask::Feedback { .. } => Answer::Text { text: say(self.language, "exec.nobody_answers") },
        };
        let call = AnswerQuestion { session, question: question.id, answer };
        match self.octo.call(call).await {
            Err(error) if error.code != Some(ErrorCode::Gone) => Err(error),
            _ => Ok(()),
        }
    }

    /// Nobody is here to allow more: a used-up budget ends the turn.
    async fn stop_for(&mut self, stop: &BudgetStop) -> Result<(), ApiError> {
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

    /// Says, once a model, that a budget cannot hold what costs nobody knows how much.
    fn tell_unpriced(&mut self, call: &BilledCall) {
        let counts = self.budget.is_none() || call.cost.is_some() || call.outcome != CallOutcome::Answered;
        if !counts && self.unpriced.insert(call.name.clone()) {
            explain(self.language, &ApiError::new("exec.budget_unpriced").arg("model", &call.name));
        }
    }

    /// Whether nothing more comes by itself. A message that still waits in the queue is taken up by a turn,
    /// except after a failure or a stop.
    fn rests(&self, snapshot: &SessionSnapshot, stopped: &Stopped) -> bool {
        match snapshot.info.status {
            SessionStatus::Running | SessionStatus::Waiting => false,
            SessionStatus::Failed => true,
            SessionStatus::Idle => snapshot.queue.is_empty() || stopped.so.get() || self.used_up.is_some(),
        }
    }

    /// Takes the events a snapshot already includes; they were published before or are about to be.
    async fn drain(&mut self, feed: &mut Feed, seq: u64) {
        let deadline = Instant::now() + LAST_EVENTS;
        while self.seen < seq {
            let Ok(Some(Fed::Event(envelope))) = timeout_at(deadline, feed.next()).await else { return };
            // What is still asked here belongs to a turn that is over.
            let _ = self.take(&envelope).await;
        }
    }

    /// Says how it ended.
    fn end(&mut self, snapshot: &SessionSnapshot, stopped: &Stopped) -> Exit {
        // What the turn before it said is no answer to a command.
        match self.asked {
            Asked::Command if !self.worked => {
                return if self.refused { Exit::Failed } else { Exit::Finished };
            }
            Asked::New if !self.worked => {
                say_error(&say(self.language, "exec.new"));
                return Exit::Finished;
            }
            Asked::Work | Asked::Command | Asked::New => {}
        }
        let Some(turn) = snapshot.page.turns.last() else { return Exit::Finished };
        match &turn.end {
            Some(TurnEnd::Failed { error }) => {
                explain(self.language, error);
                Exit::Failed
            }
            Some(TurnEnd::Stopped) => match &self.used_up {
                Some(stop) if !stopped.so.get() => {
                    explain(self.language, &used_up(stop));
                    Exit::Failed
                }
                _ => {
                    say_error(&say(self.language, "exec.stopped"));
                    Exit::Interrupted
                }
            },
            Some(TurnEnd::Finished) | None => {
                let last = snapshot.page.messages.iter().rev().find(|message| {
                    message.turn == turn.id && message.role == Role::Assistant && !message.text().is_empty()
                });
                if let (Shown::FinalText, Some(message)) = (self.shown, last) {
                    self.out.text(&message.text());
                }
                Exit::Finished
            }
        }
    }
}

/// What a used-up budget is called, with what was spent and what the limit was.
fn used_up(stop: &BudgetStop) -> ApiError {
    let key = match stop.scope {
        BudgetScope::Task => "exec.budget_task",
        BudgetScope::Session => "exec.budget_session",
        BudgetScope::Day => "exec.budget_day",
    };
    ApiError::new(key).arg("spent", dollars(stop.spent)).arg("limit", dollars(stop.limit))
}

/// An amount as a person writes it: exact, without needless zeros, with cents at least.
fn dollars(amount: Cost) -> String {
    let exact = amount.to_string();
    let (whole, part) = exact.split_once('.').unwrap_or((&exact, ""));
    format!("{whole}.{:0<2}", part.trim_end_matches('0'))
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// What a call that was begun comes to; for ever when none was.
async fn finished<F: Future>(call: &mut Option<Pin<Box<F>>>) -> F::Output {
    match call {
        Some(begun) => {
            let output = begun.await;
            *call = None;
            output
        }
        None => std::future::pending().await,
    }
}

/// Whether a slash command was none, or was not understood: nothing was done.
fn is_refusal(note: &ApiError) -> bool {
    note.key.starts_with("command.unknown")
        || note.key.starts_with("command.misused.")
        || note.key == "command.model_unknown"
}
