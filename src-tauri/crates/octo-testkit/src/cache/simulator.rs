//! The cache itself: entries keyed by prefix and owner, with an expiry.

mod prefixes;

use super::{
    diagnosis::{CacheReadMiss, RequestTraces},
    policy::{
        CachePolicy, CacheWriteMode, EffortKey, HitCertainty, LifetimeOrigin, Lookback, Routing, Visibility,
    },
    segments::{MarkerLifetime, Section, Segment, SegmentRun, SegmentSide, Segments},
};
use crate::RecordedRequest;
use octo_protocol::{Protocol, Usage};
use prefixes::{length, multiples, prefixes};
use serde_json::Value;
use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

/// Bytes per token.
pub(super) const BYTES_PER_TOKEN: usize = 4;
/// Number of leading tokens that decide which machine gets a request.
const ROUTING_TOKENS: usize = 256;
const MINUTE: Duration = Duration::from_secs(60);

/// A provider's prompt cache. Its clock moves only when the test moves it. A token is four bytes.
#[derive(Debug)]
pub struct CacheSimulator {
    policy: CachePolicy,
    now: Duration,
    entries: HashMap<PrefixKey, CachedPrefix>,
    /// Every prefix that ever had a breakpoint; expired ones count too.
    breakpoints: HashSet<PrefixKey>,
    /// Lengths of units, in bytes.
    unit_lengths: BTreeSet<usize>,
    /// Prefixes seen so far, to notice when two requests begin alike.
    beginnings: HashSet<PrefixKey>,
    /// Inputs whose output becomes a unit too, ending with the model message that follows.
    open_outputs: HashMap<PrefixKey, CachedPrefix>,
    recent: HashMap<u64, VecDeque<Duration>>,
    dice: u64,
    traces: RequestTraces,
}

/// Owner of a prefix, and a hash that covers its content and length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PrefixKey {
    scope: u64,
    model: String,
    effort: String,
    prefix: u64,
}

#[derive(Clone, Copy, Debug)]
struct CachedPrefix {
    visible: Duration,
    expires: Duration,
    life: Duration,
    /// Time at which the entry expires, however often it is read.
    ends: Option<Duration>,
}

/// The usage billed for a request, and the entries it will write once it streams.
#[derive(Debug, Default)]
pub struct ServedRequest {
    /// Input tokens by class, without output.
    pub usage: Usage,
    /// Number of written tokens with the long lifetime.
    pub written_long: u64,
    /// Why the request read less than the conversation's last request left; `None` if it did not read less.
    pub miss: Option<CacheReadMiss>,
    start: Duration,
    writes: Vec<PendingCacheWrite>,
}

#[derive(Debug)]
struct PendingCacheWrite {
    key: PrefixKey,
    length: u64,
    life: Duration,
    kind: WriteKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteKind {
    Plain,
    Unit {
        bytes: usize,
    },
    /// The unit that ends with the output.
    Output,
    Beginning,
}

/// The position after a segment.
struct SegmentEnd<'a> {
    segment: &'a Segment,
    key: PrefixKey,
    tokens: u64,
    position: usize,
}

impl CacheSimulator {
    /// Creates an empty cache.
    pub fn new(policy: CachePolicy) -> Self {
        let dice = match policy.hit_certainty {
            HitCertainty::Always => 0,
            HitCertainty::Chance { seed, .. } => seed,
        };
        Self {
            policy,
            now: Duration::ZERO,
            entries: HashMap::new(),
            breakpoints: HashSet::new(),
            unit_lengths: BTreeSet::new(),
            beginnings: HashSet::new(),
            open_outputs: HashMap::new(),
            recent: HashMap::new(),
            dice,
            traces: RequestTraces::default(),
        }
    }

    /// Returns the policy.
    pub fn policy(&self) -> &CachePolicy {
        &self.policy
    }

    /// Returns the time since the cache was created.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Moves the clock.
    pub fn advance(&mut self, time: Duration) {
        self.now += time;
    }

