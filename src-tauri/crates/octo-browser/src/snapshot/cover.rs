//! What of a page no picture may show: the places of what no text of it may hold.

use std::collections::{HashMap, HashSet};

use super::capture::{Captured, Shown};
use super::layout::{Fact, Kind, NONE};
use super::name;
use super::paint::{Hidden, Rect};
use super::refs::Refs;
use super::role::Part;
use super::tree::{Node, Tree};
use crate::Spot;
use crate::safety::{Field, Redactor};

/// Something that is to be covered in pictures of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Cover {
    /// What it is: the same of two captures is one, wherever it is by then.
    pub node: (String, i64),
    /// Where it is, in CSS pixels of what is seen of the page.
    pub spot: Spot,
}

/// So far a letter may reach out of its box, in CSS pixels.
const MARGIN: f64 = 2.0;
/// What the border and the padding of a frame's element take beside its inside, in pixels of the screen for each of
/// CSS; what is further from it is shown smaller, larger or turned, and nothing in it is where it says.
const FRAME: f64 = 64.0;

impl Captured {
    /// What is to be covered in pictures of the page: fields for passwords, codes, cards and numbers of a person, also
    /// those that assistive technology is not told of, and wherever a secret's value is written. Where a frame cannot
    /// be looked into, or shows its inside otherwise than it is, all of it is covered.
    pub fn covers(&self, refs: &Refs, redactor: &Redactor) -> Vec<Cover> {
        let tree = Tree::join(self);
        let places = Places::of(&tree);
        let mut found: Vec<(u32, i64, Rect)> = Vec::new();
        let mut heard = HashSet::new();
        for node in &tree.nodes {
            let above = tree.node(node.parent);
            let is_inner = above.is_some_and(|above| above.editable || above.part == Part::Field);
            if node.part == Part::Field || (node.editable && !is_inner) {
                heard.insert((node.frame, node.fact));
                if shows(node.hidden) && is_secret(&tree, node, refs) {
                    found.push((node.frame, node.backend, node.rect));
                }
            } else if node.part == Part::Frame && node.children.is_empty() {
                // Nobody could read what is in it.
                found.push((node.frame, node.backend, node.rect));
            }
        }
        places.unheard(&tree, &heard, &mut found);
        written(&tree, redactor, &mut found);
        places.unspoken(&tree, redactor, &mut found);
        let scale = self.sessions.first().map_or(1.0, |session| session.scale);
        let scale = if scale > 0.0 { scale } else { 1.0 };
        found
            .into_iter()
            .filter(|(.., rect)| !rect.is_empty())
            .map(|(frame, backend, rect)| {
                let session =
                    tree.frames.get(frame as usize).and_then(|frame| tree.sessions.get(frame.session));
                let rect = places.shown(frame, rect);
                Cover {
                    node: (session.cloned().unwrap_or_default(), backend),
                    spot: spot_of(rect, scale, MARGIN),
                }
            })
            .collect()
    }
}

/// A place of the window in CSS pixels, with a margin.
pub(super) fn spot_of(rect: Rect, scale: f64, margin: f64) -> Spot {
    Spot {
        left: rect.left / scale - margin,
        top: rect.top / scale - margin,
        width: rect.width() / scale + 2.0 * margin,
        height: rect.height() / scale + 2.0 * margin,
    }
}

/// Whether something of it may be seen. All but what its style hides: that something is cut off, clear or out of
/// reach is guessed, and a cover too many harms nobody.
fn shows(hidden: Option<Hidden>) -> bool {
    hidden != Some(Hidden::Style)
}

fn is_secret(tree: &Tree<'_>, node: &Node, refs: &Refs) -> bool {
    let document = tree.frame(node).map(|frame| &frame.document);
    name::is_secret(tree, node)
        || name::field(tree, node).sensitive().is_some()
        || document.is_some_and(|document| refs.held_a_secret(document, node.backend))
}

/// Texts and values a secret is written in. What stands next to each other is read together: a page may put each
/// letter into an element of its own.
fn written(tree: &Tree<'_>, redactor: &Redactor, found: &mut Vec<(u32, i64, Rect)>) {
    if redactor.knows_none() {
        return;
    }
    let texts: Vec<&Node> = tree.nodes.iter().filter(|node| node.part == Part::Text).collect();
    let names: Vec<&str> = texts.iter().map(|node| node.name.as_str()).collect();
    for (node, redacted) in texts.iter().zip(redactor.redact_neighbours(&names)) {
        if redacted != node.name {
            found.push((node.frame, node.backend, node.rect));
        }
    }
    // Values, pictures' names and what controls are called: of what has parts, the parts say it.
    let others = tree.nodes.iter().filter(|node| node.part != Part::Text && node.parent != NONE);
    for node in others {
        let own = redactor.holds(&node.value) || node.children.is_empty() && redactor.holds(&node.name);
        if own {
            found.push((node.frame, node.backend, node.rect));
        }
    }
}

/// Where the frames are in the window.
struct Places {
    /// How far the corner of each frame's document is from the window's, where that is known.
    offsets: HashMap<u32, (f64, f64)>,
    /// The frame of each document, by the session and its place there.
    frames: HashMap<(usize, u32), u32>,
    /// By frame, what is covered instead of anything in it: the element of a frame that shows its inside otherwise.
    instead: HashMap<u32, Rect>,
}

