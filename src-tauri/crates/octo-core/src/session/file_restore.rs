//! Restoring a step of the time machine: first the files, then the part of the conversation the model sees.
//!
//! Files are restored off the actor, which continues to take messages, answers and Stop; only work with files
//! may not begin until then. After a crash in between, the next opening of the session detects it and adapts
//! the conversation.

mod job;

pub(super) use job::{RestoreExtent, RestoreTarget};

use super::{
    JobReport, ReplySender,
    inbox::respond,
    state::Session,
    step::{Change, Step, StoreRetry},
    tasks::run_blocking,
    turns::TurnCause,
};
use job::{RestoreJob, StepConversation};
use octo_protocol::{
    ApiError, Event, FileSelection, PreviewRestore, RestorePreview, RestoreReport, RestoreScope, RestoreTask,
    SendOutcome, StepTree, StepView, TurnId,
};
use octo_store::RestoreRecord;
use octo_workspace::RestoreSelection;
use std::collections::HashSet;
use tokio::task::JoinHandle;

/// The running restore, if any. No other work may use files meanwhile.
#[derive(Default)]
pub(super) struct Restoring(Option<RestoreInFlight>);

struct RestoreInFlight {
    job: JoinHandle<()>,
    follow_up: AfterRestore,
}

/// The action that follows a restore.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterRestore {
    /// Begin the queued work.
    BeginQueued,
    /// Begin nothing automatically.
    Nothing,
}

/// The requester waiting for the end of a restore.
pub(super) enum RestoreRequester {
    /// A client that requested it.
    Client(ReplySender<RestoreReport>),
    /// The person, through a command.
    Command(ReplySender<SendOutcome>),
    /// A tool of the turn that has just ended.
    Tool,
}

/// The end of a restore.
pub(crate) struct RestoreDone {
    outcome: Result<(RestoreReport, Option<StepConversation>), ApiError>,
    requester: RestoreRequester,
}

/// The result of naming the present state.
pub(crate) struct CheckpointAdded {
    outcome: Result<StepView, ApiError>,
    reply: ReplySender<StepView>,
}

impl Restoring {
    pub(super) fn is_under_way(&self) -> bool {
        self.0.is_some()
    }

    fn begin(&mut self, task: JoinHandle<()>) {
        self.0 = Some(RestoreInFlight { job: task, follow_up: AfterRestore::BeginQueued });
    }

    /// Handles Stop during a restore: the restore cannot end half-way, but nothing begins after it.
    pub(super) fn cancel_follow_up(&mut self) {
        if let Some(restore) = &mut self.0 {
            restore.follow_up = AfterRestore::Nothing;
        }
    }

    fn end(&mut self) -> AfterRestore {
        self.0.take().map_or(AfterRestore::Nothing, |in_flight| in_flight.follow_up)
    }

    /// Waits until the files are consistent, whether restored or not.
    pub(super) async fn wait(&mut self) {
        if let Some(restore) = self.0.take() {
            // A job that panicked has logged it; the next start completes its work.
            let _broken = restore.job.await;
        }
    }
}

impl Session {
    /// Previews the effect of a restore on files. It reads every recorded file, so it runs off the actor, which
    /// continues meanwhile; a restore makes its own plan.
    pub(super) fn preview_restore(&self, call: PreviewRestore, reply: ReplySender<RestorePreview>) {
        let PreviewRestore { task, selection, .. } = call;
        if let Err(error) = self.check_no_turn_runs() {
            let _gone = reply.send(Err(error));
            return;
        }
        let (machine, session) = (self.runtime.services.time.clone(), self.id());
        tokio::spawn(async move {
            let preview = run_blocking(move || {
                let selection = match selection {
                    FileSelection::All => RestoreSelection::All,
                    FileSelection::Chosen { paths } => {
                        RestoreSelection::Files(machine.paths_named(session, &paths)?.into_iter().collect())
                    }
                };
                Ok(machine.plan(session, task, selection)?.preview())
            });
            // A disconnected client needs no reply.
            let _gone = reply.send(preview.await);
        });
    }

