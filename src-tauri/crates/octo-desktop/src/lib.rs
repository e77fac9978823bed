//! Octo's decisions about its integration with the system: the meaning of a link, due notifications, the effect
//! of closing the window, the content of the tray.
//!
//! Decisions only, as plain functions and small state machines without a window, a bus or a clock. The shell
//! feeds them events and carries out their results, so each can be tested without a desktop.

mod arguments;
mod closing;
mod icon;
mod links;
mod notifications;
mod runs;
mod sleep_detector;
mod updates;
mod window_views;
mod work_tracker;

pub use arguments::{LaunchRequest, WindowAtStart, parse_arguments};
pub use closing::{CloseStep, PageReadiness, on_close};
pub use icon::{Dot, with_dot};
pub use links::{LINK_LIMIT, SCHEME, parse_link};
pub use notifications::{
    Attention, NotificationAction, NotificationCommand, NotificationKind, NotificationSubject,
    NotificationTracker, PersonView,
};
pub use runs::{RunNotification, RunProblem};
pub use sleep_detector::{MIN_SLEEP, SleepDetector, TICK};
pub use updates::{is_news, until_check};
pub use window_views::WindowViews;
pub use work_tracker::{CurrentWork, WorkTracker};
