//! The app's single connection to the person's browser.

mod error;
mod state;

pub use error::ConnectError;
pub use state::{AccessMode, AttachmentState};

use crate::{
    BrowserEnvironment, LaunchOptions, Link, Probe, ProbedBrowser, Transport, find,
    launch::{BrowserProcess, launch},
    tabs::{TabNumbers, Tabs},
    transport::dial,
};
use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use std::{
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Timeout for a browser's first answer after the handshake, if it does not ask the person.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for the first answer of a browser that was just started. A cold disk or a new profile makes the
/// start slow. Octo notices an early exit at once, and the person can cancel.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The browser to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserTarget {
    /// The first of the person's browsers that accepts a connection.
    Any,
    /// The browser with this data folder.
    Folder(PathBuf),
    /// A separate browser that Octo starts, with its own profile.
    OwnProfile(LaunchOptions),
}

/// Wraps every transport before use, to observe its traffic.
pub type TransportWrapper = Arc<dyn Fn(Box<dyn Transport>) -> Box<dyn Transport> + Send + Sync>;

/// The app's single connection to a browser. It is made on first use, never re-established automatically, and
/// shared by all sessions. Clones share the connection.
#[derive(Clone)]
pub struct Browser(Arc<BrowserInner>);

struct BrowserInner {
    environment: BrowserEnvironment,
    wrapper: Option<TransportWrapper>,
    state: watch::Sender<AttachmentState>,
    slot: Mutex<ConnectionSlot>,
    numbers: TabNumbers,
    /// Number of Octo's own browsers that are shutting down.
    closing: watch::Sender<usize>,
}

struct ConnectionSlot {
    target: BrowserTarget,
    stage: ConnectionStage,
    /// Distinguishes this attempt from the previous one.
    attempt: u64,
}

enum ConnectionStage {
    Idle,
    Connecting {
        outcome: watch::Receiver<Option<Result<BrowserConnection, ConnectError>>>,
        cancel: CancellationToken,
    },
    Connected(BrowserConnection),
}

/// An established connection.
#[derive(Clone, Debug)]
pub struct BrowserConnection {
    /// The protocol link.
    pub link: Link,
    /// The browser's tabs.
    pub tabs: Tabs,
    /// `New` if this call established the connection. After a restart of the browser, the browser asked the person
    /// again, and the model is informed of that.
    pub freshness: Freshness,
    /// The browser that Octo started; ends with the last handle.
    process: Option<Arc<BrowserProcess>>,
}

/// Age of a connection, relative to the call that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Established by this call.
    New,
    /// Existed before.
    Existing,
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("state", &*self.0.state.borrow()).finish_non_exhaustive()
    }
}

impl Browser {
    /// Creates the connection object without looking for a browser.
    pub fn new(environment: BrowserEnvironment, target: BrowserTarget) -> Self {
        Self::with_transport(environment, target, None)
    }

    /// Like `new`, with a wrapper around the transport.
    pub fn with_wrapper(
        environment: BrowserEnvironment,
        target: BrowserTarget,
        wrapper: TransportWrapper,
    ) -> Self {
        Self::with_transport(environment, target, Some(wrapper))
    }

    fn with_transport(
        environment: BrowserEnvironment,
        target: BrowserTarget,
        wrapper: Option<TransportWrapper>,
    ) -> Self {
        Self(Arc::new(BrowserInner {
            environment,
            wrapper,
            state: watch::Sender::new(AttachmentState::Off),
            slot: Mutex::new(ConnectionSlot { target, stage: ConnectionStage::Idle, attempt: 0 }),
            numbers: TabNumbers::default(),
            closing: watch::Sender::new(0),
        }))
    }

    /// Returns the connection's state, for the window.
    pub fn state(&self) -> watch::Receiver<AttachmentState> {
        self.0.state.subscribe()
    }

    /// Sets the browser to connect to. Ends a connection to another browser.
    pub fn set_target(&self, target: BrowserTarget) {
        let changed = {
            let mut slot = self.lock_slot();
            std::mem::replace(&mut slot.target, target.clone()) != target
        };
        if changed {
            self.disconnect();
        }
    }

    /// Finds browsers that accept a connection now. Asks the person nothing and connects to nothing.
    pub async fn find_browsers(&self) -> Vec<ProbedBrowser> {
        let folder = match &self.lock_slot().target {
            BrowserTarget::Folder(folder) => Some(folder.clone()),
            BrowserTarget::Any | BrowserTarget::OwnProfile(_) => None,
        };
        find(&self.0.environment, folder.as_deref()).await
    }

