//! Visible feedback for the person: a pointer that moves to the element, and an outline around it.
//!
//! Both are drawn by one element at the end of the page, with a closed shadow root that no page script can
//! inspect. It takes no clicks, contains no text, and is removed by [`Page::clear_overlay`].

use super::viewport_rect::ViewportRect;
use crate::{
    Page, PageError,
    cdp::js_protocol::runtime::{EvaluateParams, ExecutionContextId},
};
use std::time::Duration;

/// The audience of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The person, who watches each step in the page.
    Person,
    /// The person, who was asked about this step: it runs only after they have seen where it acts.
    AskedPerson,
    /// No audience: nothing is drawn.
    Unwatched,
}

/// Duration of the pointer's movement, plus a short pause.
const POINTER_TRAVEL: Duration = Duration::from_millis(200);

/// Timeout for drawing or clearing.
const DRAW_TIMEOUT: Duration = Duration::from_secs(2);

/// Draws the overlay. The element is kept between calls, in an isolated world. An overlay that is not redrawn
/// for a minute removes itself, even if Octo exited without clearing it.
const DRAW_SCRIPT: &str = "((x, y, boxes) => {
    let it = globalThis.octoOverlay;
    if (!it || !it.host.isConnected) {
        const host = document.createElement('div');
        host.setAttribute('aria-hidden', 'true');
        host.style.cssText = 'all:initial!important;position:fixed!important;inset:0!important;width:auto!important;height:auto!important;margin:0!important;padding:0!important;border:0!important;overflow:hidden!important;background:transparent!important;pointer-events:none!important;z-index:2147483647!important';
        const root = host.attachShadow({ mode: 'closed' });
        const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
        const style = document.createElement('style');
        style.textContent = '*{pointer-events:none;box-sizing:border-box}'
            + '.at{position:absolute;border:2px solid #2f6fed;border-radius:4px;background:rgba(47,111,237,.12)}'
            + '.hand{position:absolute;left:0;top:0;width:22px;height:22px' + (calm ? '}' : ';transition:transform 160ms ease-out}');
        root.append(style);
        (document.body || document.documentElement).append(host);
        // Also above the page's dialogs, which are in the top layer.
        try { host.popover = 'manual'; host.showPopover(); } catch { /* An older browser draws it below them. */ }
        it = globalThis.octoOverlay = { host, root };
    }
    const { root } = it;
    for (const old of root.querySelectorAll('.at')) old.remove();
    for (const [left, top, width, height] of boxes) {
        const one = document.createElement('div');
        one.className = 'at';
        one.style.cssText = 'left:' + left + 'px;top:' + top + 'px;width:' + width + 'px;height:' + height + 'px';
        root.append(one);
    }
    let hand = root.querySelector('.hand');
    if (!hand) {
        hand = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
        hand.setAttribute('class', 'hand');
        hand.setAttribute('viewBox', '0 0 22 22');
        const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
        path.setAttribute('d', 'M2 2 L2 17 L6.5 13 L9.5 20 L12.5 18.7 L9.5 12 L15.5 12 Z');
        path.setAttribute('fill', '#2f6fed');
        path.setAttribute('stroke', '#fff');
        path.setAttribute('stroke-width', '1.5');
        hand.append(path);
        root.append(hand);
    }
    hand.style.transform = 'translate(' + (x - 2) + 'px,' + (y - 2) + 'px)';
    clearTimeout(it.until);
    it.until = setTimeout(() => { it.host.remove(); if (globalThis.octoOverlay === it) delete globalThis.octoOverlay; }, 60000);
})";

/// Removes the overlay, and answers after the page was painted without it.
const CLEAR_SCRIPT: &str = "(() => { const it = globalThis.octoOverlay; if (!it) return false; clearTimeout(it.until); it.host.remove(); delete globalThis.octoOverlay; return true; })()";

impl Page {
    /// Moves the visible pointer and outlines the element in use. The drawing is sent before the first input of the act,
    /// and the page handles both in order, so an act that navigates is also shown. Only an act that the person
    /// was asked about waits for the pointer to arrive.
    pub(super) async fn show_pointer(
        &self,
        audience: Audience,
        (x, y): (f64, f64),
        outlined: Option<(ViewportRect, (f64, f64))>,
    ) {
        if audience == Audience::Unwatched {
            return;
        }
        let boxes = outlined.map(|(rect, (offset_x, offset_y))| {
            let margin = 3.0;
            let (left, top) = (rect.left + offset_x - margin, rect.top + offset_y - margin);
            serde_json::json!([left, top, rect.width + 2.0 * margin, rect.height + 2.0 * margin])
        });
        let boxes = serde_json::Value::from(Vec::from_iter(boxes));
        let script = format!("{DRAW_SCRIPT}({x}, {y}, {boxes})");
        // A page that cannot be drawn on can still be acted on.
        if let Err(error) = self.draw(script, audience).await {
            tracing::debug!(%error, "the pointer was not drawn");
        }
    }

    async fn draw(&self, script: String, audience: Audience) -> Result<(), PageError> {
        let generation = self.overlay_generation();
        let world: ExecutionContextId = self.world(self.session(), self.main_frame().inner()).await?;
        // The overlay was cleared meanwhile because the page was released.
        if generation != self.overlay_generation() {
            return Ok(());
        }
        if audience == Audience::AskedPerson {
            let travel_ms = POINTER_TRAVEL.as_millis();
            let draw = EvaluateParams {
                context_id: Some(world),
                await_promise: Some(true),
                ..EvaluateParams::new(format!(
                    "{script}; new Promise((done) => setTimeout(done, {travel_ms}))"
                ))
            };
            return self.call(draw, DRAW_TIMEOUT).await.map(drop);
        }
        let draw = EvaluateParams { context_id: Some(world), ..EvaluateParams::new(script) };
        self.link().send(Some(self.session()), draw);
        Ok(())
    }

    /// Removes everything drawn for the person: before a picture for a model, and when the turn ends.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn clear_overlay(&self) -> Result<(), PageError> {
        self.invalidate_overlay();
        let world: ExecutionContextId = self.world(self.session(), self.main_frame().inner()).await?;
        let clear = EvaluateParams { context_id: Some(world), ..EvaluateParams::new(CLEAR_SCRIPT) };
        self.call(clear, DRAW_TIMEOUT).await?;
        Ok(())
    }
}
