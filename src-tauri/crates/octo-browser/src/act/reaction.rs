//! The page's reaction to an act.

use super::{
    BrowserAct, CALL_TIMEOUT, WaitCondition,
    place::{node, session},
};
use crate::{
    BrowserEvent, CallError, Dialog, NextEvent, Page, PageError, PageEvent, SessionEvents,
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
    snapshot::NodeRef,
    wire::{FragmentNavigation, FrameNavigated},
};
use serde::Deserialize;
use std::time::Duration;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, sleep, sleep_until, timeout_at},
};

/// A changed page counts as quiet after this long without another change: two display frames and some slack.
const QUIET_PERIOD: Duration = Duration::from_millis(40);

/// Maximum wait for a page that never settles.
const MAX_SETTLE_WAIT: Duration = Duration::from_secs(1);

/// Maximum wait for a navigation: the server's answer and then the load.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);
const LOAD_TIMEOUT: Duration = Duration::from_secs(3);

/// `Page.frameStartedNavigating` and its equivalent in older browsers.
const START_EVENTS: [&str; 2] = ["Page.frameStartedNavigating", "Page.frameRequestedNavigation"];

/// Timeout for a page to begin to change. It is shorter for acts that rarely cause more than their own effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangeTimeout(Duration);

impl ChangeTimeout {
    pub(super) fn for_act(act: &BrowserAct) -> Self {
        Self(Duration::from_millis(match act {
            BrowserAct::Click(_)
            | BrowserAct::DoubleClick(_)
            | BrowserAct::ClickAt(..)
            | BrowserAct::Drag(..) => 100,
            BrowserAct::Press(..) | BrowserAct::PressAtFocus(..) => 100,
            BrowserAct::Select(..) | BrowserAct::Upload(..) => 80,
            BrowserAct::Hover(_) | BrowserAct::Type(..) | BrowserAct::Fill(..) => 50,
            BrowserAct::Scroll(_) => 80,
            BrowserAct::Wait(
                WaitCondition::Text(_) | WaitCondition::TextGone(_) | WaitCondition::Time(_),
            ) => 20,
        }))
    }
}

/// The page's reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageReaction {
    /// The page is unchanged.
    Unchanged,
    /// The address changed; the document is the same.
    AddressChanged,
    /// The page shows another document.
    Navigated(LoadProgress),
    /// The page opened a dialog, which blocks it.
    Dialog(Dialog),
    /// The page asks for files. None were given and no chooser is open on the person's screen: [`BrowserAct::Upload`]
    /// supplies them.
    AsksForFiles,
}

/// Load progress of a new document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress {
    /// The document and its resources have loaded.
    Done,
    /// The document is there and still loading.
    Partial,
    /// The server has not answered yet; the old document is still there.
    AwaitingServer,
}

/// Observer that is started before an act and reports the page's reaction.
pub struct ReactionObserver {
    page: Page,
    raw: SessionEvents,
    events: broadcast::Receiver<PageEvent>,
}

impl std::fmt::Debug for ReactionObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReactionObserver").finish_non_exhaustive()
    }
}

/// The used parameters of the events about a frame that starts to navigate or stops loading.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameLoadEvent {
    frame_id: String,
    #[serde(default)]
    navigation_type: String,
    #[serde(default)]
    disposition: String,
}

/// State of a main-frame navigation, from the events received.
#[derive(Default)]
struct NavigationProgress {
    started_at: Option<Instant>,
    /// The committed document, and when it was committed.
    committed: Option<(String, Instant)>,
    loaded: bool,
    address_changed: bool,
}

impl NavigationProgress {
    fn handle_event(&mut self, page: &Page, event: &BrowserEvent) {
        let is_main = |frame: &str| frame == page.main_frame().inner();
        match event.method.as_ref() {
            name if START_EVENTS.contains(&name) => {
                let Some(params) = event.read::<FrameLoadEvent>() else { return };
                let keeps_document = params.navigation_type == "sameDocument"
                    || !matches!(params.disposition.as_str(), "" | "currentTab");
                if is_main(&params.frame_id) && !keeps_document {
                    self.started_at.get_or_insert_with(Instant::now);
                }
            }
            EventFrameNavigated::IDENTIFIER => {
                let Some(FrameNavigated { frame, kind }) = event.read() else { return };
                if frame.parent_id.is_none() {
                    self.committed = Some((frame.loader_id.inner().clone(), Instant::now()));
                    self.loaded = kind == "BackForwardCacheRestore";
                    self.started_at = None;
                }
            }
            EventNavigatedWithinDocument::IDENTIFIER => {
                let Some(params) = event.read::<FragmentNavigation>() else { return };
                self.address_changed |= is_main(params.frame_id.inner());
            }
            EventLoadEventFired::IDENTIFIER => self.loaded |= self.committed.is_some(),
            // The navigation became a download, or was dropped.
            EventFrameStoppedLoading::IDENTIFIER
                if event.read::<FrameLoadEvent>().is_some_and(|params| is_main(&params.frame_id)) =>
            {
                self.started_at = None;
                self.loaded |= self.committed.is_some();
            }
            _ => {}
        }
    }

