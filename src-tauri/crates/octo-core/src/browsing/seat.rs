//! A session's place in the browser: the tab it works in, what it was shown there, and who has the page in hand.

use super::{
    HomeBrowser,
    fetching::Fetching,
    known::{Known, Read},
    live::Shown,
    lock, state,
    weigh::Found,
};
use futures::future::BoxFuture;
use octo_browser::{Connected, Liveness, Page, PageError, Tab, TabNumber, View};
use octo_protocol::{BrowserView, CallId, PageHand, SessionId};
use octo_tools::{BrowserLeave, BrowserWish, Browsing, ToolError, ToolOutput, Weight};
use octo_workspace::Outputs;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// What the model is told of a call that ended with the page being let go of.
pub(super) const STOPPED: &str =
    "The page was let go of before this was done; what it had done until then may remain.";

/// What the model is told of a call during which the person took the page over.
pub(super) const TAKEN: &str = "The person took the page over before this was done to its end; a part of it may be done, and nothing was read. The next call waits until they hand it back: take a snapshot then.";

/// How long a tab may take to wake up, and how often it is looked whether it has.
const WAKING: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(100);

/// How long a page that is let go of may take to be cleared of what was drawn onto it.
const CLEARING: Duration = Duration::from_millis(500);

/// A session's place in the browser. Clones are one.
#[derive(Clone)]
pub(crate) struct Seat(pub(super) Arc<Place>);

pub(super) struct Place {
    pub browser: HomeBrowser,
    pub session: SessionId,
    /// The one it came from, or itself.
    pub root: SessionId,
    pub outputs: Outputs,
    work: tokio::sync::Mutex<Work>,
    pub shown: Mutex<Shown>,
    /// Held while a picture for the person is taken: one at a time.
    pub camera: tokio::sync::Mutex<()>,
    pub hand: watch::Sender<PageHand>,
    /// Whether the person had the page since the model was last told of it.
    taken: AtomicBool,
    /// Cancelled when the page is let go of; another one stands in its place then.
    leaving: Mutex<CancellationToken>,
}

/// What is being worked in. One call at a time.
#[derive(Default)]
pub(super) struct Work {
    /// The tab in use.
    pub tab: Option<TabNumber>,
    /// It, while it is attached to.
    pub page: Option<Page>,
    /// Whether the tab was brought to the front for this task: once, for it takes the focus.
    pub fronted: bool,
    /// Whether the browser was attached to again, after the model had worked in it, and it was not told yet.
    pub attached_anew: bool,
    /// The attachment that was worked over last, by its number.
    pub attachment: Option<u64>,
    /// What the model was shown of the tabs, which outlives an attachment.
    pub views: HashMap<TabNumber, View>,
    /// What was weighed last, for the card of the same call.
    pub weighed: Option<(BrowserWish, Found)>,
    /// The files that come of its pages.
    pub fetching: Fetching,
    /// What it and its relatives know of pages.
    known: Arc<Known>,
}

impl Seat {
    pub(super) fn new(
        browser: HomeBrowser,
        (session, root): (SessionId, SessionId),
        known: Arc<Known>,
    ) -> Self {
        let hand = watch::Sender::new(PageHand::Agent);
        let work = Work { fetching: Fetching::new(hand.subscribe()), known, ..Work::default() };
        let outputs = browser.paths().outputs(session);
        Self(Arc::new(Place {
            browser,
            session,
            root,
            outputs: Outputs::new(outputs),
            work: tokio::sync::Mutex::new(work),
            shown: Mutex::default(),
            camera: tokio::sync::Mutex::default(),
            hand,
            taken: AtomicBool::new(false),
            leaving: Mutex::default(),
        }))
    }

    /// Whether it ever had a page, which is in use again when it is needed.
    pub(crate) fn was_used(&self) -> bool {
        // Whoever works there uses it.
        self.0.work.try_lock().map_or(true, |work| work.tab.is_some() || work.attachment.is_some())
    }

