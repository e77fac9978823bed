//! Determines visibility from boxes, clipping, opacity and colours, passed from parent to child.

mod colour;

use super::layout::{BoxDisplay, NodeKind};
use super::wire::ComputedStyle;
use colour::{Colour, colours_in, fraction};

/// A rectangle given by its edges, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    pub const EMPTY: Self = Self { left: 0.0, top: 0.0, right: 0.0, bottom: 0.0 };
    const ALL: Self =
        Self { left: f64::NEG_INFINITY, top: f64::NEG_INFINITY, right: f64::INFINITY, bottom: f64::INFINITY };

    /// Creates it from the browser's x, y, width and height.
    pub fn of(bounds: &[f64]) -> Self {
        match bounds {
            [x, y, width, height, ..] => Self { left: *x, top: *y, right: x + width, bottom: y + height },
            _ => Self::EMPTY,
        }
    }

    pub fn width(&self) -> f64 {
        (self.right - self.left).max(0.0)
    }

    pub fn height(&self) -> f64 {
        (self.bottom - self.top).max(0.0)
    }

    pub fn area(&self) -> f64 {
        self.width() * self.height()
    }

    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    pub fn translated(&self, x: f64, y: f64) -> Self {
        Self { left: self.left + x, top: self.top + y, right: self.right + x, bottom: self.bottom + y }
    }

    /// Returns whether its area is empty.
    pub fn is_empty(&self) -> bool {
        !(self.right > self.left && self.bottom > self.top)
    }

    /// Returns whether it is too small for readable text: screen-reader text is hidden in a one-pixel box.
    fn is_unreadable(&self) -> bool {
        !(self.right - self.left > 1.5 && self.bottom - self.top > 1.5)
    }

    /// Returns the rectangle, without bounds on each axis that does not clip.
    fn limited_to_axes(&self, clips_x: bool, clips_y: bool) -> Self {
        Self {
            left: if clips_x { self.left } else { f64::NEG_INFINITY },
            top: if clips_y { self.top } else { f64::NEG_INFINITY },
            right: if clips_x { self.right } else { f64::INFINITY },
            bottom: if clips_y { self.bottom } else { f64::INFINITY },
        }
    }
}

/// The reason why a node is invisible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HiddenReason {
    /// Not rendered, or hidden by `visibility`.
    Style,
    /// Hidden by `opacity`, a transparent colour, or a filter, clip or mask that leaves nothing.
    Transparent,
    /// No box, a box clipped away by its ancestors, or text too small to read.
    Empty,
    /// Outside the scrollable area.
    OutOfReach,
    /// Text in the colour of its background, according to its ancestors.
    SameColour,
}

/// State that a node passes to its children.
#[derive(Clone, Copy)]
pub(super) struct InheritedPaint {
    opacity: f64,
    clipped_away: bool,
    /// Clip of boxes that do not scroll, for children in the flow.
    fixed_clip: Rect,
    /// The same for absolutely positioned children.
    absolute_fixed_clip: Rect,
    /// Additional clip of scroll areas, for children in the flow.
    scroll_clip: Rect,
    /// The same for absolutely positioned children.
    absolute_scroll_clip: Rect,
    /// True inside a scroll area, where no position is out of reach.
    can_scroll: bool,
    width: f64,
    /// The background colour; `None` if unknown.
    background: Option<Colour>,
    text_fill: TextFill,
    pub pointer: bool,
}

/// The appearance of text whose own colour is transparent.
#[derive(Clone, Copy)]
enum TextFill {
    /// The background shows through, so the letters are invisible.
    Background,
    /// The letters show a background of one colour, clipped to them.
    Solid(Colour),
    /// The letters show a clipped background that cannot be analysed.
    Picture,
}

impl TextFill {
    fn of((colour, image): (&str, &str)) -> Self {
        if !is_image_set(image) {
            return Colour::parse(colour).map_or(Self::Picture, Self::Solid);
        }
        let colours = colours_in(image);
        match colours.split_first() {
            Some((first, rest))
                if !image.contains("url(") && rest.iter().all(|layer| layer.is_like(*first)) =>
            {
                Self::Solid(*first)
            }
            _ => Self::Picture,
        }
    }
}

/// The appearance of a node, and the state for its children.
pub(super) struct PaintedNode {
    pub state: InheritedPaint,
    pub display: BoxDisplay,
    pub rect: Rect,
    pub view: Rect,
    pub hidden: Option<HiddenReason>,
}

