//! Draws on pictures of a page after they were taken: the page itself is not touched.

use crate::ViewportRect;
use image::{Rgba, RgbaImage};

/// The cover colour, fully opaque.
const COVER_COLOUR: Rgba<u8> = Rgba([58, 64, 72, 255]);
/// The colour of number labels and frames.
const FRAME_COLOUR: Rgba<u8> = Rgba([214, 51, 108, 255]);
const DIGIT_COLOUR: Rgba<u8> = Rgba([255, 255, 255, 255]);

/// The digits, row by row, three pixels wide.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];
/// Picture pixels per digit pixel.
const DIGIT_SCALE: u32 = 2;

/// A picture to draw on.
pub(super) struct Canvas {
    image: RgbaImage,
    /// The area of the page that it shows, and its pixels per CSS pixel.
    viewport_rect: ViewportRect,
    scale: (f64, f64),
}

/// A half-open range of picture pixels.
#[derive(Clone, Copy)]
struct PixelRect {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

impl Canvas {
    /// Creates a canvas for a picture of `viewport`; without a density, the picture shows exactly that area.
    pub fn new(image: RgbaImage, viewport: ViewportRect, density: Option<f64>) -> Self {
        let scale =
            |pixels: u32, css: f64| density.unwrap_or(if css > 0.0 { f64::from(pixels) / css } else { 1.0 });
        let scale = (scale(image.width(), viewport.width), scale(image.height(), viewport.height));
        Self { image, viewport_rect: viewport, scale }
    }

    pub fn into_image(self) -> RgbaImage {
        self.image
    }

    /// Covers an area of the page, including partial pixels.
    pub fn cover(&mut self, rect: ViewportRect) {
        let pixels = self.pixel_rect(rect);
        self.fill(pixels, COVER_COLOUR);
    }

    /// Draws a frame around an area of the page, with a number at its corner.
    pub fn draw_number(&mut self, rect: ViewportRect, number: u32) {
        let PixelRect { left, top, right, bottom } = self.pixel_rect(rect);
        if left >= right || top >= bottom {
            return;
        }
        for edge in [
            PixelRect { left, top, right, bottom: top + 1 },
            PixelRect { left, top: bottom - 1, right, bottom },
            PixelRect { left, top, right: left + 1, bottom },
            PixelRect { left: right - 1, top, right, bottom },
        ] {
            self.fill(edge, FRAME_COLOUR);
        }
        let digits: Vec<usize> =
            number.to_string().chars().filter_map(|digit| Some(digit.to_digit(10)? as usize)).collect();
        let length = u32::try_from(digits.len()).unwrap_or_default();
        let (width, height) = (length * 4 * DIGIT_SCALE + DIGIT_SCALE, 7 * DIGIT_SCALE);
        // A number that does not fit at the corner is moved into the picture.
        let left = left.min(self.image.width().saturating_sub(width));
        let top = top.min(self.image.height().saturating_sub(height));
        self.fill(PixelRect { left, top, right: left + width, bottom: top + height }, FRAME_COLOUR);
        for (digit, position) in digits.into_iter().zip(0_u32..) {
            self.draw_digit(digit, left + DIGIT_SCALE + position * 4 * DIGIT_SCALE, top + DIGIT_SCALE);
        }
    }

    fn draw_digit(&mut self, digit: usize, left: u32, top: u32) {
        for (row, row_index) in DIGITS.get(digit).into_iter().flatten().zip(0_u32..) {
            for column in (0_u32..3).filter(|column| (row >> (2 - column)) & 1 == 1) {
                let (left, top) = (left + column * DIGIT_SCALE, top + row_index * DIGIT_SCALE);
                self.fill(
                    PixelRect { left, top, right: left + DIGIT_SCALE, bottom: top + DIGIT_SCALE },
                    DIGIT_COLOUR,
                );
            }
        }
    }

    /// Returns the pixels that an area of the page touches.
    fn pixel_rect(&self, rect: ViewportRect) -> PixelRect {
        let (x, y) = self.scale;
        // Coordinates outside the picture are clamped to its edge; NaN becomes no pixel.
        let clamped = |value: f64, limit: u32| value.clamp(0.0, f64::from(limit)) as u32;
        let (width, height) = self.image.dimensions();
        let (left, top) = (rect.left - self.viewport_rect.left, rect.top - self.viewport_rect.top);
        PixelRect {
            left: clamped((left * x).floor(), width),
            top: clamped((top * y).floor(), height),
            right: clamped(((left + rect.width) * x).ceil(), width),
            bottom: clamped(((top + rect.height) * y).ceil(), height),
        }
    }

