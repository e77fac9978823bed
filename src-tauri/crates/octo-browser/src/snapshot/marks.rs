//! Determines which nodes are usable, visible and alike.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::layout::NONE;
use super::paint::HiddenReason;
use super::role::RolePart;
use super::tree::{Node, PageTree};

/// The reason why a node is usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TargetMark {
    /// It is not usable.
    Not,
    /// By its role.
    Role,
    /// It listens to clicks or shows the hand pointer.
    Click,
    /// It can be dragged.
    Drag,
}

/// Properties of the nodes, by their index in the tree.
pub(super) struct NodeMarks {
    pub target_marks: Vec<TargetMark>,
    /// Whether it or a descendant is visible.
    pub visible: Vec<bool>,
    /// Number of targets below the node, excluding itself.
    pub targets_below: Vec<u32>,
    /// Number of rows below the node, excluding itself.
    pub rows_below: Vec<u32>,
    /// Shape hash; nodes with equal shapes look alike.
    pub shapes: Vec<u64>,
}

/// Number of contained targets from which a container is assumed to be a framework's delegated listener and not
/// a target.
const DELEGATION_LIMIT: u32 = 4;
/// The same limit for a row or list item, which often opens something and also has buttons.
const ROW_DELEGATION_LIMIT: u32 = 9;

impl NodeMarks {
    pub fn of(tree: &PageTree<'_>) -> Self {
        let count = tree.nodes.len();
        let mut marks = Self {
            target_marks: vec![TargetMark::Not; count],
            visible: vec![false; count],
            targets_below: vec![0; count],
            rows_below: vec![0; count],
            shapes: vec![0; count],
        };
        let in_field = marks.inside_fields(tree);
        marks.mark_visible(tree);
        marks.find_targets(tree, &in_field);
        marks.drop_repeated(tree);
        marks.compute_shapes(tree);
        marks
    }

    pub fn is_target(&self, node: u32) -> bool {
        self.target_marks.get(node as usize).is_some_and(|mark| *mark != TargetMark::Not)
    }

    pub fn is_visible(&self, node: u32) -> bool {
        self.visible.get(node as usize).copied().unwrap_or_default()
    }

    pub fn target_count_below(&self, node: u32) -> u32 {
        self.targets_below.get(node as usize).copied().unwrap_or_default()
    }

    fn inside_fields(&self, tree: &PageTree<'_>) -> Vec<bool> {
        let mut in_field = vec![false; tree.nodes.len()];
        for (index, node) in tree.nodes.iter().enumerate() {
            let parent = tree.node(node.parent);
            let parent_in_field = in_field.get(node.parent as usize).copied().unwrap_or_default();
            if let Some(slot) = in_field.get_mut(index) {
                *slot = parent_in_field || parent.is_some_and(|parent| parent.part == RolePart::Field);
            }
        }
        in_field
    }

