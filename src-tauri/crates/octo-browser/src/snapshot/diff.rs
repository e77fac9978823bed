//! The changes caused by an action, in a few lines.

use std::collections::{HashMap, HashSet};

use super::clean::cut;
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
const LINE: usize = 400;
/// Maximum number of removed lines printed.
const MAX_REMOVED_LINES: usize = 8;
/// Maximum size of the notes at the end, in tokens.
const NOTES: usize = 40;

impl Snapshot {
    /// Returns the changes since an earlier snapshot, in about `budget` estimated tokens: `+` is new, `-` is
    /// removed, `~` is the current text of a line with the same first ref. On-screen changes have priority if
    /// not everything fits.
    pub fn diff(&self, before: &Self, budget: usize) -> Diff {
        if self.document != before.document {
            let text = self.render(budget, RenderFilter::default()).text;
            return Diff { change: ChangeExtent::Page, text: format!("another page:\n{text}") };
        }
        let (new, gone) = self.changed(before);
        let mut lines: Vec<(u8, String, bool)> = Vec::new();
        if self.header() != before.header() {
            lines.push((0, format!("~ {}", self.header()), true));
        }
        let by_ref: HashMap<u32, usize> = gone
            .iter()
            .rev()
            .filter_map(|place| Some((*before.line(*place)?.refs.first()?, *place)))
            .collect();
        let mut replaced = HashSet::new();
        for line in new.iter().filter_map(|place| self.line(*place)) {
            let old =
                line.refs.first().and_then(|number| by_ref.get(number)).filter(|old| replaced.insert(**old));
            let sign = if old.is_some() { '~' } else { '+' };
            lines.push((line.depth, format!("{sign} {}", cut(&line.text, LINE)), line.on_screen));
        }
        let left: Vec<&SnapshotLine> = gone
            .iter()
            .filter(|place| !replaced.contains(*place))
            .filter_map(|place| before.line(*place))
            .collect();
        if let Some(focus) = self.moved_focus(before, &new) {
            lines.push((0, focus, true));
        }
        if lines.is_empty() && left.is_empty() {
            return Diff { change: ChangeExtent::Nothing, text: "nothing changed on the page".to_owned() };
        }
        Diff { change: ChangeExtent::Lines, text: write(&lines, &left, budget) }
    }

    /// Returns the lines that are new here, and those of the earlier snapshot that were removed; moved lines
    /// are neither.
    fn changed(&self, before: &Self) -> (Vec<usize>, Vec<usize>) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for line in &before.lines.lines {
            *counts.entry(without_focus(line)).or_default() += 1;
        }
        let mut new = Vec::new();
        for (line, place) in self.lines.lines.iter().zip(0..) {
            match counts.get_mut(&without_focus(line)).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => new.push(place),
            }
        }
        let mut gone = Vec::new();
        for (place, line) in before.lines.lines.iter().enumerate().rev() {
            if let Some(count) = counts.get_mut(&without_focus(line)).filter(|count| **count > 0) {
                *count -= 1;
                gone.push(place);
            }
        }
        gone.reverse();
        (new, gone)
    }

    /// Returns a note on the focus, if it moved and is in none of the new lines.
    fn moved_focus(&self, before: &Self, new: &[usize]) -> Option<String> {
        let focused =
            |snapshot: &Self| snapshot.lines.lines.iter().position(|line| line.text != without_focus(line));
        let now = focused(self)?;
        let line = self.line(now)?;
        let then = focused(before).and_then(|place| before.line(place));
        let same = then.is_some_and(|then| then.refs == line.refs);
        (!same && !new.contains(&now)).then(|| format!("focus: {}", cut(&without_focus(line), 120)))
    }
}

fn without_focus(line: &SnapshotLine) -> String {
    if line.refs.is_empty() { line.text.clone() } else { line.text.replace(" focused", "") }
}

fn write(lines: &[(u8, String, bool)], gone: &[&SnapshotLine], budget: usize) -> String {
    let price = |text: &str| estimate_tokens(text) + 2;
    let mut left = budget.saturating_sub(NOTES);
    let mut kept = vec![false; lines.len()];
    for on_screen in [true, false] {
        for ((_, text, seen), kept) in lines.iter().zip(&mut kept) {
            if *seen == on_screen && price(text) <= left {
                left -= price(text);
                *kept = true;
            }
        }
    }
    let mut out = String::new();
    for ((depth, text, _), _) in lines.iter().zip(&kept).filter(|(_, kept)| **kept) {
        push_line(&mut out, *depth, text);
    }
    let more = kept.iter().filter(|kept| !**kept).count();
    if more > 0 {
        push_line(&mut out, 0, &format!("+ ... {more} more lines: find them, or take a snapshot"));
    }
    let mut told = 0;
    for line in gone.iter().take(MAX_REMOVED_LINES) {
        let text = format!("- {}", cut(&line.text, 80));
        if price(&text) > left {
            break;
        }
        left -= price(&text);
        told += 1;
        push_line(&mut out, 0, &text);
    }
    if told < gone.len() {
        push_line(&mut out, 0, &format!("- ... {} more lines are gone", gone.len() - told));
    }
    out
}
