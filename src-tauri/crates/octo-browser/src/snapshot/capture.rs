//! What was captured of a tab: the input of a snapshot.

use super::wire::{LayoutReply, TreeReply};

/// A document of a tab, as the browser names it (the loader's id): another one after every navigation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId(pub String);

/// A tab, captured: its page, and every frame in it.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// The page's title.
    pub title: String,
    /// The size of what the person sees of the page, in the unit of the layout's boxes.
    pub viewport: Viewport,
    /// The sessions the tab was read through: the page's own first, then one for each frame in another process.
    pub sessions: Vec<CapturedSession>,
    /// The page's own frame first; then the others, in any order.
    pub frames: Vec<CapturedFrame>,
}

/// The visible part of the page, in CSS pixels (`Page.getLayoutMetrics`, `cssLayoutViewport`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// How wide.
    pub width: f64,
    /// How high.
    pub height: f64,
}

impl Default for Viewport {
    fn default() -> Self {
        Self { width: 1280.0, height: 720.0 }
    }
}

/// One session's layout. Nodes are found by (session, backend node id).
#[derive(Clone, Debug, Default)]
pub struct CapturedSession {
    /// Whatever names the session for those who act on a node: it comes back with a ref.
    pub session: String,
    /// Pixels of the boxes for each CSS pixel (the window's `devicePixelRatio`); 0 is taken for 1.
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
    /// The session it was read through, by its place in [`Captured::sessions`].
    pub session: usize,
    /// The document's address.
    pub url: String,
    /// The document's origin.
    pub origin: String,
    /// The answer to [`super::ReadTree`].
    pub tree: TreeReply,
    /// The element that holds the frame; `None` for the page itself.
    pub owner: Option<Owner>,
}

/// The element that holds a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Owner {
    /// The frame the element is in.
    pub frame: String,
    /// The element's backend node id there.
    pub node: i64,
    /// How far the frame's corner is from the element's, to the right and downwards: its border and padding, in CSS
    /// pixels.
    pub inset: (f64, f64),
    /// How the element is shown.
    pub shown: Shown,
}

/// How the element that holds a frame is shown on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// As large as it is, and upright: a place in the frame is as far from its corner as it says.
    AsItIs,
    /// Larger, smaller, turned or mirrored, or nobody can tell.
    Otherwise,
}
