//! Events of a model's stream.

use crate::BilledUsage;
use octo_protocol::Block;

/// One event of a stream. Block indexes count from 0 without gaps, regardless of the wire's own numbers.
///
/// A stream is good only if it ends with [`ModelEvent::Finished`]; otherwise it ends with an error.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// A block began.
    BlockStarted {
        /// Index of the block.
        block: u32,
        /// Kind of the block.
        kind: BlockKind,
    },
    /// A block grew.
    Delta {
        /// Index of the block.
        block: u32,
        /// The new text (or new arguments of a call).
        text: String,
    },
    /// A block is complete; blocks finish in order. Its `ToolCall` carries a fresh [`octo_protocol::CallId`].
    BlockFinished {
        /// Index of the block.
        block: u32,
        /// The block.
        content: Block,
    },
    /// Cost of the call so far; later figures replace earlier ones.
    Usage(BilledUsage),
    /// The answer is over.
    Finished(FinishReason),
}

/// Kind of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Text.
    Text,
    /// Reasoning.
    Reasoning,
    /// A call of the named tool.
    ToolCall {
        /// The name as the model wrote it.
        name: String,
    },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model finished, or waits for tool results.
    Stop,
    /// The output limit was reached.
    Length,
    /// The provider refused to continue.
    Refused,
}
