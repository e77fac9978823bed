//! Going to another task of the time machine: first the files, then what the model sees of the conversation.
//!
//! Files are put back beside the actor, which goes on to take messages, answers and Stop; only nothing that works with
//! files may begin until then. A crash in between is found at the next opening of the session, and the conversation
//! follows.

mod way;

pub(super) use way::{Extent, Target};

use super::{
    Reply, Report,
    inbox::respond,
    state::Session,
    step::{Change, Step, StoreRetry},
    tasks::beside,
    turns::Began,
};
use octo_protocol::{
    ApiError, Event, FileSelection, RestorePreview, RestoreReport, RestoreScope, RestoreTask, Sent,
    TaskNumber, TaskTree, TaskView, TurnId,
};
use octo_store::Journey;
use octo_workspace::Selection;
use std::collections::HashSet;
use tokio::task::JoinHandle;
use way::{Conversation, Way};

/// The journey that is under way, if there is one. Nothing may work with files meanwhile.
#[derive(Default)]
pub(super) struct Restoring(Option<Away>);

struct Away {
    job: JoinHandle<()>,
    then: Then,
}

/// What happens after a journey.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// What waited meanwhile begins.
    WhatWaits,
    /// Nothing begins by itself.
    Rest,
}

/// Who waits for the end of a journey.
pub(super) enum Asked {
    /// A client that asked for it.
    Client(Reply<RestoreReport>),
    /// The person, by a command.
    Command(Reply<Sent>),
    /// A tool of the turn that has just ended.
    Tool,
}

/// A journey ended.
pub(crate) struct Arrival {
    outcome: Result<(RestoreReport, Option<Conversation>), ApiError>,
    asked: Asked,
}

/// The present state has a name, or could not have one.
pub(crate) struct Named {
    outcome: Result<TaskView, ApiError>,
    reply: Reply<TaskView>,
}

impl Restoring {
    pub(super) fn is_under_way(&self) -> bool {
        self.0.is_some()
    }

    fn begin(&mut self, job: JoinHandle<()>) {
        self.0 = Some(Away { job, then: Then::WhatWaits });
    }

    /// The person pressed Stop meanwhile: the journey cannot end half-way, but nothing begins after it.
    pub(super) fn stay(&mut self) {
        if let Some(away) = &mut self.0 {
            away.then = Then::Rest;
        }
    }

    fn end(&mut self) -> Then {
        self.0.take().map_or(Then::Rest, |away| away.then)
    }

    /// Waits until files are whole: one way or the other.
    pub(super) async fn wait(&mut self) {
        if let Some(away) = self.0.take() {
            // One that broke has said so; what it left is ended by the next start.
            let _broken = away.job.await;
        }
    }
}

impl Session {
    /// What going to a task would do to files. Every recorded file is read for it, so it happens beside the actor, which
    /// goes on meanwhile; a restore makes a plan of its own.
    pub(super) fn preview_restore(
        &self,
        task: TaskNumber,
        selection: FileSelection,
        reply: Reply<RestorePreview>,
    ) {
        if let Err(error) = self.must_rest() {
            let _gone = reply.send(Err(error));
            return;
        }
        let (machine, session) = (self.runtime.services.time.clone(), self.id());
        tokio::spawn(async move {
            let preview = beside(move || {
                let selection = match selection {
                    FileSelection::All => Selection::All,
                    FileSelection::Chosen { paths } => {
                        Selection::Files(machine.paths_named(session, &paths)?.into_iter().collect())
                    }
                };
                Ok(machine.plan(session, task, selection)?.preview())
            });
            // A client that is gone needs no reply.
            let _gone = reply.send(preview.await);
        });
    }

    /// Goes to a task, or brings chosen files of it back.
    pub(super) fn restore_task(&mut self, call: RestoreTask, reply: Reply<RestoreReport>) {
        let RestoreTask { task, scope, selection, overwrite, .. } = call;
        let extent = match (scope, selection) {
            (RestoreScope::Conversation, _) => Extent::Conversation,
            (_, FileSelection::Chosen { paths }) => Extent::Chosen(paths),
            (RestoreScope::Files, FileSelection::All) => Extent::Files,
            (RestoreScope::Both, FileSelection::All) => Extent::Everything { kept: Vec::new() },
        };
        match self.must_rest() {
            Ok(()) => self.set_out(Target::Task(task), extent, overwrite, Asked::Client(reply)),
            Err(error) => {
                let _gone = reply.send(Err(error));
            }
        }
    }

    /// Gives the present state a name. Every recorded file is read for it, beside the actor.
    pub(super) fn add_checkpoint(&mut self, name: String, reply: Reply<TaskView>) {
        let refused = match self.must_rest() {
            Ok(()) if name.trim().is_empty() => Err(ApiError::new("time.checkpoint_unnamed")),
            rests => rests,
        };
        if let Err(error) = refused {
            let _gone = reply.send(Err(error));
            return;
        }
        let (machine, session, folder) =
            (self.runtime.services.time.clone(), self.id(), self.workspace.folder().to_owned());
        let (loose, report) = (self.records.loose(), self.reporter());
        tokio::spawn(async move {
            loose.over().await;
            let outcome = beside(move || machine.checkpoint(session, &folder, &name)).await;
            report.send(Report::Named(Named { outcome, reply }));
        });
    }

    /// It has its name.
    pub(super) async fn named(&mut self, Named { outcome, reply }: Named) -> Result<(), ApiError> {
        let told = match outcome {
            Ok(task) => self.finish(Step::default().with(Event::TasksChanged)).await.map(|()| task),
            Err(error) => Err(error),
        };
        respond(reply, told)
    }

