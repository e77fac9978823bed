//! Estimates how much of a request the cache should have served, and explains a shortfall. Pure.
//!
//! The baseline is a conversation that only grew: a model's call leaves entries in the cache that its next call
//! reads. [`expected`] computes that amount from the usage the provider reported for the previous call; a cause
//! of loss (a changed tool, a pause) is not subtracted but named by [`explain`].

use crate::{CacheKind, Caching, ModelRequest};
use octo_protocol::{Block, CacheMiss, Effort, Millis, Role, Usage};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Estimated bytes of a token.
const BYTES_PER_TOKEN: u64 = 4;
/// Share of the expected tokens below which a shortfall is ignored: providers round, and templates add a
/// little.
const TOLERANCE: f64 = 0.02;
/// The same tolerance when the expectation is itself estimated.
const ROUGH_TOLERANCE: f64 = 0.5;

/// A small digest of a request, enough to determine later which part changed. Keep the last digest for each
/// model that a session calls: after a switch away and back, the request is compared with the last digest of
/// that model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentRequest {
    /// The vendor's name of the model.
    pub model: String,
    /// Requested reasoning effort; some providers keep a cache for each.
    pub effort: Option<Effort>,
    /// Digest of the tools.
    pub tools: RequestPiece,
    /// Digest of the system prompt.
    pub system: RequestPiece,
    /// Digests of the messages.
    pub messages: Vec<RequestPiece>,
    /// Message (by index) that the last marker followed.
    #[serde(rename = "marked")]
    pub last_marker: Option<usize>,
    /// Last message (by index) on the person's side, where providers with breakpoints set one themselves.
    pub last_said: Option<usize>,
    /// Start of the request. The lifetime of entries counts from here.
    pub started_at: Millis,
    /// Usage that the provider billed; `None` until it is reported.
    pub usage: Option<Usage>,
}

/// Digest of a part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestPiece {
    /// First bits of its hash.
    pub hash: u64,
    /// Estimated tokens.
    pub tokens: u64,
}

impl SentRequest {
    /// Digests a request that begins now.
    pub fn new(request: &ModelRequest, started_at: Millis) -> Self {
        let mut tools = RequestHasher::default();
        for tool in request.tools.iter() {
            tools.text(&tool.name).text(&tool.description).text(&tool.parameters.to_string());
        }
        let mut system = RequestHasher::default();
        system.text(&request.system);
        let messages = request.messages.iter().map(|message| {
            let mut digest = RequestHasher::default();
            digest.text(match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            });
            message.blocks.iter().for_each(|block| digest.block(request, block));
            digest.piece()
        });
        Self {
            model: request.model.clone(),
            effort: request.effort,
            tools: tools.piece(),
            system: system.piece(),
            messages: messages.collect(),
            last_marker: request.cache.messages.last().map(|marker| marker.0),
            last_said: request.messages.iter().rposition(|message| message.role == Role::User),
            started_at,
            usage: None,
        }
    }

    /// Sets the usage that the provider billed.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Returns how many of its messages the cache contains after it, and the estimated tokens up to there.
    fn cached_prefix(&self, caching: &Caching) -> (usize, u64) {
        let messages = match caching.kind {
            CacheKind::None => return (0, 0),
            CacheKind::Markers { .. } => self.last_marker.map_or(0, |index| index + 1),
            CacheKind::Breakpoints { .. } => {
                self.last_marker.max(self.last_said).map_or(0, |index| index + 1)
            }
            CacheKind::Prefix { .. } | CacheKind::Units { .. } | CacheKind::Probabilistic { .. } => {
                self.messages.len()
            }
        };
        let prefix_tokens: u64 = self.messages.iter().take(messages).map(|segment| segment.tokens).sum();
        (messages, self.tools.tokens + self.system.tokens + prefix_tokens)
    }
}

/// Cache read that a request should have achieved if the conversation only grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedRead {
    /// Number of tokens.
    pub tokens: u64,
    /// Basis of the figure.
    pub basis: Basis,
    /// Number of messages it covers.
    pub messages: usize,
    /// Lifetime of the covered entries without a read; `None` if unknown.
    #[serde(rename = "life")]
    pub lifetime: Option<Duration>,
    /// Length of the shortest prefix the provider caches, in tokens.
    pub minimum: u64,
}

