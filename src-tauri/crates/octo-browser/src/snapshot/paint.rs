//! What of a page a person can see: boxes, clipping, opacity and colours, handed from parent to child.

use super::layout::{Display, Kind};

/// A rectangle by its edges, in CSS pixels.
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

    /// From the browser's x, y, width and height.
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

    pub fn within(&self, other: &Self) -> Self {
        Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    pub fn moved(&self, x: f64, y: f64) -> Self {
        Self { left: self.left + x, top: self.top + y, right: self.right + x, bottom: self.bottom + y }
    }

    /// Nothing can be seen in it.
    pub fn is_empty(&self) -> bool {
        !(self.right > self.left && self.bottom > self.top)
    }

    /// A text in it cannot be read: a screen reader's text is hidden in a box of a pixel.
    fn is_speck(&self) -> bool {
        !(self.right - self.left > 1.5 && self.bottom - self.top > 1.5)
    }

    /// The same, but free on an axis that does not clip.
    fn along(&self, x: bool, y: bool) -> Self {
        Self {
            left: if x { self.left } else { f64::NEG_INFINITY },
            top: if y { self.top } else { f64::NEG_INFINITY },
            right: if x { self.right } else { f64::INFINITY },
            bottom: if y { self.bottom } else { f64::INFINITY },
        }
    }
}

/// Why a node cannot be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    /// Not rendered, or `visibility`.
    Style,
    /// `opacity`, a transparent colour, or a clip path that leaves nothing.
    Transparent,
    /// No box, or one that is cut away by the boxes around it, or text too small to read.
    Empty,
    /// Where no scrolling reaches.
    OutOfReach,
    /// Text in the colour of what lies behind it, as far as its ancestors tell.
    SameColour,
}

/// What a node hands to its children.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    opacity: f64,
    clipped_away: bool,
    /// What boxes that do not scroll cut away, for children in the flow and for absolutely placed ones.
    hard: Rect,
    hard_absolute: Rect,
    /// What scroll areas let through as well.
    view: Rect,
    view_absolute: Rect,
    /// In a scroll area, or where none can be told: no place is out of reach.
    scrolls: bool,
    width: f64,
    background: Option<Colour>,
    pub pointer: bool,
}

/// A node as painted.
pub(super) struct Painted {
    pub flow: Flow,
    pub display: Display,
    pub rect: Rect,
    pub view: Rect,
    pub hidden: Option<Hidden>,
}

impl Flow {
    pub fn root(width: f64) -> Self {
        Self {
            opacity: 1.0,
            clipped_away: false,
            hard: Rect::ALL,
            hard_absolute: Rect::ALL,
            view: Rect::ALL,
            view_absolute: Rect::ALL,
            scrolls: false,
            width,
            background: Some(Colour::WHITE),
            pointer: false,
        }
    }

