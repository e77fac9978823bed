//! The requests of a session to a model.

use super::{attached::AttachmentMode, prefix::Prefix, state::Session};
use crate::{
    base::Base,
    models::{ModelConnection, Models},
};
use octo_llm::{Layout, MarkerPolicy, ModelCard, ModelRequest, ProviderError, SentRequest, plan};
use octo_protocol::{BilledCall, Effort, Message, ModelId, SessionId};
use std::sync::Arc;

/// The common part of a session's requests: the frozen prefix and the recipient.
pub(super) struct RequestBase {
    base: Arc<Base>,
    models: Arc<Models>,
    /// The owner of the prefix: for a sub-agent its parent.
    session: SessionId,
    model: Option<ModelId>,
    prefix: Prefix,
    effort: Option<Effort>,
    answering_model: AnsweringModel,
    attachment_mode: AttachmentMode,
}

/// The model that answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnsweringModel {
    Model,
    Demo,
}

/// A request's messages.
pub(super) struct RequestMessages {
    /// The paired messages.
    messages: Vec<Message>,
    /// Number of messages at the end that are not part of the next request.
    temporary: usize,
    /// Maximum tokens of the answer; `None` for the model's own limit.
    max_output: Option<u64>,
    to: RequestRecipient,
}

/// The recipient of a request and its prefix.
enum RequestRecipient {
    /// The session's model, with the session's tools and system prompt.
    Session,
    /// A separate model with its own system prompt and no tools; the session's cache contains none of it.
    Separate {
        /// The model.
        model: ModelId,
        /// The system prompt.
        system: &'static str,
    },
}

impl RequestMessages {
    /// Creates a request with the conversation, which the answer continues.
    pub(super) fn continuing(messages: Vec<Message>) -> Self {
        Self { messages, temporary: 0, max_output: None, to: RequestRecipient::Session }
    }

    /// Creates a request with the conversation and one more message, which no later request contains.
    pub(super) fn with_temporary(messages: Vec<Message>, max_output: u64) -> Self {
        Self { messages, temporary: 1, max_output: Some(max_output), to: RequestRecipient::Session }
    }

    /// Creates a question to another model, with its own system prompt.
    pub(super) fn separate(
        messages: Vec<Message>,
        model: ModelId,
        system: &'static str,
        max_output: u64,
    ) -> Self {
        Self {
            messages,
            temporary: 0,
            max_output: Some(max_output),
            to: RequestRecipient::Separate { model, system },
        }
    }

    /// Returns the recipient model, if it is not the session's.
    pub(super) fn model(&self) -> Option<ModelId> {
        match self.to {
            RequestRecipient::Session => None,
            RequestRecipient::Separate { model, .. } => Some(model),
        }
    }
}

impl Session {
    /// Returns the common part of this session's requests, as of now.
    pub(super) fn outgoing(&self) -> RequestBase {
        RequestBase {
            base: self.runtime.base.clone(),
            models: self.runtime.services.models.clone(),
            session: self.root(),
            model: self.model(),
            prefix: self.prefix.clone(),
            effort: self.info.effort,
            attachment_mode: self.attachment_mode,
            answering_model: if self.is_counted() { AnsweringModel::Model } else { AnsweringModel::Demo },
        }
    }
}

impl RequestBase {
    /// Adapts it to the recipient.
    pub(super) fn to(self, request: &RequestMessages) -> Self {
        match request.to {
            RequestRecipient::Session => self,
            RequestRecipient::Separate { model, system } => {
                Self { model: Some(model), prefix: Prefix::system_only(system), effort: None, ..self }
            }
        }
    }

    /// Connects to the recipient.
    pub(super) async fn connect(&self) -> Result<ModelConnection, ProviderError> {
        match self.answering_model {
            AnsweringModel::Demo => Ok(self.models.demo()),
            AnsweringModel::Model => self.models.connect(self.model).await,
        }
    }

    /// Builds the request.
    pub(super) async fn request(
        self,
        connection: &ModelConnection,
        request: RequestMessages,
    ) -> ModelRequest {
        let images = self.base.images_of(&request.messages).await;
        let model = connection.model.clone();
        ModelRequest { images: Arc::new(images), ..self.without_pictures(model, &connection.card, request) }
    }

    /// Reconstructs the request of a call in the ledger, given the conversation before it, in the detail a
    /// cache knows.
    pub(super) fn reconstruct_sent(
        self,
        line: &BilledCall,
        card: &ModelCard,
        messages: Vec<Message>,
    ) -> SentRequest {
        let base = Self { model: line.model, ..self };
        SentRequest::new(
            &base.without_pictures(line.name.clone(), card, RequestMessages::continuing(messages)),
            line.at,
        )
    }

    fn without_pictures(self, model: String, card: &ModelCard, request: RequestMessages) -> ModelRequest {
        let RequestMessages { messages, temporary, max_output, to } = request;
        let effort = match to {
            RequestRecipient::Session => effective_effort(self.effort, card),
            // A model that reasons by default would use up a short answer for it.
            RequestRecipient::Separate { .. } => card.efforts.first().copied(),
        };
        let (system, tools) = self.prefix.into_parts();
        let with_pictures = self.attachment_mode == AttachmentMode::Sent;
        let layout = Layout::new(&messages).for_session(self.session).without_last(temporary);
        let layout = self.model.map_or(layout, |model| layout.for_model(model));
        ModelRequest {
            model,
            system,
            tools,
            cache: plan(&layout, &card.caching, &MarkerPolicy::default()),
            messages,
            images: Arc::default(),
            vision: with_pictures && card.vision,
            documents: with_pictures && card.documents,
            max_output: max_output.unwrap_or(card.max_output).min(card.max_output),
            effort,
        }
    }
}

/// Returns the effort to request: the nearest supported level that does not exceed the requested one, or the lowest of
/// the model. A model known to support none refuses a request with an effort; an unknown model may accept it.
fn effective_effort(effort: Option<Effort>, card: &ModelCard) -> Option<Effort> {
    let effort = effort?;
    if !card.known {
        return Some(effort);
    }
    card.efforts.iter().rev().find(|supported| **supported <= effort).or(card.efforts.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::Protocol;

    #[test]
    fn a_wish_becomes_what_the_model_has() {
        let card = |model_effort, efforts: &[Effort]| ModelCard {
            known: model_effort,
            efforts: efforts.to_vec(),
            ..ModelCard::unknown(Protocol::Anthropic)
        };
        let usual = [Effort::Low, Effort::Medium, Effort::High];
        for (wish, card, expected) in [
            (None, card(true, &usual), None),
            (Some(Effort::Max), card(true, &usual), Some(Effort::High)),
            (Some(Effort::Off), card(true, &usual), Some(Effort::Low)),
            (Some(Effort::Medium), card(true, &usual), Some(Effort::Medium)),
            (Some(Effort::High), card(true, &[]), None),
            (Some(Effort::High), card(false, &[]), Some(Effort::High)),
        ] {
            assert_eq!(effective_effort(wish, &card), expected, "{wish:?}");
        }
    }
}
