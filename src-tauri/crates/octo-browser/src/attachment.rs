//! The app's one connection to the person's browser.

mod error;
mod state;

pub use error::ConnectError;
pub use state::{Mode, State};

use crate::{
    Environment, Found, Launch, Link, Probe, Transport, find,
    launched::{Running, launch},
    tabs::{Numbers, Tabs},
    transport::dial,
};
use futures::future::BoxFuture;
use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long the first answer of a browser may take after its handshake, where its person is not asked.
const FIRST_ANSWER: Duration = Duration::from_secs(5);
/// The same of one that was started just now: it answers once it is up, which takes long from a cold disk, and with a
/// profile that is made first. One that ends is heard of at once, and the person can give up.
const START: Duration = Duration::from_secs(60);

/// Which browser is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The first of the person's browsers that can be attached to.
    Any,
    /// The one that keeps its data here.
    Folder(PathBuf),
    /// A separate one that Octo starts, with a profile of its own.
    OwnProfile(Launch),
}

/// Puts something around every transport before it is used, to watch what goes over it.
pub type Wrap = Arc<dyn Fn(Box<dyn Transport>) -> Box<dyn Transport> + Send + Sync>;

/// The app's one connection to a browser. It is made when it is first needed, never again by itself, and all
/// sessions share it. Clones are one.
#[derive(Clone)]
pub struct Browser(Arc<Inner>);

struct Inner {
    environment: Environment,
    wrap: Option<Wrap>,
    state: watch::Sender<State>,
    slot: Mutex<Slot>,
    numbers: Numbers,
    /// How many browsers of ours are ending.
    closing: watch::Sender<usize>,
}

struct Slot {
    wanted: Wanted,
    stage: Stage,
    /// Tells this attempt from the one before.
    attempt: u64,
}

enum Stage {
    Idle,
    Connecting {
        outcome: watch::Receiver<Option<Result<Connected, ConnectError>>>,
        cancel: CancellationToken,
    },
    Connected(Connected),
}

/// A connection that was made.
#[derive(Clone, Debug)]
pub struct Connected {
    /// The line.
    pub link: Link,
    /// The browser's tabs.
    pub tabs: Tabs,
    /// Whether this call made it, or it was there. After a restart of the browser its person was asked again, which
    /// the model is told.
    pub fresh: Freshness,
    /// The browser that Octo started, which ends with the last handle.
    running: Option<Arc<Running>>,
}

/// Whether a connection was there before the call that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It was made for this call.
    New,
    /// It was there.
    Held,
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("state", &*self.0.state.borrow()).finish_non_exhaustive()
    }
}

impl Browser {
    /// Nothing is looked for yet.
    pub fn new(environment: Environment, wanted: Wanted) -> Self {
        Self::with_transport(environment, wanted, None)
    }

    /// The same, with something around its transport.
    pub fn watched(environment: Environment, wanted: Wanted, wrap: Wrap) -> Self {
        Self::with_transport(environment, wanted, Some(wrap))
    }

    fn with_transport(environment: Environment, wanted: Wanted, wrap: Option<Wrap>) -> Self {
        Self(Arc::new(Inner {
            environment,
            wrap,
            state: watch::Sender::new(State::Off),
            slot: Mutex::new(Slot { wanted, stage: Stage::Idle, attempt: 0 }),
            numbers: Numbers::default(),
            closing: watch::Sender::new(0),
        }))
    }

    /// How the connection stands, for the window.
    pub fn state(&self) -> watch::Receiver<State> {
        self.0.state.subscribe()
    }

    /// Says which browser is meant from now on. A connection to another is ended.
    pub fn want(&self, wanted: Wanted) {
        let changed = {
            let mut slot = self.slot();
            std::mem::replace(&mut slot.wanted, wanted.clone()) != wanted
        };
        if changed {
            self.disconnect();
        }
    }

    /// Where a browser can be attached to now. It asks no person anything and connects to nothing.
    pub async fn look(&self) -> Vec<Found> {
        let folder = match &self.slot().wanted {
            Wanted::Folder(folder) => Some(folder.clone()),
            Wanted::Any | Wanted::OwnProfile(_) => None,
        };
        find(&self.0.environment, folder.as_deref()).await
    }

