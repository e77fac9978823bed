//! Screenshots of the page.

use super::{Page, PageError};
use crate::{
    ActError, CallError, CommandRefusal, ViewportRect,
    cdp::browser_protocol::{
        dom::{BackendNodeId, GetContentQuadsParams, ScrollIntoViewIfNeededParams},
        page::{CaptureScreenshotFormat, CaptureScreenshotParams, GetLayoutMetricsParams, Viewport},
    },
    snapshot::NodeRef,
    wire::{LayoutMetrics, LenientCommand},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use std::{fmt, time::Duration};

/// Timeout for a picture. Measured: 40 to 100 ms in the foreground; in the background half of the attempts
/// never finished, so the tab is brought to the front for a second attempt.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeout for the first of two attempts while the tab is behind another one. Measured with focus emulation: a
/// picture takes 30 to 100 ms or never arrives, and then the next attempt succeeds.
const BACKGROUND_TIMEOUT: Duration = Duration::from_millis(700);

/// Timeout for measuring positions in the page.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(2);

/// The area of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum PictureArea {
    /// The viewport.
    Visible,
    /// An element of the main frame's own process, which is scrolled into view.
    Element(BackendNodeId),
    /// A part of the document, in CSS pixels from its corner.
    Part {
        /// Distance from the left.
        x: f64,
        /// Distance from the top.
        y: f64,
        /// Width.
        width: f64,
        /// Height.
        height: f64,
    },
}

/// The time at which the tab is brought to the front for a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BringToFront {
    /// Before the picture, which then arrives at once.
    First,
    /// Only if the picture does not arrive otherwise, because the person is working elsewhere. The page then
    /// believes it has the focus, as with [`Page::begin_focus_emulation`].
    IfNeeded,
}

/// A picture's measured area.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredArea {
    /// The area in the document; `None` for the viewport as it is.
    clip: Option<Viewport>,
    /// The area in CSS pixels of the viewport.
    pub viewport_rect: ViewportRect,
    /// Picture pixels per CSS pixel. `None` if the picture covers exactly the viewport; a full picture also
    /// includes the window's scroll bars.
    pub density: Option<f64>,
    /// Scroll offsets at that time, of the layout and the visual viewport.
    scroll_offsets: [f64; 4],
}

/// Encoding of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Lossless.
    Png,
    /// Compact, with this quality from 0 to 100.
    Jpeg(u8),
}

/// A picture.
#[derive(Clone, PartialEq, Eq)]
pub struct PagePicture {
    /// The encoded bytes.
    pub bytes: Vec<u8>,
    /// The encoding.
    pub format: PictureFormat,
}

impl fmt::Debug for PagePicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PagePicture({:?}, {} bytes)", self.format, self.bytes.len())
    }
}

impl Page {
    /// Returns the picture area of an element in any frame. Scrolls an element in a frame of another process into
    /// view.
    ///
    /// # Errors
    ///
    /// [`ActError`].
    pub async fn area_of(&self, node_ref: &NodeRef) -> Result<PictureArea, ActError> {
        if node_ref.session == *self.session().inner() {
            return Ok(PictureArea::Element(BackendNodeId::new(node_ref.node)));
        }
        let rect = self.element_rect(node_ref).await?;
        let layout = self.metrics().await?.css_layout_viewport;
        let rect = rect.clipped(layout.client_width, layout.client_height);
        if !rect.is_hittable() {
            return Err(ActError::NoVisibleArea);
        }
        let (x, y) = (rect.left + layout.page_x, rect.top + layout.page_y);
        Ok(PictureArea::Part { x, y, width: rect.width, height: rect.height })
    }