/// Basis of an [`ExpectedRead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The provider's own count for the previous call.
    Reported,
    /// The sent bytes.
    Estimated,
}

/// Returns how much the next request should read from the entries of `previous`, the last request of the same
/// model in the same conversation. `None` if the provider is not known to cache.
pub fn expected(previous: &SentRequest, caching: &Caching) -> Option<ExpectedRead> {
    let (messages, estimate) = previous.cached_prefix(caching);
    let (reported, step) = match caching.kind {
        CacheKind::None => return None,
        CacheKind::Markers { .. } | CacheKind::Breakpoints { .. } => {
            (previous.usage.map(|usage| usage.cache_read.saturating_add(usage.cache_write)), 1)
        }
        CacheKind::Prefix { step, .. } => (previous.usage.map(|usage| usage.total_input()), step.max(1)),
        CacheKind::Units { .. } | CacheKind::Probabilistic { .. } => {
            (previous.usage.map(|usage| usage.total_input()), 1)
        }
    };
    let (tokens, basis) = match reported.filter(|tokens| *tokens > 0) {
        Some(tokens) => (tokens, Basis::Reported),
        None => (estimate, Basis::Estimated),
    };
    let (lifetime, minimum) = (caching.min_lifetime(), caching.minimum);
    Some(ExpectedRead { tokens: tokens / step * step, basis, messages, lifetime, minimum })
}

/// Explains why `current` read less than expected; `None` if it did not. `elapsed` is the time from the start of
/// `previous` to the start of `current`.
///
/// Names the first segment that changed, in the order of the request; a pause counts only when nothing changed,
/// since a change would have cost the same without it.
pub fn explain(
    expected: &ExpectedRead,
    actual: &Usage,
    previous: &SentRequest,
    current: &SentRequest,
    elapsed: Duration,
) -> Option<CacheMiss> {
    if !falls_short(expected, actual) {
        return None;
    }
    let common = previous
        .messages
        .iter()
        .zip(&current.messages)
        .take(expected.messages)
        .take_while(|(before, after)| before.hash == after.hash)
        .count();
    let covered: u64 = previous.messages.iter().take(common).map(|segment| segment.tokens).sum();
    Some(if previous.model != current.model || previous.effort != current.effort {
        CacheMiss::Model
    } else if previous.tools.hash != current.tools.hash {
        CacheMiss::Tools
    } else if previous.system.hash != current.system.hash {
        CacheMiss::System
    } else if common < expected.messages {
        CacheMiss::Messages { first: u32::try_from(common).unwrap_or(u32::MAX) }
    } else if expected.lifetime.is_some_and(|lifetime| elapsed >= lifetime) {
        CacheMiss::Expired
    } else if previous.tools.tokens + previous.system.tokens + covered < expected.minimum {
        CacheMiss::BelowMinimum
    } else {
        CacheMiss::ProviderSilent
    })
}

fn falls_short(expected: &ExpectedRead, actual: &Usage) -> bool {
    let tolerance = match expected.basis {
        Basis::Reported => TOLERANCE,
        Basis::Estimated => ROUGH_TOLERANCE,
    };
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53; nonsense only makes it rougher")]
    let (expected, actual) = (expected.tokens as f64, actual.cache_read as f64);
    actual < expected * (1.0 - tolerance)
}

/// Hashes a piece and counts its bytes.
#[derive(Default)]
struct RequestHasher {
    hasher: blake3::Hasher,
    bytes: u64,
}

impl RequestHasher {
    fn text(&mut self, text: &str) -> &mut Self {
        // The length is included, so two texts cannot be confused.
        self.hasher.update(&text.len().to_le_bytes()).update(text.as_bytes());
        self.bytes += text.len() as u64;
        self
    }

