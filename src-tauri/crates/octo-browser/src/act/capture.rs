//! Reads a page for a snapshot.

use super::{CALL_TIMEOUT, viewport_rect::ViewportRect};
use crate::{
    Frame, Page, PageError,
    cdp::browser_protocol::{
        dom::{GetBoxModelParams, GetFrameOwnerParams},
        page::GetLayoutMetricsParams,
        target::{GetTargetInfoParams, SessionId},
    },
    snapshot::{
        CapturedFrame, CapturedSession, DocumentId, FrameDisplay, FrameOwner, PageCapture, ReadLayout,
        ReadTree, TreeReply, Viewport,
    },
    wire::{LayoutMetrics, LenientCommand, TargetEvent},
};
use futures::future::join_all;
use std::time::Duration;

/// Number of reads attempted when the page navigates while being read.
const MAX_ATTEMPTS: u32 = 3;

/// Timeout for reading a page. The largest documentation pages took one second on an idle machine.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(15);

impl Page {
    /// Captures the accessibility tree of every frame and one layout per session. Writes nothing into the page.
    ///
    /// # Errors
    ///
    /// [`PageError`]; [`PageError::KeepsNavigating`] if no attempt read a single document. A frame that disappears
    /// during the read is left out.
    pub async fn capture(&self) -> Result<PageCapture, PageError> {
        for _ in 0..MAX_ATTEMPTS {
            let mut document_watch = self.watch_document();
            let capture = self.capture_once().await;
            match capture {
                Ok(Some(capture)) if document_watch.is_unchanged() => return Ok(capture),
                Err(error) if document_watch.is_unchanged() => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Err(PageError::KeepsNavigating)
    }

    /// Reads the page once. Returns `None` if the frames changed during the read, because the result may mix
    /// both states.
    async fn capture_once(&self) -> Result<Option<PageCapture>, PageError> {
        let target_info_query = LenientCommand::<_, TargetEvent>::new(GetTargetInfoParams {
            target_id: Some(self.target().clone()),
        });
        let title = async {
            self.link().call(None, target_info_query, CALL_TIMEOUT).await.map(|reply| reply.target_info.title)
        };
        // The main frame can be read at once, while the frames are being listed.
        let (frames, metrics, title, layout, tree) = tokio::join!(
            self.frames(),
            self.call(LenientCommand::<_, LayoutMetrics>::new(GetLayoutMetricsParams {}), CALL_TIMEOUT),
            title,
            self.call(ReadLayout::default(), CAPTURE_TIMEOUT),
            self.call(ReadTree::default(), CAPTURE_TIMEOUT),
        );
        let (frames, metrics) = (frames?, metrics?);
        let mut sessions: Vec<SessionId> = vec![self.session().clone()];
        for frame in &frames {
            if !sessions.contains(&frame.session) {
                sessions.push(frame.session.clone());
            }
        }
        let layout_viewport = metrics.css_layout_viewport;
        let mut capture = PageCapture {
            title: title?,
            viewport: Viewport { width: layout_viewport.client_width, height: layout_viewport.client_height },
            ..PageCapture::default()
        };
        let width = metrics.css_visual_viewport.client_width;
        let visible_width = metrics.visual_viewport.map_or(width, |view| view.client_width);
        let scale = if width > 0.0 && visible_width > 0.0 { visible_width / width } else { 1.0 };
        let layouts = sessions
            .iter()
            .skip(1)
            .map(|session| self.call_in(session, ReadLayout::default(), CAPTURE_TIMEOUT));
        let frame_trees = frames.iter().skip(1).map(|frame| self.frame_tree(&frames, frame));
        let (layouts, frame_trees) = tokio::join!(join_all(layouts), join_all(frame_trees));
        let layouts = std::iter::once(layout?).chain(layouts.into_iter().map(Result::unwrap_or_default));
        for (session, layout) in sessions.iter().zip(layouts) {
            capture.sessions.push(CapturedSession { session: session.inner().clone(), scale, layout });
        }
        let trees = std::iter::once(Ok((tree?, None))).chain(frame_trees);
        for (frame, result) in frames.iter().zip(trees) {
            let Ok((tree, owner)) = result else { continue };
            capture.frames.push(CapturedFrame {
                document: DocumentId(frame.document.clone()),
                frame: frame.id.inner().clone(),
                session: sessions.iter().position(|session| *session == frame.session).unwrap_or_default(),
                url: frame.url.clone(),
                origin: frame.origin.clone(),
                tree,
                owner,
            });
        }
        // The document may have changed between two replies. Keep only frames that still show the document that
        // was read, so that no text is attributed to another document.
        let current = self.frames().await?;
        let is_current = |document: &str, frame: &str, origin: &str| {
            current.iter().any(|current| {
                current.id.inner() == frame && current.document == document && current.origin == origin
            })
        };
        if !capture.frames.first().is_some_and(|root| is_current(&root.document.0, &root.frame, &root.origin))
        {
            return Ok(None);
        }
        capture.frames.retain(|frame| is_current(&frame.document.0, &frame.frame, &frame.origin));
        Ok(Some(capture))
    }

    /// Reads the accessibility tree of a frame, and the element that embeds the frame if it is known.
    async fn frame_tree(
        &self,
        frames: &[Frame],
        frame: &Frame,
    ) -> Result<(TreeReply, Option<FrameOwner>), PageError> {
        let parent = frame.parent.as_ref().and_then(|parent| frames.iter().find(|known| known.id == *parent));
        let owner = async {
            let parent = parent?;
            let owner = GetFrameOwnerParams::new(frame.id.clone());
            let node = self.call_in(&parent.session, owner, CALL_TIMEOUT).await.ok()?.backend_node_id;
            let model = GetBoxModelParams { backend_node_id: Some(node), ..Default::default() };
            // An element that is not shown has no box model, so its frame has no position.
            let model =
                self.call_in(&parent.session, model, CALL_TIMEOUT).await.ok().map(|reply| reply.model);
            let (inset, display) = model.map_or(((0.0, 0.0), FrameDisplay::Transformed), |model| {
                let (outer, inner) = (
                    ViewportRect::bounding(model.border.inner()),
                    ViewportRect::bounding(model.content.inner()),
                );
                let display = frame_display(model.border.inner(), model.width, model.height);
                ((inner.left - outer.left, inner.top - outer.top), display)
            });
            Some(FrameOwner { frame: parent.id.inner().clone(), node: *node.inner(), inset, display })
        };
        let tree = ReadTree { frame_id: Some(frame.id.inner().clone()) };
        let (tree, owner) = tokio::join!(self.call_in(&frame.session, tree, CAPTURE_TIMEOUT), owner);
        Ok((tree?, owner))
    }
}

/// Compares the corners of an element, clockwise from the upper left, with its untransformed size.
fn frame_display(corners: &[f64], width: i64, height: i64) -> FrameDisplay {
    let [left, top, top_right_x, top_right_y, bottom_right_x, bottom_right_y, bottom_left_x, bottom_left_y] =
        *corners
    else {
        return FrameDisplay::Transformed;
    };
    // Sizes are rounded to whole numbers.
    let is_near = |one: f64, other: f64| (one - other).abs() <= 1.0;
    let is_upright = is_near(top_right_y, top)
        && is_near(bottom_right_x, top_right_x)
        && is_near(bottom_right_y, bottom_left_y)
        && is_near(bottom_left_x, left);
    let is_as_large =
        is_near(top_right_x - left, width as f64) && is_near(bottom_left_y - top, height as f64);
    if is_upright && is_as_large { FrameDisplay::Untransformed } else { FrameDisplay::Transformed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unrotated_unscaled_frames_are_untransformed() {
        let corners_of = |left: f64, top: f64, right: f64, bottom: f64| {
            [left, top, right, top, right, bottom, left, bottom]
        };
        for (corners, expected) in [
            (corners_of(10.0, 20.0, 810.0, 620.0), FrameDisplay::Untransformed),
            (corners_of(10.4, 20.4, 810.2, 620.9), FrameDisplay::Untransformed),
            (corners_of(10.0, 20.0, 850.0, 650.0), FrameDisplay::Transformed),
            (corners_of(810.0, 20.0, 10.0, 620.0), FrameDisplay::Transformed),
            (corners_of(810.0, 620.0, 10.0, 20.0), FrameDisplay::Transformed),
            ([0.0, 0.0, 800.0, 40.0, 780.0, 640.0, -20.0, 600.0], FrameDisplay::Transformed),
        ] {
            assert_eq!(frame_display(&corners, 800, 600), expected, "{corners:?}");
        }
        assert_eq!(frame_display(&[], 800, 600), FrameDisplay::Transformed);
    }
}
