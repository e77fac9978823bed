//! Checks whether a click at an element's position reaches that element.

use super::{
    ActError, CALL_TIMEOUT, CoveringElement,
    place::{node, session},
    viewport_rect::ViewportRect,
};
use crate::{
    Frame, Page, PageError,
    cdp::{
        browser_protocol::{
            dom::{BackendNodeId, GetFrameOwnerParams, GetNodeForLocationParams, GetNodeForLocationReturns},
            page::VisualViewport,
            target::SessionId,
        },
        js_protocol::runtime::CallArgument,
    },
    snapshot::{DocumentId, NodeRef},
};

/// A point at which an element can be clicked.
pub(super) struct ClickPoint {
    /// The point in its session's coordinates.
    pub point: (f64, f64),
    /// The point in the page's viewport.
    pub on_page: (f64, f64),
    /// Offset of its session's origin from the page's.
    pub shift: (f64, f64),
    /// The visible part of the element that contains the point.
    pub part: ViewportRect,
    /// Visual viewport of its session at that time.
    view: VisualViewport,
    /// The node that receives the click: the element itself or a part of it.
    hit: BackendNodeId,
}

/// The result of a hit test at a point of an element.
enum HitTestResult {
    /// The element, or this node, whose click counts as the element's.
    Target(BackendNodeId),
    /// Another element.
    Covered(CoveringElement),
}

/// Points of an element to try for a click, best first: a child or decoration may cover its middle.
const CLICK_POINTS: [(f64, f64); 5] = [(0.5, 0.5), (0.25, 0.5), (0.75, 0.5), (0.5, 0.25), (0.5, 0.75)];

/// Returns null if the click reaches the element itself, a part of it or its label, and otherwise a description
/// of the covering element.
const COVER_SCRIPT: &str = "function(hit) {
    const above = (node) => node.parentNode || node.host || null;
    const control = (node) => node.localName === 'label' ? node.control : null;
    for (let node = hit; node; node = above(node)) if (node === this || control(node) === this) return null;
    for (let node = this; node; node = above(node)) if (node === hit && control(node)) return null;
    return ('object' === typeof hit && hit) ? words.call(hit) : null;
}";

/// Returns a description of the covering element.
const DESCRIPTION_SCRIPT: &str = "function() {
    const one = this.nodeType === 1 ? this : this.parentElement || this;
    const get = (name) => one.getAttribute ? one.getAttribute(name) : null;
    const text = (get('aria-label') || get('title') || get('alt') || one.innerText || '').trim().replace(/\\s+/g, ' ');
    return (one.localName || 'page') + (one.id ? '#' + one.id : '') + (text ? ' \"' + text.slice(0, 80) + '\"' : '');
}";

/// Scrolls an element to the middle of the viewport, away from fixed headers.
const CENTRE_SCRIPT: &str = "function() {
    const one = this.nodeType === 1 ? this : this.parentElement;
    if (one) one.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
}";

impl Page {
    /// Scrolls to an element and finds a point at which a click reaches it and nothing else. If a fixed header
    /// covers it, the middle of the viewport is tried as well.
    pub(super) async fn click_point(&self, node_ref: &NodeRef) -> Result<ClickPoint, ActError> {
        match self.click_point_now(node_ref).await {
            Err(ActError::Covered(_)) => {
                self.call_function_on_node(node_ref, CENTRE_SCRIPT, Vec::new()).await?;
                self.click_point_now(node_ref).await
            }
            result => result,
        }
    }

    /// Returns whether a click at the point found before still reaches the element.
    pub(super) async fn is_still_at(&self, node_ref: &NodeRef, found: &ClickPoint) -> Result<bool, ActError> {
        Ok(self.obstacle_at(node_ref, found).await?.is_none())
    }