    fn block(&mut self, request: &ModelRequest, block: &Block) {
        // The substitute for a picture or a document depends on whether it is sent as such.
        let form = |is_shown| if is_shown { "shown" } else { "named" };
        match block {
            Block::Text { text } => self.text("text").text(text),
            Block::Summary { text, .. } => self.text("summary").text(text),
            Block::Notice { text, .. } => self.text("notice").text(text),
            Block::CommandsEnded { text, .. } => self.text("commands").text(text),
            Block::File { path } => self.text("file").text(path),
            Block::Image { blob, name, .. } => {
                self.text(form(request.vision)).text("image").text(&blob.0).text(name)
            }
            Block::Document { blob, path, .. } => {
                self.text(form(request.documents)).text("document").text(&blob.0).text(path)
            }
            Block::Reasoning { replay, .. } => {
                let raw = replay.as_ref().map(|replay| replay.raw.to_string());
                self.text("reasoning").text(raw.as_deref().unwrap_or_default())
            }
            Block::ToolCall(call) => self.text("call").text(&call.name).text(&call.arguments),
            Block::ToolResult(result) => {
                self.text("result").text(&result.text);
                result.images.iter().fold(self, |digest, image| digest.text(&image.blob.0))
            }
        };
    }

    fn piece(&self) -> RequestPiece {
        let [a, b, c, d, e, f, g, h, ..] = *self.hasher.finalize().as_bytes();
        RequestPiece {
            hash: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            tokens: self.bytes.div_ceil(BYTES_PER_TOKEN),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CacheLifetime, CachePlan, ToolSchema};
    use octo_protocol::{Message, MessageId, Meta, Origin, TurnId};
    use serde_json::json;
    use std::sync::Arc;

    const MINUTE: Duration = Duration::from_secs(60);

    fn request(texts: &[&str]) -> ModelRequest {
        let messages: Vec<Message> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
                let meta = Meta::new(Origin::Person, 0);
                let blocks = vec![Block::Text { text: (*text).to_owned() }];
                Message { id: MessageId::new(), turn: TurnId::new(), role, blocks, meta }
            })
            .collect();
        let tool = ToolSchema { name: "grep".into(), description: "Finds.".into(), parameters: json!({}) };
        ModelRequest {
            model: "m".into(),
            system: "s".repeat(8000).into(),
            tools: Arc::from([tool]),
            cache: CachePlan {
                messages: vec![(messages.len() - 1, CacheLifetime::FiveMinutes)],
                ..CachePlan::default()
            },
            messages,
            images: Arc::default(),
            vision: true,
            documents: true,
            max_output: 100,
            effort: None,
        }
    }

    fn read(cache_read: u64) -> Usage {
        Usage { cache_read, ..Usage::default() }
    }

    #[test]
    fn a_shortfall_names_the_first_segment_that_changed() {
        let billed = Usage { cache_read: 2_000, cache_write: 500, input: 3, output: 40 };
        let previous = SentRequest::new(&request(&["one", "two", "three"]), 0).with_usage(billed);
        let longer = || request(&["one", "two", "three", "four", "five"]);
        let miss_after = |change: &dyn Fn(&mut ModelRequest)| {
            let mut request = longer();
            change(&mut request);
            SentRequest::new(&request, 1)
        };
        let set_text = |request: &mut ModelRequest, index: usize| {
            request.messages[index].blocks = vec![Block::Text { text: "new".into() }];
        };
        let expected = expected(&previous, &Caching::anthropic()).unwrap();
        assert_eq!((expected.tokens, expected.basis, expected.messages), (2_500, Basis::Reported, 3));
        for (case, current, actual, elapsed, expected_miss) in [
            ("all was read", miss_after(&|_| {}), 2_500, MINUTE, None),
            ("a little less", miss_after(&|_| {}), 2_460, MINUTE, None),
            ("less", miss_after(&|_| {}), 2_000, MINUTE, Some(CacheMiss::ProviderSilent)),
            ("a pause", miss_after(&|_| {}), 0, 5 * MINUTE, Some(CacheMiss::Expired)),
            ("a pause that did no harm", miss_after(&|_| {}), 2_500, 9 * MINUTE, None),
            ("model", miss_after(&|it| it.model = "n".into()), 0, MINUTE, Some(CacheMiss::Model)),
            ("effort", miss_after(&|it| it.effort = Some(Effort::High)), 0, MINUTE, Some(CacheMiss::Model)),
            (
                "tools",
                miss_after(&|it| {
                    it.tools = Arc::default();
                    it.system = "other".into();
                }),
                0,
                9 * MINUTE,
                Some(CacheMiss::Tools),
            ),
            ("system", miss_after(&|it| it.system = "other".into()), 0, MINUTE, Some(CacheMiss::System)),
            (
                "message",
                miss_after(&|it| set_text(it, 1)),
                2_000,
                MINUTE,
                Some(CacheMiss::Messages { first: 1 }),
            ),
            ("the newest message", miss_after(&|it| set_text(it, 3)), 2_500, MINUTE, None),
            (
                "taken back",
                SentRequest::new(&request(&["one"]), 1),
                2_000,
                MINUTE,
                Some(CacheMiss::Messages { first: 1 }),
            ),
        ] {
            assert_eq!(
                explain(&expected, &read(actual), &previous, &current, elapsed),
                expected_miss,
                "{case}"
            );
        }
    }

    #[test]
    fn without_a_report_the_bytes_are_counted() {
        let previous = SentRequest::new(&request(&["one"]), 0);
        let current = SentRequest::new(&request(&["one", "two", "three"]), 1);
        let by_bytes = expected(&previous, &Caching::anthropic()).unwrap();
        assert_eq!(by_bytes.basis, Basis::Estimated);
        assert!((2_000..2_100).contains(&by_bytes.tokens), "{by_bytes:?}");
        let miss_with =
            |expected: &ExpectedRead, tokens| explain(expected, &read(tokens), &previous, &current, MINUTE);
        assert_eq!(miss_with(&by_bytes, 1_500), None, "an estimate may be wrong");
        assert_eq!(miss_with(&by_bytes, 0), Some(CacheMiss::ProviderSilent));
        let large_minimum = Caching { minimum: 4096, ..Caching::anthropic() };
        let too_short = expected(&previous, &large_minimum).unwrap();
        assert_eq!(miss_with(&too_short, 0), Some(CacheMiss::BelowMinimum));
    }

    #[test]
    fn expected_reads_by_cache_kind() {
        let usage = Usage { input: 130, cache_read: 2_000, cache_write: 0, output: 9 };
        let previous = SentRequest::new(&request(&["one", "two", "three"]), 0).with_usage(usage);
        let unmarked = {
            let mut request = request(&["one", "two", "three"]);
            request.cache = CachePlan::default();
            SentRequest::new(&request, 0).with_usage(usage)
        };
        let caching_of = |kind| Caching { kind, minimum: 1024 };
        let prefix = CacheKind::Prefix { step: 128, life_seconds: 300, keyed: false };
        let points = CacheKind::Breakpoints { limit: 3, lookback: 80, life_seconds: 1800 };
        for (case, sent, caching, expected_tokens, messages) in [
            ("nothing", &previous, Caching::NONE, None, 0),
            ("markers", &previous, Caching::anthropic(), Some(2_000), 3),
            ("no marker", &unmarked, Caching::anthropic(), Some(2_000), 0),
            ("breakpoints", &unmarked, caching_of(points), Some(2_000), 3),
            ("whole steps", &unmarked, caching_of(prefix), Some(2_048), 3),
            ("units", &unmarked, caching_of(CacheKind::Units { life_seconds: 7200 }), Some(2_130), 3),
        ] {
            let found = expected(sent, &caching);
            assert_eq!(found.map(|found| found.tokens), expected_tokens, "{case}");
            assert_eq!(found.map_or(0, |found| found.messages), messages, "{case}");
        }
    }

    #[test]
    fn nonsensical_figures_break_nothing() {
        let max = Usage { input: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX, output: u64::MAX };
        let previous = SentRequest::new(&request(&["one"]), i64::MAX).with_usage(max);
        for caching in [Caching::anthropic(), Caching::NONE] {
            let Some(expected) = expected(&previous, &caching) else { continue };
            assert_eq!(explain(&expected, &max, &previous, &previous, Duration::MAX), None);
        }
    }

    #[test]
    fn digests_differ_for_different_content() {
        let first = SentRequest::new(&request(&["ab", "c"]), 0);
        let second = SentRequest::new(&request(&["a", "bc"]), 0);
        assert_ne!(first.messages[0].hash, second.messages[0].hash);
        let text = serde_json::to_string(&first).unwrap();
        assert_eq!(serde_json::from_str::<SentRequest>(&text).unwrap(), first, "it can be kept");
    }
}
