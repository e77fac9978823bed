//! Joins the frames of a capture into one tree: accessibility nodes with their layout facts, frames below the
//! elements that embed them, and clickable elements that are hidden from assistive technology.
//!
//! Page data is never assumed to be a tree: each node is used once, at its first mention, and every walk is a
//! loop, so it terminates despite cycles, missing children, duplicate ids and any depth.

mod inaccessible;

use std::borrow::Cow;
use std::collections::HashMap;

use super::capture::{CapturedFrame, PageCapture};
use super::clean::{clean_line, push_clean_line};
use super::layout::{BoxDisplay, Layout, NONE, NodeKind};
use super::paint::{HiddenReason, Rect};
use super::role::{RolePart, part_of};
use super::wire::{ScalarValue, TreeNode};

/// The frames of a page as one tree. Parents precede their children in `nodes`.
pub(super) struct PageTree<'a> {
    pub nodes: Vec<Node>,
    pub layouts: Vec<Layout<'a>>,
    pub frames: &'a [CapturedFrame],
    pub sessions: Vec<String>,
    pub viewport: Rect,
}

#[derive(Clone)]
pub(super) struct Node {
    pub frame: u32,
    /// Backend node id, or 0 if the node has none.
    pub backend: i64,
    /// The node's index in the layout of its frame's session.
    pub fact: u32,
    pub part: RolePart,
    pub role: Cow<'static, str>,
    pub name: String,
    pub value: String,
    pub url: String,
    pub states: String,
    pub level: u8,
    pub parent: u32,
    pub children: Vec<u32>,
    pub focusable: bool,
    pub editable: bool,
    pub hidden: Option<HiddenReason>,
    pub block: bool,
    pub on_screen: bool,
    /// Its box in window coordinates.
    pub rect: Rect,
}

impl Node {
    /// Creates a node with only its position set: its frame and parent, its layout fact and backend node id.
    fn positioned((frame, parent): (u32, u32), (fact, backend): (u32, i64)) -> Self {
        Self {
            frame,
            backend,
            fact,
            part: RolePart::Transparent,
            role: Cow::Borrowed(""),
            name: String::new(),
            value: String::new(),
            url: String::new(),
            states: String::new(),
            level: 0,
            parent,
            children: Vec::new(),
            focusable: false,
            editable: false,
            hidden: None,
            block: false,
            on_screen: true,
            rect: Rect::EMPTY,
        }
    }
}

/// The position of a frame's document in the window.
#[derive(Clone, Copy)]
struct FrameOffset {
    x: f64,
    y: f64,
    clip: Rect,
}

struct TreeJoiner<'a> {
    tree: PageTree<'a>,
    placements: Vec<Option<FrameOffset>>,
    frames_by_owner: HashMap<(u32, i64), Vec<u32>>,
    indices_by_id: Vec<HashMap<&'a str, u32>>,
    is_joined: Vec<Vec<bool>>,
    /// Screen pixels per CSS pixel.
    scale: f64,
}

impl<'a> PageTree<'a> {
    pub fn join(capture: &'a PageCapture) -> Self {
        let layouts = capture.sessions.iter().map(|session| Layout::new(&session.layout)).collect();
        let scale = capture.sessions.first().map_or(1.0, |session| session.scale);
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let viewport = Rect {
            left: 0.0,
            top: 0.0,
            right: capture.viewport.width * scale,
            bottom: capture.viewport.height * scale,
        };
        let sessions = capture.sessions.iter().map(|session| session.session.clone()).collect();
        let tree = Self { nodes: Vec::new(), layouts, frames: &capture.frames, sessions, viewport };
        let frame_indices = first_indices(capture.frames.iter().map(|frame| frame.frame.as_str()));
        let mut frames_by_owner: HashMap<(u32, i64), Vec<u32>> = HashMap::new();
        for (frame, index) in capture.frames.iter().zip(0..) {
            if let Some(owner) = &frame.owner
                && let Some(owner_frame) = frame_indices.get(owner.frame.as_str())
            {
                frames_by_owner.entry((*owner_frame, owner.node)).or_default().push(index);
            }
        }
        let ids = capture.frames.iter();
        let ids = ids.map(|frame| first_indices(frame.tree.nodes.iter().map(|node| node.node_id.as_str())));
        let mut joiner = TreeJoiner {
            tree,
            placements: vec![None; capture.frames.len()],
            frames_by_owner,
            indices_by_id: ids.collect(),
            is_joined: capture.frames.iter().map(|frame| vec![false; frame.tree.nodes.len()]).collect(),
            scale,
        };
        if !capture.frames.is_empty() {
            joiner.place_root();
            joiner.walk();
            joiner.add_inaccessible();
        }
        joiner.tree
    }

