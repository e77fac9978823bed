//! The start configuration of an [`crate::Octo`].

use futures::future::BoxFuture;
use octo_keys::KeyStorage;
use octo_protocol::{ApiError, Cost, ErrorCode, HostReply, HostRequest, Source};
use octo_shell::Supervision;
use octo_trash::Remover;
use octo_workspace::{HomeAtStart, HomeLocation, carry_out_home_plan};
use std::{
    path::{self, PathBuf},
    sync::Arc,
    time::Duration,
};

/// The start configuration of an [`crate::Octo`].
#[derive(Clone)]
pub struct Config {
    /// The home folder; see [`settle_home`].
    pub home: PathBuf,
    /// How the home was found, and the outcome of the plan for it.
    pub home_at_start: HomeAtStart,
    /// The source recorded for this process's sessions.
    pub source: Source,
    /// The handling of turns that an earlier process of this kind left open.
    pub open_turns: OpenTurnPolicy,
    /// Where keys are stored.
    pub keys: KeyStorage,
    /// Performs requests that need a desktop.
    pub host: Arc<dyn Host>,
    /// How long after the last activity a session counts as idle; usually [`IDLE_AFTER`].
    pub idle_after: Duration,
    /// Cost limit of a turn in this process before it pauses and asks, whatever the settings say.
    pub budget: Option<Cost>,
    /// The replacement for `rm` in commands.
    pub remover: Remover,
    /// How commands and hooks are started and ended; usually [`Supervision::by_this_program`].
    pub supervision: Supervision,
    /// Environment variables that must not reach commands (a key was read from them).
    pub secret_variables: Vec<String>,
}

/// How long after the last activity a session counts as idle.
pub const IDLE_AFTER: Duration = Duration::from_secs(90);

/// The handling of turns that an earlier process left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenTurnPolicy {
    /// Resume all of this kind of process at the start.
    GoOnAtStart,
    /// Resume each when its session is used: a process started for one purpose must not take up others.
    WaitForUse,
}

/// Performs requests that need a desktop: the window's shell, or a fake in tests.
pub trait Host: Send + Sync {
    /// Performs a request.
    fn perform(&self, request: HostRequest) -> BoxFuture<'_, Result<HostReply, ApiError>>;
}

/// The host of a process without a desktop: it answers every request with "not here".
#[derive(Debug)]
pub struct NoHost;

impl Host for NoHost {
    fn perform(&self, _request: HostRequest) -> BoxFuture<'_, Result<HostReply, ApiError>> {
        Box::pin(async { Err(ApiError::new("host.not_here").code(ErrorCode::NotHere)) })
    }
}

/// Finds the home and carries out the plan for it. Must be called once, before anything in the home is opened.
/// The home is `OCTO_HOME`, or the path the person moved it to, or `.octo` in the person's home folder;
/// absolute.
///
/// # Errors
/// `start.no_home`; `start.home_away` for a moved home that does not exist; `start.plan_unreadable`.
pub fn settle_home() -> Result<HomeAtStart, ApiError> {
    let no_home = || ApiError::new("start.no_home");
    let residence = match std::env::var_os("OCTO_HOME") {
        Some(home) if !home.is_empty() => {
            // Without a trailing separator, because files next to it are named after it.
            let home: PathBuf = path::absolute(home).map_err(|_| no_home())?.components().collect();
            HomeLocation::by_variable(home)
        }
        _ => {
            let user_home =
                std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).ok_or_else(no_home)?;
            HomeLocation::by_octo(path::absolute(user_home.join(".octo")).map_err(|_| no_home())?)?
        }
    };
    Ok(carry_out_home_plan(residence)?)
}
