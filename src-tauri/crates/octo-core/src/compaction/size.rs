//! How much of a model's window a conversation takes.

use octo_protocol::{Block, Message, Usage};

/// Bytes of a token, as far as an estimate goes.
const TOKEN: u64 = 4;
/// What a picture takes, in tokens: that of a megapixel (the vendors' documentation gives width x height / 750).
const PICTURE: u64 = 1_400;
/// What a document takes, in tokens: five pages of 2,000 (the vendors speak of 1,500 to 3,000 a page), until the
/// provider's count says better.
const DOCUMENT: u64 = 10_000;

/// What a message takes, estimated, in tokens.
pub(crate) fn estimate(message: &Message) -> u64 {
    let bytes = |text: &str| text.len() as u64;
    let block = |block: &Block| match block {
        Block::Text { text }
        | Block::Summary { text, .. }
        | Block::Notice { text, .. }
        | Block::CommandsEnded { text, .. } => bytes(text) / TOKEN,
        Block::Reasoning { text, .. } => bytes(text) / TOKEN,
        Block::File { path } => bytes(path) / TOKEN,
        Block::Image { .. } => PICTURE,
        Block::Document { .. } => DOCUMENT,
        Block::ToolCall(call) => (bytes(&call.name) + bytes(&call.arguments)) / TOKEN + 10,
        Block::ToolResult(result) => bytes(&result.text) / TOKEN + 10 + PICTURE * result.images.len() as u64,
    };
    4 + message.blocks.iter().map(block).sum::<u64>()
}

/// The size of a conversation: what the provider counted at its last answer, and an estimate of what came after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    counted: u64,
    /// So many messages are in `counted`.
    messages: usize,
}

impl Size {
    /// As the store has it: `counted` was said with the last model's message that has ended.
    pub(crate) fn restored(counted: u64, context: &[Message]) -> Self {
        let last = context.iter().rposition(|message| message.meta.usage.is_some());
        Self { counted, messages: last.map_or(0, |last| last + 1) }
    }

    /// A model answered; its message is the last of so many. A provider that says nothing changes nothing.
    pub(crate) fn answered(&mut self, usage: Option<Usage>, messages: usize) {
        if let Some(usage) = usage.filter(|usage| usage.context() > 0) {
            *self = Self { counted: usage.context(), messages };
        }
    }

    /// The conversation was replaced by one of so many messages, of an estimated size.
    pub(crate) fn estimated(&mut self, tokens: u64, messages: usize) {
        *self = Self { counted: tokens, messages };
    }

    /// Now, in tokens. `fixed` is what tools and system prompt take, for a conversation nobody counted yet.
    pub(crate) fn now(self, context: &[Message], fixed: u64) -> u64 {
        let counted = if self.messages == 0 { fixed } else { self.counted };
        // A shorter conversation than was counted: a message was taken back, which is no more than it was.
        counted.saturating_add(context.iter().skip(self.messages).map(estimate).sum())
    }
}
