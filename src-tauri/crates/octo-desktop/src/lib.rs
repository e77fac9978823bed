//! Octo's decisions about its integration with the system: the meaning of a link, due notices, the effect of
//! closing the window, the content of the tray.
//!
//! Decisions only, as plain functions and small state machines without a window, a bus or a clock. The shell
//! feeds them events and carries out their results, so each can be tested without a desktop.

mod arguments;
mod census;
mod closing;
mod icon;
mod links;
mod notices;
mod runs;
mod sights;
mod updates;
mod waking;

pub use arguments::{Start, WindowAtStart, read};
pub use census::{Census, Work};
pub use closing::{CloseStep, Page, on_close};
pub use icon::{Dot, with_dot};
pub use links::{LINK_LIMIT, SCHEME, link};
pub use notices::{Act, Attention, Deed, NoticeKind, Notices, Sight, Subject};
pub use runs::{RunNews, Why};
pub use sights::Sights;
pub use updates::{is_news, until_look};
pub use waking::{NAP, TICK, Waking};
