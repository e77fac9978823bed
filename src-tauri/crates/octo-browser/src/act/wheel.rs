//! Turns the wheel and waits until scrolling stops. Pages scroll smoothly, so an element that is read or clicked
//! before that moves a moment later.

use super::{ActError, ActMethod, CALL_TIMEOUT, place::session};
use crate::{
    Page, PageError,
    cdp::{
        browser_protocol::input::{DispatchMouseEventParams, DispatchMouseEventType},
        js_protocol::runtime::{CallArgument, CallFunctionOnParams, EvaluateParams, RemoteObjectId},
    },
    snapshot::NodeRef,
};
use serde_json::json;
use std::time::Duration;

/// Maximum time for smooth scrolling. Chromium takes a fifth of a second; a page that is not painted never
/// finishes.
const SCROLL_TIMEOUT: Duration = Duration::from_secs(1);

/// Resolves when the scrollable area at an element stops moving in this direction; immediately if nothing can
/// scroll.
const SCROLL_END_SCRIPT: &str = "function(x, y) {
    const room = (one) =>
        (y > 0 && one.scrollTop + one.clientHeight < one.scrollHeight - 1) || (y < 0 && one.scrollTop > 0)
        || (x > 0 && one.scrollLeft + one.clientWidth < one.scrollWidth - 1) || (x < 0 && one.scrollLeft > 0);
    const page = this.ownerDocument.scrollingElement ?? this.ownerDocument.documentElement;
    const above = (one) => one.parentElement ?? one.getRootNode().host ?? null;
    const scrolls = (one) => one === page || /auto|scroll|overlay/.test(getComputedStyle(one).overflow);
    let one = this.nodeType === 1 ? this : this.parentElement;
    while (one && !(scrolls(one) && room(one))) one = above(one);
    if (!one) return false;
    return new Promise((done) => {
        const where = one === page ? this.ownerDocument : one;
        where.addEventListener('scrollend', () => done(true), { once: true });
        setTimeout(() => done(false), LONGEST);
    });
}";

impl Page {
    /// Turns the wheel over an element, or over the middle of the page, by CSS pixels.
    pub(super) async fn turn_wheel(
        &self,
        node_ref: Option<&NodeRef>,
        (x, y): (f64, f64),
    ) -> Result<ActMethod, ActError> {
        let (session_id, point) = match node_ref {
            Some(node_ref) => {
                let (parts, _) = self.visible_parts(node_ref).await?;
                (session(node_ref), parts.first().map_or((0.0, 0.0), |part| part.middle()))
            }
            None => {
                let view = self.visual_viewport(self.session()).await?;
                (self.session().clone(), (view.client_width / 2.0, view.client_height / 2.0))
            }
        };
        let wheel = DispatchMouseEventParams {
            delta_x: Some(x),
            delta_y: Some(y),
            ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseWheel, point.0, point.1)
        };
        let scroll_end = CallFunctionOnParams {
            object_id: self.element_under_wheel(node_ref, point).await?,
            arguments: Some(
                [x, y].map(|delta| CallArgument { value: Some(json!(delta)), ..Default::default() }).to_vec(),
            ),
            await_promise: Some(true),
            ..CallFunctionOnParams::new(
                SCROLL_END_SCRIPT.replace("LONGEST", &SCROLL_TIMEOUT.as_millis().to_string()),
            )
        };
        // Listen before the wheel turns: the browser handles both in this order.
        let (ended, turned) = tokio::join!(biased; self.call_in(&session_id, scroll_end, SCROLL_TIMEOUT + CALL_TIMEOUT), self.call_in(&session_id, wheel, CALL_TIMEOUT));
        turned?;
        if let Err(error) = ended {
            // A document that is unloaded meanwhile never reports the end; its successor is awaited elsewhere.
            tracing::debug!(%error, "whether a page stands still again is not known");
        }
        Ok(ActMethod::Input)
    }

    /// Returns the element under the wheel.
    async fn element_under_wheel(
        &self,
        node_ref: Option<&NodeRef>,
        (x, y): (f64, f64),
    ) -> Result<Option<RemoteObjectId>, PageError> {
        if let Some(node_ref) = node_ref {
            return Ok(self.resolve_node(node_ref).await?.object);
        }
        let world = self.world(self.session(), self.main_frame().inner()).await?;
        let command = EvaluateParams {
            context_id: Some(world),
            ..EvaluateParams::new(format!("document.elementFromPoint({x}, {y}) ?? document.documentElement"))
        };
        Ok(self.call(command, CALL_TIMEOUT).await?.result.object_id)
    }
}