    /// Returns the deadline of the pending wait, if any.
    fn deadline(&self) -> Option<Instant> {
        match (self.started_at, &self.committed) {
            (Some(started_at), _) => Some(started_at + COMMIT_TIMEOUT),
            (None, Some((_, committed_at))) if !self.loaded => Some(*committed_at + LOAD_TIMEOUT),
            _ => None,
        }
    }

    fn reaction(&self) -> PageReaction {
        match (&self.committed, self.started_at) {
            (_, Some(_)) => PageReaction::Navigated(LoadProgress::AwaitingServer),
            (Some(_), None) if self.loaded => PageReaction::Navigated(LoadProgress::Done),
            (Some(_), None) => PageReaction::Navigated(LoadProgress::Partial),
            (None, None) if self.address_changed => PageReaction::AddressChanged,
            (None, None) => PageReaction::Unchanged,
        }
    }
}

impl Page {
    /// Starts to observe the page, to report its reaction after an act.
    pub fn observe_reaction(&self) -> ReactionObserver {
        let link = self.link();
        ReactionObserver { page: self.clone(), raw: link.events(Some(self.session())), events: self.events() }
    }
}

impl ReactionObserver {
    /// Waits for the page's reaction to an act that [`Page::perform`] does not do: an answered dialog.
    ///
    /// # Errors
    ///
    /// [`PageError`] if the page is gone.
    pub async fn wait(self) -> Result<PageReaction, PageError> {
        let page = self.page.clone();
        self.run_until_settled(page.wait_until_settled_now(Duration::from_millis(100))).await
    }

    /// Waits for the page's reaction to an act, with the watch that was started before it.
    pub(super) async fn finish(
        self,
        timeout: ChangeTimeout,
        watch: &mut ChangeWatch,
    ) -> Result<PageReaction, PageError> {
        let page = self.page.clone();
        self.run_until_settled(page.wait_until_settled(watch, timeout.0)).await
    }

    async fn run_until_settled(
        mut self,
        until_settled: impl Future<Output = Result<(), PageError>>,
    ) -> Result<PageReaction, PageError> {
        let mut progress = NavigationProgress::default();
        let page = self.page.clone();
        if let Some(dialog) = self.wait_while_settling(&mut progress, until_settled).await? {
            return Ok(PageReaction::Dialog(dialog));
        }
        // A new document settles on its own once it is loaded.
        let mut waited = false;
        while let Some(deadline) = progress.deadline() {
            waited = true;
            if deadline <= Instant::now() {
                break;
            }
            if let Some(dialog) = self.next_change(&mut progress, deadline).await? {
                return Ok(PageReaction::Dialog(dialog));
            }
        }
        if waited
            && progress.committed.is_some()
            && let Some(dialog) =
                self.wait_while_settling(&mut progress, page.wait_until_settled_now(QUIET_PERIOD)).await?
        {
            return Ok(PageReaction::Dialog(dialog));
        }
        if let Some((loader, _)) = &progress.committed {
            self.wait_for_document(loader).await;
        }
        Ok(progress.reaction())
    }

    /// Waits until the page is at rest, processing events meanwhile.
    async fn wait_while_settling(
        &mut self,
        progress: &mut NavigationProgress,
        until_settled: impl Future<Output = Result<(), PageError>>,
    ) -> Result<Option<Dialog>, PageError> {
        tokio::pin!(until_settled);
        let deadline = Instant::now() + MAX_SETTLE_WAIT + CALL_TIMEOUT;
        loop {
            if let Some(dialog) = self.page.dialog() {
                return Ok(Some(dialog));
            }
            tokio::select! {
                biased;
                received = self.raw.next() => self.apply_event(progress, received)?,
                event = self.events.recv() => if let Some(dialog) = dialog_or_end(event)? { return Ok(Some(dialog)) },
                result = &mut until_settled => match result {
                    Ok(()) => break,
                    Err(PageError::Dialog(dialog)) => return Ok(Some(dialog)),
                    Err(error) => return Err(error),
                },
                () = sleep_until(deadline) => break,
            }
        }
        Ok(None)
    }

