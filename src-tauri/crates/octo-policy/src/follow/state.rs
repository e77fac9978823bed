//! The state of a line at one point: its directories and its variables.

use super::values::Value;
use crate::{judge::union, script::Join};
use std::collections::BTreeMap;

/// The directories a line may be in, relative to the one in which it started, and its variables.
#[derive(Clone)]
pub(super) struct State {
    /// The directories if the last command succeeded.
    pub(super) after_success: Vec<String>,
    /// The directories if the last command failed.
    pub(super) after_failure: Vec<String>,
    /// The possible values of each variable that the line sets.
    pub(super) variables: BTreeMap<String, Vec<Value>>,
}

impl Default for State {
    fn default() -> Self {
        Self { after_success: vec![".".to_owned()], after_failure: Vec::new(), variables: BTreeMap::new() }
    }
}

impl State {
    /// Returns the directories in which a pipeline joined by `join` runs.
    pub(super) fn directories(&self, join: Join) -> Vec<String> {
        match join {
            Join::Sequence => union(&self.after_success, &self.after_failure),
            Join::And => self.after_success.clone(),
            Join::Or => self.after_failure.clone(),
        }
    }

    /// Makes the values of variables unknown.
    pub(super) fn forget(&mut self, names: Vec<String>) {
        self.variables.extend(names.into_iter().map(|name| (name, vec![Value::Unknown])));
    }

    pub(super) fn set_directories(&mut self, directories: Vec<String>) {
        self.after_failure.clone_from(&directories);
        self.after_success = directories;
    }
}
