//! Navigation, and detecting that a page has loaded.

use super::{DocumentChange, Page, PageError, PageEvent};
use crate::{
    CallError,
    cdp::{
        browser_protocol::page::{
            CreateIsolatedWorldParams, GetNavigationHistoryParams, NavigateParams,
            NavigateToHistoryEntryParams, ReloadParams,
        },
        js_protocol::runtime::EvaluateParams,
    },
    wire::{HistoryEntry, HistoryReply, LenientCommand},
};
use std::time::Duration;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, timeout_at},
};

/// Timeout for a server's answer. Loading continues after that.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum wait for the rest of a page. Content that is missing by then (advertising, images, a connection
/// held open on purpose) is rarely needed; many pages never reach "no network traffic".
const LOAD_TIMEOUT: Duration = Duration::from_secs(3);

/// Time for which a page must be unchanged to count as quiet.
const QUIET_PERIOD: Duration = Duration::from_millis(100);

/// Maximum wait for quiet: some pages never are.
const MAX_QUIET_WAIT: Duration = Duration::from_secs(1);

/// Timeout for starting the observation of a page.
const WATCH_TIMEOUT: Duration = Duration::from_millis(500);

/// The result of a navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavigationOutcome {
    /// Another document has loaded.
    Loaded,
    /// Another document is still loading but usable.
    Loading,
    /// The server has not answered yet.
    Waiting,
    /// The document is the same: only the address changed.
    SameDocument,
    /// The navigation became a download. The page is unchanged.
    Download,
}

/// A direction in the tab's own history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryDirection {
    /// One page back.
    Back,
    /// One page forward.
    Forward,
}

/// The reason why a navigation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NavigateError {
    /// The browser could not load the page and reported this error, such as `ERR_NAME_NOT_RESOLVED`.
    #[error("the page could not be loaded: {name}")]
    Failed {
        /// The browser's error name, without its `net::`.
        name: String,
    },
    /// The page has an open question ("leave this page?"), or is gone.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The tab's history has no such page.
    #[error("there is no page to go {} to", if *.0 == HistoryDirection::Back { "back" } else { "forward" })]
    NoSuchPage(HistoryDirection),
}

impl Page {
    /// Navigates to an address and waits until the page has loaded and is quiet, for a few seconds at most.
    ///
    /// # Errors
    ///
    /// [`NavigateError`]. After [`PageError::Dialog`] the page stays until the question is answered;
    /// [`Self::wait_for_navigation`] waits for the rest.
    pub async fn navigate(&self, url: &str) -> Result<NavigationOutcome, NavigateError> {
        let mut events = self.events();
        if self.has_crashed() {
            // As in `reload`: nothing else would recover a crashed page.
            let core = &self.0.core;
            core.link.send(Some(&core.session), NavigateParams::new(url));
            return self.await_outcome(&mut events).await;
        }
        let reply = match self.call(NavigateParams::new(url), COMMIT_TIMEOUT).await {
            Ok(reply) => reply,
            Err(PageError::Call(CallError::TimedOut { .. })) => return Ok(NavigationOutcome::Waiting),
            Err(error) => return Err(error.into()),
        };
        if reply.is_download == Some(true) {
            return Ok(NavigationOutcome::Download);
        }
        if let Some(error) = reply.error_text {
            let name = error.strip_prefix("net::").unwrap_or(&error).to_owned();
            return Err(NavigateError::Failed { name });
        }
        let Some(loader) = reply.loader_id else {
            self.wait_until_quiet().await?;
            return Ok(NavigationOutcome::SameDocument);
        };
        self.wait_for_load(&mut events, Some(loader.inner()), Instant::now() + LOAD_TIMEOUT).await
    }

    /// Returns the address of an entry in the tab's own history.
    ///
    /// # Errors
    ///
    /// [`NavigateError::NoSuchPage`], and [`PageError`].
    pub async fn history_address(&self, direction: HistoryDirection) -> Result<String, NavigateError> {
        Ok(self.history_entry(direction).await?.url)
    }

    async fn history_entry(&self, direction: HistoryDirection) -> Result<HistoryEntry, NavigateError> {
        let history = LenientCommand::<_, HistoryReply>::new(GetNavigationHistoryParams {});
        let mut history = self.call(history, LOAD_TIMEOUT).await?;
        let index = match direction {
            HistoryDirection::Back => history.current_index.checked_sub(1),
            HistoryDirection::Forward => history.current_index.checked_add(1),
        };
        let index = index.filter(|index| *index < history.entries.len());
        Ok(history.entries.swap_remove(index.ok_or(NavigateError::NoSuchPage(direction))?))
    }

    /// Moves through the tab's own history.
    ///
    /// # Errors
    ///
    /// As [`Self::navigate`], and [`NavigateError::NoSuchPage`].
    pub async fn travel_history(
        &self,
        direction: HistoryDirection,
    ) -> Result<NavigationOutcome, NavigateError> {
        let entry = self.history_entry(direction).await?;
        let mut events = self.events();
        self.call(NavigateToHistoryEntryParams::new(entry.id), COMMIT_TIMEOUT).await?;
        self.await_outcome(&mut events).await
    }

