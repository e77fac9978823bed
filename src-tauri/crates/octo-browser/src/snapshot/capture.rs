//! The captured state of a tab: the input of a snapshot.

use super::wire::{LayoutReply, TreeReply};

/// A document of a tab, identified by the browser's loader id, which changes with every navigation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId(pub String);

/// A captured tab: its page and every frame in it.
#[derive(Clone, Debug, Default)]
pub struct PageCapture {
    /// The page's title.
    pub title: String,
    /// The size of the visible part of the page, in the unit of the layout's boxes.
    pub viewport: Viewport,
    /// The sessions that the tab was read through: the page's own first, then one for each out-of-process
    /// frame.
    pub sessions: Vec<CapturedSession>,
    /// The main frame first, then the others in any order.
    pub frames: Vec<CapturedFrame>,
}

/// The visible part of the page, in CSS pixels (`Page.getLayoutMetrics`, `cssLayoutViewport`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Default for Viewport {
    fn default() -> Self {
        Self { width: 1280.0, height: 720.0 }
    }
}

/// One session's layout. Nodes are identified by (session, backend node id).
#[derive(Clone, Debug, Default)]
pub struct CapturedSession {
    /// The session's name for acting on a node; returned with a ref.
    pub session: String,
    /// Box pixels per CSS pixel (the window's `devicePixelRatio`); 0 is treated as 1.
    pub scale: f64,
    /// The answer to [`super::ReadLayout`].
    pub layout: LayoutReply,
}

/// One frame's accessibility tree.
#[derive(Clone, Debug)]
pub struct CapturedFrame {
    /// The document in the frame.
    pub document: DocumentId,
    /// The frame's id.
    pub frame: String,
    /// Index in [`PageCapture::sessions`] of the session it was read through.
    pub session: usize,
    /// The document's address.
    pub url: String,
    /// The document's origin.
    pub origin: String,
    /// The answer to [`super::ReadTree`].
    pub tree: TreeReply,
    /// The element that embeds the frame; `None` for the main frame.
    pub owner: Option<FrameOwner>,
}

/// The element that embeds a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameOwner {
    /// The frame the element is in.
    pub frame: String,
    /// The element's backend node id there.
    pub node: i64,
    /// Offset of the frame's corner from the element's, to the right and downwards: its border and padding, in
    /// CSS pixels.
    pub inset: (f64, f64),
    /// The way in which the element is displayed.
    pub display: FrameDisplay,
}

/// The way in which the element that embeds a frame is displayed on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameDisplay {
    /// Unscaled and upright: positions in the frame translate directly.
    Untransformed,
    /// Scaled, rotated or mirrored, or unknown.
    Transformed,
}