    /// The connection: the one that is there, or one that is made now. While the browser asks its person, this
    /// waits for as long as they take; all who call meanwhile wait for the one question. Dropping the future does
    /// not take the question back, [`Self::cancel`] gives it up.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]. Nothing is tried twice.
    pub async fn connect(&self) -> Result<Connected, ConnectError> {
        let mut outcome = {
            let mut slot = self.slot();
            match &slot.stage {
                Stage::Connected(connected) if connected.link.ending().is_none() => {
                    return Ok(Connected { fresh: Freshness::Held, ..connected.clone() });
                }
                Stage::Connecting { outcome, .. } => outcome.clone(),
                Stage::Connected(_) | Stage::Idle => self.begin(&mut slot),
            }
        };
        match outcome.wait_for(Option::is_some).await {
            Ok(done) => done.clone().unwrap_or(Err(ConnectError::Cancelled)),
            Err(_) => Err(ConnectError::Cancelled),
        }
    }

    /// The connection, if there is one now.
    pub fn connected(&self) -> Option<Connected> {
        match &self.slot().stage {
            Stage::Connected(connected) if connected.link.ending().is_none() => {
                Some(Connected { fresh: Freshness::Held, ..connected.clone() })
            }
            _ => None,
        }
    }

    /// Gives up an attempt. The browser's question may stay on its screen; an answer to it does nothing any more.
    pub fn cancel(&self) {
        if let Stage::Connecting { cancel, .. } = &self.slot().stage {
            cancel.cancel();
        }
    }

    /// Ends the connection, or the attempt. Tabs stay as they are; a browser that Octo started is told to end, for which
    /// [`Self::closed`] waits.
    pub fn disconnect(&self) {
        let mut slot = self.slot();
        match std::mem::replace(&mut slot.stage, Stage::Idle) {
            Stage::Idle => {}
            Stage::Connecting { cancel, .. } => cancel.cancel(),
            Stage::Connected(connected) => self.end(connected),
        }
        slot.attempt += 1;
        self.0.state.send_replace(State::Off);
    }

    /// Ends a connection. A browser of ours writes out what its person did there last before it goes: killed at once, it
    /// would lose that.
    fn end(&self, connected: Connected) {
        let Connected { link, running, .. } = connected;
        let Some(running) = running else { return link.close() };
        self.0.closing.send_modify(|closing| *closing += 1);
        let closing = self.0.closing.clone();
        tokio::spawn(async move {
            link.tell(None, crate::cdp::browser_protocol::browser::CloseParams {});
            running.end().await;
            link.close();
            closing.send_modify(|closing| *closing -= 1);
        });
    }

    /// Waits until the browsers that Octo started and that were told to end have ended: three seconds at most, for one
    /// that does not is killed.
    pub async fn closed(&self) {
        let mut closing = self.0.closing.subscribe();
        // The sender is ours.
        let _ours = closing.wait_for(|closing| *closing == 0).await;
    }

    /// Starts the one attempt, in a task of its own: whoever asked for it may go away, and the question must then
    /// not be asked a second time.
    fn begin(&self, slot: &mut Slot) -> watch::Receiver<Option<Result<Connected, ConnectError>>> {
        slot.attempt += 1;
        let (tell, outcome) = watch::channel(None);
        let cancel = CancellationToken::new();
        slot.stage = Stage::Connecting { outcome: outcome.clone(), cancel: cancel.clone() };
        self.0.state.send_replace(State::Looking);
        let attempt = Attempt { browser: self.clone(), number: slot.attempt, wanted: slot.wanted.clone() };
        tokio::spawn(async move {
            let result = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ConnectError::Cancelled),
                result = attempt.run() => result,
            };
            attempt.settle(&result);
            tell.send_replace(Some(result));
        });
        outcome
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        // Nothing that is done under this lock can panic half-way.
        self.0.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Attempt {
    browser: Browser,
    number: u64,
    wanted: Wanted,
}

