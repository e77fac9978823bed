//! Simulates providers' prompt caches on a small scale, so that usage figures are meaningful and a harness can
//! be measured without a provider.
//!
//! A [`CachePolicy`] describes a provider's cache as data; a [`CacheSimulator`] applies it to the requests as
//! they were sent, in any protocol. It reports why a request read less than it could have ([`MissReason`]). A
//! token is four bytes of a block's JSON without its markers. The test drives the clock.

mod diagnosis;
mod policy;
pub(crate) mod segments;
mod simulator;
#[cfg(test)]
mod tests;

pub(crate) use segments::Segment;

pub use diagnosis::{CacheReadMiss, MissReason};
pub use policy::{
    CachePolicy, CachePrices, CacheWriteMode, EffortKey, EntryLifetimes, HitCertainty, LifetimeOrigin,
    Lookback, Routing, Visibility,
};
pub use simulator::{CacheSimulator, ServedRequest};