    /// A child of this node: `style` answers by the index in the list of styles asked for.
    pub fn step<'a>(
        &self,
        kind: Kind,
        tag: &str,
        bounds: Option<Rect>,
        style: &dyn Fn(usize) -> &'a str,
    ) -> Painted {
        let Some(rect) = bounds else {
            let hidden = (kind != Kind::Other).then_some(Hidden::Style);
            return Painted {
                flow: *self,
                display: Display::Absent,
                rect: Rect::EMPTY,
                view: Rect::EMPTY,
                hidden,
            };
        };
        if kind == Kind::Text {
            let hidden = self.hides(&rect).or_else(|| self.hides_text(&rect, style));
            let view = rect.within(&self.view);
            return Painted { flow: *self, display: Display::Inline, rect, view, hidden };
        }
        let [display, visibility, opacity, cursor] = [style(0), style(1), style(2), style(3)];
        let position = style(10);
        let mut flow = *self;
        match position {
            "fixed" => (flow.hard, flow.view, flow.scrolls) = (Rect::ALL, Rect::ALL, false),
            "absolute" => (flow.hard, flow.view) = (self.hard_absolute, self.view_absolute),
            _ => {}
        }
        flow.opacity *= opacity.parse().unwrap_or(1.0);
        flow.clipped_away |= leaves_nothing(style(12));
        flow.pointer = cursor == "pointer";
        flow.background = match (Colour::parse(style(6)), style(7)) {
            (_, image) if !image.is_empty() && image != "none" => None,
            (Some(colour), _) => colour.over(flow.background),
            (None, _) => flow.background,
        };
        if style(13).contains("dark") && matches!(tag, "HTML" | "BODY" | "#document") {
            flow.background = None;
        }
        let hidden = flow
            .hides(&rect)
            .or((visibility != "visible" && !visibility.is_empty()).then_some(Hidden::Style));
        let view = rect.within(&flow.view);
        // What the page's root and body cut away is cut away by the window: it scrolls.
        if kind == Kind::Element && !matches!(tag, "HTML" | "BODY") {
            flow.clip(&rect, style(8), style(9));
        }
        if position != "static" && !position.is_empty() {
            (flow.hard_absolute, flow.view_absolute) = (flow.hard, flow.view);
        }
        let display = match display {
            "none" => Display::Absent,
            "" | "contents" => Display::Inline,
            display if display.starts_with("inline") || display.starts_with("ruby") => Display::Inline,
            _ => Display::Block,
        };
        Painted { flow, display, rect, view, hidden }
    }

    fn clip(&mut self, rect: &Rect, x: &str, y: &str) {
        let hard = |overflow: &str| matches!(overflow, "hidden" | "clip");
        let soft = |overflow: &str| matches!(overflow, "auto" | "scroll" | "overlay");
        if soft(x) || soft(y) {
            self.scrolls = true;
            let seen = !rect.within(&self.hard).is_empty();
            self.hard = if seen { Rect::ALL } else { Rect::EMPTY };
        }
        self.hard = self.hard.within(&rect.along(hard(x), hard(y)));
        self.view = self.view.within(&rect.along(hard(x) || soft(x), hard(y) || soft(y)));
    }

    fn hides(&self, rect: &Rect) -> Option<Hidden> {
        if self.opacity < 0.05 || self.clipped_away {
            return Some(Hidden::Transparent);
        }
        if rect.is_empty() || rect.within(&self.hard).is_empty() {
            return Some(Hidden::Empty);
        }
        let beyond = rect.right <= 0.0 || rect.bottom <= 0.0 || (self.width > 0.0 && rect.left >= self.width);
        (beyond && !self.scrolls).then_some(Hidden::OutOfReach)
    }

    fn hides_text<'a>(&self, rect: &Rect, style: &dyn Fn(usize) -> &'a str) -> Option<Hidden> {
        let [visibility, colour, size] = [style(1), style(5), style(11)];
        if visibility != "visible" && !visibility.is_empty() {
            return Some(Hidden::Style);
        }
        let size: f64 = size.strip_suffix("px").and_then(|size| size.parse().ok()).unwrap_or(16.0);
        if size < 3.0 || rect.within(&self.hard).is_speck() {
            return Some(Hidden::Empty);
        }
        // Over a picture or a gradient nothing can be told: text may be cut out of it.
        let (colour, background) = (Colour::parse(colour)?, self.background?);
        if colour.alpha < 0.05 {
            return Some(Hidden::Transparent);
        }
        let shown = colour.over(Some(background))?;
        shown.is_like(background).then_some(Hidden::SameColour)
    }
}

/// The usual clip paths that leave nothing of a box.
fn leaves_nothing(path: &str) -> bool {
    const NOTHING: [&str; 4] = ["inset(50%", "inset(100%", "circle(0", "polygon(0px 0px, 0px 0px"];
    NOTHING.iter().any(|nothing| path.starts_with(nothing))
}

/// A colour as computed styles write it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Colour {
    rgb: [f64; 3],
    alpha: f64,
}

impl Colour {
    const WHITE: Self = Self { rgb: [255.0; 3], alpha: 1.0 };
    /// Two colours closer than this in every channel cannot be told apart.
    const LIKE: f64 = 12.0;

    /// `rgb(1, 2, 3)` and `rgba(1, 2, 3, 0.4)`; other notations are not understood.
    fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix("rgba(").or_else(|| text.strip_prefix("rgb("))?.strip_suffix(')')?;
        let mut parts = inner.split(',').map(|part| part.trim().parse::<f64>().ok());
        let mut next = || parts.next().flatten();
        let rgb = [next()?, next()?, next()?];
        Some(Self { rgb, alpha: next().unwrap_or(1.0) })
    }

    /// Painted over another; nothing is known of it over the unknown unless it covers.
    fn over(self, below: Option<Self>) -> Option<Self> {
        if self.alpha >= 0.999 {
            return Some(self);
        }
        let below = below?;
        let mut rgb = below.rgb;
        for (mixed, own) in rgb.iter_mut().zip(self.rgb) {
            *mixed = *mixed * (1.0 - self.alpha) + own * self.alpha;
        }
        Some(Self { rgb, alpha: 1.0 })
    }

    fn is_like(self, other: Self) -> bool {
        self.rgb.iter().zip(other.rgb).all(|(one, two)| (one - two).abs() < Self::LIKE)
    }
}
