//! The focused element and relations between nodes, rechecked immediately before input.

use super::{
    ActError, ActMethod, Audience, CALL_TIMEOUT, CoveringElement, ISOLATED_WORLD, UnsupportedAct,
    keys::KeyStroke,
    place::{node, session},
};
use crate::{
    Page, PageError,
    cdp::{
        browser_protocol::{
            dom::{BackendNodeId, DescribeNodeParams, ResolveNodeParams},
            target::SessionId,
        },
        js_protocol::runtime::{
            CallArgument, CallFunctionOnParams, ReleaseObjectGroupParams, RemoteObjectId,
        },
    },
    snapshot::NodeRef,
    wire::LenientCommand,
};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

/// Maximum depth of shadow roots searched for the focus.
const MAX_SHADOW_DEPTH: usize = 32;

/// Maximum number of checks whether the expected element is at a point.
const MAX_CHECKS: u32 = 6;
/// Delay between two of these checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(30);

/// Finds the control that receives the click if the button is pressed in one part of it and released in
/// another. The role counts even though the page sets it: an element that declares itself a button takes
/// clicks.
const SAME_CONTROL_SCRIPT: &str = "function(other) {
    const above = (one) => one.assignedSlot || one.parentNode || one.host || null;
    if (this === other) return true;
    const over = new Set();
    for (let one = this; one; one = above(one)) over.add(one);
    let one = other;
    while (one && !over.has(one)) one = above(one);
    const control = 'a[href],area[href],button,input,select,textarea,option,label,summary,[role=button],[role=link],[role=menuitem],[role=option],[role=tab],[role=checkbox],[role=radio],[role=switch]';
    for (; one; one = above(one)) if (one.nodeType === 1 && Element.prototype.matches.call(one, control)) return true;
    return false;
}";

/// Returns whether a node is the given one or inside it, including through shadow roots and slots.
const IS_INSIDE_SCRIPT: &str = "function(whole) {
    for (let one = this; one; one = one.assignedSlot || one.parentNode || one.host || null) if (one === whole) return true;
    return false;
}";

/// The used part of the `DOM.describeNode` response.
#[derive(Debug, Deserialize)]
struct DescribeNodeReply {
    node: ReplyNode,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReplyNode {
    backend_node_id: i64,
    #[serde(default)]
    shadow_root_type: String,
    #[serde(default)]
    shadow_roots: Vec<ReplyNode>,
}

impl Page {
    /// Returns the focused element of the main frame, including inside closed shadow roots. If a frame has the
    /// focus, this is the element that embeds it; `None` if the document has no body.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn focused(&self) -> Result<Option<NodeRef>, PageError> {
        let mut current = self.root().await?;
        let mut found = None;
        for _ in 0..MAX_SHADOW_DEPTH {
            let active = CallFunctionOnParams {
                object_id: self.remote_object_of(&current).await?,
                object_group: Some(ISOLATED_WORLD.to_owned()),
                ..CallFunctionOnParams::new("function() { return this.activeElement; }")
            };
            let Some(active) = self.call(active, CALL_TIMEOUT).await?.result.object_id else { break };
            let describe = DescribeNodeParams {
                object_id: Some(active),
                depth: Some(1),
                pierce: Some(true),
                ..Default::default()
            };
            let node =
                self.call(LenientCommand::<_, DescribeNodeReply>::new(describe), CALL_TIMEOUT).await?.node;
            current.node = node.backend_node_id;
            found = Some(current.clone());
            let Some(inner) = node.shadow_roots.iter().find(|root| root.shadow_root_type != "user-agent")
            else {
                break;
            };
            current.node = inner.backend_node_id;
        }
        Ok(found)
    }

