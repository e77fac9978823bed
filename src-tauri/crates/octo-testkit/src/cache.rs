//! Providers' prompt caches in the small, so that usage figures mean something and a harness can be measured
//! without a provider.
//!
//! A [`CachePolicy`] says what a provider does, as data; a [`CacheSimulator`] does it to the requests as they
//! were sent, of any protocol. It names why less was read than could have been ([`MissReason`]). A token is four
//! bytes of a block's JSON without its markers. The clock is the test's.

mod diagnosis;
mod policy;
mod segments;
mod simulator;
#[cfg(test)]
mod tests;

pub use diagnosis::{MissReason, SeenMiss};
pub use policy::{
    CachePolicy, CachePrices, Certainty, EffortKey, Lives, Lookback, Origin, Routing, Visibility, Writing,
};
pub use simulator::{CacheSimulator, Served};
