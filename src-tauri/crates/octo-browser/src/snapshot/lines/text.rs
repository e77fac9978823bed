//! Writes the text of a line, piece by piece.

use super::super::{
    layout::NONE,
    role::RolePart,
    tokens::estimate_tokens,
    tree::{Node, PageTree},
};
use super::{LineKind, LineWriter, RefNumbers, SnapshotLine};

impl<N: RefNumbers> LineWriter<'_, '_, N> {
    pub(super) fn in_item(&self, node: &Node) -> bool {
        self.tree.node(node.parent).is_some_and(|parent| parent.part == RolePart::Item)
    }

    pub(super) fn add_separator(&mut self) {
        let end = self.line.text.trim_end().len();
        self.line.text.truncate(end);
        self.line.text.push_str(" | ");
    }

    /// Removes the label just written, if it is the control's name.
    pub(super) fn drop_label(&mut self, name: &str) {
        let trimmed = self.line.text.trim_end();
        if self.line.refs.is_empty() && trimmed == name {
            self.line.text.clear();
        } else if let Some(before) = trimmed.strip_suffix(name).filter(|before| before.ends_with(' ')) {
            self.line.text.truncate(before.len());
        } else if trimmed.is_empty()
            && self.out.lines.last().is_some_and(|last| {
                last.refs.is_empty()
                    && last.kind == LineKind::Plain
                    && last.text == name
                    && last.depth == self.depth
            })
        {
            self.out.lines.pop();
        }
    }

    /// Writes a separate word, with a space before it.
    pub(super) fn push_word(&mut self, text: &str) {
        if !self.line.text.is_empty() && !self.line.text.ends_with(' ') {
            self.line.text.push(' ');
        }
        self.line.text.push_str(text);
    }

    pub(super) fn push_target(&mut self, index: u32, node: &Node, member: u32, text: &str, number: u32) {
        self.last_name.clear();
        self.mark_node(index, node, member);
        self.push_word(text);
        self.line.text.push(' ');
        if !self.line.targets.is_empty() {
            self.line.targets.push(' ');
        }
        self.line.targets.push_str(text);
        self.line.refs.push(number);
    }

    /// Marks the line as containing part of this node.
    pub(super) fn mark_node(&mut self, index: u32, node: &Node, member: u32) {
        if self.line.node == NONE {
            (self.line.node, self.line.member, self.line.depth) = (index, member, self.depth);
        }
        self.line.on_screen |= node.on_screen;
    }

    pub(super) fn flush(&mut self) {
        let mut line = std::mem::replace(&mut self.line, empty_line(self.depth));
        let has_only_bars = line.refs.is_empty() && line.text.chars().all(|char| char == '|' || char == ' ');
        if line.node == NONE || has_only_bars {
            return;
        }
        let end = line.text.trim_end().len();
        line.text.truncate(end);
        if let LineKind::Heading(level) = line.kind {
            line.text.insert_str(0, &format!("{} ", "#".repeat(usize::from(level))));
        }
        line.tokens = u32::try_from(estimate_tokens(&line.text) + 1).unwrap_or(NONE);
        self.out.lines.push(line);
    }
}

pub(super) fn empty_line(depth: u8) -> SnapshotLine {
    SnapshotLine {
        depth,
        kind: LineKind::Plain,
        text: String::new(),
        targets: String::new(),
        refs: Vec::new(),
        node: NONE,
        on_screen: false,
        member: NONE,
        tokens: 0,
    }
}

pub(super) fn has_text(tree: &PageTree<'_>, node: &Node) -> bool {
    node.children
        .iter()
        .filter_map(|child| tree.node(*child))
        .any(|child| child.part == RolePart::Text && !child.name.trim().is_empty())
}
