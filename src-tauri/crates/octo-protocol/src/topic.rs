//! The subjects that a client subscribes to.

use crate::SessionId;
use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

/// The subject of a numbered stream of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(from = "TopicForm", into = "TopicForm")]
#[ts(as = "TopicForm", export, export_to = "protocol.ts")]
pub enum Topic {
    /// Its events are stored and numbered.
    Stored(StoredTopic),
    /// It has no events of its own: subscribers receive its state on each change.
    Live(LiveTopic),
}

/// A topic with stored, numbered events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StoredTopic {
    /// One session.
    Session {
        /// The session.
        id: SessionId,
    },
    /// The list of sessions.
    Sessions,
    /// Settings and models.
    Settings,
    /// The trash.
    Trash,
}

/// A topic without events of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LiveTopic {
    /// Spending in all sessions: subscribers receive each billed call as Octo stores it.
    Ledger,
    /// The connection to a browser.
    Browser,
    /// Skills and memories. They are files, so subscribers only learn that something changed.
    Library,
    /// Scheduled tasks. Their runs are separate rows, so subscribers only learn that something changed.
    Tasks,
    /// Activity in this Octo.
    Activity,
}

/// The JSON of a topic: one flat list.
#[derive(Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TopicForm {
    Session {
        /// The session.
        id: SessionId,
    },
    Sessions,
    Settings,
    Ledger,
    Trash,
    Browser,
    Library,
    Tasks,
    Activity,
}

impl From<TopicForm> for Topic {
    fn from(form: TopicForm) -> Self {
        match form {
            TopicForm::Session { id } => StoredTopic::Session { id }.into(),
            TopicForm::Sessions => StoredTopic::Sessions.into(),
            TopicForm::Settings => StoredTopic::Settings.into(),
            TopicForm::Trash => StoredTopic::Trash.into(),
            TopicForm::Ledger => LiveTopic::Ledger.into(),
            TopicForm::Browser => LiveTopic::Browser.into(),
            TopicForm::Library => LiveTopic::Library.into(),
            TopicForm::Tasks => LiveTopic::Tasks.into(),
            TopicForm::Activity => LiveTopic::Activity.into(),
        }
    }
}

impl From<Topic> for TopicForm {
    fn from(topic: Topic) -> Self {
        match topic {
            Topic::Stored(StoredTopic::Session { id }) => Self::Session { id },
            Topic::Stored(StoredTopic::Sessions) => Self::Sessions,
            Topic::Stored(StoredTopic::Settings) => Self::Settings,
            Topic::Stored(StoredTopic::Trash) => Self::Trash,
            Topic::Live(LiveTopic::Ledger) => Self::Ledger,
            Topic::Live(LiveTopic::Browser) => Self::Browser,
            Topic::Live(LiveTopic::Library) => Self::Library,
            Topic::Live(LiveTopic::Tasks) => Self::Tasks,
            Topic::Live(LiveTopic::Activity) => Self::Activity,
        }
    }
}

impl From<StoredTopic> for Topic {
    fn from(topic: StoredTopic) -> Self {
        Self::Stored(topic)
    }
}

impl From<LiveTopic> for Topic {
    fn from(topic: LiveTopic) -> Self {
        Self::Live(topic)
    }
}

impl fmt::Display for StoredTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session { id } => write!(f, "session/{id}"),
            Self::Sessions => f.write_str("sessions"),
            Self::Settings => f.write_str("settings"),
            Self::Trash => f.write_str("trash"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_topic_is_one_flat_object() {
        let id = SessionId::new();
        let names = ["sessions", "settings", "ledger", "trash", "browser", "library", "tasks", "activity"];
        let plain = names.map(|name| json!({ "type": name }));
        for form in plain.into_iter().chain([json!({ "type": "session", "id": id })]) {
            let topic: Topic = serde_json::from_value(form.clone()).unwrap();
            assert_eq!(serde_json::to_value(topic).unwrap(), form);
            if let Topic::Stored(topic) = topic {
                assert_eq!(serde_json::to_value(topic).unwrap(), form, "as in an event");
            }
        }
        assert!(serde_json::from_value::<StoredTopic>(json!({ "type": "ledger" })).is_err());
    }
}
