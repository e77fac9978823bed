//! What a browser sends, read so that nothing it says can end the connection.

use async_tungstenite::tungstenite::Utf8Bytes;
use chromiumoxide::{
    cdp::browser_protocol::target::SessionId,
    types::{CallId, MethodId},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::fmt;

/// One message of the browser.
#[derive(Debug)]
pub enum Incoming {
    /// The answer to a call.
    Answer {
        /// The call.
        call: CallId,
        /// It as it came, or why there is none.
        outcome: Result<Answered, Refusal>,
    },
    /// Something that happened.
    Event(Event),
    /// A message nobody can read. It was logged.
    Unreadable,
}

/// An answer as it came. Nothing of it was read but whose it is: the answers that hold a whole page are millions of
/// characters, and who asked knows what they are to be read as. Read into a tree of values first, such a page took
/// more of this process's time than of the browser's.
#[derive(Clone)]
pub struct Answered(Utf8Bytes);

/// Its size alone: what a page holds belongs in no log.
impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answered({} bytes)", self.0.len())
    }
}

impl Answered {
    /// What it says.
    ///
    /// # Errors
    ///
    /// When it is not of that form.
    pub fn read<R: DeserializeOwned>(&self) -> serde_json::Result<R> {
        #[derive(Deserialize)]
        #[serde(bound = "R: DeserializeOwned")]
        struct Whole<R> {
            result: R,
        }
        let read = serde_json::from_str::<Whole<R>>(&self.0);
        read.or_else(|error| {
            let repaired = without_lone_surrogates(&self.0);
            if *repaired == *self.0 { Err(error) } else { serde_json::from_str(&repaired) }
        })
        .map(|whole| whole.result)
    }
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

/// As much of a message as says what it is.
#[derive(Deserialize)]
struct Head {
    id: Option<usize>,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    code: i64,
    message: String,
}

/// Reads one message. A page's text may hold half a surrogate pair, which is no valid JSON string: it is replaced
/// by U+FFFD. An answer that cannot be read fails its own call and nothing else.
pub(crate) fn read(text: Utf8Bytes) -> Incoming {
    // As browsers write it. What follows is for who asked.
    if let Some((id, rest)) = numbered(&text)
        && rest.starts_with(",\"result\":")
    {
        return Incoming::Answer { call: CallId::new(id), outcome: Ok(Answered(text)) };
    }
    let head = serde_json::from_str::<Head>(&text)
        .or_else(|_| serde_json::from_str::<Head>(&without_lone_surrogates(&text)));
    match head {
        Ok(Head { id: Some(id), error }) => Incoming::Answer {
            call: CallId::new(id),
            outcome: match error {
                Some(Refused { code, message }) => Err(Refusal { code, message }),
                None => Ok(Answered(text)),
            },
        },
        Ok(Head { id: None, .. }) => serde_json::from_str::<Event>(&text)
            .or_else(|_| serde_json::from_str::<Event>(&without_lone_surrogates(&text)))
            .map_or_else(|_| unreadable(&text), Incoming::Event),
        Err(_) => unreadable(&text),
    }
}

/// The number an answer begins with, and what follows it.
fn numbered(text: &str) -> Option<(usize, &str)> {
    let rest = text.strip_prefix("{\"id\":")?;
    let end = rest.find(|character: char| !character.is_ascii_digit())?;
    let (digits, rest) = rest.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

fn unreadable(text: &str) -> Incoming {
    match numbered(text) {
        Some((id, _)) => Incoming::Answer {
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
        match read(text.into()) {
            Incoming::Answer { call, outcome } => {
                let read = |answered: Answered| {
                    answered.read().map_err(|error| Refusal { code: UNREADABLE, message: error.to_string() })
                };
                (call, outcome.and_then(read))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn events_keep_their_session() {
        let Incoming::Event(event) = read(r#"{"method":"X.y","params":{"a":1},"sessionId":"S"}"#.into())
        else {
            panic!("an event")
        };
        assert_eq!(event.session, Some(SessionId::from("S".to_owned())));
        let Incoming::Event(event) = read(r#"{"method":"New.thing"}"#.into()) else { panic!("an event") };
        assert_eq!((event.session, event.params), (None, Value::Null));
    }

    #[test]
    fn answers_and_refusals() {
        let (call, outcome) = answer(r#"{"id":7,"result":{"x":"y"},"sessionId":"S"}"#);
        assert_eq!((call, outcome.unwrap()["x"].as_str()), (CallId::new(7), Some("y")));
        let (_, outcome) = answer(r#"{"id":7,"error":{"code":-32000,"message":"no","data":"why"}}"#);
        assert_eq!(outcome, Err(Refusal { code: -32000, message: "no".to_owned() }));
        // However it is written.
        let (call, outcome) = answer(r#"{ "sessionId": "S", "result": { "x": "y" }, "id": 8 }"#);
        assert_eq!((call, outcome.unwrap()["x"].as_str()), (CallId::new(8), Some("y")));
        let (call, outcome) = answer(r#"{"id":9}"#);
        assert_eq!((call, outcome.unwrap_err().code), (CallId::new(9), UNREADABLE));
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
            let event = super::read(format!(r#"{{"method":"X.y","params":{{"t":"{sent}"}}}}"#).into());
            let Incoming::Event(event) = event else { panic!("{event:?}") };
            assert_eq!(event.params["t"].as_str(), Some(read), "{sent}");
        }
    }

    #[test]
    fn what_cannot_be_read_fails_its_own_call_or_nothing() {
        let (call, outcome) = answer(r#"{"id":12,"result":{"x":"#);
        assert_eq!((call, outcome.unwrap_err().code), (CallId::new(12), UNREADABLE));
        for text in ["", "{}", "null", "[]", "{\"id\":\"x\"}", "\u{0}", r#"{"method":5}"#] {
            assert!(matches!(read(text.into()), Incoming::Unreadable), "{text:?}");
        }
    }
}
