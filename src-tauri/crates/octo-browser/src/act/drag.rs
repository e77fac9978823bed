//! Dragging, by mouse events alone or as the browser's native drag and drop if the page uses it.

use super::{
    ActError, ActMethod, Audience, CALL_TIMEOUT, CoveringElement, UnsupportedAct, place::session,
    pointer::PressedButton, press::ClickPoint,
};
use crate::{
    NextEvent, Page, PageError, SessionEvents,
    cdp::browser_protocol::{
        input::{
            DispatchDragEventParams, DispatchDragEventType, DispatchMouseEventParams, DispatchMouseEventType,
            DragData, EventDragIntercepted, MouseButton, SetInterceptDragsParams,
        },
        target::SessionId,
    },
    snapshot::NodeRef,
};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Number of pointer moves per drag: some pages track the pointer's path.
const MOVE_STEPS: u32 = 8;

/// Timeout for the browser to report that a native drag began. It normally does so while it handles the
/// movement that starts the drag; the rest is slack for a busy machine.
const DRAG_START_TIMEOUT: Duration = Duration::from_millis(60);

/// A point outside the viewport.
const OUTSIDE_VIEWPORT: (f64, f64) = (-1.0, -1.0);

#[derive(serde::Deserialize)]
struct DragInterceptedEvent {
    data: DragData,
}

/// Guard under which the browser reports native drags instead of starting them on the person's screen.
struct DragInterception<'p> {
    page: &'p Page,
    session: SessionId,
}

impl<'p> DragInterception<'p> {
    async fn begin(page: &'p Page, session_id: &SessionId) -> Result<Self, PageError> {
        // Create the guard before asking for interception, so that an abandoned request is undone as well.
        let guard = Self { page, session: session_id.clone() };
        page.call_in(session_id, SetInterceptDragsParams::new(true), CALL_TIMEOUT).await?;
        Ok(guard)
    }
}

impl Drop for DragInterception<'_> {
    fn drop(&mut self) {
        self.page.link().send(Some(&self.session), SetInterceptDragsParams::new(false));
    }
}

impl Page {
    pub(super) async fn drag(
        &self,
        from: &NodeRef,
        to: &NodeRef,
        audience: Audience,
    ) -> Result<ActMethod, ActError> {
        if from.session != to.session {
            return Err(UnsupportedAct::DifferentFrames.into());
        }
        // The browser turns a press and release within the same control into a click.
        if self.is_one_control(from, to).await? {
            return Err(UnsupportedAct::SameControl.into());
        }
        let session_id = session(from);
        // The drop target may be out of view at first. Measure its position after the scrolling for both ends.
        self.visible_parts(to).await?;
        let start = self.click_point(from).await?;
        let drop_point = self.click_point_unscrolled(to).await?;
        let end = drop_point.point;
        self.show_pointer(audience, start.on_page, Some((start.part, start.shift))).await;
        let _interception = DragInterception::begin(self, &session_id).await?;
        let mut events = self.link().events(Some(&session_id));
        self.move_to(&session_id, start.point).await?;
        let mut button = PressedButton::press(self, &session_id, start.point, 1).await?;
        let point_at = |fraction: f64| {
            let (x, y) = start.point;
            (x + (end.0 - x) * fraction, y + (end.1 - y) * fraction)
        };
        let (mut drag_data, mut midway_obstacle) = (None, None);
        for step in 1..=MOVE_STEPS {
            let point = point_at(f64::from(step) / f64::from(MOVE_STEPS));
            if step == MOVE_STEPS / 2 + 1 && drag_data.is_none() {
                midway_obstacle = self
                    .obstacle_at_point(to, &drop_point, point_at(f64::from(step - 1) / f64::from(MOVE_STEPS)))
                    .await?;
            }
            if let Some(data) = &drag_data {
                self.drag_event(&session_id, DispatchDragEventType::DragOver, point, data).await?;
                continue;
            }
            let movement = DispatchMouseEventParams {
                button: Some(MouseButton::Left),
                buttons: Some(1),
                ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, point.0, point.1)
            };
            self.call_in(&session_id, movement, CALL_TIMEOUT).await?;
            button.set_point(point);
            // A drag starts only some pixels away from the press.
            if step <= 2 {
                drag_data = wait_for_native_drag(&mut events).await;
            }
            if let Some(data) = &drag_data {
                self.drag_event(&session_id, DispatchDragEventType::DragEnter, point, data).await?;
            }
        }
        self.show_pointer(audience, (end.0 + start.shift.0, end.1 + start.shift.1), None).await;
        if let Some(data) = &drag_data {
            self.drag_event(&session_id, DispatchDragEventType::DragOver, end, data).await?;
        }
        if let Some(cover) = self.drop_obstacle(from, to, &drop_point, midway_obstacle).await? {
            if let Some(data) = &drag_data {
                self.drag_event(&session_id, DispatchDragEventType::DragCancel, end, data).await?;
            }
            // Release the button at a point with no drop target.
            button.set_point(OUTSIDE_VIEWPORT);
            return Err(ActError::Covered(cover));
        }
        match drag_data {
            Some(data) => {
                self.drag_event(&session_id, DispatchDragEventType::Drop, end, &data).await?;
                let release = DispatchMouseEventParams {
                    button: Some(MouseButton::Left),
                    click_count: Some(1),
                    ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseReleased, end.0, end.1)
                };
                self.call_in(&session_id, release, CALL_TIMEOUT).await?;
                button.disarm();
            }
            None => button.release(end, 1).await?,
        }
        Ok(ActMethod::Input)
    }

    /// Returns the element that would take the drop instead of the target. The dragged element itself does not
    /// count, nor does a drag image of the page: one that was under the pointer half-way too.
    async fn drop_obstacle(
        &self,
        from: &NodeRef,
        to: &NodeRef,
        drop_point: &ClickPoint,
        midway_obstacle: Option<CoveringElement>,
    ) -> Result<Option<CoveringElement>, ActError> {
        let Some(cover) = self.obstacle_at(to, drop_point).await? else { return Ok(None) };
        let follows_pointer = cover.node_ref.is_some()
            && midway_obstacle.is_some_and(|midway| midway.node_ref == cover.node_ref);
        if follows_pointer || self.obstacle_at(from, drop_point).await?.is_none() {
            return Ok(None);
        }
        Ok(Some(cover))
    }

    async fn drag_event(
        &self,
        session_id: &SessionId,
        kind: DispatchDragEventType,
        (x, y): (f64, f64),
        data: &DragData,
    ) -> Result<(), PageError> {
        self.call_in(session_id, DispatchDragEventParams::new(kind, x, y, data.clone()), CALL_TIMEOUT)
            .await?;
        Ok(())
    }
}

/// Waits for the browser to report a native drag, and returns its data.
async fn wait_for_native_drag(events: &mut SessionEvents) -> Option<DragData> {
    let deadline = Instant::now() + DRAG_START_TIMEOUT;
    loop {
        match timeout_at(deadline, events.next()).await {
            Ok(NextEvent::Event(event)) if event.method == EventDragIntercepted::IDENTIFIER => {
                return event.read::<DragInterceptedEvent>().map(|params| params.data);
            }
            Ok(NextEvent::Event(_) | NextEvent::Missed(_)) => {}
            Ok(NextEvent::Ended) | Err(_) => return None,
        }
    }
}
