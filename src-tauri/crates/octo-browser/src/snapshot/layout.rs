//! The laid-out documents of one session: for each DOM node its parent, tag, attributes, box, whether it takes
//! clicks, and whether a person can see it.

use std::collections::HashMap;

use super::paint::{HiddenReason, InheritedPaint, Rect};
use super::wire::{ComputedStyle, LayoutDocument, LayoutReply};

/// Index that stands for no node.
pub(super) const NONE: u32 = u32::MAX;

/// The laid-out documents of one session, parsed from the browser's reply.
pub(super) struct Layout<'a> {
    strings: &'a [String],
    documents: &'a [LayoutDocument],
    pub facts: Vec<NodeFact>,
    by_backend: HashMap<i64, u32>,
}

/// The layout facts of one DOM node.
pub(super) struct NodeFact {
    pub parent: u32,
    pub backend: i64,
    /// Index of its document in the session.
    pub document: u32,
    index: u32,
    pub kind: NodeKind,
    pub display: BoxDisplay,
    /// Whether it or its listeners take mouse clicks.
    pub clickable: bool,
    /// Whether the pointer becomes a hand here but not already on the parent.
    pub pointer: bool,
    /// Whether it is a ticked checkbox or a selected radio button.
    pub checked: bool,
    /// Its box in the coordinates of its document.
    pub rect: Rect,
    /// The part of `rect` that the enclosing scroll areas currently show.
    pub view: Rect,
    /// The reason why it is invisible (children may still be visible if only the box is empty).
    pub hidden: Option<HiddenReason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Element,
    Text,
    Other,
}

/// The way in which a box is laid out in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoxDisplay {
    /// Not rendered, or without its own box.
    Absent,
    Inline,
    Block,
}

impl<'a> Layout<'a> {
    pub fn new(reply: &'a LayoutReply) -> Self {
        let mut layout = Self {
            strings: &reply.strings,
            documents: &reply.documents,
            facts: Vec::new(),
            by_backend: HashMap::new(),
        };
        for (index, document) in reply.documents.iter().enumerate() {
            layout.add(u32::try_from(index).unwrap_or(NONE), document);
        }
        layout
    }

    /// Returns the node with this backend id.
    pub fn find(&self, backend: i64) -> Option<u32> {
        self.by_backend.get(&backend).copied()
    }

    pub fn fact(&self, node: u32) -> Option<&NodeFact> {
        self.facts.get(node as usize)
    }

    /// Returns the scroll offset of the node's document.
    pub fn scroll(&self, node: u32) -> (f64, f64) {
        let document = self.fact(node).and_then(|fact| self.documents.get(fact.document as usize));
        document.map_or((0.0, 0.0), |document| (document.scroll_offset_x, document.scroll_offset_y))
    }

    /// Returns the scrollable width of a document.
    pub fn width_of(&self, document: u32) -> Option<f64> {
        self.documents.get(document as usize).map(|document| document.content_width)
    }

    /// Returns the element's tag as the browser writes it (HTML in upper case).
    pub fn tag(&self, node: u32) -> &'a str {
        let Some((document, index)) = self.document_and_index(node) else { return "" };
        self.string(document.nodes.node_name.get(index).copied())
    }

    /// Returns a text node's text.
    pub fn text(&self, node: u32) -> &'a str {
        let Some((document, index)) = self.document_and_index(node) else { return "" };
        self.string(document.nodes.node_value.get(index).copied())
    }

    /// Returns an attribute's value.
    pub fn attribute(&self, node: u32, name: &str) -> Option<&'a str> {
        let (document, index) = self.document_and_index(node)?;
        let pairs = document.nodes.attributes.get(index)?;
        let found = pairs.chunks_exact(2).find(|pair| self.string(pair.first().copied()) == name)?;
        Some(self.string(found.get(1).copied()))
    }

    fn document_and_index(&self, node: u32) -> Option<(&'a LayoutDocument, usize)> {
        let fact = self.facts.get(node as usize)?;
        Some((self.documents.get(fact.document as usize)?, fact.index as usize))
    }

    fn string(&self, index: Option<i64>) -> &'a str {
        let index = index.and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.strings.get(index)).map_or("", String::as_str)
    }

    fn add(&mut self, document_index: u32, document: &'a LayoutDocument) {
        let nodes = &document.nodes;
        let count = nodes.backend_node_id.len();
        let flags_of = |indices: &[i64]| {
            let mut flags = vec![false; count];
            for index in indices.iter().filter_map(|index| usize::try_from(*index).ok()) {
                if let Some(flag) = flags.get_mut(index) {
                    *flag = true;
                }
            }
            flags
        };
        let clickable = flags_of(&nodes.is_clickable.index);
        let checked = flags_of(&nodes.input_checked.index);
        let mut boxes = vec![NONE; count];
        for (row, index) in document.layout.node_index.iter().enumerate() {
            let slot = usize::try_from(*index).ok().and_then(|index| boxes.get_mut(index));
            if let Some(slot) = slot.filter(|slot| **slot == NONE) {
                *slot = u32::try_from(row).unwrap_or(NONE);
            }
        }
        let base = self.facts.len();
        let root = InheritedPaint::root(document.content_width);
        let mut states: Vec<InheritedPaint> = Vec::with_capacity(count);
        for index in 0..count {
            // Parents precede their children; ignoring any other parent makes cycles impossible.
            let parent = nodes.parent_index.get(index).and_then(|parent| usize::try_from(*parent).ok());
            let parent = parent.filter(|parent| *parent < index);
            let parent_state = parent.and_then(|parent| states.get(parent)).unwrap_or(&root);
            let row = boxes.get(index).copied().filter(|row| *row != NONE).map(|row| row as usize);
            let styles = row.and_then(|row| document.layout.styles.get(row));
            let bounds = row.and_then(|row| document.layout.bounds.get(row)).map(|bounds| Rect::of(bounds));
            let tag = self.string(nodes.node_name.get(index).copied());
            let kind = match nodes.node_type.get(index) {
                Some(1) => NodeKind::Element,
                Some(3) => NodeKind::Text,
                _ => NodeKind::Other,
            };
            let style = |style: ComputedStyle| {
                self.string(styles.and_then(|styles| styles.get(style as usize)).copied())
            };
            let painted = parent_state.paint_child(kind, tag, bounds, &style);
            let backend = nodes.backend_node_id.get(index).copied().unwrap_or_default();
            let slot = u32::try_from(base + index).unwrap_or(NONE);
            self.by_backend.entry(backend).or_insert(slot);
            self.facts.push(NodeFact {
                parent: parent.and_then(|parent| u32::try_from(base + parent).ok()).unwrap_or(NONE),
                backend,
                document: document_index,
                index: u32::try_from(index).unwrap_or(NONE),
                kind,
                display: painted.display,
                clickable: clickable.get(index).copied().unwrap_or_default(),
                pointer: painted.state.pointer && !parent_state.pointer && kind == NodeKind::Element,
                checked: checked.get(index).copied().unwrap_or_default(),
                rect: painted.rect,
                view: painted.view,
                hidden: painted.hidden,
            });
            states.push(painted.state);
        }
    }
}
