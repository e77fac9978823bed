//! A place of a page.

/// Where something is, in CSS pixels of what is seen of its session's page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// From the left.
    pub left: f64,
    /// From the top.
    pub top: f64,
    /// To the right.
    pub width: f64,
    /// Downwards.
    pub height: f64,
}

impl Spot {
    /// Its middle.
    pub fn middle(self) -> (f64, f64) {
        self.at(0.5, 0.5)
    }

    pub(super) fn at(self, x: f64, y: f64) -> (f64, f64) {
        (self.left + self.width * x, self.top + self.height * y)
    }

    /// Whether it and another have something in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.left < other.left + other.width
            && other.left < self.left + self.width
            && self.top < other.top + other.height
            && other.top < self.top + self.height
    }

    /// The smallest place that both are in.
    pub(crate) fn with(self, other: Self) -> Self {
        let (left, top) = (self.left.min(other.left), self.top.min(other.top));
        let right = (self.left + self.width).max(other.left + other.width);
        let bottom = (self.top + self.height).max(other.top + other.height);
        Self { left, top, width: right - left, height: bottom - top }
    }

    pub(super) fn around(points: &[f64]) -> Self {
        let (mut left, mut top, mut right, mut bottom) = (f64::MAX, f64::MAX, f64::MIN, f64::MIN);
        for point in points.chunks_exact(2) {
            if let [x, y] = point {
                (left, right) = (left.min(*x), right.max(*x));
                (top, bottom) = (top.min(*y), bottom.max(*y));
            }
        }
        Self { left, top, width: right - left, height: bottom - top }
    }

    /// The part of it that is seen.
    pub(crate) fn within(self, width: f64, height: f64) -> Self {
        let (left, top) = (self.left.max(0.0), self.top.max(0.0));
        let (right, bottom) = ((self.left + self.width).min(width), (self.top + self.height).min(height));
        Self { left, top, width: right - left, height: bottom - top }
    }

    /// Whether it has room for the point of a pointer. Half a pixel is enough: lines of a drawing are that thin.
    pub(crate) fn is_there(self) -> bool {
        self.width >= 0.5 && self.height >= 0.5
    }
}
