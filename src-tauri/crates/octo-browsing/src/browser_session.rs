//! A session's use of the browser: its tab, its views of pages, and who controls the page.

use crate::{
    HomeBrowser,
    assessment::AssessedCall,
    downloads::SessionDownloads,
    live::LiveState,
    page_knowledge::{PageKnowledge, ReadTexts},
    state,
};
use futures::future::BoxFuture;
use octo_browser::{BrowserConnection, Liveness, Page, PageError, Tab, TabNumber, TabView};
use octo_protocol::{BrowserView, CallId, PageController, SessionId};
use octo_tools::{
    BrowserAssessment, BrowserControl, BrowserPermission, BrowserRequest, ToolError, ToolOutput,
};
use octo_workspace::Outputs;
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// Message to the model for a call that ended because the page was released.
pub(crate) const STOPPED: &str =
    "The page was let go of before this was done; what it had done until then may remain.";

/// Message to the model for a call during which the person took over the page.
pub(crate) const TAKEN_OVER: &str = "The person took the page over before this was done to its end; a part of it may be done, and nothing was read. The next call waits until they hand it back: take a snapshot then.";

/// Timeout for a tab to wake up.
const WAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval at which a tab that wakes up is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Timeout for clearing the overlay of a released page.
const CLEAR_TIMEOUT: Duration = Duration::from_millis(500);

/// A session's use of the browser. Clones share it.
#[derive(Clone)]
pub struct BrowserSession(pub(crate) Arc<BrowserSessionInner>);

pub(crate) struct BrowserSessionInner {
    pub browser: HomeBrowser,
    pub session: SessionId,
    /// The root session, or itself.
    pub root: SessionId,
    pub outputs: Outputs,
    work: tokio::sync::Mutex<BrowserWork>,
    pub live: Mutex<LiveState>,
    /// Locked while a picture for the person is taken: one at a time.
    pub picture_lock: tokio::sync::Mutex<()>,
    pub controller: watch::Sender<PageController>,
    /// True if the person controlled the page since the model was last informed.
    person_had_control: AtomicBool,
    /// Cancelled when the page is released, and then replaced by a new token.
    release_token: Mutex<CancellationToken>,
}

/// The state of the work in the browser. One call at a time.
#[derive(Default)]
pub(crate) struct BrowserWork {
    /// The tab in use.
    pub tab: Option<TabNumber>,
    /// Its page, while attached.
    pub page: Option<Page>,
    /// True if the tab was brought to the front in this turn. That is done once, because it takes the focus.
    pub in_front: bool,
    /// True if the browser was attached again after the model had worked in it, and the model was not yet informed.
    pub reattached: bool,
    /// The number of the attachment used last.
    pub attachment: Option<u64>,
    /// The model's views of the tabs, which outlive an attachment.
    pub views: HashMap<TabNumber, TabView>,
    /// The last assessed call, for the card of the same call.
    pub assessed: Option<(BrowserRequest, AssessedCall)>,
    /// The downloads of its pages.
    pub downloads: SessionDownloads,
    /// The page knowledge of the session and its relatives.
    knowledge: Arc<PageKnowledge>,
}

impl BrowserSession {
    pub(crate) fn new(
        browser: HomeBrowser,
        (session, root): (SessionId, SessionId),
        knowledge: Arc<PageKnowledge>,
    ) -> Self {
        let controller = watch::Sender::new(PageController::Agent);
        let work = BrowserWork {
            downloads: SessionDownloads::new(controller.subscribe()),
            knowledge,
            ..BrowserWork::default()
        };
        let outputs = browser.paths().outputs(session);
        Self(Arc::new(BrowserSessionInner {
            browser,
            session,
            root,
            outputs: Outputs::new(outputs),
            work: tokio::sync::Mutex::new(work),
            live: Mutex::default(),
            picture_lock: tokio::sync::Mutex::default(),
            controller,
            person_had_control: AtomicBool::new(false),
            release_token: Mutex::default(),
        }))
    }

    /// Returns whether the session ever used a page, and would use it again.
    pub fn was_used(&self) -> bool {
        // If the lock is taken, the browser is in use.
        self.0.work.try_lock().map_or(true, |work| work.tab.is_some() || work.attachment.is_some())
    }

