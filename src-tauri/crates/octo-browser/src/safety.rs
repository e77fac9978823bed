//! The safety rules: where a turn may act, which actions need a question, how page content reaches the model,
//! and how secrets are typed. Pure: no clock, no disk, no browser. Anything unknown leads to a question or a
//! refusal.
//!
//! Callers that work in a page apply them as follows:
//!
//! - Before a navigation: [`PageAddress::of`] the model's address (or that of the history entry), [`SiteGrants::check`]
//!   with [`PageStep::Navigate`], and [`judge`] with [`PageAction::Navigate`] (an address can carry text read
//!   elsewhere).
//! - Whenever a main frame shows another document: [`PageAddress::of_frame`], then [`SiteGrants::check`] with
//!   [`PageStep::Commit`]. A redirect moved the tab, and nothing may be read or done there before the new
//!   document has its own verdict.
//! - Content that is read is attributed to its site, wrapped in a [`block`], and recorded with
//!   [`PageMemory::record_text`].
//! - Before an action: check the page's location as after a commit, and only then the action's consequences
//!   with [`judge`]; a page that is not granted is not inspected at all.
//! - Before text is typed: [`split_secrets`] finds secret placeholders, [`SiteBoundSecret::release`] decides whether the
//!   secret may be typed there, and [`Redactor::learn`] receives its value before the page does.

mod address;
mod block;
mod field;
mod fold;
mod grants;
mod leak;
mod memory;
mod redact;
mod secret;
mod sink;
mod site;
mod visible;
mod words;

pub use address::{ForbiddenReason, PageAddress};
pub use block::{PageBlock, PageText, PageTextKind, block, disarm, parse_blocks};
pub use field::{EditingKind, Element, FieldFacts, FormFacts, OwningForm, SensitiveData};
pub use grants::{
    GrantLifetime, GrantScope, PageStep, RecordedGrant, SiteGrants, SiteKind, SiteQuestion, SiteVerdict,
    StepPermit, StepRefusal, TabNumber,
};
pub use leak::AddressLeak;
pub use memory::{PageMemory, SiteQuote};
pub use redact::Redactor;
pub use secret::{
    SecretFault, SecretName, SecretRelease, SecretTarget, SiteBoundSecret, TypedPart, split_secrets,
};
pub use sink::{
    ActionContext, ActionTarget, JudgedDialog, Judgement, PageAction, Sink, SinkQuestion, TypingMode, judge,
};
pub use site::{Origin, Scheme, Site, SiteParseError};
pub(crate) use visible::is_invisible;
pub use words::ControlEffect;
