//! A session: an actor that owns its state by value and receives everything that affects it as messages.
//!
//! The actor is split by responsibility: [`state`] owns and commits the state, [`turns`] drives the turn
//! machine, [`model_call`] and [`calls`] perform its actions, [`questions`] takes answers, [`inbox`] takes
//! requests and [`restore`] resumes after a restart.

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
mod file_restore;
mod grants;
mod hooked;
mod idle;
mod inbox;
mod invoked;
mod lasting;
mod meter;
mod model_call;
mod network;
mod observers;
mod outgoing;
mod prefix;
mod questions;
mod queue;
mod ready;
mod recall;
mod recovery;
mod registry;
mod requests;
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

use crate::{library::SkillSet, live::LiveStreams};
use actor::Actor;
pub(crate) use background::command_gone;
pub(crate) use before_call::midnight;
pub(crate) use inbox::{ActorRequest, ChatOrigin, ReplySender, Submission, UserMessage, validate_blocks};
pub(crate) use invoked::skill_call;
use octo_protocol::{ApiError, SessionId};
pub(crate) use recovery::recover;
pub(crate) use registry::LockedSessions;
pub(crate) use requests::{ChangeHead, ForgetRule, SessionCall};
use requests::{StopTurn, pending};
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

/// A handle for sending requests to a session. Cheap to clone; the actor ends with the application.
#[derive(Clone)]
pub(crate) struct SessionHandle {
    inbox: mpsc::UnboundedSender<Inbox>,
    live: LiveStreams,
    stop: StopSignal,
    /// Queue of the callers, so that requests are taken in order of arrival.
    queue: Arc<tokio::sync::Mutex<()>>,
    ended: CancellationToken,
}

/// A place in the queue of a session's callers: no later caller overtakes it.
pub(crate) struct QueueGuard(tokio::sync::OwnedMutexGuard<()>);

/// A message to the actor.
pub(crate) enum Inbox {
    /// A client's request.
    Request(ActorRequest),
    /// The current skills, sent before a message of the person.
    SkillSet(Arc<SkillSet>),
    /// A report of one of the actor's jobs. Reports from jobs of an earlier turn are recognised by their ids.
    Report(Box<JobReport>),
    /// The application ends: release everything and keep it for the next start.
    Shutdown(tokio::sync::oneshot::Sender<()>),
    /// The same, if the session has been idle for this long and nothing is running.
    Rest(Duration, tokio::sync::oneshot::Sender<resting::RestAnswer>),
}

/// A report of a job.
#[expect(clippy::large_enum_variant, reason = "a report is boxed on its way")]
pub(crate) enum JobReport {
    /// Progress of a model call.
    Model(model_call::ModelCallReport),
    /// The pause before a retry of a model call is over.
    RetryDue(model_call::CallAttempt),
    /// A call was prepared.
    Prepared(calls::PreparedReport),
    /// A running command wants to connect.
    Network(network::NetworkReport),
    /// A waiting call was checked again.
    Rechecked(questions::Recheck),
    /// A call ended.
    CallEnded(calls::EndedReport),
    /// The spending before a model call was looked up.
    Budget(before_call::BudgetReport),
    /// Progress of a side call.
    SideCall(side_call::SideCallReport),
    /// Summarised messages were written out.
    Archived(compacting::ArchiveReport),
    /// A turn finished and no work waits: the look back at it may begin.
    TurnFinished(after::FinishedTurn),
    /// The look back at a turn is over.
    LookBackFinished(after::LookBackResult),
    /// A turn finished and no work waits: the next message may be guessed.
    Finished(octo_protocol::TurnId),
    /// The session has been idle for a while, in the pause with this number.
    Idle(u64),
    /// News of a background command.
    Command(octo_shell::BackgroundNews),
    /// Ends of commands were gathered while no turn was running.
    Wake,
    /// The time limit after Stop is over: give up everything of this turn that still runs.
    StopOverdue(octo_protocol::TurnId),
    /// The time-machine step of a turn ended.
    StepEnded,
    /// A restore of files ended, successfully or not.
    RestoreEnded(file_restore::RestoreDone),
    /// Progress of a sub-agent.
    Child(sub_agent::ChildReport),
    /// A sub-agent begins and asks for its parent's state.
    ParentQuery(sub_agent::ParentQuery),
    /// A checkpoint was named.
    CheckpointNamed(file_restore::CheckpointAdded),
    /// This turn has its permit.
    Admitted(octo_protocol::TurnId),
}

impl SessionHandle {
    /// Starts the actor of a stored session. Fails if the session does not exist or another Octo process uses
    /// it.
    async fn open(runtime: Arc<Runtime>, id: SessionId) -> Result<Self, ApiError> {
        let live = LiveStreams::new(id, runtime.deltas.clone());
        let (inbox, receiver) = mpsc::unbounded_channel();
        let stop = StopSignal::new();
        let actor = Actor::new(inbox.clone(), stop.clone());
        let session = Session::load(runtime, id, live.clone(), actor).await?;
        let ended = CancellationToken::new();
        // The guard also signals a panic of the actor, so no caller waits forever.
        let guard = ended.clone().drop_guard();
        tokio::spawn(async move {
            run(session, receiver).await;
            drop(guard);
        });
        Ok(Self { inbox, live, stop, queue: Arc::default(), ended })
    }

    /// Whether the actor still accepts messages.
    pub(crate) fn is_open(&self) -> bool {
        !self.inbox.is_closed()
    }

    /// Waits until the actor has released everything.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Returns the session's current streams.
    pub(crate) fn live(&self) -> &LiveStreams {
        &self.live
    }

