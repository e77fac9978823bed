//! Telegram's data types, with only the fields Octo reads.

use crate::{ButtonPress, InboundContent, InboundFile, InboundUpdate, Person};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use std::collections::HashMap;

#[derive(Debug, Deserialize)]
pub(super) struct ApiAnswer<T> {
    #[serde(default = "Option::default")]
    pub result: Option<T>,
    pub error_code: Option<u16>,
    pub description: Option<String>,
    pub parameters: Option<Parameters>,
    /// Present only in the service's own answers.
    #[serde(rename = "ok")]
    _ok: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Parameters {
    pub retry_after: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Bot {
    pub id: i64,
    pub first_name: String,
    pub username: Option<String>,
}

/// Answer to a sent message; Octo needs none of its fields.
#[derive(Debug, Deserialize)]
pub(super) struct SentMessage {}

#[derive(Debug, Deserialize)]
pub(super) struct File {
    pub file_path: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Update {
    update_id: i64,
    message: Option<Message>,
    callback_query: Option<CallbackQuery>,
}

#[derive(Debug, Deserialize)]
struct Message {
    from: Option<User>,
    chat: Chat,
    text: Option<String>,
    caption: Option<String>,
    #[serde(default)]
    photo: Vec<PhotoSize>,
    document: Option<AttachedDocument>,
    #[serde(flatten)]
    other: HashMap<String, IgnoredAny>,
}

/// Unsupported attachments of a message. A service message (about a pinned message) has none of these.
const UNSUPPORTED: [&str; 13] = [
    "audio",
    "contact",
    "dice",
    "game",
    "live_photo",
    "location",
    "paid_media",
    "poll",
    "sticker",
    "story",
    "venue",
    "video",
    "voice",
];

#[derive(Debug, Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    first_name: String,
    last_name: Option<String>,
    username: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Chat {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
}

/// A picture in one of the service's sizes.
#[derive(Debug, Deserialize)]
struct PhotoSize {
    file_id: String,
    width: u32,
    height: u32,
    file_size: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct AttachedDocument {
    file_id: String,
    file_name: Option<String>,
    file_size: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct CallbackQuery {
    id: String,
    from: User,
    data: Option<String>,
}

impl Update {
    /// Parses an update; one of an unknown form yields only its number.
    pub(super) fn parse(value: Value) -> Option<Self> {
        let update_id = value.get("update_id")?.as_i64()?;
        Some(serde_json::from_value(value).unwrap_or(Self { update_id, message: None, callback_query: None }))
    }

    pub(super) fn into_update(self) -> InboundUpdate {
        let number = self.update_id;
        let nobody = InboundUpdate { number, from: None, content: None };
        if let Some(callback) = self.callback_query {
            let Some(data) = callback.data.filter(|_| !callback.from.is_bot) else { return nobody };
            let press = ButtonPress { id: callback.id, data };
            return InboundUpdate {
                number,
                from: Some(callback.from.person()),
                content: Some(InboundContent::Pressed(press)),
            };
        }
        let Some(message) = self.message else { return nobody };
        // Alone with the bot, a person's chat has their own id. In a group, all members would read the answers.
        let is_private =
            |sender: &User| message.chat.kind == "private" && message.chat.id == sender.id && !sender.is_bot;
        let Some(sender) = message.from.filter(is_private) else { return nobody };
        let picture =
            message.photo.into_iter().max_by_key(|size| u64::from(size.width) * u64::from(size.height));
        let mut files: Vec<InboundFile> = picture
            .map(|size| InboundFile { id: size.file_id, name: None, bytes: size.file_size })
            .into_iter()
            .collect();
        files.extend(message.document.map(|document| InboundFile {
            id: document.file_id,
            name: Some(document.file_name.unwrap_or_else(|| "file".to_owned())),
            bytes: document.file_size,
        }));
        let text = message.text.or(message.caption).unwrap_or_default();
        let brings = |name: &&str| message.other.contains_key(*name);
        let more = UNSUPPORTED.iter().any(brings) || message.other.contains_key("video_note");
        if text.is_empty() && files.is_empty() && !more {
            return nobody;
        }
        InboundUpdate {
            number,
            from: Some(sender.person()),
            content: Some(InboundContent::Message { text, files, more }),
        }
    }
}

impl User {
    fn person(self) -> Person {
        let mut name = self.first_name;
        if let Some(last) = self.last_name {
            name = format!("{name} {last}");
        }
        if let Some(username) = self.username {
            name = format!("{name} (@{username})");
        }
        Person { id: self.id.to_string(), name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(update: Value) -> InboundUpdate {
        serde_json::from_value::<Update>(update).unwrap().into_update()
    }

    fn me() -> Value {
        json!({ "id": 7, "is_bot": false, "first_name": "Ada", "last_name": "L", "username": "ada" })
    }

    #[test]
    fn a_message_to_the_bot_alone_is_read_with_its_largest_picture() {
        let private_chat = json!({ "id": 7, "type": "private" });
        let text = read(json!({ "update_id": 5, "message": {
            "message_id": 1, "date": 1, "from": me(), "chat": private_chat, "text": "Hello" } }));
        assert_eq!(text.from, Some(Person { id: "7".into(), name: "Ada L (@ada)".into() }));
        assert_eq!(
            text.content,
            Some(InboundContent::Message { text: "Hello".into(), files: vec![], more: false })
        );
        let photo = read(json!({ "update_id": 6, "message": {
            "message_id": 2, "date": 1, "from": me(), "chat": private_chat, "caption": "This",
            "photo": [{ "file_id": "s", "file_unique_id": "s", "width": 90, "height": 60 },
                      { "file_id": "l", "file_unique_id": "l", "width": 900, "height": 600, "file_size": 5 }] } }));
        let file = InboundFile { id: "l".into(), name: None, bytes: Some(5) };
        assert_eq!(
            photo.content,
            Some(InboundContent::Message { text: "This".into(), files: vec![file], more: false })
        );
        let film = read(
            json!({ "update_id": 7, "message": { "message_id": 3, "date": 1, "from": me(), "chat": private_chat,
            "video": { "file_id": "v" }, "caption": "What is said?" } }),
        );
        let more = InboundContent::Message { text: "What is said?".into(), files: vec![], more: true };
        assert_eq!(film.content, Some(more));
        let voice = read(json!({ "update_id": 7, "message": {
            "message_id": 3, "date": 1, "from": me(), "chat": private_chat, "voice": { "file_id": "v" } } }));
        assert_eq!(
            voice.content,
            Some(InboundContent::Message { text: String::new(), files: vec![], more: true })
        );
        let pressed =
            read(json!({ "update_id": 8, "callback_query": { "id": "c", "from": me(), "data": "d" } }));
        assert_eq!(
            pressed.content,
            Some(InboundContent::Pressed(ButtonPress { id: "c".into(), data: "d".into() }))
        );
    }

    #[test]
    fn an_unknown_update_yields_only_its_number() {
        let malformed = json!({ "update_id": 9, "message": { "chat": "?" } });
        let read = Update::parse(malformed).map(Update::into_update);
        assert_eq!(read, Some(InboundUpdate { number: 9, from: None, content: None }));
        assert!(Update::parse(json!({ "message": {} })).is_none());
    }

    #[test]
    fn only_private_messages_of_people_are_accepted() {
        let group = json!({ "id": -9, "type": "supergroup" });
        let other_chat = json!({ "id": 8, "type": "private" });
        let bot = json!({ "id": 7, "is_bot": true, "first_name": "B" });
        let channel = json!({ "id": -3, "type": "channel" });
        for update in [
            json!({ "update_id": 1, "message": { "message_id": 1, "date": 1, "from": me(), "chat": group, "text": "x" } }),
            json!({ "update_id": 1, "message": { "message_id": 1, "date": 1, "from": me(), "chat": other_chat, "text": "x" } }),
            json!({ "update_id": 1, "message": { "message_id": 1, "date": 1, "from": bot,
                "chat": { "id": 7, "type": "private" }, "text": "x" } }),
            json!({ "update_id": 1, "message": { "message_id": 1, "date": 1, "chat": channel, "text": "x" } }),
            json!({ "update_id": 1, "message": { "message_id": 1, "date": 1, "from": me(),
                "chat": { "id": 7, "type": "private" }, "pinned_message": { "message_id": 1 } } }),
            json!({ "update_id": 1, "edited_message": { "message_id": 1 } }),
            json!({ "update_id": 1, "callback_query": { "id": "c", "from": me() } }),
        ] {
            assert_eq!(read(update), InboundUpdate { number: 1, from: None, content: None });
        }
    }
}