    /// Restores a step, or chosen files of it.
    pub(super) fn restore_task(&mut self, call: RestoreTask, reply: ReplySender<RestoreReport>) {
        let RestoreTask { task, scope, selection, overwrite, .. } = call;
        let extent = match (scope, selection) {
            (RestoreScope::Conversation, _) => RestoreExtent::Conversation,
            (_, FileSelection::Chosen { paths }) => RestoreExtent::Selected(paths),
            (RestoreScope::Files, FileSelection::All) => RestoreExtent::Files,
            (RestoreScope::Both, FileSelection::All) => RestoreExtent::Everything { kept_turns: Vec::new() },
        };
        match self.check_no_turn_runs() {
            Ok(()) => self.start_restore(
                RestoreTarget::Task(task),
                extent,
                overwrite,
                RestoreRequester::Client(reply),
            ),
            Err(error) => {
                let _gone = reply.send(Err(error));
            }
        }
    }

    /// Names the present state. It reads every recorded file, off the actor.
    pub(super) fn add_checkpoint(&mut self, name: String, reply: ReplySender<StepView>) {
        let refusal = match self.check_no_turn_runs() {
            Ok(()) if name.trim().is_empty() => Err(ApiError::new("time.checkpoint_unnamed")),
            rests => rests,
        };
        if let Err(error) = refusal {
            let _gone = reply.send(Err(error));
            return;
        }
        let (machine, session, folder) =
            (self.runtime.services.time.clone(), self.id(), self.workspace.folder().to_owned());
        let (pending, report) = (self.records.pending(), self.reporter());
        tokio::spawn(async move {
            pending.wait().await;
            let outcome = run_blocking(move || machine.checkpoint(session, &folder, &name)).await;
            report.send(JobReport::CheckpointNamed(CheckpointAdded { outcome, reply }));
        });
    }

    /// Takes the result of naming a state.
    pub(super) async fn finish_checkpoint(
        &mut self,
        CheckpointAdded { outcome, reply }: CheckpointAdded,
    ) -> Result<(), ApiError> {
        let result = match outcome {
            Ok(task) => self.finish(Step::default().with(Event::TasksChanged)).await.map(|()| task),
            Err(error) => Err(error),
        };
        respond(reply, result)
    }

    /// Carries out `/undo` and `/redo`.
    pub(super) async fn restore_by_command(
        &mut self,
        target: RestoreTarget,
        reply: ReplySender<SendOutcome>,
    ) -> Result<(), ApiError> {
        match self.check_no_turn_runs() {
            Ok(()) => {
                let extent = RestoreExtent::Everything { kept_turns: Vec::new() };
                self.start_restore(target, extent, Vec::new(), RestoreRequester::Command(reply));
                Ok(())
            }
            Err(error) => {
                let result = self.tell(Err(error), self.request_retry()).await.map(|()| SendOutcome::Command);
                respond(reply, result)
            }
        }
    }

    /// Starts a restore. The actor continues: messages wait in the queue until it has ended.
    pub(super) fn start_restore(
        &mut self,
        target: RestoreTarget,
        extent: RestoreExtent,
        overwrite: Vec<String>,
        asked: RestoreRequester,
    ) {
        let (machine, store) = (self.runtime.services.time.clone(), self.runtime.base.store.clone());
        let restore_job = RestoreJob::new(machine, store, self.id(), self.records.pending());
        let report = self.reporter();
        let job = tokio::spawn(async move {
            let outcome = restore_job.run(target, extent, overwrite).await;
            report.send(JobReport::RestoreEnded(RestoreDone { outcome, requester: asked }));
        });
        self.restoring.begin(job);
    }

