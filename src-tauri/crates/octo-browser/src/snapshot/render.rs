//! Renders a snapshot within a budget: folds long runs first, then drops off-screen content.

use super::clean::truncate;
use super::layout::NONE;
use super::lines::{LineKind, SnapshotLine};
use super::tokens::estimate_tokens;
use super::view::Snapshot;

/// Selects the lines of a page that a text includes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderFilter {
    /// The kind of lines.
    pub content: LineSelection,
    /// The area of the page.
    pub area: SnapshotArea,
}

/// The kind of lines included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineSelection {
    /// Text and targets.
    #[default]
    All,
    /// Only targets.
    Targets,
}

/// The area of the page included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotArea {
    /// The whole page.
    #[default]
    Page,
    /// The viewport: the part visible without scrolling.
    Viewport,
}

/// A rendered snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedSnapshot {
    /// The text; its first line names the page.
    pub text: String,
    /// Its estimated token count.
    pub tokens: usize,
    /// The parts omitted to fit the budget, in page order.
    pub omitted: Vec<OmittedLines>,
}

/// Lines omitted at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OmittedLines {
    /// Number of lines.
    pub lines: usize,
    /// Number of targets in them.
    pub targets: usize,
    /// The ref to read for all of them, if they are the rest of a run of similar items.
    pub container_ref: Option<u32>,
}

/// A budget that omits nothing.
pub const WHOLE: usize = usize::MAX;
/// Minimum budget: the page's name and a note on the omissions.
const MIN_BUDGET: usize = 250;
/// Numbers of members to which runs are shortened; the first that fits is used.
const RUN_LENGTHS: [u32; 4] = [30, 10, 5, 3];
/// Maximum length of a line under a budget, in characters; a line with refs may have four times that.
const MAX_LINE: usize = 500;
/// Maximum size of a note on omitted lines, in tokens.
const NOTE_BUDGET: usize = 22;

#[derive(Clone, Copy)]
enum RenderItem {
    Line(usize),
    Fold { depth: u8, omitted: OmittedLines, run: u32 },
}

impl Snapshot {
    /// Renders the snapshot in at most `budget` estimated tokens (no fewer than 250; [`WHOLE`] omits nothing).
    /// If the page needs more than half of it, long runs of similar items are shortened; if it still does not
    /// fit, on-screen content is included first, then headings, then the rest in order.
    pub fn render(&self, budget: usize, filter: RenderFilter) -> RenderedSnapshot {
        let budget = budget.max(MIN_BUDGET);
        let selected: Vec<usize> =
            (0..self.lines.lines.len()).filter(|line| self.is_selected(*line, filter)).collect();
        let mut items: Vec<RenderItem> = selected.iter().map(|line| RenderItem::Line(*line)).collect();
        let mut cost = self.total_cost(&items, filter, budget);
        if cost > budget / 2 {
            for run_length in RUN_LENGTHS {
                items = self.fold_runs(&selected, run_length);
                cost = self.total_cost(&items, filter, budget);
                if cost <= budget {
                    break;
                }
            }
        }
        let included =
            if cost <= budget { vec![true; items.len()] } else { self.choose(&items, filter, budget) };
        self.compose(&items, &included, filter, budget)
    }

    fn is_selected(&self, line: usize, filter: RenderFilter) -> bool {
        let Some(line) = self.line(line) else { return false };
        (filter.content == LineSelection::All || !line.refs.is_empty())
            && (filter.area == SnapshotArea::Page || line.on_screen)
    }

    /// Returns the token cost of all items.
    fn total_cost(&self, items: &[RenderItem], filter: RenderFilter, budget: usize) -> usize {
        let lines: usize = items.iter().map(|item| self.item_cost(item, filter, budget)).sum();
        lines + estimate_tokens(&self.header()) + NOTE_BUDGET
    }

    fn item_cost(&self, item: &RenderItem, filter: RenderFilter, budget: usize) -> usize {
        match item {
            RenderItem::Fold { .. } => NOTE_BUDGET,
            RenderItem::Line(line) => self.line(*line).map_or(0, |line| {
                let is_whole = filter.content == LineSelection::All && line.text.len() <= MAX_LINE;
                // One token more for the prefix.
                if is_whole {
                    line.tokens as usize + 1
                } else {
                    estimate_tokens(&print_line(line, filter, budget)) + 2
                }
            }),
        }
    }

    /// Returns the lines with runs shortened to `run_length` members, from the first one on the screen.
    fn fold_runs(&self, selected: &[usize], run_length: u32) -> Vec<RenderItem> {
        let mut items: Vec<RenderItem> = Vec::with_capacity(selected.len());
        for index in selected {
            let Some(line) = self.line(*index) else { continue };
            match self.omitting_run(line.member, run_length) {
                None => items.push(RenderItem::Line(*index)),
                Some(run) => match items.last_mut() {
                    Some(RenderItem::Fold { run: last, omitted, .. }) if *last == run => {
                        omitted.lines += 1;
                        omitted.targets += line.refs.len();
                    }
                    _ => {
                        let container_ref = self.lines.runs.get(run as usize).and_then(|run| run.container);
                        let omitted = OmittedLines { lines: 1, targets: line.refs.len(), container_ref };
                        items.push(RenderItem::Fold { depth: line.depth, omitted, run });
                    }
                },
            }
        }
        items
    }

