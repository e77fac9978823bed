//! How servers differ from their protocol's common form.

use crate::{CacheKind, ModelCard};

/// How a server differs from its protocol's common form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// Field that limits the answer's length (OpenAI Chat).
    pub output_limit: OutputLimit,
    /// Treatment of assistant messages without reasoning (OpenAI Chat).
    pub padding: ReasoningPadding,
    /// Treatment of reasoning without a signature (Anthropic).
    pub unsigned: UnsignedReasoning,
    /// Headers that carry the key (Anthropic).
    pub key_headers: KeyHeaders,
    /// Field that names the conversation.
    pub cache_key: CacheKeyField,
    /// Form of cache markers (OpenAI Chat).
    pub markers: MarkerStyle,
    /// Whether the model takes cache breakpoints (OpenAI Responses, OpenAI Chat).
    pub breakpoints: BreakpointSupport,
    /// Whether reasoning is requested in a form that can be sent back (OpenAI Responses).
    pub reasoning_items: ReasoningItems,
    /// Whether calls must carry signatures (OpenAI Chat).
    pub signatures: CallSignatures,
}

/// Field that limits the answer's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputLimit {
    /// `max_tokens`, which nearly all servers support.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: OpenAI itself, whose reasoning models refuse the older field
    /// (API reference of `chat/completions`).
    MaxCompletionTokens,
}

/// Treatment of assistant messages without reasoning when they are sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningPadding {
    /// They carry an empty field once an earlier message of the conversation carried one.
    #[default]
    Following,
    /// They always carry the field: the server is known to require it (DeepSeek, Moonshot).
    Always,
}

/// Treatment of finished reasoning without a signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsignedReasoning {
    /// It is sent back unchanged: the server does not sign.
    #[default]
    Keep,
    /// It is not sent back: the server signs, and refuses reasoning it did not sign.
    Drop,
}

/// Headers that carry the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyHeaders {
    /// `x-api-key` alone.
    #[default]
    ApiKey,
    /// `x-api-key` and `authorization`: OpenRouter's Messages endpoint reads the latter.
    ApiKeyAndBearer,
}

/// Field that names the conversation, to route its requests to the cache they filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheKeyField {
    /// No known field. OpenAI Responses has one of its own and writes that.
    #[default]
    Unknown,
    /// `prompt_cache_key` (OpenAI's API reference).
    PromptCacheKey,
    /// `session_id`, which keeps a conversation with one of a router's providers (OpenRouter's guide to
    /// prompt caching, and the request schemas of its three protocols).
    SessionId,
}

/// Form of cache markers in a protocol that defines none.
///
/// With markers, content is always a list of parts: a marker must not change the bytes of the part it is
/// attached to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkerStyle {
    /// No known markers.
    #[default]
    Unknown,
    /// `cache_control` on a part of a message, as in Anthropic's protocol (OpenRouter, Qwen).
    CacheControl,
}

/// Whether the model takes cache breakpoints (`prompt_cache_breakpoint`: OpenAI, from GPT-5.6 on). A server's
/// name does not reveal this, so no host has it by default: code that knows the model must set it.
///
/// With breakpoints, everything that may carry one is always a list of parts, and the system prompt of a
/// Responses request is part of its input: a breakpoint must not change the bytes of the part it is attached
/// to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BreakpointSupport {
    /// Not known to take breakpoints.
    #[default]
    Unknown,
    /// Takes explicit breakpoints.
    Explicit,
}

/// Whether reasoning is requested in a form that can be sent back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningItems {
    /// Encrypted, since the server stores nothing.
    #[default]
    Encrypted,
    /// Not requested: a model that does not reason rejects the field ("Encrypted content is not supported with
    /// this model").
    Omitted,
}

/// Whether calls that are sent back must carry their original signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallSignatures {
    /// Signatures are sent back if present; none is required.
    #[default]
    Optional,
    /// Newer models refuse a conversation in which one is missing (Google's guide to thought signatures).
    Required,
}

