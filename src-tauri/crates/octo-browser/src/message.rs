//! Messages from the browser, parsed so that no content can end the connection.

use async_tungstenite::tungstenite::Utf8Bytes;
use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodId},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::fmt;

/// A message from the browser.
#[derive(Debug)]
pub enum BrowserMessage {
    /// The answer to a call.
    Answer {
        /// The call.
        call: CallId,
        /// The raw answer, or the refusal.
        outcome: Result<RawAnswer, CommandRefusal>,
    },
    /// An event.
    Event(BrowserEvent),
    /// A message that could not be parsed. It was logged.
    Unreadable,
}

/// An unparsed answer; only its call id was read. Answers that contain a whole page have millions of
/// characters, and only the caller knows their type. Parsing such a page into a generic value tree first took
/// more time in this process than in the browser.
#[derive(Clone)]
pub struct RawAnswer(Utf8Bytes);

/// Prints only the size: page content must not reach a log.
impl fmt::Debug for RawAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawAnswer({} bytes)", self.0.len())
    }
}

impl RawAnswer {
    /// Parses the answer.
    ///
    /// # Errors
    ///
    /// Fails if the answer does not have the form of `R`.
    pub fn read<R: DeserializeOwned>(&self) -> serde_json::Result<R> {
        #[derive(Deserialize)]
        #[serde(bound = "R: DeserializeOwned")]
        struct AnswerEnvelope<R> {
            result: R,
        }
        let parsed = serde_json::from_str::<AnswerEnvelope<R>>(&self.0);
        parsed
            .or_else(|error| {
                let repaired = without_lone_surrogates(&self.0);
                if *repaired == *self.0 { Err(error) } else { serde_json::from_str(&repaired) }
            })
            .map(|envelope| envelope.result)
    }
}

/// The reason why a browser refused a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRefusal {
    /// The protocol's error code.
    pub code: i64,
    /// The browser's message.
    pub message: String,
}

/// Code for an answer that arrived but cannot be parsed, as JSON-RPC defines it.
const UNREADABLE_CODE: i64 = -32700;

/// An event from the browser.
///
/// chromiumoxide's own `CdpJsonEventMessage` reads the session under the wrong name, so every event would seem
/// to belong to the browser; and its typed events reject a message as soon as a newer browser adds a value to
/// an enumeration. This type keeps the raw parameters.
#[derive(Clone, Debug, Deserialize)]
pub struct BrowserEvent {
    /// The event's name, such as `Page.frameNavigated`.
    pub method: MethodId,
    /// The session it belongs to, or `None` for the browser itself.
    #[serde(rename = "sessionId")]
    pub session: Option<SessionId>,
    /// The event's parameters.
    #[serde(default)]
    pub params: Value,
}

impl BrowserEvent {
    /// Parses the parameters, ignoring unknown fields. Returns `None` if they do not have the form of `T`.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        T::deserialize(&self.params)
            .inspect_err(|error| tracing::debug!(method = %self.method, %error, "an event could not be read"))
            .ok()
    }
}

/// The part of a message that identifies it.
#[derive(Deserialize)]
struct MessageHead {
    id: Option<usize>,
    error: Option<ErrorObject>,
}

#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
    message: String,
}

/// Parses one message. Page text may contain half a surrogate pair, which is not a valid JSON string: it is
/// replaced by U+FFFD. An unparsable answer fails only its own call.
pub(crate) fn parse(text: Utf8Bytes) -> BrowserMessage {
    // Browsers write answers in this form. The caller parses the rest.
    if let Some((id, rest)) = split_id(&text)
        && rest.starts_with(",\"result\":")
    {
        return BrowserMessage::Answer { call: CallId::new(id), outcome: Ok(RawAnswer(text)) };
    }
    let head = serde_json::from_str::<MessageHead>(&text)
        .or_else(|_| serde_json::from_str::<MessageHead>(&without_lone_surrogates(&text)));
    match head {
        Ok(MessageHead { id: Some(id), error }) => BrowserMessage::Answer {
            call: CallId::new(id),
            outcome: match error {
                Some(ErrorObject { code, message }) => Err(CommandRefusal { code, message }),
                None => Ok(RawAnswer(text)),
            },
        },
        Ok(MessageHead { id: None, .. }) => serde_json::from_str::<BrowserEvent>(&text)
            .or_else(|_| serde_json::from_str::<BrowserEvent>(&without_lone_surrogates(&text)))
            .map_or_else(|_| unreadable(&text), BrowserMessage::Event),
        Err(_) => unreadable(&text),
    }
}

