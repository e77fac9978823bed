//! Going to other pages, and knowing when one is there.

use super::{Document, Page, PageError, PageEvent};
use crate::{
    CallError,
    cdp::{
        browser_protocol::page::{
            CreateIsolatedWorldParams, GetNavigationHistoryParams, NavigateParams,
            NavigateToHistoryEntryParams, ReloadParams,
        },
        js_protocol::runtime::EvaluateParams,
    },
    wire::{HistoryAnswer, HistoryEntry, Leniently},
};
use std::time::Duration;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, timeout_at},
};

/// How long a server may take to answer. The page goes on loading after it.
const COMMIT: Duration = Duration::from_secs(20);

/// How long the rest of a page is waited for. What is not there by then (advertising, pictures, a line that is kept
/// open on purpose) is seldom what is wanted; "no network traffic" is never reached by many pages.
const LOAD: Duration = Duration::from_secs(3);

/// A page counts as quiet when nothing in it changed for so long.
const QUIET: Duration = Duration::from_millis(100);

/// How long quiet is waited for: some pages never are.
const RESTLESS: Duration = Duration::from_secs(1);

/// How long a page may take to begin to watch itself.
const WATCH: Duration = Duration::from_millis(500);

/// What came of going somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Another document is there, and loaded.
    Loaded,
    /// Another document is there and still loads; it can be used.
    Loading,
    /// The server has not answered yet.
    Waiting,
    /// The document is the same: only the address changed.
    SameDocument,
    /// It became a download. The page is the one it was.
    Download,
}

/// Where to, in the tab's own history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// One page back.
    Back,
    /// One forward.
    Forward,
}

/// Why a page did not go where it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NavigateError {
    /// The browser could not, and this is its name for it: `ERR_NAME_NOT_RESOLVED`.
    #[error("the page could not be loaded: {name}")]
    Failed {
        /// The browser's name for it, without its `net::`.
        name: String,
    },
    /// It has an open question ("leave this page?"), or is gone.
    #[error(transparent)]
    Page(#[from] PageError),
    /// There is no such page in the tab's history.
    #[error("there is no page to go {} to", if *.0 == History::Back { "back" } else { "forward" })]
    NoSuchPage(History),
}

impl Page {
    /// Goes to an address, and waits until the page is there and quiet, for a few seconds at most.
    ///
    /// # Errors
    ///
    /// [`NavigateError`]. After [`PageError::Dialog`] the page stays until the question is answered;
    /// [`Self::arrive`] waits for what comes then.
    pub async fn navigate(&self, url: &str) -> Result<Arrival, NavigateError> {
        let mut events = self.events();
        if self.has_crashed() {
            // As in `reload`: nothing else would bring it back.
            let core = &self.0.core;
            core.link.tell(Some(&core.session), NavigateParams::new(url));
            return self.arrived(&mut events).await;
        }
        let answer = match self.call(NavigateParams::new(url), COMMIT).await {
            Ok(answer) => answer,
            Err(PageError::Call(CallError::TimedOut { .. })) => return Ok(Arrival::Waiting),
            Err(error) => return Err(error.into()),
        };
        if answer.is_download == Some(true) {
            return Ok(Arrival::Download);
        }
        if let Some(error) = answer.error_text {
            let name = error.strip_prefix("net::").unwrap_or(&error).to_owned();
            return Err(NavigateError::Failed { name });
        }
        let Some(loader) = answer.loader_id else {
            self.quiet().await?;
            return Ok(Arrival::SameDocument);
        };
        self.loaded(&mut events, Some(loader.inner()), Instant::now() + LOAD).await
    }

    /// Where the tab's own history leads.
    ///
    /// # Errors
    ///
    /// [`NavigateError::NoSuchPage`], and [`PageError`].
    pub async fn entry(&self, way: History) -> Result<String, NavigateError> {
        Ok(self.history(way).await?.url)
    }

    async fn history(&self, way: History) -> Result<HistoryEntry, NavigateError> {
        let history = Leniently::<_, HistoryAnswer>::new(GetNavigationHistoryParams {});
        let mut history = self.call(history, LOAD).await?;
        let step = match way {
            History::Back => history.current_index.checked_sub(1),
            History::Forward => history.current_index.checked_add(1),
        };
        let index = step.filter(|index| *index < history.entries.len());
        Ok(history.entries.swap_remove(index.ok_or(NavigateError::NoSuchPage(way))?))
    }

    /// Goes through the tab's own history.
    ///
    /// # Errors
    ///
    /// As [`Self::navigate`], and [`NavigateError::NoSuchPage`].
    pub async fn travel(&self, way: History) -> Result<Arrival, NavigateError> {
        let entry = self.history(way).await?;
        let mut events = self.events();
        self.call(NavigateToHistoryEntryParams::new(entry.id), COMMIT).await?;
        self.arrived(&mut events).await
    }

