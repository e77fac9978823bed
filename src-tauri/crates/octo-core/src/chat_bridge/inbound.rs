//! The handling of people's messages: orders to Octo are carried out, buttons answer questions, and all other
//! messages go to the chat's session or start one.

use super::{
    ChatBridge, ChatRecipient, ServiceLink, Words,
    orders::{Order, read},
    posts,
    sending::PostResult,
};
use crate::{
    session::ChatOrigin,
    slash::{self, ParsedMessage, SlashCommand},
};
use octo_chats::{ButtonPress, ChatClient as _, ChatError, InboundContent, InboundFile, LARGEST_FILE, Post};
use octo_protocol::{
    Answer, AnswerQuestion, ApiError, Block, ErrorCode, QuestionContent, Role, SessionId, SessionInfo,
    SessionStatus,
};
use octo_store::{ChatRow, InboundMessageRow};
use std::collections::HashSet;

/// Number of sessions of a chat in a list.
const MAX_LISTED: u32 = 9;
/// Number of messages read at once.
const BATCH_SIZE: u32 = 100;
/// Maximum length of the text that acknowledges a pressed button (Telegram: "0-200 characters").
const ACKNOWLEDGED: usize = 150;

/// PendingMessages messages whose senders were informed.
#[derive(Debug, Default)]
pub(super) struct PendingMessages(HashSet<i64>);

impl PendingMessages {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The outcome of handling a message.
enum HandlingOutcome {
    /// It is handled.
    Done,
    /// It waits for a condition that will pass, and so do all later messages of its chat.
    Postponed(ApiError),
}

/// Handles all stored messages, oldest first. A held message delays only its own chat.
///
/// # Errors
/// Errors of the store; unhandled messages stay.
pub(super) async fn handle_all(
    bridge: &ChatBridge,
    line: &ServiceLink,
    pending: &mut PendingMessages,
) -> Result<(), ApiError> {
    let store = &bridge.base.store;
    let mut waiting_chats: HashSet<i64> = HashSet::new();
    let letters = store.read(|reader| reader.inbound_messages(BATCH_SIZE)).await?;
    let previous = std::mem::take(&mut pending.0);
    for message in letters {
        let (key, chat_row) = (message.key, message.chat);
        if waiting_chats.contains(&chat_row) {
            continue;
        }
        // Read for each message: an earlier one may have switched the chat to another session, and the person
        // may be removed meanwhile.
        let chat = store.read(move |reader| reader.chat(chat_row)).await?;
        // Another service's messages are handled with its own connection.
        if chat.as_ref().is_some_and(|chat| chat.service != line.client.service()) {
            continue;
        }
        // A message to a bot that is no longer connected cannot be answered.
        if let Some(chat) = chat.filter(|chat| line.is_of(chat)) {
            let recipient = ChatRecipient { bridge, link: line, chat: &chat };
            if let HandlingOutcome::Postponed(error) = recipient.handle(&message).await? {
                tracing::info!(%error, "what was written in a chat waits");
                if !previous.contains(&key) && error.code == Some(ErrorCode::InUse) {
                    recipient.say_words("chat.session_in_use").await;
                }
                pending.0.insert(key);
                waiting_chats.insert(chat_row);
                continue;
            }
        }
        store.write(move |tx| tx.remove_inbound_message(key)).await?;
    }
    Ok(())
}

/// Whether the fault will pass, so that the message waits for it.
fn is_temporary(error: &ApiError) -> bool {
    let temporary = ["store.full", "store.busy", "chat.unreachable", "chat.too_much", "session.unavailable"];
    error.code == Some(ErrorCode::InUse) || temporary.contains(&error.key.as_str())
}

impl ChatRecipient<'_> {
    /// Carries out a message. A refused message is handled once the person knows, or cannot be reached at all.
    async fn handle(&self, row: &InboundMessageRow) -> Result<HandlingOutcome, ApiError> {
        let words = Words::of(self.bridge);
        let refusal = match serde_json::from_str::<InboundContent>(&row.message_json) {
            Ok(content) => match self.handle_content(content, row.key).await {
                Ok(()) => return Ok(HandlingOutcome::Done),
                Err(error) if is_temporary(&error) => return Ok(HandlingOutcome::Postponed(error)),
                Err(error) => words.error(&error),
            },
            Err(error) => {
                tracing::warn!(%error, "a letter of another version of Octo cannot be read");
                words.say("chat.unreadable")
            }
        };
        match self.say(Post::plain(refusal)).await {
            PostResult::Settled => Ok(HandlingOutcome::Done),
            PostResult::NotYet => {
                Ok(HandlingOutcome::Postponed(ApiError::new("chat.unreachable").retryable()))
            }
        }
    }

    async fn handle_content(&self, content: InboundContent, row: i64) -> Result<(), ApiError> {
        match content {
            InboundContent::Pressed(button) => self.handle_press(button).await,
            InboundContent::Message { text, files, more: true }
                if text.trim().is_empty() && files.is_empty() =>
            {
                self.say_words("chat.unsupported_content").await;
                Ok(())
            }
            InboundContent::Message { text, files, more } => {
                let order = if files.is_empty() { read(&text) } else { Order::Message };
                self.carry_out_order(order, row, text, files).await?;
                if more {
                    self.say_words("chat.unsupported_parts").await;
                }
                Ok(())
            }
        }
    }

