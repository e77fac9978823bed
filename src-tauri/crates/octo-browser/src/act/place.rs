//! Positions of elements.

use super::{ActError, CALL_TIMEOUT, ISOLATED_WORLD, viewport_rect::ViewportRect};
use crate::{
    Frame, Page, PageError,
    cdp::{
        browser_protocol::{
            dom::{
                BackendNodeId, GetBoxModelParams, GetContentQuadsParams, GetDocumentParams,
                GetFrameOwnerParams, ResolveNodeParams, ScrollIntoViewIfNeededParams,
            },
            page::{CreateIsolatedWorldParams, FrameId, GetLayoutMetricsParams, VisualViewport},
            target::SessionId,
        },
        js_protocol::runtime::{CallArgument, CallFunctionOnParams, ExecutionContextId, RemoteObjectId},
    },
    snapshot::{DocumentId, NodeRef},
};
use serde_json::Value;

/// The position and scale at which a frame is shown.
pub(super) struct FramePlacement {
    left: f64,
    top: f64,
    scale_x: f64,
    scale_y: f64,
}

impl FramePlacement {
    /// Converts a point of the frame to the enclosing page's coordinates.
    pub(super) fn to_enclosing_page(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.left + x * self.scale_x, self.top + y * self.scale_y)
    }
}

/// A handle on a node for several queries, in an isolated world.
pub(super) struct NodeHandle {
    session: SessionId,
    pub(super) object: Option<RemoteObjectId>,
}

pub(super) fn node(node_ref: &NodeRef) -> BackendNodeId {
    BackendNodeId::new(node_ref.node)
}

pub(super) fn session(node_ref: &NodeRef) -> SessionId {
    SessionId::new(node_ref.session.clone())
}

