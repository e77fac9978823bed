//! How pictures and documents are sent to the model: as they are, or by name once the provider has refused
//! them.

use super::{state::Session, step::Step};
use octo_llm::{ErrorClass, ProviderError};
use octo_protocol::{ApiError, Block, Event};

/// How the conversation's pictures and documents are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AttachmentMode {
    /// As they are, if the model accepts them.
    #[default]
    Sent,
    /// By name: the provider refused the request that contained them. It would refuse every later one as well,
    /// because they stay in the conversation.
    NameOnly,
}

impl Session {
    /// Reacts to a request refused as invalid and returns whether it is sent again without attachments. This
    /// lasts until another model is chosen or the session is reopened; then attachments are tried again.
    pub(super) fn retry_without_attachments(&mut self, error: &ProviderError, step: &mut Step) -> bool {
        let was_sent = self.attachment_mode == AttachmentMode::Sent
            && self.conversation.iter().any(|message| {
                message.blocks.iter().any(|block| match block {
                    Block::Image { .. } | Block::Document { .. } => true,
                    Block::ToolResult(result) => !result.images.is_empty(),
                    Block::Text { .. }
                    | Block::Reasoning { .. }
                    | Block::File { .. }
                    | Block::ToolCall(_)
                    | Block::Summary { .. }
                    | Block::CommandsEnded { .. }
                    | Block::Notice { .. } => false,
                })
            });
        if error.class != ErrorClass::Invalid || !was_sent {
            return false;
        }
        self.attachment_mode = AttachmentMode::NameOnly;
        let notice = ApiError::new("attach.refused").detail(&error.message);
        step.event(Event::CommandAnswered { note: notice });
        true
    }
}
