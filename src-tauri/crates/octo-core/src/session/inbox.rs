//! Requests of clients to a session.

use super::{
    attached::AttachmentMode,
    file_restore::RestoreTarget,
    requests::PendingCall,
    state::Session,
    step::{Change, Step},
};
use crate::{
    naming,
    slash::{self, SlashCommand},
};
use octo_llm::{CacheKind, ModelCard};
use octo_protocol::{
    AddCheckpoint, Answer, ApiError, Block, ChatService, ErrorCode, Event, Mode, ModelId, PreviewRestore,
    QueuedId, RestorePreview, RestoreReport, RestoreTask, SendOutcome, SessionInfo, StepView, SwitchCost,
    Usage,
};
use octo_tools::SkillTask;
use std::path::Path;
use tokio::sync::oneshot;

/// The sender for a reply.
pub(crate) type ReplySender<T> = oneshot::Sender<Result<T, ApiError>>;

/// A change to a session's head.
pub(crate) type HeadChange = Box<dyn FnOnce(&mut SessionInfo) + Send>;

/// A message of the person, and its origin.
pub(crate) struct UserMessage {
    blocks: Vec<Block>,
    via: Option<ChatOrigin>,
}

/// An inbound message of a chat service. The transaction that stores its effect also marks it as handled.
#[derive(Clone, Copy)]
pub(crate) struct ChatOrigin {
    service: ChatService,
    message: i64,
}

impl ChatOrigin {
    /// Creates the origin for the message with this number in the home's table.
    pub(crate) fn new(service: ChatService, message: i64) -> Self {
        Self { service, message }
    }

    pub(crate) fn service(self) -> ChatService {
        self.service
    }

    /// Returns its number in the home's table.
    pub(crate) fn message(self) -> i64 {
        self.message
    }
}

impl UserMessage {
    /// Creates a message sent in a window.
    pub(crate) fn in_window(blocks: Vec<Block>) -> Self {
        Self { blocks, via: None }
    }

    /// Creates a message sent in a chat service.
    pub(crate) fn in_chat(blocks: Vec<Block>, origin: ChatOrigin) -> Self {
        Self { blocks, via: Some(origin) }
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(super) fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// Whether it was sent in a window.
    pub(crate) fn is_from_window(&self) -> bool {
        self.via.is_none()
    }

    /// Returns the message if a person may send it; see [`validate_blocks`].
    pub(crate) fn validate(self) -> Result<Self, ApiError> {
        Ok(Self { blocks: validate_blocks(self.blocks)?, ..self })
    }

    pub(super) fn service(&self) -> Option<ChatService> {
        self.via.map(ChatOrigin::service)
    }

    /// Returns the change that marks the inbound message as handled, if there is one.
    pub(super) fn inbound_handled(&self) -> Option<Change> {
        self.via.map(|origin| Change::InboundHandled(origin.message))
    }
}

/// A message of the person, and what it is for.
pub(crate) enum Submission {
    /// A message for the model.
    Message(UserMessage),
    /// A built-in command.
    Command(UserMessage, SlashCommand),
    /// A built-in command, by its name, whose argument is missing or wrong.
    MisusedCommand(UserMessage, &'static str),
    /// The typed text, and the skill it invokes.
    Skill(UserMessage, SkillTask),
    /// A text that is no command. Octo's own reply to it is shown.
    NoCommand(ApiError),
}

/// A client's request to a session.
pub(crate) enum ActorRequest {
    /// Take a message of the person.
    Send(Submission, ReplySender<SendOutcome>),
    /// Carry out a request and reply.
    Call(Box<dyn PendingCall>),
    // These take time, and the actor continues meanwhile.
    /// Stop a background command.
    StopCommand(String, ReplySender<()>),
    /// Preview a restore.
    PreviewRestore(PreviewRestore, ReplySender<RestorePreview>),
    /// Restore a step of the time machine, or some of its files.
    RestoreTask(RestoreTask, ReplySender<RestoreReport>),
    /// Name the present state.
    AddCheckpoint(AddCheckpoint, ReplySender<StepView>),
    /// Wait until no turn is running.
    WhenIdle(ReplySender<()>),
}

impl Session {
    /// Carries out a request. An `Err` means that the session could not be stored, and ends the actor; errors
    /// of the client are sent in the reply.
    pub(super) async fn handle_request(&mut self, request: ActorRequest) -> Result<(), ApiError> {
        match request {
            ActorRequest::Send(submission, reply) => return self.send(submission, reply).await,
            ActorRequest::Call(call) => return call.run(self).await,
            ActorRequest::StopCommand(handle, reply) => self.stop_command(handle, reply),
            ActorRequest::PreviewRestore(call, reply) => self.preview_restore(call, reply),
            ActorRequest::RestoreTask(call, reply) => self.restore_task(call, reply),
            ActorRequest::AddCheckpoint(call, reply) => self.add_checkpoint(call.name, reply),
            ActorRequest::WhenIdle(reply) if self.turn.is_running() => self.observers.wait_until_idle(reply),
            ActorRequest::WhenIdle(reply) => return respond(reply, Ok(())),
        }
        Ok(())
    }