impl Page {
    /// Calls a function on a node, in an isolated world.
    ///
    /// # Errors
    ///
    /// [`PageError`]; [`crate::CallError::Refused`] if the node is gone.
    pub async fn call_function_on_node(
        &self,
        node_ref: &NodeRef,
        function: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, PageError> {
        let handle = self.resolve_node(node_ref).await?;
        self.call_function(&handle, function, arguments).await
    }

    /// Acquires a handle on a node for several queries.
    ///
    /// # Errors
    ///
    /// As [`Self::call_function_on_node`].
    pub(super) async fn resolve_node(&self, node_ref: &NodeRef) -> Result<NodeHandle, PageError> {
        let session_id = session(node_ref);
        let world = self.world(&session_id, &node_ref.frame).await?;
        Ok(NodeHandle {
            object: self.remote_object(&session_id, world, node(node_ref)).await?,
            session: session_id,
        })
    }

    /// Calls a function on a node through its handle. This works even after the node has left its document.
    ///
    /// # Errors
    ///
    /// As [`Self::call_function_on_node`].
    pub(super) async fn call_function(
        &self,
        handle: &NodeHandle,
        function: &str,
        arguments: Vec<Value>,
    ) -> Result<Value, PageError> {
        let arguments =
            arguments.into_iter().map(|value| CallArgument { value: Some(value), ..Default::default() });
        self.call_function_on_object(&handle.session, handle.object.clone(), function, arguments.collect())
            .await
    }

    /// Returns whether a node is still in its document, and its document in the page.
    ///
    /// # Errors
    ///
    /// [`PageError`] if the page cannot be queried.
    pub async fn is_connected(&self, node_ref: &NodeRef) -> Result<bool, PageError> {
        use crate::CallError::{Gone, Refused};
        match self
            .call_function_on_node(node_ref, "function() { return this.isConnected; }", Vec::new())
            .await
        {
            Ok(reply) => Ok(reply == Value::Bool(true)),
            Err(PageError::Call(Refused { .. })) => Ok(false),
            // The session of a removed frame; the loss of the page itself is a separate error.
            Err(PageError::Call(Gone { .. })) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns a reference to the main frame's document, for queries.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn root(&self) -> Result<NodeRef, PageError> {
        let document =
            self.call(GetDocumentParams { depth: Some(0), pierce: Some(false) }, CALL_TIMEOUT).await?;
        Ok(NodeRef {
            session: self.session().inner().clone(),
            frame: self.main_frame().inner().clone(),
            document: DocumentId(self.document()),
            origin: self.origin(),
            node: *document.root.backend_node_id.inner(),
        })
    }

    /// Returns the element at a point of the viewport. For a frame in another process this is the element that
    /// embeds the frame.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn element_at(&self, x: f64, y: f64) -> Result<NodeRef, PageError> {
        let (view, frames) = tokio::join!(self.visual_viewport(self.session()), self.frames());
        let hit = self.hit(self.session(), (x, y), &view?).await?;
        let frame = frames?.into_iter().find(|frame| frame.id == hit.frame_id);
        Ok(self.hit_node_ref(self.session(), &hit, frame.as_ref()))
    }

    /// Scrolls to an element and returns the position of its first visible part in the viewport.
    ///
    /// # Errors
    ///
    /// [`ActError`].
    pub async fn element_rect(&self, node_ref: &NodeRef) -> Result<ViewportRect, ActError> {
        let (parts, _) = self.visible_parts(node_ref).await?;
        let rect = parts.first().copied().ok_or(ActError::NoVisibleArea)?;
        if node_ref.session == *self.session().inner() {
            return Ok(rect);
        }
        let frames = self.frames().await?;
        let (mut top_left, mut bottom_right) = (rect.at(0.0, 0.0), rect.at(1.0, 1.0));
        let mut inner = session(node_ref);
        while let Some((outer, owner)) = self.frame_owner(&frames, &inner).await? {
            let placement = self.frame_placement(&outer, owner).await?;
            (top_left, bottom_right) =
                (placement.to_enclosing_page(top_left), placement.to_enclosing_page(bottom_right));
            inner = outer;
        }
        Ok(ViewportRect::bounding(&[top_left.0, top_left.1, bottom_right.0, bottom_right.1]))
    }

    /// Scrolls to an element and returns its visible parts.
    pub(super) async fn visible_parts(
        &self,
        node_ref: &NodeRef,
    ) -> Result<(Vec<ViewportRect>, VisualViewport), ActError> {
        let session_id = session(node_ref);
        let scroll =
            ScrollIntoViewIfNeededParams { backend_node_id: Some(node(node_ref)), ..Default::default() };
        // Send both together: the page handles them in order, so the position is measured after the scroll.
        let (scrolled, parts) = tokio::join!(biased; self.call_in(&session_id, scroll, CALL_TIMEOUT), self.visible_parts_unscrolled(node_ref));
        match scrolled.map_err(ActError::from) {
            Ok(_) => parts,
            // The browser refuses to scroll to an element without a box.
            Err(ActError::Page(PageError::Call(crate::CallError::Refused { .. }))) => {
                Err(ActError::NoVisibleArea)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the parts of an element that are visible now, without scrolling.
    pub(super) async fn visible_parts_unscrolled(
        &self,
        node_ref: &NodeRef,
    ) -> Result<(Vec<ViewportRect>, VisualViewport), ActError> {
        let session_id = session(node_ref);
        let quads = GetContentQuadsParams { backend_node_id: Some(node(node_ref)), ..Default::default() };
        let (quads, view) =
            tokio::join!(self.call_in(&session_id, quads, CALL_TIMEOUT), self.visual_viewport(&session_id));
        let view = view?;
        let quads = match quads.map_err(ActError::from) {
            Ok(quads) => quads.quads,
            Err(ActError::Page(PageError::Call(crate::CallError::Refused { .. }))) => {
                return Err(ActError::NoVisibleArea);
            }
            Err(error) => return Err(error),
        };
        let parts = quads.iter().map(|quad| ViewportRect::bounding(quad.inner()));
        let visible = parts.map(|part| part.clipped(view.client_width, view.client_height));
        let mut visible: Vec<ViewportRect> = visible.filter(|part| part.is_hittable()).collect();
        // The largest first: the first line of a link may be a single letter long.
        visible.sort_by(|a, b| (b.width * b.height).total_cmp(&(a.width * a.height)));
        if visible.is_empty() { Err(ActError::NoVisibleArea) } else { Ok((visible, view)) }
    }

    /// Returns the visual viewport of a session.
    pub(super) async fn visual_viewport(&self, session_id: &SessionId) -> Result<VisualViewport, PageError> {
        Ok(self.call_in(session_id, GetLayoutMetricsParams {}, CALL_TIMEOUT).await?.css_visual_viewport)
    }

    /// Returns the offset of a session's origin from the page's.
    pub(super) async fn session_offset(&self, node_ref: &NodeRef) -> Result<(f64, f64), ActError> {
        if node_ref.session == *self.session().inner() {
            return Ok((0.0, 0.0));
        }
        let frames = self.frames().await?;
        let (mut x, mut y) = (0.0, 0.0);
        let mut inner = session(node_ref);
        while let Some((outer, owner)) = self.frame_owner(&frames, &inner).await? {
            let placement = self.frame_placement(&outer, owner).await?;
            (x, y, inner) = (x + placement.left, y + placement.top, outer);
        }
        Ok((x, y))
    }

    /// Returns the parent session and the element in it that embeds this session, or `None` for the page's own
    /// session.
    pub(super) async fn frame_owner(
        &self,
        frames: &[Frame],
        inner: &SessionId,
    ) -> Result<Option<(SessionId, BackendNodeId)>, ActError> {
        if inner == self.session() {
            return Ok(None);
        }
        let top = frames.iter().find(|frame| frame.session == *inner).ok_or(ActError::Gone)?;
        let parent = top.parent.as_ref().and_then(|parent| frames.iter().find(|frame| frame.id == *parent));
        let outer = parent.ok_or(ActError::Gone)?.session.clone();
        let owner = self.call_in(&outer, GetFrameOwnerParams::new(top.id.clone()), CALL_TIMEOUT).await?;
        Ok(Some((outer, owner.backend_node_id)))
    }

    /// Returns the position and scale at which a session shows the out-of-process frame embedded by one of its
    /// elements.
    pub(super) async fn frame_placement(
        &self,
        session_id: &SessionId,
        owner: BackendNodeId,
    ) -> Result<FramePlacement, ActError> {
        let model = GetBoxModelParams { backend_node_id: Some(owner), ..Default::default() };
        let model =
            self.call_in(session_id, model, CALL_TIMEOUT).await.map_err(|_| ActError::NoVisibleArea)?.model;
        // The frame fills the element without its border.
        let (content, border) =
            (ViewportRect::bounding(model.content.inner()), ViewportRect::bounding(model.border.inner()));
        // CSS may scale the element; its own size is in whole numbers.
        let scale = |displayed: f64, natural: f64| {
            if natural > 0.0 && displayed > 0.0 { displayed / natural } else { 1.0 }
        };
        let snap_to_one = |scale: f64| if (scale - 1.0).abs() < 0.05 { 1.0 } else { scale };
        let (scale_x, scale_y) =
            (scale(border.width, model.width as f64), scale(border.height, model.height as f64));
        Ok(FramePlacement {
            left: content.left,
            top: content.top,
            scale_x: snap_to_one(scale_x),
            scale_y: snap_to_one(scale_y),
        })
    }

    /// Returns the isolated world of a frame, which the browser creates on first use.
    pub(super) async fn world(
        &self,
        session_id: &SessionId,
        frame: &str,
    ) -> Result<ExecutionContextId, PageError> {
        let world = CreateIsolatedWorldParams {
            world_name: Some(ISOLATED_WORLD.to_owned()),
            ..CreateIsolatedWorldParams::new(FrameId::new(frame))
        };
        Ok(self.call_in(session_id, world, CALL_TIMEOUT).await?.execution_context_id)
    }

    pub(super) async fn remote_object(
        &self,
        session_id: &SessionId,
        world: ExecutionContextId,
        node: BackendNodeId,
    ) -> Result<Option<RemoteObjectId>, PageError> {
        let resolve = ResolveNodeParams {
            backend_node_id: Some(node),
            execution_context_id: Some(world),
            object_group: Some(ISOLATED_WORLD.to_owned()),
            ..Default::default()
        };
        Ok(self.call_in(session_id, resolve, CALL_TIMEOUT).await?.object.object_id)
    }

    pub(super) async fn call_function_on_object(
        &self,
        session_id: &SessionId,
        object: Option<RemoteObjectId>,
        function: &str,
        arguments: Vec<CallArgument>,
    ) -> Result<Value, PageError> {
        let call = CallFunctionOnParams {
            object_id: object,
            arguments: Some(arguments),
            return_by_value: Some(true),
            ..CallFunctionOnParams::new(function)
        };
        Ok(self.call_in(session_id, call, CALL_TIMEOUT).await?.result.value.unwrap_or_default())
    }
}
