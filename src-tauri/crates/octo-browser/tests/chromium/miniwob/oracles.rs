//! oracles
use super::player::Player;
use futures::future::BoxFuture;

pub(super) type Oracle = for<'p> fn(&'p mut Player) -> BoxFuture<'p, Result<(), String>>;

pub(super) const ORACLES: &[(&str, Oracle)] = &[];