    async fn send(
        &mut self,
        submission: Submission,
        reply: ReplySender<SendOutcome>,
    ) -> Result<(), ApiError> {
        if let Submission::Command(message, _) | Submission::MisusedCommand(message, _) = &submission
            && let Err(error) = self.handle_inbound(message).await
        {
            return respond(reply, Err(error));
        }
        let outcome = match submission {
            // These two take time, and the actor continues meanwhile.
            Submission::Command(_, SlashCommand::Undo) => {
                return self.restore_by_command(RestoreTarget::Undo, reply).await;
            }
            Submission::Command(_, SlashCommand::Redo) => {
                return self.restore_by_command(RestoreTarget::Redo, reply).await;
            }
            Submission::Command(_, command) => self.command(command).await,
            Submission::MisusedCommand(_, name) => {
                self.answer_command(ApiError::new(format!("command.misused.{name}"))).await
            }
            Submission::Message(message) => self.send_message(message).await,
            Submission::Skill(message, skill_task) => self.begin_with_skill(message, &skill_task).await,
            Submission::NoCommand(notice) => self.answer_command(notice).await,
        };
        respond(reply, outcome)
    }

    /// Marks the inbound message as handled before an effect that is not stored in the same step: a repeated
    /// effect would be worse than a missing one.
    async fn handle_inbound(&mut self, message: &UserMessage) -> Result<(), ApiError> {
        let mut step = self.request_step();
        step.extend(message.inbound_handled());
        self.finish(step).await
    }

    async fn answer_command(&mut self, notice: ApiError) -> Result<SendOutcome, ApiError> {
        self.show_note(notice).await?;
        Ok(SendOutcome::Command)
    }

    /// Queues a message until the current step ends.
    pub(super) async fn queue_up(&mut self, message: UserMessage) -> Result<SendOutcome, ApiError> {
        let mut step = self.request_step();
        step.extend(message.inbound_handled());
        let service = message.service();
        let id = self.queue.push(message.into_blocks(), service);
        self.queue_changed(step).await?;
        Ok(SendOutcome::Queued { id })
    }

    async fn send_message(&mut self, message: UserMessage) -> Result<SendOutcome, ApiError> {
        if let Some((question, text)) = self.feedback_waiting(message.blocks()) {
            let mut step = Step::default();
            step.extend(message.inbound_handled());
            return self.answer(question, Answer::Text { text }, step).await.map(|()| SendOutcome::Started);
        }
        if self.turn.is_running() || self.restoring.is_under_way() {
            return self.queue_up(message).await;
        }
        self.check_owned_here()?;
        self.check_folder()?;
        self.begin_turn(message).await?;
        Ok(SendOutcome::Started)
    }

    pub(super) fn check_folder(&self) -> Result<(), ApiError> {
        if self.workspace.has_folder() {
            Ok(())
        } else {
            Err(ApiError::new("session.folder_gone").arg("folder", &self.info.folder))
        }
    }

    async fn command(&mut self, command: SlashCommand) -> Result<SendOutcome, ApiError> {
        match command {
            SlashCommand::New => return Ok(SendOutcome::New),
            SlashCommand::Help => {
                let names: Vec<String> =
                    slash::commands().into_iter().map(|command| format!("/{}", command.name)).collect();
                self.show_note(ApiError::new("command.help").arg("commands", names.join(" "))).await?;
            }
            SlashCommand::Stop => self.stop().await?,
            SlashCommand::Retry => self.go_on().await?,
            // Handled where they can be answered later.
            SlashCommand::Undo | SlashCommand::Redo => {}
            SlashCommand::Mode(Some(mode)) => self.set_mode(mode).await?,
            SlashCommand::Mode(None) => {
                let mode = match self.info.mode {
                    Mode::Ask => "ask",
                    Mode::AskRisky => "ask_risky",
                    Mode::Autonomous => "autonomous",
                };
                self.show_note(ApiError::new("command.mode").arg("mode", mode)).await?;
            }
            SlashCommand::Model(Some(name)) => match self.runtime.services.models.find(&name) {
                Some(model) => {
                    self.set_model(model).await?;
                    self.show_note(ApiError::new("command.model_set").arg("model", name)).await?;
                }
                None => {
                    let available = self.runtime.services.models.names();
                    self.show_note(
                        ApiError::new("command.model_unknown").arg("model", name).list("known", available),
                    )
                    .await?;
                }
            },
            SlashCommand::Model(None) => {
                let model = self
                    .info
                    .model
                    .and_then(|id| self.runtime.services.models.vendor_name(id))
                    .unwrap_or_default();
                let available = self.runtime.services.models.names();
                self.show_note(ApiError::new("command.model").arg("model", model).list("known", available))
                    .await?;
            }
            SlashCommand::Folder(Some(folder)) => self.set_folder(&folder).await?,
            SlashCommand::Folder(None) => {
                let folder = self.info.folder.clone();
                self.show_note(ApiError::new("command.folder").arg("folder", folder)).await?;
            }
            SlashCommand::Rename(title) => self.rename(&title).await?,
        }
        Ok(SendOutcome::Command)
    }

