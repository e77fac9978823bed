//! The safety rules: where a task may be, what asks before it is done, what a page can tell the model, and how
//! secrets are typed. Pure: no clock, no disk, no browser. What is not known asks or is refused.
//!
//! How they are asked, by whoever works in a page:
//!
//! 1. Before a navigation: [`Address::of`] what the model wrote (or of the entry of the history that is gone to),
//!    [`Grants::check`] with [`Step::Navigate`], and [`judge`] with [`Action::Navigate`] (an address can carry what was
//!    read elsewhere).
//! 2. Whenever a main frame has become another document: [`Address::of_frame`], then [`Grants::check`] with
//!    [`Step::Commit`]. A redirect moved the tab, and nothing may be read or done there before its own verdict.
//! 3. What is read is told of the place it was read at, goes into a [`block`], and into [`Memory::shown`].
//! 4. Before an action: where the page is, as in 2, and only then what the action would set off, with [`judge`]; of a
//!    page that is not granted nothing is looked at.
//! 5. Before text is typed: [`pieces`] finds what stands for a secret, [`BoundSecret::release`] says whether it may be
//!    typed there, and [`Redactor::learn`] is told its value before the page is.

mod address;
mod block;
mod field;
mod fold;
mod grants;
mod leak;
mod memory;
mod nearness;
mod redact;
mod secret;
mod sink;
mod site;
mod visible;
mod words;

pub use address::{Address, Forbidden};
pub use block::{PageBlock, PageText, Said, block, disarm, shown_in};
pub use field::{Editing, Element, Field, Form, InForm, Sensitive};
pub use grants::{
    Grants, Kept, Lifetime, NoEntry, Pass, PlaceKind, Scope, SiteQuestion, Step, TabNumber, Verdict,
};
pub use leak::Leak;
pub use memory::{Memory, Quote};
pub use nearness::{Nearness, nearness_of};
pub use redact::Redactor;
pub use secret::{BoundSecret, Piece, Release, SecretFault, SecretName, SecretTarget, pieces};
pub use sink::{Act, Action, Dialog, Judgement, Keys, Sink, SinkQuestion, Target, judge};
pub use site::{NoSite, Origin, Scheme, Site};
pub(crate) use visible::is_invisible;
pub use words::Deed;
