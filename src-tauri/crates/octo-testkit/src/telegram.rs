//! A small real server of Telegram's Bot API: the few methods Octo calls, as documented.

use parking_lot::{Condvar, Mutex, MutexGuard};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// Timeout of blocking waits, after which the test fails.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);
const TOKEN: &str = "4242:AAtest_token-0123456789";

/// A server on a loopback port chosen by the system. It ends with the test's process.
#[derive(Clone)]
pub struct TelegramServer {
    address: SocketAddr,
    shared: Arc<TelegramShared>,
}

/// A message the bot sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramPost {
    /// The person whose chat received it.
    pub person: String,
    /// The text with its markup.
    pub text: String,
    /// Whether it was sent silently.
    pub silent: bool,
    /// Labels of its buttons, each with the data sent back when it is pressed.
    pub buttons: Vec<(String, String)>,
}

struct TelegramShared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    token: String,
    next: i64,
    updates: VecDeque<(i64, Value)>,
    posts: Vec<TelegramPost>,
    acknowledged: Vec<String>,
    /// Number of the update request that is held open; an older one is ended.
    polls: u64,
    /// Problems with the next messages: a refusal with a status, or no answer after the message was accepted.
    pending_failures: VecDeque<PostFailure>,
    is_down: bool,
    files: Vec<(String, Vec<u8>)>,
    /// Number of file requests that will be cut off.
    file_cuts: u32,
}

enum PostFailure {
    Status(u16, Option<u64>),
    Silence,
}