    /// Processes the next event.
    async fn next_change(
        &mut self,
        progress: &mut NavigationProgress,
        deadline: Instant,
    ) -> Result<Option<Dialog>, PageError> {
        tokio::select! {
            biased;
            received = self.raw.next() => self.apply_event(progress, received)?,
            event = self.events.recv() => return dialog_or_end(event),
            () = sleep_until(deadline) => {}
        }
        Ok(None)
    }

    fn apply_event(&self, progress: &mut NavigationProgress, received: NextEvent) -> Result<(), PageError> {
        match received {
            NextEvent::Event(event) => progress.handle_event(&self.page, &event),
            // After missed events, the navigation's state is unknown.
            NextEvent::Missed(_) => progress.started_at = None,
            NextEvent::Ended => return Err(PageError::Detached),
        }
        Ok(())
    }

    /// Waits until the page's listener also knows this document.
    async fn wait_for_document(&mut self, loader: &str) {
        let deadline = Instant::now() + CALL_TIMEOUT;
        while self.page.document() != loader {
            match timeout_at(deadline, self.events.recv()).await {
                Ok(Ok(_) | Err(RecvError::Lagged(_))) => {}
                Ok(Err(RecvError::Closed)) | Err(_) => return,
            }
        }
    }
}

/// Returns the dialog that an event reports, or an error if the page ended.
fn dialog_or_end(event: Result<PageEvent, RecvError>) -> Result<Option<Dialog>, PageError> {
    match event {
        Ok(PageEvent::DialogOpened(dialog)) => Ok(Some(dialog)),
        Ok(PageEvent::Crashed) => Err(PageError::Crashed),
        Ok(PageEvent::Detached) | Err(RecvError::Closed) => Err(PageError::Detached),
        Ok(_) | Err(RecvError::Lagged(_)) => Ok(None),
    }
}

/// Documents observed for changes during an act, the act's own document first, each with its session and world.
pub(super) struct ChangeWatch(Vec<WatchedDocument>);

/// An observed document. If the final wait never happens, dropping this ends the observation: an act that
/// failed or was abandoned leaves nothing in the page.
struct WatchedDocument {
    page: Page,
    session: SessionId,
    world: ExecutionContextId,
    /// Whether the observation must be ended on drop.
    needs_cleanup: bool,
}

impl Drop for WatchedDocument {
    fn drop(&mut self) {
        if self.needs_cleanup {
            let stop = EvaluateParams { context_id: Some(self.world), ..EvaluateParams::new(UNWATCH_SCRIPT) };
            self.page.link().send(Some(&self.session), stop);
        }
    }
}

const UNWATCH_SCRIPT: &str = "(() => { globalThis.octoWatch?.stop(); delete globalThis.octoWatch; })()";

/// Observes a document for changes. The overlay drawn for the person does not count as a change.
const WATCH_SCRIPT: &str = "(() => {
    globalThis.octoWatch?.stop();
    let last = 0;
    const ours = (node) => node === globalThis.octoOverlay?.host;
    const own = (it) => ours(it.target) || (it.type === 'childList' && [...it.addedNodes, ...it.removedNodes].every(ours));
    const watch = new MutationObserver((all) => { if (!all.every(own)) last = performance.now(); });
    const on = (root) => watch.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    on(document);
    globalThis.octoWatch = { last: () => last, on, stop: () => watch.disconnect() };
})()";

/// Also observes the shadow roots that contain an element, which a document's observer does not see.
const WATCH_SHADOW_SCRIPT: &str = "function() {
    const watch = globalThis.octoWatch;
    for (let root = this.getRootNode(); watch && root.host; root = root.host.getRootNode()) watch.on(root);
}";

impl Page {
    /// Starts, before an act, to observe the main document plus the frame and shadow roots of an element. An
    /// immediate change is then already recorded and not waited for again. The page cannot detect the
    /// observation.
    pub(super) async fn begin_watching(&self, node_ref: Option<&NodeRef>) -> Result<ChangeWatch, PageError> {
        let main = self.watch_frame(self.session().clone(), self.main_frame().inner(), node_ref);
        let inner = node_ref.filter(|node_ref| node_ref.frame != *self.main_frame().inner());
        let Some(inner) = inner else { return Ok(ChangeWatch(vec![main.await?])) };
        let (main, frame) = tokio::join!(
            biased;
            main,
            self.watch_frame(session(inner), &inner.frame, Some(inner)),
        );
        // A frame that cannot be observed fails when it is acted in.
        Ok(ChangeWatch(frame.into_iter().chain([main?]).collect()))
    }

