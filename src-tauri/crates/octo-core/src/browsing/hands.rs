//! What is done to a page: captured, clicked, typed into. Real input events only, at places that were scrolled to and
//! found not to be covered.

mod capture;
mod keys;

pub(super) use capture::capture;

use octo_browser::{
    Events, Heard, Page, PageError, PageEvent,
    cdp::{
        browser_protocol::{
            dom::{
                BackendNodeId, FocusParams, GetContentQuadsParams, GetNodeForLocationParams,
                ResolveNodeParams, ScrollIntoViewIfNeededParams, SetFileInputFilesParams,
            },
            input::{DispatchMouseEventParams, DispatchMouseEventType, InsertTextParams, MouseButton},
            page::{CreateIsolatedWorldParams, FrameId, GetLayoutMetricsParams},
            target::SessionId,
        },
        js_protocol::runtime::{CallArgument, CallFunctionOnParams, RemoteObjectId},
    },
    snapshot::{DocumentId, Place},
};
use serde_json::{Value, json};
use std::{path::PathBuf, time::Duration};
use tokio::sync::broadcast;

/// How long a page may take to be read, or to take an input.
pub(super) const LIMIT: Duration = Duration::from_secs(5);
/// How long after an input a page may take to begin to go elsewhere.
const REACTION: Duration = Duration::from_millis(150);
/// How long a page that goes elsewhere is waited for.
const LOADING: Duration = Duration::from_secs(3);
/// How often a text that is waited for is looked for, and for how long.
const GLANCE: Duration = Duration::from_millis(100);
const AWAITED: Duration = Duration::from_secs(10);
/// Steps of a pointer that drags.
const STEPS: u32 = 8;

/// The world of scripts that only look: pages neither see it nor change it.
const WORLD: &str = "octo";

/// Why something was not done to an element.
#[derive(Debug)]
pub(super) enum Fault {
    /// Something else is where it would be pressed; its words are the page's.
    Covered(String),
    /// It takes no room on the page.
    NoRoom,
    /// The element is not of the kind that takes this; in words for the model.
    Unfit(&'static str),
    /// The page did not answer, or says no.
    Page(PageError),
}

impl From<PageError> for Fault {
    fn from(error: PageError) -> Self {
        Self::Page(error)
    }
}

/// Where something is, in CSS pixels of what its session shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Spot {
    fn middle(self) -> (f64, f64) {
        (self.left + self.width / 2.0, self.top + self.height / 2.0)
    }
}

fn node(place: &Place) -> BackendNodeId {
    BackendNodeId::new(place.node)
}

fn session(place: &Place) -> SessionId {
    SessionId::new(place.session.clone())
}

/// What is at a point of the main frame's process.
pub(super) async fn at_point(page: &Page, x: f64, y: f64) -> Result<Place, PageError> {
    let at = GetNodeForLocationParams {
        x: x.round() as i64,
        y: y.round() as i64,
        include_user_agent_shadow_dom: Some(false),
        ignore_pointer_events_none: Some(false),
    };
    let hit = page.call(at, LIMIT).await?;
    let frames = page.frames().await?;
    let frame = frames.into_iter().find(|frame| frame.id == hit.frame_id);
    Ok(Place {
        session: page.session().inner().clone(),
        frame: hit.frame_id.inner().clone(),
        document: DocumentId(frame.as_ref().map(|frame| frame.document.clone()).unwrap_or_default()),
        origin: frame.map(|frame| frame.origin).unwrap_or_default(),
        node: *hit.backend_node_id.inner(),
    })
}

/// Calls a function on an element, in a world of its own.
pub(super) async fn ask(
    page: &Page,
    place: &Place,
    function: &str,
    given: Vec<Value>,
) -> Result<Value, PageError> {
    let given = given.into_iter().map(|value| CallArgument { value: Some(value), ..Default::default() });
    ask_with(page, place, function, given.collect()).await
}

async fn world(
    page: &Page,
    place: &Place,
) -> Result<octo_browser::cdp::js_protocol::runtime::ExecutionContextId, PageError> {
    let world = CreateIsolatedWorldParams {
        world_name: Some(WORLD.to_owned()),
        ..CreateIsolatedWorldParams::new(FrameId::new(place.frame.clone()))
    };
    Ok(page.call_in(&session(place), world, LIMIT).await?.execution_context_id)
}

