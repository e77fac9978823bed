//! A session: one actor that owns its state by value and takes everything that touches it as messages.
//!
//! The actor is split along what it does: [`state`] holds and commits, [`turns`] drives the turn machine,
//! [`model_call`] and [`calls`] perform its actions, [`questions`] takes answers, [`inbox`] takes requests
//! and [`restore`] goes on after a restart.

mod actor;
mod after;
mod attached;
mod background;
mod before_call;
mod calls;
mod compacting;
mod confined;
mod conversation;
mod current_turn;
mod fallback;
mod grants;
mod hooked;
mod idle;
mod inbox;
mod invoked;
mod journey;
mod lasting;
mod meter;
mod model_call;
mod observers;
mod outgoing;
mod prefix;
mod questions;
mod queue;
mod ready;
mod recall;
mod recovery;
mod registry;
mod resting;
mod restore;
mod runtime;
mod side_call;
mod skill_commands;
mod state;
mod step;
mod stop_signal;
mod sub_agent;
mod tasks;
mod texts;
mod turns;
mod warmth;
mod workspace;

use crate::{library::Shelf, live::Live};
use actor::Actor;
pub(crate) use background::command_gone;
pub(crate) use before_call::midnight;
pub(crate) use inbox::{Ask, Reply, UserMessage, Via, sendable};
pub(crate) use invoked::asked_call;
use octo_protocol::{ApiError, SessionId};
pub(crate) use recovery::recover;
pub(crate) use registry::LockedSessions;
pub(crate) use restore::resumes_at_start;
pub(crate) use runtime::Runtime;
use state::Session;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use step::StoreRetry;
use stop_signal::StopSignal;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How a session is spoken to. Cheap to clone; the actor ends with the application.
#[derive(Clone)]
pub(crate) struct SessionHandle {
    inbox: mpsc::UnboundedSender<Inbox>,
    live: Live,
    stop: StopSignal,
    /// Whoever asks something waits in this line, so that what comes first is taken first.
    line: Arc<tokio::sync::Mutex<()>>,
    ended: CancellationToken,
}

/// A place in the line of those who ask a session something: nobody behind it gets ahead.
pub(crate) struct Place(tokio::sync::OwnedMutexGuard<()>);

/// What reaches the actor.
pub(crate) enum Inbox {
    /// A client asks.
    Ask(Ask),
    /// The skills as they are, before a message of the person's.
    Shelf(Arc<Shelf>),
    /// A job of the actor reports. Jobs of an earlier turn are told apart by what they name.
    Report(Box<Report>),
    /// The application ends: let go of everything, keep it for the next start.
    Shutdown(tokio::sync::oneshot::Sender<()>),
    /// The same, where nobody has worked here for so long and nothing goes on.
    Rest(Duration, tokio::sync::oneshot::Sender<resting::Answer>),
}

/// What a job reports.
#[expect(clippy::large_enum_variant, reason = "a report is boxed on its way")]
pub(crate) enum Report {
    /// Of a model call.
    Model(model_call::Progress),
    /// Of the pause before a model call is tried again.
    RetryDue(model_call::Attempt),
    /// A call was prepared.
    Prepared(calls::PreparedReport),
    /// A waiting call was looked at again.
    LookedAgain(questions::SecondLook),
    /// A call ended.
    CallEnded(calls::EndedReport),
    /// What was spent before a model call.
    Budget(before_call::BudgetReport),
    /// Of a call beside the conversation.
    Beside(side_call::SideProgress),
    /// Summed-up messages were written out.
    Archived(compacting::ArchiveReport),
    /// A turn finished and nothing waits: what comes after it may begin.
    Over(after::FinishedTurn),
    /// What came after a turn is done with.
    LookedBack(after::LookedBack),
    /// A turn finished and nothing waits: the next message may be guessed.
    Finished(octo_protocol::TurnId),
    /// Nobody has worked here for a while, in the pause of this number.
    Idle(u64),
    /// What becomes of a command in the background.
    Command(octo_shell::News),
    /// Ends of commands were gathered while no turn ran.
    Wake,
    /// Whatever still runs of this turn after Stop is given up.
    StopOverdue(octo_protocol::TurnId),
    /// The task of a turn ended.
    Settled,
    /// Files are as at another task, or could not be.
    Arrived(journey::Arrival),
    /// How far a sub-agent is.
    Child(sub_agent::ChildReport),
    /// A sub-agent begins.
    ParentQuery(sub_agent::ParentQuery),
    /// The present state has a name.
    Named(journey::Named),
    /// This turn has its place among those that work at once.
    Admitted(octo_protocol::TurnId),
}

impl SessionHandle {
    /// Starts the actor of a stored session. Fails when it is not there or another Octo uses it.
    async fn open(runtime: Arc<Runtime>, id: SessionId) -> Result<Self, ApiError> {
        let live = Live::new(id, runtime.deltas.clone());
        let (inbox, receiver) = mpsc::unbounded_channel();
        let stop = StopSignal::new();
        let actor = Actor::new(inbox.clone(), stop.clone());
        let session = Session::load(runtime, id, live.clone(), actor).await?;
        let ended = CancellationToken::new();
        // Told also when the actor breaks, so that nobody waits for it for ever.
        let end = ended.clone().drop_guard();
        tokio::spawn(async move {
            run(session, receiver).await;
            drop(end);
        });
        Ok(Self { inbox, live, stop, line: Arc::default(), ended })
    }