    /// Reloads the page. This recovers a crashed one.
    ///
    /// # Errors
    ///
    /// As [`Self::navigate`].
    pub async fn reload(&self) -> Result<NavigationOutcome, NavigateError> {
        let mut events = self.events();
        let core = &self.0.core;
        // Not through `call`, which rejects commands to a crashed page. The command itself may wait for the
        // page to start; the commit is the signal that counts.
        core.link.send(Some(&core.session), ReloadParams::default());
        self.await_outcome(&mut events).await
    }

    /// Waits for a navigation that something else started: a click, an answered question.
    ///
    /// # Errors
    ///
    /// As [`Self::navigate`].
    pub async fn wait_for_navigation(
        &self,
        events: &mut broadcast::Receiver<PageEvent>,
    ) -> Result<NavigationOutcome, NavigateError> {
        self.await_outcome(events).await
    }

    async fn await_outcome(
        &self,
        events: &mut broadcast::Receiver<PageEvent>,
    ) -> Result<NavigationOutcome, NavigateError> {
        let deadline = Instant::now() + COMMIT_TIMEOUT;
        loop {
            match timeout_at(deadline, events.recv()).await {
                Err(_) => return Ok(NavigationOutcome::Waiting),
                Ok(Ok(PageEvent::Committed(committed))) => match committed.document {
                    DocumentChange::Same => {
                        self.wait_until_quiet().await?;
                        return Ok(NavigationOutcome::SameDocument);
                    }
                    DocumentChange::New(_) => {
                        return self.wait_for_load(events, None, Instant::now() + LOAD_TIMEOUT).await;
                    }
                },
                Ok(Ok(PageEvent::DialogOpened(dialog))) => return Err(PageError::Dialog(dialog).into()),
                Ok(Ok(PageEvent::Detached) | Err(RecvError::Closed)) => {
                    return Err(PageError::Detached.into());
                }
                Ok(Ok(_) | Err(RecvError::Lagged(_))) => {}
            }
        }
    }

    /// Waits until a document has loaded: the one with the id `awaited`, which is about to commit, or with `None` the
    /// one that has committed.
    async fn wait_for_load(
        &self,
        events: &mut broadcast::Receiver<PageEvent>,
        awaited: Option<&str>,
        deadline: Instant,
    ) -> Result<NavigationOutcome, NavigateError> {
        // Do not take the old document's load event for the new one's.
        let mut committed = awaited.is_none();
        let outcome = loop {
            match timeout_at(deadline, events.recv()).await {
                Err(_) => break NavigationOutcome::Loading,
                Ok(Ok(PageEvent::Committed(commit))) => {
                    committed |= matches!(&commit.document, DocumentChange::New(loader) if awaited.is_none_or(|awaited| awaited == loader));
                }
                Ok(Ok(PageEvent::Loaded)) if committed => break NavigationOutcome::Loaded,
                // The load event may have been among the missed ones.
                Ok(Ok(PageEvent::Missed) | Err(RecvError::Lagged(_))) => break NavigationOutcome::Loading,
                Ok(Ok(PageEvent::DialogOpened(dialog))) => return Err(PageError::Dialog(dialog).into()),
                Ok(Ok(PageEvent::Crashed)) => return Err(PageError::Crashed.into()),
                Ok(Ok(PageEvent::Detached) | Err(RecvError::Closed)) => {
                    return Err(PageError::Detached.into());
                }
                Ok(Ok(_)) => {}
            }
        };
        self.wait_until_quiet().await?;
        Ok(outcome)
    }

    /// Waits until the main frame's document is unchanged for a tenth of a second, for one second at most. The
    /// page cannot detect the observation.
    ///
    /// # Errors
    ///
    /// [`PageError`] if the page cannot be queried at all; a page that never stops changing is not an error.
    pub async fn wait_until_quiet(&self) -> Result<(), PageError> {
        // An isolated world: the page's own variables and observers do not see it.
        let world = CreateIsolatedWorldParams {
            world_name: Some("octo".to_owned()),
            ..CreateIsolatedWorldParams::new(self.main_frame().clone())
        };
        let world = match self.call(world, WATCH_TIMEOUT).await {
            Ok(world) => world.execution_context_id,
            Err(error) => return tolerate_navigation(error),
        };
        let watch = EvaluateParams {
            context_id: Some(world),
            await_promise: Some(true),
            ..EvaluateParams::new(quiet_script())
        };
        match self.call(watch, MAX_QUIET_WAIT + WATCH_TIMEOUT).await {
            Ok(_) => Ok(()),
            Err(error) => tolerate_navigation(error),
        }
    }
}

/// Ignores an error which only means that the observed document was unloaded or is not quiet. Returns any other
/// error.
fn tolerate_navigation(error: PageError) -> Result<(), PageError> {
    match error {
        PageError::Call(
            CallError::Refused { .. } | CallError::TimedOut { .. } | CallError::Unreadable { .. },
        ) => Ok(()),
        error => Err(error),
    }
}

fn quiet_script() -> String {
    let (quiet_ms, max_wait_ms) = (QUIET_PERIOD.as_millis(), MAX_QUIET_WAIT.as_millis());
    format!(
        "new Promise(done => {{ \
         let timer; \
         const end = () => {{ watch.disconnect(); clearTimeout(timer); clearTimeout(last); done(); }}; \
         const watch = new MutationObserver(() => {{ clearTimeout(timer); timer = setTimeout(end, {quiet_ms}); }}); \
         const last = setTimeout(end, {max_wait_ms}); \
         timer = setTimeout(end, {quiet_ms}); \
         watch.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }}); \
         }})"
    )
}
