//! How much of a model's window a conversation takes.

use octo_protocol::{Block, Message, Usage};

/// Estimated bytes per token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens of a picture: those of one megapixel (the vendors' documentation gives width x height / 750).
const PICTURE_TOKENS: u64 = 1_400;
/// Tokens of a document: five pages of 2,000 (the vendors give 1,500 to 3,000 per page), until the provider's
/// count replaces the estimate.
const DOCUMENT_TOKENS: u64 = 10_000;

/// Estimates the tokens of a message.
pub(crate) fn estimate(message: &Message) -> u64 {
    let bytes = |text: &str| text.len() as u64;
    let block = |block: &Block| match block {
        Block::Text { text }
        | Block::Summary { text, .. }
        | Block::Notice { text, .. }
        | Block::CommandsEnded { text, .. } => bytes(text) / BYTES_PER_TOKEN,
        Block::Reasoning { text, .. } => bytes(text) / BYTES_PER_TOKEN,
        Block::File { path } => bytes(path) / BYTES_PER_TOKEN,
        Block::Image { .. } => PICTURE_TOKENS,
        Block::Document { .. } => DOCUMENT_TOKENS,
        Block::ToolCall(call) => (bytes(&call.name) + bytes(&call.arguments)) / BYTES_PER_TOKEN + 10,
        Block::ToolResult(result) => {
            bytes(&result.text) / BYTES_PER_TOKEN + 10 + PICTURE_TOKENS * result.images.len() as u64
        }
    };
    4 + message.blocks.iter().map(block).sum::<u64>()
}

/// The size of a conversation: the provider's count at its last answer plus an estimate of everything added
/// since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextSize {
    counted_tokens: u64,
    /// Number of messages included in `counted_tokens`.
    messages: usize,
}

impl ContextSize {
    /// Restores the size from the store: `counted_tokens` was reported with the last complete message of the model.
    pub(crate) fn restored(counted_tokens: u64, context: &[Message]) -> Self {
        let last_counted = context.iter().rposition(|message| message.meta.usage.is_some());
        Self { counted_tokens, messages: last_counted.map_or(0, |index| index + 1) }
    }

    /// Records the usage of an answer, whose message is the last of `messages`. Changes nothing if the provider
    /// reported no usage.
    pub(crate) fn record_answer(&mut self, usage: Option<Usage>, messages: usize) {
        if let Some(usage) = usage.filter(|usage| usage.context_tokens() > 0) {
            *self = Self { counted_tokens: usage.context_tokens(), messages };
        }
    }

    /// Records that the conversation was replaced by one with `messages` messages and an estimated size.
    pub(crate) fn record_estimate(&mut self, tokens: u64, messages: usize) {
        *self = Self { counted_tokens: tokens, messages };
    }

    /// Returns the current size in tokens. `fixed_tokens` is the size of tools and system prompt, used while no count
    /// exists.
    pub(crate) fn now(self, context: &[Message], fixed_tokens: u64) -> u64 {
        let counted_tokens = if self.messages == 0 { fixed_tokens } else { self.counted_tokens };
        // If a message was taken back the conversation is shorter than counted; the count is then an upper
        // bound.
        counted_tokens.saturating_add(context.iter().skip(self.messages).map(estimate).sum())
    }
}
