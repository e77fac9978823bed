//! What becomes of what people wrote: orders to Octo are carried out, buttons answer questions, and the rest goes to the
//! chat's session, or begins one.

use super::{
    Line, Talk, Words,
    orders::{Order, read},
    telling,
};
use crate::{octo::Octo, session::Via};
use octo_chats::{LARGEST_FILE, Letter, LetterFile, Post, Press};
use octo_protocol::{
    Answer, AnswerQuestion, ApiError, Ask, Block, ErrorCode, Role, SessionId, SessionInfo, SessionStatus,
};
use octo_store::{ChatRow, LetterRow};

/// How many sessions of a chat are listed.
const LISTED: u32 = 9;

/// Hands on all that is stored, the oldest first.
///
/// # Errors
/// Those of the store: what is not handed on stays.
pub(super) async fn all(octo: &Octo, line: &Line) -> Result<(), ApiError> {
    let store = &octo.shared().store;
    loop {
        let read = store.read(|reader| {
            let Some(letter) = reader.first_letter()? else { return Ok(None) };
            let chat = reader.chat(letter.chat)?;
            Ok(Some((letter, chat)))
        });
        let Some((letter, chat)) = read.await.map_err(ApiError::from)? else { return Ok(()) };
        let key = letter.key;
        // Of another bot than the one that is connected now there is nobody to answer.
        if let Some(chat) = chat.filter(|chat| chat.account == line.account.id) {
            let talk = Talk { octo, line, chat: &chat };
            match talk.take(&letter).await {
                Ok(()) => {}
                Err(error) if may_pass(&error) => return Err(error),
                Err(error) => {
                    talk.say(Post::plain(Words::of(octo).error(&error))).await;
                }
            }
        }
        store.write(move |tx| tx.letter_done(key)).await.map_err(ApiError::from)?;
    }
}

/// Whether what went wrong is over by itself, so that the letter waits for it.
fn may_pass(error: &ApiError) -> bool {
    error.is_of_the_store() || error.code == Some(ErrorCode::InUse)
}