    /// Returns the element that would receive a click at the point found before, if it is not the target.
    pub(super) async fn obstacle_at(
        &self,
        node_ref: &NodeRef,
        found: &ClickPoint,
    ) -> Result<Option<CoveringElement>, ActError> {
        let session_id = session(node_ref);
        // Query both together, on the assumption that the page did not scroll since.
        let (hit, view) =
            tokio::join!(self.hit(&session_id, found.point, &found.view), self.visual_viewport(&session_id));
        let view = view?;
        if (view.page_x, view.page_y) == (found.view.page_x, found.view.page_y)
            && hit.is_ok_and(|hit| hit.backend_node_id == found.hit)
        {
            return Ok(None);
        }
        Ok(match self.hit_at(node_ref, found.point, &view).await? {
            HitTestResult::Target(_) => None,
            HitTestResult::Covered(obstacle) => Some(obstacle),
        })
    }

    /// Returns the element that would receive a click at another point, if it is not the target.
    pub(super) async fn obstacle_at_point(
        &self,
        node_ref: &NodeRef,
        found: &ClickPoint,
        point: (f64, f64),
    ) -> Result<Option<CoveringElement>, ActError> {
        Ok(match self.hit_at(node_ref, point, &found.view).await? {
            HitTestResult::Target(_) => None,
            HitTestResult::Covered(cover) => Some(cover),
        })
    }

    async fn click_point_now(&self, node_ref: &NodeRef) -> Result<ClickPoint, ActError> {
        let parts = self.visible_parts(node_ref).await?;
        self.click_point_in(node_ref, parts).await
    }

    /// Like [`Self::click_point`], but without scrolling.
    pub(super) async fn click_point_unscrolled(&self, node_ref: &NodeRef) -> Result<ClickPoint, ActError> {
        let parts = self.visible_parts_unscrolled(node_ref).await?;
        self.click_point_in(node_ref, parts).await
    }

    async fn click_point_in(
        &self,
        node_ref: &NodeRef,
        (parts, view): (Vec<ViewportRect>, VisualViewport),
    ) -> Result<ClickPoint, ActError> {
        let mut covered = None;
        for part in parts.iter().take(4) {
            for (x, y) in CLICK_POINTS {
                let point = part.at(x, y);
                let cover = match self.hit_at(node_ref, point, &view).await? {
                    HitTestResult::Target(hit) => match self.to_viewport(node_ref, point).await? {
                        Ok(on_page) => {
                            let shift = (on_page.0 - point.0, on_page.1 - point.1);
                            return Ok(ClickPoint { point, on_page, shift, part: *part, view, hit });
                        }
                        Err(cover) => cover,
                    },
                    HitTestResult::Covered(cover) => cover,
                };
                covered.get_or_insert(cover);
            }
        }
        Err(covered.map_or(ActError::NoVisibleArea, ActError::Covered))
    }

    pub(super) async fn hit(
        &self,
        session_id: &SessionId,
        (x, y): (f64, f64),
        view: &VisualViewport,
    ) -> Result<GetNodeForLocationReturns, PageError> {
        // This command counts from the document's origin and takes whole pixels only.
        let params = GetNodeForLocationParams {
            x: (x + view.page_x).floor() as i64,
            y: (y + view.page_y).floor() as i64,
            include_user_agent_shadow_dom: Some(false),
            ignore_pointer_events_none: Some(false),
        };
        self.call_in(session_id, params, CALL_TIMEOUT).await
    }

