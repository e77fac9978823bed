//! Why a request read less than it might have, with the names of Anthropic's cache-diagnostics beta (2026).

use super::{
    policy::{CachePolicy, EffortKey, LifetimeOrigin},
    segments::{Section, SegmentSide, Segments},
};
use crate::prefix_check::SUB_AGENT_NOTICE;
use std::{
    collections::VecDeque,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

/// Number of requests remembered for comparison.
const MAX_TRACES: usize = 64;

/// A request that read less than the conversation's last request left in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheReadMiss {
    /// The first kind of segment that differs.
    pub reason: MissReason,
    /// Index of the first message that differs, if a message does.
    pub message: Option<usize>,
    /// Number of further tokens that might have been read.
    pub tokens: u64,
}

/// Reasons for a miss; Anthropic's six names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissReason {
    /// The tools differ.
    ToolsChanged,
    /// The system prompt differs.
    SystemChanged,
    /// The model differs, or the effort where it is part of the cache key.
    ModelChanged,
    /// A message differs, or a setting of the request that applies to all messages.
    MessagesChanged,
    /// The entry left by the last request has expired.
    PreviousMessageNotFound,
    /// Nothing differs: the prefix was too short, too far back or not yet visible, or the cache missed by
    /// chance.
    Unavailable,
}

impl MissReason {
    /// Returns the name as it appears on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolsChanged => "tools_changed",
            Self::SystemChanged => "system_changed",
            Self::ModelChanged => "model_changed",
            Self::MessagesChanged => "messages_changed",
            Self::PreviousMessageNotFound => "previous_message_not_found",
            Self::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for MissReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Traces of earlier requests.
#[derive(Debug, Default)]
pub(super) struct RequestTraces {
    traces: VecDeque<RequestTrace>,
}

#[derive(Debug)]
struct RequestTrace {
    model: String,
    effort: String,
    message_settings: String,
    tools: u64,
    system: u64,
    messages: Vec<u64>,
    /// The message with which a sub-agent began; `None` outside a sub-agent's conversation.
    sub_agent_start: Option<u64>,
    /// Number of messages covered by the cached prefix.
    cached_messages: usize,
    /// Number of tokens left in the cache.
    cached_tokens: u64,
    expires: Duration,
}

impl RequestTraces {
    /// Compares a request with the one it continues, and remembers it.
    pub(super) fn note(
        &mut self,
        model: &str,
        segments: &Segments,
        read: u64,
        retained: u64,
        time: Duration,
        policy: &CachePolicy,
    ) -> Option<CacheReadMiss> {
        let trace = RequestTrace::new(model, segments, retained, time, policy);
        let related = |before: &&RequestTrace| {
            let is_same = |index: usize| {
                before.messages.get(index).is_some_and(|hash| trace.messages.get(index) == Some(hash))
            };
            // A parent does not continue its sub-agent's messages, nor one sub-agent another's.
            let same_branch =
                before.sub_agent_start.is_none() || before.sub_agent_start == trace.sub_agent_start;
            same_branch && (is_same(0) || is_same(1))
        };
        let before = self.traces.iter().filter(related).max_by_key(|before| trace.common(before));
        let miss = before.filter(|before| read < before.cached_tokens).map(|before| {
            let (reason, message) = trace.difference(before, time, policy);
            CacheReadMiss { reason, message, tokens: before.cached_tokens - read }
        });
        self.traces.push_back(trace);
        if self.traces.len() > MAX_TRACES {
            self.traces.pop_front();
        }
        miss
    }
}

impl RequestTrace {
    fn new(model: &str, segments: &Segments, retained: u64, time: Duration, policy: &CachePolicy) -> Self {
        let hash_of = |matches: &dyn Fn(Section) -> bool| {
            let mut hasher = DefaultHasher::new();
            for segment in segments.all.iter().filter(|segment| matches(segment.section)) {
                segment.text.hash(&mut hasher);
            }
            hasher.finish()
        };
        let mut messages: Vec<DefaultHasher> = Vec::new();
        let (mut bytes, mut covered) = (0, 0);
        for segment in &segments.all {
            bytes += segment.text.len();
            let Section::Message(index) = segment.section else { continue };
            messages.resize_with((index + 1).max(messages.len()), DefaultHasher::new);
            (segment.side == SegmentSide::Model, &segment.text).hash(&mut messages[index]);
            if (bytes / super::simulator::BYTES_PER_TOKEN) as u64 <= retained {
                covered = index + 1;
            }
        }
        let messages: Vec<u64> = messages.iter().map(Hasher::finish).collect();
        let notice = segments.all.iter().rfind(|segment| segment.text.contains(SUB_AGENT_NOTICE));
        let sub_agent_start = notice.and_then(|segment| match segment.section {
            Section::Message(index) => messages.get(index).copied(),
            Section::Tools | Section::System => None,
        });
        Self {
            sub_agent_start,
            model: model.to_owned(),
            effort: match policy.effort {
                EffortKey::Counts => segments.effort.clone(),
                EffortKey::Ignored => String::new(),
            },
            message_settings: segments.message_settings.clone(),
            tools: hash_of(&|section| section == Section::Tools),
            system: hash_of(&|section| section == Section::System),
            messages,
            cached_messages: covered,
            cached_tokens: retained,
            expires: match policy.lifetimes.origin {
                LifetimeOrigin::RequestStart | LifetimeOrigin::FirstToken => time + policy.lifetimes.short,
            },
        }
    }

    fn common(&self, before: &Self) -> usize {
        self.messages.iter().zip(&before.messages).take_while(|(a, b)| a == b).count()
    }

    fn difference(&self, before: &Self, time: Duration, policy: &CachePolicy) -> (MissReason, Option<usize>) {
        let common = self.common(before);
        if (&self.model, &self.effort) != (&before.model, &before.effort) {
            (MissReason::ModelChanged, None)
        } else if self.tools != before.tools {
            (MissReason::ToolsChanged, None)
        } else if self.system != before.system {
            (MissReason::SystemChanged, None)
        } else if self.message_settings != before.message_settings {
            (MissReason::MessagesChanged, Some(0))
        } else if common < before.cached_messages {
            (MissReason::MessagesChanged, Some(common))
        } else if before.cached_tokens >= policy.minimum && before.expires <= time {
            (MissReason::PreviousMessageNotFound, None)
        } else {
            (MissReason::Unavailable, None)
        }
    }
}
