//! Mouse input.

use super::{
    ActError, ActMethod, Audience, CALL_TIMEOUT, ScrollTarget, UnsupportedAct,
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
    point: (f64, f64),
    is_down: bool,
}

impl<'p> PressedButton<'p> {
    pub(super) async fn press(
        page: &'p Page,
        session_id: &SessionId,
        point: (f64, f64),
        click_count: i64,
    ) -> Result<Self, PageError> {
        let button = Self { page, session: session_id.clone(), point, is_down: true };
        page.call_in(
            session_id,
            event(DispatchMouseEventType::MousePressed, point, click_count),
            CALL_TIMEOUT,
        )
        .await?;
        Ok(button)
    }

    pub(super) async fn release(mut self, point: (f64, f64), click_count: i64) -> Result<(), PageError> {
        self.is_down = false;
        self.page
            .call_in(
                &self.session,
                event(DispatchMouseEventType::MouseReleased, point, click_count),
                CALL_TIMEOUT,
            )
            .await?;
        Ok(())
    }

    pub(super) fn set_point(&mut self, point: (f64, f64)) {
        self.point = point;
    }

    /// Disarms the guard because the button was released elsewhere.
    pub(super) fn disarm(mut self) {
        self.is_down = false;
    }
}

impl Drop for PressedButton<'_> {
    fn drop(&mut self) {
        if self.is_down {
            let up = event(DispatchMouseEventType::MouseReleased, self.point, 1);
            self.page.link().send(Some(&self.session), up);
        }
    }
}

fn event(kind: DispatchMouseEventType, (x, y): (f64, f64), click_count: i64) -> DispatchMouseEventParams {
    let buttons = if kind == DispatchMouseEventType::MousePressed { 1 } else { 0 };
    DispatchMouseEventParams {
        button: Some(MouseButton::Left),
        buttons: Some(buttons),
        click_count: Some(click_count),
        ..DispatchMouseEventParams::new(kind, x, y)
    }
}

/// Number of checks whether an element is still under the pointer.
const MAX_POINTER_CHECKS: u32 = 6;
/// Delay between two of these checks.
const POINTER_CHECK_INTERVAL: Duration = Duration::from_millis(30);

/// Returns `option` for an option of a native list, and an empty string otherwise.
const OPTION_CHECK_SCRIPT: &str = "function() {
    const one = this.nodeType === 1 ? this : this.parentElement;
    return one && one.localName === 'option' && one.closest('select') ? 'option' : '';
}";

impl Page {
    pub(super) async fn click(
        &self,
        node_ref: &NodeRef,
        times: i64,
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        match self.click_point(node_ref).await {
            Ok(click_point) => {
                self.show_pointer(audience, click_point.on_page, Some((click_point.part, click_point.shift)))
                    .await;
                let point = self.reach(node_ref, &click_point).await?;
                self.press_at(&session(node_ref), point, times).await?;
                Ok(ActMethod::Input)
            }
            // Options of a closed list have no size; the list is set by value.
            Err(ActError::NoVisibleArea)
                if self.call_function_on_node(node_ref, OPTION_CHECK_SCRIPT, Vec::new()).await?
                    == "option" =>
            {
                self.choose_option(node_ref).await?;
                Ok(ActMethod::Set)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn hover(&self, node_ref: &NodeRef, audience: Audience) -> Result<ActMethod, ActError> {
        let point = self.click_point(node_ref).await?;
        self.show_pointer(audience, point.on_page, Some((point.part, point.shift))).await;
        self.move_to(&session(node_ref), point.point).await?;
        Ok(ActMethod::Input)
    }

    pub(super) async fn move_to(&self, session_id: &SessionId, (x, y): (f64, f64)) -> Result<(), PageError> {
        self.call_in(
            session_id,
            DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, x, y),
            CALL_TIMEOUT,
        )
        .await?;
        Ok(())
    }

    /// Moves the pointer to an element and returns the point to click. The element may move once it is under
    /// the pointer, or disappear for a moment while a hover image loads.
    async fn reach(&self, node_ref: &NodeRef, expected: &ClickPoint) -> Result<(f64, f64), ActError> {
        let session_id = session(node_ref);
        self.move_to(&session_id, expected.point).await?;
        for _ in 0..MAX_POINTER_CHECKS {
            if self.is_still_at(node_ref, expected).await? {
                return Ok(expected.point);
            }
            sleep(POINTER_CHECK_INTERVAL).await;
        }
        let current = self.click_point(node_ref).await?;
        self.move_to(&session_id, current.point).await?;
        // An element that moves with the pointer is under it again and would receive the click.
        match self.obstacle_at(node_ref, &current).await? {
            None => Ok(current.point),
            Some(cover) => Err(ActError::Covered(cover)),
        }
    }

    /// Presses and releases the button. Both events are sent at once, so an abandoned call cannot leave it
    /// down; the browser handles them in order.
    pub(super) async fn press_at(
        &self,
        session_id: &SessionId,
        point: (f64, f64),
        times: i64,
    ) -> Result<(), PageError> {
        for click_count in 1..=times {
            let (down, up) = tokio::join!(
                biased;
                self.call_in(session_id, event(DispatchMouseEventType::MousePressed, point, click_count), CALL_TIMEOUT),
                self.call_in(session_id, event(DispatchMouseEventType::MouseReleased, point, click_count), CALL_TIMEOUT),
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
            ScrollTarget::To(node_ref) => {
                let (parts, _) = self.visible_parts(node_ref).await?;
                if let (Some(part), (x, y)) = (parts.first(), self.session_offset(node_ref).await?) {
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
            ScrollTarget::By(node_ref, x, y) => self.turn_wheel(node_ref.as_ref(), (*x, *y)).await,
        }
    }

    async fn choose_option(&self, node_ref: &NodeRef) -> Result<(), ActError> {
        const CHOOSE_OPTION_SCRIPT: &str = "function() {
            const one = this.nodeType === 1 ? this : this.parentElement;
            const list = one.closest('select');
            if (one.disabled || list.disabled) return false;
            if (list.multiple) one.selected = !one.selected; else one.selected = true;
            list.dispatchEvent(new Event('input', { bubbles: true }));
            list.dispatchEvent(new Event('change', { bubbles: true }));
            return true;
        }";
        match self.call_function_on_node(node_ref, CHOOSE_OPTION_SCRIPT, Vec::new()).await? == json!(true) {
            true => Ok(()),
            false => Err(UnsupportedAct::Disabled.into()),
        }
    }

    /// Focuses an element as the Tab key would.
    pub(super) async fn focus(&self, node_ref: &NodeRef) -> Result<(), ActError> {
        let focus = crate::cdp::browser_protocol::dom::FocusParams {
            backend_node_id: Some(node(node_ref)),
            ..Default::default()
        };
        self.call_in(&session(node_ref), focus, CALL_TIMEOUT).await?;
        Ok(())
    }
}
