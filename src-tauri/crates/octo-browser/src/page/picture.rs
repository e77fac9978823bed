//! Pictures of the page.

use super::{Page, PageError};
use crate::{
    ActError, CallError, Refusal, Spot,
    cdp::browser_protocol::{
        dom::{BackendNodeId, GetContentQuadsParams, ScrollIntoViewIfNeededParams},
        page::{CaptureScreenshotFormat, CaptureScreenshotParams, GetLayoutMetricsParams, Viewport},
    },
    snapshot::Place,
    wire::{LayoutMetrics, Leniently},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use std::{fmt, time::Duration};

/// How long a picture may take. Measured: 40 to 100 ms in front, and without end in half of the tries in the
/// background, which is why the tab is brought to the front and a second try is made.
const TAKING: Duration = Duration::from_secs(2);

/// How long the first of two may take that are taken behind another tab. Measured there, with the page believing to be
/// in front: one comes in 30 to 100 ms, or not at all, and then the next one does.
const SOON: Duration = Duration::from_millis(700);

/// How long the page may take to say where something is.
const MEASURING: Duration = Duration::from_secs(2);

/// What a picture is of.
#[derive(Clone, Debug, PartialEq)]
pub enum Area {
    /// What its person sees.
    Visible,
    /// An element of the main frame's own process, which is scrolled to.
    Element(BackendNodeId),
    /// A part of the document, in CSS pixels from its corner.
    Part {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// To the right.
        width: f64,
        /// Downwards.
        height: f64,
    },
}

/// When the tab comes to the front for a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// Before it: there it comes at once.
    First,
    /// Only where it does not come otherwise: its person is at work elsewhere. The page believes it has the focus then,
    /// as by [`Page::begin_acting`].
    AtNeed,
}

/// Where a picture is of.
#[derive(Clone, Debug)]
pub(crate) struct Framed {
    /// In the document; none for what is seen, as it is.
    clip: Option<Viewport>,
    /// In CSS pixels of what is seen of the page.
    pub seen: Spot,
    /// Pixels of the picture for each of CSS. None where the picture is of just what is seen; a whole one has the
    /// window's scroll bars beside that.
    pub density: Option<f64>,
    /// How far the page was scrolled then, as a whole and what of it is seen.
    scrolled: [f64; 4],
}

/// How a picture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Exactly.
    Png,
    /// Small, with this quality of 0 to 100.
    Jpeg(u8),
}

/// A picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// How it is written.
    pub format: PictureFormat,
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({:?}, {} bytes)", self.format, self.bytes.len())
    }
}

impl Page {
    /// What a picture of an element is of, in whichever frame it is: one of another process is scrolled to now.
    ///
    /// # Errors
    ///
    /// [`ActError`].
    pub async fn area_of(&self, place: &Place) -> Result<Area, ActError> {
        if place.session == *self.session().inner() {
            return Ok(Area::Element(BackendNodeId::new(place.node)));
        }
        let spot = self.spot(place).await?;
        let layout = self.metrics().await?.css_layout_viewport;
        let spot = spot.within(layout.client_width, layout.client_height);
        if !spot.is_there() {
            return Err(ActError::NoRoom);
        }
        let (x, y) = (spot.left + layout.page_x, spot.top + layout.page_y);
        Ok(Area::Part { x, y, width: spot.width, height: spot.height })
    }

