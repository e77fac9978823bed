//! What is done with sessions by their id: they are opened, begun, sent to, stopped and changed, whether their actor runs
//! or not.

mod closed;
mod interrupted;
mod neighbours;
mod start;

pub(crate) use start::Kind;

use crate::{
    library::LOOK,
    session::{Ask, Runtime, SessionHandle, UserMessage, resumes_at_start},
    slash::{self, Parsed},
};
use octo_protocol::{ApiError, Block, ErrorCode, ModelId, Sent, SessionId};
use octo_tools::SkillTask;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::sync::Mutex;

/// Minimum time between two searches for idle sessions.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The sessions of a home. Clones are one.
#[derive(Clone)]
pub(crate) struct Sessions {
    runtime: Arc<Runtime>,
    /// Locked while interrupted work is completed in a session that is not open.
    mending: Arc<Mutex<()>>,
}

impl Sessions {
    pub(crate) fn new(runtime: Arc<Runtime>) -> Self {
        Self { runtime, mending: Arc::default() }
    }

    /// What their actors run on.
    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// The session's actor, started if it does not run. None is started once the application ends.
    pub(crate) async fn open(&self, id: SessionId) -> Result<SessionHandle, ApiError> {
        self.runtime.open_session(id).await
    }

    /// Resumes the turns that a crash or a shutdown of a process of this kind left open. A turn that cannot be
    /// resumed is left until its session is opened.
    pub(crate) async fn resume(&self) -> Result<(), ApiError> {
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
    pub(crate) fn tend_idle(&self) {
        let (weak, base) = (Arc::downgrade(&self.runtime), &self.runtime.base);
        let (closing, idle_after) = (base.closing.clone(), base.config.idle_after);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = closing.cancelled() => return,
                    () = tokio::time::sleep(idle_after.max(BETWEEN_LOOKS)) => {}
                }
                let Some(runtime) = weak.upgrade() else { return };
                runtime.open.let_idle_rest(idle_after).await;
            }
        });
    }

    /// Ends all actors, and waits until what is being ended in sessions that are not open is: it keeps their lease.
    pub(crate) async fn shut_down(&self) {
        self.runtime.open.shut_down().await;
        let _mended = self.mending.lock().await;
    }

    /// The model of this id, or the one a session begins with that names none.
    ///
    /// # Errors
    /// `model.unknown`, `model.none`.
    pub(crate) async fn model_or_default(&self, wanted: Option<ModelId>) -> Result<ModelId, ApiError> {
        let settings = self.runtime.base.store.read(|reader| reader.settings()).await?;
        let entries = self.runtime.services.models.entries();
        let known = |id: &ModelId| entries.iter().any(|entry| entry.id == *id);
        match wanted {
            Some(id) if known(&id) => Ok(id),
            Some(_) => Err(ApiError::new("model.unknown").code(ErrorCode::ModelNeeded)),
            None => settings
                .default_model
                .filter(known)
                .or_else(|| entries.first().map(|entry| entry.id))
                .ok_or_else(|| ApiError::new("model.none").code(ErrorCode::ModelNeeded)),
        }
    }

    /// Sends the person's text: a message, a built-in command, or a skill called by a slash command.
    pub(crate) async fn send(&self, session: SessionId, said: UserMessage) -> Result<Sent, ApiError> {
        let handle = self.open(session).await?;
        if said.is_from_window() {
            self.runtime.services.browser.person_acted();
        }
        let place = handle.queue().await;
        let info = self.runtime.base.store.read(move |reader| reader.session(session)).await;
        let info = info?.ok_or_else(unknown_session)?;
        let looked = self.runtime.services.library.shelf(Some(PathBuf::from(&info.folder)));
        let shelf = tokio::time::timeout(LOOK, looked).await.ok().and_then(Result::ok).map(Arc::new);
        if let Some(shelf) = &shelf {
            handle.shelve(Arc::clone(shelf));
        }
        let Parsed::Unknown { name, near } = slash::parse(said.blocks()) else {
            return handle.ask_from(place, |reply| Ask::Send(said, reply)).await;
        };
        let Some(shelf) = shelf else {
            return Err(ApiError::new("skills.unreadable").arg("path", &info.folder));
        };
        match shelf.called(said.blocks(), &name, &near, &info.profile) {
            Ok(wish) => {
                let typed = said.sendable()?;
                handle.ask_from(place, |reply| Ask::Invoke(typed, wish, reply)).await
            }
            // Answered here: a typing error is not worth a model call.
            Err(why) => handle.ask_from(place, |reply| Ask::Note(why, reply)).await,
        }
    }

    /// Begins a turn in which a skill is the first thing that happens; see [`crate::Octo::invoke_skill`].
    pub(crate) async fn invoke_skill(
        &self,
        session: SessionId,
        typed: Vec<Block>,
        wish: SkillTask,
    ) -> Result<Sent, ApiError> {
        let typed = UserMessage::in_window(typed).sendable()?;
        self.runtime.services.browser.person_acted();
        self.open(session).await?.ask(|reply| Ask::Invoke(typed, wish, reply)).await
    }
}

pub(crate) fn unknown_session() -> ApiError {
    ApiError::new("session.unknown").code(ErrorCode::UnknownSession)
}