    async fn show_note(&mut self, notice: ApiError) -> Result<(), ApiError> {
        self.finish(self.request_step().with(Event::CommandAnswered { note: notice })).await
    }

    async fn queue_changed(&mut self, step: Step) -> Result<(), ApiError> {
        let step = step.with(self.queue.event());
        self.feed_with(crate::turn::Input::Queued(self.waiting_count()), step).await
    }

    pub(super) async fn edit_queued(&mut self, id: QueuedId, blocks: Vec<Block>) -> Result<(), ApiError> {
        self.queue.edit(id, validate_blocks(blocks)?)?;
        self.queue_changed(self.request_step()).await
    }

    pub(super) async fn remove_queued(&mut self, id: QueuedId) -> Result<(), ApiError> {
        self.queue.remove(id)?;
        self.queue_changed(self.request_step()).await
    }

    pub(super) async fn set_mode(&mut self, mode: Mode) -> Result<(), ApiError> {
        self.info.mode = mode;
        self.store_head().await?;
        self.pass_mode_on(mode);
        self.review_questions();
        Ok(())
    }

    pub(super) async fn set_model(&mut self, model: ModelId) -> Result<(), ApiError> {
        if !self.is_counted() {
            return Err(ApiError::new("session.demo_has_no_model"));
        }
        if self.runtime.services.models.vendor_name(model).is_none() {
            return Err(ApiError::new("model.unknown").code(ErrorCode::ModelNeeded));
        }
        self.info.model = Some(model);
        self.reset_fallback();
        self.attachment_mode = AttachmentMode::default();
        self.warmth.forget_cache();
        self.store_head().await
    }

    /// Estimates the cost of a switch: the new model reads everything uncached, while the present one might
    /// have read it from its cache.
    pub(super) fn estimate_switch(&self, model: ModelId) -> Result<SwitchCost, ApiError> {
        let unknown = || ApiError::new("model.unknown").code(ErrorCode::ModelNeeded);
        let card = self.runtime.services.models.card_of(model).ok_or_else(unknown)?;
        let tokens = self.context_size();
        let cost =
            |card: &ModelCard, usage: Usage| card.prices.as_ref().and_then(|prices| prices.cost(usage));
        let rewrite = match card.caching.kind {
            CacheKind::Markers { .. } | CacheKind::Breakpoints { .. } => {
                Usage { cache_write: tokens, ..Usage::default() }
            }
            CacheKind::None
            | CacheKind::Prefix { .. }
            | CacheKind::Units { .. }
            | CacheKind::Probabilistic { .. } => Usage { input: tokens, ..Usage::default() },
        };
        let warm_model = self.warmth.warm_card();
        let cache_read = Usage { cache_read: tokens, ..Usage::default() };
        let current_cost = warm_model.and_then(|card| cost(card, cache_read));
        Ok(SwitchCost { tokens, cost: cost(&card, rewrite), instead: current_cost })
    }

    pub(super) async fn set_folder(&mut self, folder: &str) -> Result<(), ApiError> {
        if self.turn.is_running() {
            // Calls decided on for the old folder may be waiting.
            return Err(ApiError::new("session.running"));
        }
        if self.restoring.is_under_way() {
            return Err(ApiError::new("time.going"));
        }
        self.check_owned_here()?;
        let folder = octo_workspace::session_folder(Path::new(folder))?;
        self.info.folder = folder.display().to_string();
        self.enter_folder(folder).await?;
        self.store_head().await
    }

    async fn rename(&mut self, title: &str) -> Result<(), ApiError> {
        self.info.title = naming::given_title(title)?;
        self.store_head().await
    }

    pub(super) async fn store_head(&mut self) -> Result<(), ApiError> {
        let mut step = self.request_step();
        step.change(self.head());
        self.finish(step).await
    }
}

/// Checks the blocks of a person's message: text, pictures, documents and files, at least one of them.
pub(crate) fn validate_blocks(blocks: Vec<Block>) -> Result<Vec<Block>, ApiError> {
    let valid: Vec<Block> = blocks
        .into_iter()
        .filter(|block| !matches!(block, Block::Text { text } if text.trim().is_empty()))
        .collect();
    let allowed = |block: &Block| {
        matches!(
            block,
            Block::Text { .. } | Block::Image { .. } | Block::Document { .. } | Block::File { .. }
        )
    };
    if valid.is_empty() || !valid.iter().all(allowed) {
        return Err(ApiError::new("session.message_empty"));
    }
    Ok(valid)
}

/// Replies. Errors of the client are sent to the client only; errors of the store end the actor.
pub(super) fn respond<T>(reply: ReplySender<T>, outcome: Result<T, ApiError>) -> Result<(), ApiError> {
    let fatal = match &outcome {
        Err(error) if error.is_store_error() => Err(error.clone()),
        Err(_) | Ok(_) => Ok(()),
    };
    // A disconnected client needs no reply.
    let _gone = reply.send(outcome);
    fatal
}