    /// Replays a recorded request: serves it and streams it at once.
    ///
    /// # Errors
    ///
    /// The provider's reason to refuse it.
    pub fn replay(&mut self, request: &RecordedRequest) -> Result<ServedRequest, String> {
        let mut served = self.serve(request.protocol, request.model(), &request.body)?;
        self.stream(&mut served);
        Ok(served)
    }

    /// Returns the tokens a request reads, will write and is billed for.
    ///
    /// # Errors
    ///
    /// The provider's reason to refuse it: too many markers, a marker on a block that may carry none, lifetimes
    /// in the wrong order.
    pub fn serve(&mut self, protocol: Protocol, model: &str, body: &Value) -> Result<ServedRequest, String> {
        let segments = Segments::parse(protocol, body);
        let scope = self.scope(&segments);
        let ends = segment_ends(&segments, |prefix| PrefixKey {
            scope,
            model: model.to_owned(),
            effort: match self.policy.effort {
                EffortKey::Counts => segments.effort.clone(),
                EffortKey::Ignored => String::new(),
            },
            prefix,
        });
        let mut served = match self.policy.write_mode {
            CacheWriteMode::Never => ServedRequest::default(),
            CacheWriteMode::Everywhere => self.everywhere(&ends),
            CacheWriteMode::Markers { limit, lookback } => self.markers(&ends, limit, lookback)?,
            CacheWriteMode::Breakpoints { limit, lookback } => {
                self.breakpoints(&ends, limit, lookback, segments.own_breakpoint)?
            }
            CacheWriteMode::Steps { step } => self.steps(&ends, step),
            CacheWriteMode::Units { step } => self.units(&ends, step),
        };
        served.start = self.now;
        let total = ends.last().map_or(0, |end| end.tokens);
        let cached = served.usage.cache_read + served.usage.cache_write;
        served.usage.input = total - cached;
        let cached_after = served.writes.iter().map(|write| write.length).max().unwrap_or(0).max(cached);
        served.miss =
            self.traces.note(model, &segments, served.usage.cache_read, cached_after, self.now, &self.policy);
        Ok(served)
    }

    /// Marks the request as streaming: its entries become readable.
    pub fn stream(&mut self, served: &mut ServedRequest) {
        let visible = match self.policy.visibility {
            Visibility::FirstToken => self.now,
            Visibility::Later(time) => self.now + time,
        };
        let start = match self.policy.lifetimes.origin {
            LifetimeOrigin::RequestStart => served.start,
            LifetimeOrigin::FirstToken => self.now,
        };
        for PendingCacheWrite { key, length: _, life: lifetime, kind } in served.writes.drain(..) {
            let readable = self.entries.get(&key).filter(|entry| entry.expires > served.start);
            // A hit renews an entry for its own lifetime and never lengthens it.
            let (lifetime, visible) =
                readable.map_or((lifetime, visible), |entry| (entry.life, entry.visible));
            let ends = match readable {
                Some(entry) => entry.ends,
                None => self.policy.lifetimes.max_total.map(|max_total| start + max_total),
            };
            let expires = ends.map_or(start + lifetime, |ends| ends.min(start + lifetime));
            let entry = CachedPrefix { visible, expires, life: lifetime, ends };
            match kind {
                WriteKind::Beginning => {
                    self.beginnings.insert(key);
                    continue;
                }
                WriteKind::Output => {
                    self.open_outputs.insert(key, entry);
                    continue;
                }
                WriteKind::Unit { bytes } => {
                    self.unit_lengths.insert(bytes);
                }
                WriteKind::Plain => {}
            }
            self.entries.insert(key, entry);
        }
    }

    fn readable(&self, key: &PrefixKey) -> Option<&CachedPrefix> {
        self.entries.get(key).filter(|entry| entry.expires > self.now && entry.visible <= self.now)
    }

    fn renew(&mut self, key: &PrefixKey) {
        let time = self.now;
        if let Some(entry) = self.entries.get_mut(key) {
            let expires = entry.ends.map_or(time + entry.life, |ends| ends.min(time + entry.life));
            entry.expires = entry.expires.max(expires);
        }
    }