    /// Takes a picture. Brings the tab to the front and restores a minimised window.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn picture(&self, area: PictureArea, format: PictureFormat) -> Result<PagePicture, PageError> {
        self.bring_to_front().await?;
        let measured = self.measure(&area).await?;
        self.picture_of(&measured, format, BringToFront::First).await
    }

    /// Measures the area of a picture, scrolling an element into view first.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub(crate) async fn measure(&self, area: &PictureArea) -> Result<MeasuredArea, PageError> {
        let clip = match area {
            PictureArea::Visible => None,
            PictureArea::Part { x, y, width, height } => {
                Some(Viewport { x: *x, y: *y, width: *width, height: *height, scale: 1.0 })
            }
            PictureArea::Element(node) => Some(self.element_box(*node).await?),
        };
        let metrics = self.metrics().await?;
        let (layout, view) = (&metrics.css_layout_viewport, &metrics.css_visual_viewport);
        let viewport_rect = match &clip {
            Some(clip) => ViewportRect {
                left: clip.x - layout.page_x,
                top: clip.y - layout.page_y,
                width: clip.width,
                height: clip.height,
            },
            None => ViewportRect {
                left: view.page_x - layout.page_x,
                top: view.page_y - layout.page_y,
                width: view.client_width,
                height: view.client_height,
            },
        };
        let clip = clip.or_else(|| scaled_viewport(&metrics));
        let density = match (&clip, &metrics.visual_viewport) {
            (None, Some(visual)) if view.client_width > 0.0 && visual.client_width > 0.0 => {
                Some(visual.client_width / view.client_width)
            }
            _ => None,
        };
        Ok(MeasuredArea { clip, viewport_rect, density, scroll_offsets: scroll_offsets(&metrics) })
    }

    /// Returns whether the page's scroll position is the same as when the area was measured.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub(crate) async fn is_scroll_unchanged_since(&self, measured: &MeasuredArea) -> Result<bool, PageError> {
        let current = scroll_offsets(&self.metrics().await?);
        Ok(current
            .iter()
            .zip(measured.scroll_offsets)
            .all(|(current, earlier)| (current - earlier).abs() < 0.5))
    }

    async fn metrics(&self) -> Result<LayoutMetrics, PageError> {
        self.call(LenientCommand::<_, LayoutMetrics>::new(GetLayoutMetricsParams {}), MEASURE_TIMEOUT).await
    }

    /// Takes a picture of a measured area.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub(crate) async fn picture_of(
        &self,
        measured: &MeasuredArea,
        format: PictureFormat,
        bring_to_front: BringToFront,
    ) -> Result<PagePicture, PageError> {
        let (kind, quality) = match format {
            PictureFormat::Png => (CaptureScreenshotFormat::Png, None),
            PictureFormat::Jpeg(quality) => {
                (CaptureScreenshotFormat::Jpeg, Some(i64::from(quality.min(100))))
            }
        };
        let command = CaptureScreenshotParams {
            format: Some(kind),
            quality,
            clip: measured.clip.clone(),
            ..CaptureScreenshotParams::default()
        };
        let timed_out = |result: &Result<_, PageError>| {
            matches!(result, Err(PageError::Call(CallError::TimedOut { .. })))
        };
        let background_result = match bring_to_front {
            BringToFront::First => None,
            BringToFront::IfNeeded => {
                Some(self.call(command.clone(), BACKGROUND_TIMEOUT).await).filter(|result| !timed_out(result))
            }
        };
        let result = match background_result {
            Some(result) => result,
            None => self.call(command.clone(), PICTURE_TIMEOUT).await,
        };
        let result = match result {
            Err(PageError::Call(CallError::TimedOut { .. })) => {
                self.bring_to_front().await?;
                self.call(command, PICTURE_TIMEOUT).await
            }
            result => result,
        }?;
        let text: &str = result.data.as_ref();
        let bytes = BASE64_STANDARD.decode(text).map_err(|error| {
            PageError::Call(CallError::Unreadable {
                method: CaptureScreenshotParams::IDENTIFIER.to_owned(),
                detail: error.to_string(),
            })
        })?;
        Ok(PagePicture { bytes, format })
    }

    /// Returns an element's position in the document, after scrolling to it.
    async fn element_box(&self, node: BackendNodeId) -> Result<Viewport, PageError> {
        let scroll = ScrollIntoViewIfNeededParams { backend_node_id: Some(node), ..Default::default() };
        self.call(scroll, MEASURE_TIMEOUT).await?;
        let quads = GetContentQuadsParams { backend_node_id: Some(node), ..Default::default() };
        let (quads, view) = tokio::join!(
            self.call(quads, MEASURE_TIMEOUT),
            self.call(GetLayoutMetricsParams {}, MEASURE_TIMEOUT),
        );
        let view = view?.css_visual_viewport;
        let quads = quads?.quads;
        let points = || quads.iter().flat_map(|quad| quad.inner().chunks_exact(2));
        let (xs, ys) = (|| points().map(|point| point[0]), || points().map(|point| point[1]));
        let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        let (top, bottom) = (ys().fold(f64::INFINITY, f64::min), ys().fold(f64::NEG_INFINITY, f64::max));
        if right - left < 1.0 || bottom - top < 1.0 {
            return Err(PageError::Call(CallError::Refused {
                method: GetContentQuadsParams::IDENTIFIER.to_owned(),
                refusal: CommandRefusal {
                    code: 0,
                    message: "the element takes no room on the page".to_owned(),
                },
            }));
        }
        Ok(Viewport {
            x: left + view.page_x,
            y: top + view.page_y,
            // Of an element larger than the viewport, take a part as large as the viewport.
            width: (right - left).min(view.client_width.max(1.0)),
            height: (bottom - top).min(view.client_height.max(1.0)),
            scale: 1.0,
        })
    }
}

fn scroll_offsets(metrics: &LayoutMetrics) -> [f64; 4] {
    let (layout, view) = (&metrics.css_layout_viewport, &metrics.css_visual_viewport);
    [layout.page_x, layout.page_y, view.page_x, view.page_y]
}

/// Returns the viewport to capture at CSS resolution on a high-density screen: coordinates in a picture are CSS
/// pixels, and the picture costs a quarter.
fn scaled_viewport(metrics: &LayoutMetrics) -> Option<Viewport> {
    let view = &metrics.css_visual_viewport;
    let visual = metrics.visual_viewport.as_ref().filter(|_| view.client_width > 0.0)?;
    let ratio = visual.client_width / view.client_width;
    (ratio > 1.01).then_some(Viewport {
        x: view.page_x,
        y: view.page_y,
        width: view.client_width,
        height: view.client_height,
        scale: 1.0 / ratio,
    })
}
