//! Sub-agents: sessions that work on one task for another session, their parent.
//!
//! [`invocation`] starts a sub-agent for a call of the parent and follows it, [`parent`] is the parent's side,
//! [`spawn`] creates the sub-agent's session, [`control`] ends its work, [`child`] is the session's state as a sub-agent, and [`progress`]
//! its reports. [`prompt`] and [`summary`] contain the texts it receives and returns, and [`pool`] limits how
//! many work at once.

mod child;
mod control;
mod invocation;
mod parent;
mod pool;
mod progress;
mod prompt;
mod spawn;
mod summary;

use child::{Attendance, ParentLink};
pub(super) use child::{ParentState, SubAgent};
pub(crate) use parent::{ChildReport, ParentQuery};
pub(super) use parent::{Children, close_card};
pub(crate) use pool::SubAgentPool;
pub(super) use progress::Progress;
pub(super) use spawn::{SubAgentSpec, spawn};