    /// Marks a message as handled once its order is carried out and before that is reported: a second report
    /// would be useless.
    async fn mark_handled(&self, message: i64) -> Result<(), ApiError> {
        let result = self.bridge.base.store.write(move |tx| tx.remove_inbound_message(message)).await;
        result.map_err(ApiError::from)
    }

    async fn carry_out_order(
        &self,
        order: Order,
        message: i64,
        text: String,
        files: Vec<InboundFile>,
    ) -> Result<(), ApiError> {
        let words = Words::of(self.bridge);
        let reply = match order {
            Order::Message => return self.send(message, text, files).await,
            Order::Help => words.say("chat.help"),
            Order::Unavailable(name) => words.fill("chat.computer_only", &[("name", name)]),
            Order::New => {
                self.set_session(None, 0).await?;
                words.say("chat.new")
            }
            Order::Stop => match self.running_session().await? {
                // The stop is reported as for any turn.
                Some(session) => return self.bridge.sessions.stop(session).await,
                None => words.say("chat.nothing_runs"),
            },
            Order::Status => self.status_text(words).await?,
            Order::List => self.list_text(words).await?,
            Order::Open(number) => self.open_session(number, words).await?,
            Order::Last => {
                self.mark_handled(message).await?;
                return self.send_last_answer().await;
            }
        };
        self.mark_handled(message).await?;
        self.say(Post::plain(reply)).await;
        Ok(())
    }

    /// Adds a message to the chat's session, or starts a session with it.
    async fn send(&self, message: i64, text: String, files: Vec<InboundFile>) -> Result<(), ApiError> {
        let current = self.session().await?.map(|session| session.id);
        // Files are fetched only for a session that can accept them. A new session gets its files before it
        // starts.
        let session = current.unwrap_or_default();
        match current {
            Some(session) => drop(self.bridge.sessions.open(session).await?),
            None => self.bridge.may_start_in_chat(self.chat.service).await?,
        }
        let mut blocks = Vec::new();
        if !text.trim().is_empty() {
            blocks.push(Block::Text { text });
        }
        for file in files {
            blocks.push(self.fetch(session, file).await?);
        }
        let via = ChatOrigin::new(self.chat.service, message);
        let renames = matches!(slash::parse(&blocks), ParsedMessage::Command(SlashCommand::Rename(_)));
        // The person may have been removed while the files were fetched.
        let chat = self.chat.key;
        let known_still = self.bridge.base.store.read(move |reader| reader.chat(chat)).await;
        if known_still?.is_none() {
            return Ok(());
        }
        match current {
            Some(session) => {
                self.bridge.send_via(session, blocks, via).await?;
                if renames {
                    self.say_words("chat.renamed").await;
                }
                Ok(())
            }
            None => self.bridge.start_in_chat(session, self.chat.key, blocks, via).await.map(drop),
        }
    }

    /// Returns the chat's current session; `None` if it has none or it was deleted.
    async fn session(&self) -> Result<Option<SessionInfo>, ApiError> {
        let chat = self.chat.key;
        // Read now, because an earlier order may have changed it.
        let result = self.bridge.base.store.read(move |reader| {
            let Some(session) = reader.chat(chat)?.and_then(|chat| chat.session) else { return Ok(None) };
            reader.session(session)
        });
        result.await.map_err(ApiError::from)
    }

    async fn running_session(&self) -> Result<Option<SessionId>, ApiError> {
        let session = self.session().await?;
        let runs =
            |info: &SessionInfo| matches!(info.status, SessionStatus::Running | SessionStatus::Waiting);
        Ok(session.filter(runs).map(|info| info.id))
    }

    async fn set_session(&self, session: Option<SessionId>, delivered_seq: u64) -> Result<(), ApiError> {
        let chat = self.chat.key;
        let result =
            self.bridge.base.store.write(move |tx| tx.set_chat_session(chat, session, delivered_seq)).await;
        result?;
        self.bridge.chats.session_changed().notify_one();
        Ok(())
    }

    async fn status_text(&self, words: Words) -> Result<String, ApiError> {
        let Some(info) = self.session().await? else { return Ok(words.say("chat.no_session")) };
        let status = words.say(match info.status {
            SessionStatus::Idle => "chat.idle",
            SessionStatus::Running => "chat.running",
            SessionStatus::Waiting => "chat.waiting",
            SessionStatus::Failed => "chat.has_failed",
        });
        let args = [("title", info.title.as_str()), ("folder", &info.folder), ("status", &status)];
        Ok(words.fill("chat.status", &args))
    }

    async fn sessions(&self) -> Result<Vec<SessionInfo>, ApiError> {
        let chat = self.chat.key;
        let result = self.bridge.base.store.read(move |reader| reader.chat_sessions(chat, MAX_LISTED)).await;
        result.map_err(ApiError::from)
    }

