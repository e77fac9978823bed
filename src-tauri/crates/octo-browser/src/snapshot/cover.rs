//! Areas of a page that pictures must not show, because no text of the page may contain their content.

use std::collections::{HashMap, HashSet};

use super::capture::{FrameDisplay, PageCapture};
use super::layout::{NONE, NodeFact, NodeKind};
use super::name;
use super::paint::{HiddenReason, Rect};
use super::refs::Refs;
use super::role::RolePart;
use super::tree::{Node, PageTree};
use crate::ViewportRect;
use crate::safety::{FieldFacts, Redactor};

/// An area to cover in pictures of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct CoverArea {
    /// The node's identity, which matches across two captures even if it moved.
    pub node: (String, i64),
    /// The area in CSS pixels of the viewport.
    pub rect: ViewportRect,
}

/// Maximum overhang of a letter over its box, in CSS pixels.
const LETTER_OVERHANG: f64 = 2.0;
/// Maximum width that border and padding of a frame's element may add to its content, in screen pixels per CSS
/// pixel. A larger difference means that the frame is scaled or rotated, and positions in it are unreliable.
const MAX_FRAME_BORDER: f64 = 64.0;

impl PageCapture {
    /// Returns the areas to cover in pictures of the page: fields for passwords, codes, cards and personal
    /// numbers, including those hidden from assistive technology, and every occurrence of a secret's value. A
    /// frame that cannot be inspected, or that is scaled or rotated, is covered completely.
    pub fn covers(&self, refs: &Refs, redactor: &Redactor) -> Vec<CoverArea> {
        let tree = PageTree::join(self);
        let positions = FramePositions::of(&tree);
        let mut found: Vec<(u32, i64, Rect)> = Vec::new();
        let mut accessible = HashSet::new();
        for node in &tree.nodes {
            let parent = tree.node(node.parent);
            let is_inner = parent.is_some_and(|parent| parent.editable || parent.part == RolePart::Field);
            if node.part == RolePart::Field || (node.editable && !is_inner) {
                accessible.insert((node.frame, node.fact));
                if may_be_visible(node.hidden) && is_secret(&tree, node, refs) {
                    found.push((node.frame, node.backend, node.rect));
                }
            } else if node.part == RolePart::Frame && node.children.is_empty() {
                // Its content could not be read.
                found.push((node.frame, node.backend, node.rect));
            }
        }
        positions.find_hidden_fields(&tree, &accessible, &mut found);
        find_secret_texts(&tree, redactor, &mut found);
        positions.find_hidden_texts(&tree, redactor, &mut found);
        let scale = self.sessions.first().map_or(1.0, |session| session.scale);
        let scale = if scale > 0.0 { scale } else { 1.0 };
        found
            .into_iter()
            .filter(|(.., rect)| !rect.is_empty())
            .map(|(frame, backend, rect)| {
                let session =
                    tree.frames.get(frame as usize).and_then(|frame| tree.sessions.get(frame.session));
                let rect = positions.cover_rect(frame, rect);
                CoverArea {
                    node: (session.cloned().unwrap_or_default(), backend),
                    rect: viewport_rect_of(rect, scale, LETTER_OVERHANG),
                }
            })
            .collect()
    }
}

/// Returns an area of the window in CSS pixels, with a margin.
pub(super) fn viewport_rect_of(rect: Rect, scale: f64, margin: f64) -> ViewportRect {
    ViewportRect {
        left: rect.left / scale - margin,
        top: rect.top / scale - margin,
        width: rect.width() / scale + 2.0 * margin,
        height: rect.height() / scale + 2.0 * margin,
    }
}

/// Returns whether a part of a node may be visible: true except for nodes hidden by style. Clipping, transparency
/// and reachability are heuristics, and an extra cover does no harm.
fn may_be_visible(hidden: Option<HiddenReason>) -> bool {
    hidden != Some(HiddenReason::Style)
}

fn is_secret(tree: &PageTree<'_>, node: &Node, refs: &Refs) -> bool {
    let document = tree.frame(node).map(|frame| &frame.document);
    name::is_secret(tree, node)
        || name::field_facts(tree, node).sensitive().is_some()
        || document.is_some_and(|document| refs.was_secret(document, node.backend))
}

/// Finds texts and values that contain a secret. Adjacent ones are read together, because a page may put each
/// letter into its own element.
fn find_secret_texts(tree: &PageTree<'_>, redactor: &Redactor, found: &mut Vec<(u32, i64, Rect)>) {
    if redactor.is_empty() {
        return;
    }
    let texts: Vec<&Node> = tree.nodes.iter().filter(|node| node.part == RolePart::Text).collect();
    let names: Vec<&str> = texts.iter().map(|node| node.name.as_str()).collect();
    for (node, redacted) in texts.iter().zip(redactor.redact_adjacent(&names)) {
        if redacted != node.name {
            found.push((node.frame, node.backend, node.rect));
        }
    }
    // Values, image names and names of controls. A node with children is found through them.
    let others = tree.nodes.iter().filter(|node| node.part != RolePart::Text && node.parent != NONE);
    for node in others {
        let is_secret = redactor.contains_secret(&node.value)
            || node.children.is_empty() && redactor.contains_secret(&node.name);
        if is_secret {
            found.push((node.frame, node.backend, node.rect));
        }
    }
}

/// Positions of frames in the window.
struct FramePositions {
    /// Offset of each frame's document from the window's origin, where known.
    offsets: HashMap<u32, (f64, f64)>,
    /// The frame of each document, by session and index.
    frames: HashMap<(usize, u32), u32>,
    /// By frame, the area covered in place of its content: the element of a scaled or rotated frame.
    replacement_areas: HashMap<u32, Rect>,
}

