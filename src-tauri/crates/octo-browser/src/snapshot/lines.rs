//! Converts the tree to lines: one per unit that a person reads as one, with the refs of its targets.

mod parts;
mod text;

use super::clean::push_clean_line;
use super::layout::NONE;
use super::marks::{NodeMarks, TargetMark};
use super::name::{self, NameQuotes};
use super::paint::HiddenReason;
use super::role::RolePart;
use super::tree::{Node, PageTree};
pub(super) use parts::{LineKind, LineTarget, RunMember, SiblingRun, SnapshotLine, SnapshotLines};
use text::{empty_line, has_text};

/// Minimum number of similar siblings in a run.
const MIN_RUN: usize = 6;
/// Maximum nesting depth of runs: more are useless, and a hostile depth would be slow.
const MAX_RUN_DEPTH: u8 = 6;
/// Minimum number of members for which a run's container has a ref to read it by.
const MIN_READABLE_RUN: u32 = 12;
/// Maximum indentation depth.
const MAX_INDENT: u8 = 12;
/// Maximum length of a target's name in its line, in characters. The content of a target with a longer name is
/// shown below it.
const MAX_INLINE_NAME: usize = 160;

/// Assigns numbers to nodes, by (frame, backend node id), and stores the data that a ref keeps.
pub(super) trait RefNumbers {
    /// Returns the ref of a node.
    fn number(&mut self, tree: &PageTree<'_>, node: &Node) -> u32;
    /// Returns whether a field's value must not be shown.
    fn is_secret(&mut self, tree: &PageTree<'_>, node: &Node) -> bool;
}

enum LineStep {
    /// Enters the node with this index, as a part of the run member with the second index, or `NONE`.
    Enter(u32, u32),
    /// Leaves a node.
    Leave(LineUndo),
}

/// State to restore at the end of a node.
enum LineUndo {
    Block,
    Nothing,
    Inline { quiet: bool },
    Row,
    Container { line: usize, keep_if_empty: bool },
    Heading { name: String, quiet: bool },
    NestedList,
}

pub(super) struct LineWriter<'t, 'a, N> {
    tree: &'t PageTree<'a>,
    marks: &'t NodeMarks,
    numbers: &'t mut N,
    out: SnapshotLines,
    line: SnapshotLine,
    depth: u8,
    /// Depth of rows, headings and targets, in which nothing breaks the line.
    inline: u32,
    /// Depth of headings and targets whose name stands for their text.
    quiet: u32,
    /// Depth of rows.
    rows: u32,
    /// Number of cells written in the current row.
    cells: u32,
    /// The name of the preceding control, until other text follows.
    last_name: String,
}

impl<'t, 'a, N: RefNumbers> LineWriter<'t, 'a, N> {
    pub fn write(tree: &'t PageTree<'a>, marks: &'t NodeMarks, numbers: &'t mut N) -> SnapshotLines {
        let mut writer = Self {
            tree,
            marks,
            numbers,
            out: SnapshotLines { headings: vec![String::new()], ..SnapshotLines::default() },
            line: empty_line(0),
            depth: 0,
            inline: 0,
            quiet: 0,
            rows: 0,
            cells: 0,
            last_name: String::new(),
        };
        writer.walk();
        writer.flush();
        writer.finish()
    }

    /// Returns the lines with every target's final line index.
    fn finish(self) -> SnapshotLines {
        let mut out = self.out;
        let mut indices = std::collections::HashMap::new();
        for (line, index) in out.lines.iter().zip(0..) {
            indices.extend(line.refs.iter().map(|number| (*number, index)));
        }
        for target in &mut out.targets {
            target.line = indices.get(&target.number).copied().unwrap_or(NONE);
        }
        out
    }

    fn walk(&mut self) {
        if self.tree.nodes.is_empty() {
            return;
        }
        let mut steps = vec![LineStep::Enter(0, NONE)];
        let mut member_depths: Vec<u8> = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                LineStep::Enter(index, member) => {
                    let Some(node) = self.tree.node(index) else { continue };
                    if node.part == RolePart::Text {
                        self.write_text(index, node, member);
                        continue;
                    }
                    if !self.marks.is_visible(index)
                        && !self.marks.is_target(index)
                        && self.marks.target_count_below(index) == 0
                    {
                        self.out.hidden_texts += usize::from(has_text(self.tree, node));
                        continue;
                    }
                    let Some(undo) = self.enter(index, node, member) else { continue };
                    steps.push(LineStep::Leave(undo));
                    let first_added = steps.len();
                    self.push_children(node, member, &mut member_depths, &mut steps);
                    if let Some(added) = steps.get_mut(first_added..) {
                        added.reverse();
                    }
                }
                LineStep::Leave(undo) => self.leave(undo),
            }
        }
    }

