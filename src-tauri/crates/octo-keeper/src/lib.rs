//! Starts, confines and ends foreign processes with all their descendants.
//!
//! A process that starts its own session and loses its parent (`setsid -f`, a double fork) belongs to no group,
//! session or tree that its first caller could end. On Linux a process can adopt such orphans. Octo itself cannot
//! do that, because it would have to wait for every child of its libraries. So a small process next to Octo does,
//! the *keeper*:
//!
//! * `octo keep` ([`run_as_keeper`]) is started once per Octo process, with the first program. It uses one thread,
//!   and has no environment and no terminal; a socket without a name connects it to Octo.
//! * For each program the keeper forks a *reaper*, without a new executable, which costs about a millisecond.
//!   The reaper adopts the program's orphans, confines and starts the program, and reports to Octo over a
//!   socket of its own.
//! * When Octo demands it, or when the socket closes because Octo is gone, the reaper ends every descendant: it
//!   stops them until no new one appears, kills them, and waits for them.
//! * The keeper adopts and ends the descendants of a killed reaper.
//!
//! A program can be started in a network namespace ([`NetworkNamespace`]), which a further process of the keeper makes.
//!
//! Processes that a program asks others to start (a service of the person's systemd, a container, a running `tmux`)
//! are not its descendants.
//!
//! macOS has no such adoption. There, and in programs that cannot run as a keeper,
//! [`Supervision::Session`] leaves starting and ending to the caller. Windows has job objects.

mod grants;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
pub mod process_table;
mod supervision;

pub use grants::PathGrants;
#[cfg(target_os = "linux")]
pub use grants::{CONFINES, confine_thread};
#[cfg(target_os = "linux")]
pub use linux::{
    Keeper, KeeperProgram, NetworkNamespace, NewNetwork, ProcessTree, ProgramEnd, ProgramStart,
    StandardStreams, serve,
};
pub use supervision::{Supervision, run_as_keeper};