impl InheritedPaint {
    pub fn root(width: f64) -> Self {
        Self {
            opacity: 1.0,
            clipped_away: false,
            fixed_clip: Rect::ALL,
            absolute_fixed_clip: Rect::ALL,
            scroll_clip: Rect::ALL,
            absolute_scroll_clip: Rect::ALL,
            can_scroll: false,
            width,
            background: Some(Colour::WHITE),
            text_fill: TextFill::Background,
            pointer: false,
        }
    }

    /// Derives the state of a child node.
    pub fn paint_child<'a>(
        &self,
        kind: NodeKind,
        tag: &str,
        bounds: Option<Rect>,
        style: &dyn Fn(ComputedStyle) -> &'a str,
    ) -> PaintedNode {
        let Some(rect) = bounds else {
            let hidden = (kind != NodeKind::Other).then_some(HiddenReason::Style);
            return PaintedNode {
                state: *self,
                display: BoxDisplay::Absent,
                rect: Rect::EMPTY,
                view: Rect::EMPTY,
                hidden,
            };
        };
        if kind == NodeKind::Text {
            let hidden = self.hidden_reason(&rect).or_else(|| self.text_hidden_reason(&rect, style));
            let view = rect.intersection(&self.scroll_clip);
            return PaintedNode { state: *self, display: BoxDisplay::Inline, rect, view, hidden };
        }
        let [display, visibility] = [style(ComputedStyle::Display), style(ComputedStyle::Visibility)];
        let position = style(ComputedStyle::Position);
        let mut state = *self;
        match position {
            "fixed" => {
                (state.fixed_clip, state.scroll_clip, state.can_scroll) = (Rect::ALL, Rect::ALL, false)
            }
            "absolute" => {
                (state.fixed_clip, state.scroll_clip) = (self.absolute_fixed_clip, self.absolute_scroll_clip)
            }
            _ => {}
        }
        state.opacity *= style(ComputedStyle::Opacity).parse().unwrap_or(1.0)
            * filter_opacity(style(ComputedStyle::Filter));
        state.clipped_away |= clips_everything(style(ComputedStyle::ClipPath), style(ComputedStyle::Clip))
            || masks_everything(style(ComputedStyle::MaskImage), style(ComputedStyle::MaskSize));
        state.pointer =
            style(ComputedStyle::Cursor) == "pointer" && style(ComputedStyle::PointerEvents) != "none";
        let background = (style(ComputedStyle::BackgroundColor), style(ComputedStyle::BackgroundImage));
        if style(ComputedStyle::BackgroundClip).contains("text") {
            state.text_fill = TextFill::of(background);
        } else {
            state.paint(background);
        }
        if style(ComputedStyle::ColorScheme).contains("dark") && matches!(tag, "HTML" | "BODY" | "#document")
        {
            state.background = None;
        }
        let hidden = state
            .hidden_reason(&rect)
            .or((visibility != "visible" && !visibility.is_empty()).then_some(HiddenReason::Style));
        let view = rect.intersection(&state.scroll_clip);
        // Content clipped by the root and body is clipped by the window, which scrolls.
        if kind == NodeKind::Element && !matches!(tag, "HTML" | "BODY") {
            state.clip(&rect, style(ComputedStyle::OverflowX), style(ComputedStyle::OverflowY));
        }
        if position != "static" && !position.is_empty() {
            (state.absolute_fixed_clip, state.absolute_scroll_clip) = (state.fixed_clip, state.scroll_clip);
        }
        let display = match display {
            "none" => BoxDisplay::Absent,
            "" | "contents" => BoxDisplay::Inline,
            display if display.starts_with("inline") || display.starts_with("ruby") => BoxDisplay::Inline,
            _ => BoxDisplay::Block,
        };
        PaintedNode { state, display, rect, view, hidden }
    }

    fn paint(&mut self, (colour, image): (&str, &str)) {
        if is_image_set(image) {
            self.background = None;
        } else if !colour.is_empty() {
            // A colour that cannot be parsed is painted too, so the background is then unknown.
            self.background = Colour::parse(colour).and_then(|colour| colour.over(self.background));
        }
    }

    fn clip(&mut self, rect: &Rect, x: &str, y: &str) {
        let clips = |overflow: &str| matches!(overflow, "hidden" | "clip");
        let scrolls = |overflow: &str| matches!(overflow, "auto" | "scroll" | "overlay");
        if scrolls(x) || scrolls(y) {
            self.can_scroll = true;
            let is_visible = !rect.intersection(&self.fixed_clip).is_empty();
            self.fixed_clip = if is_visible { Rect::ALL } else { Rect::EMPTY };
        }
        self.fixed_clip = self.fixed_clip.intersection(&rect.limited_to_axes(clips(x), clips(y)));
        self.scroll_clip = self
            .scroll_clip
            .intersection(&rect.limited_to_axes(clips(x) || scrolls(x), clips(y) || scrolls(y)));
    }

    fn hidden_reason(&self, rect: &Rect) -> Option<HiddenReason> {
        if self.opacity < 0.05 || self.clipped_away {
            return Some(HiddenReason::Transparent);
        }
        if rect.is_empty() || rect.intersection(&self.fixed_clip).is_empty() {
            return Some(HiddenReason::Empty);
        }
        let outside =
            rect.right <= 0.0 || rect.bottom <= 0.0 || (self.width > 0.0 && rect.left >= self.width);
        (outside && !self.can_scroll).then_some(HiddenReason::OutOfReach)
    }

    fn text_hidden_reason<'a>(
        &self,
        rect: &Rect,
        style: &dyn Fn(ComputedStyle) -> &'a str,
    ) -> Option<HiddenReason> {
        let [visibility, size] = [style(ComputedStyle::Visibility), style(ComputedStyle::FontSize)];
        if visibility != "visible" && !visibility.is_empty() {
            return Some(HiddenReason::Style);
        }
        let size: f64 = size.strip_suffix("px").and_then(|size| size.parse().ok()).unwrap_or(16.0);
        if size < 3.0 || rect.intersection(&self.fixed_clip).is_unreadable() {
            return Some(HiddenReason::Empty);
        }
        let fill_colour = match style(ComputedStyle::TextFill) {
            "" => style(ComputedStyle::Color),
            fill => fill,
        };
        let hidden = self.colour_hidden_reason(fill_colour)?;
        let is_drawn = !matches!(style(ComputedStyle::TextStrokeWidth), "" | "0px");
        // An outline makes letters visible too.
        if is_drawn { self.colour_hidden_reason(style(ComputedStyle::TextStroke)) } else { Some(hidden) }
    }

    /// Returns the reason why text of this colour is invisible.
    fn colour_hidden_reason(&self, colour: &str) -> Option<HiddenReason> {
        let colour = Colour::parse(colour)?;
        let colour = match self.text_fill {
            _ if !colour.is_transparent() => colour,
            TextFill::Background => return Some(HiddenReason::Transparent),
            TextFill::Solid(colour) => colour,
            TextFill::Picture => return None,
        };
        // Over an image or a gradient, visibility cannot be determined.
        let background = self.background?;
        colour.over(Some(background))?.is_like(background).then_some(HiddenReason::SameColour)
    }
}

