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
        Some(index) => {
            let start = index.saturating_sub(LINES_BEFORE);
            let excerpt: Vec<String> = lines
                .iter()
                .enumerate()
                .skip(start)
                .take(index - start + LINES_AFTER)
                .map(|(number, line)| {
                    let text: String = line.trim_end_matches('\r').chars().take(MAX_SHOWN).collect();
                    format!("{:>6}\t{text}", number + 1)
                })
                .collect();
            format!(
                " The nearest is line {}:\n{}\nCompare white space and quotes exactly.",
                index + 1,
                excerpt.join("\n")
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
    let wanted_lines: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = wanted_lines.first()?;
    if let Some(index) = lines.iter().position(|line| line.trim() == *first) {
        return Some(index);
    }
    let longest = wanted_lines.iter().max_by_key(|line| line.len())?;
    let pairs = pairs(longest);
    let mut best = (MIN_LIKENESS, None);
    for (index, line) in lines.iter().enumerate() {
        let likeness = similarity(&pairs, line.trim());
        if likeness > best.0 {
            best = (likeness, Some(index));
        }
    }
    best.1
}

fn pairs(text: &str) -> HashSet<(char, char)> {
    text.chars().zip(text.chars().skip(1)).take(1_000).collect()
}

/// Returns the share of adjacent character pairs that two lines have in common (Dice's coefficient), 0 to 1.
fn similarity(a: &HashSet<(char, char)>, b: &str) -> f64 {
    let b = pairs(b);
    let total = a.len() + b.len();
    let common = b.iter().filter(|pair| a.contains(pair)).count();
    if total == 0 { 0.0 } else { 2.0 * common as f64 / total as f64 }
}
