//! A provider's prompt cache in the small, so that usage figures mean something.
//!
//! Anthropic: entries are written at markers only, and found by walking back at most twenty positions from
//! a marker, where calls in a row are one position and so are results in a row; prefixes below the minimum
//! are never written; entries live five minutes (or an hour) from the *start* of the request that wrote or
//! last read them; they are visible once the writer streams. OpenAI: the longest common beginning of an
//! earlier request, in steps of 128 tokens from 1024 on. A token is four bytes. The clock is the test's.

use octo_protocol::Usage;
use serde_json::Value;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

/// The smallest prefix that is cached.
const MINIMUM: u64 = 1024;
/// Markers a request may have.
const MARKERS: usize = 4;
/// Positions looked at from a marker, its own included.
const LOOKBACK: usize = 20;
/// The step of OpenAI's cache.
const STEP: u64 = 128;
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Debug, Default)]
pub(crate) struct Cache {
    now: Duration,
    entries: HashMap<Key, Entry>,
    texts: Vec<(String, Vec<u8>, Duration)>,
}

/// A model and the hash of a prefix.
type Key = (String, u64);

#[derive(Debug)]
struct Entry {
    expires: Duration,
    life: Duration,
}

/// What a request will have written once it streams.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    entries: Vec<(Key, Duration, Duration)>,
    text: Option<(String, Vec<u8>, Duration)>,
}

/// The place after one block.
struct Place {
    key: Key,
    tokens: u64,
    position: usize,
    marker: Option<Duration>,
}

impl Cache {
    pub(crate) fn advance(&mut self, time: Duration) {
        self.now += time;
    }

    /// What the request reads, what it will write, and what it is billed. Fails with a fifth marker.
    pub(crate) fn anthropic(&mut self, body: &Value) -> Result<(Usage, Writes), String> {
        let places = places(body);
        let markers: Vec<usize> = (0..places.len()).filter(|index| places[*index].marker.is_some()).collect();
        if markers.len() > MARKERS {
            return Err(format!(
                "A maximum of 4 blocks with cache_control may be provided. Found {}.",
                markers.len()
            ));
        }
        let now = self.now;
        let alive = |place: &Place| self.entries.get(&place.key).is_some_and(|entry| entry.expires > now);
        let hit = markers.iter().rev().find_map(|marker| {
            let lowest = places[*marker].position.saturating_sub(LOOKBACK - 1);
            (0..=*marker)
                .rev()
                .take_while(|index| places[*index].position >= lowest)
                .find(|index| alive(&places[*index]))
        });
        if let Some(entry) = hit.and_then(|index| self.entries.get_mut(&places[index].key)) {
            entry.expires = now + entry.life;
        }
        let read = hit.map_or(0, |index| places[index].tokens);
        let writes: Vec<&Place> =
            markers.iter().map(|index| &places[*index]).filter(|place| place.tokens >= MINIMUM).collect();
        let write_end = writes.last().map_or(0, |place| place.tokens);
        let cache_write = write_end.saturating_sub(read);
        let total = places.last().map_or(0, |place| place.tokens);
        let usage = Usage { input: total - read - cache_write, cache_read: read, cache_write, output: 0 };
        let entries =
            writes.into_iter().filter_map(|place| Some((place.key.clone(), place.marker?, now))).collect();
        Ok((usage, Writes { entries, text: None }))
    }

    /// As [`Cache::anthropic`], for servers that cache by themselves.
    pub(crate) fn openai_chat(&mut self, body: &Value) -> (Usage, Writes) {
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        let mut text = body["tools"].to_string().into_bytes();
        for message in body["messages"].as_array().into_iter().flatten() {
            text.extend(message.to_string().into_bytes());
        }
        let now = self.now;
        let common =
            |other: &[u8]| other.iter().zip(&text).take_while(|(own, other)| own == other).count() as u64 / 4;
        let known = self.texts.iter().filter(|(of, _, expires)| *of == model && *expires > now);
        let longest = known.map(|(_, text, _)| common(text)).max().unwrap_or(0);
        let cache_read = if longest < MINIMUM { 0 } else { longest / STEP * STEP };
        let usage =
            Usage { input: text.len() as u64 / 4 - cache_read, cache_read, cache_write: 0, output: 0 };
        (usage, Writes { entries: Vec::new(), text: Some((model, text, now + 2 * FIVE_MINUTES)) })
    }

    /// The request streams: what it wrote can be read from now on.
    pub(crate) fn commit(&mut self, writes: Writes) {
        for (key, life, start) in writes.entries {
            self.entries.insert(key, Entry { expires: start + life, life });
        }
        self.texts.extend(writes.text);
    }
}

