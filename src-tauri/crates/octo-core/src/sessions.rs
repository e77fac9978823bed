//! Operations on sessions by id: opening, starting, sending to, stopping and changing them, whether or not
//! their actor is running.

mod closed;
mod interrupted;
mod other_processes;
mod requests;
mod snapshot;
mod start;
mod time;
mod transcripts;

pub(crate) use start::NewSessionKind;
pub(crate) use time::KEPT_CONTENT_LIMIT;

use crate::{
    library::SEARCH_TIMEOUT,
    session::{ActorRequest, Runtime, SessionCall, SessionHandle, Submission, UserMessage, resumes_at_start},
    settings::LiveSettings,
    slash::{self, ParsedMessage},
};
use octo_protocol::{ApiError, Block, ErrorCode, ModelId, SendOutcome, SessionId};
use octo_tools::SkillTask;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::Mutex;

/// Minimum time between two searches for idle sessions.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The sessions of a home. Clones share them.
#[derive(Clone)]
pub(crate) struct Sessions {
    runtime: Arc<Runtime>,
    settings: LiveSettings,
    /// Locked while interrupted work is completed in a session that is not open.
    recovery_lock: Arc<Mutex<()>>,
}

impl Sessions {
    pub(crate) fn new(runtime: Arc<Runtime>, settings: LiveSettings) -> Self {
        Self { runtime, settings, recovery_lock: Arc::default() }
    }

    /// Returns the environment of the session actors.
    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Returns the session's actor and starts it if necessary. Starts none once the application is ending.
    pub(crate) async fn open(&self, id: SessionId) -> Result<SessionHandle, ApiError> {
        self.runtime.open_session(id).await
    }

    /// Has the session's actor carry out a request.
    pub(crate) async fn call<Reply: Send + 'static>(
        &self,
        id: SessionId,
        call: impl SessionCall<Reply>,
    ) -> Result<Reply, ApiError> {
        self.open(id).await?.call(call).await
    }

    /// Resumes the turns that a crash or a shutdown of a process of this kind left open. A turn that cannot be
    /// resumed is left until its session is opened.
    pub(crate) async fn resume_interrupted(&self) -> Result<(), ApiError> {
        let base = &self.runtime.base;
        for source in resumes_at_start(base.config.source) {
            let source = *source;
            let unfinished = base.store.read(move |reader| reader.unfinished_sessions(source));
            for session in unfinished.await? {
                if let Err(error) = self.open(session).await {
                    tracing::warn!(%session, %error, "an open turn is not gone on with");
                }
            }
        }
        Ok(())
    }

    /// Lets idle sessions rest, for as long as the application runs.
    pub(crate) fn close_idle(&self) {
        let (weak, base) = (Arc::downgrade(&self.runtime), &self.runtime.base);
        let (closing, idle_after) = (base.shutdown.clone(), base.config.idle_after);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = tokio::time::sleep(idle_after.max(IDLE_CHECK_INTERVAL)) => {}
                }
                let Some(runtime) = weak.upgrade() else { return };
                runtime.open.close_idle(idle_after).await;
            }
        });
    }

    /// Ends all actors, and waits for work that is being completed in sessions that are not open, because it
    /// uses their lease.
    pub(crate) async fn shut_down(&self) {
        self.runtime.open.shut_down().await;
        let _mended = self.recovery_lock.lock().await;
    }

    /// Returns the model with this id, or the default model of a new session.
    ///
    /// # Errors
    /// `model.unknown`, `model.none`.
    pub(crate) async fn model_or_default(&self, model: Option<ModelId>) -> Result<ModelId, ApiError> {
        let settings = self.runtime.base.store.read(|reader| reader.settings()).await?;
        let entries = self.runtime.services.models.entries();
        let is_known = |id: &ModelId| entries.iter().any(|entry| entry.id == *id);
        match model {
            Some(id) if is_known(&id) => Ok(id),
            Some(_) => Err(ApiError::new("model.unknown").code(ErrorCode::ModelNeeded)),
            None => settings
                .default_model
                .filter(is_known)
                .or_else(|| entries.first().map(|entry| entry.id))
                .ok_or_else(|| ApiError::new("model.none").code(ErrorCode::ModelNeeded)),
        }
    }

    /// Sends the person's text: a message, a built-in command, or a skill called by a slash command.
    pub(crate) async fn send(
        &self,
        session: SessionId,
        message: UserMessage,
    ) -> Result<SendOutcome, ApiError> {
        let handle = self.open(session).await?;
        if message.is_from_window() {
            self.runtime.services.browser.person_acted();
        }
        let guard = handle.queue().await;
        let info = self.runtime.base.store.read(move |reader| reader.session(session)).await;
        let info = info?.ok_or_else(unknown_session)?;
        let result = self.runtime.services.library.skill_set(Some(PathBuf::from(&info.folder)));
        let skill_set =
            tokio::time::timeout(SEARCH_TIMEOUT, result).await.ok().and_then(Result::ok).map(Arc::new);
        if let Some(skill_set) = &skill_set {
            handle.set_skills(Arc::clone(skill_set));
        }
        let message = message.validate()?;
        let submission = match slash::parse(message.blocks()) {
            ParsedMessage::Message => Submission::Message(message),
            ParsedMessage::Command(command) => Submission::Command(message, command),
            ParsedMessage::Misused { name } => Submission::MisusedCommand(message, name),
            ParsedMessage::Unknown { name, similar } => {
                let skill_set =
                    skill_set.ok_or_else(|| ApiError::new("skills.unreadable").arg("path", &info.folder))?;
                match skill_set.skill_for_command(message.blocks(), &name, &similar, &info.profile) {
                    Ok(skill_task) => Submission::Skill(message, skill_task),
                    // Answered here: a typing error is not worth a model call.
                    Err(error) => Submission::NoCommand(error),
                }
            }
        };
        handle.request_from(guard, |reply| ActorRequest::Send(submission, reply)).await
    }

    /// Begins a turn whose first step is a skill; see [`crate::Octo::invoke_skill`].
    pub(crate) async fn invoke_skill(
        &self,
        session: SessionId,
        blocks: Vec<Block>,
        skill_task: SkillTask,
    ) -> Result<SendOutcome, ApiError> {
        let message = UserMessage::in_window(blocks).validate()?;
        self.runtime.services.browser.person_acted();
        let submission = Submission::Skill(message, skill_task);
        self.open(session).await?.request(|reply| ActorRequest::Send(submission, reply)).await
    }
}

pub(crate) fn unknown_session() -> ApiError {
    ApiError::new("session.unknown").code(ErrorCode::UnknownSession)
}
