//! What the browser answers, read leniently: only the fields used here, every one with a default, roles and
//! property names as the strings they are. The typed replies of the protocol crate refuse a whole page for one
//! word a newer browser added; these do not.

use std::fmt;

use chromiumoxide::cdp::browser_protocol::{accessibility, dom_snapshot};
use chromiumoxide::{Command, Method, types::MethodId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The computed styles a capture asks for, in the order the layout reply carries them.
pub(super) const STYLES: [&str; 14] = [
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
];

/// `Accessibility.getFullAXTree` of one frame.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadTree {
    /// The frame's id; without it the root frame of the session.
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
    computed_styles: [&'static str; 14],
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
    pub(super) nodes: Vec<TreeNode>,
}

/// Its size alone: what a page holds belongs in no log.
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
    pub properties: Vec<Property>,
    pub child_ids: Vec<String>,
    pub parent_id: Option<String>,
    #[serde(rename = "backendDOMNodeId")]
    pub backend: Option<i64>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Property {
    pub name: String,
    pub value: Scalar,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scalar {
    pub value: Value,
}

impl Scalar {
    pub fn text(&self) -> Option<&str> {
        self.value.as_str()
    }
}

/// The document trees, styles and boxes of a session.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LayoutReply {
    pub(super) documents: Vec<LayoutDocument>,
    pub(super) strings: Vec<String>,
}

/// Its size alone: what a page holds belongs in no log.
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
    pub input_checked: Indices,
    pub is_clickable: Indices,
}

/// The nodes something holds for.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Indices {
    pub index: Vec<i64>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LayoutBoxes {
    pub node_index: Vec<i64>,
    pub styles: Vec<Vec<i64>>,
    pub bounds: Vec<Vec<f64>>,
}