async fn object(page: &Page, place: &Place, at: BackendNodeId) -> Result<Option<RemoteObjectId>, PageError> {
    let context = world(page, place).await?;
    let resolve = ResolveNodeParams {
        backend_node_id: Some(at),
        execution_context_id: Some(context),
        ..Default::default()
    };
    Ok(page.call_in(&session(place), resolve, LIMIT).await?.object.object_id)
}

async fn ask_with(
    page: &Page,
    place: &Place,
    function: &str,
    given: Vec<CallArgument>,
) -> Result<Value, PageError> {
    let object = object(page, place, node(place)).await?;
    let call = CallFunctionOnParams {
        object_id: object,
        arguments: Some(given),
        return_by_value: Some(true),
        ..CallFunctionOnParams::new(function)
    };
    Ok(page.call_in(&session(place), call, LIMIT).await?.result.value.unwrap_or_default())
}

/// Scrolls to an element and says where it is.
pub(super) async fn spot(page: &Page, place: &Place) -> Result<Spot, Fault> {
    let scroll = ScrollIntoViewIfNeededParams { backend_node_id: Some(node(place)), ..Default::default() };
    page.call_in(&session(place), scroll, LIMIT).await?;
    let quads = GetContentQuadsParams { backend_node_id: Some(node(place)), ..Default::default() };
    let quads = page.call_in(&session(place), quads, LIMIT).await.map_err(|_| Fault::NoRoom)?.quads;
    let boxes = quads.iter().filter_map(|quad| {
        let (mut left, mut top, mut right, mut bottom) = (f64::MAX, f64::MAX, f64::MIN, f64::MIN);
        for point in quad.inner().chunks_exact(2) {
            if let [x, y] = point {
                (left, right) = (left.min(*x), right.max(*x));
                (top, bottom) = (top.min(*y), bottom.max(*y));
            }
        }
        let spot = Spot { left, top, width: right - left, height: bottom - top };
        (spot.width >= 1.0 && spot.height >= 1.0).then_some(spot)
    });
    let mut boxes: Vec<Spot> = boxes.collect();
    if boxes.is_empty() { Err(Fault::NoRoom) } else { Ok(boxes.swap_remove(0)) }
}

/// Whether what is pressed at a point is the element: itself, a part of it, or the label that presses it.
const IS_HIT: &str = "function(hit) {
    const above = (node) => node.parentNode || node.host || null;
    for (let node = hit; node; node = above(node)) {
        if (node === this || (node.localName === 'label' && node.control === this)) return null;
    }
    for (let node = this; node; node = above(node)) if (node === hit && node.localName === 'label') return null;
    const one = hit.nodeType === 1 ? hit : hit.parentElement;
    const text = (one.innerText || '').trim().replace(/\\s+/g, ' ').slice(0, 80);
    return one.localName + (one.id ? '#' + one.id : '') + (text ? ' ' + text : '');
}";

/// Scrolls to an element and finds a point at which it, and nothing else, is pressed.
async fn pressable(page: &Page, place: &Place) -> Result<(f64, f64), Fault> {
    let (x, y) = spot(page, place).await?.middle();
    let at = GetNodeForLocationParams {
        x: x.round() as i64,
        y: y.round() as i64,
        include_user_agent_shadow_dom: Some(false),
        ignore_pointer_events_none: Some(false),
    };
    let hit = page.call_in(&session(place), at, LIMIT).await.map_err(|_| Fault::NoRoom)?;
    if hit.backend_node_id != node(place) {
        let hit = object(page, place, hit.backend_node_id).await?;
        let hit = CallArgument { object_id: hit, ..Default::default() };
        if let Value::String(cover) = ask_with(page, place, IS_HIT, vec![hit]).await? {
            return Err(Fault::Covered(cover));
        }
    }
    Ok((x, y))
}