    fn fill(&mut self, pixels: PixelRect, colour: Rgba<u8>) {
        let (width, height) = self.image.dimensions();
        for y in pixels.top..pixels.bottom.min(height) {
            for x in pixels.left..pixels.right.min(width) {
                self.image.put_pixel(x, y, colour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Rgba<u8> = Rgba([255, 255, 255, 255]);

    fn canvas(viewport: ViewportRect) -> Canvas {
        Canvas::new(RgbaImage::from_pixel(100, 60, WHITE), viewport, None)
    }

    fn rect(left: f64, top: f64, width: f64, height: f64) -> ViewportRect {
        ViewportRect { left, top, width, height }
    }

    #[test]
    fn covers_scale_with_the_picture() {
        for (viewport, target, painted, untouched) in [
            (
                rect(0.0, 0.0, 100.0, 60.0),
                rect(10.0, 10.0, 20.0, 10.0),
                [(10, 10), (29, 19)],
                [(9, 10), (30, 19)],
            ),
            // Twice the pixels; a part of the page.
            (
                rect(5.0, 5.0, 50.0, 30.0),
                rect(10.0, 10.0, 20.0, 10.0),
                [(10, 10), (49, 29)],
                [(9, 10), (50, 29)],
            ),
            // Half a pixel is covered completely.
            (
                rect(0.0, 0.0, 100.0, 60.0),
                rect(10.5, 10.5, 1.0, 1.0),
                [(10, 10), (11, 11)],
                [(9, 10), (12, 11)],
            ),
            (
                rect(0.0, 0.0, 100.0, 60.0),
                rect(-50.0, 50.0, 500.0, 500.0),
                [(0, 50), (99, 59)],
                [(0, 49), (99, 49)],
            ),
        ] {
            let mut canvas = canvas(viewport);
            canvas.cover(target);
            let image = canvas.into_image();
            for (x, y) in painted {
                assert_eq!(*image.get_pixel(x, y), COVER_COLOUR, "{target:?} at {x} {y}");
            }
            for (x, y) in untouched {
                assert_eq!(*image.get_pixel(x, y), WHITE, "{target:?} at {x} {y}");
            }
        }
        // Scroll bars next to the viewport.
        let mut with_bars =
            Canvas::new(RgbaImage::from_pixel(100, 60, WHITE), rect(0.0, 0.0, 85.0, 45.0), Some(1.0));
        with_bars.cover(rect(70.0, 30.0, 10.0, 10.0));
        let image = with_bars.into_image();
        assert_eq!((*image.get_pixel(70, 30), *image.get_pixel(79, 39)), (COVER_COLOUR, COVER_COLOUR));
        assert_eq!((*image.get_pixel(69, 30), *image.get_pixel(80, 39)), (WHITE, WHITE));
        let mut canvas = canvas(rect(0.0, 0.0, 100.0, 60.0));
        for outside in
            [rect(200.0, 10.0, 20.0, 10.0), rect(f64::NAN, 1.0, 5.0, 5.0), rect(-30.0, 0.0, 20.0, 9.0)]
        {
            canvas.cover(outside);
        }
        assert!(canvas.into_image().pixels().all(|pixel| *pixel == WHITE));
    }

    #[test]
    fn numbers_at_the_edge_stay_inside_the_picture() {
        for target in [rect(10.0, 10.0, 60.0, 30.0), rect(97.0, 57.0, 40.0, 40.0)] {
            let mut canvas = canvas(rect(0.0, 0.0, 100.0, 60.0));
            canvas.draw_number(target, 18);
            let image = canvas.into_image();
            let white_in_frame = image.enumerate_pixels().filter(|(x, y, pixel)| {
                **pixel == DIGIT_COLOUR && *x > 0 && *y > 0 && *image.get_pixel(x - 1, y - 1) == FRAME_COLOUR
            });
            assert!(white_in_frame.count() > 0, "{target:?}");
        }
        // No two digits are drawn alike.
        for (a, b) in (0..10).flat_map(|a| (0..a).map(move |b| (a, b))) {
            assert_ne!(DIGITS[a], DIGITS[b]);
        }
    }
}