    /// Whether the actor still takes messages.
    pub(crate) fn is_open(&self) -> bool {
        !self.inbox.is_closed()
    }

    /// Waits until the actor has let go of everything.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// What streams now.
    pub(crate) fn live(&self) -> &Live {
        &self.live
    }

    /// Sends a request and waits for its reply.
    pub(crate) async fn ask<T>(&self, ask: impl FnOnce(Reply<T>) -> Ask) -> Result<T, ApiError> {
        let place = self.queue().await;
        self.ask_from(place, ask).await
    }

    /// Takes a place in the line, for what must be found out before it can be asked.
    pub(crate) async fn queue(&self) -> Place {
        Place(Arc::clone(&self.line).lock_owned().await)
    }

    /// Sends a request from a place in the line, which is free then, and waits for its reply.
    pub(crate) async fn ask_from<T>(
        &self,
        place: Place,
        ask: impl FnOnce(Reply<T>) -> Ask,
    ) -> Result<T, ApiError> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let gone = || ApiError::new("session.unavailable").retryable();
        let sent = self.inbox.send(Inbox::Ask(ask(reply))).map_err(|_| gone());
        drop(place.0);
        sent?;
        answer.await.map_err(|_| gone())?
    }

    /// Gives it the skills as they are now: with the next message its model is told of those it does not know.
    pub(crate) fn shelve(&self, shelf: Arc<Shelf>) {
        // A session that is gone needs none.
        let _gone = self.inbox.send(Inbox::Shelf(shelf));
    }

    /// Stops the turn that runs, if one does.
    pub(crate) async fn stop(&self) -> Result<(), ApiError> {
        self.stop.press();
        self.ask(Ask::Stop).await
    }

    /// Lets the actor end and waits for it.
    pub(crate) async fn shut_down(&self) {
        self.stop.close();
        let (done, ended) = tokio::sync::oneshot::channel();
        // One that ends by itself just now is waited for as well: what it holds is given back by then.
        if self.inbox.send(Inbox::Shutdown(done)).is_err() || ended.await.is_err() {
            self.ended().await;
        }
    }
}

async fn run(mut session: Session, mut inbox: mpsc::UnboundedReceiver<Inbox>) {
    let mut used = Instant::now();
    while let Some(message) = inbox.recv().await {
        if !matches!(message, Inbox::Rest(..)) {
            used = Instant::now();
        }
        let retry = match &message {
            Inbox::Ask(_) => session.request_retry(),
            Inbox::Report(_) => StoreRetry::UntilStored,
            Inbox::Shelf(_) | Inbox::Shutdown(_) | Inbox::Rest(..) => StoreRetry::Never,
        };
        let outcome = match message {
            Inbox::Ask(ask) => session.take(ask).await,
            Inbox::Report(report) => session.hear(*report).await,
            Inbox::Shelf(shelf) => {
                session.shelf = Some(shelf);
                Ok(())
            }
            Inbox::Shutdown(done) => {
                inbox.close();
                session.let_go(retry).await;
                // Nobody waiting for the end is no fault.
                let _nobody = done.send(());
                return;
            }
            Inbox::Rest(after, reply) => {
                let answer = session.may_rest(used.elapsed(), after);
                // Where nobody waits for the answer any more, somebody else may be about to ask something.
                if reply.send(answer).is_ok() && answer == resting::Answer::Rests {
                    inbox.close();
                    session.let_go(retry).await;
                    return;
                }
                Ok(())
            }
        };
        let outcome = match outcome {
            Ok(()) => {
                session.settle_task();
                Ok(())
            }
            broken => broken,
        };
        if let Err(error) = outcome {
            // What is in the store is whole; what could not be stored did not happen. The next opening
            // of the session goes on from the store.
            tracing::error!(session = %session.id(), %error, "session stopped: it could not be stored");
            inbox.close();
            session.fault(error, retry).await;
            return;
        }
    }
}

impl Session {
    async fn hear(&mut self, report: Report) -> Result<(), ApiError> {
        match report {
            Report::Model(progress) => self.model_progressed(progress).await,
            Report::RetryDue(attempt) => self.retry_due(attempt).await,
            Report::Prepared(report) => self.call_prepared(report).await,
            Report::LookedAgain(look) => self.looked_again(look).await,
            Report::CallEnded(report) => self.call_ended(report).await,
            Report::Budget(report) => self.budget_checked(report).await,
            Report::Beside(progress) => self.side_progressed(progress).await,
            Report::Archived(report) => self.archived(report).await,
            Report::Finished(turn) => self.suggest(turn).await,
            Report::Over(over) => self.look_back(over).await,
            Report::LookedBack(news) => self.looked_back(news).await,
            Report::Idle(pause) => self.idle(pause).await,
            Report::Command(news) => self.command_news(news).await,
            Report::Wake => self.wake(StoreRetry::UntilStored).await,
            Report::StopOverdue(turn) => self.give_up_stopping(turn).await,
            Report::Settled => self.tasks_changed().await,
            Report::Arrived(arrival) => self.arrived(arrival).await,
            Report::Child(report) => self.child_progressed(report).await,
            Report::ParentQuery(query) => {
                self.describe_parent(query);
                Ok(())
            }
            Report::Named(named) => self.named(named).await,
            Report::Admitted(turn) => self.admitted(turn).await,
        }
    }
}
