//! Token usage of model calls.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use ts_rs::TS;

/// Tokens of one or more model calls. The three input counts are disjoint: their sum is the whole input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Usage {
    /// Input tokens paid in full.
    #[ts(type = "number")]
    pub input: u64,
    /// Input tokens read from the provider's cache.
    #[ts(type = "number")]
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    #[ts(type = "number")]
    pub cache_write: u64,
    /// Output tokens, reasoning included.
    #[ts(type = "number")]
    pub output: u64,
}

impl Usage {
    /// Returns all input tokens, however they were billed.
    ///
    /// Saturates, like all sums here: a server may report nonsense.
    pub fn total_input(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Returns the tokens that the conversation uses in the model's window after the call: everything sent, and
    /// the answer.
    pub fn context_tokens(&self) -> u64 {
        self.total_input().saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
    }
}
