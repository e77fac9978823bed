//! Where a line is at one point, and what its variables may be.

use super::values::Value;
use crate::{judge::union, script::Joint};
use std::collections::BTreeMap;

/// The directory of a line and the values of its variables.
#[derive(Clone)]
pub(super) struct State {
    /// After a success.
    pub(super) success: Vec<String>,
    /// After a failure.
    pub(super) failure: Vec<String>,
    pub(super) variables: BTreeMap<String, Vec<Value>>,
}

impl Default for State {
    fn default() -> Self {
        Self { success: vec![".".to_owned()], failure: Vec::new(), variables: BTreeMap::new() }
    }
}

impl State {
    pub(super) fn here(&self, joint: Joint) -> Vec<String> {
        match joint {
            Joint::Sequence => union(&self.success, &self.failure),
            Joint::And => self.success.clone(),
            Joint::Or => self.failure.clone(),
        }
    }

    /// Treats the values of variables as unknown from here on.
    pub(super) fn forget(&mut self, names: Vec<String>) {
        self.variables.extend(names.into_iter().map(|name| (name, vec![Value::Any])));
    }

    pub(super) fn set_places(&mut self, places: Vec<String>) {
        self.failure.clone_from(&places);
        self.success = places;
    }
}
