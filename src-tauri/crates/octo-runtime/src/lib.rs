//! What every part of the application needs of time and threads.
//!
//! * [`Clock`] is the time of day, which tests may replace; [`now`] reads the computer's own.
//! * [`WakeSignal`] makes pauses that end at their time of day, even if the machine sleeps meanwhile.
//! * [`Change`] tells its watchers that something changed.
//! * [`TurnLimiter`] limits how many turns work at once.
//! * [`blocking`] runs work on a thread that may block.

mod blocking;
mod change;
mod clock;
mod turn_limiter;
mod wake_signal;

pub use blocking::blocking;
pub use change::Change;
pub use clock::{Clock, SystemClock, now};
pub use turn_limiter::{Permit, PermitCount, TurnLimiter};
pub use wake_signal::WakeSignal;
