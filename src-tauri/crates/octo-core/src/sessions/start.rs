//! The start of a session.

use super::Sessions;
use crate::{
    hooks::HookMoment,
    naming,
    prompt::Surroundings,
    schedule::{check_waiting, with_session},
    session::{ChatOrigin, skill_call, validate_blocks},
    slash::{self, ParsedMessage},
};
use octo_protocol::{
    ApiError, Block, Effort, Event, Message, MessageId, Meta, Mode, ModelId, NoticeKind, Origin, Profile,
    Role, SessionId, SessionInfo, SessionStatus, Source, StoredTopic, TroubleStage, TurnId, TurnView,
};
use octo_runtime::now;
use octo_store::{NewSession, RunRow, StoreError};
use std::path::PathBuf;

impl Sessions {
    /// Creates a session with its first message in one transaction. Its actor then resumes the begun turn
    /// exactly as after a restart.
    pub(crate) async fn start(
        &self,
        folder: PathBuf,
        profile: Profile,
        mode: Mode,
        kind: NewSessionKind,
        blocks: Vec<Block>,
    ) -> Result<SessionInfo, ApiError> {
        let blocks = validate_blocks(blocks)?;
        let skills = self.runtime.services.library.skill_set(Some(folder.clone())).await?;
        let mut skill_task = None;
        match slash::parse(&blocks) {
            ParsedMessage::Message => {}
            ParsedMessage::Unknown { name, similar } => {
                skill_task = Some(skills.skill_for_command(&blocks, &name, &similar, &profile)?)
            }
            ParsedMessage::Command(_) | ParsedMessage::Misused { .. } => {
                return Err(ApiError::new("command.needs_session"));
            }
        }
        let (mut id, mut chat) = (SessionId::new(), None);
        let (model, effort, source, title, run) = match kind {
            NewSessionKind::Model { model, effort, title, source } => {
                (Some(model), effort, source, title, None)
            }
            NewSessionKind::Demo => (None, None, Source::Demo, None, None),
            NewSessionKind::Task { model, run } => {
                (Some(model), None, Source::Task, Some(run.run.name.clone()), Some(run))
            }
            NewSessionKind::Chat { id: wanted, model, chat: chat_key, via } => {
                id = wanted;
                chat = Some((chat_key, via));
                (Some(model), None, Source::Chat, None, None)
            }
        };
        let title = match title.filter(|title| !title.trim().is_empty()) {
            Some(title) => naming::given_title(&title)?,
            None => naming::title_from(&blocks).unwrap_or_default(),
        };
        let system =
            self.runtime.services.library.system_prompt(profile.clone(), folder.clone(), &skills).await?;
        let created_at = now();
        let folder = folder.display().to_string();
        let info = SessionInfo {
            title,
            profile,
            mode,
            model,
            effort,
            status: SessionStatus::Running,
            ..SessionInfo::new(id, folder.clone(), source, created_at)
        };
        let vendor = model.and_then(|id| self.runtime.services.models.vendor_name(id));
        let turn = TurnView::new(TurnId::new(), created_at);
        let mut all = vec![Surroundings::now(vendor, folder.clone()).notice()];
        let facts = serde_json::Map::from_iter([("session".to_owned(), info.id.to_string().into())]);
        let hook_result = self
            .runtime
            .services
            .hooks(&self.runtime.base, PathBuf::from(folder))
            .run_all(HookMoment::SessionStart, None, facts)
            .await;
        all.extend(hook_result.context.map(|text| Block::Notice { kind: NoticeKind::Hook, text }));
        all.extend(blocks);
        let via = chat.map(|(_, via)| via.service());
        let meta = Meta { via, ..Meta::new(Origin::Person, created_at) };
        let message = Message { id: MessageId::new(), turn: turn.id, role: Role::User, blocks: all, meta };
        // A slash command's skill is the first step, before any model call.
        let call = skill_task.map(|skill_task| skill_call(turn.id, &skill_task));
        let new = NewSession { info: info.clone(), system, toolset: self.runtime.services.toolset_row()? };
        self.runtime.base.paths.scratch(info.id)?;
        let holder = self.runtime.base.lease.clone();
        if let Some(row) = &run {
            self.runtime.services.schedule().limit(info.id, row.budget);
        }
        let created = self.runtime.base.store.write(move |tx| {
            let id = new.info.id;
            tx.create_session(&new)?;
            if let Some(row) = run {
                check_waiting(tx, &row, &holder.token)?;
                tx.put_run(&with_session(row, id))?;
            }
            if let Some((chat, via)) = chat {
                if tx.chat(chat)?.is_none() {
                    return Err(StoreError::Busy);
                }
                tx.record_chat_session(chat, id)?;
                tx.set_chat_session(chat, Some(id), 0)?;
                tx.remove_inbound_message(via.message())?;
            }
            // This process owns it from the first moment: another one must not take the open turn for an
            // abandoned one.
            tx.take_lease(id, &holder, octo_store::probe)?;
            let (asked, view) = call.unzip();
            let messages: Vec<Message> = std::iter::once(message).chain(asked).collect();
            tx.begin_first_turn(id, turn, &messages)?;
            if let Some(view) = view {
                tx.emit(StoredTopic::Session { id }, Event::CallChanged { call: view })?;
            }
            Ok(())
        });
        if let Err(error) = created.await {
            self.runtime.services.schedule().limit(info.id, None);
            return Err(error.into());
        }
        // The session exists, so the client must learn of it: sending again would create a second one.
        if let Err(error) = self.open(info.id).await {
            tracing::error!(session = %info.id, %error, "a new session was stored but not opened");
            self.runtime.troubles.begin(info.id, error, TroubleStage::Ended);
        }
        Ok(info)
    }
}

/// The kind of a new session.
pub(crate) enum NewSessionKind {
    /// A session that the person or a client starts.
    Model { model: ModelId, effort: Option<Effort>, title: Option<String>, source: Source },
    /// A session in which a script takes the place of the model.
    Demo,
    /// A session begun by a message in this chat; later messages of the chat go to it.
    Chat { id: SessionId, model: ModelId, chat: i64, via: ChatOrigin },
    /// A session for a waiting run of a task; creating it starts the run.
    Task { model: ModelId, run: Box<RunRow> },
}
