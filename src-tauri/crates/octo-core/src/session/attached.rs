//! How pictures and documents go to the model: as they are, or by name once the provider refused them.

use super::{state::Session, step::Step};
use octo_llm::{ErrorClass, ProviderError};
use octo_protocol::{ApiError, Block, Event};

/// How pictures and documents of the conversation are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Attached {
    /// As they are, where the model takes such.
    #[default]
    Shown,
    /// By name: the provider refused the request that held them. It would refuse every later one as well, for they
    /// stay in the conversation.
    Named,
}

impl Session {
    /// A request was refused as wrong: whether it is made again without what was attached. Until another model is
    /// chosen or the session is opened anew; then it is tried as it is once more.
    pub(super) fn leaves_attached_out(&mut self, error: &ProviderError, step: &mut Step) -> bool {
        let shown = self.attached == Attached::Shown
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
        if error.class != ErrorClass::Invalid || !shown {
            return false;
        }
        self.attached = Attached::Named;
        let note = ApiError::new("attach.refused").detail(&error.message);
        step.event(Event::CommandAnswered { note });
        true
    }
}