async fn mouse(
    page: &Page,
    on: &SessionId,
    kind: DispatchMouseEventType,
    (x, y): (f64, f64),
    presses: i64,
) -> Result<(), PageError> {
    let pressed = !matches!(kind, DispatchMouseEventType::MouseMoved);
    let event = DispatchMouseEventParams {
        button: pressed.then_some(MouseButton::Left),
        click_count: pressed.then_some(presses),
        ..DispatchMouseEventParams::new(kind, x, y)
    };
    page.call_in(on, event, LIMIT).await?;
    Ok(())
}

async fn press_at(page: &Page, on: &SessionId, at: (f64, f64), times: i64) -> Result<(), PageError> {
    mouse(page, on, DispatchMouseEventType::MouseMoved, at, 0).await?;
    for time in 1..=times {
        mouse(page, on, DispatchMouseEventType::MousePressed, at, time).await?;
        mouse(page, on, DispatchMouseEventType::MouseReleased, at, time).await?;
    }
    Ok(())
}

/// Presses an element so many times.
pub(super) async fn click(page: &Page, place: &Place, times: i64) -> Result<(), Fault> {
    let at = pressable(page, place).await?;
    Ok(press_at(page, &session(place), at, times).await?)
}

/// Presses a point of the page.
pub(super) async fn click_at(page: &Page, x: f64, y: f64) -> Result<(), Fault> {
    Ok(press_at(page, page.session(), (x, y), 1).await?)
}

/// Rests the pointer on an element.
pub(super) async fn hover(page: &Page, place: &Place) -> Result<(), Fault> {
    let at = spot(page, place).await?.middle();
    Ok(mouse(page, &session(place), DispatchMouseEventType::MouseMoved, at, 0).await?)
}

/// Drags one element onto another of the same frame's process.
pub(super) async fn drag(page: &Page, from: &Place, to: &Place) -> Result<(), Fault> {
    if from.session != to.session {
        return Err(Fault::Unfit("both must be in the same frame"));
    }
    let (begin, end) = (pressable(page, from).await?, spot(page, to).await?.middle());
    let on = session(from);
    mouse(page, &on, DispatchMouseEventType::MouseMoved, begin, 0).await?;
    mouse(page, &on, DispatchMouseEventType::MousePressed, begin, 1).await?;
    for step in 1..=STEPS {
        let part = f64::from(step) / f64::from(STEPS);
        let at = (begin.0 + (end.0 - begin.0) * part, begin.1 + (end.1 - begin.1) * part);
        let held = DispatchMouseEventParams {
            button: Some(MouseButton::Left),
            buttons: Some(1),
            ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, at.0, at.1)
        };
        page.call_in(&on, held, LIMIT).await?;
    }
    Ok(mouse(page, &on, DispatchMouseEventType::MouseReleased, end, 1).await?)
}

/// Where text goes in: at the end of what is there, or in place of it. Says what cannot be typed into.
const CARET: &str = "function(replace) {
    const kind = (this.type || '').toLowerCase();
    if (this.localName === 'select') return 'select';
    if (this.localName === 'input' && ['date','time','datetime-local','month','week','color','range'].includes(kind)) return 'value';
    if (this.localName === 'input' && ['checkbox','radio','button','submit','reset','image','file','hidden'].includes(kind)) return 'press';
    if (this.disabled || this.readOnly) return 'closed';
    this.focus();
    if (this.localName === 'input' || this.localName === 'textarea') {
        const end = this.value.length;
        if (replace) this.select();
        else try { this.setSelectionRange(end, end); } catch { /* Numbers and mails have no selection. */ }
        return replace && end === 0 ? 'empty' : 'text';
    }
    if (!this.isContentEditable) return 'none';
    const range = this.ownerDocument.createRange();
    range.selectNodeContents(this);
    if (!replace) range.collapse(false);
    const selection = this.ownerDocument.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return 'text';
}";