    pub fn node(&self, node: u32) -> Option<&Node> {
        self.nodes.get(node as usize)
    }

    pub fn frame(&self, node: &Node) -> Option<&'a CapturedFrame> {
        self.frames.get(node.frame as usize)
    }

    pub fn layout(&self, frame: u32) -> Option<&Layout<'a>> {
        self.layouts.get(self.frames.get(frame as usize)?.session)
    }

    /// Returns an element's tag in lower case.
    pub fn tag(&self, node: &Node) -> String {
        self.layout(node.frame).map(|layout| layout.tag(node.fact).to_lowercase()).unwrap_or_default()
    }

    pub fn attribute(&self, node: &Node, name: &str) -> Option<&'a str> {
        self.layout(node.frame)?.attribute(node.fact, name)
    }
}

/// Returns the index of each name, the first one if a name occurs several times.
fn first_indices<'n>(names: impl Iterator<Item = &'n str>) -> HashMap<&'n str, u32> {
    let mut indices = HashMap::new();
    for (name, index) in names.zip(0..) {
        indices.entry(name).or_insert(index);
    }
    indices
}

impl<'a> TreeJoiner<'a> {
    fn place_root(&mut self) {
        let (x, y) = self.scroll_of(0);
        let clip = self.tree.viewport;
        if let Some(placement) = self.placements.first_mut() {
            *placement = Some(FrameOffset { x: -x, y: -y, clip });
        }
    }

    /// Returns the scroll offset of a frame's document.
    fn scroll_of(&self, frame: u32) -> (f64, f64) {
        let offset = || {
            let layout = self.tree.layout(frame)?;
            let nodes = &self.tree.frames.get(frame as usize)?.tree.nodes;
            let fact = nodes.iter().find_map(|node| layout.find(node.backend?))?;
            Some(layout.scroll(fact))
        };
        offset().unwrap_or_default()
    }

    fn walk(&mut self) {
        let mut pending: Vec<(u32, u32, u32)> = Vec::new();
        if let Some(root) = self.root_of(0) {
            pending.push((NONE, 0, root));
        }
        loop {
            self.join_pending(&mut pending);
            if !self.add_inaccessible_frame(&mut pending) {
                return;
            }
        }
    }

    /// Adds a visible frame whose element is in no accessibility tree, at the page's end. Returns whether there was
    /// one.
    fn add_inaccessible_frame(&mut self, pending: &mut Vec<(u32, u32, u32)>) -> bool {
        while let Some(owner) = self.frames_by_owner.keys().min().copied() {
            let frames = self.frames_by_owner.remove(&owner).unwrap_or_default();
            let (owner_frame, backend) = owner;
            let Some(layout) = self.tree.layout(owner_frame) else { continue };
            let Some(fact) = layout.find(backend) else { continue };
            let Some(visible_fact) = layout.fact(fact).filter(|fact| fact.hidden.is_none()) else { continue };
            let outer = self.placements.get(owner_frame as usize).copied().flatten();
            let rect =
                outer.map_or(visible_fact.rect, |outer| visible_fact.rect.translated(outer.x, outer.y));
            for frame in frames {
                self.place_frame(frame, owner_frame, fact, rect);
                pending.extend(self.root_of(frame).map(|root| (0, frame, root)));
            }
            return true;
        }
        false
    }