impl TelegramServer {
    /// Starts a server with one bot; it is reachable when this returns.
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let state = State { token: TOKEN.to_owned(), next: 900_100, ..State::default() };
        let shared = Arc::new(TelegramShared { state: Mutex::new(state), changed: Condvar::new() });
        let server = Self { address, shared: shared.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                // A client that disconnects does not fail the test.
                thread::spawn(move || drop(serve(&stream, &shared)));
            }
        });
        server
    }

    /// Returns the address, `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the bot's token.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// Simulates a person who writes to the bot.
    pub fn send_text(&self, person: i64, text: &str) {
        self.push_update(json!({ "message": message(person, json!({ "text": text })) }));
    }

    /// Simulates a person who sends the bot a file with a caption.
    pub fn send_file(&self, person: i64, name: &str, bytes: &[u8], caption: &str) {
        let id = format!("file{}", self.state().files.len());
        self.state().files.push((id.clone(), bytes.to_vec()));
        let document = json!({ "file_id": id, "file_name": name, "file_size": bytes.len() });
        self.push_update(
            json!({ "message": message(person, json!({ "document": document, "caption": caption })) }),
        );
    }

    /// Simulates a person who presses a button.
    pub fn press_button(&self, person: i64, data: &str) {
        let sender = user(person);
        self.push_update(
            json!({ "callback_query": { "id": format!("press-{data}"), "from": sender, "data": data } }),
        );
    }

    /// Adds any other update, given without its number.
    pub fn push_update(&self, mut update: Value) {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        update["update_id"] = number.into();
        state.updates.push_back((number, update));
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Takes the service down: connections are closed at once.
    pub fn stop_service(&self) {
        self.state().is_down = true;
        self.shared.changed.notify_all();
    }

    /// Brings the service back up.
    pub fn resume_service(&self) {
        self.state().is_down = false;
    }

    /// Revokes the token.
    pub fn revoke(&self) {
        self.state().token.clear();
        self.shared.changed.notify_all();
    }

    /// Refuses the bot's next message with this status.
    pub fn refuse_next(&self, status: u16, retry_after: Option<u64>) {
        self.state().pending_failures.push_back(PostFailure::Status(status, retry_after));
    }

    /// Accepts the bot's next message without answering it.
    pub fn drop_next_answer(&self) {
        self.state().pending_failures.push_back(PostFailure::Silence);
    }

    /// Cuts off the next request for a file.
    pub fn cut_next_file(&self) {
        self.state().file_cuts += 1;
    }

    /// Returns the messages the bot sent so far.
    pub fn posts(&self) -> Vec<TelegramPost> {
        self.state().posts.clone()
    }

    /// Returns the bot's answers to button presses so far.
    pub fn acknowledged(&self) -> Vec<String> {
        self.state().acknowledged.clone()
    }

    /// Waits until the bot sent a message that matches.
    ///
    /// # Panics
    ///
    /// When it does not within a minute.
    pub fn wait_for_post(&self, expectation: &str, fits: impl Fn(&TelegramPost) -> bool) -> TelegramPost {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let mut state = self.state();
        loop {
            if let Some(post) = state.posts.iter().find(|post| fits(post)) {
                return post.clone();
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            assert!(!remaining.is_zero(), "no {expectation} came; the bot sent {:#?}", state.posts);
            self.shared.changed.wait_for(&mut state, remaining);
        }
    }

    /// Waits until the bot asks for updates after all earlier ones, which means it has received them.
    ///
    /// # Panics
    ///
    /// When it does not within a minute.
    pub fn wait_until_fetched(&self) {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let mut state = self.state();
        while !state.updates.is_empty() {
            let remaining = deadline.saturating_duration_since(Instant::now());
            assert!(!remaining.is_zero(), "the bot did not fetch {:?}", state.updates);
            self.shared.changed.wait_for(&mut state, remaining);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock()
    }
}

fn user(person: i64) -> Value {
    json!({ "id": person, "is_bot": false, "first_name": format!("Person {person}") })
}

fn message(person: i64, content: Value) -> Value {
    let mut message = json!({
        "message_id": 1, "date": 1, "from": user(person), "chat": { "id": person, "type": "private" },
    });
    for (key, value) in content.as_object().expect("an object") {
        message[key] = value.clone();
    }
    message
}

fn serve(stream: &TcpStream, shared: &TelegramShared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let parameters: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let Some((status, response)) = answer(&path, &parameters, shared) else { return Ok(()) };
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        response.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(&response)
}

/// Returns the answer, or `None` if the connection is closed without one.
fn answer(path: &str, parameters: &Value, shared: &TelegramShared) -> Option<(u16, Vec<u8>)> {
    let mut state = shared.state.lock();
    if state.is_down {
        return None;
    }
    if let Some(suffix) = path.strip_prefix("/file/bot") {
        if state.file_cuts > 0 {
            state.file_cuts -= 1;
            return None;
        }
        let id = suffix.strip_prefix(state.token.as_str())?.strip_prefix("/files/")?;
        let found = state.files.iter().find(|(file_id, _)| file_id == id);
        return Some(found.map_or((404, Vec::new()), |(_, bytes)| (200, bytes.clone())));
    }
    let (token, method) = path.strip_prefix("/bot")?.rsplit_once('/')?;
    if token != state.token {
        return Some(refusal(401, "Unauthorized", None));
    }
    let success =
        |result: Value| Some((200, json!({ "ok": true, "result": result }).to_string().into_bytes()));
    match method {
        "getMe" => {
            success(json!({ "id": 4242, "is_bot": true, "first_name": "Octo", "username": "octo_test_bot" }))
        }
        "getUpdates" => {
            if let Some(offset) = parameters["offset"].as_i64() {
                state.updates.retain(|(number, _)| *number >= offset);
                shared.changed.notify_all();
            }
            state.polls += 1;
            let poll = state.polls;
            shared.changed.notify_all();
            let deadline = Instant::now() + Duration::from_secs(parameters["timeout"].as_u64().unwrap_or(0));
            loop {
                if state.is_down {
                    return None;
                }
                if token != state.token {
                    return Some(refusal(401, "Unauthorized", None));
                }
                if state.polls != poll {
                    let description = "Conflict: terminated by other getUpdates request";
                    return Some(refusal(409, description, None));
                }
                let remaining = deadline.saturating_duration_since(Instant::now());
                if !state.updates.is_empty() || remaining.is_zero() {
                    let news: Vec<Value> = state.updates.iter().map(|(_, update)| update.clone()).collect();
                    return success(Value::Array(news));
                }
                shared.changed.wait_for(&mut state, remaining);
            }
        }
        "sendMessage" => {
            let trouble = state.pending_failures.pop_front();
            if let Some(PostFailure::Status(status, after)) = trouble {
                return Some(refusal(status, "it will not be", after));
            }
            let text = parameters["text"].as_str().unwrap_or_default().to_owned();
            assert!(!text.is_empty() && text.encode_utf16().count() <= 4_096, "a message Telegram takes");
            let rows = parameters["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
            let buttons = rows.iter().filter_map(|row| {
                let button = row.get(0)?;
                let data = button["callback_data"].as_str()?;
                assert!((1..=64).contains(&data.len()), "data Telegram takes: {data}");
                Some((button["text"].as_str()?.to_owned(), data.to_owned()))
            });
            let post = TelegramPost {
                person: parameters["chat_id"].as_str().unwrap_or_default().to_owned(),
                text,
                silent: parameters["disable_notification"].as_bool().unwrap_or_default(),
                buttons: buttons.collect(),
            };
            state.posts.push(post);
            shared.changed.notify_all();
            if trouble.is_some() {
                return None;
            }
            success(
                json!({ "message_id": state.posts.len(), "date": 1, "chat": { "id": 1, "type": "private" } }),
            )
        }
        "sendChatAction" => success(json!(true)),
        "answerCallbackQuery" => {
            state.acknowledged.push(parameters["text"].as_str().unwrap_or_default().to_owned());
            shared.changed.notify_all();
            success(json!(true))
        }
        "getFile" => {
            let id = parameters["file_id"].as_str().unwrap_or_default();
            success(json!({ "file_id": id, "file_path": format!("files/{id}") }))
        }
        _ => Some(refusal(404, "Not Found", None)),
    }
}

fn refusal(code: u16, description: &str, retry_after: Option<u64>) -> (u16, Vec<u8>) {
    let mut body = json!({ "ok": false, "error_code": code, "description": description });
    if let Some(seconds) = retry_after {
        body["parameters"] = json!({ "retry_after": seconds });
    }
    (code, body.to_string().into_bytes())
}
