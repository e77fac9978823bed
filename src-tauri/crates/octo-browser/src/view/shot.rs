//! Pictures for a model: what no text may hold is covered in them.
//!
//! The page is not touched for it. Where what is to be covered is, is looked at before the picture is taken and after
//! it; what moved in between is covered from where it was to where it is.

use super::{View, draw::Canvas};
use crate::{
    Area, Front, Page, PageError, Picture, PictureFormat, Spot,
    page::Framed,
    safety::Redactor,
    snapshot::{Captured, Cover, Snapshot},
};
use image::{
    ExtendedColorType, ImageEncoder as _, ImageFormat,
    codecs::png::{CompressionType, FilterType, PngEncoder},
};
use std::collections::HashMap;

/// How often a picture is taken of a page that is scrolled while it is.
const TRIES: u32 = 3;

/// Whether what can be used is numbered in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boxes {
    /// Each target that is seen has a frame with its number, which is its number in snapshots too.
    Numbered,
    /// The page as it is.
    None,
}

/// A picture for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shot {
    /// It, as PNG.
    pub picture: Picture,
    /// How many places were covered.
    pub covered: usize,
    /// How many targets were numbered.
    pub numbered: usize,
}

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShotError {
    /// Of the page.
    #[error(transparent)]
    Page(#[from] PageError),
    /// What the browser sent could not be drawn on. It is not shown as it is.
    #[error("the picture could not be drawn on: {0}")]
    Unreadable(String),
}

impl View {
    /// Takes a picture of the page for a model. Covered are fields for passwords, codes and cards, in frames and
    /// shadow roots as well, every place where the value of a secret is written that `redactor` knows, and frames that
    /// cannot be looked into.
    ///
    /// # Errors
    ///
    /// [`ShotError`]; none is returned uncovered.
    pub async fn shot(
        &mut self,
        page: &Page,
        area: Area,
        numbers: Boxes,
        front: Front,
        redactor: &Redactor,
    ) -> Result<Shot, ShotError> {
        match front {
            Front::First => page.bring_to_front().await?,
            Front::AtNeed => page.begin_acting().await?,
        }
        let (framed, before, picture, after) = still(page, &area, front).await?;
        let boxes = match numbers {
            // Not the newest look: the model reads nothing of it, and what changes next is told against what it read.
            Boxes::Numbered => Snapshot::new(&after, &mut self.refs).boxes(),
            Boxes::None => Vec::new(),
        };
        let covers = self.covers(&[&before, &after], redactor);
        let boxes: Vec<(u32, Spot)> = boxes.into_iter().filter(|(_, spot)| spot.meets(framed.seen)).collect();
        let drawn = Drawing { covers, boxes, seen: framed.seen, density: framed.density };
        if drawn.covers.is_empty() && drawn.boxes.is_empty() {
            return Ok(Shot { picture, covered: 0, numbered: 0 });
        }
        let unreadable = |error: &dyn std::fmt::Display| ShotError::Unreadable(error.to_string());
        // A picture has a million points.
        tokio::task::spawn_blocking(move || drawn.on(&picture))
            .await
            .map_err(|error| unreadable(&error))?
            .map_err(|error| unreadable(&error))
    }

    /// What is to be covered in a picture that was taken between these.
    fn covers(&self, captures: &[&Captured], redactor: &Redactor) -> Vec<Spot> {
        let mut spots: HashMap<(String, i64), Spot> = HashMap::new();
        let mut apart = Vec::new();
        for Cover { node, spot } in captures.iter().flat_map(|captured| captured.covers(&self.refs, redactor))
        {
            if node.1 == 0 {
                // Generated text has no name to be known by again.
                apart.push(spot);
            } else {
                spots.entry(node).and_modify(|known| *known = known.with(spot)).or_insert(spot);
            }
        }
        spots.into_values().chain(apart).collect()
    }
}

/// A picture of a page that was not scrolled meanwhile, with what was seen before and after it. Where things are is
/// counted from the window's corner, and what the picture is of from the page's: scrolled in between, covers would lie
/// beside what they are to cover.
async fn still(
    page: &Page,
    area: &Area,
    front: Front,
) -> Result<(Framed, Captured, Picture, Captured), PageError> {
    for _ in 0..TRIES {
        let framed = page.frame(area).await?;
        let before = page.capture().await?;
        let picture = page.picture_in(&framed, PictureFormat::Png, front).await?;
        let after = page.capture().await?;
        if page.stands_as(&framed).await? {
            return Ok((framed, before, picture, after));
        }
    }
    Err(PageError::Moving)
}

/// What is drawn on a picture.
struct Drawing {
    covers: Vec<Spot>,
    boxes: Vec<(u32, Spot)>,
    seen: Spot,
    density: Option<f64>,
}

impl Drawing {
    fn on(self, picture: &Picture) -> Result<Shot, image::ImageError> {
        let image = image::load_from_memory_with_format(&picture.bytes, ImageFormat::Png)?.into_rgba8();
        let mut canvas = Canvas::new(image, self.seen, self.density);
        for (number, spot) in &self.boxes {
            canvas.number(*spot, *number);
        }
        // Last: no frame and no number shows what is under it.
        let covered = self.covers.iter().filter(|spot| spot.meets(self.seen)).count();
        self.covers.into_iter().for_each(|spot| canvas.cover(spot));
        let image = canvas.into_image();
        let (width, height) = image.dimensions();
        let mut bytes = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Sub);
        encoder.write_image(image.as_raw(), width, height, ExtendedColorType::Rgba8)?;
        let picture = Picture { bytes, format: PictureFormat::Png };
        Ok(Shot { picture, covered, numbered: self.boxes.len() })
    }
}
