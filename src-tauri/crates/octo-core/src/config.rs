//! What an [`crate::Octo`] is started with.

use futures::future::BoxFuture;
use octo_protocol::{ApiError, Cost, ErrorCode, HostReply, HostRequest, Source};
use octo_workspace::{Residence, Settled, settle};
use std::{
    path::{self, PathBuf},
    sync::Arc,
    time::Duration,
};

/// What an [`crate::Octo`] is started with.
#[derive(Clone)]
pub struct Config {
    /// The home folder; see [`settle_home`].
    pub home: PathBuf,
    /// How it was found, and what became of what was planned for it.
    pub settled: Settled,
    /// What the sessions of this process count as.
    pub source: Source,
    /// What becomes of turns an earlier process of this kind left open.
    pub open_turns: OpenTurns,
    /// Where keys are kept.
    pub keys: Keys,
    /// Does what only a desktop can do.
    pub host: Arc<dyn Host>,
    /// How long after the last activity a session counts as idle; usually [`IDLE_AFTER`].
    pub idle_after: Duration,
    /// What a turn of this process may cost before it pauses and asks, whatever the settings say.
    pub budget: Option<Cost>,
    /// What stands in for `rm` in commands.
    pub remover: Remover,
    /// Environment variables that must not reach commands (a key was read from them).
    pub secret_variables: Vec<String>,
}

/// How long after the last activity a session counts as idle.
pub const IDLE_AFTER: Duration = Duration::from_secs(90);

/// What becomes of turns an earlier process left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTurns {
    /// All of this kind of process are gone on with at the start.
    GoOnAtStart,
    /// Each is gone on with when its session is used: a process that was started for one task must not take
    /// up others.
    WaitForUse,
}

/// What stands in for `rm` in commands; see [`octo_workspace::rm`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remover {
    /// The running program: its `main` hands over to [`octo_workspace::rm::run`] when it is called by that name.
    ThisProgram,
    /// Another program that does.
    Program(PathBuf),
    /// The system's: what commands remove is gone. For programs that are none of Octo's, such as most tests.
    System,
}

/// Where keys are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// In the system's keychain; in memory where there is none.
    System,
    /// In memory only: the headless form with a key from the environment.
    Memory,
}

/// Does what only a desktop can do: the window's shell, or a fake in tests.
pub trait Host: Send + Sync {
    /// Performs it.
    fn perform(&self, request: HostRequest) -> BoxFuture<'_, Result<HostReply, ApiError>>;
}

/// The host of a process without a desktop: every request is answered "not here".
#[derive(Debug)]
pub struct NoHost;

impl Host for NoHost {
    fn perform(&self, _request: HostRequest) -> BoxFuture<'_, Result<HostReply, ApiError>> {
        Box::pin(async { Err(ApiError::new("host.not_here").code(ErrorCode::NotHere)) })
    }
}

/// Finds the home, and carries out what is planned for it: to be called before anything in it is opened, and once. It
/// is `OCTO_HOME`, or where the person moved it, or `.octo` in the person's own folder; absolute.
///
/// # Errors
/// `start.no_home`; `start.home_away` for one that was moved and is not there; `start.plan_unreadable`.
pub fn settle_home() -> Result<Settled, ApiError> {
    let no_home = || ApiError::new("start.no_home");
    let residence = match std::env::var_os("OCTO_HOME") {
        Some(home) if !home.is_empty() => {
            // Without a separator at its end: what lies beside it is named after it.
            let home: PathBuf = path::absolute(home).map_err(|_| no_home())?.components().collect();
            Residence::by_variable(home)
        }
        _ => {
            let own = std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).ok_or_else(no_home)?;
            Residence::by_octo(path::absolute(own.join(".octo")).map_err(|_| no_home())?)?
        }
    };
    Ok(settle(residence)?)
}
