//! What a page does after something was done to it.

use super::{
    Act, LIMIT, Wait,
    place::{node, session},
};
use crate::{
    CallError, Dialog, Event, Events, Heard, Page, PageError, PageEvent,
    cdp::{
        browser_protocol::{
            page::{
                EventFrameNavigated, EventFrameStoppedLoading, EventLoadEventFired,
                EventNavigatedWithinDocument,
            },
            target::SessionId,
        },
        js_protocol::runtime::{CallFunctionOnParams, EvaluateParams, ExecutionContextId},
    },
    snapshot::Place,
    wire::{FrameNavigated, NavigatedWithin},
};
use serde::Deserialize;
use std::time::Duration;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, sleep, sleep_until, timeout_at},
};

/// A page that changed counts as quiet after so long without another change. Two pictures of a screen, and a little.
const QUIET: Duration = Duration::from_millis(40);

/// How long a page that never comes to rest is waited for.
const RESTLESS: Duration = Duration::from_secs(1);

/// How long a page that goes elsewhere is waited for: its server's answer, and then the rest of it.
const COMMIT: Duration = Duration::from_secs(10);
const LOAD: Duration = Duration::from_secs(3);

/// `Page.frameStartedNavigating`, and what older browsers have in its place.
const STARTED: [&str; 2] = ["Page.frameStartedNavigating", "Page.frameRequestedNavigation"];

/// How long a page may take to begin to change. An act that is seldom answered by more than itself waits less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience(Duration);

impl Patience {
    pub(super) fn with(act: &Act) -> Self {
        Self(Duration::from_millis(match act {
            Act::Click(_) | Act::DoubleClick(_) | Act::ClickAt(..) | Act::Drag(..) => 100,
            Act::Press(..) | Act::PressAtFocus(..) => 100,
            Act::Select(..) | Act::Upload(..) => 80,
            Act::Hover(_) | Act::Type(..) | Act::Fill(..) => 50,
            Act::Scroll(_) => 80,
            Act::Wait(Wait::Text(_) | Wait::Gone(_) | Wait::Time(_)) => 20,
        }))
    }
}

/// What a page did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is the page it was.
    Stayed,
    /// It has another address; the document is the same.
    Moved,
    /// It shows another document.
    Navigated(Loading),
    /// It opened a dialog, which holds it.
    Dialog(Dialog),
    /// It asks for files. None were given, and nothing stands on the person's screen: [`Act::Upload`] gives some.
    AsksForFiles,
}

/// How far another document has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loading {
    /// It and all it needs is there.
    Done,
    /// It is there and goes on loading.
    Partly,
    /// Its server has not answered yet; the old one is still there.
    Awaited,
}

/// What a page does from now on, looked at from before the act.
pub struct Settling {
    page: Page,
    raw: Events,
    events: broadcast::Receiver<PageEvent>,
}

impl std::fmt::Debug for Settling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settling").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFrame {
    frame_id: String,
    #[serde(default)]
    navigation_type: String,
    #[serde(default)]
    disposition: String,
}

/// What was heard of a navigation of the main frame.
#[derive(Default)]
struct Course {
    begun: Option<Instant>,
    /// The document that came.
    committed: Option<(String, Instant)>,
    loaded: bool,
    moved: bool,
}