    /// Adds the steps that enter the children of a node, those of a run as its members.
    fn push_children(
        &mut self,
        node: &Node,
        member: u32,
        member_depths: &mut Vec<u8>,
        steps: &mut Vec<LineStep>,
    ) {
        let shape_of = |child: u32| {
            let visible = self.marks.is_visible(child) || self.marks.is_target(child);
            visible.then(|| self.marks.shapes.get(child as usize).copied().unwrap_or_default())
        };
        let depth = member_depths.get(member as usize).copied().unwrap_or_default();
        let visible: Vec<(u32, u64)> =
            node.children.iter().filter_map(|child| shape_of(*child).map(|shape| (*child, shape))).collect();
        if visible.len() < MIN_RUN || depth >= MAX_RUN_DEPTH {
            steps.extend(node.children.iter().map(|child| LineStep::Enter(*child, member)));
            return;
        }
        let mut in_run = std::collections::HashMap::new();
        for group in visible.chunk_by(|one, next| one.1 == next.1) {
            let Some((first, _)) = group.first() else { continue };
            if group.len() < MIN_RUN || !self.can_fold(*first) {
                continue;
            }
            let size = u32::try_from(group.len()).unwrap_or(NONE);
            let run = u32::try_from(self.out.runs.len()).unwrap_or(NONE);
            let container =
                (size >= MIN_READABLE_RUN && node.backend != 0).then(|| self.numbers.number(self.tree, node));
            let on_screen = group
                .iter()
                .position(|(child, _)| self.tree.node(*child).is_some_and(|child| child.on_screen));
            let first_on_screen =
                on_screen.and_then(|on_screen| u32::try_from(on_screen).ok()).unwrap_or_default();
            self.out.runs.push(SiblingRun { size, first_on_screen, container });
            for ((child, _), ordinal) in group.iter().zip(0..) {
                let member_index = u32::try_from(self.out.members.len()).unwrap_or(NONE);
                self.out.members.push(RunMember { run, ordinal, outer: member });
                member_depths.push(depth + 1);
                in_run.insert(*child, member_index);
            }
        }
        steps.extend(
            node.children
                .iter()
                .map(|child| LineStep::Enter(*child, in_run.get(child).copied().unwrap_or(member))),
        );
    }

    /// Returns whether siblings may be folded: never prose, only listed or usable items.
    fn can_fold(&self, node: u32) -> bool {
        let is_listed =
            self.tree.node(node).is_some_and(|node| matches!(node.part, RolePart::Row | RolePart::Item));
        is_listed || self.marks.is_target(node) || self.marks.target_count_below(node) > 0
    }

    fn write_text(&mut self, index: u32, node: &Node, member: u32) {
        match node.hidden {
            None | Some(HiddenReason::SameColour) => {}
            Some(_) => {
                self.out.hidden_texts += usize::from(!node.name.trim().is_empty());
                return;
            }
        }
        if self.quiet > 0 {
            return;
        }
        self.mark_node(index, node, member);
        // A label next to the control it names adds nothing.
        if !self.last_name.is_empty() && node.name.trim() == self.last_name {
            return;
        }
        if node.hidden.is_some() && !node.name.trim().is_empty() {
            self.line.text.push_str("(in the colour of its background) ");
        }
        if !node.name.trim().is_empty() {
            self.last_name.clear();
        }
        match self.rows {
            0 => push_clean_line(&mut self.line.text, &node.name),
            _ => push_clean_line(&mut self.line.text, &node.name.replace('|', "¦")),
        }
    }