    /// Returns the existing connection or makes one. While the browser asks the person, this waits as long as
    /// they take; concurrent callers share the one question. Dropping the future does not withdraw the
    /// question; [`Self::cancel`] does.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]. Nothing is retried.
    pub async fn connect(&self) -> Result<BrowserConnection, ConnectError> {
        let mut outcome = {
            let mut slot = self.lock_slot();
            match &slot.stage {
                ConnectionStage::Connected(connection) if connection.link.end_reason().is_none() => {
                    return Ok(BrowserConnection { freshness: Freshness::Existing, ..connection.clone() });
                }
                ConnectionStage::Connecting { outcome, .. } => outcome.clone(),
                ConnectionStage::Connected(_) | ConnectionStage::Idle => self.begin_attempt(&mut slot),
            }
        };
        match outcome.wait_for(Option::is_some).await {
            Ok(result) => result.clone().unwrap_or(Err(ConnectError::Cancelled)),
            Err(_) => Err(ConnectError::Cancelled),
        }
    }

    /// Returns the current connection, if any.
    pub fn current_connection(&self) -> Option<BrowserConnection> {
        match &self.lock_slot().stage {
            ConnectionStage::Connected(connection) if connection.link.end_reason().is_none() => {
                Some(BrowserConnection { freshness: Freshness::Existing, ..connection.clone() })
            }
            _ => None,
        }
    }

    /// Cancels an attempt. The browser's question may stay on screen, but an answer to it has no effect.
    pub fn cancel(&self) {
        if let ConnectionStage::Connecting { cancel, .. } = &self.lock_slot().stage {
            cancel.cancel();
        }
    }

    /// Ends the connection or the attempt. Tabs stay as they are; a browser that Octo started is asked to exit,
    /// which [`Self::wait_closed`] waits for.
    pub fn disconnect(&self) {
        let mut slot = self.lock_slot();
        match std::mem::replace(&mut slot.stage, ConnectionStage::Idle) {
            ConnectionStage::Idle => {}
            ConnectionStage::Connecting { cancel, .. } => cancel.cancel(),
            ConnectionStage::Connected(connection) => self.close(connection),
        }
        slot.attempt += 1;
        self.0.state.send_replace(AttachmentState::Off);
    }

    /// Ends a connection. A browser that Octo started first writes its data to disk; killing it at once would
    /// lose the person's last changes.
    fn close(&self, connection: BrowserConnection) {
        let BrowserConnection { link, process, .. } = connection;
        let Some(process) = process else { return link.close() };
        self.0.closing.send_modify(|closing| *closing += 1);
        let closing = self.0.closing.clone();
        tokio::spawn(async move {
            link.send(None, crate::cdp::browser_protocol::browser::CloseParams {});
            process.end().await;
            link.close();
            closing.send_modify(|closing| *closing -= 1);
        });
    }

    /// Waits until the browsers that Octo started and asked to exit have exited: three seconds at most, because
    /// a slower one is killed.
    pub async fn wait_closed(&self) {
        let mut closing = self.0.closing.subscribe();
        // Waiting cannot fail, because this struct owns the sender.
        let _result = closing.wait_for(|closing| *closing == 0).await;
    }

    /// Starts the only attempt in its own Tokio task: if the caller stops waiting, the attempt continues and the
    /// browser does not ask the person a second time.
    fn begin_attempt(
        &self,
        slot: &mut ConnectionSlot,
    ) -> watch::Receiver<Option<Result<BrowserConnection, ConnectError>>> {
        slot.attempt += 1;
        let (sender, outcome) = watch::channel(None);
        let cancel = CancellationToken::new();
        slot.stage = ConnectionStage::Connecting { outcome: outcome.clone(), cancel: cancel.clone() };
        self.0.state.send_replace(AttachmentState::Looking);
        let attempt =
            ConnectAttempt { browser: self.clone(), number: slot.attempt, target: slot.target.clone() };
        tokio::spawn(async move {
            let result = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ConnectError::Cancelled),
                result = attempt.run() => result,
            };
            attempt.record_result(&result);
            sender.send_replace(Some(result));
        });
        outcome
    }

    fn lock_slot(&self) -> MutexGuard<'_, ConnectionSlot> {
        // No code under this lock can panic half-way.
        self.0.slot.lock()
    }
}

struct ConnectAttempt {
    browser: Browser,
    number: u64,
    target: BrowserTarget,
}