impl Talk<'_> {
    async fn take(&self, row: &LetterRow) -> Result<(), ApiError> {
        let Ok(letter) = serde_json::from_str::<Letter>(&row.letter_json) else {
            tracing::warn!("a letter that an earlier version stored cannot be read");
            return Ok(());
        };
        match letter {
            Letter::Pressed(press) => self.press(press).await,
            Letter::Message { more: true, .. } => {
                self.say_words("chat.only_words").await;
                Ok(())
            }
            Letter::Message { text, files, .. } => {
                let order = if files.is_empty() { read(&text) } else { Order::ForTheSession };
                self.carry_out(order, row.key, text, files).await
            }
        }
    }

    async fn carry_out(
        &self,
        order: Order,
        letter: i64,
        text: String,
        files: Vec<LetterFile>,
    ) -> Result<(), ApiError> {
        let words = Words::of(self.octo);
        let said = match order {
            Order::ForTheSession => return self.send(letter, text, files).await,
            Order::Help => words.say("chat.help"),
            Order::AtTheComputer(name) => words.fill("chat.at_the_computer", &[("name", name)]),
            Order::New => {
                self.lead(None, 0).await?;
                words.say("chat.new")
            }
            Order::Stop => match self.running().await? {
                // That it stopped is told as it is of any turn.
                Some(session) => return self.octo.stop(session).await,
                None => words.say("chat.nothing_runs"),
            },
            Order::Status => self.status(words).await?,
            Order::List => self.list(words).await?,
            Order::Open(number) => self.open(number, words).await?,
            Order::Last => return self.last().await,
        };
        self.say(Post::plain(said)).await;
        Ok(())
    }

    /// Puts a message into the chat's session, or begins one with it.
    async fn send(&self, letter: i64, text: String, files: Vec<LetterFile>) -> Result<(), ApiError> {
        let known = self.session().await?.map(|session| session.id);
        // One that is to begin has its files before it.
        let session = known.unwrap_or_default();
        let mut blocks = Vec::new();
        if !text.trim().is_empty() {
            blocks.push(Block::Text { text });
        }
        for file in files {
            blocks.push(self.fetch(session, file).await?);
        }
        let via = Via { service: self.chat.service, letter };
        match known {
            Some(session) => self.octo.send_via(session, blocks, via).await.map(drop),
            None => self.octo.start_in_chat(session, self.chat.key, blocks, via).await.map(drop),
        }
    }

    /// The session it goes on with; none where there is none, or where it was deleted.
    async fn session(&self) -> Result<Option<SessionInfo>, ApiError> {
        let chat = self.chat.key;
        // As of now: an order before this one may have changed it.
        let read = self.octo.shared().store.read(move |reader| {
            let Some(session) = reader.chat(chat)?.and_then(|chat| chat.session) else { return Ok(None) };
            reader.session(session)
        });
        read.await.map_err(ApiError::from)
    }

    async fn running(&self) -> Result<Option<SessionId>, ApiError> {
        let session = self.session().await?;
        let runs =
            |info: &SessionInfo| matches!(info.status, SessionStatus::Running | SessionStatus::Waiting);
        Ok(session.filter(runs).map(|info| info.id))
    }

    async fn lead(&self, session: Option<SessionId>, told: u64) -> Result<(), ApiError> {
        let chat = self.chat.key;
        let led = self.octo.shared().store.write(move |tx| tx.lead_chat(chat, session, told)).await;
        led.map_err(ApiError::from)?;
        self.octo.shared().chats.led().notify_one();
        Ok(())
    }

    async fn status(&self, words: Words) -> Result<String, ApiError> {
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
        let read = self.octo.shared().store.read(move |reader| reader.chat_sessions(chat, LISTED)).await;
        read.map_err(ApiError::from)
    }

    async fn list(&self, words: Words) -> Result<String, ApiError> {
        let sessions = self.sessions().await?;
        if sessions.is_empty() {
            return Ok(words.say("chat.no_sessions"));
        }
        let current = self.session().await?.map(|info| info.id);
        let mut text = words.say("chat.list");
        for (number, info) in (1..).zip(&sessions) {
            let mark = if Some(info.id) == current { " ←" } else { "" };
            text.push_str(&format!("\n{number}. {}{mark}", telling::excerpt(&info.title, 80)));
        }
        Ok(text)
    }

    async fn open(&self, number: Option<usize>, words: Words) -> Result<String, ApiError> {
        let sessions = self.sessions().await?;
        let Some(info) = number.and_then(|number| sessions.get(number - 1)) else {
            return Ok(words.say("chat.open_which"));
        };
        let id = info.id;
        let topic = octo_protocol::Topic::Session { id };
        // What it did before is not told again.
        let told = self.octo.shared().store.read(move |reader| reader.topic_seq(&topic)).await;
        self.lead(Some(id), told.map_err(ApiError::from)?).await?;
        Ok(words.fill("chat.opened", &[("title", &info.title)]))
    }

    async fn last(&self) -> Result<(), ApiError> {
        let words = Words::of(self.octo);
        let Some(info) = self.session().await? else {
            self.say_words("chat.no_session").await;
            return Ok(());
        };
        let page = self.octo.shared().store.read(move |reader| reader.page(info.id, None, 100)).await;
        let messages = page.map_err(ApiError::from)?.messages;
        let said = |message: &&octo_protocol::Message| {
            message.role == Role::Assistant && !message.text().trim().is_empty()
        };
        let posts = messages.iter().rev().find(said).map(|message| telling::answer(message, words));
        match posts {
            Some(posts) => {
                for post in posts {
                    self.say(post).await;
                }
            }
            None => self.say_words("chat.no_answer").await,
        }
        Ok(())
    }

    /// A button answers the question it stands below, once.
    async fn press(&self, press: Press) -> Result<(), ApiError> {
        let words = Words::of(self.octo);
        let answered = self.answer(&press).await;
        let said = match &answered {
            Ok(Some(answer)) => telling::excerpt(answer, 150),
            Ok(None) => words.say("chat.question_gone"),
            Err(error) if may_pass(error) => return Err(error.clone()),
            Err(error) => words.error(error),
        };
        if let Err(error) = self.line.telegram.acknowledge(&press.id, &said).await {
            // It only ends the waiting mark on the button.
            tracing::debug!(%error, "a press was not acknowledged");
        }
        Ok(())
    }

    /// The answer that was given; none where its question does not wait any more.
    async fn answer(&self, press: &Press) -> Result<Option<String>, ApiError> {
        let (Some((wanted, at)), Some(info)) = (telling::pressed(&press.data), self.session().await?) else {
            return Ok(None);
        };
        let snapshot = self.octo.shared().store.read(move |reader| reader.snapshot(info.id, 1)).await;
        let questions = snapshot.map_err(ApiError::from)?.map(|snapshot| snapshot.questions);
        let option =
            questions.into_iter().flatten().find(|question| question.id == wanted).and_then(|question| {
                match question.ask {
                    Ask::Feedback { options, .. } => options.into_iter().nth(at),
                    Ask::Permission { .. } => None,
                }
            });
        let Some(text) = option else { return Ok(None) };
        let call = AnswerQuestion {
            session: info.id,
            question: wanted,
            answer: Answer::Text { text: text.clone() },
        };
        match self.octo.call(call).await {
            Ok(_) => Ok(Some(text)),
            Err(error) if error.code == Some(ErrorCode::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fetches a file that came with a message. A picture goes to the model, anything else is named by its place.
    async fn fetch(&self, session: SessionId, file: LetterFile) -> Result<Block, ApiError> {
        let name = file.name.unwrap_or_else(|| "picture".to_owned());
        let too_large = || {
            ApiError::new("chat.file_large").arg("name", &name).arg("limit_mib", LARGEST_FILE / (1024 * 1024))
        };
        if file.bytes.is_some_and(|bytes| bytes > LARGEST_FILE) {
            return Err(too_large());
        }
        let bytes = self.line.telegram.file(&file.id, LARGEST_FILE).await.map_err(|error| {
            let why = error.to_api();
            ApiError::new("chat.file_missing").arg("name", &name).detail(why)
        })?;
        self.octo.receive(session, name, bytes).await
    }
}

/// Whether a chat is of an account.
impl Line {
    pub(super) fn is_of(&self, chat: &ChatRow) -> bool {
        chat.account == self.account.id
    }
}
