//! Pictures for a model, with everything covered that no text may contain.
//!
//! The page itself is not touched. Areas to cover are determined before and after the picture is taken; an area
//! that moved meanwhile is covered from its old to its new position.

use super::{TabView, draw::Canvas};
use crate::{
    BringToFront, Page, PageError, PagePicture, PictureArea, PictureFormat, ViewportRect,
    page::MeasuredArea,
    safety::Redactor,
    snapshot::{CoverArea, PageCapture, Snapshot},
};
use image::{
    ExtendedColorType, ImageEncoder as _, ImageFormat,
    codecs::png::{CompressionType, FilterType, PngEncoder},
};
use std::collections::HashMap;

/// Number of attempts if the page is scrolled during a picture.
const MAX_ATTEMPTS: u32 = 3;

/// The labels of usable elements in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementLabels {
    /// Each visible target has a frame with its number, which is the same as in snapshots.
    Numbered,
    /// The page as it is.
    None,
}

/// A picture for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPicture {
    /// The picture, as PNG.
    pub picture: PagePicture,
    /// Number of covered areas.
    pub covered: usize,
    /// Number of numbered targets.
    pub numbered: usize,
}

/// The reason why no picture was taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelPictureError {
    /// An error of the page.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The browser's image could not be drawn on. It is not shown uncovered.
    #[error("the picture could not be drawn on: {0}")]
    Unreadable(String),
}

impl TabView {
    /// Takes a picture of the page for a model. Covers fields for passwords, codes and cards, including those
    /// in frames and shadow roots, every occurrence of a secret value known to `redactor`, and frames that
    /// cannot be inspected.
    ///
    /// # Errors
    ///
    /// [`ModelPictureError`]; a picture is never returned uncovered.
    pub async fn take_picture(
        &mut self,
        page: &Page,
        area: PictureArea,
        numbers: ElementLabels,
        bring_to_front: BringToFront,
        redactor: &Redactor,
    ) -> Result<ModelPicture, ModelPictureError> {
        match bring_to_front {
            BringToFront::First => page.bring_to_front().await?,
            BringToFront::IfNeeded => page.begin_focus_emulation().await?,
        }
        let (measured, before, picture, after) = capture_unscrolled(page, &area, bring_to_front).await?;
        let boxes = match numbers {
            // Do not store this as the newest snapshot: the model does not read it, and later changes are
            // reported against the one it did read.
            ElementLabels::Numbered => Snapshot::new(&after, &mut self.refs).boxes(),
            ElementLabels::None => Vec::new(),
        };
        let covers = self.covers(&[&before, &after], redactor);
        let boxes: Vec<(u32, ViewportRect)> =
            boxes.into_iter().filter(|(_, rect)| rect.overlaps(measured.viewport_rect)).collect();
        let overlay = PictureOverlay {
            covers,
            boxes,
            viewport_rect: measured.viewport_rect,
            density: measured.density,
        };
        if overlay.covers.is_empty() && overlay.boxes.is_empty() {
            return Ok(ModelPicture { picture, covered: 0, numbered: 0 });
        }
        let unreadable = |error: &dyn std::fmt::Display| ModelPictureError::Unreadable(error.to_string());
        // A picture has about a million pixels.
        tokio::task::spawn_blocking(move || overlay.draw_on(&picture))
            .await
            .map_err(|error| unreadable(&error))?
            .map_err(|error| unreadable(&error))
    }

    /// Returns the areas to cover in a picture taken between these captures.
    fn covers(&self, captures: &[&PageCapture], redactor: &Redactor) -> Vec<ViewportRect> {
        let mut rects_by_node: HashMap<(String, i64), ViewportRect> = HashMap::new();
        let mut unidentified = Vec::new();
        for CoverArea { node, rect } in
            captures.iter().flat_map(|capture| capture.covers(&self.refs, redactor))
        {
            if node.1 == 0 {
                // Generated text has no identity to match it by.
                unidentified.push(rect);
            } else {
                rects_by_node
                    .entry(node)
                    .and_modify(|existing| *existing = existing.union(rect))
                    .or_insert(rect);
            }
        }
        rects_by_node.into_values().chain(unidentified).collect()
    }
}

/// Takes a picture during which the page was not scrolled, with the captures before and after it. Captured
/// positions are relative to the window, the picture's area to the page; after a scroll in between, the covers
/// would be misplaced.
async fn capture_unscrolled(
    page: &Page,
    area: &PictureArea,
    bring_to_front: BringToFront,
) -> Result<(MeasuredArea, PageCapture, PagePicture, PageCapture), PageError> {
    for _ in 0..MAX_ATTEMPTS {
        let measured = page.measure(area).await?;
        let before = page.capture().await?;
        let picture = page.picture_of(&measured, PictureFormat::Png, bring_to_front).await?;
        let after = page.capture().await?;
        if page.is_scroll_unchanged_since(&measured).await? {
            return Ok((measured, before, picture, after));
        }
    }
    Err(PageError::KeepsNavigating)
}

/// The overlay drawn on a picture.
struct PictureOverlay {
    covers: Vec<ViewportRect>,
    boxes: Vec<(u32, ViewportRect)>,
    viewport_rect: ViewportRect,
    density: Option<f64>,
}

impl PictureOverlay {
    fn draw_on(self, picture: &PagePicture) -> Result<ModelPicture, image::ImageError> {
        let image = image::load_from_memory_with_format(&picture.bytes, ImageFormat::Png)?.into_rgba8();
        let mut canvas = Canvas::new(image, self.viewport_rect, self.density);
        for (number, rect) in &self.boxes {
            canvas.draw_number(*rect, *number);
        }
        // Draw covers last, so that no frame or number reveals anything under them.
        let covered = self.covers.iter().filter(|rect| rect.overlaps(self.viewport_rect)).count();
        self.covers.into_iter().for_each(|rect| canvas.cover(rect));
        let image = canvas.into_image();
        let (width, height) = image.dimensions();
        let mut bytes = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Sub);
        encoder.write_image(image.as_raw(), width, height, ExtendedColorType::Rgba8)?;
        let picture = PagePicture { bytes, format: PictureFormat::Png };
        Ok(ModelPicture { picture, covered, numbered: self.boxes.len() })
    }
}