    fn join_pending(&mut self, pending: &mut Vec<(u32, u32, u32)>) {
        while let Some((parent, frame, index)) = pending.pop() {
            let Some(is_joined) = self
                .is_joined
                .get_mut(frame as usize)
                .and_then(|is_joined| is_joined.get_mut(index as usize))
            else {
                continue;
            };
            if std::mem::replace(is_joined, true) {
                continue;
            }
            let frames = self.tree.frames;
            let Some(source) =
                frames.get(frame as usize).and_then(|frame| frame.tree.nodes.get(index as usize))
            else {
                continue;
            };
            let node = self.accessible_node(source, frame, parent);
            let (backend, fact, rect) = (node.backend, node.fact, node.rect);
            let is_rendered = node.part != RolePart::Hidden;
            let number = self.push(node);
            if is_rendered && let Some(ids) = self.indices_by_id.get(frame as usize) {
                let children = source.child_ids.iter().rev().filter_map(|id| ids.get(id.as_str()));
                pending.extend(children.map(|child| (number, frame, *child)));
            }
            for child_frame in self.frames_by_owner.remove(&(frame, backend)).unwrap_or_default() {
                self.place_frame(child_frame, frame, fact, rect);
                if let Some(root) = self.root_of(child_frame) {
                    pending.push((number, child_frame, root));
                }
            }
        }
    }

    /// Returns the index of the node of a frame's tree that has no parent, or else of the first node.
    fn root_of(&self, frame: u32) -> Option<u32> {
        let nodes = &self.tree.frames.get(frame as usize)?.tree.nodes;
        let root = nodes.iter().position(|node| node.parent_id.is_none()).unwrap_or_default();
        (!nodes.is_empty()).then_some(u32::try_from(root).unwrap_or_default())
    }

    /// Places a frame at its element's box, clipped to the visible part.
    fn place_frame(&mut self, child_frame: u32, owner_frame: u32, fact: u32, rect: Rect) {
        let (x, y) = self.scroll_of(child_frame);
        let outer = self.placements.get(owner_frame as usize).copied().flatten();
        let outer = outer.unwrap_or(FrameOffset { x: 0.0, y: 0.0, clip: self.tree.viewport });
        let view = self
            .tree
            .layout(owner_frame)
            .and_then(|layout| layout.fact(fact))
            .map_or(Rect::EMPTY, |fact| fact.view);
        let clip = outer.clip.intersection(&view.translated(outer.x, outer.y));
        let owner = self.tree.frames.get(child_frame as usize).and_then(|frame| frame.owner.as_ref());
        let (inset_x, inset_y) = owner.map_or((0.0, 0.0), |owner| owner.inset);
        let (inset_x, inset_y) = (inset_x * self.scale, inset_y * self.scale);
        if let Some(placement) = self.placements.get_mut(child_frame as usize) {
            *placement = Some(FrameOffset { x: rect.left + inset_x - x, y: rect.top + inset_y - y, clip });
        }
    }

    fn push(&mut self, node: Node) -> u32 {
        let number = u32::try_from(self.tree.nodes.len()).unwrap_or(NONE);
        if let Some(parent) = self.tree.nodes.get_mut(node.parent as usize) {
            parent.children.push(number);
        }
        self.tree.nodes.push(node);
        number
    }

    fn accessible_node(&self, source: &TreeNode, frame: u32, parent: u32) -> Node {
        let role = source.role.as_ref().and_then(|role| role.text()).unwrap_or_default();
        let (mut part, word) =
            if source.ignored { (RolePart::Transparent, Cow::Borrowed("")) } else { part_of(role) };
        let backend = source.backend.unwrap_or_default();
        let layout = self.tree.layout(frame);
        let fact = layout.and_then(|layout| layout.find(backend)).unwrap_or(NONE);
        if layout.is_some_and(|layout| layout.tag(fact) == "BR") {
            part = RolePart::Break;
        }
        if part == RolePart::Transparent && layout.is_some_and(|layout| layout.tag(fact) == "PRE") {
            part = RolePart::Code;
        }
        let name = source.name.as_ref().and_then(|name| name.text()).unwrap_or_default();
        // Text keeps its spaces, which separate it from its neighbours.
        let name = if part == RolePart::Text { name.to_owned() } else { clean_line(name) };
        let mut node = Node { part, role: word, name, ..Node::positioned((frame, parent), (fact, backend)) };
        self.apply_layout(&mut node);
        read_properties(&mut node, source);
        if let Some(value) = &source.value {
            node.value = match &value.value {
                ScalarValue::Text(text) => clean_line(text),
                ScalarValue::Whole(number) => number.to_string(),
                ScalarValue::Number(number) => number.to_string(),
                ScalarValue::Nothing | ScalarValue::Flag(_) => String::new(),
            };
        }
        // An editable area without a role is shown as a text box.
        if part == RolePart::Transparent && node.editable && !source.ignored && self.is_editing_root(&node) {
            part = RolePart::Field;
            (node.part, node.role) = (part, Cow::Borrowed("textbox"));
        }
        // A field that is no native element shows its content, as a control does.
        if part == RolePart::Field
            && !matches!(layout.map(|layout| layout.tag(fact)), Some("INPUT" | "SELECT" | "TEXTAREA") | None)
        {
            node.part = RolePart::Control;
        }
        node
    }