    /// `/undo` and `/redo`.
    pub(super) async fn go_by_command(&mut self, target: Target, reply: Reply<Sent>) -> Result<(), ApiError> {
        match self.must_rest() {
            Ok(()) => {
                let everything = Extent::Everything { kept: Vec::new() };
                self.set_out(target, everything, Vec::new(), Asked::Command(reply));
                Ok(())
            }
            Err(error) => {
                let told = self.tell(Err(error), self.request_retry()).await.map(|()| Sent::Command);
                respond(reply, told)
            }
        }
    }

    /// Sets out for another task. The actor goes on: messages wait in the queue until it arrived.
    pub(super) fn set_out(&mut self, target: Target, extent: Extent, overwrite: Vec<String>, asked: Asked) {
        let (machine, store) = (self.runtime.services.time.clone(), self.runtime.base.store.clone());
        let way = Way::new(machine, store, self.id(), self.records.loose());
        let report = self.reporter();
        let job = tokio::spawn(async move {
            let outcome = way.go(target, extent, overwrite).await;
            report.send(Report::Arrived(Arrival { outcome, asked }));
        });
        self.restoring.begin(job);
    }

    /// Files are as at another task, or could not be: the conversation follows, and whoever asked is told.
    pub(super) async fn arrived(&mut self, Arrival { outcome, asked }: Arrival) -> Result<(), ApiError> {
        let then = self.restoring.end();
        let went = match outcome {
            Ok((report, conversation)) => self.follow(conversation).await.map(|()| report),
            Err(error) => Err(error),
        };
        match asked {
            Asked::Client(reply) => respond(reply, went)?,
            Asked::Command(reply) => {
                let told = self.tell(went, StoreRetry::Never).await.map(|()| Sent::Command);
                respond(reply, told)?;
            }
            Asked::Tool => self.tell(went, StoreRetry::Never).await?,
        }
        match then {
            Then::WhatWaits if !self.queue.is_empty() && self.workspace.has_folder() => {
                self.begin_with_what_waits(Began::ByThePerson, StoreRetry::Never).await
            }
            Then::WhatWaits => self.wake(StoreRetry::Never).await,
            Then::Rest => Ok(()),
        }
    }

    async fn follow(&mut self, conversation: Option<Conversation>) -> Result<(), ApiError> {
        match conversation {
            Some(conversation) => self.show_conversation(&conversation).await,
            None => self.finish(Step::once().with(Event::TasksChanged)).await,
        }
    }

    async fn tell(
        &mut self,
        went: Result<RestoreReport, ApiError>,
        retry: StoreRetry,
    ) -> Result<(), ApiError> {
        let note = match went {
            Ok(report) if report.kept.is_empty() => {
                ApiError::new("time.went").arg("task", report.active).arg("changed", report.changed)
            }
            Ok(report) => ApiError::new("time.went_but_kept")
                .arg("task", report.active)
                .arg("changed", report.changed)
                .list("kept", report.kept),
            Err(error) if error.is_of_the_store() => return Err(error),
            Err(error) => error,
        };
        self.finish(Step::retried(retry).with(Event::CommandAnswered { note })).await
    }

    /// After a crash: files that went to a task take the conversation with them.
    pub(super) async fn end_journey(&mut self) -> Result<(), ApiError> {
        let session = self.id();
        let read = self.runtime.base.store.read(move |reader| reader.journey(session)).await;
        let Some(Journey { task, conversation, kept }) = read? else { return Ok(()) };
        let tree = self.tree().await?;
        if tree.active == task {
            return self.show_conversation(&Conversation::new(conversation, tree, kept)).await;
        }
        self.runtime.base.store.write(move |tx| tx.drop_journey(session)).await.map_err(ApiError::from)
    }

    async fn tree(&self) -> Result<TaskTree, ApiError> {
        let (machine, session) = (self.runtime.services.time.clone(), self.id());
        beside(move || machine.tree(session)).await
    }

    /// The model sees the turns on the way to a task, and those that asked for it.
    async fn show_conversation(&mut self, shown: &Conversation) -> Result<(), ApiError> {
        // What goes on beside the conversation was about another one.
        let mut step = Step::once();
        self.end_side_call(&mut step);
        self.compaction.cancel();
        self.finish(step).await?;
        let session = self.id();
        let undone = shown.undone();
        let without: HashSet<TurnId> = undone.iter().copied().collect();
        let read =
            self.runtime.base.store.read(move |reader| reader.conversation_without(session, &without)).await;
        let messages = read?;
        let mut step = Step::once();
        step.change(Change::NewContext(messages));
        step.event(Event::WentTo { task: shown.task(), undone });
        self.finish(step).await?;
        let read = self.runtime.base.store.read(move |reader| reader.context_of(session)).await;
        self.conversation.replace(read?);
        let tokens = self.prefix.tokens() + self.conversation.tokens();
        self.compaction.replaced(tokens, self.conversation.len());
        self.finish(Step::once().with(Event::ContextCompacted { tokens })).await
    }

    /// Files must not change under a turn that works with them.
    fn must_rest(&self) -> Result<(), ApiError> {
        self.must_be_own()?;
        if self.turn.is_running() {
            Err(ApiError::new("session.running"))
        } else if self.restoring.is_under_way() {
            Err(ApiError::new("time.going"))
        } else if self.records.is_watching() {
            // What is put back would be taken for its work.
            Err(ApiError::new("time.commands_run"))
        } else {
            Ok(())
        }
    }
}
