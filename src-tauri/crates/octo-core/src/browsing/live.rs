//! What the person watches: the page as the agent works in it. Pictures are kept in memory only, the newest few.

use super::{Seat, card, lock};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use octo_browser::{
    Page, Spot,
    cdp::browser_protocol::page::{CaptureScreenshotFormat, CaptureScreenshotParams, GetLayoutMetricsParams},
};
use octo_protocol::{CallId, LivePage, PageMark};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Between two pictures, at least.
const BETWEEN: Duration = Duration::from_millis(500);
/// How long a picture may take. One of a tab that is not painted never comes.
const TAKING: Duration = Duration::from_secs(2);
/// How many are kept: the page may still ask for the one before.
const KEPT: usize = 4;
/// Their quality, of 100: they are looked at small, and for half a second.
const QUALITY: i64 = 55;

/// What is shown of a page.
#[derive(Default)]
pub(super) struct Shown {
    /// It; none while none is worked in.
    pub page: Option<LivePage>,
    pictures: VecDeque<(u32, Arc<[u8]>)>,
    /// The number of the last picture. It goes on through pages, so that no number is used twice.
    last: u32,
    /// How many calls have ended: each wants a picture of what it led to, and that of the newest shows it for all.
    ended: u64,
}

/// Pictures are taken while this is held, and once more after it: what the call led to is shown too. No call waits for
/// one: of a tab in the background it may take as long as it may take at all.
pub(super) struct Watching {
    taking: JoinHandle<()>,
    seat: Seat,
    page: Page,
    /// Of the page while it was worked in: one that is asked for later is of what comes then.
    leaving: CancellationToken,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.taking.abort();
        let (seat, page, leaving) = (self.seat.clone(), self.page.clone(), self.leaving.clone());
        let ended = {
            let mut shown = lock(&seat.0.shown);
            shown.ended += 1;
            shown.ended
        };
        tokio::spawn(async move {
            let taking = async {
                let _one_at_a_time = seat.0.camera.lock().await;
                if lock(&seat.0.shown).ended == ended {
                    seat.take(&page).await;
                }
            };
            tokio::select! {
                biased;
                () = leaving.cancelled() => {}
                () = taking => {}
            }
        });
    }
}

impl Seat {
    /// What is shown now.
    pub(crate) fn live(&self) -> Option<LivePage> {
        lock(&self.0.shown).page.clone()
    }

    /// A picture of the page, as JPEG; none for one that is gone.
    pub(crate) fn picture(&self, number: u32) -> Option<Arc<[u8]>> {
        let shown = lock(&self.0.shown);
        shown.pictures.iter().find(|(known, _)| *known == number).map(|(_, bytes)| Arc::clone(bytes))
    }

    /// Shows a page, or that there is none any more.
    pub(super) fn tell(&self, page: Option<LivePage>) {
        let changed = {
            let mut shown = lock(&self.0.shown);
            if page.is_none() {
                shown.pictures.clear();
            }
            std::mem::replace(&mut shown.page, page.clone()) != page
        };
        if changed {
            self.0.browser.tell_page(self.0.session, page);
        }
    }

    /// Shows the page a call works in, with pictures for as long as the guard is held.
    pub(super) fn watch(
        &self,
        page: &Page,
        tab: u32,
        title: String,
        call: CallId,
        mark: Option<PageMark>,
    ) -> Watching {
        let picture = lock(&self.0.shown).page.as_ref().and_then(|page| page.picture);
        let live = LivePage {
            session: self.0.session,
            call: Some(call),
            tab,
            site: site_of(page),
            title,
            picture,
            mark,
            hand: *self.0.hand.borrow(),
        };
        self.tell(Some(live));
        let (seat, page) = (self.clone(), page.clone());
        let taking = tokio::spawn({
            let (seat, page) = (seat.clone(), page.clone());
            async move {
                // A page that is shown already is not taken at once: the picture would be taken while the page is read
                // or its input comes, and hold up both. What came of the call is shown at its end.
                if picture.is_some() {
                    tokio::time::sleep(BETWEEN).await;
                }
                loop {
                    // While one of the call before is taken, that one shows this page as well.
                    if let Ok(_one_at_a_time) = seat.0.camera.try_lock() {
                        seat.take(&page).await;
                    }
                    tokio::time::sleep(BETWEEN).await;
                }
            }
        });
        Watching { taking, leaving: seat.leaving(), seat, page }
    }

    /// Takes a picture and shows it. One that does not come is not waited for.
    async fn take(&self, page: &Page) {
        let command = CaptureScreenshotParams {
            format: Some(CaptureScreenshotFormat::Jpeg),
            quality: Some(QUALITY),
            optimize_for_speed: Some(true),
            ..CaptureScreenshotParams::default()
        };
        let Ok(taken) = page.call(command, TAKING).await else { return };
        let text: &str = taken.data.as_ref();
        let Ok(bytes) = BASE64_STANDARD.decode(text) else { return };
        let number = {
            let mut shown = lock(&self.0.shown);
            shown.last += 1;
            let number = shown.last;
            if shown.page.is_none() {
                return;
            }
            shown.pictures.push_back((number, bytes.into()));
            while shown.pictures.len() > KEPT {
                shown.pictures.pop_front();
            }
            number
        };
        let site = site_of(page);
        self.alter(|live| (live.picture, live.site) = (Some(number), site));
    }

    /// Changes what is shown of the page, as it is at that moment: who has it in hand may have changed since it was
    /// looked at last.
    pub(super) fn alter(&self, change: impl FnOnce(&mut LivePage)) {
        let told = {
            let mut shown = lock(&self.0.shown);
            let Some(page) = &mut shown.page else { return };
            let before = page.clone();
            change(page);
            (*page != before).then(|| page.clone())
        };
        if told.is_some() {
            self.0.browser.tell_page(self.0.session, told);
        }
    }

    /// The page that is shown has this title now.
    pub(super) fn entitle(&self, title: &str) {
        let title = card::line(title);
        self.alter(|page| page.title = title);
    }

    /// The call is over: nothing is about to be done any more.
    pub(super) fn rest(&self) {
        self.alter(|page| (page.call, page.mark) = (None, None));
    }
}

/// The site a page is on, as the browser says it now.
pub(super) fn site_of(page: &Page) -> String {
    let committed = page.committed();
    site_at(&committed.url, &committed.origin)
}

/// The site of an address and its origin; the address itself where it is of none.
pub(super) fn site_at(url: &str, origin: &str) -> String {
    let address = octo_browser::safety::Address::of_frame(url, origin);
    address.site().map_or_else(|| url.chars().take(200).collect(), ToString::to_string)
}

/// A place as a part of the picture.
pub(super) async fn mark(page: &Page, spot: Spot) -> Option<PageMark> {
    let view = page.call(GetLayoutMetricsParams {}, TAKING).await.ok()?.css_layout_viewport;
    let (width, height) = (view.client_width as f64, view.client_height as f64);
    if width < 1.0 || height < 1.0 {
        return None;
    }
    let part = |value: f64, whole: f64| (value / whole).clamp(0.0, 1.0);
    Some(PageMark {
        x: part(spot.left, width),
        y: part(spot.top, height),
        width: part(spot.width, width),
        height: part(spot.height, height),
    })
}