    fn scope(&mut self, segments: &Segments) -> u64 {
        let Routing::ByKey { per_minute } = self.policy.routing else { return 0 };
        let bytes = segments.all.iter().flat_map(|segment| segment.text.bytes());
        let mut hasher = DefaultHasher::new();
        bytes.take(ROUTING_TOKENS * BYTES_PER_TOKEN).for_each(|byte| byte.hash(&mut hasher));
        segments.key.hash(&mut hasher);
        let scope = hasher.finish();
        let Some(per_minute) = per_minute else { return scope };
        let time = self.now;
        let recent = self.recent.entry(scope).or_default();
        recent.retain(|instant| *instant + MINUTE > time);
        recent.push_back(time);
        let machine = (recent.len() as u64 - 1) / u64::from(per_minute.max(1));
        (scope, machine).hash(&mut hasher);
        hasher.finish()
    }

    fn markers(
        &mut self,
        ends: &[SegmentEnd<'_>],
        limit: usize,
        lookback: Lookback,
    ) -> Result<ServedRequest, String> {
        let marked: Vec<usize> =
            (0..ends.len()).filter(|index| ends[*index].segment.mark.is_some()).collect();
        check_marks(ends, &marked, limit)?;
        let hit = marked.iter().rev().find_map(|marker| {
            let within = |index: &usize| match lookback {
                Lookback::Positions(max) => ends[*marker].position - ends[*index].position < max,
                Lookback::Blocks(max) => marker - index < max,
            };
            (0..=*marker).rev().take_while(within).find(|index| self.readable(&ends[*index].key).is_some())
        });
        let read = hit.map_or(0, |index| ends[index].tokens);
        let hit_life = hit.and_then(|index| self.readable(&ends[index].key)).map(|entry| entry.life);
        if let Some(index) = hit {
            self.renew(&ends[index].key);
        }
        let writes = self.cacheable_ends(ends, &marked);
        let long_end = writes
            .iter()
            .filter(|end_of| end_of.segment.mark == Some(MarkerLifetime::Long) && end_of.tokens > read)
            .map(|end_of| end_of.tokens)
            .max()
            .unwrap_or(read);
        let end = writes.iter().map(|end_of| end_of.tokens).max().unwrap_or(0).max(read);
        let lifetime_of = |end_of: &SegmentEnd<'_>| {
            let requested = match end_of.segment.mark {
                Some(MarkerLifetime::Long) => {
                    self.policy.lifetimes.long.unwrap_or(self.policy.lifetimes.short)
                }
                Some(MarkerLifetime::Short) | None => self.policy.lifetimes.short,
            };
            // Tokens that were not paid for live no longer than the entry that was read.
            if end_of.tokens <= read {
                hit_life.map_or(requested, |lifetime_of| lifetime_of.min(requested))
            } else {
                requested
            }
        };
        let writes =
            writes.iter().map(|end_of| end_of.write(lifetime_of(end_of), WriteKind::Plain)).collect();
        let usage = Usage { cache_read: read, cache_write: end - read, ..Usage::default() };
        Ok(ServedRequest { usage, written_long: long_end - read, writes, ..ServedRequest::default() })
    }