impl Places {
    fn of(tree: &Tree<'_>) -> Self {
        let mut places = Self { offsets: HashMap::new(), frames: HashMap::new(), instead: HashMap::new() };
        for node in &tree.nodes {
            let Some(frame) = tree.frame(node) else { continue };
            let Some(fact) = tree.layout(node.frame).and_then(|layout| layout.fact(node.fact)) else {
                continue;
            };
            places
                .offsets
                .entry(node.frame)
                .or_insert((node.rect.left - fact.rect.left, node.rect.top - fact.rect.top));
            places.frames.entry((frame.session, fact.document)).or_insert(node.frame);
        }
        places.look_at_frames(tree);
        places
    }

    /// Finds the frames whose inside is not where it says, the outer ones first.
    fn look_at_frames(&mut self, tree: &Tree<'_>) {
        let by_name: HashMap<&str, u32> =
            tree.frames.iter().map(|frame| frame.frame.as_str()).zip(0..).collect();
        let mut above: HashMap<u32, u32> = HashMap::new();
        for (frame, number) in tree.frames.iter().zip(0_u32..) {
            let Some(owner) = &frame.owner else { continue };
            let holder = by_name.get(owner.frame.as_str()).copied();
            above.extend(holder.map(|holder| (number, holder)));
            let element = tree.nodes.iter().find(|node| {
                Some(node.frame) == holder && node.backend == owner.node && !node.rect.is_empty()
            });
            match element {
                Some(element)
                    if owner.shown == Shown::AsItIs
                        && self.is_as_it_says(tree, number, element.rect.width()) => {}
                Some(element) => {
                    self.instead.insert(number, element.rect);
                }
                // Nobody knows where it is.
                None => {
                    self.instead.insert(number, tree.viewport);
                }
            }
        }
        for number in (0_u32..).take(tree.frames.len()) {
            let mut outer = number;
            // No frame is deeper in others than there are frames.
            for _ in 0..tree.frames.len() {
                let Some(holder) = above.get(&outer).copied() else { break };
                outer = holder;
                if let Some(rect) = self.instead.get(&outer).copied() {
                    self.instead.insert(number, rect);
                }
            }
        }
    }

    /// Whether a frame's document is as wide as the element it is in.
    fn is_as_it_says(&self, tree: &Tree<'_>, frame: u32, width: f64) -> bool {
        let Some(layout) = tree.layout(frame) else { return false };
        let document =
            self.frames.iter().find(|(_, known)| **known == frame).map(|((_, document), _)| *document);
        let Some(inside) = document.and_then(|document| layout.width_of(document)) else { return false };
        inside <= width + 1.0 && inside >= width - FRAME
    }

    /// Fields nobody is told of, as those that are hidden from assistive technology.
    fn unheard(&self, tree: &Tree<'_>, heard: &HashSet<(u32, u32)>, found: &mut Vec<(u32, i64, Rect)>) {
        for (session, layout) in tree.layouts.iter().enumerate() {
            for (fact, place) in layout.facts.iter().zip(0_u32..) {
                if !matches!(layout.tag(place), "INPUT" | "TEXTAREA") || !shows(fact.hidden) {
                    continue;
                }
                let frame = self.frames.get(&(session, fact.document)).copied();
                if frame.is_some_and(|frame| heard.contains(&(frame, place))) {
                    continue;
                }
                let attribute = |name: &str| layout.attribute(place, name).unwrap_or_default();
                let field = Field {
                    kind: attribute("type").to_owned(),
                    autocomplete: attribute("autocomplete").to_owned(),
                    attributes: format!("{} {} {}", attribute("name"), attribute("id"), attribute("class")),
                    name: format!("{} {}", attribute("placeholder"), attribute("aria-label")),
                };
                if field.sensitive().is_none() {
                    continue;
                }
                found.push(self.place(tree, session, fact));
            }
        }
    }

    /// Texts that are not told to assistive technology are seen all the same.
    fn unspoken(&self, tree: &Tree<'_>, redactor: &Redactor, found: &mut Vec<(u32, i64, Rect)>) {
        if redactor.knows_none() {
            return;
        }
        for (session, layout) in tree.layouts.iter().enumerate() {
            let texts: Vec<(&Fact, &str)> = layout
                .facts
                .iter()
                .zip(0_u32..)
                .filter(|(fact, _)| fact.kind == Kind::Text && shows(fact.hidden) && !fact.rect.is_empty())
                .map(|(fact, place)| (fact, layout.text(place)))
                .filter(|(_, text)| !text.trim().is_empty())
                .collect();
            let written: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
            for ((fact, text), redacted) in texts.iter().zip(redactor.redact_neighbours(&written)) {
                if redacted != *text {
                    found.push(self.place(tree, session, fact));
                }
            }
        }
    }

    /// Where something of a layout is in the window.
    fn place(&self, tree: &Tree<'_>, session: usize, fact: &Fact) -> (u32, i64, Rect) {
        let frame = self.frames.get(&(session, fact.document)).copied();
        match frame.zip(frame.and_then(|frame| self.offsets.get(&frame))) {
            Some((frame, (x, y))) => (frame, fact.backend, fact.rect.moved(*x, *y)),
            // In a document that has no place in the page that anybody knows.
            None => (0, fact.backend, tree.viewport),
        }
    }

    /// What is covered for something in a frame.
    fn shown(&self, frame: u32, rect: Rect) -> Rect {
        self.instead.get(&frame).copied().unwrap_or(rect)
    }
}
