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
        let places = segment_ends(&segments, |prefix| PrefixKey {
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
            CacheWriteMode::Everywhere => self.everywhere(&places),
            CacheWriteMode::Markers { limit, lookback } => self.markers(&places, limit, lookback)?,
            CacheWriteMode::Breakpoints { limit, lookback } => {
                self.breakpoints(&places, limit, lookback, segments.own_breakpoint)?
            }
            CacheWriteMode::Steps { step } => self.steps(&places, step),
            CacheWriteMode::Units { step } => self.units(&places, step),
        };
        served.start = self.now;
        let total = places.last().map_or(0, |place| place.tokens);
        let cached = served.usage.cache_read + served.usage.cache_write;
        served.usage.input = total - cached;
        let left = served.writes.iter().map(|write| write.length).max().unwrap_or(0).max(cached);
        served.miss =
            self.traces.note(model, &segments, served.usage.cache_read, left, self.now, &self.policy);
        Ok(served)
    }

    /// Marks the request as streaming: its entries become readable.
    pub fn stream(&mut self, served: &mut ServedRequest) {
        let visible = match self.policy.visibility {
            Visibility::FirstToken => self.now,
            Visibility::Later(time) => self.now + time,
        };
        let from = match self.policy.lifetimes.origin {
            LifetimeOrigin::RequestStart => served.start,
            LifetimeOrigin::FirstToken => self.now,
        };
        for PendingCacheWrite { key, length: _, life, kind } in served.writes.drain(..) {
            let alive = self.entries.get(&key).filter(|entry| entry.expires > served.start);
            // A hit renews an entry for its own lifetime and never lengthens it.
            let (life, visible) = alive.map_or((life, visible), |entry| (entry.life, entry.visible));
            let ends = match alive {
                Some(entry) => entry.ends,
                None => self.policy.lifetimes.max_total.map(|most| from + most),
            };
            let expires = ends.map_or(from + life, |ends| ends.min(from + life));
            let entry = CachedPrefix { visible, expires, life, ends };
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
        let now = self.now;
        if let Some(entry) = self.entries.get_mut(key) {
            let expires = entry.ends.map_or(now + entry.life, |ends| ends.min(now + entry.life));
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
        let now = self.now;
        let recent = self.recent.entry(scope).or_default();
        recent.retain(|at| *at + MINUTE > now);
        recent.push_back(now);
        let machine = (recent.len() as u64 - 1) / u64::from(per_minute.max(1));
        (scope, machine).hash(&mut hasher);
        hasher.finish()
    }

    fn markers(
        &mut self,
        places: &[SegmentEnd<'_>],
        limit: usize,
        lookback: Lookback,
    ) -> Result<ServedRequest, String> {
        let marked: Vec<usize> =
            (0..places.len()).filter(|index| places[*index].segment.mark.is_some()).collect();
        check_marks(places, &marked, limit)?;
        let hit = marked.iter().rev().find_map(|marker| {
            let within = |index: &usize| match lookback {
                Lookback::Positions(most) => places[*marker].position - places[*index].position < most,
                Lookback::Blocks(most) => marker - index < most,
            };
            (0..=*marker).rev().take_while(within).find(|index| self.readable(&places[*index].key).is_some())
        });
        let read = hit.map_or(0, |index| places[index].tokens);
        let hit_life = hit.and_then(|index| self.readable(&places[index].key)).map(|entry| entry.life);
        if let Some(index) = hit {
            self.renew(&places[index].key);
        }
        let writes = self.cacheable_ends(places, &marked);
        let long_end = writes
            .iter()
            .filter(|place| place.segment.mark == Some(MarkerLifetime::Long) && place.tokens > read)
            .map(|place| place.tokens)
            .max()
            .unwrap_or(read);
        let end = writes.iter().map(|place| place.tokens).max().unwrap_or(0).max(read);
        let life = |place: &SegmentEnd<'_>| {
            let asked = match place.segment.mark {
                Some(MarkerLifetime::Long) => {
                    self.policy.lifetimes.long.unwrap_or(self.policy.lifetimes.short)
                }
                Some(MarkerLifetime::Short) | None => self.policy.lifetimes.short,
            };
            // Tokens that were not paid for live no longer than the entry that was read.
            if place.tokens <= read { hit_life.map_or(asked, |life| life.min(asked)) } else { asked }
        };
        let writes = writes.iter().map(|place| place.write(life(place), WriteKind::Plain)).collect();
        let usage = Usage { cache_read: read, cache_write: end - read, ..Usage::default() };
        Ok(ServedRequest { usage, written_long: long_end - read, writes, ..ServedRequest::default() })
    }

    fn everywhere(&self, places: &[SegmentEnd<'_>]) -> ServedRequest {
        let hit = places.iter().rev().find(|place| self.readable(&place.key).is_some());
        let (read, all) =
            (hit.map_or(0, |place| place.tokens), places.last().map_or(0, |place| place.tokens));
        let life = self.policy.lifetimes.short;
        let writes = places.iter().map(|place| place.write(life, WriteKind::Plain)).collect();
        let usage = Usage { cache_read: read, cache_write: all - read, ..Usage::default() };
        ServedRequest { usage, writes, ..ServedRequest::default() }
    }

    fn breakpoints(
        &mut self,
        places: &[SegmentEnd<'_>],
        limit: usize,
        lookback: usize,
        own: bool,
    ) -> Result<ServedRequest, String> {
        let mut marked: Vec<usize> =
            (0..places.len()).filter(|index| places[*index].segment.mark.is_some()).collect();
        check_marks(places, &marked, limit - usize::from(own))?;
        let newest = places.iter().rposition(|place| place.segment.side == SegmentSide::Person);
        marked.extend(newest.filter(|newest| own && !marked.contains(newest)));
        let known = |index: &usize| self.breakpoints.contains(&places[*index].key);
        let hit = (0..places.len())
            .rev()
            .filter(known)
            .take(lookback)
            .find(|index| self.readable(&places[*index].key).is_some());
        if let Some(index) = hit {
            self.renew(&places[index].key);
        }
        let read = hit.map_or(0, |index| places[index].tokens);
        let kept = self.cacheable_ends(places, &marked);
        let end = kept.iter().map(|place| place.tokens).max().unwrap_or(0).max(read);
        let life = self.policy.lifetimes.short;
        let writes = kept.iter().map(|place| place.write(life, WriteKind::Plain)).collect();
        let keys: Vec<PrefixKey> = kept.iter().map(|place| place.key.clone()).collect();
        self.breakpoints.extend(keys);
        let usage = Usage { cache_read: read, cache_write: end - read, ..Usage::default() };
        Ok(ServedRequest { usage, writes, ..ServedRequest::default() })
    }

    /// Returns the marked positions that are long enough to be cached.
    fn cacheable_ends<'a, 'b>(
        &self,
        places: &'a [SegmentEnd<'b>],
        marked: &[usize],
    ) -> Vec<&'a SegmentEnd<'b>> {
        marked
            .iter()
            .map(|index| &places[*index])
            .filter(|place| place.tokens >= self.policy.minimum)
            .collect()
    }

    fn steps(&mut self, places: &[SegmentEnd<'_>], step: u64) -> ServedRequest {
        let stops = prefixes(places, multiples(step, self.policy.minimum, length(places)));
        let found = stops.iter().take_while(|(key, _)| self.readable(key).is_some()).count();
        let found = if self.draw_hit() { found } else { 0 };
        for (key, _) in stops.iter().take(found) {
            self.renew(key);
        }
        let read = found.checked_sub(1).and_then(|last| stops.get(last)).map_or(0, |stop| stop.1);
        let life = self.policy.lifetimes.short;
        let writes = stops.into_iter().map(|(key, bytes)| PendingCacheWrite {
            key,
            length: (bytes / BYTES_PER_TOKEN) as u64,
            life,
            kind: WriteKind::Plain,
        });
        let usage = Usage { cache_read: (read / BYTES_PER_TOKEN) as u64, ..Usage::default() };
        ServedRequest { usage, writes: writes.collect(), ..ServedRequest::default() }
    }

    fn units(&mut self, places: &[SegmentEnd<'_>], step: u64) -> ServedRequest {
        let minimum = self.policy.minimum as usize * BYTES_PER_TOKEN;
        let all = length(places);
        let mut end = 0;
        let ends: HashMap<usize, usize> = places
            .iter()
            .enumerate()
            .map(|(index, place)| {
                end += place.segment.text.len();
                (end, index)
            })
            .collect();
        let steps: BTreeSet<usize> = multiples(step, self.policy.minimum, all).collect();
        let mut lengths: BTreeSet<usize> = self.unit_lengths.range(..=all).copied().collect();
        lengths.extend(steps.iter().chain(ends.keys()));
        let stops = prefixes(places, lengths);
        // Outputs whose end is now known become units.
        for (key, bytes) in &stops {
            let Some(place) = ends.get(bytes) else { continue };
            let Some(entry) = self.open_outputs.get(key).copied() else { continue };
            let answer =
                places[place + 1..].iter().take_while(|next| next.segment.side == SegmentSide::Model);
            let answer: usize = answer.map(|next| next.segment.text.len()).sum();
            let end = bytes + answer;
            if let Some((key, _)) = stops.iter().find(|(_, bytes)| answer > 0 && *bytes == end) {
                self.unit_lengths.insert(end);
                self.entries.insert(key.clone(), entry);
            }
        }
        let is_unit = |(key, _): &&(PrefixKey, usize)| self.readable(key).is_some();
        let hit = stops.iter().rev().find(is_unit).filter(|(_, bytes)| *bytes >= minimum).cloned();
        if let Some((key, _)) = &hit {
            self.renew(key);
        }
        let life = self.policy.lifetimes.short;
        let write = |(key, bytes): &(PrefixKey, usize), kind| PendingCacheWrite {
            key: key.clone(),
            length: (bytes / BYTES_PER_TOKEN) as u64,
            life,
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
    fn write(&self, life: Duration, kind: WriteKind) -> PendingCacheWrite {
        PendingCacheWrite { key: self.key.clone(), length: self.tokens, life, kind }
    }
}

fn check_marks(places: &[SegmentEnd<'_>], marked: &[usize], limit: usize) -> Result<(), String> {
    if marked.len() > limit {
        return Err(format!(
            "A maximum of {limit} blocks with cache_control may be provided. Found {}.",
            marked.len()
        ));
    }
    if marked.iter().any(|index| !places[*index].segment.may_be_marked) {
        return Err("a cache marker on a block that takes none".to_owned());
    }
    let marks = marked.iter().map(|index| places[*index].segment.mark);
    let mut shorter = false;
    for mark in marks {
        if mark == Some(MarkerLifetime::Long) && shorter {
            return Err("a 1h cache marker must not come after a 5m one".to_owned());
        }
        shorter |= mark == Some(MarkerLifetime::Short);
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
