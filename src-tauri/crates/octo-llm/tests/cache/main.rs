//! The cache planner against the simulated providers, through the real codecs.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod policies;
mod rules;
mod served;
mod workload;
