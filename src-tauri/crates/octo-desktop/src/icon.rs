//! Draws the mark on the tray icon.

/// Meaning of the dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dot {
    /// Something runs.
    Running,
    /// Something waits for the person.
    Waiting,
}

impl Dot {
    /// Returns its colour. The menu's text says the same.
    fn colour(self) -> [u8; 4] {
        match self {
            Self::Running => [0x2f, 0x7d, 0xf6, 0xff],
            Self::Waiting => [0xe5, 0x8a, 0x00, 0xff],
        }
    }
}

/// Draws a dot with a clear rim into the lower right corner of an icon with four bytes per pixel, `width`
/// pixels per row.
#[must_use]
pub fn with_dot(icon: &[u8], width: usize, dot: Dot) -> Vec<u8> {
    let mut pixels = icon.to_vec();
    let height = (icon.len() / 4).checked_div(width).unwrap_or(0);
    let radius = width.min(height) as f64 * 0.24;
    let outer_radius = radius * 1.35;
    let (x, y) = (width as f64 - radius - 0.5, height as f64 - radius - 0.5);
    for (index, pixel) in pixels.chunks_exact_mut(4).enumerate() {
        let distance = f64::hypot((index % width) as f64 - x, (index / width) as f64 - y);
        if distance <= radius {
            pixel.copy_from_slice(&dot.colour());
        } else if distance <= outer_radius {
            pixel.copy_from_slice(&[0; 4]);
        }
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_is_in_its_corner_and_nowhere_else() {
        let icon = vec![9; 32 * 32 * 4];
        let pixel = |pixels: &[u8], x: usize, y: usize| pixels[(y * 32 + x) * 4..][..4].to_vec();
        for dot in [Dot::Running, Dot::Waiting] {
            let pixels = with_dot(&icon, 32, dot);
            assert_eq!(pixels.len(), icon.len());
            assert_eq!(pixel(&pixels, 24, 24), dot.colour());
            for (x, y) in [(0, 0), (31, 0), (0, 31), (16, 8)] {
                assert_eq!(pixel(&pixels, x, y), [9; 4], "{x} {y}");
            }
        }
        assert_ne!(with_dot(&icon, 32, Dot::Running), with_dot(&icon, 32, Dot::Waiting));
    }

    #[test]
    fn an_icon_without_pixels_stays_so() {
        assert!(with_dot(&[], 0, Dot::Running).is_empty());
        assert!(with_dot(&[], 32, Dot::Running).is_empty());
    }
}
