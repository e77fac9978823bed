//! Small numbers for tabs, for use by the model.

use super::TabOwner;
use crate::cdp::browser_protocol::target::TargetId;
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

/// A tab's number. Never reused while the app runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TabNumber(pub u32);

impl fmt::Display for TabNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The numbers assigned so far. They outlive a connection, because a browser's tabs keep their target ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct TabNumbers(Arc<Mutex<AssignedNumbers>>);

#[derive(Debug, Default)]
struct AssignedNumbers {
    numbers: HashMap<TargetId, TabNumber>,
    own_tabs: HashSet<TargetId>,
    last_number: u32,
}

impl TabNumbers {
    pub(crate) fn number(&self, target: &TargetId) -> TabNumber {
        self.lock().number(target)
    }

    /// Returns the numbers of all given targets, in the same order.
    pub(crate) fn assign<'a>(&self, targets: impl Iterator<Item = &'a TargetId>) -> Vec<TabNumber> {
        let mut numbers = self.lock();
        targets.map(|target| numbers.number(target)).collect()
    }

    pub(crate) fn record_own(&self, target: &TargetId) {
        self.lock().own_tabs.insert(target.clone());
    }

    pub(crate) fn owner(&self, target: &TargetId) -> TabOwner {
        if self.lock().own_tabs.contains(target) { TabOwner::Octo } else { TabOwner::Person }
    }

    fn lock(&self) -> MutexGuard<'_, AssignedNumbers> {
        // No code under this lock can panic half-way.
        self.0.lock()
    }
}

impl AssignedNumbers {
    fn number(&mut self, target: &TargetId) -> TabNumber {
        if let Some(number) = self.numbers.get(target) {
            return *number;
        }
        self.last_number += 1;
        let number = TabNumber(self.last_number);
        self.numbers.insert(target.clone(), number);
        number
    }
}
