//! Scheduled tasks, apart from what runs them.
//!
//! A task is a file of the home ([`TaskFiles`], [`mod@file`]) with a timing in words ([`wording`]). [`ZonedTiming`] has
//! the moments that a timing means in its zone, [`preview`] the faults and remarks of a plan. [`decide`] and [`follow`]
//! decide what becomes of times and runs, and [`QuietPeriod`] how long nothing has to be read: both have no clock and no
//! side effects.

mod card;
mod decision;
pub mod file;
mod plan;
mod quiet_period;
mod timing;
pub mod wording;

pub use card::{card, is_accepted, unrunnable};
pub use decision::{
    LookKind, RunFollowUp, RunSessionAction, TaskInputs, TimesDecision, blocks_other_runs, decide, end_run,
    follow, is_starting, is_waiting_retry, replace_retry, run_of, skip_times,
};
pub use file::{ModelNames, TaskFile, TaskFiles};
pub use plan::{own_zone, preview};
pub use quiet_period::QuietPeriod;
pub use timing::{CronError, TimingError, ZonedTiming};
