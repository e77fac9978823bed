//! Explains to a model that its text is not in the file.

use std::collections::HashSet;

/// Maximum lines compared; a longer search for a failed edit is not worth the time.
const MAX_LINES: usize = 50_000;
/// Lines shown before the nearest one, and from it on.
const LINES_BEFORE: usize = 2;
const LINES_AFTER: usize = 3;
/// Characters shown of a line.
const MAX_SHOWN: usize = 200;
/// Likeness below which two lines count as unrelated.
const MIN_LIKENESS: f64 = 0.5;

/// Returns the error: that the text is missing, the closest match, and the remedy.
pub(super) fn explain(content: &[u8], old: &str, name: &str) -> String {
    let lines: Vec<String> = content
        .split(|byte| *byte == b'\n')
        .take(MAX_LINES)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let nearest = match nearest(&lines, old) {
        Some(at) => {
            let from = at.saturating_sub(LINES_BEFORE);
            let shown: Vec<String> = lines
                .iter()
                .enumerate()
                .skip(from)
                .take(at - from + LINES_AFTER)
                .map(|(number, line)| {
                    let text: String = line.trim_end_matches('\r').chars().take(MAX_SHOWN).collect();
                    format!("{:>6}\t{text}", number + 1)
                })
                .collect();
            format!(
                " The nearest is line {}:\n{}\nCompare white space and quotes exactly.",
                at + 1,
                shown.join("\n")
            )
        }
        None => String::new(),
    };
    format!(
        "old_string was not found in {name}.{nearest} Read the file again with file_reader. Nothing was changed."
    )
}

/// Returns the line most similar to one of `old`'s lines: equal except for white space, otherwise the most
/// alike.
fn nearest(lines: &[String], old: &str) -> Option<usize> {
    let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = wanted.first()?;
    if let Some(at) = lines.iter().position(|line| line.trim() == *first) {
        return Some(at);
    }
    let longest = wanted.iter().max_by_key(|line| line.len())?;
    let pairs = pairs(longest);
    let mut best = (MIN_LIKENESS, None);
    for (at, line) in lines.iter().enumerate() {
        let likeness = likeness(&pairs, line.trim());
        if likeness > best.0 {
            best = (likeness, Some(at));
        }
    }
    best.1
}

fn pairs(text: &str) -> HashSet<(char, char)> {
    text.chars().zip(text.chars().skip(1)).take(1_000).collect()
}

/// Returns the share of adjacent character pairs that two lines have in common (Dice's coefficient), 0 to 1.
fn likeness(one: &HashSet<(char, char)>, other: &str) -> f64 {
    let other = pairs(other);
    let all = one.len() + other.len();
    let shared = other.iter().filter(|pair| one.contains(pair)).count();
    if all == 0 { 0.0 } else { 2.0 * shared as f64 / all as f64 }
}
