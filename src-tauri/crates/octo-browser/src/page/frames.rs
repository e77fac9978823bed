//! The page's frames, each with the session that reaches it, and the names of all it has been told of.

use super::{Child, Core, Page, PageError, origin};
use crate::{
    CallError,
    cdp::browser_protocol::{
        page::{FrameId, GetFrameTreeParams},
        target::SessionId,
    },
    wire::{FrameTree, FrameTreeAnswer, Leniently},
};
use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

/// How long a frame may take to name its own frames.
const LISTING: Duration = Duration::from_secs(3);

/// How many frames that went are remembered: what one of them began may be told of after it.
const GONE: usize = 64;

/// The names of frames that are, or just were, of the page. They are told as they come: a page that a dialog or its own
/// script holds does not say which frames it has.
#[derive(Debug, Default)]
pub(super) struct FrameNames {
    here: HashSet<FrameId>,
    gone: VecDeque<FrameId>,
}

impl FrameNames {
    pub fn of(tree: &FrameTree) -> Self {
        let mut names = Self::default();
        names.all_came(tree);
        names
    }

    pub fn all_came(&mut self, tree: &FrameTree) {
        let mut left = vec![tree];
        while let Some(tree) = left.pop() {
            self.came(tree.frame.id.clone());
            left.extend(&tree.child_frames);
        }
    }

    pub fn came(&mut self, frame: FrameId) {
        self.here.insert(frame);
    }

    pub fn went(&mut self, frame: &FrameId) {
        if let Some(frame) = self.here.take(frame) {
            self.gone.push_back(frame);
            while self.gone.len() > GONE {
                self.gone.pop_front();
            }
        }
    }

    /// Another document is there: all but the main frame went with the one before.
    pub fn only(&mut self, main: &FrameId) {
        let others: Vec<FrameId> = self.here.iter().filter(|frame| *frame != main).cloned().collect();
        others.iter().for_each(|frame| self.went(frame));
    }

    fn has(&self, frame: &FrameId) -> bool {
        self.here.contains(frame) || self.gone.contains(frame)
    }
}

/// A frame of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name in the protocol.
    pub id: FrameId,
    /// The frame it is in; none for the main one.
    pub parent: Option<FrameId>,
    /// Its document: another one means that the old one's nodes are gone.
    pub document: String,
    /// The name its page gave it.
    pub name: String,
    /// Its address, with its fragment.
    pub url: String,
    /// Its origin, as the browser counts it. Of an empty page of the main frame that of whoever opened it.
    pub origin: String,
    /// The session that reaches it. Frames of other sites have one of their own, in which places are counted from
    /// the frame's own corner.
    pub session: SessionId,
}

impl Page {
    /// Whether a frame is known to be the page's, or to have been just now. Nothing is asked of the page for it.
    pub fn has_frame(&self, frame: &FrameId) -> bool {
        self.0.core.known().frames.has(frame)
    }

    /// All frames, the main one first, each after the one it is in. A frame that goes away meanwhile is left out.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn frames(&self) -> Result<Vec<Frame>, PageError> {
        self.unless_dialog(async { Ok(frames(&self.0.core).await?) }).await
    }
}

async fn frames(core: &Core) -> Result<Vec<Frame>, CallError> {
    let mut found = Vec::new();
    let mut page = tree(core, &core.session).await?;
    if origin::is_inherited(&page.frame.url) {
        page.frame.security_origin =
            origin::of_frame(&core.link, &core.session, &core.target, &page.frame).await;
    }
    flatten(page, None, &core.session, &mut found);
    let mut left: Vec<(SessionId, Child)> =
        core.known().children.iter().map(|(session, child)| (session.clone(), child.clone())).collect();
    // One whose parent is not listed yet waits for it.
    while let Some(index) = left.iter().position(|(_, child)| {
        child.parent.as_ref().is_none_or(|parent| found.iter().any(|frame: &Frame| frame.id == *parent))
    }) {
        let (session, child) = left.swap_remove(index);
        match tree(core, &session).await {
            Ok(tree) => flatten(tree, child.parent, &session, &mut found),
            Err(CallError::Gone { .. } | CallError::TimedOut { .. } | CallError::Refused { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

async fn tree(core: &Core, session: &SessionId) -> Result<FrameTree, CallError> {
    let command = Leniently::<_, FrameTreeAnswer>::new(GetFrameTreeParams {});
    Ok(core.link.call(Some(session), command, LISTING).await?.frame_tree)
}

fn flatten(tree: FrameTree, parent: Option<FrameId>, session: &SessionId, found: &mut Vec<Frame>) {
    let frame = tree.frame;
    let id = frame.id.clone();
    // While a frame moves to a process of its own, both its old place and its new one list it.
    found.retain(|known| known.id != id);
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
