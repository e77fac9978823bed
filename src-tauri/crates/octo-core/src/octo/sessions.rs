//! Requests about sessions.

use super::{Octo, json};
use crate::{
    attachments,
    session::UserMessage,
    sessions::{Kind, unknown_session},
};
use octo_protocol::{
    Acknowledgement, ApiError, Block, Mode, Profile, SendOutcome, SessionFolders, SessionHits, SessionId,
    SessionInfo, SessionList, SessionPicture, SessionRequest,
};
use octo_tools::SkillTask;
use octo_workspace::session_folder;
use serde_json::Value;
use std::path::Path;

impl Octo {
    pub(super) async fn sessions(&self, request: SessionRequest) -> Result<Value, ApiError> {
        let store = &self.base.store;
        match request {
            SessionRequest::ListSessions(call) => {
                let limit = call.limit.min(200);
                let page = store
                    .read(move |reader| reader.sessions_where(&call.query, &call.filter, call.offset, limit));
                let page = page.await;
                let (sessions, total) = page?;
                json(SessionList { sessions, total })
            }
            SessionRequest::ListFolders(_) => {
                let folders = store.read(|reader| reader.session_folders()).await?;
                json(SessionFolders { folders })
            }
            SessionRequest::SearchSessions(call) => {
                let limit = call.limit.min(100);
                let found = store.read(move |reader| reader.search(&call.query, &call.filter, limit)).await;
                json(SessionHits { hits: found? })
            }
            SessionRequest::StartSession(call) => {
                self.services.browser.person_acted();
                let model = self.sessions.model_or_default(call.model).await?;
                let folder = session_folder(Path::new(&call.folder))?;
                self.settings.remember_folder(&folder).await?;
                let source = self.base.config.source;
                let kind = Kind::Model { model, effort: call.effort, title: call.title, source };
                json(self.sessions.start(folder, call.profile, call.mode, kind, call.blocks).await?)
            }
            SessionRequest::StartDemo(_) => json(self.start_demo().await?),
            SessionRequest::OpenSession(call) => json(self.topics.session(call.session).await?),
            SessionRequest::Messages(call) => {
                let limit = call.limit.min(500);
                let page =
                    store.read(move |reader| reader.page(call.session, Some(call.before), limit)).await;
                json(page?)
            }
            SessionRequest::Send(call) => {
                json(self.sessions.send(call.session, UserMessage::in_window(call.blocks)).await?)
            }
            SessionRequest::Stop(call) => done(self.sessions.stop(call.session).await),
            SessionRequest::StopCommand(call) => {
                done(self.sessions.stop_command(call.session, call.handle).await)
            }
            SessionRequest::RetryTurn(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::AnswerQuestion(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::AnswerBudget(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::SetEffort(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::EstimateSwitch(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::EditQueued(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::RemoveQueued(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::SetMode(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::SetModel(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::SetFolder(call) => json(self.sessions.call(call.session, call).await?),
            SessionRequest::GetPicture(call) => json(self.picture(call.session, call.path).await?),
            SessionRequest::SetDraft(call) => {
                let kept = store.write(move |tx| tx.set_draft(call.session, &call.draft)).await;
                done(kept.map_err(ApiError::from))
            }
            SessionRequest::SetNewDraft(call) => {
                done(store.write(move |tx| tx.set_new_draft(&call.draft)).await.map_err(ApiError::from))
            }
            SessionRequest::GetDraft(call) => {
                json(store.read(move |reader| reader.draft_of(call.session)).await?)
            }
            SessionRequest::GetNewDraft(_) => json(store.read(|reader| reader.new_draft()).await?),
            SessionRequest::RenameSession(call) => {
                done(self.sessions.rename(call.session, &call.title).await)
            }
            SessionRequest::PinSession(call) => done(self.sessions.pin(call.session, call.pinned).await),
            SessionRequest::MarkRead(call) => done(self.sessions.mark_read(call.session).await),
            SessionRequest::DeleteSession(call) => done(self.sessions.delete(call.session).await),
            SessionRequest::RestoreSession(call) => {
                let restored = store.write(move |tx| tx.undelete(call.session)).await;
                json(restored?)
            }
        }
    }

    /// Begins a turn whose first step is a skill: the person's text, then the skill, then the model's answer to
    /// its result. For a command of the person that names a skill.
    ///
    /// # Errors
    /// `session.running` while a turn is running. The model is informed if the skill does not exist.
    pub async fn invoke_skill(
        &self,
        session: SessionId,
        typed: Vec<Block>,
        wish: SkillTask,
    ) -> Result<SendOutcome, ApiError> {
        self.sessions.invoke_skill(session, typed, wish).await
    }

    /// A picture that an answer names, from its session's folder.
    async fn picture(&self, session: SessionId, path: String) -> Result<SessionPicture, ApiError> {
        let info = self.base.store.read(move |reader| reader.session(session)).await?;
        let info = info.ok_or_else(unknown_session)?;
        attachments::picture(info.folder, path).await
    }

    async fn start_demo(&self) -> Result<SessionInfo, ApiError> {
        let folder = self.base.config.home.join("demo").join(SessionId::new().to_string());
        octo_workspace::private_folder(&folder).map_err(|error| {
            ApiError::new("start.home_unwritable").arg("home", self.base.config.home.display()).detail(error)
        })?;
        let language = self.base.store.read(|reader| reader.settings()).await?.language;
        let words =
            octo_protocol::words::say(language, "demo.first_message", &std::collections::BTreeMap::new());
        let blocks = vec![Block::Text { text: words }];
        self.sessions.start(session_folder(&folder)?, Profile::GENERAL, Mode::Ask, Kind::Demo, blocks).await
    }
}

fn done(outcome: Result<(), ApiError>) -> Result<Value, ApiError> {
    outcome?;
    json(Acknowledgement {})
}
