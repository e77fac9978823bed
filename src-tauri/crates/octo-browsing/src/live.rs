//! The live view: the page as the agent works in it. Only the newest few pictures are kept, in memory.

use crate::{BrowserSession, card};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use octo_browser::{
    Page, ViewportRect,
    cdp::browser_protocol::page::{CaptureScreenshotFormat, CaptureScreenshotParams, GetLayoutMetricsParams},
};
use octo_protocol::{CallId, LivePage, PageMark};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Minimum interval between two pictures.
const PICTURE_INTERVAL: Duration = Duration::from_millis(500);
/// Timeout for a picture. A tab that is not painted never delivers one.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of pictures kept: the window may still request the previous one.
const MAX_PICTURES: usize = 4;
/// JPEG quality of 100: the pictures are displayed small, for half a second.
const JPEG_QUALITY: i64 = 55;

/// The displayed state of a page.
#[derive(Default)]
pub(crate) struct LiveState {
    /// The page; `None` if none is in use.
    pub page: Option<LivePage>,
    pictures: VecDeque<(u32, Arc<[u8]>)>,
    /// Number of the last picture. It continues across pages, so no number is reused.
    last_number: u32,
    /// Number of calls that ended. Each needs a picture of its result, but the newest call's picture serves all.
    ended_calls: u64,
}

/// Guard that takes pictures of the page while it exists, and one more when it is dropped, which shows the call's
/// result. No call waits for a picture: in a background tab it may take up to the timeout.
pub(crate) struct PictureGuard {
    picture_task: JoinHandle<()>,
    session: BrowserSession,
    page: Page,
    /// Token that is cancelled when this page is released.
    release_token: CancellationToken,
}

impl Drop for PictureGuard {
    fn drop(&mut self) {
        self.picture_task.abort();
        let (session, page, stop_signal) =
            (self.session.clone(), self.page.clone(), self.release_token.clone());
        let ended_calls = {
            let mut live = session.0.live.lock();
            live.ended_calls += 1;
            live.ended_calls
        };
        tokio::spawn(async move {
            let last_picture = async {
                let _one_at_a_time = session.0.picture_lock.lock().await;
                if session.0.live.lock().ended_calls == ended_calls {
                    session.take_picture(&page).await;
                }
            };
            tokio::select! {
                biased;
                () = stop_signal.cancelled() => {}
                () = last_picture => {}
            }
        });
    }
}

impl BrowserSession {
    /// Returns the page displayed now.
    pub fn live(&self) -> Option<LivePage> {
        self.0.live.lock().page.clone()
    }

    /// Returns a picture of the page as JPEG, or `None` if it was discarded.
    pub fn picture(&self, number: u32) -> Option<Arc<[u8]>> {
        let live = self.0.live.lock();
        live.pictures
            .iter()
            .find(|(shown_number, _)| *shown_number == number)
            .map(|(_, bytes)| Arc::clone(bytes))
    }

    /// Displays a page, or that none is in use.
    pub(crate) fn display(&self, page: Option<LivePage>) {
        let changed = {
            let mut live = self.0.live.lock();
            if page.is_none() {
                live.pictures.clear();
            }
            std::mem::replace(&mut live.page, page.clone()) != page
        };
        if changed {
            self.0.browser.publish_page(self.0.session, page);
        }
    }

    /// Displays the page that a call works in, with pictures while the guard exists.
    pub(crate) fn watch(
        &self,
        page: &Page,
        tab: u32,
        title: String,
        call: CallId,
        target: Option<PageMark>,
    ) -> PictureGuard {
        let picture = self.0.live.lock().page.as_ref().and_then(|page| page.picture);
        let live = LivePage {
            session: self.0.session,
            call: Some(call),
            tab,
            site: site_of(page),
            title,
            picture,
            mark: target,
            controller: *self.0.controller.borrow(),
        };
        self.display(Some(live));
        let (session, page) = (self.clone(), page.clone());
        let picture_task = tokio::spawn({
            let (session, page) = (session.clone(), page.clone());
            async move {
                // A page that is already displayed needs no picture now: taking it would slow down the reading
                // and the input. The result is pictured at the end.
                if picture.is_some() {
                    tokio::time::sleep(PICTURE_INTERVAL).await;
                }
                loop {
                    // A picture that is being taken for the previous call shows this page as well.
                    if let Ok(_one_at_a_time) = session.0.picture_lock.try_lock() {
                        session.take_picture(&page).await;
                    }
                    tokio::time::sleep(PICTURE_INTERVAL).await;
                }
            }
        });
        PictureGuard { picture_task, release_token: session.release_token(), session, page }
    }

    /// Takes a picture and displays it. A picture that does not arrive is not awaited.
    async fn take_picture(&self, page: &Page) {
        let command = CaptureScreenshotParams {
            format: Some(CaptureScreenshotFormat::Jpeg),
            quality: Some(JPEG_QUALITY),
            optimize_for_speed: Some(true),
            ..CaptureScreenshotParams::default()
        };
        let Ok(picture) = page.call(command, PICTURE_TIMEOUT).await else { return };
        let text: &str = picture.data.as_ref();
        let Ok(bytes) = BASE64_STANDARD.decode(text) else { return };
        let number = {
            let mut live_state = self.0.live.lock();
            live_state.last_number += 1;
            let number = live_state.last_number;
            if live_state.page.is_none() {
                return;
            }
            live_state.pictures.push_back((number, bytes.into()));
            while live_state.pictures.len() > MAX_PICTURES {
                live_state.pictures.pop_front();
            }
            number
        };
        let site = site_of(page);
        self.change_page(|live| (live.picture, live.site) = (Some(number), site));
    }

    /// Changes the displayed page under the lock, because its control may have changed since it was last read.
    pub(crate) fn change_page(&self, change: impl FnOnce(&mut LivePage)) {
        let changed = {
            let mut live = self.0.live.lock();
            let Some(page) = &mut live.page else { return };
            let before = page.clone();
            change(page);
            (*page != before).then(|| page.clone())
        };
        if changed.is_some() {
            self.0.browser.publish_page(self.0.session, changed);
        }
    }

    /// Sets the displayed page's title.
    pub(crate) fn set_title(&self, title: &str) {
        let title = card::line(title);
        self.change_page(|page| page.title = title);
    }

    /// Marks the call as finished: no act is pending.
    pub(crate) fn mark_finished(&self) {
        self.change_page(|page| (page.call, page.mark) = (None, None));
    }
}

/// Returns the site that a page is on, as the browser reports it now.
pub(crate) fn site_of(page: &Page) -> String {
    let committed = page.committed();
    site_at(&committed.url, &committed.origin)
}

/// Returns the site of an address and its origin, or the address itself if it has no site.
pub(crate) fn site_at(url: &str, origin: &str) -> String {
    let address = octo_browser::safety::PageAddress::of_frame(url, origin);
    address.site().map_or_else(|| url.chars().take(200).collect(), ToString::to_string)
}

/// Converts a position to a fraction of the picture.
pub(crate) async fn page_mark(page: &Page, rect: ViewportRect) -> Option<PageMark> {
    let view = page.call(GetLayoutMetricsParams {}, PICTURE_TIMEOUT).await.ok()?.css_layout_viewport;
    let (width, height) = (view.client_width as f64, view.client_height as f64);
    if width < 1.0 || height < 1.0 {
        return None;
    }
    let fraction = |value: f64, full: f64| (value / full).clamp(0.0, 1.0);
    Some(PageMark {
        x: fraction(rect.left, width),
        y: fraction(rect.top, height),
        width: fraction(rect.width, width),
        height: fraction(rect.height, height),
    })
}
