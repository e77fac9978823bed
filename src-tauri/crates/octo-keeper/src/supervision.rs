//! How programs are started and ended on this system.

#[cfg(target_os = "linux")]
use crate::Keeper;
use std::{ffi::OsString, process::ExitCode};

/// The first argument of the keeper's process.
#[cfg(target_os = "linux")]
pub(crate) const KEEP: &str = "keep";

/// How programs are started and ended.
#[derive(Clone, Debug)]
pub enum Supervision {
    /// By a keeper, which ends every descendant.
    #[cfg(target_os = "linux")]
    Keeper(Keeper),
    /// By the caller, which ends the processes of the program's session, group or job, and their descendants.
    Session,
}

impl Supervision {
    /// Returns the best supervision this system has, for a program that calls [`run_as_keeper`] first.
    pub fn by_this_program() -> Self {
        #[cfg(target_os = "linux")]
        return Self::Keeper(Keeper::of_this_program());
        #[cfg(not(target_os = "linux"))]
        Self::Session
    }
}

/// Runs as a keeper if the process was started as one, and returns its exit status then. Call it first in
/// `main`: the keeper must have a single thread. `args` are the process's arguments, the first of which is the
/// program's name.
pub fn run_as_keeper(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        let mut args = args.into_iter().skip(1);
        let is_keeper = args.next().is_some_and(|first| first == KEEP) && args.next().is_none();
        is_keeper.then(crate::linux::serve)
    }
    #[cfg(not(target_os = "linux"))]
    {
        drop(args);
        None
    }
}