impl Attempt {
    async fn run(&self) -> Result<Connected, ConnectError> {
        match &self.wanted {
            Wanted::OwnProfile(config) => {
                // Two browsers cannot have one profile.
                self.browser.closed().await;
                let (transport, running) = launch(config)?;
                self.finish(Box::new(transport), Mode::OwnProfile, None, Some(Arc::new(running))).await
            }
            Wanted::Any => self.attach(find(&self.browser.0.environment, None).await).await,
            Wanted::Folder(folder) => {
                self.attach(find(&self.browser.0.environment, Some(folder)).await).await
            }
        }
    }

    async fn attach(&self, found: Vec<Found>) -> Result<Connected, ConnectError> {
        let stranger = found.iter().find(|found| found.probe == Probe::Stranger).map(|found| found.port);
        let first = found.into_iter().find_map(|found| match found.probe {
            Probe::Flag { socket, .. } => Some((found.candidate.product, Mode::Flag, socket)),
            Probe::Approval { socket } => Some((found.candidate.product, Mode::Approval, socket)),
            Probe::Stranger | Probe::Off => None,
        });
        let Some((product, mode, socket)) = first else {
            return Err(stranger.map_or(ConnectError::NoBrowser, |port| ConnectError::PortTaken { port }));
        };
        if mode == Mode::Approval {
            let since = SystemTime::now();
            self.show(State::WaitingForAllow { browser: product.name().to_owned(), since });
        }
        // The only socket there will be: the very connection that is used, never one to try whether it works.
        let dialling: BoxFuture<'_, _> = Box::pin(dial(&socket));
        let transport = dialling.await?;
        self.finish(Box::new(transport), mode, Some(product.name()), None).await
    }

    async fn finish(
        &self,
        transport: Box<dyn Transport>,
        mode: Mode,
        name: Option<&str>,
        running: Option<Arc<Running>>,
    ) -> Result<Connected, ConnectError> {
        let inner = &self.browser.0;
        let transport = match &inner.wrap {
            Some(wrap) => wrap(transport),
            None => transport,
        };
        let link = Link::over(transport);
        let patience = match mode {
            // What its person allowed is not thrown away for being slow: the next attempt would ask them again. They can
            // give it up.
            Mode::Approval => Duration::MAX,
            Mode::OwnProfile => START,
            Mode::Flag => FIRST_ANSWER,
        };
        let version = link
            .call(None, crate::cdp::browser_protocol::browser::GetVersionParams {}, patience)
            .await?
            .product;
        let browser = name.map_or_else(|| "Octo".to_owned(), str::to_owned);
        let tabs = Tabs::new(link.clone(), inner.numbers.clone());
        let connected = Connected { link, tabs, fresh: Freshness::New, running };
        if !self.keep(&connected, State::Connected { browser, version, mode }) {
            connected.link.close();
            return Err(ConnectError::Cancelled);
        }
        Ok(connected)
    }

    /// Makes it the connection, unless the attempt was given up meanwhile, and watches for its end.
    fn keep(&self, connected: &Connected, state: State) -> bool {
        let mut slot = self.browser.slot();
        if slot.attempt != self.number {
            return false;
        }
        slot.stage = Stage::Connected(connected.clone());
        self.browser.0.state.send_replace(state);
        let (ended, inner, number) = (connected.link.ended(), Arc::downgrade(&self.browser.0), self.number);
        tokio::spawn(async move {
            let why = ended.await;
            let Some(inner) = inner.upgrade() else { return };
            let mut slot = inner.slot.lock().unwrap_or_else(PoisonError::into_inner);
            if slot.attempt == number {
                slot.stage = Stage::Idle;
                inner.state.send_replace(State::Lost { why });
            }
        });
        true
    }

    fn show(&self, state: State) {
        if self.browser.slot().attempt == self.number {
            self.browser.0.state.send_replace(state);
        }
    }

    fn settle(&self, result: &Result<Connected, ConnectError>) {
        let mut slot = self.browser.slot();
        if result.is_err() && slot.attempt == self.number {
            slot.stage = Stage::Idle;
            self.browser.0.state.send_replace(State::Off);
        }
    }
}