    async fn list_text(&self, words: Words) -> Result<String, ApiError> {
        let sessions = self.sessions().await?;
        if sessions.is_empty() {
            return Ok(words.say("chat.no_sessions"));
        }
        let current = self.session().await?.map(|info| info.id);
        let mut text = words.say("chat.list");
        for (number, info) in (1..).zip(&sessions) {
            let marker = if Some(info.id) == current { " ←" } else { "" };
            text.push_str(&format!("\n{number}. {}{marker}", posts::excerpt(&info.title, 80)));
        }
        Ok(text)
    }

    async fn open_session(&self, number: Option<usize>, words: Words) -> Result<String, ApiError> {
        let sessions = self.sessions().await?;
        let Some(info) = number.and_then(|number| sessions.get(number - 1)) else {
            return Ok(words.say("chat.open_which"));
        };
        let id = info.id;
        let topic = octo_protocol::StoredTopic::Session { id };
        // Its earlier events are not reported again.
        let delivered_seq = self.bridge.base.store.read(move |reader| reader.topic_seq(&topic)).await;
        self.set_session(Some(id), delivered_seq?).await?;
        Ok(words.fill("chat.opened", &[("title", &info.title)]))
    }

    async fn send_last_answer(&self) -> Result<(), ApiError> {
        let words = Words::of(self.bridge);
        let Some(info) = self.session().await? else {
            self.say_words("chat.no_session").await;
            return Ok(());
        };
        let page = self.bridge.base.store.read(move |reader| reader.page(info.id, None, 100)).await;
        let messages = page?.messages;
        let is_answer = |message: &&octo_protocol::Message| {
            message.role == Role::Assistant && !message.text().trim().is_empty()
        };
        let posts = messages.iter().rev().find(is_answer).map(|message| posts::answer_posts(message, words));
        match posts {
            Some(posts) => {
                for post in posts {
                    self.say(post).await;
                }
            }
            None => {
                self.say_words("chat.no_answer").await;
            }
        }
        Ok(())
    }

    /// Handles a pressed button: it answers the question above it, once.
    async fn handle_press(&self, button: ButtonPress) -> Result<(), ApiError> {
        let words = Words::of(self.bridge);
        let answered = self.answer_question(&button).await;
        let outcome = match &answered {
            Ok(Some(answer)) => posts::excerpt(answer, ACKNOWLEDGED),
            Ok(None) => words.say("chat.question_closed"),
            Err(error) if is_temporary(error) => return Err(error.clone()),
            Err(error) => posts::excerpt(&words.error(error), ACKNOWLEDGED),
        };
        if let Err(error) = self.link.client.acknowledge(&button.id, &outcome).await {
            // It only ends the waiting indicator on the button.
            tracing::debug!(%error, "a press was not acknowledged");
        }
        Ok(())
    }

    /// Returns the given answer, or `None` if its question is no longer waiting.
    async fn answer_question(&self, button: &ButtonPress) -> Result<Option<String>, ApiError> {
        let (Some((answered_question, index)), Some(info)) =
            (posts::parse_button(&button.data), self.session().await?)
        else {
            return Ok(None);
        };
        let snapshot = self.bridge.base.store.read(move |reader| reader.snapshot(info.id, 1)).await;
        let questions = snapshot?.map(|snapshot| snapshot.questions);
        let option =
            questions.into_iter().flatten().find(|question| question.id == answered_question).and_then(
                |question| match question.ask {
                    QuestionContent::Feedback { options, .. } => options.into_iter().nth(index),
                    QuestionContent::Permission { .. } => None,
                },
            );
        let Some(text) = option else { return Ok(None) };
        let answer = Answer::Text { text: text.clone() };
        let call = AnswerQuestion { session: info.id, question: answered_question, answer };
        match self.bridge.sessions.call(info.id, call).await {
            Ok(_) => Ok(Some(text)),
            Err(error) if error.code == Some(ErrorCode::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fetches a file sent with a message. A picture goes to the model; any other file is mentioned by its
    /// path.
    async fn fetch(&self, session: SessionId, file: InboundFile) -> Result<Block, ApiError> {
        let name = file.name.unwrap_or_else(|| "picture".to_owned());
        let too_large = || {
            ApiError::new("chat.file_large").arg("name", &name).arg("limit_mib", LARGEST_FILE / (1024 * 1024))
        };
        if file.bytes.is_some_and(|bytes| bytes > LARGEST_FILE) {
            return Err(too_large());
        }
        let bytes = self.link.client.file(&file.id, LARGEST_FILE).await.map_err(|error| match error {
            // It is still on the server, and fetching it again costs nothing.
            error @ (ChatError::RateLimited(_) | ChatError::Unreachable(_) | ChatError::Unanswered(_)) => {
                error.to_api()
            }
            error => ApiError::new("chat.file_missing").arg("name", &name).detail(error.to_api()),
        })?;
        self.bridge.receive_file(session, name, bytes).await
    }
}

impl ServiceLink {
    /// Whether a chat belongs to this account.
    pub(super) fn is_of(&self, chat: &ChatRow) -> bool {
        chat.account == self.account.id
    }
}
