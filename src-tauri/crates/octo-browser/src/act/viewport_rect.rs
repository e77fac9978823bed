//! A rectangle on a page.

/// A rectangle, in CSS pixels of its session's viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewportRect {
    /// Distance from the left.
    pub left: f64,
    /// Distance from the top.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl ViewportRect {
    /// Returns the point in its middle.
    pub fn middle(self) -> (f64, f64) {
        self.at(0.5, 0.5)
    }

    /// Returns a point given by fractions of the width and the height.
    pub(super) fn at(self, x: f64, y: f64) -> (f64, f64) {
        (self.left + self.width * x, self.top + self.height * y)
    }

    /// Returns whether the rectangle overlaps another rectangle.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.left < other.left + other.width
            && other.left < self.left + self.width
            && self.top < other.top + other.height
            && other.top < self.top + self.height
    }

    /// Returns the smallest rectangle that contains both.
    pub(crate) fn union(self, other: Self) -> Self {
        let (left, top) = (self.left.min(other.left), self.top.min(other.top));
        let right = (self.left + self.width).max(other.left + other.width);
        let bottom = (self.top + self.height).max(other.top + other.height);
        Self { left, top, width: right - left, height: bottom - top }
    }

    /// Returns the smallest rectangle around points, given as alternating x and y coordinates.
    pub(super) fn bounding(points: &[f64]) -> Self {
        let (mut left, mut top, mut right, mut bottom) = (f64::MAX, f64::MAX, f64::MIN, f64::MIN);
        for point in points.chunks_exact(2) {
            if let [x, y] = point {
                (left, right) = (left.min(*x), right.max(*x));
                (top, bottom) = (top.min(*y), bottom.max(*y));
            }
        }
        Self { left, top, width: right - left, height: bottom - top }
    }

    /// Returns the part that lies inside the viewport.
    pub(crate) fn clipped(self, width: f64, height: f64) -> Self {
        let (left, top) = (self.left.max(0.0), self.top.max(0.0));
        let (right, bottom) = ((self.left + self.width).min(width), (self.top + self.height).min(height));
        Self { left, top, width: right - left, height: bottom - top }
    }

    /// Returns whether the pointer can hit the rectangle. Half a pixel is enough, because lines of a drawing are
    /// that thin.
    pub(crate) fn is_hittable(self) -> bool {
        self.width >= 0.5 && self.height >= 0.5
    }
}
