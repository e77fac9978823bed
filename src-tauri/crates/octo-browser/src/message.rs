//! What a browser sends, read so that nothing it says can end the connection.

use chromiumoxide::{
    Method,
    cdp::browser_protocol::target::SessionId,
    types::{CallId, EventMessage, Message, MethodId},
};
use serde::Deserialize;
use serde_json::Value;

/// One message of the browser.
#[derive(Debug)]
pub enum Incoming {
    /// The answer to a call.
    Answer {
        /// The call.
        call: CallId,
        /// Its result, or why there is none.
        outcome: Result<Value, Refusal>,
    },
    /// Something that happened.
    Event(Event),
    /// A message nobody can read. It was logged.
    Unreadable,
}

/// Why a browser did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The protocol's number for it.
    pub code: i64,
    /// The browser's words.
    pub message: String,
}

/// The code given to an answer that came and cannot be read; JSON-RPC's own for that.
const UNREADABLE: i64 = -32700;

/// Something that happened in the browser.
///
/// chromiumoxide's own `CdpJsonEventMessage` looks for the session under the wrong name, so that every event
/// would seem to be the browser's; and its typed events refuse a message as soon as a newer browser has one more
/// word in a list. This one keeps what came.
#[derive(Clone, Debug, Deserialize)]
pub struct Event {
    /// Its name, `Page.frameNavigated` for example.
    pub method: MethodId,
    /// The session it belongs to; none for the browser itself.
    #[serde(rename = "sessionId")]
    pub session: Option<SessionId>,
    /// What it says.
    #[serde(default)]
    pub params: Value,
}

impl Event {
    /// What it says, as far as the reader knows it. `None` for what is not of that form.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        T::deserialize(&self.params)
            .inspect_err(|error| tracing::debug!(method = %self.method, %error, "an event could not be read"))
            .ok()
    }
}

impl Method for Event {
    fn identifier(&self) -> MethodId {
        self.method.clone()
    }
}

impl EventMessage for Event {
    fn session_id(&self) -> Option<&str> {
        self.session.as_ref().map(AsRef::as_ref)
    }
}

impl From<Message<Event>> for Incoming {
    fn from(message: Message<Event>) -> Self {
        match message {
            Message::Event(event) => Self::Event(event),
            Message::Response(answer) => Self::Answer {
                call: answer.id,
                outcome: match answer.error {
                    Some(error) => Err(Refusal { code: error.code, message: error.message }),
                    None => Ok(answer.result.unwrap_or_default()),
                },
            },
        }
    }
}

/// Reads one message. A page's text may hold half a surrogate pair, which is no valid JSON string: it is replaced
/// by U+FFFD. An answer that still cannot be read fails its own call and nothing else.
pub(crate) fn read(text: &str) -> Incoming {
    if let Ok(message) = serde_json::from_str::<Message<Event>>(text) {
        return message.into();
    }
    if let Ok(message) = serde_json::from_str::<Message<Event>>(&without_lone_surrogates(text)) {
        return message.into();
    }
    let id = text.strip_prefix("{\"id\":").and_then(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    match id {
        Some(id) => Incoming::Answer {
            call: CallId::new(id),
            outcome: Err(Refusal { code: UNREADABLE, message: "the answer could not be read".to_owned() }),
        },
        None => {
            tracing::debug!(bytes = text.len(), "a message of the browser could not be read");
            Incoming::Unreadable
        }
    }
}

/// Replaces the escapes of half a surrogate pair by that of the replacement character.
fn without_lone_surrogates(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        repaired.push_str(before);
        match unit(escape) {
            Some((unit @ 0xD800..=0xDBFF, after)) => {
                let low = after.strip_prefix('\\').and_then(self::unit);
                match low {
                    Some((low @ 0xDC00..=0xDFFF, after)) => {
                        repaired.push_str(&format!("\\u{unit:04x}\\u{low:04x}"));
                        rest = after;
                    }
                    _ => {
                        repaired.push_str("\\ufffd");
                        rest = after;
                    }
                }
            }
            Some((0xDC00..=0xDFFF, after)) => {
                repaired.push_str("\\ufffd");
                rest = after;
            }
            _ => {
                // Any other escape, a backslash's own included, is taken with the character after it.
                repaired.push('\\');
                let mut characters = escape.chars();
                repaired.extend(characters.next());
                rest = characters.as_str();
            }
        }
    }
    repaired.push_str(rest);
    repaired
}

/// The code unit of a `uXXXX` and what follows it.
fn unit(escape: &str) -> Option<(u16, &str)> {
    let digits = escape.strip_prefix('u')?;
    let (hex, after) = digits.split_at_checked(4)?;
    Some((u16::from_str_radix(hex, 16).ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> (CallId, Result<Value, Refusal>) {
        match read(text) {
            Incoming::Answer { call, outcome } => (call, outcome),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn events_keep_their_session() {
        let Incoming::Event(event) = read(r#"{"method":"X.y","params":{"a":1},"sessionId":"S"}"#) else {
            panic!("an event")
        };
        assert_eq!(event.session, Some(SessionId::from("S".to_owned())));
        let Incoming::Event(event) = read(r#"{"method":"New.thing"}"#) else { panic!("an event") };
        assert_eq!((event.session, event.params), (None, Value::Null));
    }

    #[test]
    fn answers_and_refusals() {
        let (call, outcome) = answer(r#"{"id":7,"result":{"x":"y"},"sessionId":"S"}"#);
        assert_eq!((call, outcome.unwrap()["x"].as_str()), (CallId::new(7), Some("y")));
        let (_, outcome) = answer(r#"{"id":7,"error":{"code":-32000,"message":"no","data":"why"}}"#);
        assert_eq!(outcome, Err(Refusal { code: -32000, message: "no".to_owned() }));
    }

    #[test]
    fn half_a_character_costs_only_itself() {
        for (sent, read) in [
            (r"a\ud83db", "a\u{fffd}b"),
            (r"\ude00", "\u{fffd}"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\\ud83d \ud83d", "\\ud83d \u{fffd}"),
            (r"\ud83d", "\u{fffd}"),
        ] {
            let (_, outcome) = answer(&format!(r#"{{"id":1,"result":{{"t":"{sent}"}}}}"#));
            assert_eq!(outcome.unwrap()["t"].as_str(), Some(read), "{sent}");
        }
    }

    #[test]
    fn what_cannot_be_read_fails_its_own_call_or_nothing() {
        let (call, outcome) = answer(r#"{"id":12,"result":{"x":"#);
        assert_eq!((call, outcome.unwrap_err().code), (CallId::new(12), UNREADABLE));
        for text in ["", "{}", "null", "[]", "{\"id\":\"x\"}", "\u{0}", r#"{"method":5}"#] {
            assert!(matches!(read(text), Incoming::Unreadable), "{text:?}");
        }
    }
}