impl FramePositions {
    fn of(tree: &PageTree<'_>) -> Self {
        let mut positions =
            Self { offsets: HashMap::new(), frames: HashMap::new(), replacement_areas: HashMap::new() };
        for node in &tree.nodes {
            let Some(frame) = tree.frame(node) else { continue };
            let Some(fact) = tree.layout(node.frame).and_then(|layout| layout.fact(node.fact)) else {
                continue;
            };
            positions
                .offsets
                .entry(node.frame)
                .or_insert((node.rect.left - fact.rect.left, node.rect.top - fact.rect.top));
            positions.frames.entry((frame.session, fact.document)).or_insert(node.frame);
        }
        positions.find_unreliable_frames(tree);
        positions
    }

    /// Finds the frames whose positions are unreliable, outer frames first.
    fn find_unreliable_frames(&mut self, tree: &PageTree<'_>) {
        let by_id: HashMap<&str, u32> =
            tree.frames.iter().map(|frame| frame.frame.as_str()).zip(0..).collect();
        let mut parents: HashMap<u32, u32> = HashMap::new();
        for (frame, number) in tree.frames.iter().zip(0_u32..) {
            let Some(owner) = &frame.owner else { continue };
            let parent = by_id.get(owner.frame.as_str()).copied();
            parents.extend(parent.map(|parent| (number, parent)));
            let element = tree.nodes.iter().find(|node| {
                Some(node.frame) == parent && node.backend == owner.node && !node.rect.is_empty()
            });
            match element {
                Some(element)
                    if owner.display == FrameDisplay::Untransformed
                        && self.is_unscaled(tree, number, element.rect.width()) => {}
                Some(element) => {
                    self.replacement_areas.insert(number, element.rect);
                }
                // Its position is unknown.
                None => {
                    self.replacement_areas.insert(number, tree.viewport);
                }
            }
        }
        for number in (0_u32..).take(tree.frames.len()) {
            let mut outer = number;
            // The nesting depth is at most the number of frames.
            for _ in 0..tree.frames.len() {
                let Some(parent) = parents.get(&outer).copied() else { break };
                outer = parent;
                if let Some(rect) = self.replacement_areas.get(&outer).copied() {
                    self.replacement_areas.insert(number, rect);
                }
            }
        }
    }

    /// Returns whether a frame's document is as wide as its element.
    fn is_unscaled(&self, tree: &PageTree<'_>, frame: u32, width: f64) -> bool {
        let Some(layout) = tree.layout(frame) else { return false };
        let document =
            self.frames.iter().find(|(_, number)| **number == frame).map(|((_, document), _)| *document);
        let Some(content_width) = document.and_then(|document| layout.width_of(document)) else {
            return false;
        };
        content_width <= width + 1.0 && content_width >= width - MAX_FRAME_BORDER
    }

    /// Finds fields that are hidden from assistive technology.
    fn find_hidden_fields(
        &self,
        tree: &PageTree<'_>,
        accessible: &HashSet<(u32, u32)>,
        found: &mut Vec<(u32, i64, Rect)>,
    ) {
        for (session, layout) in tree.layouts.iter().enumerate() {
            for (fact, index) in layout.facts.iter().zip(0_u32..) {
                if !matches!(layout.tag(index), "INPUT" | "TEXTAREA") || !may_be_visible(fact.hidden) {
                    continue;
                }
                let frame = self.frames.get(&(session, fact.document)).copied();
                if frame.is_some_and(|frame| accessible.contains(&(frame, index))) {
                    continue;
                }
                let attribute = |name: &str| layout.attribute(index, name).unwrap_or_default();
                let field = FieldFacts {
                    kind: attribute("type").to_owned(),
                    autocomplete: attribute("autocomplete").to_owned(),
                    attributes: format!("{} {} {}", attribute("name"), attribute("id"), attribute("class")),
                    name: format!("{} {}", attribute("placeholder"), attribute("aria-label")),
                };
                if field.sensitive().is_none() {
                    continue;
                }
                found.push(self.window_position(tree, session, fact));
            }
        }
    }

    /// Finds visible texts that are hidden from assistive technology.
    fn find_hidden_texts(&self, tree: &PageTree<'_>, redactor: &Redactor, found: &mut Vec<(u32, i64, Rect)>) {
        if redactor.is_empty() {
            return;
        }
        for (session, layout) in tree.layouts.iter().enumerate() {
            let texts: Vec<(&NodeFact, &str)> = layout
                .facts
                .iter()
                .zip(0_u32..)
                .filter(|(fact, _)| {
                    fact.kind == NodeKind::Text && may_be_visible(fact.hidden) && !fact.rect.is_empty()
                })
                .map(|(fact, index)| (fact, layout.text(index)))
                .filter(|(_, text)| !text.trim().is_empty())
                .collect();
            let values: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
            for ((fact, text), redacted) in texts.iter().zip(redactor.redact_adjacent(&values)) {
                if redacted != *text {
                    found.push(self.window_position(tree, session, fact));
                }
            }
        }
    }

    /// Returns the position in the window of a layout node.
    fn window_position(&self, tree: &PageTree<'_>, session: usize, fact: &NodeFact) -> (u32, i64, Rect) {
        let frame = self.frames.get(&(session, fact.document)).copied();
        match frame.zip(frame.and_then(|frame| self.offsets.get(&frame))) {
            Some((frame, (x, y))) => (frame, fact.backend, fact.rect.translated(*x, *y)),
            // In a document whose position in the page is unknown.
            None => (0, fact.backend, tree.viewport),
        }
    }

    /// Returns the area to cover for something in a frame.
    fn cover_rect(&self, frame: u32, rect: Rect) -> Rect {
        self.replacement_areas.get(&frame).copied().unwrap_or(rect)
    }
}