impl Course {
    fn hear(&mut self, page: &Page, event: &Event) {
        let is_main = |frame: &str| frame == page.main_frame().inner();
        match event.method.as_ref() {
            name if STARTED.contains(&name) => {
                let Some(it) = event.read::<OfFrame>() else { return };
                let stays = it.navigation_type == "sameDocument"
                    || !matches!(it.disposition.as_str(), "" | "currentTab");
                if is_main(&it.frame_id) && !stays {
                    self.begun.get_or_insert_with(Instant::now);
                }
            }
            EventFrameNavigated::IDENTIFIER => {
                let Some(FrameNavigated { frame, kind }) = event.read() else { return };
                if frame.parent_id.is_none() {
                    self.committed = Some((frame.loader_id.inner().clone(), Instant::now()));
                    self.loaded = kind == "BackForwardCacheRestore";
                    self.begun = None;
                }
            }
            EventNavigatedWithinDocument::IDENTIFIER => {
                let Some(it) = event.read::<NavigatedWithin>() else { return };
                self.moved |= is_main(it.frame_id.inner());
            }
            EventLoadEventFired::IDENTIFIER => self.loaded |= self.committed.is_some(),
            // It became a download, or nothing at all.
            EventFrameStoppedLoading::IDENTIFIER
                if event.read::<OfFrame>().is_some_and(|it| is_main(&it.frame_id)) =>
            {
                self.begun = None;
                self.loaded |= self.committed.is_some();
            }
            _ => {}
        }
    }

    /// Until when something is still waited for.
    fn until(&self) -> Option<Instant> {
        match (self.begun, &self.committed) {
            (Some(begun), _) => Some(begun + COMMIT),
            (None, Some((_, at))) if !self.loaded => Some(*at + LOAD),
            _ => None,
        }
    }

    fn came(&self) -> Came {
        match (&self.committed, self.begun) {
            (_, Some(_)) => Came::Navigated(Loading::Awaited),
            (Some(_), None) if self.loaded => Came::Navigated(Loading::Done),
            (Some(_), None) => Came::Navigated(Loading::Partly),
            (None, None) if self.moved => Came::Moved,
            (None, None) => Came::Stayed,
        }
    }
}

impl Page {
    /// Looks at the page from now on, to tell after an act what it did.
    pub fn settling(&self) -> Settling {
        let link = self.link();
        Settling { page: self.clone(), raw: link.events(Some(self.session())), events: self.events() }
    }
}

impl Settling {
    /// Waits for what the page does after an act of another kind than [`Page::perform`] does: an answered dialog.
    ///
    /// # Errors
    ///
    /// [`PageError`] when the page is gone.
    pub async fn after(self) -> Result<Came, PageError> {
        let page = self.page.clone();
        self.come(page.at_rest_now(Duration::from_millis(100))).await
    }

    /// The same after an act, with what was watched from before it.
    pub(super) async fn settled(self, patience: Patience, watch: &mut Watch) -> Result<Came, PageError> {
        let page = self.page.clone();
        self.come(page.at_rest(watch, patience.0)).await
    }

    async fn come(mut self, rest: impl Future<Output = Result<(), PageError>>) -> Result<Came, PageError> {
        let mut course = Course::default();
        let page = self.page.clone();
        if let Some(dialog) = self.rest(&mut course, rest).await? {
            return Ok(Came::Dialog(dialog));
        }
        // A new document comes to rest by itself once it is there.
        let mut waited = false;
        while let Some(until) = course.until() {
            waited = true;
            if until <= Instant::now() {
                break;
            }
            if let Some(dialog) = self.news(&mut course, until).await? {
                return Ok(Came::Dialog(dialog));
            }
        }
        if waited
            && course.committed.is_some()
            && let Some(dialog) = self.rest(&mut course, page.at_rest_now(QUIET)).await?
        {
            return Ok(Came::Dialog(dialog));
        }
        if let Some((loader, _)) = &course.committed {
            self.known(loader).await;
        }
        Ok(course.came())
    }

    /// Waits until the page is at rest, and takes in what is told meanwhile.
    async fn rest(
        &mut self,
        course: &mut Course,
        rest: impl Future<Output = Result<(), PageError>>,
    ) -> Result<Option<Dialog>, PageError> {
        tokio::pin!(rest);
        let far = Instant::now() + RESTLESS + LIMIT;
        loop {
            if let Some(dialog) = self.page.dialog() {
                return Ok(Some(dialog));
            }
            tokio::select! {
                biased;
                heard = self.raw.next() => self.take(course, heard)?,
                event = self.events.recv() => if let Some(dialog) = stopping(event)? { return Ok(Some(dialog)) },
                result = &mut rest => match result {
                    Ok(()) => break,
                    Err(PageError::Dialog(dialog)) => return Ok(Some(dialog)),
                    Err(error) => return Err(error),
                },
                () = sleep_until(far) => break,
            }
        }
        Ok(None)
    }

