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
    /// How large everything is.
    pub zoom: Zoom,
}

/// How large everything in the windows is, in percent of its usual size: from 50 to 200.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(from = "u16", into = "u16")]
#[ts(export, type = "number")]
pub struct Zoom(u16);

impl Zoom {
    /// The least and the most: what WCAG 2.2 asks for (1.4.4), and what a small screen is helped by.
    const RANGE: std::ops::RangeInclusive<u16> = 50..=200;

    /// As a factor of the usual size.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl From<u16> for Zoom {
    /// What is beyond the range counts as its end.
    fn from(percent: u16) -> Self {
        Self(percent.clamp(*Self::RANGE.start(), *Self::RANGE.end()))
    }
}

impl From<Zoom> for u16 {
    fn from(zoom: Zoom) -> Self {
        zoom.0
    }
}

impl Default for Zoom {
    fn default() -> Self {
        Self(100)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zoom_is_within_what_can_be_read() {
        for (stored, percent) in [("100", 100), ("50", 50), ("200", 200), ("7", 50), ("65535", 200)] {
            assert_eq!(u16::from(serde_json::from_str::<Zoom>(stored).unwrap()), percent, "{stored}");
        }
        assert_eq!(serde_json::to_string(&Zoom::default()).unwrap(), "100");
        assert!((Zoom::from(125).factor() - 1.25).abs() < f64::EPSILON);
    }
}
