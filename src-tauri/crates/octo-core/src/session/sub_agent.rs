//! Sub-agents: sessions that work on one task for another session, their parent.
//!
//! [`pool`] limits how many work at once, [`spawn`] makes one, [`child`] is what a session is as a sub-agent, and
//! [`invocation`] is how a skill's call starts one and follows it. [`summary`] is what it gives back.

mod child;
mod invocation;
mod pool;
mod spawn;
mod summary;

pub(super) use child::{Attendance, Forked, FromParent, Lifeline, Progress};
pub(crate) use invocation::{ForkNews, LineageAsked};
pub(super) use invocation::{ForksOfTurn, close_card, let_rest};
pub(super) use pool::Forks;
pub(super) use spawn::{Birth, Heritage, begin};