    /// Lets go of the page at once: what runs there ends, what was drawn onto it for the person is taken away, and the
    /// tab is detached from and left as it is. The tab stays the one in use for when it is needed again.
    pub(crate) fn let_go(&self) {
        drop(self.leave());
    }

    /// The same, for those who wait until the page is as it was.
    pub(super) fn leave(&self) -> JoinHandle<()> {
        std::mem::take(&mut *lock(&self.0.leaving)).cancel();
        self.0.hand.send_replace(PageHand::Agent);
        self.tell(None);
        let seat = self.clone();
        tokio::spawn(async move {
            // What held it was cancelled a moment ago.
            let page = {
                let mut work = seat.0.work.lock().await;
                work.fronted = false;
                work.page.take()
            };
            if let Some(page) = page {
                // A page that does not answer keeps it until it goes by itself.
                let _late = tokio::time::timeout(CLEARING, page.clear_overlay()).await;
            }
        })
    }

    /// The person takes the page, or hands it back.
    pub(crate) fn hand(&self, hand: PageHand) {
        if hand == PageHand::Person {
            self.0.taken.store(true, Ordering::Relaxed);
        }
        self.0.hand.send_replace(hand);
        self.alter(|page| page.hand = hand);
        if hand == PageHand::Person {
            self.end_acting();
        }
    }

    /// In its person's hand the page has the focus when they give it to it, and is shown when it is.
    fn end_acting(&self) {
        let seat = self.clone();
        tokio::spawn(async move {
            // What works there gives up now.
            let work = seat.work().await;
            if let Some(page) = work.page.as_ref().filter(|_| *seat.0.hand.borrow() == PageHand::Person) {
                page.end_acting();
            }
        });
    }

    /// Waits until the agent has the page.
    pub(super) async fn in_hand(&self) {
        let mut hand = self.0.hand.subscribe();
        // The sender is ours, so the wait ends with the page being handed back alone.
        let _ours = hand.wait_for(|hand| *hand == PageHand::Agent).await;
    }

    /// Ends once the person has the page.
    pub(super) async fn taken(&self) {
        let mut hand = self.0.hand.subscribe();
        let _ours = hand.wait_for(|hand| *hand == PageHand::Person).await;
    }

    /// Who had the page since the model was told of it last. Asked where that is told now.
    pub(super) fn handed(&self) -> Hand {
        if self.0.taken.swap(false, Ordering::Relaxed) { Hand::Returned } else { Hand::Kept }
    }

    pub(super) async fn work(&self) -> tokio::sync::MutexGuard<'_, Work> {
        self.0.work.lock().await
    }

    /// Ends when the page is let go of.
    pub(super) fn leaving(&self) -> CancellationToken {
        lock(&self.0.leaving).clone()
    }

    /// Does something in the page, which is given up when the page is let go of.
    async fn unless_left<T>(
        &self,
        doing: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        let leaving = self.leaving();
        tokio::select! {
            biased;
            () = leaving.cancelled() => Err(ToolError::new(STOPPED)),
            done = doing => done,
        }
    }

    pub(super) async fn connect(&self) -> Result<Connected, ToolError> {
        self.0.browser.connect_for_tool().await.map_err(|error| state::for_model(&error))
    }
}

/// Who had the page while it was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hand {
    /// The agent all the time.
    Kept,
    /// The person for a while.
    Returned,
}

impl Work {
    /// The tab in use becomes this one.
    pub fn use_tab(&mut self, tab: &Tab) {
        if self.tab != Some(tab.number) {
            self.tab = Some(tab.number);
            self.fronted = false;
            if let Some(page) = self.page.take() {
                // Left as it was, the pointer included.
                tokio::spawn(
                    async move { tokio::time::timeout(CLEARING, page.clear_overlay()).await.map(drop) },
                );
            }
        }
    }

