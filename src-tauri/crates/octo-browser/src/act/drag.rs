//! Dragging: by the mouse alone, or as the browser's own drag and drop where the page asks for that.

use super::{ActError, Audience, Cover, LIMIT, Unfit, Way, place::session, pointer::Held, press::Pressable};
use crate::{
    Events, Heard, Page, PageError,
    cdp::browser_protocol::{
        input::{
            DispatchDragEventParams, DispatchDragEventType, DispatchMouseEventParams, DispatchMouseEventType,
            DragData, EventDragIntercepted, MouseButton, SetInterceptDragsParams,
        },
        target::SessionId,
    },
    snapshot::Place,
};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// So many steps of the pointer: some pages look at its way.
const STEPS: u32 = 8;

/// How long the browser may take to say that a drag of its own began. It says so while the movement that begins it is
/// taken in; this is room for a busy machine.
const BEGINS: Duration = Duration::from_millis(60);

/// Outside of all that is seen of a page.
const OUTSIDE: (f64, f64) = (-1.0, -1.0);

#[derive(serde::Deserialize)]
struct Intercepted {
    data: DragData,
}

/// While it is held, the browser's own drags are told and not begun on the person's screen.
struct Interception<'p> {
    page: &'p Page,
    on: SessionId,
}

impl<'p> Interception<'p> {
    async fn begin(page: &'p Page, on: &SessionId) -> Result<Self, PageError> {
        // Held before it is asked for: one that is begun and given up must not outlive this.
        let held = Self { page, on: on.clone() };
        page.call_in(on, SetInterceptDragsParams::new(true), LIMIT).await?;
        Ok(held)
    }
}

impl Drop for Interception<'_> {
    fn drop(&mut self) {
        self.page.link().tell(Some(&self.on), SetInterceptDragsParams::new(false));
    }
}

impl Page {
    pub(super) async fn drag(&self, from: &Place, to: &Place, audience: Audience) -> Result<Way, ActError> {
        if from.session != to.session {
            return Err(Unfit::TwoFrames.into());
        }
        // The browser makes a click of a button that goes down and up in the same one.
        if self.is_one_control(from, to).await? {
            return Err(Unfit::SameControl.into());
        }
        let on = session(from);
        // What is dragged onto may itself be out of sight at first; its place counts once both are where they stay.
        self.parts(to).await?;
        let start = self.pressable(from).await?;
        let onto = self.pressable_where_it_is(to).await?;
        let end = onto.point;
        self.point_out(audience, start.on_page, Some((start.spot, start.shift))).await;
        let _interception = Interception::begin(self, &on).await?;
        let mut events = self.link().events(Some(&on));
        self.move_to(&on, start.point).await?;
        let mut held = Held::press(self, &on, start.point, 1).await?;
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
            // A drag begins some pixels away from where the button went down.
            if step <= 2 {
                dragged = intercepted(&mut events).await;
            }
            if let Some(data) = &dragged {
                self.drag_event(&on, DispatchDragEventType::DragEnter, at, data).await?;
            }
        }
        self.point_out(audience, (end.0 + start.shift.0, end.1 + start.shift.1), None).await;
        if let Some(data) = &dragged {
            self.drag_event(&on, DispatchDragEventType::DragOver, end, data).await?;
        }
        if let Some(cover) = self.in_the_way(from, to, &onto, along).await? {
            if let Some(data) = &dragged {
                self.drag_event(&on, DispatchDragEventType::DragCancel, end, data).await?;
            }
            // The button comes up where nothing is that could take what is dragged.
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
                held.came_up();
            }
            None => held.release(end, 1).await?,
        }
        Ok(Way::Input)
    }

    /// What takes the drop instead of the element it is for. What is dragged may be there itself, and so may a picture
    /// of it that the page made, which was under the pointer half-way too.
    async fn in_the_way(
        &self,
        from: &Place,
        to: &Place,
        onto: &Pressable,
        along: Option<Cover>,
    ) -> Result<Option<Cover>, ActError> {
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

/// What the browser would drag, if it begins to.
async fn intercepted(events: &mut Events) -> Option<DragData> {
    let until = Instant::now() + BEGINS;
    loop {
        match timeout_at(until, events.next()).await {
            Ok(Heard::Event(event)) if event.method == EventDragIntercepted::IDENTIFIER => {
                return event.read::<Intercepted>().map(|it| it.data);
            }
            Ok(Heard::Event(_) | Heard::Missed(_)) => {}
            Ok(Heard::Over) | Err(_) => return None,
        }
    }
}
