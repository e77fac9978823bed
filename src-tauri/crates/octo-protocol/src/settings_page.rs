//! The pages of the settings.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Declares [`SettingsPage`]: each page once, with its name.
macro_rules! settings_pages {
    ($($(#[$doc:meta])* $page:ident = $name:tt,)*) => {
        /// A page of the settings. Links, the `octo settings` command and the window call it by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
        #[ts(export, export_to = "protocol.ts")]
        pub enum SettingsPage {
            $($(#[$doc])* #[serde(rename = $name)] $page,)*
        }

        impl SettingsPage {
            /// All pages, in the window's order.
            pub const ALL: &[Self] = &[$(Self::$page),*];

            /// Returns its name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$page => $name,)*
                }
            }

            /// Returns the page with that name.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|page| page.name() == name)
            }
        }
    };
}

settings_pages! {
    /// Models, keys and connections.
    Models = "models",
    /// Language, folders and new sessions.
    General = "general",
    /// How Octo works: compaction, suggestions, limits.
    Behaviour = "behaviour",
    /// Scheduled tasks.
    Tasks = "tasks",
    /// The command policy.
    Rules = "rules",
    /// The browser and its secrets.
    Browser = "browser",
    /// Chat services.
    Chats = "chats",
    /// Skills and memories.
    Knowledge = "knowledge",
    /// The look of the window.
    Appearance = "appearance",
    /// Keyboard shortcuts.
    Shortcuts = "shortcuts",
    /// Notifications.
    Notifications = "notifications",
    /// Octo's home and its repair.
    Data = "data",
    /// The version, licences and updates.
    About = "about",
}