    /// Ends a restore: the conversation follows the files, and the requester gets its reply.
    pub(super) async fn finish_restore(
        &mut self,
        RestoreDone { outcome, requester }: RestoreDone,
    ) -> Result<(), ApiError> {
        let follow_up = self.restoring.end();
        let report = match outcome {
            Ok((report, conversation)) => self.follow_conversation(conversation).await.map(|()| report),
            Err(error) => Err(error),
        };
        match requester {
            RestoreRequester::Client(reply) => respond(reply, report)?,
            RestoreRequester::Command(reply) => {
                let result = self.tell(report, StoreRetry::Never).await.map(|()| SendOutcome::Command);
                respond(reply, result)?;
            }
            RestoreRequester::Tool => self.tell(report, StoreRetry::Never).await?,
        }
        match follow_up {
            AfterRestore::BeginQueued if !self.queue.is_empty() && self.workspace.has_folder() => {
                self.begin_queued_turn(TurnCause::Person, StoreRetry::Never).await
            }
            AfterRestore::BeginQueued => self.start_auto_turn(StoreRetry::Never).await,
            AfterRestore::Nothing => Ok(()),
        }
    }

    async fn follow_conversation(&mut self, conversation: Option<StepConversation>) -> Result<(), ApiError> {
        match conversation {
            Some(conversation) => self.show_conversation(&conversation).await,
            None => self.finish(Step::once().with(Event::TasksChanged)).await,
        }
    }

    async fn tell(
        &mut self,
        outcome: Result<RestoreReport, ApiError>,
        retry: StoreRetry,
    ) -> Result<(), ApiError> {
        let notice = match outcome {
            Ok(report) if report.kept.is_empty() => {
                ApiError::new("time.went").arg("task", report.active).arg("changed", report.changed)
            }
            Ok(report) => ApiError::new("time.went_but_kept")
                .arg("task", report.active)
                .arg("changed", report.changed)
                .list("kept", report.kept),
            Err(error) if error.is_store_error() => return Err(error),
            Err(error) => error,
        };
        self.finish(Step::with_retry(retry).with(Event::CommandAnswered { note: notice })).await
    }

    /// Completes a restore after a crash: if the files were restored the conversation follows.
    pub(super) async fn recover_restore(&mut self) -> Result<(), ApiError> {
        let session = self.id();
        let result = self.runtime.base.store.read(move |reader| reader.pending_restore(session)).await;
        let Some(RestoreRecord { task, conversation, kept_messages: kept }) = result? else { return Ok(()) };
        let tree = self.tree().await?;
        if tree.active == task {
            return self.show_conversation(&StepConversation::new(conversation, tree, kept)).await;
        }
        self.runtime.base.store.write(move |tx| tx.drop_restore(session)).await.map_err(ApiError::from)
    }

    async fn tree(&self) -> Result<StepTree, ApiError> {
        let (machine, session) = (self.runtime.services.time.clone(), self.id());
        run_blocking(move || machine.tree(session)).await
    }

    /// Shows the model the turns that lead to a step and those that asked for the restore.
    async fn show_conversation(&mut self, conversation: &StepConversation) -> Result<(), ApiError> {
        // The running side call concerned the former conversation.
        let mut step = Step::once();
        self.end_side_call(&mut step);
        self.compaction.cancel();
        self.finish(step).await?;
        let session = self.id();
        let undone = conversation.undone_turns();
        let without: HashSet<TurnId> = undone.iter().copied().collect();
        let result =
            self.runtime.base.store.read(move |reader| reader.conversation_without(session, &without)).await;
        let messages = result?;
        let mut step = Step::once();
        step.change(Change::NewContext(messages));
        step.event(Event::WentTo { task: conversation.task(), undone });
        self.finish(step).await?;
        let result = self.runtime.base.store.read(move |reader| reader.context_of(session)).await;
        self.conversation.replace(result?);
        let tokens = self.prefix.tokens() + self.conversation.tokens();
        self.compaction.record_replacement(tokens, self.conversation.len());
        self.finish(Step::once().with(Event::ContextCompacted { tokens })).await
    }

    /// Fails while a turn is working with files, as they must not change under it.
    fn check_no_turn_runs(&self) -> Result<(), ApiError> {
        self.check_owned_here()?;
        if self.turn.is_running() {
            Err(ApiError::new("session.running"))
        } else if self.restoring.is_under_way() {
            Err(ApiError::new("time.going"))
        } else if self.records.is_watching() {
            // The restored files would be taken for its work.
            Err(ApiError::new("time.commands_run"))
        } else {
            Ok(())
        }
    }
}
