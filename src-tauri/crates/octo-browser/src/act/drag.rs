//! Dragging, by mouse events alone or as the browser's native drag and drop if the page uses it.

use super::{
    ActError, ActMethod, Audience, CoveringElement, LIMIT, UnsupportedAct, place::session,
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
const STEPS: u32 = 8;

/// How long the browser may take to report that a native drag began. It normally does so while handling the
/// movement that starts it; the rest is slack for a busy machine.
const DRAG_START_TIMEOUT: Duration = Duration::from_millis(60);

/// A point outside the viewport.
const OUTSIDE: (f64, f64) = (-1.0, -1.0);

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
    async fn begin(page: &'p Page, on: &SessionId) -> Result<Self, PageError> {
        // Create the guard before asking for interception, so that an abandoned request is undone as well.
        let held = Self { page, session: on.clone() };
        page.call_in(on, SetInterceptDragsParams::new(true), LIMIT).await?;
        Ok(held)
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
            return Err(UnsupportedAct::TwoFrames.into());
        }
        // The browser turns a press and release within the same control into a click.
        if self.is_one_control(from, to).await? {
            return Err(UnsupportedAct::SameControl.into());
        }
        let on = session(from);
        // The drop target may be out of view at first; its position counts once both ends have stopped moving.
        self.parts(to).await?;
        let start = self.click_point(from).await?;
        let onto = self.click_point_unscrolled(to).await?;
        let end = onto.point;
        self.show_pointer(audience, start.on_page, Some((start.spot, start.shift))).await;
        let _interception = DragInterception::begin(self, &on).await?;
        let mut events = self.link().events(Some(&on));
        self.move_to(&on, start.point).await?;
        let mut held = PressedButton::press(self, &on, start.point, 1).await?;
        let way = |part: f64| {
            let (x, y) = start.point;
            (x + (end.0 - x) * part, y + (end.1 - y) * part)
        };
        let (mut dragged, mut along) = (None, None);
        for step in 1..=STEPS {
            let at = way(f64::from(step) / f64::from(STEPS));
            if step == STEPS / 2 + 1 && dragged.is_none() {
                along = self.cover_there(to, &onto, way(f64::from(step - 1) / f64::from(STEPS))).await?;
            }
            if let Some(data) = &dragged {
                self.drag_event(&on, DispatchDragEventType::DragOver, at, data).await?;
                continue;
            }
            let moved = DispatchMouseEventParams {
                button: Some(MouseButton::Left),
                buttons: Some(1),
                ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, at.0, at.1)
            };
            self.call_in(&on, moved, LIMIT).await?;
            held.moved(at);
            // A drag starts only some pixels away from the press.
            if step <= 2 {
                dragged = intercepted(&mut events).await;
            }
            if let Some(data) = &dragged {
                self.drag_event(&on, DispatchDragEventType::DragEnter, at, data).await?;
            }
        }
        self.show_pointer(audience, (end.0 + start.shift.0, end.1 + start.shift.1), None).await;
        if let Some(data) = &dragged {
            self.drag_event(&on, DispatchDragEventType::DragOver, end, data).await?;
        }
        if let Some(cover) = self.drop_obstacle(from, to, &onto, along).await? {
            if let Some(data) = &dragged {
                self.drag_event(&on, DispatchDragEventType::DragCancel, end, data).await?;
            }
            // Release the button at a point with no drop target.
            held.moved(OUTSIDE);
            return Err(ActError::Covered(cover));
        }
        match dragged {
            Some(data) => {
                self.drag_event(&on, DispatchDragEventType::Drop, end, &data).await?;
                let up = DispatchMouseEventParams {
                    button: Some(MouseButton::Left),
                    click_count: Some(1),
                    ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseReleased, end.0, end.1)
                };
                self.call_in(&on, up, LIMIT).await?;
                held.disarm();
            }
            None => held.release(end, 1).await?,
        }
        Ok(ActMethod::Input)
    }

    /// Returns the element that would take the drop instead of the target. The dragged element itself may be at
    /// the drop point, or a drag image that the page made and that was under the pointer half-way too; neither
    /// counts.
    async fn drop_obstacle(
        &self,
        from: &NodeRef,
        to: &NodeRef,
        onto: &ClickPoint,
        along: Option<CoveringElement>,
    ) -> Result<Option<CoveringElement>, ActError> {
        let Some(cover) = self.cover_at(to, onto).await? else { return Ok(None) };
        let goes_along = cover.place.is_some() && along.is_some_and(|along| along.place == cover.place);
        if goes_along || self.cover_at(from, onto).await?.is_none() {
            return Ok(None);
        }
        Ok(Some(cover))
    }

    async fn drag_event(
        &self,
        on: &SessionId,
        kind: DispatchDragEventType,
        (x, y): (f64, f64),
        data: &DragData,
    ) -> Result<(), PageError> {
        self.call_in(on, DispatchDragEventParams::new(kind, x, y, data.clone()), LIMIT).await?;
        Ok(())
    }
}

/// Waits for the browser to report a native drag, and returns its data.
async fn intercepted(events: &mut SessionEvents) -> Option<DragData> {
    let until = Instant::now() + DRAG_START_TIMEOUT;
    loop {
        match timeout_at(until, events.next()).await {
            Ok(NextEvent::Event(event)) if event.method == EventDragIntercepted::IDENTIFIER => {
                return event.read::<DragInterceptedEvent>().map(|it| it.data);
            }
            Ok(NextEvent::Event(_) | NextEvent::Missed(_)) => {}
            Ok(NextEvent::Ended) | Err(_) => return None,
        }
    }
}