    /// Takes in the next thing that is told.
    async fn news(&mut self, course: &mut Course, until: Instant) -> Result<Option<Dialog>, PageError> {
        tokio::select! {
            biased;
            heard = self.raw.next() => self.take(course, heard)?,
            event = self.events.recv() => return stopping(event),
            () = sleep_until(until) => {}
        }
        Ok(None)
    }

    fn take(&self, course: &mut Course, heard: Heard) -> Result<(), PageError> {
        match heard {
            Heard::Event(event) => course.hear(&self.page, &event),
            // Whether it is still on its way cannot be told any more.
            Heard::Missed(_) => course.begun = None,
            Heard::Over => return Err(PageError::Detached),
        }
        Ok(())
    }

    /// Waits until what is told of the page elsewhere is of this document too.
    async fn known(&mut self, loader: &str) {
        let until = Instant::now() + LIMIT;
        while self.page.document() != loader {
            match timeout_at(until, self.events.recv()).await {
                Ok(Ok(_) | Err(RecvError::Lagged(_))) => {}
                Ok(Err(RecvError::Closed)) | Err(_) => return,
            }
        }
    }
}

fn stopping(event: Result<PageEvent, RecvError>) -> Result<Option<Dialog>, PageError> {
    match event {
        Ok(PageEvent::DialogOpened(dialog)) => Ok(Some(dialog)),
        Ok(PageEvent::Crashed) => Err(PageError::Crashed),
        Ok(PageEvent::Detached) | Err(RecvError::Closed) => Err(PageError::Detached),
        Ok(_) | Err(RecvError::Lagged(_)) => Ok(None),
    }
}

/// Documents that are watched for changes while something is done, the one it is done in first: by the session and
/// the world of each.
pub(super) struct Watch(Vec<Watched>);

/// A document that is watched. Where nobody waits for its rest in the end, the watching ends with this: an act that was
/// not done, or was given up, leaves nothing in the page.
struct Watched {
    page: Page,
    on: SessionId,
    world: ExecutionContextId,
    /// Whether nothing else ends it.
    is_left: bool,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.is_left {
            let stop = EvaluateParams { context_id: Some(self.world), ..EvaluateParams::new(UNWATCH) };
            self.page.link().tell(Some(&self.on), stop);
        }
    }
}

const UNWATCH: &str = "(() => { globalThis.octoWatch?.stop(); delete globalThis.octoWatch; })()";

/// Watches a document. What is drawn for the person is no change of the page.
const WATCH: &str = "(() => {
    globalThis.octoWatch?.stop();
    let last = 0;
    const ours = (node) => node === globalThis.octoOverlay?.host;
    const own = (it) => ours(it.target) || (it.type === 'childList' && [...it.addedNodes, ...it.removedNodes].every(ours));
    const watch = new MutationObserver((all) => { if (!all.every(own)) last = performance.now(); });
    const on = (root) => watch.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    on(document);
    globalThis.octoWatch = { last: () => last, on, stop: () => watch.disconnect() };
})()";

/// Watches the shadow roots too that an element is in: no observer of the document looks into them.
const INSIDE: &str = "function() {
    const watch = globalThis.octoWatch;
    for (let root = this.getRootNode(); watch && root.host; root = root.host.getRootNode()) watch.on(root);
}";