    fn everywhere(&self, ends: &[SegmentEnd<'_>]) -> ServedRequest {
        let hit = ends.iter().rev().find(|end| self.readable(&end.key).is_some());
        let (read, total) = (hit.map_or(0, |end| end.tokens), ends.last().map_or(0, |end| end.tokens));
        let lifetime = self.policy.lifetimes.short;
        let writes = ends.iter().map(|end| end.write(lifetime, WriteKind::Plain)).collect();
        let usage = Usage { cache_read: read, cache_write: total - read, ..Usage::default() };
        ServedRequest { usage, writes, ..ServedRequest::default() }
    }

    fn breakpoints(
        &mut self,
        ends: &[SegmentEnd<'_>],
        limit: usize,
        lookback: usize,
        is_kept: bool,
    ) -> Result<ServedRequest, String> {
        let mut marked: Vec<usize> =
            (0..ends.len()).filter(|index| ends[*index].segment.mark.is_some()).collect();
        check_marks(ends, &marked, limit - usize::from(is_kept))?;
        let newest = ends.iter().rposition(|end_of| end_of.segment.side == SegmentSide::Person);
        marked.extend(newest.filter(|newest| is_kept && !marked.contains(newest)));
        let is_known = |index: &usize| self.breakpoints.contains(&ends[*index].key);
        let hit = (0..ends.len())
            .rev()
            .filter(is_known)
            .take(lookback)
            .find(|index| self.readable(&ends[*index].key).is_some());
        if let Some(index) = hit {
            self.renew(&ends[index].key);
        }
        let read = hit.map_or(0, |index| ends[index].tokens);
        let cacheable = self.cacheable_ends(ends, &marked);
        let end = cacheable.iter().map(|end_of| end_of.tokens).max().unwrap_or(0).max(read);
        let lifetime = self.policy.lifetimes.short;
        let writes = cacheable.iter().map(|end_of| end_of.write(lifetime, WriteKind::Plain)).collect();
        let keys: Vec<PrefixKey> = cacheable.iter().map(|end_of| end_of.key.clone()).collect();
        self.breakpoints.extend(keys);
        let usage = Usage { cache_read: read, cache_write: end - read, ..Usage::default() };
        Ok(ServedRequest { usage, writes, ..ServedRequest::default() })
    }

    /// Returns the marked positions that are long enough to be cached.
    fn cacheable_ends<'a, 'b>(
        &self,
        ends: &'a [SegmentEnd<'b>],
        marked: &[usize],
    ) -> Vec<&'a SegmentEnd<'b>> {
        marked.iter().map(|index| &ends[*index]).filter(|end| end.tokens >= self.policy.minimum).collect()
    }

    fn steps(&mut self, ends: &[SegmentEnd<'_>], step: u64) -> ServedRequest {
        let stops = prefixes(ends, multiples(step, self.policy.minimum, length(ends)));
        let found = stops.iter().take_while(|(key, _)| self.readable(key).is_some()).count();
        let found = if self.draw_hit() { found } else { 0 };
        for (key, _) in stops.iter().take(found) {
            self.renew(key);
        }
        let read = found.checked_sub(1).and_then(|index| stops.get(index)).map_or(0, |stop| stop.1);
        let lifetime = self.policy.lifetimes.short;
        let writes = stops.into_iter().map(|(key, bytes)| PendingCacheWrite {
            key,
            length: (bytes / BYTES_PER_TOKEN) as u64,
            life: lifetime,
            kind: WriteKind::Plain,
        });
        let usage = Usage { cache_read: (read / BYTES_PER_TOKEN) as u64, ..Usage::default() };
        ServedRequest { usage, writes: writes.collect(), ..ServedRequest::default() }
    }

    fn units(&mut self, segment_places: &[SegmentEnd<'_>], step: u64) -> ServedRequest {
        let minimum = self.policy.minimum as usize * BYTES_PER_TOKEN;
        let total = length(segment_places);
        let mut end = 0;
        let ends: HashMap<usize, usize> = segment_places
            .iter()
            .enumerate()
            .map(|(index, segment_end)| {
                end += segment_end.segment.text.len();
                (end, index)
            })
            .collect();
        let steps: BTreeSet<usize> = multiples(step, self.policy.minimum, total).collect();
        let mut lengths: BTreeSet<usize> = self.unit_lengths.range(..=total).copied().collect();
        lengths.extend(steps.iter().chain(ends.keys()));
        let stops = prefixes(segment_places, lengths);
        // Outputs whose end is now known become units.
        for (key, bytes) in &stops {
            let Some(segment_end) = ends.get(bytes) else { continue };
            let Some(entry) = self.open_outputs.get(key).copied() else { continue };
            let reply = segment_places[segment_end + 1..]
                .iter()
                .take_while(|segment| segment.segment.side == SegmentSide::Model);
            let reply: usize = reply.map(|segment| segment.segment.text.len()).sum();
            let end = bytes + reply;
            if let Some((key, _)) = stops.iter().find(|(_, bytes)| reply > 0 && *bytes == end) {
                self.unit_lengths.insert(end);
                self.entries.insert(key.clone(), entry);
            }
        }
        let is_unit = |(key, _): &&(PrefixKey, usize)| self.readable(key).is_some();
        let hit = stops.iter().rev().find(is_unit).filter(|(_, bytes)| *bytes >= minimum).cloned();
        if let Some((key, _)) = &hit {
            self.renew(key);
        }
        let lifetime = self.policy.lifetimes.short;
        let write = |(key, bytes): &(PrefixKey, usize), kind| PendingCacheWrite {
            key: key.clone(),
            length: (bytes / BYTES_PER_TOKEN) as u64,
            life: lifetime,
            kind,
        };
        let mut writes = Vec::new();
        // A prefix shared by two requests becomes a unit.
        let in_steps = || stops.iter().filter(|(_, bytes)| steps.contains(bytes));
        let alike = in_steps().take_while(|(key, _)| self.beginnings.contains(key)).last();
        writes.extend(alike.map(|stop| write(stop, WriteKind::Unit { bytes: stop.1 })));
        writes.extend(in_steps().map(|stop| write(stop, WriteKind::Beginning)));
        if let Some(end) = stops.last().filter(|(_, bytes)| *bytes >= minimum) {
            writes.push(write(end, WriteKind::Unit { bytes: end.1 }));
            writes.push(write(end, WriteKind::Output));
        }
        let read = hit.map_or(0, |(_, bytes)| bytes / BYTES_PER_TOKEN) as u64;
        let usage = Usage { cache_read: read, ..Usage::default() };
        ServedRequest { usage, writes, ..ServedRequest::default() }
    }

    fn draw_hit(&mut self) -> bool {
        let HitCertainty::Chance { probability, .. } = self.policy.hit_certainty else { return true };
        // A linear congruential generator with Knuth's constants; its upper bits are the better ones.
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let thrown = (self.dice >> 11) as f64 / (1_u64 << 53) as f64;
        thrown < probability
    }
}

impl SegmentEnd<'_> {
    fn write(&self, lifetime: Duration, kind: WriteKind) -> PendingCacheWrite {
        PendingCacheWrite { key: self.key.clone(), length: self.tokens, life: lifetime, kind }
    }
}

fn check_marks(ends: &[SegmentEnd<'_>], marked: &[usize], limit: usize) -> Result<(), String> {
    if marked.len() > limit {
        return Err(format!(
            "A maximum of {limit} blocks with cache_control may be provided. Found {}.",
            marked.len()
        ));
    }
    if marked.iter().any(|index| !ends[*index].segment.may_be_marked) {
        return Err("a cache marker on a block that takes none".to_owned());
    }
    let markers = marked.iter().map(|index| ends[*index].segment.mark);
    let mut shorter = false;
    for marker in markers {
        if marker == Some(MarkerLifetime::Long) && shorter {
            return Err("a 1h cache marker must not come after a 5m one".to_owned());
        }
        shorter |= marker == Some(MarkerLifetime::Short);
    }
    Ok(())
}

fn segment_ends(segments: &Segments, key: impl Fn(u64) -> PrefixKey) -> Vec<SegmentEnd<'_>> {
    let (mut hasher, mut bytes, mut position) = (DefaultHasher::new(), 0, 0);
    let mut last = SegmentRun::Alone;
    let mut in_messages = false;
    segments
        .all
        .iter()
        .map(|segment| {
            if matches!(segment.section, Section::Message(_)) && !in_messages {
                in_messages = true;
                segments.message_settings.hash(&mut hasher);
            }
            segment.side.hash(&mut hasher);
            segment.text.hash(&mut hasher);
            bytes += segment.text.len();
            if segment.run == SegmentRun::Alone || segment.run != last {
                position += 1;
            }
            last = segment.run;
            SegmentEnd {
                segment,
                key: key(hasher.finish()),
                tokens: (bytes / BYTES_PER_TOKEN) as u64,
                position,
            }
        })
        .collect()
}