    /// Begins a node. Returns the state to restore at its end, or `None` if it is already complete.
    fn enter(&mut self, index: u32, node: &Node, member: u32) -> Option<LineUndo> {
        if self.marks.is_target(index) {
            return self.write_target(index, node, member);
        }
        match node.part {
            RolePart::Hidden | RolePart::Text | RolePart::Field => None,
            RolePart::Break => {
                self.end_block();
                None
            }
            RolePart::Heading if self.inline == 0 => {
                self.end_block();
                self.line.kind = LineKind::Heading(node.level.clamp(1, 6));
                self.inline += 1;
                self.mark_node(index, node, member);
                Some(LineUndo::Heading { name: node.name.clone(), quiet: false })
            }
            RolePart::NamedContainer if node.name.is_empty() => Some(self.begin_block()),
            RolePart::Container | RolePart::NamedContainer | RolePart::Frame if self.inline == 0 => {
                let mut text = node.role.to_string();
                if !node.name.is_empty() {
                    text.push_str(&format!(
                        " {}",
                        name::label(self.tree, node, &node.name, NameQuotes::Quoted)
                    ));
                }
                text.push_str(&node.states);
                if node.part == RolePart::Frame {
                    text.push_str(&self.foreign_origin(node));
                }
                text.push(':');
                Some(self.write_container(index, node, member, &text))
            }
            RolePart::Row if self.inline == 0 && self.marks.rows_below.get(index as usize) == Some(&0) => {
                self.flush();
                (self.inline, self.rows, self.cells) = (self.inline + 1, self.rows + 1, 0);
                self.mark_node(index, node, member);
                Some(LineUndo::Row)
            }
            RolePart::Cell if self.rows > 0 => {
                if self.cells > 0 {
                    self.add_separator();
                }
                self.cells += 1;
                Some(LineUndo::Nothing)
            }
            RolePart::List if self.inline == 0 && self.in_item(node) => {
                self.flush();
                self.depth = (self.depth + 1).min(MAX_INDENT);
                Some(LineUndo::NestedList)
            }
            RolePart::Picture => {
                if node.hidden.is_none()
                    && self.quiet == 0
                    && !(node.name.is_empty() && node.value.is_empty())
                {
                    self.mark_node(index, node, member);
                    let label = format!(
                        "{} {}",
                        node.role,
                        name::label(self.tree, node, &node.name, NameQuotes::Quoted)
                    );
                    self.push_word(label.trim());
                    if !node.value.is_empty() {
                        self.push_word(&node.value.clone());
                    }
                    self.line.text.push(' ');
                }
                self.inline += 1;
                Some(LineUndo::Inline { quiet: false })
            }
            RolePart::Transparent | RolePart::Code if !node.block => Some(LineUndo::Nothing),
            _ => Some(self.begin_block()),
        }
    }

    fn write_target(&mut self, index: u32, node: &Node, member: u32) -> Option<LineUndo> {
        let mark = self.marks.target_marks.get(index as usize).copied().unwrap_or(TargetMark::Not);
        let word = name::role_word(node, mark);
        if node.part == RolePart::Row && self.inline == 0 {
            let number = self.assign_number(node, word, &node.name);
            self.flush();
            (self.inline, self.rows, self.cells) = (self.inline + 1, self.rows + 1, 0);
            self.push_target(index, node, member, &format!("{word} [{number}]{}", node.states), number);
            return Some(LineUndo::Row);
        }
        if node.part == RolePart::Heading {
            self.flush();
            self.line.kind = LineKind::Heading(node.level.clamp(1, 6));
        } else if node.part == RolePart::Cell && self.rows > 0 {
            if self.cells > 0 {
                self.add_separator();
            }
            self.cells += 1;
        } else if node.block && self.inline == 0 {
            self.flush();
        }
        let name = name::name(self.tree, node);
        let number = self.assign_number(node, word, &name);
        let is_secret =
            (node.part == RolePart::Field || node.editable) && self.numbers.is_secret(self.tree, node);
        let states = name::states_and_value(self.tree, node, is_secret);
        let is_field = node.part == RolePart::Field || matches!(&*node.role, "canvas" | "video" | "audio");
        if !is_field
            && name.chars().count() > MAX_INLINE_NAME
            && self.inline == 0
            && !node.children.is_empty()
        {
            let hint = name::hint(self.tree, node);
            let text = format!("{word} {hint} [{number}]{states}:");
            let undo = self.write_container(index, node, member, &text);
            if let Some(line) = self.out.lines.last_mut() {
                (line.targets, line.refs) = (line.text.clone(), vec![number]);
            }
            return Some(match undo {
                LineUndo::Container { line, .. } => LineUndo::Container { line, keep_if_empty: true },
                other => other,
            });
        }
        let quotes = if self.rows > 0 { NameQuotes::Bare } else { NameQuotes::Quoted };
        let label = name::label(self.tree, node, &name, quotes);
        let mut text = format!("{word} {label} [{number}]{states}");
        if let Some(content) = name::differing_text(self.tree.layout(node.frame), node) {
            text.push_str(&format!(" shows {}", name::label(self.tree, node, &content, quotes)));
        }
        let is_on_own_line = node.block && self.inline == 0 && self.marks.target_count_below(index) == 0;
        let is_form_control =
            node.part == RolePart::Field || matches!(&*node.role, "checkbox" | "radio" | "switch");
        if mark == TargetMark::Role && !name.is_empty() {
            self.drop_label(&name);
        }
        self.push_target(index, node, member, &text, number);
        if is_form_control {
            self.last_name.clone_from(&name);
        }
        if node.part == RolePart::Field {
            if is_on_own_line {
                self.flush();
            }
            return None;
        }
        if node.part == RolePart::Heading {
            self.inline += 1;
            self.quiet += 1;
            return Some(LineUndo::Heading { name, quiet: true });
        }
        let replaces_text = !node.editable || !node.name.is_empty();
        self.inline += 1;
        self.quiet += u32::from(replaces_text);
        Some(LineUndo::Inline { quiet: replaces_text })
    }