    async fn watch_frame(
        &self,
        session_id: SessionId,
        frame: &str,
        node_ref: Option<&NodeRef>,
    ) -> Result<WatchedDocument, PageError> {
        let world = self.world(&session_id, frame).await?;
        let watch = EvaluateParams { context_id: Some(world), ..EvaluateParams::new(WATCH_SCRIPT) };
        self.link().send(Some(&session_id), watch);
        let watched =
            WatchedDocument { page: self.clone(), session: session_id.clone(), world, needs_cleanup: true };
        if let Some(node_ref) = node_ref.filter(|node_ref| node_ref.frame == frame) {
            let (page, session_id, node_id) = (self.clone(), session_id.clone(), node(node_ref));
            // Runs concurrently with the act, which detects a removed element on its own.
            tokio::spawn(async move {
                if let Ok(object) = page.remote_object(&session_id, world, node_id).await {
                    let command = CallFunctionOnParams {
                        object_id: object,
                        ..CallFunctionOnParams::new(WATCH_SHADOW_SCRIPT)
                    };
                    page.link().send(Some(&session_id), command);
                }
            });
        }
        Ok(watched)
    }

    /// Waits until the observed documents are at rest: `timeout` for a change to started_at, then until changes
    /// stop, for one second at most.
    ///
    /// The worlds are those from before the act. If one is gone or was reused, only the wait fails: no answer
    /// from it is relied on.
    async fn wait_until_settled(&self, watch: &mut ChangeWatch, timeout: Duration) -> Result<(), PageError> {
        let mut timeout = timeout;
        for watched in &mut watch.0 {
            // The pending wait ends the observation, even if its answer never arrives.
            watched.needs_cleanup = false;
            self.wait_until_settled_in(&watched.session, watched.world, timeout).await?;
            // The other documents had the same time to begin a change.
            timeout = Duration::ZERO;
        }
        Ok(())
    }

    /// Like [`Self::wait_until_settled`], for the document that the main frame shows now.
    async fn wait_until_settled_now(&self, timeout: Duration) -> Result<(), PageError> {
        match self.world(self.session(), self.main_frame().inner()).await {
            Ok(world) => self.wait_until_settled_in(self.session(), world, timeout).await,
            Err(error) => self.ignore_unload(error).await,
        }
    }

    async fn wait_until_settled_in(
        &self,
        session_id: &SessionId,
        world: ExecutionContextId,
        timeout: Duration,
    ) -> Result<(), PageError> {
        let (timeout_ms, quiet_ms, max_settle_ms) =
            (timeout.as_millis(), QUIET_PERIOD.as_millis(), MAX_SETTLE_WAIT.as_millis());
        let script = format!(
            "new Promise((done) => {{
                const start = performance.now();
                const watch = globalThis.octoWatch;
                const end = () => {{ watch?.stop(); delete globalThis.octoWatch; done(); }};
                const look = () => {{
                    const now = performance.now(), last = watch ? watch.last() : 0;
                    if (now - start >= {max_settle_ms} || (last ? now - last >= {quiet_ms} : now - start >= {timeout_ms})) end();
                    else setTimeout(look, 8);
                }};
                look();
            }})"
        );
        let script = EvaluateParams {
            context_id: Some(world),
            await_promise: Some(true),
            ..EvaluateParams::new(script)
        };
        match self.call_in(session_id, script, MAX_SETTLE_WAIT + CALL_TIMEOUT).await {
            Ok(_) => Ok(()),
            Err(error) => self.ignore_unload(error).await,
        }
    }

    /// Ignores an error that means that the observed document was unloaded, after a pause in which the next
    /// document is reported. Returns any other error.
    async fn ignore_unload(&self, error: PageError) -> Result<(), PageError> {
        match error {
            PageError::Call(
                CallError::Refused { .. }
                | CallError::TimedOut { .. }
                | CallError::Unreadable { .. }
                | CallError::Gone { .. },
            ) => {
                sleep(QUIET_PERIOD).await;
                Ok(())
            }
            error => Err(error),
        }
    }
}
