//! Telegram client: the person's own bot, with the Bot API (<https://core.telegram.org/bots/api>).
//!
//! Octo fetches updates by long polling: the service answers a request once there is an update. The service
//! forgets an update when a later one is requested, so a caller that stores a batch before requesting the next
//! loses nothing.

mod wire;

use crate::{ChatClient, ChatError, InboundUpdate, Person, Post, ServiceRefusal};
use octo_llm::{Network, keyed_host};
use octo_protocol::ApiError;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{error::Error as _, time::Duration};
use wire::{ApiAnswer, Bot, File, SentMessage, Update};

/// Default address of the service; the person may run a server of their own.
pub const DEFAULT_SERVER: &str = "https://api.telegram.org";
/// How long the service keeps a request for updates open.
pub const POLL_TIME: Duration = Duration::from_secs(25);
/// Timeout of any other answer, and the extra time of a request for updates on top of [`POLL_TIME`].
pub const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// Maximum size of a file for a bot, in bytes (the Bot API's own limit for `getFile`).
pub const LARGEST_FILE: u64 = 20 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes read of an answer.
const MAX_ANSWER: u64 = 8 * 1024 * 1024;
/// Longest wait that the service may request; a larger number is invalid.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(15 * 60);
/// Maximum updates fetched at once, so an answer stays below [`MAX_ANSWER`] whatever strangers write.
const MAX_UPDATES: u8 = 20;
/// Requested kinds of updates: messages and buttons, no edits.
const UPDATE_KINDS: [&str; 2] = ["message", "callback_query"];

/// A bot at Telegram. Cheap to clone.
#[derive(Clone)]
pub struct Telegram {
    client: Client,
    server: Url,
    token: SecretString,
}

/// Returns a server's normalized address, and the host its token is bound to. `None` means [`DEFAULT_SERVER`].
///
/// # Errors
/// Returns `chat.server_wrong` if the text is not an address, contains a name or a password, or would send the
/// token unencrypted over a network.
pub fn server_address(custom_address: Option<&str>) -> Result<(String, String), ApiError> {
    let address = custom_address.map_or(DEFAULT_SERVER, str::trim).trim_end_matches('/').to_owned();
    let host =
        keyed_host(&address).map_err(|error| ApiError::new("chat.server_wrong").detail(error.message))?;
    Ok((address, host))
}

