//! A snapshot: a tab's content at one moment, as text for a model and refs to act by.

use std::collections::{HashMap, HashSet};

use super::capture::PageCapture;
use super::clean::{clean_line, truncate};
use super::cover::viewport_rect_of;
use super::lines::{LineWriter, RefNumbers as _, SnapshotLine, SnapshotLines};
use super::marks::NodeMarks;
use super::name::field_facts;
use super::refs::{NodeIdentity, Refs};
use super::role::RolePart;
use super::tree::{Node, PageTree};
use crate::{ViewportRect, safety::SensitiveData};

/// A tab's content at one moment.
pub struct Snapshot {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) document: String,
    pub(super) lines: SnapshotLines,
    pub(super) nodes: Vec<Node>,
    pub(super) visible: Vec<bool>,
    /// The origins of its frames.
    origins: Vec<String>,
    /// The kinds of sensitive data that visible fields ask for, with each field's frame.
    requested_data: Vec<(String, SensitiveData)>,
    /// The refs by (frame, backend node id).
    pub(super) numbers: HashMap<(u32, i64), u32>,
    /// Screen pixels per CSS pixel.
    scale: f64,
}

/// Prints only the size: page content must not reach a log.
impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({} lines, {} targets)", self.lines.lines.len(), self.lines.targets.len())
    }
}

impl Snapshot {
    /// Creates a snapshot from a capture. Nodes known to `refs` keep their numbers, new ones get the next; from
    /// then on `refs` refers to this snapshot.
    pub fn new(capture: &PageCapture, refs: &mut Refs) -> Self {
        let tree = PageTree::join(capture);
        let marks = NodeMarks::of(&tree);
        let mut numbering = refs.numbering(&tree);
        let lines = LineWriter::write(&tree, &marks, &mut numbering);
        // The values of secret fields are not stored at all.
        let is_secret: Vec<bool> = tree
            .nodes
            .iter()
            .map(|node| (node.part == RolePart::Field || node.editable) && numbering.is_secret(&tree, node))
            .collect();
        let requested_data = sensitive_fields(&tree, &marks);
        let numbers = numbering.into_numbers();
        let identities = lines.targets.iter().map(|target| {
            let heading = lines.headings.get(target.heading as usize).cloned().unwrap_or_default();
            (
                target.number,
                NodeIdentity { role: target.kind_word.clone(), name: target.name.clone(), heading },
            )
        });
        refs.store_identities(identities);
        let root = capture.frames.first();
        let mut nodes = tree.nodes;
        for (node, _) in nodes.iter_mut().zip(is_secret).filter(|(_, is_secret)| *is_secret) {
            node.value.clear();
        }
        Self {
            title: clean_line(&capture.title),
            url: root.map(|frame| clean_line(&frame.url)).unwrap_or_default(),
            document: root.map(|frame| frame.document.0.clone()).unwrap_or_default(),
            lines,
            nodes,
            visible: marks.visible,
            origins: capture.frames.iter().map(|frame| frame.origin.clone()).collect(),
            requested_data,
            numbers,
            scale: capture.sessions.first().map_or(1.0, |session| session.scale),
        }
    }

    /// Returns the number of targets with a ref.
    pub fn targets(&self) -> usize {
        self.lines.targets.len()
    }

    /// Returns all text of the page by the origin of its frame: everything that any read of the snapshot can
    /// return. Names and values follow the text.
    pub fn texts(&self) -> Vec<(&str, String)> {
        let mut texts: Vec<(&str, String)> =
            self.origins.iter().map(|origin| (origin.as_str(), String::new())).collect();
        let is_text = |node: &&Node| node.part == RolePart::Text;
        let nodes = self.nodes.iter().filter(is_text).chain(self.nodes.iter().filter(|node| !is_text(node)));
        for node in nodes {
            let Some((_, text)) = texts.get_mut(node.frame as usize) else { continue };
            for value in [&node.name, &node.value].into_iter().filter(|value| !value.is_empty()) {
                text.push_str(value);
                text.push('\n');
            }
        }
        texts
    }

    /// Returns the kinds of sensitive data that the page's fields ask for, with each field's frame. Includes
    /// cross-site frames and shadow roots that are otherwise inaccessible, where payment providers put their
    /// fields.
    pub fn requested_data(&self) -> impl Iterator<Item = (&str, SensitiveData)> {
        self.requested_data.iter().map(|(frame, sensitive)| (frame.as_str(), *sensitive))
    }

    /// Returns the visible targets with their number and position, in CSS pixels of the viewport.
    pub fn boxes(&self) -> Vec<(u32, ViewportRect)> {
        let targets: HashSet<u32> = self.lines.targets.iter().map(|target| target.number).collect();
        let scale = if self.scale > 0.0 { self.scale } else { 1.0 };
        let mut boxes: Vec<(u32, ViewportRect)> = self
            .nodes
            .iter()
            .filter(|node| node.on_screen && node.hidden.is_none() && !node.rect.is_empty())
            .filter_map(|node| {
                let number = self.numbers.get(&(node.frame, node.backend))?;
                targets.contains(number).then(|| (*number, viewport_rect_of(node.rect, scale, 0.0)))
            })
            .collect();
        boxes.sort_by_key(|(number, _)| *number);
        boxes.dedup_by_key(|(number, _)| *number);
        boxes
    }

    /// Returns the number of texts left out because a person cannot see them.
    pub fn hidden_texts(&self) -> usize {
        self.lines.hidden_texts
    }

    /// Returns the first line of every text: the page's title and address.
    pub(super) fn header(&self) -> String {
        format!("page \"{}\" {}", truncate(&self.title, 120).replace('"', "'"), truncate(&self.url, 200))
    }

    pub(super) fn line(&self, line: usize) -> Option<&SnapshotLine> {
        self.lines.lines.get(line)
    }

    /// Returns the targets with the same role, name and heading on the same origin.
    pub(super) fn similar_targets<'s>(
        &'s self,
        identity: &'s NodeIdentity,
        origin: &'s str,
    ) -> impl Iterator<Item = u32> + 's {
        let heading =
            |index: u32| self.lines.headings.get(index as usize).map(String::as_str).unwrap_or_default();
        let similar = self.lines.targets.iter().filter(move |target| {
            target.kind_word == identity.role
                && target.name == identity.name
                && target.origin == origin
                && heading(target.heading) == identity.heading
        });
        similar.map(|target| target.number)
    }
}

fn sensitive_fields(tree: &PageTree<'_>, marks: &NodeMarks) -> Vec<(String, SensitiveData)> {
    let mut found = Vec::new();
    for (node, index) in tree.nodes.iter().zip(0..) {
        if node.part != RolePart::Field || !marks.is_visible(index) {
            continue;
        }
        let frame = tree.frame(node).map(|frame| frame.frame.clone()).unwrap_or_default();
        found.extend(field_facts(tree, node).sensitive().map(|sensitive| (frame, sensitive)));
    }
    found.sort();
    found.dedup();
    found
}
