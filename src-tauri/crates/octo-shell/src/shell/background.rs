//! Commands that continue after the call that started them returned.
//!
//! The end of a command is reported exactly once: by the call that observes it, or as news. While a call
//! observes it, no other code reports it; the code that removes it from the registry, under its lock, reports
//! it.

use super::{
    commands::end,
    process::{ProcessEnd, ShellProcess},
};
use crate::{BackgroundNews, NewsListener, RunMode, ShellError, output::CommandStage};
use octo_protocol::{BackgroundCommand, CallId, CommandState, Millis};
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::sync::watch;

/// Maximum reported length of a command's last line, in characters.
const MAX_LAST_LINE_CHARS: usize = 200;

/// The commands of a session that run or whose end is unreported.
pub(super) struct Registry {
    processes: Mutex<ProcessTable>,
    news: NewsListener,
}

/// The content of the registry.
#[derive(Default)]
pub(super) struct ProcessTable {
    pub by_handle: BTreeMap<String, Arc<ShellProcess>>,
    /// Commands about to be started, by their future handles.
    starting: BTreeMap<String, CommandIdentity>,
}

/// The properties that identify a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandIdentity {
    /// The command line.
    pub command: String,
    /// The directory it runs in.
    pub cwd: PathBuf,
    /// Its own variables.
    pub env: Vec<(String, String)>,
    /// The intended way to run.
    pub mode: RunMode,
}

impl CommandIdentity {
    fn is_same_command(&self, other: &Self) -> bool {
        (&self.command, &self.cwd, &self.env) == (&other.command, &other.cwd, &other.env)
    }
}

/// Keeps the same command from being started a second time while the first start is in progress.
pub(super) struct StartClaim {
    registry: Arc<Registry>,
    handle: String,
}

impl Drop for StartClaim {
    fn drop(&mut self) {
        self.registry.lock().starting.remove(&self.handle);
    }
}

/// A command that a call observes until this is dropped.
pub(super) struct Observation {
    pub process: Arc<ShellProcess>,
}

impl Observation {
    /// Starts to observe a command. The registry must be locked, or not contain the command yet.
    pub(super) fn new(process: Arc<ShellProcess>) -> Self {
        process.observers.send_modify(|observers| *observers += 1);
        Self { process }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.process.observers.send_modify(|observers| *observers -= 1);
    }
}

/// The registry's own data about a command.
#[derive(Default)]
pub(super) struct ReportedState {
    /// The last reported state; `None` while the call that started it waits.
    state: Option<CommandState>,
}