impl Telegram {
    /// Creates the client of a bot from its token, with the network settings.
    ///
    /// # Errors
    /// Returns [`ChatError::Connection`] for an unusable address, proxy or certificate, and [`ChatError::UnknownToken`] for a
    /// text that cannot be a token.
    pub fn new(network: &Network, server: Option<&str>, token: SecretString) -> Result<Self, ChatError> {
        let (address, _) = server_address(server).map_err(ChatError::Connection)?;
        let server = Url::parse(&format!("{address}/"))
            .map_err(|error| ChatError::Connection(ApiError::new("chat.server_wrong").detail(error)))?;
        // It is part of the path: a character that could end it there cannot belong to a token.
        let is_token_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-');
        let exposed = token.expose_secret();
        if exposed.is_empty() || !exposed.chars().all(is_token_char) || !exposed.contains(':') {
            return Err(ChatError::UnknownToken("not of the form 123456:ABC".to_owned()));
        }
        let builder = Client::builder()
            .user_agent(concat!("octo/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            // A redirect would send the token to its target.
            .redirect(redirect::Policy::none())
            .referer(false);
        let builder =
            network.apply(builder, &server).map_err(|error| ChatError::Connection(error.to_api()))?;
        let client = builder.build().map_err(|error| ChatError::Unreachable(causes(error)))?;
        Ok(Self { client, server, token })
    }

    async fn send_as(&self, person: &str, post: &Post, markup: Option<&str>) -> Result<(), ChatError> {
        let mut payload = json!({
            "chat_id": person,
            "text": if markup.is_some() { &post.rich } else { &post.plain },
            "disable_notification": post.silent,
            // A preview would make the service fetch an address that a model wrote.
            "link_preview_options": { "is_disabled": true },
        });
        if let Some(markup) = markup {
            payload["parse_mode"] = markup.into();
        }
        if !post.buttons.is_empty() {
            let rows = post
                .buttons
                .iter()
                .map(|button| json!([{ "text": button.label, "callback_data": button.data }]));
            payload["reply_markup"] = json!({ "inline_keyboard": rows.collect::<Vec<_>>() });
        }
        self.call_method::<SentMessage>("sendMessage", &payload, ANSWER_WAIT).await.map(drop)
    }

    async fn call_method<T: DeserializeOwned>(
        &self,
        method: &str,
        payload: &impl Serialize,
        timeout: Duration,
    ) -> Result<T, ChatError> {
        let url = self.url(&format!("bot{}/{method}", self.token.expose_secret()))?;
        let request = self.client.post(url).json(payload).timeout(timeout);
        let mut response = self.exchange(request).await?;
        let status = response.status();
        let body = read(&mut response, MAX_ANSWER).await?;
        let Ok(reply) = serde_json::from_slice::<ApiAnswer<T>>(&body) else {
            // A gateway's own page, or a server of another kind.
            return Err(match status {
                status if status.is_server_error() => {
                    ChatError::Unanswered(format!("HTTP {}", status.as_u16()))
                }
                status if status.is_success() => {
                    ChatError::Unanswered("the answer is not the service's".to_owned())
                }
                status => refused(status.as_u16(), "the answer is not the service's"),
            });
        };
        reply.result.ok_or_else(|| {
            let message = reply.description.unwrap_or_default();
            let delay =
                reply.parameters.and_then(|parameters| parameters.retry_after).map(Duration::from_secs);
            to_error(reply.error_code.unwrap_or(status.as_u16()), message, delay)
        })
    }

    fn url(&self, path: &str) -> Result<Url, ChatError> {
        // Joined by hand: a token contains a colon, so the path would be parsed as an address.
        let address = format!("{}{path}", self.server);
        Url::parse(&address).map_err(|_| ChatError::Connection(ApiError::new("chat.server_wrong")))
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<Response, ChatError> {
        request.send().await.map_err(|error| {
            let was_sent = !error.is_connect() && !error.is_builder();
            let cause = causes(error);
            if was_sent { ChatError::Unanswered(cause) } else { ChatError::Unreachable(cause) }
        })
    }
}

impl ChatClient for Telegram {
    fn known_id(&self) -> Option<&str> {
        // "123456:ABC": the number is the bot's own.
        self.token.expose_secret().split(':').next()
    }

    async fn account(&self) -> Result<Person, ChatError> {
        let bot: Bot = self.call_method("getMe", &json!({}), ANSWER_WAIT).await?;
        Ok(Person { id: bot.id.to_string(), name: bot.username.unwrap_or(bot.first_name) })
    }

    async fn fetch_updates(
        &self,
        offset: Option<i64>,
        timeout: Duration,
    ) -> Result<Vec<InboundUpdate>, ChatError> {
        let mut parameters = json!({ "timeout": timeout.min(POLL_TIME).as_secs(), "allowed_updates": UPDATE_KINDS, "limit": MAX_UPDATES });
        if let Some(offset) = offset {
            parameters["offset"] = offset.into();
        }
        // An unreadable one is skipped, not fetched again and again.
        let updates: Vec<Value> = self.call_method("getUpdates", &parameters, timeout + ANSWER_WAIT).await?;
        Ok(updates.into_iter().filter_map(Update::parse).map(Update::into_update).collect())
    }

    async fn send(&self, person: &str, post: &Post) -> Result<(), ChatError> {
        match self.send_as(person, post, Some("HTML")).await {
            // The service parses its markup more strictly than documented; the text itself must arrive.
            Err(ChatError::Refused(refusal)) if refusal.message.contains("can't parse entities") => {
                self.send_as(person, post, None).await
            }
            sent => sent,
        }
    }

    async fn typing(&self, person: &str) -> Result<(), ChatError> {
        let parameters = json!({ "chat_id": person, "action": "typing" });
        self.call_method::<bool>("sendChatAction", &parameters, ANSWER_WAIT).await.map(drop)
    }

    async fn acknowledge(&self, press: &str, text: &str) -> Result<(), ChatError> {
        let parameters = json!({ "callback_query_id": press, "text": text });
        self.call_method::<bool>("answerCallbackQuery", &parameters, ANSWER_WAIT).await.map(drop)
    }

    async fn file(&self, file: &str, limit: u64) -> Result<Vec<u8>, ChatError> {
        let found: File = self.call_method("getFile", &json!({ "file_id": file }), ANSWER_WAIT).await?;
        let Some(path) = found.file_path else {
            return Err(refused(404, "the service keeps no such file"));
        };
        // The service's path becomes part of an address with the token: it must not lead anywhere else.
        let is_plain = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
            && path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'));
        if !is_plain {
            return Err(refused(400, "the service names the file in a way that cannot be followed"));
        }
        let url = self.url(&format!("file/bot{}/{path}", self.token.expose_secret()))?;
        let request = self.client.get(url).timeout(POLL_TIME + ANSWER_WAIT);
        let mut response = self.exchange(request).await?;
        if !response.status().is_success() {
            return Err(refused(response.status().as_u16(), "the file cannot be fetched"));
        }
        read(&mut response, limit).await
    }
}

impl std::fmt::Debug for Telegram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telegram").field("server", &self.server.as_str()).finish_non_exhaustive()
    }
}

/// Converts a refusal of the service to an error.
fn to_error(code: u16, message: String, delay: Option<Duration>) -> ChatError {
    match code {
        // "Unauthorized"; "Not Found" for a token that never existed.
        401 | 404 if message.is_empty() || message == "Unauthorized" || message == "Not Found" => {
            ChatError::UnknownToken(message)
        }
        409 => ChatError::Conflict(message),
        429 => ChatError::RateLimited(delay.unwrap_or(ANSWER_WAIT).min(MAX_RETRY_WAIT)),
        // It may have been done nevertheless: a gateway stopped waiting.
        500.. => ChatError::Unanswered(format!("{code}: {message}")),
        code => refused(code, message),
    }
}

fn refused(code: u16, message: impl Into<String>) -> ChatError {
    ChatError::Refused(ServiceRefusal { code, message: message.into() })
}

async fn read(response: &mut Response, limit: u64) -> Result<Vec<u8>, ChatError> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if (bytes.len() + chunk.len()) as u64 > limit => {
                return Err(refused(StatusCode::PAYLOAD_TOO_LARGE.as_u16(), "it is too large"));
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok(bytes),
            Err(error) => return Err(ChatError::Unanswered(causes(error))),
        }
    }
}

