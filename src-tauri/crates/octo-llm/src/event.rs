//! What a model's stream says.

use crate::Billed;
use octo_protocol::Block;

/// One thing a stream said. Block indexes count from 0 without gaps, whatever the wire's own numbers are.
///
/// A stream is good only if it ends with [`ModelEvent::Finished`]; a stream that ends without it ends with
/// an error instead.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// A block began.
    BlockStarted {
        /// Its place.
        block: u32,
        /// What it is.
        kind: BlockKind,
    },
    /// A block grew.
    Delta {
        /// Its place.
        block: u32,
        /// The new text (or new arguments of a call).
        text: String,
    },
    /// A block is whole; blocks finish in their order. Its `ToolCall` carries a fresh [`octo_protocol::CallId`].
    BlockFinished {
        /// Its place.
        block: u32,
        /// The block.
        content: Block,
    },
    /// What the call cost so far; later figures replace earlier ones.
    Usage(Billed),
    /// The answer is over.
    Finished(FinishReason),
}

/// What a block is.
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
    /// The model was done, or waits for tool results.
    Stop,
    /// The output limit was reached.
    Length,
    /// The provider refused to go on.
    Refused,
}