    /// Sends a request and waits for its reply.
    pub(crate) async fn request<T>(
        &self,
        request: impl FnOnce(ReplySender<T>) -> ActorRequest,
    ) -> Result<T, ApiError> {
        let place = self.queue().await;
        self.request_from(place, request).await
    }

    /// Sends a request for the actor to carry out, and waits for its reply.
    pub(crate) async fn call<Reply: Send + 'static>(
        &self,
        call: impl SessionCall<Reply>,
    ) -> Result<Reply, ApiError> {
        self.request(|reply| ActorRequest::Call(pending(call, reply))).await
    }

    /// Takes a place in the queue, for callers that must look something up before they send a request.
    pub(crate) async fn queue(&self) -> QueueGuard {
        QueueGuard(Arc::clone(&self.queue).lock_owned().await)
    }

    /// Sends a request from a place in the queue, releases the place and waits for the reply.
    pub(crate) async fn request_from<T>(
        &self,
        guard: QueueGuard,
        request: impl FnOnce(ReplySender<T>) -> ActorRequest,
    ) -> Result<T, ApiError> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let gone_error = || ApiError::new("session.unavailable").retryable();
        let result = self.inbox.send(Inbox::Request(request(reply))).map_err(|_| gone_error());
        drop(guard.0);
        result?;
        answer.await.map_err(|_| gone_error())?
    }

    /// Passes the current skills to the session: with the next message its model learns of those it does not
    /// know.
    pub(crate) fn set_skills(&self, skill_set: Arc<SkillSet>) {
        // A closed session needs no skills.
        let _gone = self.inbox.send(Inbox::SkillSet(skill_set));
    }

    /// Stops the running turn, if there is one.
    pub(crate) async fn stop(&self) -> Result<(), ApiError> {
        self.stop.request();
        self.call(StopTurn).await
    }

    /// Lets the actor end and waits for it.
    pub(crate) async fn shut_down(&self) {
        self.stop.close();
        let (sender, ended) = tokio::sync::oneshot::channel();
        // An actor that is ending on its own is waited for as well: afterwards everything it owned is released.
        if self.inbox.send(Inbox::Shutdown(sender)).is_err() || ended.await.is_err() {
            self.ended().await;
        }
    }
}

async fn run(mut session: Session, mut inbox: mpsc::UnboundedReceiver<Inbox>) {
    let mut last_used = Instant::now();
    while let Some(message) = inbox.recv().await {
        if !matches!(message, Inbox::Rest(..)) {
            last_used = Instant::now();
        }
        let retry = match &message {
            Inbox::Request(_) => session.request_retry(),
            Inbox::Report(_) => StoreRetry::UntilStored,
            Inbox::SkillSet(_) | Inbox::Shutdown(_) | Inbox::Rest(..) => StoreRetry::Never,
        };
        let outcome = match message {
            Inbox::Request(request) => session.handle_request(request).await,
            Inbox::Report(report) => session.handle_report(*report).await,
            Inbox::SkillSet(skill_set) => {
                session.skill_set = Some(skill_set);
                Ok(())
            }
            Inbox::Shutdown(done) => {
                inbox.close();
                session.release(retry).await;
                // It is not an error if the caller no longer waits.
                let _nobody = done.send(());
                return;
            }
            Inbox::Rest(idle_after, reply) => {
                let answer = session.may_rest(last_used.elapsed(), idle_after);
                // If the caller no longer waits for the answer, another caller may be about to send a request.
                if reply.send(answer).is_ok() && answer == resting::RestAnswer::Rests {
                    inbox.close();
                    session.release(retry).await;
                    return;
                }
                Ok(())
            }
        };
        let outcome = match outcome {
            Ok(()) => {
                session.end_step();
                Ok(())
            }
            error => error,
        };
        if let Err(error) = outcome {
            // The store is consistent; anything that could not be stored did not happen. The session resumes
            // from the store when it is opened next.
            tracing::error!(session = %session.id(), %error, "session stopped: it could not be stored");
            inbox.close();
            session.report_fault(error, retry).await;
            return;
        }
    }
}

impl Session {
    async fn handle_report(&mut self, report: JobReport) -> Result<(), ApiError> {
        match report {
            JobReport::Model(progress) => self.model_progressed(progress).await,
            JobReport::RetryDue(attempt) => self.retry_due(attempt).await,
            JobReport::Prepared(report) => self.call_prepared(report).await,
            JobReport::Network(report) => self.decide_on_connection(report).await,
            JobReport::Rechecked(report) => self.apply_recheck(report).await,
            JobReport::CallEnded(report) => self.call_ended(report).await,
            JobReport::Budget(report) => self.budget_checked(report).await,
            JobReport::SideCall(progress) => self.side_progressed(progress).await,
            JobReport::Archived(report) => self.finish_archive(report).await,
            JobReport::Finished(turn) => self.suggest(turn).await,
            JobReport::TurnFinished(finished) => self.look_back(finished).await,
            JobReport::LookBackFinished(result) => self.finish_look_back(result).await,
            JobReport::Idle(pause) => self.idle(pause).await,
            JobReport::Command(update) => self.handle_command_news(update).await,
            JobReport::Wake => self.start_auto_turn(StoreRetry::UntilStored).await,
            JobReport::StopOverdue(turn) => self.give_up_stopping(turn).await,
            JobReport::StepEnded => self.tasks_changed().await,
            JobReport::RestoreEnded(done) => self.finish_restore(done).await,
            JobReport::Child(report) => self.child_progressed(report).await,
            JobReport::ParentQuery(query) => {
                self.describe_parent(query);
                Ok(())
            }
            JobReport::CheckpointNamed(checkpoint) => self.finish_checkpoint(checkpoint).await,
            JobReport::Admitted(turn) => self.resume_waiting(turn).await,
        }
    }
}
