//! Browser replies, parsed leniently: only the fields used here, each with a default, and roles and property
//! names as plain strings. The typed replies of the protocol crate reject a whole page because of one value
//! that a newer browser added; these do not.

use std::fmt;

use chromiumoxide::cdp::browser_protocol::{accessibility, dom_snapshot};
use chromiumoxide::{Command, Method, types::MethodId};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// A computed style requested by a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComputedStyle {
    Display,
    Visibility,
    Opacity,
    Cursor,
    PointerEvents,
    Color,
    BackgroundColor,
    BackgroundImage,
    OverflowX,
    OverflowY,
    Position,
    FontSize,
    ClipPath,
    ColorScheme,
    TextFill,
    TextStroke,
    TextStrokeWidth,
    BackgroundClip,
    Filter,
    MaskImage,
    MaskSize,
    Clip,
}

/// The names of the styles, in the order of [`ComputedStyle`], which is also that of the layout reply.
pub(super) const STYLES: [&str; 22] = [
    "display",
    "visibility",
    "opacity",
    "cursor",
    "pointer-events",
    "color",
    "background-color",
    "background-image",
    "overflow-x",
    "overflow-y",
    "position",
    "font-size",
    "clip-path",
    "color-scheme",
    "-webkit-text-fill-color",
    "-webkit-text-stroke-color",
    "-webkit-text-stroke-width",
    "background-clip",
    "filter",
    "mask-image",
    "mask-size",
    "clip",
];

/// `Accessibility.getFullAXTree` of one frame.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadTree {
    /// The frame's id; if absent, the root frame of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
}

impl Method for ReadTree {
    fn identifier(&self) -> MethodId {
        accessibility::GetFullAxTreeParams::IDENTIFIER.into()
    }
}

impl Command for ReadTree {
    type Response = TreeReply;
}

/// `DOMSnapshot.captureSnapshot` of one session, with the styles the snapshot needs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadLayout {
    computed_styles: [&'static str; STYLES.len()],
}

impl Default for ReadLayout {
    fn default() -> Self {
        Self { computed_styles: STYLES }
    }
}

impl Method for ReadLayout {
    fn identifier(&self) -> MethodId {
        dom_snapshot::CaptureSnapshotParams::IDENTIFIER.into()
    }
}

impl Command for ReadLayout {
    type Response = LayoutReply;
}

/// The accessibility tree of a frame.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TreeReply {
    #[serde(deserialize_with = "without_line_boxes")]
    pub(super) nodes: Vec<TreeNode>,
}

/// Prints only the size: page content must not reach a log.
impl fmt::Debug for TreeReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreeReply({} nodes)", self.nodes.len())
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TreeNode {
    pub node_id: String,
    pub ignored: bool,
    pub role: Option<Scalar>,
    pub name: Option<Scalar>,
    pub description: Option<Scalar>,
    pub value: Option<Scalar>,
    pub properties: Vec<AxProperty>,
    pub child_ids: Vec<String>,
    pub parent_id: Option<String>,
    #[serde(rename = "backendDOMNodeId")]
    pub backend: Option<i64>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AxProperty {
    pub name: String,
    pub value: Scalar,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scalar {
    pub value: ScalarValue,
}

impl Scalar {
    pub fn text(&self) -> Option<&str> {
        self.value.text()
    }
}

/// A string, number or boolean. Structured values are unused and skipped.
#[derive(Clone, Debug, Default)]
pub(super) enum ScalarValue {
    #[default]
    Nothing,
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

impl ScalarValue {
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Nothing | Self::Whole(_) | Self::Number(_) | Self::Flag(_) => None,
        }
    }

    pub fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            Self::Nothing | Self::Text(_) | Self::Whole(_) | Self::Number(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for ScalarValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor;

        impl<'de> Visitor<'de> for ScalarVisitor {
            type Value = ScalarValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_str<E>(self, text: &str) -> Result<ScalarValue, E> {
                Ok(ScalarValue::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<ScalarValue, E> {
                Ok(ScalarValue::Text(text))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<ScalarValue, E> {
                Ok(ScalarValue::Flag(flag))
            }

            fn visit_i64<E>(self, number: i64) -> Result<ScalarValue, E> {
                Ok(ScalarValue::Whole(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<ScalarValue, E> {
                Ok(i64::try_from(number).map_or(ScalarValue::Number(number as f64), ScalarValue::Whole))
            }

            fn visit_f64<E>(self, number: f64) -> Result<ScalarValue, E> {
                Ok(ScalarValue::Number(number))
            }

            fn visit_unit<E>(self) -> Result<ScalarValue, E> {
                Ok(ScalarValue::Nothing)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut inner: A) -> Result<ScalarValue, A::Error> {
                while inner.next_element::<IgnoredAny>()?.is_some() {}
                Ok(ScalarValue::Nothing)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut inner: A) -> Result<ScalarValue, A::Error> {
                while inner.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(ScalarValue::Nothing)
            }
        }

        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Parses the nodes without the inline text boxes, which are nearly a third of a long page's nodes and repeat
/// their text nodes.
fn without_line_boxes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<TreeNode>, D::Error> {
    struct NodesVisitor;

    impl<'de> Visitor<'de> for NodesVisitor {
        type Value = Vec<TreeNode>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("nodes")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<TreeNode>, A::Error> {
            let mut nodes = Vec::new();
            while let Some(node) = elements.next_element::<TreeNode>()? {
                if node.role.as_ref().and_then(Scalar::text) != Some("InlineTextBox") {
                    nodes.push(node);
                }
            }
            Ok(nodes)
        }
    }

    deserializer.deserialize_seq(NodesVisitor)
}

/// The document trees, styles and boxes of a session.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LayoutReply {
    pub(super) documents: Vec<LayoutDocument>,
    pub(super) strings: Vec<String>,
}

/// Prints only the size: page content must not reach a log.
impl fmt::Debug for LayoutReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LayoutReply({} documents, {} strings)", self.documents.len(), self.strings.len())
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LayoutDocument {
    pub nodes: LayoutNodes,
    pub layout: LayoutBoxes,
    pub scroll_offset_x: f64,
    pub scroll_offset_y: f64,
    pub content_width: f64,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LayoutNodes {
    pub parent_index: Vec<i64>,
    pub node_type: Vec<i64>,
    pub node_name: Vec<i64>,
    pub node_value: Vec<i64>,
    pub backend_node_id: Vec<i64>,
    pub attributes: Vec<Vec<i64>>,
    pub input_checked: RareIndices,
    pub is_clickable: RareIndices,
}

/// The nodes that have a property.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct RareIndices {
    pub index: Vec<i64>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LayoutBoxes {
    pub node_index: Vec<i64>,
    pub styles: Vec<Vec<i64>>,
    pub bounds: Vec<Vec<f64>>,
}
