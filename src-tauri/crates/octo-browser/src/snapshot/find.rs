//! Searches a page, including folded and omitted parts.

use super::clean::clean_line;
use super::lines::{LineKind, SnapshotLine};
use super::render::push_line;
use super::tokens::estimate_tokens;
use super::view::Snapshot;

/// A search query; both conditions apply if both are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindQuery {
    /// A phrase in a line or in a target's name, ignoring case; if the phrase occurs nowhere, all of its words.
    pub text: String,
    /// The role word before a target's name, such as `button`; empty for any line.
    pub role: String,
}

/// The search result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindMatches {
    /// The matching lines, under their headings.
    pub text: String,
    /// Number of matching lines.
    pub matches: usize,
    /// Number of matching lines included in the text.
    pub shown_count: usize,
}

/// Maximum length of a line shown in full, in characters; a longer one is reduced to the text around the match.
const MAX_LINE: usize = 300;
/// Number of characters shown before the match.
const CONTEXT_BEFORE: usize = 80;

impl Snapshot {
    /// Returns the matching lines, each under its headings, in at most `budget` estimated tokens.
    pub fn find(&self, query: &FindQuery, budget: usize) -> FindMatches {
        let phrase = clean_line(&query.text).to_lowercase();
        let role = query.role.trim().to_lowercase();
        let mut matches = self.matching_lines(|text| text.contains(&phrase), &role);
        if matches.is_empty() {
            let words: Vec<&str> = phrase.split(' ').collect();
            matches = self.matching_lines(|text| words.iter().all(|word| text.contains(word)), &role);
        }
        let mut text = String::new();
        let mut tokens = 30;
        let mut count = 0;
        let mut headings: Vec<usize> = Vec::new();
        for line in &matches {
            let Some(found) = self.line(*line) else { continue };
            let headings_above_line = self.headings_above(*line);
            let mut block = String::new();
            for heading in headings_above_line.iter().filter(|heading| !headings.contains(heading)) {
                if let Some(heading) = self.line(*heading) {
                    push_line(&mut block, heading.depth, &excerpt(&heading.text, "").0);
                }
            }
            let excerpt = excerpt(&found.text, &phrase);
            push_line(&mut block, found.depth, &excerpt.0);
            let cost = estimate_tokens(&block) + 2;
            if tokens + cost > budget && count > 0 {
                break;
            }
            (tokens, count, headings) = (tokens + cost, count + 1, headings_above_line);
            push_line(&mut text, 0, &block);
        }
        if count < matches.len() {
            push_line(
                &mut text,
                0,
                &format!("... {} more lines match: narrow the search", matches.len() - count),
            );
        }
        FindMatches { text, matches: matches.len(), shown_count: count }
    }

    fn matching_lines(&self, matches: impl Fn(&str) -> bool, role: &str) -> Vec<usize> {
        let mut is_hit = vec![false; self.lines.lines.len()];
        if role.is_empty() {
            for (flag, line) in is_hit.iter_mut().zip(&self.lines.lines) {
                *flag = matches(&line.text.to_lowercase());
            }
        }
        for target in &self.lines.targets {
            if (role.is_empty() || target.kind_word == role)
                && matches(&target.name.to_lowercase())
                && let Some(flag) = is_hit.get_mut(target.line as usize)
            {
                *flag = true;
            }
        }
        // A role may belong to a structural part and not to a target: headings, dialogs, frames.
        if !role.is_empty() {
            for (flag, line) in is_hit.iter_mut().zip(&self.lines.lines) {
                *flag |= has_role(line, role) && matches(&line.text.to_lowercase());
            }
        }
        is_hit.iter().enumerate().filter(|(_, flag)| **flag).map(|(line, _)| line).collect()
    }

    /// Returns the headings above a line, the highest level first.
    fn headings_above(&self, line: usize) -> Vec<usize> {
        const MAX_LINES_SEARCHED: usize = 3_000;
        let mut headings = Vec::new();
        let mut level = match self.line(line).map(|line| line.kind) {
            Some(LineKind::Heading(level)) => level,
            _ => u8::MAX,
        };
        for index in (0..line).rev().take(MAX_LINES_SEARCHED) {
            if let Some(LineKind::Heading(heading_level)) = self.line(index).map(|line| line.kind)
                && heading_level < level
            {
                level = heading_level;
                headings.push(index);
            }
        }
        headings.reverse();
        headings
    }
}

fn has_role(line: &SnapshotLine, role: &str) -> bool {
    match line.kind {
        LineKind::Heading(_) => role == "heading",
        LineKind::Container => line.text.split([' ', ':']).next() == Some(role),
        LineKind::Plain => false,
    }
}

/// Returns a line, or the part of a long one around the phrase; and whether something was cut.
fn excerpt(text: &str, phrase: &str) -> (String, bool) {
    let count = text.chars().count();
    if count <= MAX_LINE {
        return (text.to_owned(), false);
    }
    // Lower-casing may change the length; a character offset is precise enough for an excerpt.
    let lower = text.to_lowercase();
    let position = lower
        .find(phrase)
        .and_then(|position| lower.get(..position))
        .map_or(0, |before| before.chars().count());
    let from = position.saturating_sub(CONTEXT_BEFORE).min(count.saturating_sub(MAX_LINE));
    let excerpt: String = text.chars().skip(from).take(MAX_LINE).collect();
    let start = if from > 0 { "… " } else { "" };
    let end = if from + MAX_LINE < count { " …" } else { "" };
    (format!("{start}{excerpt}{end}"), true)
}