fn places(body: &Value) -> Vec<Place> {
    let model = body["model"].as_str().unwrap_or_default();
    let blocks_of = |value: &'static str| body.get(value).and_then(Value::as_array).into_iter().flatten();
    let fixed = blocks_of("tools").chain(blocks_of("system")).map(|block| ("fixed", block));
    let said = blocks_of("messages").flat_map(|message| {
        let role = crate::recorded::role(message);
        message.get("content").and_then(Value::as_array).into_iter().flatten().map(move |block| (role, block))
    });
    let (mut hasher, mut bytes, mut position) = (DefaultHasher::new(), 0_u64, 0_usize);
    let mut last = "";
    let mut places = Vec::new();
    for (side, block) in fixed.chain(said) {
        let mut block = block.clone();
        let marker = block.as_object_mut().and_then(|fields| fields.shift_remove("cache_control"));
        let text = block.to_string();
        side.hash(&mut hasher);
        text.hash(&mut hasher);
        bytes += text.len() as u64;
        let run = match block["type"].as_str() {
            Some("tool_use") => "calls",
            Some("tool_result") => "results",
            _ => "",
        };
        if run.is_empty() || run != last {
            position += 1;
        }
        last = run;
        let life = |marker: Value| if marker["ttl"] == "1h" { HOUR } else { FIVE_MINUTES };
        places.push(Place {
            key: (model.to_owned(), hasher.finish()),
            tokens: bytes / 4,
            position,
            marker: marker.map(life),
        });
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A request whose system prompt has `system` tokens and whose messages have one block each.
    fn request(system: usize, blocks: usize, marked: &[usize]) -> Value {
        let messages: Vec<Value> = (0..blocks)
            .map(|index| {
                let mut block = json!({ "type": "text", "text": format!("message {index}") });
                if marked.contains(&index) {
                    block["cache_control"] = json!({ "type": "ephemeral" });
                }
                json!({ "role": if index % 2 == 0 { "user" } else { "assistant" }, "content": [block] })
            })
            .collect();
        json!({ "model": "m", "system": [{ "type": "text", "text": "x".repeat(system * 4) }], "messages": messages })
    }

    fn call(cache: &mut Cache, body: &Value) -> Usage {
        let (usage, writes) = cache.anthropic(body).unwrap();
        cache.commit(writes);
        usage
    }

    #[test]
    fn a_marker_reads_what_an_earlier_marker_wrote() {
        let mut cache = Cache::default();
        let first = call(&mut cache, &request(2000, 1, &[0]));
        assert_eq!(first.cache_read, 0);
        assert!(first.cache_write >= 2000 && first.input == 0, "{first:?}");
        let second = call(&mut cache, &request(2000, 3, &[0, 2]));
        assert_eq!(second.cache_read, first.cache_write);
        assert!(second.cache_write > 0);
        assert_eq!(second.total_input(), second.cache_read + second.cache_write);
    }

    #[test]
    fn short_prefixes_are_not_cached() {
        let mut cache = Cache::default();
        let body = request(900, 1, &[0]);
        assert_eq!(call(&mut cache, &body).cache_write, 0);
        assert_eq!(call(&mut cache, &body).cache_read, 0);
    }

    #[test]
    fn lookback_ends_after_twenty_positions() {
        for (last, hit) in [(19, true), (20, false)] {
            let mut cache = Cache::default();
            call(&mut cache, &request(2000, 1, &[0]));
            let usage = call(&mut cache, &request(2000, last + 1, &[last]));
            assert_eq!(usage.cache_read > 0, hit, "marker {last} positions later");
        }
    }

    #[test]
    fn entries_live_five_minutes_from_the_start_and_are_refreshed_by_reads() {
        let mut cache = Cache::default();
        let body = request(2000, 1, &[0]);
        call(&mut cache, &body);
        cache.advance(Duration::from_secs(299));
        assert!(call(&mut cache, &body).cache_read > 0);
        cache.advance(Duration::from_secs(299));
        assert!(call(&mut cache, &body).cache_read > 0);
        cache.advance(Duration::from_secs(301));
        assert_eq!(call(&mut cache, &body).cache_read, 0);
    }

    #[test]
    fn nothing_is_read_before_the_writer_streams_nor_by_another_model() {
        let mut cache = Cache::default();
        let body = request(2000, 1, &[0]);
        let (_, writes) = cache.anthropic(&body).unwrap();
        assert_eq!(cache.anthropic(&body).unwrap().0.cache_read, 0);
        cache.commit(writes);
        assert!(cache.anthropic(&body).unwrap().0.cache_read > 0);
        let mut other = body;
        other["model"] = json!("n");
        assert_eq!(cache.anthropic(&other).unwrap().0.cache_read, 0);
    }

    #[test]
    fn a_fifth_marker_is_refused() {
        assert!(Cache::default().anthropic(&request(2000, 5, &[0, 1, 2, 3, 4])).is_err());
    }

    #[test]
    fn the_automatic_cache_reads_whole_steps_of_the_common_beginning() {
        let mut cache = Cache::default();
        let body = |text: &str| {
            json!({ "model": "m", "messages": [
            { "role": "system", "content": "x".repeat(8000) }, { "role": "user", "content": text },
        ] })
        };
        let (usage, writes) = cache.openai_chat(&body("one"));
        assert_eq!(usage.cache_read, 0);
        cache.commit(writes);
        let (usage, _) = cache.openai_chat(&body("two"));
        assert_eq!(usage.cache_read, 1920);
    }
}
