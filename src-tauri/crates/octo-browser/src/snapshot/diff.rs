//! The changes caused by an action, in a few lines.

use std::collections::{HashMap, HashSet};

use super::clean::truncate;
use super::lines::SnapshotLine;
use super::render::{RenderFilter, push_line};
use super::tokens::estimate_tokens;
use super::view::Snapshot;

/// The changes between two snapshots of a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The extent of the change.
    pub change: ChangeExtent,
    /// The change as text, for a model.
    pub text: String,
}

/// The extent of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeExtent {
    /// Nothing that a snapshot shows.
    Nothing,
    /// Some lines of the same page.
    Lines,
    /// The tab shows another document: the text is its snapshot.
    Page,
}

/// Maximum length of a printed changed line, in characters.
const MAX_LINE: usize = 400;
/// Maximum number of removed lines printed.
const MAX_REMOVED_LINES: usize = 8;
/// Maximum size of the notes at the end, in tokens.
const NOTES_BUDGET: usize = 40;

impl Snapshot {
    /// Returns the changes since an earlier snapshot, in about `budget` estimated tokens: `+` is new, `-` is
    /// removed, `~` is the current text of a line with the same first ref. On-screen changes have priority if
    /// not everything fits.
    pub fn diff(&self, earlier: &Self, budget: usize) -> Diff {
        if self.document != earlier.document {
            let text = self.render(budget, RenderFilter::default()).text;
            return Diff { change: ChangeExtent::Page, text: format!("another page:\n{text}") };
        }
        let (added, removed) = self.changed_lines(earlier);
        let mut lines: Vec<(u8, String, bool)> = Vec::new();
        if self.header() != earlier.header() {
            lines.push((0, format!("~ {}", self.header()), true));
        }
        let by_ref: HashMap<u32, usize> = removed
            .iter()
            .rev()
            .filter_map(|index| Some((*earlier.line(*index)?.refs.first()?, *index)))
            .collect();
        let mut replaced = HashSet::new();
        for line in added.iter().filter_map(|index| self.line(*index)) {
            let previous = line
                .refs
                .first()
                .and_then(|number| by_ref.get(number))
                .filter(|previous| replaced.insert(**previous));
            let sign = if previous.is_some() { '~' } else { '+' };
            lines.push((line.depth, format!("{sign} {}", truncate(&line.text, MAX_LINE)), line.on_screen));
        }
        let remaining: Vec<&SnapshotLine> = removed
            .iter()
            .filter(|index| !replaced.contains(*index))
            .filter_map(|index| earlier.line(*index))
            .collect();
        if let Some(focus) = self.moved_focus(earlier, &added) {
            lines.push((0, focus, true));
        }
        if lines.is_empty() && remaining.is_empty() {
            return Diff { change: ChangeExtent::Nothing, text: "nothing changed on the page".to_owned() };
        }
        Diff { change: ChangeExtent::Lines, text: write(&lines, &remaining, budget) }
    }

    /// Returns the lines that are new here, and those of the earlier snapshot that were removed; moved lines
    /// are neither.
    fn changed_lines(&self, earlier: &Self) -> (Vec<usize>, Vec<usize>) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for line in &earlier.lines.lines {
            *counts.entry(without_focus(line)).or_default() += 1;
        }
        let mut added = Vec::new();
        for (line, index) in self.lines.lines.iter().zip(0..) {
            match counts.get_mut(&without_focus(line)).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => added.push(index),
            }
        }
        let mut removed = Vec::new();
        for (index, line) in earlier.lines.lines.iter().enumerate().rev() {
            if let Some(count) = counts.get_mut(&without_focus(line)).filter(|count| **count > 0) {
                *count -= 1;
                removed.push(index);
            }
        }
        removed.reverse();
        (added, removed)
    }

    /// Returns a note on the focus, if it moved and is in none of the new lines.
    fn moved_focus(&self, earlier: &Self, added: &[usize]) -> Option<String> {
        let focused =
            |snapshot: &Self| snapshot.lines.lines.iter().position(|line| line.text != without_focus(line));
        let current = focused(self)?;
        let line = self.line(current)?;
        let previous = focused(earlier).and_then(|index| earlier.line(index));
        let unchanged = previous.is_some_and(|previous| previous.refs == line.refs);
        (!unchanged && !added.contains(&current))
            .then(|| format!("focus: {}", truncate(&without_focus(line), 120)))
    }
}

fn without_focus(line: &SnapshotLine) -> String {
    if line.refs.is_empty() { line.text.clone() } else { line.text.replace(" focused", "") }
}

fn write(lines: &[(u8, String, bool)], removed: &[&SnapshotLine], budget: usize) -> String {
    let cost = |text: &str| estimate_tokens(text) + 2;
    let mut remaining = budget.saturating_sub(NOTES_BUDGET);
    let mut included = vec![false; lines.len()];
    for on_screen in [true, false] {
        for ((_, text, is_visible), included) in lines.iter().zip(&mut included) {
            if *is_visible == on_screen && cost(text) <= remaining {
                remaining -= cost(text);
                *included = true;
            }
        }
    }
    let mut out = String::new();
    for ((depth, text, _), _) in lines.iter().zip(&included).filter(|(_, included)| **included) {
        push_line(&mut out, *depth, text);
    }
    let omitted = included.iter().filter(|included| !**included).count();
    if omitted > 0 {
        push_line(&mut out, 0, &format!("+ ... {omitted} more lines: find them, or take a snapshot"));
    }
    let mut shown_removed = 0;
    for line in removed.iter().take(MAX_REMOVED_LINES) {
        let text = format!("- {}", truncate(&line.text, 80));
        if cost(&text) > remaining {
            break;
        }
        remaining -= cost(&text);
        shown_removed += 1;
        push_line(&mut out, 0, &text);
    }
    if shown_removed < removed.len() {
        push_line(&mut out, 0, &format!("- ... {} more lines are gone", removed.len() - shown_removed));
    }
    out
}
