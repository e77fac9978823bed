//! Mouse input.

use super::{
    ActError, ActMethod, Audience, LIMIT, ScrollTarget, UnsupportedAct,
    place::{node, session},
    press::ClickPoint,
};
use crate::{
    Page, PageError,
    cdp::browser_protocol::{
        input::{DispatchMouseEventParams, DispatchMouseEventType, MouseButton},
        target::SessionId,
    },
    snapshot::NodeRef,
};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// Guard that releases the mouse button if an action is abandoned half-way.
pub(super) struct PressedButton<'p> {
    page: &'p Page,
    session: SessionId,
    at: (f64, f64),
    is_down: bool,
}

impl<'p> PressedButton<'p> {
    pub(super) async fn press(
        page: &'p Page,
        on: &SessionId,
        at: (f64, f64),
        count: i64,
    ) -> Result<Self, PageError> {
        let held = Self { page, session: on.clone(), at, is_down: true };
        page.call_in(on, event(DispatchMouseEventType::MousePressed, at, count), LIMIT).await?;
        Ok(held)
    }

    pub(super) async fn release(mut self, at: (f64, f64), count: i64) -> Result<(), PageError> {
        self.is_down = false;
        self.page
            .call_in(&self.session, event(DispatchMouseEventType::MouseReleased, at, count), LIMIT)
            .await?;
        Ok(())
    }

    pub(super) fn moved(&mut self, at: (f64, f64)) {
        self.at = at;
    }

    /// Disarms the guard because the button was released elsewhere.
    pub(super) fn disarm(mut self) {
        self.is_down = false;
    }
}

impl Drop for PressedButton<'_> {
    fn drop(&mut self) {
        if self.is_down {
            let up = event(DispatchMouseEventType::MouseReleased, self.at, 1);
            self.page.link().send(Some(&self.session), up);
        }
    }
}

fn event(kind: DispatchMouseEventType, (x, y): (f64, f64), count: i64) -> DispatchMouseEventParams {
    let buttons = if kind == DispatchMouseEventType::MousePressed { 1 } else { 0 };
    DispatchMouseEventParams {
        button: Some(MouseButton::Left),
        buttons: Some(buttons),
        click_count: Some(count),
        ..DispatchMouseEventParams::new(kind, x, y)
    }
}

/// Number of checks, and the delay between them, for an element to be still under the pointer.
const MAX_POINTER_CHECKS: u32 = 6;
const STILL: Duration = Duration::from_millis(30);

/// Returns `option` for an option of a native list, and an empty string otherwise.
const OPTION_CHECK: &str = "function() {
    const one = this.nodeType === 1 ? this : this.parentElement;
    return one && one.localName === 'option' && one.closest('select') ? 'option' : '';
}";

impl Page {
    pub(super) async fn click(
        &self,
        place: &NodeRef,
        times: i64,
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        match self.click_point(place).await {
            Ok(at) => {
                self.show_pointer(audience, at.on_page, Some((at.spot, at.shift))).await;
                let point = self.reach(place, &at).await?;
                self.press_at(&session(place), point, times).await?;
                Ok(ActMethod::Input)
            }
            // Options of a closed list have no size; the list is set by value.
            Err(ActError::NoRoom)
                if self.call_function_on_node(place, OPTION_CHECK, Vec::new()).await? == "option" =>
            {
                self.choose_option(place).await?;
                Ok(ActMethod::Set)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn hover(&self, place: &NodeRef, audience: Audience) -> Result<ActMethod, ActError> {
        let at = self.click_point(place).await?;
        self.show_pointer(audience, at.on_page, Some((at.spot, at.shift))).await;
        self.move_to(&session(place), at.point).await?;
        Ok(ActMethod::Input)
    }

    pub(super) async fn move_to(&self, on: &SessionId, (x, y): (f64, f64)) -> Result<(), PageError> {
        self.call_in(on, DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, x, y), LIMIT)
            .await?;
        Ok(())
    }

    /// Moves the pointer to an element and returns the point to click. Under the pointer the element may move,
    /// or disappear for a moment while a hover image loads.
    async fn reach(&self, place: &NodeRef, at: &ClickPoint) -> Result<(f64, f64), ActError> {
        let on = session(place);
        self.move_to(&on, at.point).await?;
        for _ in 0..MAX_POINTER_CHECKS {
            if self.is_still_at(place, at).await? {
                return Ok(at.point);
            }
            sleep(STILL).await;
        }
        let again = self.click_point(place).await?;
        self.move_to(&on, again.point).await?;
        // An element that follows the pointer is back and would receive the click.
        match self.cover_at(place, &again).await? {
            None => Ok(again.point),
            Some(cover) => Err(ActError::Covered(cover)),
        }
    }

    /// Presses and releases the button. Both events are sent at once, so an abandoned call cannot leave it
    /// down; the browser handles them in order.
    pub(super) async fn press_at(&self, on: &SessionId, at: (f64, f64), times: i64) -> Result<(), PageError> {
        for time in 1..=times {
            let (down, up) = tokio::join!(
                biased;
                self.call_in(on, event(DispatchMouseEventType::MousePressed, at, time), LIMIT),
                self.call_in(on, event(DispatchMouseEventType::MouseReleased, at, time), LIMIT),
            );
            down?;
            up?;
        }
        Ok(())
    }

    pub(super) async fn scroll(
        &self,
        scroll: &ScrollTarget,
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        match scroll {
            ScrollTarget::To(place) => {
                let (parts, _) = self.parts(place).await?;
                if let (Some(part), (x, y)) = (parts.first(), self.shift(place).await?) {
                    let (left, top) = part.middle();
                    self.show_pointer(audience, (left + x, top + y), Some((*part, (x, y)))).await;
                }
                Ok(ActMethod::Input)
            }
            ScrollTarget::ToText(text) => {
                match self.find_text(text, super::text::FoundTextAction::ScrollTo).await? {
                    true => Ok(ActMethod::Set),
                    false => Err(UnsupportedAct::NoSuchText.into()),
                }
            }
            ScrollTarget::By(place, x, y) => self.turn_wheel(place.as_ref(), (*x, *y)).await,
        }
    }

    async fn choose_option(&self, place: &NodeRef) -> Result<(), ActError> {
        const CHOOSE: &str = "function() {
            const one = this.nodeType === 1 ? this : this.parentElement;
            const list = one.closest('select');
            if (one.disabled || list.disabled) return false;
            if (list.multiple) one.selected = !one.selected; else one.selected = true;
            list.dispatchEvent(new Event('input', { bubbles: true }));
            list.dispatchEvent(new Event('change', { bubbles: true }));
            return true;
        }";
        match self.call_function_on_node(place, CHOOSE, Vec::new()).await? == json!(true) {
            true => Ok(()),
            false => Err(UnsupportedAct::Disabled.into()),
        }
    }

    /// Focuses an element as the Tab key would.
    pub(super) async fn focus(&self, place: &NodeRef) -> Result<(), ActError> {
        let focus = crate::cdp::browser_protocol::dom::FocusParams {
            backend_node_id: Some(node(place)),
            ..Default::default()
        };
        self.call_in(&session(place), focus, LIMIT).await?;
        Ok(())
    }
}