    fn assign_number(&mut self, node: &Node, word: &str, name: &str) -> u32 {
        let number = self.numbers.number(self.tree, node);
        let name = if name.is_empty() { name::hint(self.tree, node) } else { name.to_owned() };
        self.out.targets.push(LineTarget {
            number,
            kind_word: word.to_owned(),
            name,
            origin: self.tree.frame(node).map(|frame| frame.origin.clone()).unwrap_or_default(),
            heading: u32::try_from(self.out.headings.len()).unwrap_or(NONE).saturating_sub(1),
            line: NONE,
        });
        number
    }

    fn leave(&mut self, undo: LineUndo) {
        match undo {
            LineUndo::Block => self.end_block(),
            LineUndo::Inline { quiet } => {
                self.inline = self.inline.saturating_sub(1);
                self.quiet = self.quiet.saturating_sub(u32::from(quiet));
            }
            LineUndo::Nothing => {}
            LineUndo::Row => {
                (self.inline, self.rows) = (self.inline.saturating_sub(1), self.rows.saturating_sub(1));
                self.flush();
            }
            LineUndo::Container { line, keep_if_empty } => {
                self.flush();
                self.depth = self.out.lines.get(line).map_or(0, |line| line.depth);
                if !keep_if_empty && self.out.lines.len() == line + 1 {
                    self.out.lines.pop();
                }
                self.line.depth = self.depth;
            }
            LineUndo::Heading { name, quiet } => {
                self.inline = self.inline.saturating_sub(1);
                self.quiet = self.quiet.saturating_sub(u32::from(quiet));
                if self.line.text.trim().is_empty() {
                    push_clean_line(&mut self.line.text, &name);
                }
                self.out.headings.push(name);
                self.end_block();
            }
            LineUndo::NestedList => {
                self.flush();
                self.depth = self.depth.saturating_sub(1);
                self.line.depth = self.depth;
            }
        }
    }

    fn begin_block(&mut self) -> LineUndo {
        self.end_block();
        LineUndo::Block
    }

    /// Handles a block's edge: ends the line or, in a row, separates words.
    fn end_block(&mut self) {
        if self.inline == 0 {
            self.flush();
        } else if !self.line.text.is_empty() && !self.line.text.ends_with(' ') {
            self.line.text.push(' ');
        }
    }

    fn write_container(&mut self, index: u32, node: &Node, member: u32, text: &str) -> LineUndo {
        self.flush();
        self.mark_node(index, node, member);
        self.line.kind = LineKind::Container;
        self.line.text.push_str(text);
        let line = self.out.lines.len();
        self.flush();
        // A legend or title inside that repeats the name is left out.
        self.last_name.clone_from(&node.name);
        self.depth = (self.depth + 1).min(MAX_INDENT);
        self.line.depth = self.depth;
        LineUndo::Container { line, keep_if_empty: false }
    }

    fn foreign_origin(&self, node: &Node) -> String {
        let owned_frame = node.children.first().and_then(|child| self.tree.node(*child));
        let inner = owned_frame
            .and_then(|owned_frame| self.tree.frame(owned_frame))
            .map(|frame| frame.origin.as_str())
            .unwrap_or_default();
        let outer = self.tree.frames.first().map(|frame| frame.origin.as_str()).unwrap_or_default();
        if inner.is_empty() || inner.ends_with("://") || inner == outer {
            String::new()
        } else {
            format!(" {}", super::clean::truncate(inner, 80))
        }
    }
}
