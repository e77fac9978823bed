//! Looking for something on a page, folded and left out parts included.

use super::clean::tidy;
use super::lines::{Line, LineKind};
use super::render::push_line;
use super::tokens::estimate_tokens;
use super::view::Snapshot;

/// What to look for; both, if both are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// A phrase in a line or in a target's name, whatever its case; all of its words, where the phrase is nowhere.
    pub text: String,
    /// The word before a target's name, like `button`; empty for any line.
    pub role: String,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The lines, under their headings.
    pub text: String,
    /// How many lines match.
    pub matches: usize,
    /// How many of them are in the text.
    pub shown: usize,
}

/// The longest line that is shown whole, in characters; of a longer one what is around the match.
const LONG: usize = 300;
/// So much is shown before the match.
const BEFORE: usize = 80;

impl Snapshot {
    /// The lines that match, each under the headings it stands below, in at most `budget` estimated tokens.
    pub fn find(&self, query: &Query, budget: usize) -> Found {
        let phrase = tidy(&query.text).to_lowercase();
        let role = query.role.trim().to_lowercase();
        let mut matches = self.matching(|text| text.contains(&phrase), &role);
        if matches.is_empty() {
            let words: Vec<&str> = phrase.split(' ').collect();
            matches = self.matching(|text| words.iter().all(|word| text.contains(word)), &role);
        }
        let mut text = String::new();
        let mut tokens = 30;
        let mut shown = 0;
        let mut headings: Vec<usize> = Vec::new();
        for line in &matches {
            let Some(found) = self.line(*line) else { continue };
            let above = self.headings_above(*line);
            let mut part = String::new();
            for heading in above.iter().filter(|heading| !headings.contains(heading)) {
                if let Some(heading) = self.line(*heading) {
                    push_line(&mut part, heading.depth, &around(&heading.text, "").0);
                }
            }
            let excerpt = around(&found.text, &phrase);
            push_line(&mut part, found.depth, &excerpt.0);
            let price = estimate_tokens(&part) + 2;
            if tokens + price > budget && shown > 0 {
                break;
            }
            (tokens, shown, headings) = (tokens + price, shown + 1, above);
            push_line(&mut text, 0, &part);
        }
        if shown < matches.len() {
            push_line(
                &mut text,
                0,
                &format!("... {} more lines match: narrow the search", matches.len() - shown),
            );
        }
        Found { text, matches: matches.len(), shown }
    }

    fn matching(&self, wanted: impl Fn(&str) -> bool, role: &str) -> Vec<usize> {
        let mut hits = vec![false; self.lines.lines.len()];
        if role.is_empty() {
            for (hit, line) in hits.iter_mut().zip(&self.lines.lines) {
                *hit = wanted(&line.text.to_lowercase());
            }
        }
        for target in &self.lines.targets {
            if (role.is_empty() || target.word == role)
                && wanted(&target.name.to_lowercase())
                && let Some(hit) = hits.get_mut(target.line as usize)
            {
                *hit = true;
            }
        }
        // A role may be that of a part, not of a target: headings, dialogs, frames.
        if !role.is_empty() {
            for (hit, line) in hits.iter_mut().zip(&self.lines.lines) {
                *hit |= is_of(line, role) && wanted(&line.text.to_lowercase());
            }
        }
        hits.iter().enumerate().filter(|(_, hit)| **hit).map(|(line, _)| line).collect()
    }

    /// The headings a line stands below, the highest first.
    fn headings_above(&self, line: usize) -> Vec<usize> {
        const LOOKED_AT: usize = 3_000;
        let mut above = Vec::new();
        let mut level = match self.line(line).map(|line| line.kind) {
            Some(LineKind::Heading(level)) => level,
            _ => u8::MAX,
        };
        for place in (0..line).rev().take(LOOKED_AT) {
            if let Some(LineKind::Heading(own)) = self.line(place).map(|line| line.kind)
                && own < level
            {
                level = own;
                above.push(place);
            }
        }
        above.reverse();
        above
    }
}

fn is_of(line: &Line, role: &str) -> bool {
    match line.kind {
        LineKind::Heading(_) => role == "heading",
        LineKind::Container => line.text.split([' ', ':']).next() == Some(role),
        LineKind::Plain => false,
    }
}

/// A line, or of a long one what is around the phrase; and whether something was cut.
fn around(text: &str, phrase: &str) -> (String, bool) {
    let count = text.chars().count();
    if count <= LONG {
        return (text.to_owned(), false);
    }
    // Lower case may have another length: a place found in it is a place by characters, near enough for an excerpt.
    let lower = text.to_lowercase();
    let at = lower.find(phrase).and_then(|at| lower.get(..at)).map_or(0, |before| before.chars().count());
    let from = at.saturating_sub(BEFORE).min(count.saturating_sub(LONG));
    let kept: String = text.chars().skip(from).take(LONG).collect();
    let start = if from > 0 { "… " } else { "" };
    let end = if from + LONG < count { " …" } else { "" };
    (format!("{start}{kept}{end}"), true)
}