    /// Hit-tests a point of an element's session.
    async fn hit_at(
        &self,
        node_ref: &NodeRef,
        point: (f64, f64),
        view: &VisualViewport,
    ) -> Result<HitTestResult, ActError> {
        let session_id = session(node_ref);
        let hit = match self.hit(&session_id, point, view).await.map_err(ActError::from) {
            Ok(hit) => hit,
            // "No node found at given location".
            Err(ActError::Page(PageError::Call(crate::CallError::Refused { .. }))) => {
                let description = "nothing that can be pressed".to_owned();
                return Ok(HitTestResult::Covered(CoveringElement { node_ref: None, description }));
            }
            Err(error) => return Err(error),
        };
        let target_hit = HitTestResult::Target(hit.backend_node_id);
        if hit.backend_node_id == node(node_ref) {
            return Ok(target_hit);
        }
        if hit.frame_id.inner() != &node_ref.frame {
            // Clicking into the frame counts as clicking the element that embeds it.
            let owner = GetFrameOwnerParams::new(hit.frame_id.clone());
            if let Ok(owner) = self.call_in(&session_id, owner, CALL_TIMEOUT).await
                && owner.backend_node_id == node(node_ref)
            {
                return Ok(target_hit);
            }
            let frames = self.frames().await?;
            let frame = frames.iter().find(|frame| frame.id == hit.frame_id);
            let hit_ref = self.hit_node_ref(&session_id, &hit, frame);
            let description = self.call_function_on_node(&hit_ref, DESCRIPTION_SCRIPT, Vec::new()).await?;
            let description = description.as_str().unwrap_or_default().to_owned();
            return Ok(HitTestResult::Covered(CoveringElement { node_ref: Some(hit_ref), description }));
        }
        let world = self.world(&session_id, &node_ref.frame).await?;
        let (target, hit_object) = tokio::try_join!(
            self.remote_object(&session_id, world, node(node_ref)),
            self.remote_object(&session_id, world, hit.backend_node_id)
        )?;
        let arguments = vec![CallArgument { object_id: hit_object, ..Default::default() }];
        let function = format!(
            "function(hit) {{ const words = {DESCRIPTION_SCRIPT}; return ({COVER_SCRIPT}).call(this, hit); }}"
        );
        let description = self.call_function_on_object(&session_id, target, &function, arguments).await?;
        let hit_ref = NodeRef { node: *hit.backend_node_id.inner(), ..node_ref.clone() };
        Ok(match description.as_str() {
            Some(description) => HitTestResult::Covered(CoveringElement {
                node_ref: Some(hit_ref),
                description: description.to_owned(),
            }),
            None => target_hit,
        })
    }

    pub(super) fn hit_node_ref(
        &self,
        session_id: &SessionId,
        hit: &GetNodeForLocationReturns,
        frame: Option<&Frame>,
    ) -> NodeRef {
        NodeRef {
            session: session_id.inner().clone(),
            frame: hit.frame_id.inner().clone(),
            document: DocumentId(frame.map(|frame| frame.document.clone()).unwrap_or_default()),
            origin: frame.map(|frame| frame.origin.clone()).unwrap_or_default(),
            node: *hit.backend_node_id.inner(),
        }
    }

    /// Converts a point of an out-of-process frame to the viewport, if the embedding elements can be clicked
    /// there. Returns the covering element otherwise.
    async fn to_viewport(
        &self,
        node_ref: &NodeRef,
        point: (f64, f64),
    ) -> Result<Result<(f64, f64), CoveringElement>, ActError> {
        if node_ref.session == *self.session().inner() {
            return Ok(Ok(point));
        }
        let frames = self.frames().await?;
        let mut current = point;
        let mut inner = session(node_ref);
        while let Some((outer, owner)) = self.frame_owner(&frames, &inner).await? {
            current = self.frame_placement(&outer, owner).await?.to_enclosing_page(current);
            let owner_ref = frames.iter().find(|frame| frame.session == outer).map(|frame| NodeRef {
                session: outer.inner().clone(),
                frame: frame.id.inner().clone(),
                document: DocumentId(frame.document.clone()),
                origin: frame.origin.clone(),
                node: *owner.inner(),
            });
            if let Some(owner_ref) = owner_ref {
                let view = self.visual_viewport(&outer).await?;
                if let HitTestResult::Covered(cover) = self.hit_at(&owner_ref, current, &view).await? {
                    return Ok(Err(cover));
                }
            }
            inner = outer;
        }
        Ok(Ok(current))
    }
}