    /// The page in use, attached to now if it is not.
    pub async fn attached(&mut self, connected: &Connected, tab: &Tab) -> Result<Page, ToolError> {
        self.use_tab(tab);
        if let Some(page) = self.page.as_ref().filter(|page| page.is_attached()) {
            return Ok(page.clone());
        }
        let page = match Page::attach(&connected.link, &tab.target).await {
            // The browser put it to sleep: in front of its window it wakes up.
            Err(PageError::Silent(Liveness::Discarded)) => wake(connected, tab).await?,
            attached => attached,
        };
        let page = page.map_err(|error| super::faults::fault(&error))?;
        self.fetching.listen(connected, &page).await?;
        self.page = Some(page.clone());
        Ok(page)
    }

    /// Notes over which attachment is worked now: that it is another one is told, for the browser may have begun anew.
    pub fn over(&mut self, attachment: u64) {
        self.attached_anew |= self.attachment.is_some_and(|before| before != attachment);
        self.attachment = Some(attachment);
    }

    /// What the newest look at a tab can tell is remembered as read: all of it, for the whole is in a file.
    pub fn learn(&mut self, tab: TabNumber) {
        let Some(snapshot) = self.views.get(&tab).and_then(View::last) else { return };
        self.read().memory.shown_page(&snapshot.texts());
    }

    /// What it and its relatives know of pages.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The same, to look something up or to note it. It is held by nobody across an await.
    pub fn read(&self) -> MutexGuard<'_, Read> {
        self.known.read()
    }

    /// A text without the values of secrets.
    pub fn redacted(&self, text: &str) -> String {
        self.read().redactor.redact(text)
    }

    /// Takes secrets out of what a card says by a page's words.
    pub fn redact(&self, view: &mut BrowserView) {
        let target = view.target.as_mut().map(|target| &mut target.name);
        for shown in view.title.as_mut().into_iter().chain(target) {
            *shown = self.redacted(shown);
        }
    }

    /// What the model was shown of a tab.
    pub fn view(&mut self, tab: TabNumber) -> &mut View {
        self.views.entry(tab).or_default()
    }
}

/// Wakes a tab that sleeps and attaches to it. What was awake has another name than what slept, by the same number of
/// tab it may take a moment to be found.
async fn wake(connected: &Connected, tab: &Tab) -> Result<Result<Page, PageError>, ToolError> {
    connected
        .tabs
        .activate(tab)
        .await
        .map_err(|error| ToolError::new(format!("The tab sleeps and was not woken: {error}.")))?;
    let until = tokio::time::Instant::now() + WAKING;
    loop {
        let attached = Page::attach(&connected.link, &tab.target).await;
        let sleeps = matches!(
            attached,
            Err(PageError::Silent(Liveness::Discarded)
                | PageError::Call(octo_browser::CallError::Gone { .. }))
        );
        if !sleeps || tokio::time::Instant::now() >= until {
            return Ok(attached);
        }
        tokio::time::sleep(GLANCE).await;
    }
}

impl Browsing for Seat {
    fn weigh(
        &self,
        wish: &BrowserWish,
        standing: &BrowserLeave,
    ) -> BoxFuture<'static, Result<Weight, ToolError>> {
        let (seat, wish, standing) = (self.clone(), wish.clone(), standing.clone());
        Box::pin(async move {
            let looking = async { Ok(seat.look(&wish, &standing).await?.weight) };
            seat.unless_left(looking).await
        })
    }

    fn show(&self, wish: &BrowserWish) -> BoxFuture<'static, Result<BrowserView, ToolError>> {
        let (seat, wish) = (self.clone(), wish.clone());
        Box::pin(async move { seat.unless_left(seat.view(&wish)).await })
    }

    fn carry_out(
        &self,
        wish: BrowserWish,
        leave: BrowserLeave,
        call: CallId,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        let seat = self.clone();
        Box::pin(async move { seat.carry(wish, leave, call, cancel).await })
    }
}