    /// Returns whether an editable node is the outermost of its area.
    fn is_editing_root(&self, node: &Node) -> bool {
        self.tree.node(node.parent).is_none_or(|parent| !parent.editable)
    }

    /// Sets a node's layout data: its position and visibility.
    fn apply_layout(&self, node: &mut Node) {
        let Some(layout) = self.tree.layout(node.frame) else { return };
        let placement = self.placements.get(node.frame as usize).copied().flatten();
        let parent = self.tree.node(node.parent);
        let Some(fact) = layout.fact(node.fact) else {
            // Generated text has no node of its own, so its visibility is its parent's.
            if let Some(parent) = parent {
                (node.on_screen, node.rect) = (parent.on_screen, parent.rect);
                node.hidden = parent.hidden.filter(|hidden| *hidden != HiddenReason::Empty);
            }
            return;
        };
        node.hidden = fact.hidden;
        node.block = fact.display == BoxDisplay::Block;
        if let Some(FrameOffset { x, y, clip }) = placement {
            node.rect = fact.rect.translated(x, y);
            node.on_screen = !fact.view.translated(x, y).intersection(&clip).is_empty();
        }
    }
}

/// Returns the start of the visible text under a node, without field values.
pub(super) fn text_under(layout: &Layout<'_>, top: u32) -> String {
    const MAX_NODES_READ: usize = 200;
    const MAX_CHARS: usize = 160;
    let mut text = String::new();
    let mut field = NONE;
    let is_inside = |parent: u32, ancestor: u32| parent != NONE && parent >= ancestor;
    let first = top.saturating_add(1);
    let descendants = layout.facts.get(first as usize..).unwrap_or_default();
    for (fact, index) in descendants.iter().zip(first..).take(MAX_NODES_READ) {
        if !is_inside(fact.parent, top) || text.len() > MAX_CHARS {
            break;
        }
        if field != NONE && is_inside(fact.parent, field) {
            continue;
        }
        field = NONE;
        match fact.kind {
            NodeKind::Element
                if matches!(layout.tag(index), "INPUT" | "TEXTAREA" | "SELECT" | "SCRIPT" | "STYLE") =>
            {
                field = index
            }
            NodeKind::Text if fact.hidden.is_none() => {
                push_clean_line(&mut text, layout.text(index));
                push_clean_line(&mut text, " ");
            }
            NodeKind::Element | NodeKind::Text | NodeKind::Other => {}
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn read_properties(node: &mut Node, source: &TreeNode) {
    for property in &source.properties {
        let value = &property.value.value;
        let text = value.text().unwrap_or_default();
        let is_on = value.flag().unwrap_or(text == "true");
        let state = match property.name.as_str() {
            "level" => {
                node.level = match value {
                    ScalarValue::Whole(level) => u8::try_from(*level).unwrap_or_default(),
                    ScalarValue::Nothing
                    | ScalarValue::Text(_)
                    | ScalarValue::Number(_)
                    | ScalarValue::Flag(_) => 0,
                };
                continue;
            }
            "url" => {
                node.url = text.to_owned();
                continue;
            }
            "focusable" => {
                node.focusable = is_on;
                continue;
            }
            "editable" => {
                node.editable = !text.is_empty();
                continue;
            }
            "checked" if text == "mixed" => "mixed",
            "checked" if is_on => "checked",
            "pressed" if is_on => "pressed",
            "disabled" if is_on => "disabled",
            "expanded" if is_on => "expanded",
            "expanded" => "collapsed",
            "selected" if is_on => "selected",
            "required" if is_on => "required",
            "invalid" if !text.is_empty() && text != "false" => "invalid",
            "readonly" if is_on && node.part == RolePart::Field => "readonly",
            "focused" if is_on && node.parent != NONE => "focused",
            "modal" if is_on => "modal",
            "busy" if is_on => "busy",
            _ => continue,
        };
        node.states.push(' ');
        node.states.push_str(state);
    }
}
