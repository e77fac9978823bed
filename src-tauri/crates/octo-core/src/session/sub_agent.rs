//! Sub-agents: sessions that work on one task for another session, their parent.
//!
//! [`invocation`] is how a call of the parent starts one and follows it, [`parent`] what the parent knows of it,
//! [`spawn`] makes its session, [`child`] is what that session is as a sub-agent, and [`progress`] what it reports.
//! [`prompt`] and [`summary`] are the words it gets and gives back, and [`pool`] limits how many work at once.

mod child;
mod invocation;
mod parent;
mod pool;
mod progress;
mod prompt;
mod spawn;
mod summary;

use child::{Attendance, ParentLink};
pub(super) use child::{ParentState, SubAgent};
pub(super) use invocation::close;
pub(crate) use parent::{ChildReport, ParentQuery};
pub(super) use parent::{Children, close_card};
pub(crate) use pool::SubAgentPool;
pub(super) use progress::Progress;
pub(super) use spawn::{NewSubAgent, spawn};
