//! What has the focus, and how two nodes stand to each other: what is to be pressed is looked at again right before.

use super::{
    ActError, Audience, Cover, LIMIT, Unfit, WORLD, Way,
    keys::Stroke,
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
    snapshot::Place,
    wire::Leniently,
};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use tokio::time::sleep;

/// The deepest that shadow roots are gone down into for the focus.
const DEPTH: usize = 32;

/// How often, and how long after each other, it is looked whether what was to be pressed at a point is there.
const LOOKS: u32 = 6;
const STILL: Duration = Duration::from_millis(30);

/// What a node is pressed as when a button goes down in one part of a control and up in another. A role is the page's
/// word, and counts: what calls itself a button takes clicks.
const SAME_CONTROL: &str = "function(other) {
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

/// Whether a node is the other or a part of it, shadow roots and slots included.
const IS_IN: &str = "function(whole) {
    for (let one = this; one; one = one.assignedSlot || one.parentNode || one.host || null) if (one === whole) return true;
    return false;
}";

/// `DOM.describeNode`, as much of it as is used.
#[derive(Debug, Deserialize)]
struct Described {
    node: DescribedNode,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DescribedNode {
    backend_node_id: i64,
    #[serde(default)]
    shadow_root_type: String,
    #[serde(default)]
    shadow_roots: Vec<DescribedNode>,
}

impl Page {
    /// What has the focus in the main frame, closed shadow roots included. A frame that has it is the element that
    /// holds the frame; nothing where there is not even a body.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn focused(&self) -> Result<Option<Place>, PageError> {
        let mut at = self.root().await?;
        let mut found = None;
        for _ in 0..DEPTH {
            let active = CallFunctionOnParams {
                object_id: self.held(&at).await?,
                object_group: Some(WORLD.to_owned()),
                ..CallFunctionOnParams::new("function() { return this.activeElement; }")
            };
            let Some(active) = self.call(active, LIMIT).await?.result.object_id else { break };
            let describe = DescribeNodeParams {
                object_id: Some(active),
                depth: Some(1),
                pierce: Some(true),
                ..Default::default()
            };
            let one = self.call(Leniently::<_, Described>::new(describe), LIMIT).await?.node;
            at.node = one.backend_node_id;
            found = Some(at.clone());
            let Some(inner) = one.shadow_roots.iter().find(|root| root.shadow_root_type != "user-agent")
            else {
                break;
            };
            at.node = inner.backend_node_id;
        }
        Ok(found)
    }

    /// Calls a function on a node, in a world the page cannot reach, with another node of its frame.
    async fn ask_with(&self, place: &Place, other: &Place, function: &str) -> Result<Value, PageError> {
        let (this, that) = (self.held(place).await?, self.held(other).await?);
        let call = CallFunctionOnParams {
            object_id: this,
            arguments: Some(vec![CallArgument { object_id: that, ..Default::default() }]),
            return_by_value: Some(true),
            ..CallFunctionOnParams::new(function)
        };
        Ok(self.call_in(&session(place), call, LIMIT).await?.result.value.unwrap_or_default())
    }

    async fn held(&self, place: &Place) -> Result<Option<RemoteObjectId>, PageError> {
        let on = session(place);
        let resolve = ResolveNodeParams {
            backend_node_id: Some(BackendNodeId::new(place.node)),
            execution_context_id: Some(self.world(&on, &place.frame).await?),
            object_group: Some(WORLD.to_owned()),
            ..Default::default()
        };
        Ok(self.call_in(&on, resolve, LIMIT).await?.object.object_id)
    }

    /// Lets go of the nodes that were asked: each would be kept from being forgotten until the page goes. Nothing of
    /// it is waited for.
    pub fn let_nodes_go(&self, place: Option<&Place>) {
        let main = self.session().clone();
        let other = place.map(session).filter(|on| *on != main);
        for on in std::iter::once(main).chain(other) {
            self.link().tell(Some(&on), ReleaseObjectGroupParams::new(WORLD));
        }
    }

    /// Whether a button that goes down on one and up on the other presses something that both are in.
    pub(super) async fn is_one_control(&self, from: &Place, to: &Place) -> Result<bool, ActError> {
        if node(from) == node(to) {
            return Ok(true);
        }
        if from.frame != to.frame {
            return Ok(false);
        }
        Ok(self.ask_with(from, to, SAME_CONTROL).await? != Value::Bool(false))
    }

    /// Waits for a moment until a point is an element's, or a part's of it.
    pub(super) async fn is_there_at(
        &self,
        place: &Place,
        (x, y): (f64, f64),
    ) -> Result<Result<(), Cover>, ActError> {
        let mut cover = None;
        for _ in 0..LOOKS {
            let hit = self.place_at(x, y).await?;
            let is_it = hit.node == place.node && hit.frame == place.frame;
            if is_it
                || hit.frame == place.frame && self.ask_with(&hit, place, IS_IN).await? == Value::Bool(true)
            {
                return Ok(Ok(()));
            }
            cover = Some(hit);
            sleep(STILL).await;
        }
        Ok(Err(Cover { place: cover, words: String::new() }))
    }

    /// Presses a key where the focus is, if that is still this element.
    pub(super) async fn press_at_focus(&self, place: &Place, keys: &str) -> Result<Way, ActError> {
        let stroke = Stroke::read(keys).ok_or(Unfit::UnknownKey)?;
        let on: SessionId = session(place);
        let focused = self.focused().await?;
        if focused.is_none_or(|focused| focused.node != place.node || focused.document != place.document) {
            return Err(Unfit::FocusMoved.into());
        }
        self.strike(&on, &stroke).await?;
        Ok(Way::Input)
    }

    pub(super) async fn click_at(
        &self,
        place: &Place,
        at: (f64, f64),
        audience: Audience,
    ) -> Result<Way, ActError> {
        self.point_out(audience, at, None).await;
        self.move_to(self.session(), at).await?;
        if let Err(cover) = self.is_there_at(place, at).await? {
            return Err(ActError::Covered(cover));
        }
        self.press_at(self.session(), at, 1).await?;
        Ok(Way::Input)
    }
}