impl Page {
    /// Begins to watch the main document for changes, and the frame and the shadow roots that an element is in, from
    /// before an act: one that changed them at once is not waited for as if it had not. The page cannot see that it
    /// is watched.
    pub(super) async fn begin_watching(&self, place: Option<&Place>) -> Result<Watch, PageError> {
        let main = self.watch_frame(self.session().clone(), self.main_frame().inner(), place);
        let inner = place.filter(|place| place.frame != *self.main_frame().inner());
        let Some(inner) = inner else { return Ok(Watch(vec![main.await?])) };
        let (main, frame) = tokio::join!(
            biased;
            main,
            self.watch_frame(session(inner), &inner.frame, Some(inner)),
        );
        // A frame that cannot be watched says so when it is acted in.
        Ok(Watch(frame.into_iter().chain([main?]).collect()))
    }

    async fn watch_frame(
        &self,
        on: SessionId,
        frame: &str,
        place: Option<&Place>,
    ) -> Result<Watched, PageError> {
        let world = self.world(&on, frame).await?;
        let watch = EvaluateParams { context_id: Some(world), ..EvaluateParams::new(WATCH) };
        self.link().tell(Some(&on), watch);
        let watched = Watched { page: self.clone(), on: on.clone(), world, is_left: true };
        if let Some(place) = place.filter(|place| place.frame == frame) {
            let (page, on, at) = (self.clone(), on.clone(), node(place));
            // Beside the act, which finds out by itself where the element is no more.
            tokio::spawn(async move {
                if let Ok(object) = page.object(&on, world, at).await {
                    let inside =
                        CallFunctionOnParams { object_id: object, ..CallFunctionOnParams::new(INSIDE) };
                    page.link().tell(Some(&on), inside);
                }
            });
        }
        Ok(watched)
    }

    /// Waits until what is watched is at rest: `patience` for a change to begin, and then until there are no more,
    /// for a second at most.
    ///
    /// The worlds are those of before the act. Where one is gone, or is another's by now, no more than the waiting
    /// fails: nothing is asked there whose answer counts.
    async fn at_rest(&self, watch: &mut Watch, patience: Duration) -> Result<(), PageError> {
        let mut patience = patience;
        for watched in &mut watch.0 {
            // What waits there ends the watching, also where its answer does not come.
            watched.is_left = false;
            self.rest_in(&watched.on, watched.world, patience).await?;
            // What was waited for in one of them was waited for in all.
            patience = Duration::ZERO;
        }
        Ok(())
    }

    /// The same for the main document as it is now.
    async fn at_rest_now(&self, patience: Duration) -> Result<(), PageError> {
        match self.world(self.session(), self.main_frame().inner()).await {
            Ok(world) => self.rest_in(self.session(), world, patience).await,
            Err(error) => self.leaving(error).await,
        }
    }

    async fn rest_in(
        &self,
        on: &SessionId,
        world: ExecutionContextId,
        patience: Duration,
    ) -> Result<(), PageError> {
        let (patience, quiet, restless) = (patience.as_millis(), QUIET.as_millis(), RESTLESS.as_millis());
        let rest = format!(
            "new Promise((done) => {{
                const start = performance.now();
                const watch = globalThis.octoWatch;
                const end = () => {{ watch?.stop(); delete globalThis.octoWatch; done(); }};
                const look = () => {{
                    const now = performance.now(), last = watch ? watch.last() : 0;
                    if (now - start >= {restless} || (last ? now - last >= {quiet} : now - start >= {patience})) end();
                    else setTimeout(look, 8);
                }};
                look();
            }})"
        );
        let rest = EvaluateParams {
            context_id: Some(world),
            await_promise: Some(true),
            ..EvaluateParams::new(rest)
        };
        match self.call_in(on, rest, RESTLESS + LIMIT).await {
            Ok(_) => Ok(()),
            Err(error) => self.leaving(error).await,
        }
    }

    /// A document that goes while it is watched is only not at rest; what comes in its place is told in a moment.
    async fn leaving(&self, error: PageError) -> Result<(), PageError> {
        match error {
            PageError::Call(
                CallError::Refused { .. }
                | CallError::TimedOut { .. }
                | CallError::Unreadable { .. }
                | CallError::Gone { .. },
            ) => {
                sleep(QUIET).await;
                Ok(())
            }
            error => Err(error),
        }
    }
}
