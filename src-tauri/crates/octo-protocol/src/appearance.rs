//! The look of the window.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The look of the window, apart from light and dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, export_to = "protocol.ts")]
pub struct Appearance {
    /// The text size.
    pub text: TextSize,
    /// The spacing.
    pub density: Density,
    /// The grouping of the session list.
    pub list: ListOrder,
    /// The zoom.
    pub zoom: Zoom,
}

/// The zoom of all windows, in percent of the usual size: from 50 to 200.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(from = "u16", into = "u16")]
#[ts(export, export_to = "protocol.ts", type = "number")]
pub struct Zoom(u16);

impl Zoom {
    /// The allowed range: WCAG 2.2 requires the maximum (1.4.4), and the minimum helps on a small screen.
    const RANGE: std::ops::RangeInclusive<u16> = 50..=200;

    /// Returns the zoom as a factor of the usual size.
    #[must_use]
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl From<u16> for Zoom {
    /// Clamps the value to the range.
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

/// The grouping of the session list. Sessions that wait for the person are first in each group, then pinned
/// ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ListOrder {
    /// By time of last use.
    #[default]
    Time,
    /// By working folder.
    Folder,
}

/// The text size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum TextSize {
    /// 13 pixels.
    #[default]
    Usual,
    /// 15 pixels.
    Large,
    /// 17 pixels.
    Largest,
}

/// The spacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Density {
    /// More content on a page.
    #[default]
    Compact,
    /// Taller rows and fields.
    Roomy,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zoom_is_within_its_range() {
        for (stored, percent) in [("100", 100), ("50", 50), ("200", 200), ("7", 50), ("65535", 200)] {
            assert_eq!(u16::from(serde_json::from_str::<Zoom>(stored).unwrap()), percent, "{stored}");
        }
        assert_eq!(serde_json::to_string(&Zoom::default()).unwrap(), "100");
        assert!((Zoom::from(125).factor() - 1.25).abs() < f64::EPSILON);
    }
}