    /// Releases the page immediately: cancels running work, clears the overlay, and detaches from the tab,
    /// which is left as it is. The tab remains the one in use for the next call.
    pub fn release(&self) {
        drop(self.release_and_restore());
    }

    /// Like `release`, returning a handle to wait until the page is restored.
    pub(crate) fn release_and_restore(&self) -> JoinHandle<()> {
        std::mem::take(&mut *self.0.release_token.lock()).cancel();
        self.0.controller.send_replace(PageController::Agent);
        self.display(None);
        let session = self.clone();
        tokio::spawn(async move {
            // The holder of the lock was cancelled a moment ago.
            let page = {
                let mut work = session.0.work.lock().await;
                work.in_front = false;
                work.page.take()
            };
            if let Some(page) = page {
                // A page that does not answer keeps the overlay until it expires.
                let _timed_out = tokio::time::timeout(CLEAR_TIMEOUT, page.clear_overlay()).await;
            }
        })
    }

    /// Hands the page to the person or back to the agent.
    pub fn set_controller(&self, controller: PageController) {
        if controller == PageController::Person {
            self.0.person_had_control.store(true, Ordering::Relaxed);
        }
        self.0.controller.send_replace(controller);
        self.change_page(|page| page.controller = controller);
        if controller == PageController::Person {
            self.stop_focus_emulation();
        }
    }

    /// Ends the focus emulation: in the person's hand the page has the focus and visibility of its real window.
    fn stop_focus_emulation(&self) {
        let session = self.clone();
        tokio::spawn(async move {
            // The running call ends now.
            let work = session.work().await;
            if let Some(page) =
                work.page.as_ref().filter(|_| *session.0.controller.borrow() == PageController::Person)
            {
                page.end_focus_emulation();
            }
        });
    }

    /// Waits until the agent controls the page.
    pub(crate) async fn wait_for_agent(&self) {
        let mut controller = self.0.controller.subscribe();
        // This struct owns the sender, so the wait ends only when the page is handed back.
        let _result = controller.wait_for(|controller| *controller == PageController::Agent).await;
    }

    /// Waits until the person controls the page.
    pub(crate) async fn wait_for_person(&self) {
        let mut controller = self.0.controller.subscribe();
        let _result = controller.wait_for(|controller| *controller == PageController::Person).await;
    }

    /// Returns who controlled the page since the model was last informed, and starts over. Call this only to report it.
    pub(crate) fn take_control_history(&self) -> ControlHistory {
        if self.0.person_had_control.swap(false, Ordering::Relaxed) {
            ControlHistory::PersonHadControl
        } else {
            ControlHistory::AgentOnly
        }
    }

    pub(crate) async fn work(&self) -> tokio::sync::MutexGuard<'_, BrowserWork> {
        self.0.work.lock().await
    }

    /// Returns the token that is cancelled when the page is released.
    pub(crate) fn release_token(&self) -> CancellationToken {
        self.0.release_token.lock().clone()
    }

    /// Runs an operation in the page, cancelling it when the page is released.
    async fn run_until_released<T>(
        &self,
        action: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let stop_signal = self.release_token();
        tokio::select! {
            biased;
            () = stop_signal.cancelled() => Err(ToolError::new(STOPPED)),
            result = action => result,
        }
    }

    pub(crate) async fn connect(&self) -> Result<BrowserConnection, ToolError> {
        self.0.browser.connect_for_tool().await.map_err(|error| state::for_model(&error))
    }
}

/// The page's control since the model was last informed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlHistory {
    /// The agent, throughout.
    AgentOnly,
    /// The person, for a while.
    PersonHadControl,
}

impl BrowserWork {
    /// Makes this the tab in use.
    pub fn use_tab(&mut self, tab: &Tab) {
        if self.tab != Some(tab.number) {
            self.tab = Some(tab.number);
            self.in_front = false;
            if let Some(page) = self.page.take() {
                // Restore the page, including the pointer.
                tokio::spawn(async move {
                    tokio::time::timeout(CLEAR_TIMEOUT, page.clear_overlay()).await.map(drop)
                });
            }
        }
    }