impl ConnectAttempt {
    async fn run(&self) -> Result<BrowserConnection, ConnectError> {
        match &self.target {
            BrowserTarget::OwnProfile(options) => {
                // Two browsers cannot share a profile.
                self.browser.wait_closed().await;
                let (transport, process) = launch(options)?;
                self.finish(Box::new(transport), AccessMode::OwnProfile, None, Some(Arc::new(process))).await
            }
            BrowserTarget::Any => self.attach(find(&self.browser.0.environment, None).await).await,
            BrowserTarget::Folder(folder) => {
                self.attach(find(&self.browser.0.environment, Some(folder)).await).await
            }
        }
    }

    async fn attach(&self, found: Vec<ProbedBrowser>) -> Result<BrowserConnection, ConnectError> {
        let other_program =
            found.iter().find(|found| found.probe == Probe::OtherProgram).map(|found| found.port);
        let browser = found.into_iter().find_map(|found| match found.probe {
            Probe::Flag { socket, .. } => Some((found.candidate.product, AccessMode::Flag, socket)),
            Probe::Approval { socket } => Some((found.candidate.product, AccessMode::Approval, socket)),
            Probe::OtherProgram | Probe::Off => None,
        });
        let Some((product, mode, socket)) = browser else {
            return Err(
                other_program.map_or(ConnectError::NoBrowser, |port| ConnectError::PortTaken { port })
            );
        };
        if mode == AccessMode::Approval {
            let asked_at = SystemTime::now();
            self.publish_state(AttachmentState::WaitingForAllow {
                browser: product.name().to_owned(),
                since: asked_at,
            });
        }
        // Open only the socket of the connection itself, never one to try it out.
        let dial_future: BoxFuture<'_, _> = Box::pin(dial(&socket));
        let transport = dial_future.await?;
        self.finish(Box::new(transport), mode, Some(product.name()), None).await
    }

    async fn finish(
        &self,
        transport: Box<dyn Transport>,
        mode: AccessMode,
        name: Option<&str>,
        process: Option<Arc<BrowserProcess>>,
    ) -> Result<BrowserConnection, ConnectError> {
        let inner = &self.browser.0;
        let transport = match &inner.wrapper {
            Some(wrap) => wrap(transport),
            None => transport,
        };
        let link = Link::with_transport(transport);
        let timeout = match mode {
            // Wait for a slow browser as long as it takes, because another attempt would ask the person again. They
            // can cancel.
            AccessMode::Approval => Duration::MAX,
            AccessMode::OwnProfile => START_TIMEOUT,
            AccessMode::Flag => ANSWER_TIMEOUT,
        };
        let version = link
            .call(None, crate::cdp::browser_protocol::browser::GetVersionParams {}, timeout)
            .await?
            .product;
        let browser = name.map_or_else(|| "Octo".to_owned(), str::to_owned);
        let tabs = Tabs::new(link.clone(), inner.numbers.clone());
        let connection = BrowserConnection { link, tabs, freshness: Freshness::New, process };
        if !self.install(&connection, AttachmentState::Connected { browser, version, mode }) {
            connection.link.close();
            return Err(ConnectError::Cancelled);
        }
        Ok(connection)
    }

    /// Installs a connection as the current one and watches for its end. Returns `false` if the attempt was
    /// cancelled meanwhile.
    fn install(&self, connection: &BrowserConnection, state: AttachmentState) -> bool {
        let mut slot = self.browser.lock_slot();
        if slot.attempt != self.number {
            return false;
        }
        slot.stage = ConnectionStage::Connected(connection.clone());
        self.browser.0.state.send_replace(state);
        let (ended, inner, number) =
            (connection.link.wait_ended(), Arc::downgrade(&self.browser.0), self.number);
        tokio::spawn(async move {
            let reason = ended.await;
            let Some(inner) = inner.upgrade() else { return };
            let mut slot = inner.slot.lock();
            if slot.attempt == number {
                slot.stage = ConnectionStage::Idle;
                inner.state.send_replace(AttachmentState::Lost { reason });
            }
        });
        true
    }

    fn publish_state(&self, state: AttachmentState) {
        if self.browser.lock_slot().attempt == self.number {
            self.browser.0.state.send_replace(state);
        }
    }

    fn record_result(&self, result: &Result<BrowserConnection, ConnectError>) {
        let mut slot = self.browser.lock_slot();
        if result.is_err() && slot.attempt == self.number {
            slot.stage = ConnectionStage::Idle;
            self.browser.0.state.send_replace(AttachmentState::Off);
        }
    }
}
