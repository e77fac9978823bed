//! The page's frames, each with the session that reaches it.

use super::{Child, Core, Page, PageError, origin};
use crate::{
    CallError,
    cdp::browser_protocol::{
        page::{FrameId, GetFrameTreeParams},
        target::SessionId,
    },
    wire::{FrameTree, FrameTreeAnswer, Leniently},
};
use std::time::Duration;

/// How long a frame may take to name its own frames.
const LISTING: Duration = Duration::from_secs(3);

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