    /// Returns the outermost run from which the given member is left out.
    fn omitting_run(&self, member: u32, run_length: u32) -> Option<u32> {
        let mut found = None;
        let mut next = member;
        while next != NONE {
            let member = self.lines.members.get(next as usize)?;
            if let Some(run) = self.lines.runs.get(member.run as usize)
                && run.size > run_length.saturating_add(2)
            {
                let first = run.first_on_screen.min(run.size - run_length);
                let shown = first..first.saturating_add(run_length);
                if !shown.contains(&member.ordinal) {
                    found = Some(member.run);
                }
            }
            next = member.outer;
        }
        found
    }

    /// Chooses the items to keep if not all fit.
    fn choose(&self, items: &[RenderItem], filter: RenderFilter, budget: usize) -> Vec<bool> {
        let mut included = vec![false; items.len()];
        let mut remaining = budget.saturating_sub(estimate_tokens(&self.header()) + 2 * NOTE_BUDGET);
        let on_screen = |item: &RenderItem| matches!(item, RenderItem::Line(line) if self.line(*line).is_some_and(|line| line.on_screen));
        let heading = |item: &RenderItem| matches!(item, RenderItem::Line(line) if self.line(*line).is_some_and(|line| matches!(line.kind, LineKind::Heading(1..=3))));
        let priorities: [&dyn Fn(&RenderItem) -> bool; 3] = [&on_screen, &heading, &|_| true];
        for (pass, has_priority) in priorities.into_iter().enumerate() {
            // Headings are an outline: they may use half of the remaining budget.
            let reserve = if pass == 1 { remaining / 2 } else { 0 };
            for (index, item) in items.iter().enumerate() {
                if !has_priority(item) || included.get(index) == Some(&true) {
                    continue;
                }
                let follows_included =
                    index.checked_sub(1).is_some_and(|before| included.get(before) == Some(&true));
                let cost =
                    self.item_cost(item, filter, budget) + if follows_included { 0 } else { NOTE_BUDGET };
                if cost + reserve > remaining {
                    break;
                }
                remaining -= cost;
                if let Some(included) = included.get_mut(index) {
                    *included = true;
                }
            }
        }
        included
    }

    fn compose(
        &self,
        items: &[RenderItem],
        included: &[bool],
        filter: RenderFilter,
        budget: usize,
    ) -> RenderedSnapshot {
        let mut text = self.header();
        let mut all_omitted = Vec::new();
        let mut pending_omission: Option<(u8, OmittedLines)> = None;
        let mut add_note = |text: &mut String, pending_omission: &mut Option<(u8, OmittedLines)>| {
            if let Some((depth, omitted)) = pending_omission.take() {
                push_line(text, depth, &omitted.omission_note());
                all_omitted.push(omitted);
            }
        };
        for (item, included) in items.iter().zip(included) {
            match (item, included) {
                (RenderItem::Line(line), true) => {
                    let Some(line) = self.line(*line) else { continue };
                    add_note(&mut text, &mut pending_omission);
                    push_line(&mut text, line.depth, &print_line(line, filter, budget));
                }
                (RenderItem::Fold { depth, omitted, .. }, true) => {
                    add_note(&mut text, &mut pending_omission);
                    pending_omission = Some((*depth, *omitted));
                    add_note(&mut text, &mut pending_omission);
                }
                (item, false) => {
                    let (lines, targets) = match item {
                        RenderItem::Fold { omitted, .. } => (omitted.lines, omitted.targets),
                        RenderItem::Line(line) => (1, self.line(*line).map_or(0, |line| line.refs.len())),
                    };
                    let (_, omitted) = pending_omission
                        .get_or_insert((0, OmittedLines { lines: 0, targets: 0, container_ref: None }));
                    omitted.lines += lines;
                    omitted.targets += targets;
                }
            }
        }
        add_note(&mut text, &mut pending_omission);
        RenderedSnapshot { tokens: estimate_tokens(&text), text, omitted: all_omitted }
    }
}

impl OmittedLines {
    fn omission_note(&self) -> String {
        let lines = if self.lines == 1 { "line" } else { "lines" };
        let targets = match self.targets {
            0 => String::new(),
            1 => " with 1 target".to_owned(),
            targets => format!(" with {targets} targets"),
        };
        match self.container_ref {
            Some(number) => {
                format!("... {} more {lines} like these{targets}: find, or read [{number}]", self.lines)
            }
            None => format!("... {} more {lines}{targets}: find or read them", self.lines),
        }
    }
}

/// Returns a line as printed, without its indentation.
fn print_line(line: &SnapshotLine, filter: RenderFilter, budget: usize) -> String {
    let text = if filter.content == LineSelection::Targets { &line.targets } else { &line.text };
    let limit = if line.refs.is_empty() { MAX_LINE } else { 4 * MAX_LINE };
    if budget == WHOLE { text.clone() } else { truncate(text, limit).into_owned() }
}

pub(super) fn push_line(text: &mut String, depth: u8, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.extend(std::iter::repeat_n(' ', usize::from(depth)));
    text.push_str(line);
}
