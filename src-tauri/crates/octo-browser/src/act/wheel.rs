//! Turns the wheel and waits until scrolling stops. Pages scroll smoothly, so an element read or clicked on the
//! way would have moved a moment later.

use super::{ActError, ActMethod, LIMIT, place::session};
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
const END: &str = "function(x, y) {
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
        place: Option<&NodeRef>,
        (x, y): (f64, f64),
    ) -> Result<ActMethod, ActError> {
        let (on, at) = match place {
            Some(place) => {
                let (parts, _) = self.parts(place).await?;
                (session(place), parts.first().map_or((0.0, 0.0), |part| part.middle()))
            }
            None => {
                let view = self.visual_viewport(self.session()).await?;
                (self.session().clone(), (view.client_width / 2.0, view.client_height / 2.0))
            }
        };
        let wheel = DispatchMouseEventParams {
            delta_x: Some(x),
            delta_y: Some(y),
            ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseWheel, at.0, at.1)
        };
        let end = CallFunctionOnParams {
            object_id: self.element_under_wheel(place, at).await?,
            arguments: Some(
                [x, y].map(|by| CallArgument { value: Some(json!(by)), ..Default::default() }).to_vec(),
            ),
            await_promise: Some(true),
            ..CallFunctionOnParams::new(END.replace("LONGEST", &SCROLL_TIMEOUT.as_millis().to_string()))
        };
        // Listen before the wheel turns: the browser handles both in this order.
        let (ended, turned) = tokio::join!(biased; self.call_in(&on, end, SCROLL_TIMEOUT + LIMIT), self.call_in(&on, wheel, LIMIT));
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
        place: Option<&NodeRef>,
        (x, y): (f64, f64),
    ) -> Result<Option<RemoteObjectId>, PageError> {
        if let Some(place) = place {
            return Ok(self.resolve_node(place).await?.object);
        }
        let world = self.world(self.session(), self.main_frame().inner()).await?;
        let look = EvaluateParams {
            context_id: Some(world),
            ..EvaluateParams::new(format!("document.elementFromPoint({x}, {y}) ?? document.documentElement"))
        };
        Ok(self.call(look, LIMIT).await?.result.object_id)
    }
}