    /// Takes a picture. The tab comes to the front for it, and a minimised window is brought back.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn picture(&self, area: Area, format: PictureFormat) -> Result<Picture, PageError> {
        self.bring_to_front().await?;
        let framed = self.frame(&area).await?;
        self.picture_in(&framed, format, Front::First).await
    }

    /// Where a picture is of: an element is scrolled to for it.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub(crate) async fn frame(&self, area: &Area) -> Result<Framed, PageError> {
        let clip = match area {
            Area::Visible => None,
            Area::Part { x, y, width, height } => {
                Some(Viewport { x: *x, y: *y, width: *width, height: *height, scale: 1.0 })
            }
            Area::Element(node) => Some(self.place_of(*node).await?),
        };
        let metrics = self.metrics().await?;
        let (layout, view) = (&metrics.css_layout_viewport, &metrics.css_visual_viewport);
        let seen = match &clip {
            Some(clip) => Spot {
                left: clip.x - layout.page_x,
                top: clip.y - layout.page_y,
                width: clip.width,
                height: clip.height,
            },
            None => Spot {
                left: view.page_x - layout.page_x,
                top: view.page_y - layout.page_y,
                width: view.client_width,
                height: view.client_height,
            },
        };
        let clip = clip.or_else(|| shrunk(&metrics));
        let density = match (&clip, &metrics.visual_viewport) {
            (None, Some(whole)) if view.client_width > 0.0 && whole.client_width > 0.0 => {
                Some(whole.client_width / view.client_width)
            }
            _ => None,
        };
        Ok(Framed { clip, seen, density, scrolled: scrolled(&metrics) })
    }

    /// Whether the page is still scrolled as it was.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub(crate) async fn stands_as(&self, framed: &Framed) -> Result<bool, PageError> {
        let now = scrolled(&self.metrics().await?);
        Ok(now.iter().zip(framed.scrolled).all(|(now, then)| (now - then).abs() < 0.5))
    }

    async fn metrics(&self) -> Result<LayoutMetrics, PageError> {
        self.call(Leniently::<_, LayoutMetrics>::new(GetLayoutMetricsParams {}), MEASURING).await
    }

    /// Takes the picture.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub(crate) async fn picture_in(
        &self,
        framed: &Framed,
        format: PictureFormat,
        front: Front,
    ) -> Result<Picture, PageError> {
        let (kind, quality) = match format {
            PictureFormat::Png => (CaptureScreenshotFormat::Png, None),
            PictureFormat::Jpeg(quality) => {
                (CaptureScreenshotFormat::Jpeg, Some(i64::from(quality.min(100))))
            }
        };
        let command = CaptureScreenshotParams {
            format: Some(kind),
            quality,
            clip: framed.clip.clone(),
            ..CaptureScreenshotParams::default()
        };
        let late =
            |taken: &Result<_, PageError>| matches!(taken, Err(PageError::Call(CallError::TimedOut { .. })));
        let first = match front {
            Front::First => None,
            Front::AtNeed => Some(self.call(command.clone(), SOON).await).filter(|taken| !late(taken)),
        };
        let taken = match first {
            Some(taken) => taken,
            None => self.call(command.clone(), TAKING).await,
        };
        let taken = match taken {
            Err(PageError::Call(CallError::TimedOut { .. })) => {
                self.bring_to_front().await?;
                self.call(command, TAKING).await
            }
            taken => taken,
        }?;
        let text: &str = taken.data.as_ref();
        let bytes = BASE64_STANDARD.decode(text).map_err(|error| {
            PageError::Call(CallError::Unreadable {
                method: CaptureScreenshotParams::IDENTIFIER.to_owned(),
                detail: error.to_string(),
            })
        })?;
        Ok(Picture { bytes, format })
    }

    /// Where an element is in the document, after it was scrolled to.
    async fn place_of(&self, node: BackendNodeId) -> Result<Viewport, PageError> {
        let scroll = ScrollIntoViewIfNeededParams { backend_node_id: Some(node), ..Default::default() };
        self.call(scroll, MEASURING).await?;
        let quads = GetContentQuadsParams { backend_node_id: Some(node), ..Default::default() };
        let (quads, view) =
            tokio::join!(self.call(quads, MEASURING), self.call(GetLayoutMetricsParams {}, MEASURING),);
        let view = view?.css_visual_viewport;
        let quads = quads?.quads;
        let points = || quads.iter().flat_map(|quad| quad.inner().chunks_exact(2));
        let (xs, ys) = (|| points().map(|point| point[0]), || points().map(|point| point[1]));
        let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        let (top, bottom) = (ys().fold(f64::INFINITY, f64::min), ys().fold(f64::NEG_INFINITY, f64::max));
        if right - left < 1.0 || bottom - top < 1.0 {
            return Err(PageError::Call(CallError::Refused {
                method: GetContentQuadsParams::IDENTIFIER.to_owned(),
                refusal: Refusal { code: 0, message: "the element takes no room on the page".to_owned() },
            }));
        }
        Ok(Viewport {
            x: left + view.page_x,
            y: top + view.page_y,
            // Of one that is larger than what is seen, as much as is seen at once.
            width: (right - left).min(view.client_width.max(1.0)),
            height: (bottom - top).min(view.client_height.max(1.0)),
            scale: 1.0,
        })
    }
}

fn scrolled(metrics: &LayoutMetrics) -> [f64; 4] {
    let (layout, view) = (&metrics.css_layout_viewport, &metrics.css_visual_viewport);
    [layout.page_x, layout.page_y, view.page_x, view.page_y]
}

/// What is seen, where the screen has more pixels than the page counts: a picture in the page's own measure is what
/// a point in it is given in, and costs a quarter.
fn shrunk(metrics: &LayoutMetrics) -> Option<Viewport> {
    let view = &metrics.css_visual_viewport;
    let whole = metrics.visual_viewport.as_ref().filter(|_| view.client_width > 0.0)?;
    let ratio = whole.client_width / view.client_width;
    (ratio > 1.01).then_some(Viewport {
        x: view.page_x,
        y: view.page_y,
        width: view.client_width,
        height: view.client_height,
        scale: 1.0 / ratio,
    })
}