impl Dialect {
    /// Returns the dialect of a known host, and the common form for any other. Hosts are compared in full.
    pub fn of_host(host: &str) -> Self {
        let common = Self::default();
        match host {
            "api.anthropic.com" => Self { unsigned: UnsignedReasoning::Drop, ..common },
            "api.openai.com" => Self {
                output_limit: OutputLimit::MaxCompletionTokens,
                cache_key: CacheKeyField::PromptCacheKey,
                ..common
            },
            "api.deepseek.com" | "api.moonshot.ai" | "api.moonshot.cn" => {
                Self { padding: ReasoningPadding::Always, ..common }
            }
            "openrouter.ai" => Self {
                key_headers: KeyHeaders::ApiKeyAndBearer,
                unsigned: UnsignedReasoning::Drop,
                cache_key: CacheKeyField::SessionId,
                markers: MarkerStyle::CacheControl,
                ..common
            },
            "dashscope.aliyuncs.com" | "dashscope-intl.aliyuncs.com" | "dashscope-us.aliyuncs.com" => {
                Self { markers: MarkerStyle::CacheControl, ..common }
            }
            "generativelanguage.googleapis.com" => Self { signatures: CallSignatures::Required, ..common },
            _ => common,
        }
    }

    /// Returns the dialect adjusted to a model with these facts.
    #[must_use]
    pub fn for_model(self, card: &ModelCard) -> Self {
        let breakpoints = match card.caching.kind {
            CacheKind::Breakpoints { .. } => BreakpointSupport::Explicit,
            CacheKind::None
            | CacheKind::Markers { .. }
            | CacheKind::Prefix { .. }
            | CacheKind::Units { .. }
            | CacheKind::Probabilistic { .. } => self.breakpoints,
        };
        let reasoning_items = if card.known && card.efforts.is_empty() {
            ReasoningItems::Omitted
        } else {
            self.reasoning_items
        };
        Self { breakpoints, reasoning_items, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;
    use octo_protocol::{Effort, Protocol};

    #[test]
    fn dialects_belong_to_whole_host_names() {
        let dialect = |address| Endpoint::new(Protocol::OpenaiChat, address, None).dialect;
        assert_eq!(dialect("https://api.openai.com/v1").output_limit, OutputLimit::MaxCompletionTokens);
        assert_eq!(dialect("https://api.openai.com.example/v1").output_limit, OutputLimit::MaxTokens);
        assert_eq!(dialect("https://api.deepseek.com").padding, ReasoningPadding::Always);
        assert_eq!(dialect("https://api.openai.com/v1").cache_key, CacheKeyField::PromptCacheKey);
        assert_eq!(dialect("https://openrouter.ai/api/v1").cache_key, CacheKeyField::SessionId);
        assert_eq!(dialect("https://openrouter.ai/api/v1").markers, MarkerStyle::CacheControl);
        assert_eq!(
            dialect("https://dashscope-intl.aliyuncs.com/compatible-mode/v1").markers,
            MarkerStyle::CacheControl
        );
        assert_eq!(dialect("https://host.example").cache_key, CacheKeyField::Unknown);
        assert_eq!(dialect("not an address"), Dialect::default());
    }

    #[test]
    fn a_models_facts_decide_what_its_server_cannot() {
        let common = Dialect::default();
        let unknown = ModelCard::unknown(Protocol::OpenaiResponses);
        assert_eq!(common.for_model(&unknown), common);
        let mut card = ModelCard { known: true, ..unknown };
        assert_eq!(common.for_model(&card).reasoning_items, ReasoningItems::Omitted);
        card.efforts = vec![Effort::Low];
        card.caching.kind = CacheKind::Breakpoints { limit: 3, lookback: 80, life_seconds: 1_800 };
        let found = common.for_model(&card);
        assert_eq!(found, Dialect { breakpoints: BreakpointSupport::Explicit, ..common });
    }
}