impl Registry {
    pub(super) fn new(news: NewsListener) -> Self {
        Self { processes: Mutex::default(), news }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ProcessTable> {
        self.processes.lock()
    }

    /// Returns a command to observe.
    pub(super) fn observe(&self, handle: &str) -> Result<Observation, ShellError> {
        let processes = self.lock();
        processes
            .by_handle
            .get(handle)
            .map(|process| Observation::new(Arc::clone(process)))
            .ok_or_else(|| ShellError::UnknownHandle { handle: handle.to_owned() })
    }

    /// Checks that the same command is neither running in the background nor being started.
    pub(super) fn claim(
        self: &Arc<Self>,
        handle: &str,
        identity: &CommandIdentity,
    ) -> Result<StartClaim, ShellError> {
        let mut processes = self.lock();
        let running = processes.by_handle.values().find(|process| {
            let is_background = [process.identity.mode, identity.mode] == [RunMode::Background; 2];
            process.end().borrow().is_none()
                && (is_background || process.lock_reported().state.is_some())
                && process.identity.is_same_command(identity)
        });
        let starting = || {
            let background_starts =
                processes.starting.iter().filter(|(_, command)| command.mode == RunMode::Background);
            let mut same_command = background_starts.filter(|(_, command)| command.is_same_command(identity));
            same_command
                .next()
                .filter(|_| identity.mode == RunMode::Background)
                .map(|(handle, _)| handle.clone())
        };
        if let Some(handle) = running.map(|process| process.handle.clone()).or_else(starting) {
            return Err(ShellError::Duplicate { handle });
        }
        processes.starting.insert(handle.to_owned(), identity.clone());
        Ok(StartClaim { registry: Arc::clone(self), handle: handle.to_owned() })
    }

    /// Records that a wait for the command ended and the command continues in the background.
    pub(super) fn note_background(
        self: &Arc<Self>,
        process: &Arc<ShellProcess>,
        state: CommandState,
        time_limit: Duration,
    ) {
        let before = process.lock_reported().state.replace(state);
        if before == Some(state) {
            return;
        }
        let log = process.log();
        (self.news)(BackgroundNews::StateChanged(describe(process, state, None, log, String::new())));
        if before.is_none() {
            tokio::spawn(watch_background(Arc::clone(self), Arc::clone(process), time_limit));
        }
    }

    /// Records that the pending report of `call` contains the command's end.
    pub(super) fn note_reported(
        &self,
        process: &ShellProcess,
        state: CommandState,
        log: Option<PathBuf>,
        call: CallId,
    ) {
        let removed = self.lock().by_handle.remove(&process.handle);
        if removed.is_some() && process.lock_reported().state.is_some() {
            let end = *process.end().borrow();
            let last_line = process.transcript().last_line();
            (self.news)(BackgroundNews::Reported {
                command: describe(process, state, end, log, last_line),
                call,
            });
        }
    }

    /// Removes an ended command, unless a call observes it or has reported its end.
    fn take_ended(&self, process: &ShellProcess) -> EndClaim {
        let mut processes = self.lock();
        if !processes.by_handle.contains_key(&process.handle) {
            return EndClaim::Gone;
        }
        if *process.observers.borrow() > 0 {
            return EndClaim::Observed;
        }
        processes.by_handle.remove(&process.handle);
        EndClaim::Claimed
    }
}

enum EndClaim {
    /// The caller must report its end.
    Claimed,
    /// A call observes it and will most likely report its end.
    Observed,
    /// Its end was reported, or the session was closed.
    Gone,
}

/// Watches a background command: ends it at its time limit, and reports its end.
async fn watch_background(registry: Arc<Registry>, process: Arc<ShellProcess>, time_limit: Duration) {
    let (mut ended, mut observers) = (process.end(), process.observers.subscribe());
    let remaining = time_limit.saturating_sub(process.age());
    tokio::select! {
        () = wait_for_end(&mut ended) => {}
        () = tokio::time::sleep(remaining) => {
            end(&process, CommandState::TimedOut).await;
            wait_for_end(&mut ended).await;
        }
    }
    loop {
        match registry.take_ended(&process) {
            EndClaim::Gone => return,
            EndClaim::Claimed => break,
            // The command owns the sender, so the wait ends when no call observes it any more.
            EndClaim::Observed => drop(observers.wait_for(|observers| *observers == 0).await),
        }
    }
    let Some(end) = process.end().borrow().as_ref().copied() else { return };
    let log = process.report(CommandStage::Ended).log.or_else(|| process.log());
    let last_line = process.transcript().last_line();
    (registry.news)(BackgroundNews::Ended(describe(
        &process,
        process.ended_as(end),
        Some(end),
        log,
        last_line,
    )));
}

async fn wait_for_end(end: &mut watch::Receiver<Option<ProcessEnd>>) {
    drop(end.wait_for(Option::is_some).await);
}

fn describe(
    process: &ShellProcess,
    state: CommandState,
    end: Option<ProcessEnd>,
    log: Option<PathBuf>,
    last_line: String,
) -> BackgroundCommand {
    let millis = |time: Duration| Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX);
    BackgroundCommand {
        handle: process.handle.clone(),
        call: process.call,
        command: process.identity.command.clone(),
        cwd: process.identity.cwd.to_string_lossy().into_owned(),
        started_at: process.started_at,
        ended_at: end.map(|end| process.started_at.saturating_add(millis(end.after))),
        state,
        log: log.map(|log| log.to_string_lossy().into_owned()),
        last_line: shortened(last_line.trim()),
    }
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= MAX_LAST_LINE_CHARS {
        return line.to_owned();
    }
    line.chars().take(MAX_LAST_LINE_CHARS - 1).chain(['…']).collect()
}

/// Returns the present time in the format of events.
pub(super) fn now() -> Millis {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(elapsed.as_millis()).unwrap_or(Millis::MAX)
}
