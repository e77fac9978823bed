//! How the window looks, and when it calls for attention.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How the window looks, beside light and dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct Appearance {
    /// How large text is.
    pub text: TextSize,
    /// How close things stand.
    pub density: Density,
    /// What the list of sessions is grouped by.
    pub list: ListOrder,
}

/// What the list of sessions is grouped by. What waits for the person comes first in each, then what is pinned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum ListOrder {
    /// When they were last used.
    #[default]
    Time,
    /// The folder they work in.
    Folder,
}

/// How large text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum TextSize {
    /// 13 pixels.
    #[default]
    Usual,
    /// 15 pixels.
    Large,
    /// 17 pixels.
    Largest,
}

/// How close things stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Density {
    /// More on a page.
    #[default]
    Compact,
    /// Taller rows and fields.
    Roomy,
}
