//! Scheduled tasks, except for running them.
//!
//! A task is a file of the home ([`TaskFiles`], [`mod@file`]) with a timing in words ([`wording`]). [`ZonedTiming`] has
//! the moments of a timing in its zone, [`preview`] the faults and remarks of a plan. [`decide`] decides which times
//! lead to a run, and [`follow`] how a run continues. [`QuietPeriod`] tells for how long nothing has to be read. These
//! three have no clock and no side effects.

mod card;
mod decision;
pub mod file;
mod plan;
mod quiet_period;
mod timing;
pub mod wording;

pub use card::{card, is_accepted, unrunnable_reason};
pub use decision::{
    CheckKind, RunFollowUp, RunSessionAction, TaskInputs, TimesDecision, blocks_other_runs, decide, end_run,
    follow, is_starting, is_waiting_retry, replace_retry, run_of, skip_times,
};
pub use file::{ModelNames, TaskFile, TaskFiles};
pub use plan::{own_zone, preview};
pub use quiet_period::QuietPeriod;
pub use timing::{CronError, TimingError, ZonedTiming};
