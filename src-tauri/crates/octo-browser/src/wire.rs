//! Protocol types that are parsed more leniently than chromiumoxide's, or that it does not know yet. Its
//! enumerations match one browser version: a newer browser's value in an unused field would make an event
//! unreadable that safety depends on.

use chromiumoxide::{
    Command, Method,
    cdp::browser_protocol::{
        network::LoaderId,
        page::FrameId,
        target::{GetTargetsParams, SessionId, TargetId},
    },
    types::MethodId,
};
use serde::{Deserialize, Serialize};

/// A typed command whose answer is parsed as `R`.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct LenientCommand<C, R> {
    command: C,
    #[serde(skip)]
    answer: std::marker::PhantomData<fn() -> R>,
}

impl<C, R> LenientCommand<C, R> {
    pub(crate) fn new(command: C) -> Self {
        Self { command, answer: std::marker::PhantomData }
    }
}

impl<C: Method, R> Method for LenientCommand<C, R> {
    fn identifier(&self) -> MethodId {
        self.command.identifier()
    }
}

impl<C: Command, R: serde::de::DeserializeOwned + std::fmt::Debug> Command for LenientCommand<C, R> {
    type Response = R;
}

/// The list of targets, including tab positions, which browsers report since 2026.
pub(crate) type ListTargets = LenientCommand<GetTargetsParams, TargetList>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetList {
    pub(crate) target_infos: Vec<TargetEntry>,
}

/// The used part of a target.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetEntry {
    pub(crate) target_id: TargetId,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) url: String,
    pub(crate) opener_id: Option<TargetId>,
    pub(crate) parent_frame_id: Option<FrameId>,
    pub(crate) subtype: Option<String>,
    pub(crate) embedder_data: Option<WireTabPosition>,
}

/// A tab's position in its window, as reported by the browser.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WireTabPosition {
    pub(crate) tab_active: Option<bool>,
    pub(crate) tab_pinned: Option<bool>,
    pub(crate) tab_strip_index: Option<i64>,
}

/// `Target.targetCreated`, `Target.targetInfoChanged`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetEvent {
    pub(crate) target_info: TargetEntry,
}

/// `Target.attachedToTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttachedEvent {
    pub(crate) session_id: SessionId,
    pub(crate) target_info: TargetEntry,
}

/// `Target.detachedFromTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DetachedEvent {
    pub(crate) session_id: SessionId,
}

/// `Page.getFrameTree`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameTreeReply {
    pub(crate) frame_tree: FrameTree,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameTree {
    pub(crate) frame: WireFrame,
    #[serde(default)]
    pub(crate) child_frames: Vec<FrameTree>,
}

/// The used part of a frame.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireFrame {
    pub(crate) id: FrameId,
    pub(crate) parent_id: Option<FrameId>,
    pub(crate) loader_id: LoaderId,
    #[serde(default)]
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) url_fragment: String,
    #[serde(default)]
    pub(crate) security_origin: String,
    /// The address that failed to load, if this is an error page.
    pub(crate) unreachable_url: Option<String>,
}

/// `Page.frameNavigated`.
#[derive(Debug, Deserialize)]
pub(crate) struct FrameNavigated {
    pub(crate) frame: WireFrame,
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
}

/// `Page.frameAttached`, `Page.frameDetached`, `Page.downloadWillBegin`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameEvent {
    pub(crate) frame_id: FrameId,
    /// The reason for the detachment.
    #[serde(default)]
    pub(crate) reason: String,
}

/// `Page.documentOpened`.
#[derive(Debug, Deserialize)]
pub(crate) struct DocumentOpened {
    pub(crate) frame: WireFrame,
}

/// `Page.navigatedWithinDocument`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FragmentNavigation {
    pub(crate) frame_id: FrameId,
    pub(crate) url: String,
}

/// `Page.javascriptDialogOpening`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DialogOpening {
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) message: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) default_prompt: Option<String>,
}

/// `Page.getNavigationHistory`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HistoryReply {
    pub(crate) current_index: usize,
    pub(crate) entries: Vec<HistoryEntry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HistoryEntry {
    pub(crate) id: i64,
    #[serde(default)]
    pub(crate) url: String,
}

/// `Page.getLayoutMetrics`, in CSS and in screen pixels.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LayoutMetrics {
    pub(crate) css_layout_viewport: LayoutViewportMetrics,
    pub(crate) css_visual_viewport: VisualViewportMetrics,
    pub(crate) visual_viewport: Option<VisualViewportMetrics>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct LayoutViewportMetrics {
    pub(crate) client_width: f64,
    pub(crate) client_height: f64,
    pub(crate) page_x: f64,
    pub(crate) page_y: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct VisualViewportMetrics {
    pub(crate) client_width: f64,
    pub(crate) client_height: f64,
    pub(crate) page_x: f64,
    pub(crate) page_y: f64,
}
