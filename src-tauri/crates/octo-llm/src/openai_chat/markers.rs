//! Sets cache markers on the parts of messages, for servers that take them.

use crate::{BreakpointSupport, CacheLifetime, Dialect, MarkerStyle, ModelRequest};
use serde_json::{Value, json};

/// Maximum markers in a request (Anthropic's and Qwen's documentation).
const MAX_MARKERS: usize = 4;
/// Maximum explicit breakpoints in a request, in addition to the server's own (OpenAI's API reference).
const MAX_BREAKPOINTS: usize = 3;

/// Shape of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentShape {
    /// Plain text if there is only text, since many servers take nothing else; parts if there are pictures.
    Plain,
    /// Always parts, which a marker does not change.
    Parts,
}

impl ContentShape {
    pub(super) fn of_dialect(dialect: &Dialect) -> Self {
        match (dialect.markers, dialect.breakpoints) {
            (MarkerStyle::Unknown, BreakpointSupport::Unknown) => Self::Plain,
            (MarkerStyle::CacheControl, _) | (_, BreakpointSupport::Explicit) => Self::Parts,
        }
    }
}

/// The markers of a request.
pub(super) struct MarkerPositions {
    kind: MarkerKind,
    fixed: Option<CacheLifetime>,
    messages: Vec<(usize, CacheLifetime)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkerKind {
    None,
    CacheControl,
    Breakpoint,
}

impl MarkerPositions {
    /// Selects the markers of a request. If there are too many, the last ones are worth most.
    pub(super) fn of_request(request: &ModelRequest, dialect: &Dialect) -> Self {
        let (kind, limit) = match (dialect.markers, dialect.breakpoints) {
            (MarkerStyle::CacheControl, _) => (MarkerKind::CacheControl, MAX_MARKERS),
            (MarkerStyle::Unknown, BreakpointSupport::Explicit) => (MarkerKind::Breakpoint, MAX_BREAKPOINTS),
            (MarkerStyle::Unknown, BreakpointSupport::Unknown) => (MarkerKind::None, 0),
        };
        let fixed = request.cache.fixed;
        let positions = request.cache.messages.iter().copied();
        let positions = positions.filter(|(index, _)| *index < request.messages.len());
        let messages = positions.rev().take(limit.saturating_sub(usize::from(fixed.is_some()))).collect();
        Self { kind, fixed, messages }
    }

    /// Marks the end of the system prompt, which also covers the tools before it.
    pub(super) fn mark_fixed(&self, messages: &mut [Value]) {
        if let Some(lifetime) = self.fixed {
            self.mark_last_part(messages, lifetime);
        }
    }

    /// Marks the end of the wire messages that one of Octo's messages became.
    pub(super) fn mark_message(&self, index: usize, messages: &mut [Value]) {
        if let Some((_, lifetime)) = self.messages.iter().find(|(position, _)| *position == index) {
            self.mark_last_part(messages, *lifetime);
        }
    }

    /// Adds only a field: a marker never changes content. OpenAI allows no breakpoints on the model's messages.
    fn mark_last_part(&self, messages: &mut [Value], lifetime: CacheLifetime) {
        let (field, marker) = match (self.kind, lifetime) {
            (MarkerKind::None, _) => return,
            (MarkerKind::CacheControl, CacheLifetime::FiveMinutes) => {
                ("cache_control", json!({ "type": "ephemeral" }))
            }
            (MarkerKind::CacheControl, CacheLifetime::Hour) => {
                ("cache_control", json!({ "type": "ephemeral", "ttl": "1h" }))
            }
            (MarkerKind::Breakpoint, _) => ("prompt_cache_breakpoint", json!({ "mode": "explicit" })),
        };
        for message in messages.iter_mut().rev() {
            let said_by_model = message.get("role").and_then(Value::as_str) == Some("assistant");
            let parts = message.get_mut("content").and_then(Value::as_array_mut);
            // `cache_control` is allowed only on text (OpenRouter's guide to prompt caching).
            let takes = |part: &&mut Value| self.kind == MarkerKind::Breakpoint || part.get("text").is_some();
            let part = parts.and_then(|parts| parts.iter_mut().rev().find(takes));
            let part = part.and_then(Value::as_object_mut);
            match part {
                Some(part) if !(said_by_model && self.kind == MarkerKind::Breakpoint) => {
                    part.insert(field.to_owned(), marker);
                    return;
                }
                _ => {}
            }
        }
    }
}
