//! One step of a session: the changes of one transaction, and the jobs that start once they are stored.

use super::state::Session;
use octo_protocol::{
    ApiError, Event, MessageId, Rule, SessionId, SessionStatus, Source, StoredTopic, ToolResult, TroubleStage,
};
use octo_store::{StoreError, Tx};
use std::{sync::Arc, time::Duration};

/// First delay before a failed store operation is retried; it doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Maximum delay: short enough for a person who has just freed disk space.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The changes of one step, which become one transaction, and the jobs that start after it.
#[derive(Default)]
pub(super) struct Step {
    changes: Vec<Change>,
    jobs: Vec<Job>,
    retry: StoreRetry,
}

/// A job to start once a step is stored.
type Job = Box<dyn FnOnce(&mut Session) + Send>;

/// Whether a failed store operation is retried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StoreRetry {
    /// It is retried until there is space: it belongs to running work, which was paid for.
    #[default]
    UntilStored,
    /// It fails at once: nothing is lost, and the requesting client gets the error.
    Never,
}

/// A change to store.
#[expect(clippy::large_enum_variant, reason = "a step has a handful of them, nearly all events")]
pub(crate) enum Change {
    /// An event of the session, projected onto the tables by the store.
    Event(Event),
    /// Makes the message part of the model's context.
    IntoContext(MessageId),
    /// Replaces the model's context with these messages.
    NewContext(Vec<MessageId>),
    /// Removes the message from the model's context.
    OutOfContext(MessageId),
    /// A call's result, before the message that carries it.
    Result(ToolResult),
    /// A permanent permission, for the folder or for this session.
    Rule { scope: String, rule: Rule },
    /// The inbound message of a chat service is handled.
    InboundHandled(i64),
}

impl Step {
    /// Creates an empty step that is stored at once or not at all.
    pub(super) fn once() -> Self {
        Self::with_retry(StoreRetry::Never)
    }

    /// Creates an empty step with this retry behaviour.
    pub(super) fn with_retry(retry: StoreRetry) -> Self {
        Self { retry, ..Self::default() }
    }

    /// Returns the step with an event added.
    pub(super) fn with(mut self, event: Event) -> Self {
        self.event(event);
        self
    }

    /// Adds an event.
    pub(super) fn event(&mut self, event: Event) {
        self.change(Change::Event(event));
    }

    /// Adds a change.
    pub(super) fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// Adds changes.
    pub(super) fn extend(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.changes.extend(changes);
    }

    /// Adds a job.
    pub(super) fn job(&mut self, job: impl FnOnce(&mut Session) + Send + 'static) {
        self.jobs.push(Box::new(job));
    }
}

impl Session {
    /// Creates an empty step for a client's request: while a turn is running, it is stored like the work of
    /// that turn.
    pub(super) fn request_step(&self) -> Step {
        Step::with_retry(self.request_retry())
    }

    /// Returns the retry behaviour for a client's request.
    pub(super) fn request_retry(&self) -> StoreRetry {
        if self.turn.is_running() { StoreRetry::UntilStored } else { StoreRetry::Never }
    }

    /// Stores a step, then starts its jobs.
    pub(super) async fn finish(&mut self, step: Step) -> Result<(), ApiError> {
        let Step { changes, jobs, retry } = step;
        self.commit(changes, retry).await?;
        for job in jobs {
            job(self);
        }
        Ok(())
    }

    /// Stores the changes of one step in one transaction, with the session's head if its status changed.
    async fn commit(&mut self, mut changes: Vec<Change>, retry: StoreRetry) -> Result<(), ApiError> {
        let status = self.status();
        self.keep_permit(status);
        if status != self.info.status {
            self.info.status = status;
            changes.push(self.head());
        }
        if changes.is_empty() {
            self.publish_activity();
            return Ok(());
        }
        self.store(Arc::new(changes), retry).await?;
        self.tell_parent();
        self.publish_activity();
        if !self.turn.is_running() {
            self.observers.notify_idle();
        }
        Ok(())
    }

    fn status(&self) -> SessionStatus {
        match self.turn.get() {
            Some(turn) if turn.waits_for_person() || self.budget.asks() => SessionStatus::Waiting,
            Some(_) => SessionStatus::Running,
            None if self.info.status == SessionStatus::Failed => SessionStatus::Failed,
            None => SessionStatus::Idle,
        }
    }

    /// Stores changes. While the disk is full or another process holds the database, a step that says so is
    /// retried for as long as necessary. Any other step fails at once.
    async fn store(&mut self, changes: Arc<Vec<Change>>, retry: StoreRetry) -> Result<(), ApiError> {
        let id = self.id();
        let mut delay = FIRST_WAIT;
        loop {
            let attempt = Arc::clone(&changes);
            let error = match self.runtime.base.store.write(move |tx| write(tx, id, &attempt)).await {
                Ok(()) if delay > FIRST_WAIT => {
                    self.runtime.troubles.clear(id);
                    return Ok(());
                }
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let may_pass = matches!(error, StoreError::Full | StoreError::Busy);
            let error = ApiError::from(error);
            if !may_pass || retry == StoreRetry::Never {
                return Err(error);
            }
            if delay == FIRST_WAIT {
                tracing::warn!(session = %id, %error, "session waits until it can be stored");
            }
            self.runtime.troubles.begin(id, error.clone(), TroubleStage::Waiting);
            let is_cancelled = self.turn.is_cancelled();
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = self.actor.stop().closing() => return Err(error),
                // The stop is taken once the changes are stored; until then no other action may follow.
                () = self.actor.stop().wait_requested(), if !is_cancelled => self.cancel_turn(),
            }
            delay = (delay * 2).min(LONGEST_WAIT);
        }
    }
}

fn write(tx: &mut Tx<'_>, id: SessionId, changes: &[Change]) -> Result<(), StoreError> {
    for change in changes {
        match change {
            Change::Event(event) => {
                tx.emit(StoredTopic::Session { id }, event.clone())?;
                if let Event::SessionChanged { info } = event
                    && info.source != Source::SubAgent
                {
                    tx.emit(StoredTopic::Sessions, Event::SessionListed { info: info.clone() })?;
                }
            }
            Change::IntoContext(message) => tx.append_context(id, *message)?,
            Change::NewContext(messages) => tx.new_generation(id, messages)?,
            Change::OutOfContext(message) => tx.drop_from_context(id, *message)?,
            Change::Result(result) => tx.set_call(result.call, result)?,
            Change::Rule { scope, rule } => tx.add_rule(scope, rule)?,
            Change::InboundHandled(message) => tx.remove_inbound_message(*message)?,
        }
    }
    Ok(())
}
