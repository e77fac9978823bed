//! The person's own, visible Chrome over the DevTools protocol: found and attached to without taking anything
//! over, read as a snapshot of few tokens, and acted upon with real input.

pub mod safety;
