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
    Not,
    /// By its role.
    Role,
    /// It listens to clicks or shows the hand pointer.
    Click,
    /// It can be dragged.
    Drag,
}

/// The findings by node.
pub(super) struct NodeMarks {
    pub mark: Vec<TargetMark>,
    /// Whether it or a descendant is visible.
    pub visible: Vec<bool>,
    /// Number of targets below the node, excluding itself.
    pub under: Vec<u32>,
    /// Number of rows below the node, excluding itself.
    pub rows: Vec<u32>,
    /// Shape hash; nodes with equal shapes look alike.
    pub shape: Vec<u64>,
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
            mark: vec![TargetMark::Not; count],
            visible: vec![false; count],
            under: vec![0; count],
            rows: vec![0; count],
            shape: vec![0; count],
        };
        let inside = marks.inside_fields(tree);
        marks.mark_visible(tree);
        marks.find(tree, &inside);
        marks.drop_repeated(tree);
        marks.shapes(tree);
        marks
    }

    pub fn is_target(&self, node: u32) -> bool {
        self.mark.get(node as usize).is_some_and(|mark| *mark != TargetMark::Not)
    }

    pub fn is_visible(&self, node: u32) -> bool {
        self.visible.get(node as usize).copied().unwrap_or_default()
    }

    pub fn targets_under(&self, node: u32) -> u32 {
        self.under.get(node as usize).copied().unwrap_or_default()
    }

    fn inside_fields(&self, tree: &PageTree<'_>) -> Vec<bool> {
        let mut inside = vec![false; tree.nodes.len()];
        for (place, node) in tree.nodes.iter().enumerate() {
            let above = tree.node(node.parent);
            let within = inside.get(node.parent as usize).copied().unwrap_or_default();
            if let Some(own) = inside.get_mut(place) {
                *own = within || above.is_some_and(|above| above.part == RolePart::Field);
            }
        }
        inside
    }

    fn mark_visible(&mut self, tree: &PageTree<'_>) {
        for (place, node) in tree.nodes.iter().enumerate().rev() {
            let shows = match node.part {
                RolePart::Text => !node.name.trim().is_empty(),
                RolePart::Field | RolePart::Control | RolePart::Picture | RolePart::Frame => true,
                _ => false,
            };
            let own = shows && matches!(node.hidden, None | Some(HiddenReason::SameColour));
            let all = self.is_visible(u32::try_from(place).unwrap_or(NONE)) || own;
            if let Some(seen) = self.visible.get_mut(place) {
                *seen = all;
            }
            if all && let Some(parent) = self.visible.get_mut(node.parent as usize) {
                *parent = true;
            }
        }
    }

    /// Processes from the leaves up, so that a container knows its content.
    fn find(&mut self, tree: &PageTree<'_>, inside: &[bool]) {
        let labelled = labelled(tree, self);
        // The single target below a node, while it is the only one.
        let mut sole = vec![NONE; tree.nodes.len()];
        for (place, node) in tree.nodes.iter().enumerate().rev() {
            let own = u32::try_from(place).unwrap_or(NONE);
            let under = self.targets_under(own);
            let alone = sole.get(place).copied().filter(|_| under == 1).and_then(|sole| tree.node(sole));
            let mark = match inside.get(place) {
                Some(false) => self.judge(tree, own, node, under, alone, &labelled),
                _ => TargetMark::Not,
            };
            if let Some(place) = self.mark.get_mut(place) {
                *place = mark;
            }
            let is_row = u32::from(node.part == RolePart::Row);
            let rows = self.rows.get(place).copied().unwrap_or_default() + is_row;
            if let Some(above) = self.rows.get_mut(node.parent as usize) {
                *above = above.saturating_add(rows);
            }
            let total = under.saturating_add(u32::from(mark != TargetMark::Not));
            if let Some(above) = self.under.get_mut(node.parent as usize) {
                *above = above.saturating_add(total);
            }
            let inner = if mark == TargetMark::Not { sole.get(place).copied().unwrap_or(NONE) } else { own };
            if total > 0
                && let Some(above) = sole.get_mut(node.parent as usize)
            {
                *above = inner;
            }
        }
    }

    fn judge(
        &self,
        tree: &PageTree<'_>,
        own: u32,
        node: &Node,
        under: u32,
        alone: Option<&Node>,
        labelled: &HashSet<(u32, &str)>,
    ) -> TargetMark {
        let fact = tree.layout(node.frame).and_then(|layout| layout.fact(node.fact));
        let heard = matches!(node.part, RolePart::Field | RolePart::Control) && !node.role.is_empty();
        if heard {
            let replaced = matches!(&*node.role, "checkbox" | "radio" | "switch")
                || tree.attribute(node, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("file"));
            // Terminals and editors take input in an invisible field.
            let typing = node.states.contains(" focused");
            let kept = self.is_visible(own)
                || typing
                || replaced && matches!(node.hidden, Some(HiddenReason::Transparent | HiddenReason::Empty));
            return if kept { TargetMark::Role } else { TargetMark::Not };
        }
        let Some(fact) = fact else { return TargetMark::Not };
        if node.part == RolePart::Text || node.part == RolePart::Frame || !self.can_be_hit(own, node) {
            return TargetMark::Not;
        }
        let tag = tree.layout(node.frame).map_or("", |layout| layout.tag(node.fact));
        if matches!(tag, "#document" | "HTML" | "BODY" | "OPTION" | "OPTGROUP" | "SELECT") {
            return TargetMark::Not;
        }
        let drags = tree.attribute(node, "draggable") == Some("true");
        if !fact.clickable && !fact.pointer {
            return if drags { TargetMark::Drag } else { TargetMark::Not };
        }
        let label = tag == "LABEL";
        if label
            && (under > 0
                || tree.attribute(node, "for").is_some_and(|id| labelled.contains(&(node.frame, id))))
        {
            return TargetMark::Not;
        }
        let many = if matches!(node.part, RolePart::Row | RolePart::Item) {
            ROW_DELEGATION_LIMIT
        } else {
            DELEGATION_LIMIT
        };
        let covered = alone.is_some_and(|alone| alone.rect.area() >= 0.8 * node.rect.area());
        if under >= many || covered || (!fact.clickable && under > 0) {
            return TargetMark::Not;
        }
        TargetMark::Click
    }

    /// Returns whether it has a visible box, or shows something.
    fn can_be_hit(&self, own: u32, node: &Node) -> bool {
        self.is_visible(own) || (node.hidden.is_none() && !node.rect.is_empty())
    }

    /// Drops nodes inside a target that only show the hand pointer or fill the same area, since they are the
    /// same target.
    fn drop_repeated(&mut self, tree: &PageTree<'_>) {
        let mut nearest = vec![NONE; tree.nodes.len()];
        for (place, node) in tree.nodes.iter().enumerate() {
            let own = u32::try_from(place).unwrap_or(NONE);
            let above = match self.is_target(node.parent) {
                true => node.parent,
                false => nearest.get(node.parent as usize).copied().unwrap_or(NONE),
            };
            if let Some(nearest) = nearest.get_mut(place) {
                *nearest = above;
            }
            let Some(outer) = tree.node(above) else { continue };
            if self.mark.get(place) != Some(&TargetMark::Click) {
                continue;
            }
            let fact = tree.layout(node.frame).and_then(|layout| layout.fact(node.fact));
            let listens = fact.is_some_and(|fact| fact.clickable);
            let same = outer.frame == node.frame && node.rect.area() >= 0.9 * outer.rect.area();
            if !listens || same {
                if let Some(mark) = self.mark.get_mut(place) {
                    *mark = TargetMark::Not;
                }
                self.uncount(tree, own);
            }
        }
    }

    fn uncount(&mut self, tree: &PageTree<'_>, node: u32) {
        // Only the nearest ancestors affect the output, and a hostile depth must not be slow.
        let mut above = tree.node(node).map_or(NONE, |node| node.parent);
        for _ in 0..32 {
            let Some(under) = self.under.get_mut(above as usize) else { return };
            *under = under.saturating_sub(1);
            above = tree.node(above).map_or(NONE, |node| node.parent);
        }
    }

    fn shapes(&mut self, tree: &PageTree<'_>) {
        let mut level: Vec<u64> = Vec::with_capacity(tree.nodes.len());
        for (node, mark) in tree.nodes.iter().zip(&self.mark) {
            let tag = tree.layout(node.frame).map_or("", |layout| layout.tag(node.fact));
            let mut hasher = DefaultHasher::new();
            (tag, node.part, &node.role, mark).hash(&mut hasher);
            level.push(hasher.finish());
        }
        let own = level.clone();
        for _ in 0..2 {
            let mut next = Vec::with_capacity(level.len());
            for (node, own) in tree.nodes.iter().zip(&own) {
                let mut hasher = DefaultHasher::new();
                own.hash(&mut hasher);
                let mut last = 0;
                // Equal neighbours count once, so a list of three matches a list of five.
                for child in node.children.iter().take(64) {
                    let shape = level.get(*child as usize).copied().unwrap_or_default();
                    if shape != last {
                        shape.hash(&mut hasher);
                    }
                    last = shape;
                }
                next.push(hasher.finish());
            }
            level = next;
        }
        // A node whose role already marks it as a list item needs no matching content.
        for ((node, shape), own) in tree.nodes.iter().zip(&mut level).zip(own) {
            if matches!(node.part, RolePart::Row | RolePart::Item)
                || matches!(&*node.role, "option" | "treeitem" | "article")
            {
                *shape = own;
            }
        }
        self.shape = level;
    }
}

/// Returns the ids of the visible controls: a label for one of them is not a separate target.
fn labelled<'a>(tree: &PageTree<'a>, marks: &NodeMarks) -> HashSet<(u32, &'a str)> {
    let mut ids = HashSet::new();
    for (node, place) in tree.nodes.iter().zip(0..) {
        let control = matches!(node.part, RolePart::Field | RolePart::Control) && !node.role.is_empty();
        if control && marks.is_visible(place) && node.hidden.is_none() {
            ids.extend(tree.attribute(node, "id").map(|id| (node.frame, id)));
        }
    }
    ids
}