    /// Loads the page again. It brings back one that crashed.
    ///
    /// # Errors
    ///
    /// As [`Self::navigate`].
    pub async fn reload(&self) -> Result<Arrival, NavigateError> {
        let mut events = self.events();
        let core = &self.0.core;
        // Not through `call`, which refuses to ask a crashed page for anything. The command itself may wait for the
        // page to come up; what counts is that it commits.
        core.link.tell(Some(&core.session), ReloadParams::default());
        self.arrived(&mut events).await
    }

    /// Waits for a page that is on its way because of something else: a click, an answered question.
    ///
    /// # Errors
    ///
    /// As [`Self::navigate`].
    pub async fn arrive(
        &self,
        events: &mut broadcast::Receiver<PageEvent>,
    ) -> Result<Arrival, NavigateError> {
        self.arrived(events).await
    }

    async fn arrived(&self, events: &mut broadcast::Receiver<PageEvent>) -> Result<Arrival, NavigateError> {
        let deadline = Instant::now() + COMMIT;
        loop {
            match timeout_at(deadline, events.recv()).await {
                Err(_) => return Ok(Arrival::Waiting),
                Ok(Ok(PageEvent::Committed(committed))) => match committed.document {
                    Document::Same => {
                        self.quiet().await?;
                        return Ok(Arrival::SameDocument);
                    }
                    Document::New(_) => return self.loaded(events, None, Instant::now() + LOAD).await,
                },
                Ok(Ok(PageEvent::DialogOpened(dialog))) => return Err(PageError::Dialog(dialog).into()),
                Ok(Ok(PageEvent::Detached) | Err(RecvError::Closed)) => {
                    return Err(PageError::Detached.into());
                }
                Ok(Ok(_) | Err(RecvError::Lagged(_))) => {}
            }
        }
    }

    /// Waits for the load of a document that committed, or with a name, that commits.
    async fn loaded(
        &self,
        events: &mut broadcast::Receiver<PageEvent>,
        awaited: Option<&str>,
        deadline: Instant,
    ) -> Result<Arrival, NavigateError> {
        // The old document's load must not be taken for the new one's.
        let mut committed = awaited.is_none();
        let arrival = loop {
            match timeout_at(deadline, events.recv()).await {
                Err(_) => break Arrival::Loading,
                Ok(Ok(PageEvent::Committed(it))) => {
                    committed |= matches!(&it.document, Document::New(loader) if awaited.is_none_or(|it| it == loader));
                }
                Ok(Ok(PageEvent::Loaded)) if committed => break Arrival::Loaded,
                // Whether the load was among what was missed cannot be told any more.
                Ok(Ok(PageEvent::Missed) | Err(RecvError::Lagged(_))) => break Arrival::Loading,
                Ok(Ok(PageEvent::DialogOpened(dialog))) => return Err(PageError::Dialog(dialog).into()),
                Ok(Ok(PageEvent::Crashed)) => return Err(PageError::Crashed.into()),
                Ok(Ok(PageEvent::Detached) | Err(RecvError::Closed)) => {
                    return Err(PageError::Detached.into());
                }
                Ok(Ok(_)) => {}
            }
        };
        self.quiet().await?;
        Ok(arrival)
    }

    /// Waits until nothing in the main frame's document changed for a tenth of a second, for a second at most. The
    /// page cannot see that it is watched.
    ///
    /// # Errors
    ///
    /// [`PageError`] when the page cannot be asked at all; one that changes without end is no error.
    pub async fn quiet(&self) -> Result<(), PageError> {
        // A world of its own: the page's own variables and its observers know nothing of it.
        let world = CreateIsolatedWorldParams {
            world_name: Some("octo".to_owned()),
            ..CreateIsolatedWorldParams::new(self.main_frame().clone())
        };
        let world = match self.call(world, WATCH).await {
            Ok(world) => world.execution_context_id,
            Err(error) => return passing(error),
        };
        let watch = EvaluateParams {
            context_id: Some(world),
            await_promise: Some(true),
            ..EvaluateParams::new(quiet_script())
        };
        match self.call(watch, RESTLESS + WATCH).await {
            Ok(_) => Ok(()),
            Err(error) => passing(error),
        }
    }
}

/// A document that goes while it is watched, or has no time to say so, is only not quiet.
fn passing(error: PageError) -> Result<(), PageError> {
    match error {
        PageError::Call(
            CallError::Refused { .. } | CallError::TimedOut { .. } | CallError::Unreadable { .. },
        ) => Ok(()),
        error => Err(error),
    }
}

fn quiet_script() -> String {
    let (quiet, restless) = (QUIET.as_millis(), RESTLESS.as_millis());
    format!(
        "new Promise(done => {{ \
         let timer; \
         const end = () => {{ watch.disconnect(); clearTimeout(timer); clearTimeout(last); done(); }}; \
         const watch = new MutationObserver(() => {{ clearTimeout(timer); timer = setTimeout(end, {quiet}); }}); \
         const last = setTimeout(end, {restless}); \
         timer = setTimeout(end, {quiet}); \
         watch.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }}); \
         }})"
    )
}
