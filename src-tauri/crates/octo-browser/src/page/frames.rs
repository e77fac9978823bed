//! The page's frames with the sessions that reach them, and the ids of all frames it has reported.

use super::{ChildFrame, Page, PageCore, PageError, origin};
use crate::{
    CallError,
    cdp::browser_protocol::{
        page::{FrameId, GetFrameTreeParams},
        target::SessionId,
    },
    wire::{FrameTree, FrameTreeReply, LenientCommand},
};
use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

/// Timeout for listing a frame's own frames.
const LIST_TIMEOUT: Duration = Duration::from_secs(3);

/// Number of removed frames remembered, because events about something they began may follow later.
const MAX_REMOVED_FRAMES: usize = 64;

/// Ids of frames that belong to the page, or recently did. They are collected from events, because a page
/// blocked by a dialog or its own script does not list its frames.
#[derive(Debug, Default)]
pub(super) struct FrameIds {
    present: HashSet<FrameId>,
    removed: VecDeque<FrameId>,
}

impl FrameIds {
    pub fn from_tree(tree: &FrameTree) -> Self {
        let mut ids = Self::default();
        ids.add_tree(tree);
        ids
    }

    pub fn add_tree(&mut self, tree: &FrameTree) {
        let mut pending = vec![tree];
        while let Some(tree) = pending.pop() {
            self.add(tree.frame.id.clone());
            pending.extend(&tree.child_frames);
        }
    }

    pub fn add(&mut self, frame: FrameId) {
        self.present.insert(frame);
    }

    pub fn remove(&mut self, frame: &FrameId) {
        if let Some(frame) = self.present.take(frame) {
            self.removed.push_back(frame);
            while self.removed.len() > MAX_REMOVED_FRAMES {
                self.removed.pop_front();
            }
        }
    }

    /// Resets to the main frame after a navigation, which removes all others.
    pub fn reset_to(&mut self, main: &FrameId) {
        let others: Vec<FrameId> = self.present.iter().filter(|frame| *frame != main).cloned().collect();
        others.iter().for_each(|frame| self.remove(frame));
    }

    fn contains(&self, frame: &FrameId) -> bool {
        self.present.contains(frame) || self.removed.contains(frame)
    }
}

/// A frame of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its id in the protocol.
    pub id: FrameId,
    /// The frame that contains it; `None` for the main frame.
    pub parent: Option<FrameId>,
    /// Its document's id. If it changes, the old document's nodes are gone.
    pub document: String,
    /// The name the page gave it.
    pub name: String,
    /// Its address, with its fragment.
    pub url: String,
    /// Its origin as reported by the browser. For an empty page in the main frame, the opener's origin.
    pub origin: String,
    /// The session that reaches it. A cross-site frame has its own, with coordinates relative to the frame's
    /// upper left corner.
    pub session: SessionId,
}

impl Page {
    /// Returns whether a frame belongs to the page or recently did. Does not query the page.
    pub fn has_frame(&self, frame: &FrameId) -> bool {
        self.0.core.state().frame_ids.contains(frame)
    }

    /// Returns all frames, the main one first, each after its parent. A frame that disappears meanwhile is left
    /// out.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn frames(&self) -> Result<Vec<Frame>, PageError> {
        self.until_dialog(async { Ok(frames(&self.0.core).await?) }).await
    }
}

async fn frames(core: &PageCore) -> Result<Vec<Frame>, CallError> {
    let mut found = Vec::new();
    let mut page = frame_tree(core, &core.session).await?;
    if origin::is_inherited(&page.frame.url) {
        page.frame.security_origin =
            origin::of_frame(&core.link, &core.session, &core.target, &page.frame).await;
    }
    flatten(page, None, &core.session, &mut found);
    let mut pending: Vec<(SessionId, ChildFrame)> =
        core.state().child_frames.iter().map(|(session, child)| (session.clone(), child.clone())).collect();
    // List a frame only after its parent.
    while let Some(index) = pending.iter().position(|(_, child)| {
        child.parent.as_ref().is_none_or(|parent| found.iter().any(|frame: &Frame| frame.id == *parent))
    }) {
        let (session, child) = pending.swap_remove(index);
        match frame_tree(core, &session).await {
            Ok(tree) => flatten(tree, child.parent, &session, &mut found),
            Err(CallError::Gone { .. } | CallError::TimedOut { .. } | CallError::Refused { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

async fn frame_tree(core: &PageCore, session: &SessionId) -> Result<FrameTree, CallError> {
    let command = LenientCommand::<_, FrameTreeReply>::new(GetFrameTreeParams {});
    Ok(core.link.call(Some(session), command, LIST_TIMEOUT).await?.frame_tree)
}

fn flatten(tree: FrameTree, parent: Option<FrameId>, session: &SessionId, found: &mut Vec<Frame>) {
    let frame = tree.frame;
    let id = frame.id.clone();
    // While a frame moves to another process, both processes list it.
    found.retain(|other| other.id != id);
    found.push(Frame {
        id: frame.id,
        parent: frame.parent_id.or(parent),
        document: frame.loader_id.inner().clone(),
        name: frame.name,
        url: frame.url + &frame.url_fragment,
        origin: frame.security_origin,
        session: session.clone(),
    });
    for child in tree.child_frames {
        flatten(child, Some(id.clone()), session, found);
    }
}