    /// Returns the page in use, attaching to it if necessary.
    pub async fn attach_tab(&mut self, connection: &BrowserConnection, tab: &Tab) -> Result<Page, ToolError> {
        self.use_tab(tab);
        if let Some(page) = self.page.as_ref().filter(|page| page.is_attached()) {
            return Ok(page.clone());
        }
        let page = match Page::attach(&connection.link, &tab.target).await {
            // The browser discarded the tab: bringing it to the front wakes it.
            Err(PageError::Silent(Liveness::Discarded)) => wake_tab(connection, tab).await?,
            attached => attached,
        };
        let page = page.map_err(|error| crate::faults::fault(&error))?;
        self.downloads.listen(connection, &page).await?;
        self.page = Some(page.clone());
        Ok(page)
    }

    /// Records the attachment in use. A change is reported to the model, because the browser may have been
    /// restarted.
    pub fn set_attachment(&mut self, attachment: u64) {
        self.reattached |= self.attachment.is_some_and(|before| before != attachment);
        self.attachment = Some(attachment);
    }

    /// Remembers the whole newest snapshot of a tab as read, because the full text is in a file.
    pub fn mark_read(&mut self, tab: TabNumber) {
        let Some(snapshot) = self.views.get(&tab).and_then(TabView::last_snapshot) else { return };
        self.read_texts().memory.record_page(&snapshot.texts());
    }

    /// Returns the page knowledge of the session and its relatives.
    pub fn knowledge(&self) -> &PageKnowledge {
        &self.knowledge
    }

    /// Locks the texts that were read, to look something up or to record it. Never hold the guard across an await.
    pub fn read_texts(&self) -> MutexGuard<'_, ReadTexts> {
        self.knowledge.texts()
    }

    /// Returns a text with secret values redacted.
    pub fn redacted(&self, text: &str) -> String {
        self.read_texts().redactor.redact(text)
    }

    /// Redacts secrets in a card's page text.
    pub fn redact(&self, view: &mut BrowserView) {
        let target = view.target.as_mut().map(|target| &mut target.name);
        for text in view.title.as_mut().into_iter().chain(target) {
            *text = self.redacted(text);
        }
    }

    /// Returns the model's view of a tab.
    pub fn view(&mut self, tab: TabNumber) -> &mut TabView {
        self.views.entry(tab).or_default()
    }
}

/// Wakes a discarded tab and attaches to it. The awakened page has another target id, which may take a moment
/// to be found under the same tab number.
async fn wake_tab(connection: &BrowserConnection, tab: &Tab) -> Result<Result<Page, PageError>, ToolError> {
    connection
        .tabs
        .activate(tab)
        .await
        .map_err(|error| ToolError::new(format!("The tab sleeps and was not woken: {error}.")))?;
    let deadline = tokio::time::Instant::now() + WAKE_TIMEOUT;
    loop {
        let attached = Page::attach(&connection.link, &tab.target).await;
        let is_discarded = matches!(
            attached,
            Err(PageError::Silent(Liveness::Discarded)
                | PageError::Call(octo_browser::CallError::Gone { .. }))
        );
        if !is_discarded || tokio::time::Instant::now() >= deadline {
            return Ok(attached);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

impl BrowserControl for BrowserSession {
    fn assess(
        &self,
        request: &BrowserRequest,
        permission: &BrowserPermission,
    ) -> BoxFuture<'static, Result<BrowserAssessment, ToolError>> {
        let (session, request, permission) = (self.clone(), request.clone(), permission.clone());
        Box::pin(async move {
            let assessment = async { Ok(session.assess_call(&request, &permission).await?.assessment) };
            session.run_until_released(assessment).await
        })
    }

    fn preview(&self, request: &BrowserRequest) -> BoxFuture<'static, Result<BrowserView, ToolError>> {
        let (session, request) = (self.clone(), request.clone());
        Box::pin(async move { session.run_until_released(session.preview_view(&request)).await })
    }

    fn execute(
        &self,
        request: BrowserRequest,
        permission: BrowserPermission,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let session = self.clone();
        Box::pin(async move { session.perform(request, permission, call, cancel).await })
    }
}
