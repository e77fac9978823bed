//! Clickable elements that are hidden from assistive technology.

use super::{Node, TreeJoiner, text_under};
use crate::snapshot::{
    layout::{NONE, NodeKind},
    role::RolePart,
};

impl TreeJoiner<'_> {
    /// Adds the clickable elements that are in no accessibility tree, in document order.
    pub(super) fn add_inaccessible(&mut self) {
        let mut added: Vec<(u32, u32, u32)> = Vec::new();
        for frame in 0..u32::try_from(self.tree.frames.len()).unwrap_or_default() {
            let Some(layout) = self.tree.layout(frame) else { continue };
            let mut tree_indices = vec![NONE; layout.facts.len()];
            for (node, index) in self.tree.nodes.iter().zip(0..) {
                if node.frame == frame
                    && let Some(tree_indices) = tree_indices.get_mut(node.fact as usize)
                {
                    *tree_indices = index;
                }
            }
            let mut found = Vec::new();
            let mut next_index = u32::try_from(self.tree.nodes.len()).unwrap_or(NONE);
            for (fact, index) in layout.facts.iter().zip(0_u32..) {
                let existing = tree_indices.get(index as usize).copied().unwrap_or(NONE);
                if existing != NONE {
                    continue;
                }
                let parent = tree_indices.get(fact.parent as usize).copied().unwrap_or(NONE);
                let is_candidate = (fact.clickable || fact.pointer)
                    && fact.kind == NodeKind::Element
                    && fact.hidden.is_none();
                let tree_index = if is_candidate && parent != NONE {
                    found.push((parent, index));
                    next_index += 1;
                    next_index - 1
                } else {
                    parent
                };
                if let Some(slot) = tree_indices.get_mut(index as usize) {
                    *slot = tree_index;
                }
            }
            for (parent, index) in found {
                let node = self.inaccessible_node(frame, index, parent);
                let node_index = u32::try_from(self.tree.nodes.len()).unwrap_or(NONE);
                self.tree.nodes.push(node);
                added.push((parent, index, node_index));
            }
        }
        self.insert_in_order(added);
    }

    /// Creates the node of a clickable element; `fact` and `parent` are indexes in its layout and in the tree.
    fn inaccessible_node(&self, frame: u32, fact: u32, parent: u32) -> Node {
        let layout = self.tree.layout(frame);
        let layout_fact = layout.and_then(|layout| layout.fact(fact));
        let mut node = Node {
            part: RolePart::Control,
            name: layout.map(|layout| text_under(layout, fact)).unwrap_or_default(),
            ..Node::positioned(
                (frame, parent),
                (fact, layout_fact.map(|fact| fact.backend).unwrap_or_default()),
            )
        };
        self.apply_layout(&mut node);
        node
    }

    /// Inserts the added nodes among their parents' children. Each entry of `added` is the parent's index in
    /// the tree, the element's index in its layout, and the node's index in the tree.
    fn insert_in_order(&mut self, mut added: Vec<(u32, u32, u32)>) {
        added.sort_unstable();
        for group in added.chunk_by(|node, next| node.0 == next.0) {
            let Some((parent, _, _)) = group.first() else { continue };
            let Some(previous) = self.tree.nodes.get(*parent as usize).map(|parent| parent.children.clone())
            else {
                continue;
            };
            let mut merged = Vec::with_capacity(previous.len() + group.len());
            let mut added_children = group.iter().peekable();
            for child in previous {
                let fact = self.tree.node(child).map_or(NONE, |child| child.fact);
                while let Some((_, _, child_index)) =
                    added_children.next_if(|(_, position, _)| fact != NONE && *position < fact)
                {
                    merged.push(*child_index);
                }
                merged.push(child);
            }
            merged.extend(added_children.map(|(_, _, child_index)| *child_index));
            if let Some(parent) = self.tree.nodes.get_mut(*parent as usize) {
                parent.children = merged;
            }
        }
    }
}