/// Returns whether one of the common clips, old and new, leaves nothing of a box.
fn clips_everything(path: &str, rect: &str) -> bool {
    const EMPTY_SHAPES: [&str; 4] = ["inset(50%", "inset(100%", "circle(0", "polygon(0px 0px, 0px 0px"];
    EMPTY_SHAPES.iter().any(|empty_shape| path.starts_with(empty_shape))
        || is_empty_clip(rect).unwrap_or(false)
}

/// Returns whether `rect(top, right, bottom, left)` is too small for readable content.
fn is_empty_clip(rect: &str) -> Option<bool> {
    let inner = rect.strip_prefix("rect(")?.strip_suffix(')')?;
    let mut sides = inner.split([',', ' ']).filter(|side| !side.is_empty());
    let mut next = || sides.next()?.strip_suffix("px")?.parse::<f64>().ok();
    // An `auto` side clips nothing.
    let (top, right, bottom, left) = (next(), next(), next(), next());
    let is_thin =
        |from: Option<f64>, to: Option<f64>| from.zip(to).is_some_and(|(from, to)| to - from <= 1.5);
    Some(is_thin(top, bottom) || is_thin(left, right))
}

/// Returns the opacity that a node's filters leave.
fn filter_opacity(filter: &str) -> f64 {
    let parts = filter.split("opacity(").skip(1);
    let amounts = parts.filter_map(|part| fraction(part.split_once(')')?.0));
    amounts.product()
}

fn is_image_set(image: &str) -> bool {
    !image.is_empty() && image != "none"
}

/// Returns whether a mask lets nothing through: a gradient of only transparent colours, or a mask of zero size.
fn masks_everything(image: &str, size: &str) -> bool {
    if !is_image_set(image) {
        return false;
    }
    let has_no_size = !size.is_empty()
        && size.split(',').all(|layer| layer.split(' ').any(|side| matches!(side, "0px" | "0%")));
    let colours = colours_in(image);
    let is_clear =
        !image.contains("url(") && !colours.is_empty() && colours.iter().all(Colour::is_transparent);
    has_no_size || is_clear
}