    fn mark_visible(&mut self, tree: &PageTree<'_>) {
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            let shows_content = match node.part {
                RolePart::Text => !node.name.trim().is_empty(),
                RolePart::Field | RolePart::Control | RolePart::Picture | RolePart::Frame => true,
                _ => false,
            };
            let is_painted = shows_content && matches!(node.hidden, None | Some(HiddenReason::SameColour));
            let is_visible = self.is_visible(u32::try_from(index).unwrap_or(NONE)) || is_painted;
            if let Some(slot) = self.visible.get_mut(index) {
                *slot = is_visible;
            }
            if is_visible && let Some(parent) = self.visible.get_mut(node.parent as usize) {
                *parent = true;
            }
        }
    }

    /// Finds the targets, from the leaves up, so that the targets in a container are known before it is classified.
    fn find_targets(&mut self, tree: &PageTree<'_>, in_field: &[bool]) {
        let control_ids = control_ids(tree, self);
        // By node, the target below it that was found last: the only one, where there is one.
        let mut sole_targets = vec![NONE; tree.nodes.len()];
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            let node_index = u32::try_from(index).unwrap_or(NONE);
            let targets = self.target_count_below(node_index);
            let only_target = sole_targets
                .get(index)
                .copied()
                .filter(|_| targets == 1)
                .and_then(|target| tree.node(target));
            let mark = match in_field.get(index) {
                Some(false) => self.classify(tree, node_index, node, targets, only_target, &control_ids),
                _ => TargetMark::Not,
            };
            if let Some(slot) = self.target_marks.get_mut(index) {
                *slot = mark;
            }
            let is_row = u32::from(node.part == RolePart::Row);
            let rows = self.rows_below.get(index).copied().unwrap_or_default() + is_row;
            if let Some(parent) = self.rows_below.get_mut(node.parent as usize) {
                *parent = parent.saturating_add(rows);
            }
            let total = targets.saturating_add(u32::from(mark != TargetMark::Not));
            if let Some(parent) = self.targets_below.get_mut(node.parent as usize) {
                *parent = parent.saturating_add(total);
            }
            let sole_target = if mark == TargetMark::Not {
                sole_targets.get(index).copied().unwrap_or(NONE)
            } else {
                node_index
            };
            if total > 0
                && let Some(parent) = sole_targets.get_mut(node.parent as usize)
            {
                *parent = sole_target;
            }
        }
    }

    fn classify(
        &self,
        tree: &PageTree<'_>,
        index: u32,
        node: &Node,
        targets: u32,
        only_target: Option<&Node>,
        control_ids: &HashSet<(u32, &str)>,
    ) -> TargetMark {
        let fact = tree.layout(node.frame).and_then(|layout| layout.fact(node.fact));
        let is_accessible = matches!(node.part, RolePart::Field | RolePart::Control) && !node.role.is_empty();
        if is_accessible {
            let is_often_restyled = matches!(&*node.role, "checkbox" | "radio" | "switch")
                || tree.attribute(node, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("file"));
            // Terminals and editors take input in an invisible field.
            let has_focus = node.states.contains(" focused");
            let is_usable = self.is_visible(index)
                || has_focus
                || is_often_restyled
                    && matches!(node.hidden, Some(HiddenReason::Transparent | HiddenReason::Empty));
            return if is_usable { TargetMark::Role } else { TargetMark::Not };
        }
        let Some(fact) = fact else { return TargetMark::Not };
        if node.part == RolePart::Text || node.part == RolePart::Frame || !self.can_be_hit(index, node) {
            return TargetMark::Not;
        }
        let tag = tree.layout(node.frame).map_or("", |layout| layout.tag(node.fact));
        if matches!(tag, "#document" | "HTML" | "BODY" | "OPTION" | "OPTGROUP" | "SELECT") {
            return TargetMark::Not;
        }
        let is_draggable = tree.attribute(node, "draggable") == Some("true");
        if !fact.clickable && !fact.pointer {
            return if is_draggable { TargetMark::Drag } else { TargetMark::Not };
        }
        let is_label = tag == "LABEL";
        if is_label
            && (targets > 0
                || tree.attribute(node, "for").is_some_and(|id| control_ids.contains(&(node.frame, id))))
        {
            return TargetMark::Not;
        }
        let limit = if matches!(node.part, RolePart::Row | RolePart::Item) {
            ROW_DELEGATION_LIMIT
        } else {
            DELEGATION_LIMIT
        };
        let is_filled_by_target =
            only_target.is_some_and(|only_target| only_target.rect.area() >= 0.8 * node.rect.area());
        if targets >= limit || is_filled_by_target || (!fact.clickable && targets > 0) {
            return TargetMark::Not;
        }
        TargetMark::Click
    }

    /// Returns whether it has a visible box, or shows something.
    fn can_be_hit(&self, index: u32, node: &Node) -> bool {
        self.is_visible(index) || (node.hidden.is_none() && !node.rect.is_empty())
    }

    /// Drops nodes inside a target that only show the hand pointer or fill the same area, since they are the
    /// same target.
    fn drop_repeated(&mut self, tree: &PageTree<'_>) {
        let mut nearest_targets = vec![NONE; tree.nodes.len()];
        for (index, node) in tree.nodes.iter().enumerate() {
            let node_index = u32::try_from(index).unwrap_or(NONE);
            let ancestor = match self.is_target(node.parent) {
                true => node.parent,
                false => nearest_targets.get(node.parent as usize).copied().unwrap_or(NONE),
            };
            if let Some(slot) = nearest_targets.get_mut(index) {
                *slot = ancestor;
            }
            let Some(outer) = tree.node(ancestor) else { continue };
            if self.target_marks.get(index) != Some(&TargetMark::Click) {
                continue;
            }
            let fact = tree.layout(node.frame).and_then(|layout| layout.fact(node.fact));
            let listens = fact.is_some_and(|fact| fact.clickable);
            let same_area = outer.frame == node.frame && node.rect.area() >= 0.9 * outer.rect.area();
            if !listens || same_area {
                if let Some(mark) = self.target_marks.get_mut(index) {
                    *mark = TargetMark::Not;
                }
                self.decrement_ancestors(tree, node_index);
            }
        }
    }

    fn decrement_ancestors(&mut self, tree: &PageTree<'_>, node: u32) {
        // Only the nearest ancestors affect the output, and a hostile depth must not be slow.
        let mut ancestor = tree.node(node).map_or(NONE, |node| node.parent);
        for _ in 0..32 {
            let Some(count) = self.targets_below.get_mut(ancestor as usize) else { return };
            *count = count.saturating_sub(1);
            ancestor = tree.node(ancestor).map_or(NONE, |node| node.parent);
        }
    }

    fn compute_shapes(&mut self, tree: &PageTree<'_>) {
        let mut shapes: Vec<u64> = Vec::with_capacity(tree.nodes.len());
        for (node, mark) in tree.nodes.iter().zip(&self.target_marks) {
            let tag = tree.layout(node.frame).map_or("", |layout| layout.tag(node.fact));
            let mut hasher = DefaultHasher::new();
            (tag, node.part, &node.role, mark).hash(&mut hasher);
            shapes.push(hasher.finish());
        }
        let base_shapes = shapes.clone();
        for _ in 0..2 {
            let mut next_shapes = Vec::with_capacity(shapes.len());
            for (node, base_shape) in tree.nodes.iter().zip(&base_shapes) {
                let mut hasher = DefaultHasher::new();
                base_shape.hash(&mut hasher);
                let mut previous_shape = 0;
                // Equal neighbours count once, so a list of three matches a list of five.
                for child in node.children.iter().take(64) {
                    let shape = shapes.get(*child as usize).copied().unwrap_or_default();
                    if shape != previous_shape {
                        shape.hash(&mut hasher);
                    }
                    previous_shape = shape;
                }
                next_shapes.push(hasher.finish());
            }
            shapes = next_shapes;
        }
        // A node whose role already marks it as a list item needs no matching content.
        for ((node, shape), base_shape) in tree.nodes.iter().zip(&mut shapes).zip(base_shapes) {
            if matches!(node.part, RolePart::Row | RolePart::Item)
                || matches!(&*node.role, "option" | "treeitem" | "article")
            {
                *shape = base_shape;
            }
        }
        self.shapes = shapes;
    }
}

/// Returns the ids of the visible controls: a label for one of them is not a separate target.
fn control_ids<'a>(tree: &PageTree<'a>, marks: &NodeMarks) -> HashSet<(u32, &'a str)> {
    let mut ids = HashSet::new();
    for (node, index) in tree.nodes.iter().zip(0..) {
        let control = matches!(node.part, RolePart::Field | RolePart::Control) && !node.role.is_empty();
        if control && marks.is_visible(index) && node.hidden.is_none() {
            ids.extend(tree.attribute(node, "id").map(|id| (node.frame, id)));
        }
    }
    ids
}