/// Sets what has no text to type: dates, colours, ranges.
const SET: &str = "function(value) {
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    setter.call(this, value);
    this.dispatchEvent(new Event('input', { bubbles: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
    return this.value;
}";

/// Writes text into a field.
pub(super) async fn write(page: &Page, place: &Place, text: &str, how: Writing) -> Result<(), Fault> {
    spot(page, place).await?;
    page.call_in(
        &session(place),
        FocusParams { backend_node_id: Some(node(place)), ..Default::default() },
        LIMIT,
    )
    .await
    .map_err(|_| Fault::Unfit("it cannot be typed into"))?;
    let kind = ask(page, place, CARET, vec![json!(how == Writing::Replace)]).await?;
    match kind.as_str().unwrap_or_default() {
        "select" => Err(Fault::Unfit("it is a list: use kind select")),
        "press" => Err(Fault::Unfit("it is no text field: use kind click (or upload for files)")),
        "closed" => Err(Fault::Unfit("it is disabled or read-only")),
        "none" => Err(Fault::Unfit("it cannot be typed into")),
        "value" => match ask(page, place, SET, vec![json!(text)]).await? {
            Value::String(now) if now == text || text.is_empty() || !now.is_empty() => Ok(()),
            _ => Err(Fault::Unfit(
                "it did not take that value: dates are written 2026-11-22, times 09:30, colours #rrggbb",
            )),
        },
        "empty" if text.is_empty() => Ok(()),
        _ if text.is_empty() && how == Writing::Replace => {
            Ok(keys::press(page, &session(place), "Delete").await?)
        }
        _ => {
            page.call_in(&session(place), InsertTextParams::new(text), LIMIT).await?;
            Ok(())
        }
    }
}

/// How text goes into a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// After what is there.
    Append,
    /// In place of it.
    Replace,
}

/// Presses a key in an element, or where the focus is.
pub(super) async fn press(page: &Page, place: Option<&Place>, key: &str) -> Result<(), Fault> {
    let on = match place {
        None => page.session().clone(),
        Some(place) => {
            let focus = FocusParams { backend_node_id: Some(node(place)), ..Default::default() };
            page.call_in(&session(place), focus, LIMIT)
                .await
                .map_err(|_| Fault::Unfit("it cannot have the focus"))?;
            session(place)
        }
    };
    if !keys::is_known(key) {
        return Err(Fault::Unfit(
            "that key is not known: name one such as Enter, Tab, Escape, ArrowDown, Control+A",
        ));
    }
    Ok(keys::press(page, &on, key).await?)
}

/// Chooses options by what they say or by their values. Says what there is when one is missing.
const CHOOSE: &str = "function(wanted) {
    if (this.localName !== 'select') return 'none';
    const same = (option, text) => option.label.trim() === text || option.value === text;
    const near = (option, text) => option.label.trim().toLowerCase() === text.toLowerCase();
    const found = wanted.map((text) => [...this.options].find((o) => same(o, text.trim()))
        || [...this.options].find((o) => near(o, text.trim())));
    if (found.some((option) => !option || option.disabled)) return 'missing';
    if (found.length > 1 && !this.multiple) return 'single';
    this.focus();
    if (this.multiple) for (const option of this.options) option.selected = found.includes(option);
    else found[0].selected = true;
    this.dispatchEvent(new Event('input', { bubbles: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
    return 'done';
}";

/// Chooses options of a list.
pub(super) async fn select(page: &Page, place: &Place, values: &[String]) -> Result<(), Fault> {
    match ask(page, place, CHOOSE, vec![json!(values)]).await?.as_str().unwrap_or_default() {
        "done" => Ok(()),
        "single" => Err(Fault::Unfit("only one option can be chosen there")),
        "none" => Err(Fault::Unfit("it is no native list: click it and then the option")),
        _ => Err(Fault::Unfit("it has no such option that can be chosen; read it for the options it has")),
    }
}

/// Gives files to a field.
pub(super) async fn upload(page: &Page, place: &Place, files: &[PathBuf]) -> Result<(), Fault> {
    let files = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
    let give =
        SetFileInputFilesParams { backend_node_id: Some(node(place)), ..SetFileInputFilesParams::new(files) };
    page.call_in(&session(place), give, LIMIT)
        .await
        .map_err(|_| Fault::Unfit("it is no field for files; give the number of the field itself"))?;
    Ok(())
}

/// Moves the page.
pub(super) async fn scroll_by(page: &Page, by: (f64, f64)) -> Result<(), Fault> {
    let view = page.call(GetLayoutMetricsParams {}, LIMIT).await?.css_layout_viewport;
    let at = (view.client_width as f64 / 2.0, view.client_height as f64 / 2.0);
    let wheel = DispatchMouseEventParams {
        delta_x: Some(by.0),
        delta_y: Some(by.1),
        ..DispatchMouseEventParams::new(DispatchMouseEventType::MouseWheel, at.0, at.1)
    };
    page.call(wheel, LIMIT).await?;
    Ok(())
}

/// Finds a text in what can be seen of a document, and perhaps scrolls to it.
const TEXT: &str = "function(text, scroll) {
    const wanted = text.trim().toLowerCase();
    const walker = document.createTreeWalker(document.body || document, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
        const one = node.parentElement;
        if (!node.data.toLowerCase().includes(wanted) || !one || !one.checkVisibility()) continue;
        if (scroll) one.scrollIntoView({ block: 'center' });
        return true;
    }
    return false;
}";

/// Whether the main frame shows a text; it is scrolled to where that is wanted.
pub(super) async fn shows(page: &Page, root: &Place, text: &str, scroll: Scroll) -> Result<bool, PageError> {
    let found = ask(page, root, TEXT, vec![json!(text), json!(scroll == Scroll::There)]).await?;
    Ok(found.as_bool().unwrap_or(false))
}

/// Whether a text that is found is scrolled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scroll {
    /// It is.
    There,
    /// It is only looked for.
    Not,
}

/// Waits for a text for some seconds; whether it came.
pub(super) async fn await_text(page: &Page, text: &str) -> Result<bool, PageError> {
    let until = tokio::time::Instant::now() + AWAITED;
    loop {
        let root = root(page).await?;
        if shows(page, &root, text, Scroll::Not).await? {
            return Ok(true);
        }
        if tokio::time::Instant::now() >= until {
            return Ok(false);
        }
        tokio::time::sleep(GLANCE).await;
    }
}

/// The document of the main frame.
pub(super) async fn root(page: &Page) -> Result<Place, PageError> {
    let document = page.call(
        octo_browser::cdp::browser_protocol::dom::GetDocumentParams { depth: Some(0), pierce: Some(false) },
        LIMIT,
    );
    let node = document.await?.root.backend_node_id;
    Ok(Place {
        session: page.session().inner().clone(),
        frame: page.main_frame().inner().clone(),
        document: DocumentId(page.document()),
        origin: page.origin(),
        node: *node.inner(),
    })
}

/// What a page does after an input, heard from before the input on.
pub(super) struct Reactions {
    page: broadcast::Receiver<PageEvent>,
    raw: Events,
}

/// What the browser tells when a page begins to go somewhere, long before it is there.
const GOES: [&str; 3] =
    ["Page.frameRequestedNavigation", "Page.frameStartedNavigating", "Page.frameStartedLoading"];

impl Reactions {
    pub fn of(page: &Page) -> Self {
        Self { page: page.events(), raw: page.link().events(Some(page.session())) }
    }

    /// Waits until what an input set off is there: a moment for a page that stays, some seconds for one that goes.
    pub async fn settle(&mut self, page: &Page) {
        let mut until = tokio::time::Instant::now() + REACTION;
        while page.dialog().is_none() {
            let later = |wait| tokio::time::Instant::now() + wait;
            tokio::select! {
                () = tokio::time::sleep_until(until) => return,
                event = self.page.recv() => match event {
                    Ok(PageEvent::Committed(octo_browser::Committed { document: octo_browser::Document::New(_), .. })) => {
                        until = later(LOADING);
                    }
                    Ok(PageEvent::Loaded) => until = later(REACTION),
                    Ok(PageEvent::DialogOpened(_) | PageEvent::Crashed | PageEvent::Detached)
                    | Err(broadcast::error::RecvError::Closed) => return,
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                },
                heard = self.raw.next() => match heard {
                    Heard::Event(event) if GOES.contains(&event.method.as_ref()) => until = later(LOADING),
                    Heard::Event(event) if event.method == "Page.frameStoppedLoading" => until = later(REACTION),
                    Heard::Over => return,
                    Heard::Event(_) | Heard::Missed(_) => {}
                },
            }
        }
    }
}