/// Returns the causes of an error: its own message names only the request, whose address contains the token.
fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        message.push_str(": ");
        message.push_str(&source.to_string());
        cause = source.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
    };

    #[test]
    fn a_token_goes_only_where_it_is_encrypted_or_stays_on_this_machine() {
        for (address, expected) in [
            (None, Some("https://api.telegram.org")),
            (Some(" https://bots.example/ "), Some("https://bots.example")),
            (Some("http://127.0.0.1:8081/"), Some("http://127.0.0.1:8081")),
            (Some("http://bots.example"), None),
            (Some("http://192.168.1.4:8081"), None),
            (Some("https://me:secret@bots.example"), None),
            (Some("bots"), None),
            (Some(""), None),
        ] {
            let host = server_address(address);
            assert_eq!(host.as_ref().ok().map(|(_, host)| host.as_str()), expected, "{address:?}");
            assert!(!format!("{host:?}").contains("secret"));
        }
    }

    #[test]
    fn an_invalid_token_is_not_sent() {
        for token in ["", "12", "12:ab/../x", "12:ab c", "12:ab\n", "12:ab?x", "12:ab#"] {
            let made = Telegram::new(&Network::default(), None, SecretString::from(token));
            assert!(matches!(made, Err(ChatError::UnknownToken(_))), "{token:?}");
        }
        let made = Telegram::new(&Network::default(), None, SecretString::from("123:AA_b-c")).unwrap();
        assert!(!format!("{made:?}").contains("AA_b"));
        assert_eq!(made.url("bot123:AA/getMe").unwrap().as_str(), "https://api.telegram.org/bot123:AA/getMe");
    }

    /// The token is in the path, which is sent through the proxy's tunnel and not to the proxy.
    #[tokio::test]
    async fn requests_use_the_configured_proxy_without_showing_it_the_token() {
        let proxy = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = SecretString::from(format!("http://{}", proxy.local_addr().unwrap()));
        let request = std::thread::spawn(move || {
            let (mut stream, _) = proxy.accept().unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").unwrap();
            String::from_utf8_lossy(&request[..read]).into_owned()
        });
        let network = Network { proxy: octo_llm::Proxy::Manual(address), ..Network::default() };
        let telegram = Telegram::new(&network, None, SecretString::from("123:AAsecret")).unwrap();
        let error = telegram.account().await.unwrap_err();
        assert!(matches!(error, ChatError::Unreachable(_)), "{error:?}");
        assert!(!format!("{error:?}").contains("AAsecret"));
        let request = request.join().unwrap();
        assert!(request.starts_with("CONNECT api.telegram.org:443 "), "{request}");
        assert!(!request.contains("AAsecret"));
    }

    #[test]
    fn service_errors_are_classified() {
        let second = Some(Duration::from_secs(1));
        for (code, message, delay, expected) in [
            (401, "Unauthorized", None, ChatError::UnknownToken("Unauthorized".into())),
            (404, "Not Found", None, ChatError::UnknownToken("Not Found".into())),
            (409, "Conflict: x", None, ChatError::Conflict("Conflict: x".into())),
            (429, "Too Many", second, ChatError::RateLimited(Duration::from_secs(1))),
            (429, "Too Many", Some(Duration::from_secs(u64::MAX)), ChatError::RateLimited(MAX_RETRY_WAIT)),
            (502, "Bad Gateway", None, ChatError::Unanswered("502: Bad Gateway".into())),
            (403, "Forbidden: bot was blocked", None, refused(403, "Forbidden: bot was blocked")),
            (404, "Bad Request: no chat", None, refused(404, "Bad Request: no chat")),
        ] {
            assert_eq!(to_error(code, message.to_owned(), delay), expected);
        }
    }
}