    /// Calls a function on a node with another node of its frame as argument, in an isolated world.
    async fn call_function_with_node(
        &self,
        node_ref: &NodeRef,
        other: &NodeRef,
        function: &str,
    ) -> Result<Value, PageError> {
        let (this, that) = (self.remote_object_of(node_ref).await?, self.remote_object_of(other).await?);
        let call = CallFunctionOnParams {
            object_id: this,
            arguments: Some(vec![CallArgument { object_id: that, ..Default::default() }]),
            return_by_value: Some(true),
            ..CallFunctionOnParams::new(function)
        };
        Ok(self.call_in(&session(node_ref), call, CALL_TIMEOUT).await?.result.value.unwrap_or_default())
    }

    async fn remote_object_of(&self, node_ref: &NodeRef) -> Result<Option<RemoteObjectId>, PageError> {
        let session_id = session(node_ref);
        let resolve = ResolveNodeParams {
            backend_node_id: Some(BackendNodeId::new(node_ref.node)),
            execution_context_id: Some(self.world(&session_id, &node_ref.frame).await?),
            object_group: Some(ISOLATED_WORLD.to_owned()),
            ..Default::default()
        };
        Ok(self.call_in(&session_id, resolve, CALL_TIMEOUT).await?.object.object_id)
    }

    /// Releases the nodes that were queried; otherwise the browser keeps them until the page is unloaded. Does
    /// not wait for completion.
    pub fn release_nodes(&self, node_ref: Option<&NodeRef>) {
        let main = self.session().clone();
        let other_session = node_ref.map(session).filter(|session_id| *session_id != main);
        for session_id in std::iter::once(main).chain(other_session) {
            self.link().send(Some(&session_id), ReleaseObjectGroupParams::new(ISOLATED_WORLD));
        }
    }

    /// Returns whether pressing the button on one node and releasing it on the other clicks a control that
    /// contains both.
    pub(super) async fn is_one_control(&self, from: &NodeRef, to: &NodeRef) -> Result<bool, ActError> {
        if node(from) == node(to) {
            return Ok(true);
        }
        if from.frame != to.frame {
            return Ok(false);
        }
        Ok(self.call_function_with_node(from, to, SAME_CONTROL_SCRIPT).await? != Value::Bool(false))
    }

    /// Waits a moment until an element, or a part of it, is at a point. Returns the element that is there instead
    /// if that does not happen.
    pub(super) async fn wait_until_at(
        &self,
        node_ref: &NodeRef,
        (x, y): (f64, f64),
    ) -> Result<Result<(), CoveringElement>, ActError> {
        let mut cover = None;
        for _ in 0..MAX_CHECKS {
            let hit = self.element_at(x, y).await?;
            let is_target = hit.node == node_ref.node && hit.frame == node_ref.frame;
            if is_target
                || hit.frame == node_ref.frame
                    && self.call_function_with_node(&hit, node_ref, IS_INSIDE_SCRIPT).await?
                        == Value::Bool(true)
            {
                return Ok(Ok(()));
            }
            cover = Some(hit);
            sleep(CHECK_INTERVAL).await;
        }
        Ok(Err(CoveringElement { node_ref: cover, description: String::new() }))
    }

    /// Presses a key if this element still has the focus.
    pub(super) async fn press_at_focus(&self, node_ref: &NodeRef, keys: &str) -> Result<ActMethod, ActError> {
        let stroke = KeyStroke::parse(keys).ok_or(UnsupportedAct::UnknownKey)?;
        let session_id: SessionId = session(node_ref);
        let focused = self.focused().await?;
        if focused
            .is_none_or(|focused| focused.node != node_ref.node || focused.document != node_ref.document)
        {
            return Err(UnsupportedAct::FocusMoved.into());
        }
        self.press_stroke(&session_id, &stroke).await?;
        Ok(ActMethod::Input)
    }

    pub(super) async fn click_at(
        &self,
        node_ref: &NodeRef,
        point: (f64, f64),
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        self.show_pointer(audience, point, None).await;
        self.move_to(self.session(), point).await?;
        if let Err(cover) = self.wait_until_at(node_ref, point).await? {
            return Err(ActError::Covered(cover));
        }
        self.press_at(self.session(), point, 1).await?;
        Ok(ActMethod::Input)
    }
}