/// Returns the id an answer begins with, and the rest.
fn split_id(text: &str) -> Option<(usize, &str)> {
    let rest = text.strip_prefix("{\"id\":")?;
    let end = rest.find(|character: char| !character.is_ascii_digit())?;
    let (digits, rest) = rest.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

fn unreadable(text: &str) -> BrowserMessage {
    match split_id(text) {
        Some((id, _)) => BrowserMessage::Answer {
            call: CallId::new(id),
            outcome: Err(CommandRefusal {
                code: UNREADABLE_CODE,
                message: "the answer could not be read".to_owned(),
            }),
        },
        None => {
            tracing::debug!(bytes = text.len(), "a message of the browser could not be read");
            BrowserMessage::Unreadable
        }
    }
}

/// Replaces escapes of unpaired surrogates with the escape of the replacement character.
fn without_lone_surrogates(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        repaired.push_str(before);
        match unicode_unit(escape) {
            Some((unit @ 0xD800..=0xDBFF, after)) => {
                let low = after.strip_prefix('\\').and_then(self::unicode_unit);
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
                // Any other escape, including an escaped backslash, is copied with the character after it.
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

/// Returns the code unit of a `uXXXX` escape and the rest.
fn unicode_unit(escape: &str) -> Option<(u16, &str)> {
    let digits = escape.strip_prefix('u')?;
    let (hex, after) = digits.split_at_checked(4)?;
    Some((u16::from_str_radix(hex, 16).ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> (CallId, Result<Value, CommandRefusal>) {
        match parse(text.into()) {
            BrowserMessage::Answer { call, outcome } => {
                let parse_value = |answer: RawAnswer| {
                    answer
                        .read()
                        .map_err(|error| CommandRefusal { code: UNREADABLE_CODE, message: error.to_string() })
                };
                (call, outcome.and_then(parse_value))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn events_keep_their_session() {
        let BrowserMessage::Event(event) =
            parse(r#"{"method":"X.y","params":{"a":1},"sessionId":"S"}"#.into())
        else {
            panic!("an event")
        };
        assert_eq!(event.session, Some(SessionId::from("S".to_owned())));
        let BrowserMessage::Event(event) = parse(r#"{"method":"New.thing"}"#.into()) else {
            panic!("an event")
        };
        assert_eq!((event.session, event.params), (None, Value::Null));
    }

    #[test]
    fn answers_and_refusals_are_parsed() {
        let (call, outcome) = answer(r#"{"id":7,"result":{"x":"y"},"sessionId":"S"}"#);
        assert_eq!((call, outcome.unwrap()["x"].as_str()), (CallId::new(7), Some("y")));
        let (_, outcome) = answer(r#"{"id":7,"error":{"code":-32000,"message":"no","data":"why"}}"#);
        assert_eq!(outcome, Err(CommandRefusal { code: -32000, message: "no".to_owned() }));
        // The order of members and white space make no difference.
        let (call, outcome) = answer(r#"{ "sessionId": "S", "result": { "x": "y" }, "id": 8 }"#);
        assert_eq!((call, outcome.unwrap()["x"].as_str()), (CallId::new(8), Some("y")));
        let (call, outcome) = answer(r#"{"id":9}"#);
        assert_eq!((call, outcome.unwrap_err().code), (CallId::new(9), UNREADABLE_CODE));
    }

    #[test]
    fn a_lone_surrogate_loses_only_itself() {
        for (sent, expected) in [
            (r"a\ud83db", "a\u{fffd}b"),
            (r"\ude00", "\u{fffd}"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\\ud83d \ud83d", "\\ud83d \u{fffd}"),
            (r"\ud83d", "\u{fffd}"),
        ] {
            let (_, outcome) = answer(&format!(r#"{{"id":1,"result":{{"t":"{sent}"}}}}"#));
            assert_eq!(outcome.unwrap()["t"].as_str(), Some(expected), "{sent}");
            let event = super::parse(format!(r#"{{"method":"X.y","params":{{"t":"{sent}"}}}}"#).into());
            let BrowserMessage::Event(event) = event else { panic!("{event:?}") };
            assert_eq!(event.params["t"].as_str(), Some(expected), "{sent}");
        }
    }

    #[test]
    fn an_unreadable_message_fails_only_its_own_call() {
        let (call, outcome) = answer(r#"{"id":12,"result":{"x":"#);
        assert_eq!((call, outcome.unwrap_err().code), (CallId::new(12), UNREADABLE_CODE));
        for text in ["", "{}", "null", "[]", "{\"id\":\"x\"}", "\u{0}", r#"{"method":5}"#] {
            assert!(matches!(parse(text.into()), BrowserMessage::Unreadable), "{text:?}");
        }
    }
}
