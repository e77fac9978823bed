//! Takes out of a text what differs from run to run, and changes no other byte.

use octo_testkit::{ModelServer, TempHome};
use std::collections::HashMap;

/// Fields that hold a time or a span of it.
const TIMES: &[&str] = &[
    "at",
    "created_at",
    "updated_at",
    "started_at",
    "ended_at",
    "read_at",
    "duration_ms",
    "first_byte_ms",
    "total_ms",
];

/// Fields that hold a number of tokens, which follows from how long the test's paths are.
const TOKENS: &[&str] = &[
    "input",
    "cache_read",
    "cache_write",
    "output",
    "written_for_an_hour",
    "context_tokens",
    "expected_read",
    "tokens",
    "again",
];

/// Replaces ids by their order, times and places by what they are.
pub struct Normal {
    ids: HashMap<String, String>,
    places: Vec<(String, &'static str)>,
}

impl Normal {
    pub fn new(home: &TempHome, server: &ModelServer) -> Self {
        let path = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
        let url = server.url();
        let address = url.trim_start_matches("http://").split('/').next().unwrap().to_owned();
        let places = vec![
            (path(home.work()), "[work]"),
            (path(home.octo()), "[octo]"),
            (path(home.home()), "[home]"),
            (address, "[server]"),
        ];
        Self { ids: HashMap::new(), places }
    }

    pub fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, name) in &self.places {
            text = text.replace(place, name);
        }
        let text = self.ids(&text);
        let text = TIMES.iter().fold(text, |text, key| numbers(&text, key, "[time]"));
        let text = TOKENS.iter().fold(text, |text, key| numbers(&text, key, "[tokens]"));
        let text = between(&text, "[exit code 0, ", &[" s]"], "[time]");
        between(&text, "Today is ", &[".", "\\n", "\n"], "[day]")
    }

    /// Ids, and hashes of what differs from run to run.
    pub fn hashes(&mut self, text: &str) -> String {
        words(&self.text(text), |word| (word.len() == 64).then(|| "[hash]".to_owned()))
    }

    /// 32 hex digits that stand alone.
    fn ids(&mut self, text: &str) -> String {
        words(text, |word| {
            let next = format!("[id {}]", self.ids.len() + 1);
            (word.len() == 32).then(|| self.ids.entry(word.to_owned()).or_insert(next).clone())
        })
    }
}

/// Replaces runs of hex digits.
fn words(text: &str, mut name: impl FnMut(&str) -> Option<String>) -> String {
    let mut done = String::with_capacity(text.len());
    let mut remaining = text;
    while let Some(at) = remaining.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, after) = remaining.split_at(at);
        let end = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        done += before;
        done += name(word).as_deref().unwrap_or(word);
        remaining = after;
    }
    done + remaining
}

/// Replaces the number of a member.
fn numbers(text: &str, key: &str, name: &str) -> String {
    let head = format!("\"{key}\":");
    let mut parts = text.split(&head);
    let mut done = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        done += &head;
        done += if end > 0 { name } else { "" };
        done += part.get(end..).unwrap_or_default();
    }
    done
}

/// Replaces what stands between a beginning and the first of some ends.
fn between(text: &str, begin: &str, ends: &[&str], name: &str) -> String {
    let mut parts = text.split(begin);
    let mut done = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = ends.iter().filter_map(|end| part.find(end)).min().unwrap_or(part.len());
        done += begin;
        done += name;
        done += part.get(end..).unwrap_or_default();
    }
    done
}
