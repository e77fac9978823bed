//! Requests about sessions.

use super::{Octo, SNAPSHOT_MESSAGES, json, schedule};
use crate::{
    clock::now,
    hooks::Moment,
    naming,
    prompt::Surroundings,
    session::{Ask, AskedCall, Said, Via},
    shared::LOOK,
    slash::{self, Parsed},
};
use octo_protocol::{
    ApiError, Block, Done, Effort, ErrorCode, Event, Message, MessageId, Meta, Mode, ModelId, NoticeKind,
    Origin, Profile, Role, Sent, SessionFolders, SessionHits, SessionId, SessionInfo, SessionList,
    SessionRequest, SessionSnapshot, SessionStatus, Source, Topic, TroubleStage, TurnId, TurnView, Usage,
};
use octo_store::{NewSession, RunRow, StoreError};
use octo_tools::SkillWish;
use octo_workspace::session_folder;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

impl Octo {
    pub(super) async fn sessions(&self, request: SessionRequest) -> Result<Value, ApiError> {
        let store = &self.shared.store;
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
                self.shared.browser.person_acted();
                let model = self.model_or_default(call.model).await?;
                let folder = session_folder(Path::new(&call.folder))?;
                self.remember_folder(&folder).await?;
                let source = self.shared.config.source;
                let kind = Kind::Model { model, effort: call.effort, title: call.title, source };
                json(self.start_session(folder, call.profile, call.mode, kind, call.blocks).await?)
            }
            SessionRequest::StartDemo(_) => json(self.start_demo().await?),
            SessionRequest::OpenSession(call) => json(self.session_snapshot(call.session).await?),
            SessionRequest::Messages(call) => {
                let limit = call.limit.min(500);
                let page =
                    store.read(move |reader| reader.page(call.session, Some(call.before), limit)).await;
                json(page?)
            }
            SessionRequest::Send(call) => json(self.send(call.session, Said::in_window(call.blocks)).await?),
            SessionRequest::Stop(call) => done(self.stop(call.session).await),
            SessionRequest::StopCommand(call) => done(self.stop_command(call.session, call.handle).await),
            SessionRequest::RetryTurn(call) => done(self.session(call.session).await?.ask(Ask::Retry).await),
            SessionRequest::AnswerQuestion(call) => done(
                self.session(call.session)
                    .await?
                    .ask(|reply| Ask::Answer(call.question, call.answer, reply))
                    .await,
            ),
            SessionRequest::AnswerBudget(call) => {
                let session = self.session(call.session).await?;
                done(session.ask(|reply| Ask::AnswerBudget(call.answer, reply)).await)
            }
            SessionRequest::SetEffort(call) => {
                let session = self.session(call.session).await?;
                done(session.ask(|reply| Ask::SetEffort(call.effort, reply)).await)
            }
            SessionRequest::EstimateSwitch(call) => {
                let session = self.session(call.session).await?;
                json(session.ask(|reply| Ask::EstimateSwitch(call.model, reply)).await?)
            }
            SessionRequest::EditQueued(call) => done(
                self.session(call.session)
                    .await?
                    .ask(|reply| Ask::EditQueued(call.queued, call.blocks, reply))
                    .await,
            ),
            SessionRequest::RemoveQueued(call) => done(
                self.session(call.session).await?.ask(|reply| Ask::RemoveQueued(call.queued, reply)).await,
            ),
            SessionRequest::SetMode(call) => {
                done(self.session(call.session).await?.ask(|reply| Ask::SetMode(call.mode, reply)).await)
            }
            SessionRequest::SetModel(call) => {
                done(self.session(call.session).await?.ask(|reply| Ask::SetModel(call.model, reply)).await)
            }
            SessionRequest::SetFolder(call) => {
                done(self.session(call.session).await?.ask(|reply| Ask::SetFolder(call.folder, reply)).await)
            }
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
            SessionRequest::RenameSession(call) => done(self.rename(call.session, &call.title).await),
            SessionRequest::PinSession(call) => done(self.pin(call.session, call.pinned).await),
            SessionRequest::MarkRead(call) => done(self.mark_read(call.session).await),
            SessionRequest::DeleteSession(call) => done(self.delete(call.session).await),
            SessionRequest::RestoreSession(call) => {
                let restored = store.write(move |tx| tx.undelete(call.session)).await;
                json(restored?)
            }
        }
    }

    /// Sends what the person typed: a message, a built-in command, or a skill by its slash.
    pub(super) async fn send(&self, session: SessionId, said: Said) -> Result<Sent, ApiError> {
        let handle = self.session(session).await?;
        if said.via.is_none() {
            self.shared.browser.person_acted();
        }
        let place = handle.queue().await;
        let info = self.shared.store.read(move |reader| reader.session(session)).await;
        let info = info?.ok_or_else(unknown_session)?;
        let looked = self.shared.library.shelf(Some(PathBuf::from(&info.folder)));
        let shelf = tokio::time::timeout(LOOK, looked).await.ok().and_then(Result::ok).map(Arc::new);
        if let Some(shelf) = &shelf {
            handle.shelve(Arc::clone(shelf));
        }
        let Parsed::Unknown { name, near } = slash::parse(&said.blocks) else {
            return handle.ask_from(place, |reply| Ask::Send(said, reply)).await;
        };
        let Some(shelf) = shelf else {
            return Err(ApiError::new("skills.unreadable").arg("path", &info.folder));
        };
        match shelf.called(&said.blocks, &name, &near, &info.profile) {
            Ok(wish) => {
                let typed = Said { blocks: crate::session::sendable(said.blocks)?, ..said };
                handle.ask_from(place, |reply| Ask::Invoke(typed, wish, reply)).await
            }
            // Answered here: no model is asked about a slip of the pen.
            Err(why) => handle.ask_from(place, |reply| Ask::Note(why, reply)).await,
        }
    }

    /// Begins a turn in which a skill is the first thing that happens: what the person typed, then the skill, then the
    /// model's answer to what came of it. For a command of the person's that names a skill.
    ///
    /// # Errors
    /// `session.running` while a turn runs. A skill that is not there is told to the model.
    pub async fn invoke_skill(
        &self,
        session: SessionId,
        typed: Vec<Block>,
        wish: SkillWish,
    ) -> Result<Sent, ApiError> {
        let typed = Said::in_window(crate::session::sendable(typed)?);
        self.shared.browser.person_acted();
        self.session(session).await?.ask(|reply| Ask::Invoke(typed, wish, reply)).await
    }

    /// The session as of now, with what streams.
    pub(super) async fn session_snapshot(&self, id: SessionId) -> Result<SessionSnapshot, ApiError> {
        // What streams is looked at first: a block that ends in between is then in the page as well, and
        // is left out below; the other way round it could be in neither.
        let live = self.open.lock().await.get(&id).map(|handle| handle.live().clone());
        let streaming = live.map(|live| live.now()).unwrap_or_default();
        let read = self.shared.store.read(move |reader| reader.snapshot(id, SNAPSHOT_MESSAGES)).await;
        let mut snapshot = read?.ok_or_else(unknown_session)?;
        snapshot.streaming = streaming
            .into_iter()
            .filter(|stream| {
                matches!(stream.kind, octo_protocol::StreamKind::Output { .. })
                    || snapshot.page.messages.iter().any(|message| {
                        message.id == stream.message
                            && message.meta.end.is_none()
                            && message.blocks.len() <= stream.block as usize
                    })
            })
            .collect();
        Ok(snapshot)
    }

    pub(super) async fn model_or_default(&self, wanted: Option<ModelId>) -> Result<ModelId, ApiError> {
        let settings = self.shared.store.read(|reader| reader.settings()).await?;
        let entries = self.shared.models.entries();
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

    async fn start_demo(&self) -> Result<SessionInfo, ApiError> {
        let folder = self.shared.config.home.join("demo").join(SessionId::new().to_string());
        octo_workspace::private_folder(&folder).map_err(|error| {
            ApiError::new("start.home_unwritable")
                .arg("home", self.shared.config.home.display())
                .detail(error)
        })?;
        let language = self.shared.store.read(|reader| reader.settings()).await?.language;
        let words =
            octo_protocol::words::say(language, "demo.first_message", &std::collections::BTreeMap::new());
        let blocks = vec![Block::Text { text: words }];
        self.start_session(session_folder(&folder)?, Profile::GENERAL, Mode::Ask, Kind::Demo, blocks).await
    }

    /// A new session with its first message: one transaction. Its actor then goes on with the begun turn
    /// exactly as after a restart.
    pub(super) async fn start_session(
        &self,
        folder: PathBuf,
        profile: Profile,
        mode: Mode,
        kind: Kind,
        blocks: Vec<Block>,
    ) -> Result<SessionInfo, ApiError> {
        let blocks = crate::session::sendable(blocks)?;
        let shelf = self.shared.library.shelf(Some(folder.clone())).await?;
        let mut wish = None;
        match slash::parse(&blocks) {
            Parsed::Message => {}
            Parsed::Unknown { name, near } => wish = Some(shelf.called(&blocks, &name, &near, &profile)?),
            Parsed::Command(_) | Parsed::Misused { .. } => {
                return Err(ApiError::new("command.needs_session"));
            }
        }
        let (mut id, mut chat) = (SessionId::new(), None);
        let (model, effort, source, title, run) = match kind {
            Kind::Model { model, effort, title, source } => (Some(model), effort, source, title, None),
            Kind::Demo => (None, None, Source::Demo, None, None),
            Kind::Task { model, run } => {
                (Some(model), None, Source::Task, Some(run.run.name.clone()), Some(run))
            }
            Kind::Chat { id: wanted, model, chat: begun_in, via } => {
                id = wanted;
                chat = Some((begun_in, via));
                (Some(model), None, Source::Chat, None, None)
            }
        };
        let title = match title.filter(|title| !title.trim().is_empty()) {
            Some(title) => naming::given_title(&title)?,
            None => naming::title_from(&blocks).unwrap_or_default(),
        };
        let system = self.shared.system_prompt(profile.clone(), folder.clone(), &shelf).await?;
        let at = now();
        let folder = folder.display().to_string();
        let info = SessionInfo {
            id,
            title,
            folder: folder.clone(),
            profile,
            mode,
            model,
            effort,
            source,
            pinned: false,
            status: SessionStatus::Running,
            created_at: at,
            updated_at: at,
            usage: Usage::default(),
            read_at: None,
        };
        let vendor = model.and_then(|id| self.shared.models.vendor_name(id));
        let turn = TurnView {
            id: TurnId::new(),
            started_at: at,
            ended_at: None,
            end: None,
            usage: Usage::default(),
            undone: false,
        };
        let mut all = vec![Surroundings::now(vendor, folder.clone()).notice()];
        let facts = serde_json::Map::from_iter([("session".to_owned(), info.id.to_string().into())]);
        let heard = self.shared.hooks(PathBuf::from(folder)).hear(Moment::SessionStart, None, facts).await;
        all.extend(heard.context.map(|text| Block::Notice { kind: NoticeKind::Hook, text }));
        all.extend(blocks);
        let via = chat.map(|(_, via)| via.service);
        let meta = Meta { origin: Origin::Person, at, model: None, usage: None, end: None, via };
        let message = Message { id: MessageId::new(), turn: turn.id, role: Role::User, blocks: all, meta };
        // What a slash asks for is the first thing that happens, before any model is asked.
        let call = wish.map(|wish| crate::session::asked_call(turn.id, &wish));
        let new = NewSession { info: info.clone(), system, toolset: self.shared.toolset_row()? };
        self.shared.paths.scratch(info.id)?;
        let holder = self.shared.lease.clone();
        if let Some(row) = &run {
            self.shared.schedule.limit(info.id, row.budget);
        }
        let created = self.shared.store.write(move |tx| {
            let id = new.info.id;
            tx.create_session(&new)?;
            if let Some(row) = run {
                schedule::must_wait(tx, &row, &holder.token)?;
                tx.put_run(&schedule::running(row, id))?;
            }
            if let Some((chat, via)) = chat {
                if tx.chat(chat)?.is_none() {
                    return Err(StoreError::Busy);
                }
                tx.begun_in_chat(chat, id)?;
                tx.lead_chat(chat, Some(id), 0)?;
                tx.letter_done(via.letter)?;
            }
            // Ours from the first moment: another process must not take the open turn for one left behind.
            tx.take_lease(id, &holder, octo_store::probe)?;
            tx.emit(Topic::Session { id }, Event::TurnStarted { turn })?;
            let first = message.id;
            tx.emit(Topic::Session { id }, Event::MessageAdded { message })?;
            tx.append_context(id, first)?;
            if let Some(AskedCall { message, view }) = call {
                let message_id = message.id;
                tx.emit(Topic::Session { id }, Event::MessageAdded { message })?;
                tx.append_context(id, message_id)?;
                tx.emit(Topic::Session { id }, Event::CallChanged { call: view })?;
            }
            Ok(())
        });
        if let Err(error) = created.await {
            self.shared.schedule.limit(info.id, None);
            return Err(error.into());
        }
        // The session is there, so the client must hear of it: sending again would make a second one.
        if let Err(error) = self.session(info.id).await {
            tracing::error!(session = %info.id, %error, "a new session was stored but not opened");
            self.shared.troubles.begin(info.id, error, TroubleStage::Ended);
        }
        Ok(info)
    }
}

/// What answers in a new session.
pub(super) enum Kind {
    Model {
        model: ModelId,
        effort: Option<Effort>,
        title: Option<String>,
        source: Source,
    },
    Demo,
    /// For what somebody wrote in this chat, which goes on with it.
    Chat {
        id: SessionId,
        model: ModelId,
        chat: i64,
        via: Via,
    },
    /// For a run that waits, which begins with it.
    Task {
        model: ModelId,
        run: Box<RunRow>,
    },
}

pub(super) fn unknown_session() -> ApiError {
    ApiError::new("session.unknown").code(ErrorCode::UnknownSession)
}

fn done(outcome: Result<(), ApiError>) -> Result<Value, ApiError> {
    outcome?;
    json(Done {})
}
