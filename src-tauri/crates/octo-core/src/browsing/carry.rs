//! Performs an allowed call and reports the result to the model. Page text reaches the model only in a marked
//! block.

use super::{
    Seat,
    acting::{Ground, act_on},
    card,
    faults::{CHANGED, fault},
    fetching::{Awaiting, Course},
    live,
    seat::{Hand, STOPPED, TAKEN, Work},
    tabs,
    weigh::Found,
};
use octo_browser::{
    Act, Answer, Boxes, Connected, Front, History, Page, TabNumber,
    cdp::js_protocol::runtime::EvaluateParams,
    safety::{PageBlock, PageText, Said, Site, block},
    snapshot::Place,
};
use octo_protocol::{BlobHash, BrowserState, CallId, PageRisk, ResultImage, ToolView};
use octo_tools::{
    BrowserLeave, BrowserWish, DialogAnswer, Looked, Numbered, Outcome, PageLines, ToolError, ToolOutput,
    WishedDeed,
};
use std::{fmt::Write, time::Duration};
use tokio_util::sync::CancellationToken;

/// Maximum length of a block in characters, whatever its budget: a token is rarely longer than four.
const BLOCK: usize = 24_000;
/// Timeout for a script.
const SCRIPT: Duration = Duration::from_secs(10);
/// Maximum length of a script's result, in characters. Allowed scripts run in the page's own world.
const SAID: usize = 4_000;
/// Maximum length of the model's input displayed on a card.
const SHOWN: usize = 4_000;

/// The person granted the site, but not the consequences of the act there.
const ASKED_NEXT: &str = "The person granted the site. Nothing was done yet: this act is asked about by itself. Make the same call again.";

/// An act that was not presented as a download caused one.
const ASKS_FIRST: &str = "\n(The person was not asked about a file, so it was stopped. To get it, use action download on the link or button it came from: that asks them.)";

/// The result of a call.
#[derive(Default)]
pub(super) struct Told {
    /// Octo's own text.
    pub words: String,
    /// The page's text.
    pub page: Option<PageBlock>,
    /// Octo's text after the page's.
    pub after: String,
    /// Whether the page text is already in the memory, attributed to its frames.
    pub learnt: bool,
    pub images: Vec<ResultImage>,
    pub picture: Option<BlobHash>,
    /// The path of a downloaded file.
    pub file: Option<String>,
}

impl Told {
    pub fn words(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

impl Seat {
    /// Performs a call.
    pub(super) async fn carry(
        &self,
        wish: BrowserWish,
        leave: BrowserLeave,
        call: CallId,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        if wish.deed == WishedDeed::Status {
            return Ok(self.status(&wish));
        }
        let leaving = self.leaving();
        let stopped = || ToolError::new(STOPPED);
        let done = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(stopped()),
            () = leaving.cancelled() => Err(stopped()),
            done = self.carry_in_page(&wish, &leave, call) => done,
        };
        self.rest();
        done
    }

    async fn carry_in_page(
        &self,
        wish: &BrowserWish,
        leave: &BrowserLeave,
        call: CallId,
    ) -> Result<ToolOutput, ToolError> {
        let connected = self.connect().await?;
        self.in_hand().await;
        let mut work = self.work().await;
        let work = &mut *work;
        // Checked before every step: no input is sent and nothing is read once the person has the page.
        tokio::select! {
            biased;
            () = self.taken() => Err(ToolError::new(TAKEN)),
            done = self.carry_in_hand(work, &connected, wish, leave, call) => done,
        }
    }

    async fn carry_in_hand(
        &self,
        work: &mut Work,
        connected: &Connected,
        wish: &BrowserWish,
        leave: &BrowserLeave,
        call: CallId,
    ) -> Result<ToolOutput, ToolError> {
        self.recall(work).await?;
        work.over(self.0.browser.attachment());
        let found = self.look_in(work, connected, wish, leave).await?;
        if !leave.covers(&found.weight) {
            let only_granted = leave.weight.looked == Looked::PlaceOnly && leave.is_at(&found.weight);
            return Err(ToolError::new(if only_granted { ASKED_NEXT } else { CHANGED }));
        }
        // A download is accepted if the person was asked about one, and stopped otherwise.
        let is_asked = found.weight.risks.contains(&PageRisk::Downloads);
        let awaiting = if is_asked { Awaiting::AFile } else { Awaiting::Nothing };
        let _expecting = work.fetching.expect(awaiting);
        let done = self.done(work, connected, wish, &found, leave, call).await;
        let mut told = done.map_err(|error| ToolError::new(work.redacted(&error.text)))?;
        fetched(work, awaiting, &mut told).await;
        if self.handed() == Hand::Returned {
            told.words.insert_str(
                0,
                "(The person worked in the page and handed it back: it may have changed since you saw it.)\n",
            );
        }
        if std::mem::take(&mut work.attached_anew) {
            told.words.insert_str(0, "(Octo was attached to the browser anew.)\n");
        }
        if let Some(note) = &found.note {
            let _ = writeln!(told.after, "{note}");
        }
        Ok(self.output(work, wish, &found, told))
    }

    fn output(&self, work: &mut Work, wish: &BrowserWish, found: &Found, told: Told) -> ToolOutput {
        let mut text = told.words.trim_end().to_owned();
        if let Some(page) = &told.page {
            let _ = write!(text, "\n{}", written(work, page, told.learnt));
        }
        if !told.after.trim().is_empty() {
            let _ = write!(text, "\n{}", told.after.trim());
        }
        // Octo's text outside the block repeats names and titles of the page.
        let text = work.redacted(&text);
        let mut view = card::done_view_of(wish, found);
        work.redact(&mut view);
        view.output = text.chars().take(SHOWN).collect();
        view.picture = told.picture;
        view.text = view.text.or(told.file);
        if let Some(page) = &work.page {
            view.site = Some(card::site_now(page));
        }
        let text = text.trim().to_owned();
        ToolOutput { text, images: told.images, view: ToolView::Browser(view), outcome: Outcome::Done }
    }

    fn status(&self, wish: &BrowserWish) -> ToolOutput {
        let words = match self.0.browser.state() {
            BrowserState::Apart => {
                "Not attached to a browser. The first call that needs one attaches.".to_owned()
            }
            BrowserState::Looking => "A browser is being looked for.".to_owned(),
            BrowserState::WaitingForAllow { browser, .. } => {
                format!("{browser} asks the person whether to allow it; they have not answered yet.")
            }
            BrowserState::Attached { browser, version, .. } => format!("Attached to {browser} ({version})."),
            BrowserState::Lost { error } => super::state::for_model(&error).text,
        };
        let mut view = card::view_of(wish, &Found::default());
        view.output.clone_from(&words);
        ToolOutput { text: words, images: Vec::new(), view: ToolView::Browser(view), outcome: Outcome::Done }
    }

    async fn done(
        &self,
        work: &mut Work,
        connected: &Connected,
        wish: &BrowserWish,
        found: &Found,
        leave: &BrowserLeave,
        call: CallId,
    ) -> Result<Told, ToolError> {
        let tab = match (&wish.deed, &found.tab) {
            (WishedDeed::Tabs, _) => return tabs::list(self, work, connected).await,
            (WishedDeed::Open { url }, _) => return self.open(work, connected, url, leave, call).await,
            (WishedDeed::Close, Some(tab)) => return tabs::close(work, connected, tab).await,
            (_, Some(tab)) => tab,
            (_, None) => return Err(ToolError::new(CHANGED)),
        };
        let page = work.attached(connected, tab).await?;
        if !work.fronted {
            work.fronted = true;
            // A dialog that blocks the page is reported below.
            let _held = page.bring_to_front().await;
        }
        let _watching = self.watch(
            &page,
            tab.number.0,
            work.redacted(&card::title_of(found)),
            call,
            self.mark(&page, found).await,
        );
        let ground = Ground { connected, tab, page: &page, leave };
        match &wish.deed {
            WishedDeed::Navigate { url } => {
                let settling = page.settling();
                let arrival = page.navigate(url).await;
                self.arrived(work, &ground, arrival, settling).await
            }
            WishedDeed::Back => {
                let settling = page.settling();
                let arrival = page.travel(History::Back).await;
                self.arrived(work, &ground, arrival, settling).await
            }
            WishedDeed::Focus => {
                page.bring_to_front().await.map_err(|error| fault(&error))?;
                let mut told = self.snapshot(work, &ground, PageLines::All, 1).await?;
                told.words = format!("Tab {} is in use now.", tab.number);
                Ok(told)
            }
            WishedDeed::Snapshot { lines, part } => self.snapshot(work, &ground, *lines, *part).await,
            WishedDeed::Find { text } => self.find(work, &ground, text).await,
            WishedDeed::Read { target, part } => self.read(work, &ground, *target, *part).await,
            WishedDeed::Screenshot { target, numbered } => {
                let boxes = match numbered {
                    Numbered::Yes => Boxes::Numbered,
                    Numbered::No => Boxes::None,
                };
                self.screenshot(work, &ground, *target, boxes).await
            }
            WishedDeed::Dialog(answer) => {
                let answer = match answer {
                    DialogAnswer::Accept(Some(text)) => Answer::AcceptWith(text.clone()),
                    DialogAnswer::Accept(None) => Answer::Accept,
                    DialogAnswer::Dismiss => Answer::Dismiss,
                };
                let doing = page.answer(answer);
                self.do_in_page(work, &ground, found, "The dialog was answered.", doing).await
            }
            WishedDeed::Evaluate { script } => {
                match self.while_there(&ground, found, evaluate(&page, script)).await? {
                    Some(told) => told,
                    // The script started, and the page navigated.
                    None => self.outcome(work, &ground, "The script ran; what it answered is lost.").await,
                }
            }
            WishedDeed::Download { .. } => {
                let place = found.element.clone().ok_or_else(|| ToolError::new(CHANGED))?;
                self.act(work, &ground, found, &Act::Click(place)).await
            }
            WishedDeed::Act(act) => {
                let act = act_on(act, found).ok_or_else(|| ToolError::new(CHANGED))?;
                let act = self.with_secrets(work, act, found).await?;
                self.act(work, &ground, found, &act).await
            }
            WishedDeed::Status | WishedDeed::Tabs | WishedDeed::Open { .. } | WishedDeed::Close => {
                Err(ToolError::new(CHANGED))
            }
        }
    }

    /// Returns the position of the coming act, for display to the person.
    async fn mark(&self, page: &Page, found: &Found) -> Option<octo_protocol::PageMark> {
        let place = found.element.as_ref()?;
        live::mark(page, page.spot(place).await.ok()?).await
    }

    async fn open(
        &self,
        work: &mut Work,
        connected: &Connected,
        url: &str,
        leave: &BrowserLeave,
        call: CallId,
    ) -> Result<Told, ToolError> {
        let failed =
            |error: &dyn std::fmt::Display| ToolError::new(format!("The tab was not opened: {error}."));
        // Start with an empty tab, so that its navigation is observed from the first step.
        let tab = connected.tabs.open("about:blank").await.map_err(|error| failed(&error))?;
        self.0.browser.note_opened(tab.number, self.0.session);
        // The guard closes the tab if the navigation does not happen.
        let opened = OpenedTab::new(connected, &tab);
        work.use_tab(&tab);
        let page = work.attached(connected, &tab).await?;
        let _watching = self.watch(&page, tab.number.0, String::new(), call, None);
        let settling = page.settling();
        let arrival = page.navigate(url).await;
        opened.keep();
        let ground = Ground { connected, tab: &tab, page: &page, leave };
        let mut told = self.arrived(work, &ground, arrival, settling).await?;
        told.words.insert_str(0, &format!("Tab {} was opened. ", tab.number));
        Ok(told)
    }

    /// Takes a picture of an element for the person who is asked about it. It is stored, so secrets are
    /// covered. The browser is not brought to the front, because the person is about to answer in Octo's own
    /// window.
    pub(super) async fn crop(&self, tab: TabNumber, page: &Page, place: &Place) -> Option<BlobHash> {
        // The element is pictured without the overlay.
        let _drawn = page.clear_overlay().await;
        let area = page.area_of(place).await.ok()?;
        let mut work = self.work().await;
        let redactor = work.read().redactor.clone();
        let shot = work.view(tab).shot(page, area, Boxes::None, Front::AtNeed, &redactor).await.ok()?;
        drop(work);
        self.keep(shot.picture.bytes).await
    }

    pub(super) async fn keep(&self, bytes: Vec<u8>) -> Option<BlobHash> {
        let blobs = self.0.browser.blobs();
        tokio::task::spawn_blocking(move || blobs.put(&bytes).ok()).await.ok().flatten()
    }
}

/// An opened, still empty tab. It is closed if the call fails: on Stop, or if its page cannot be attached to.
struct OpenedTab {
    connected: Connected,
    tab: Option<octo_browser::Tab>,
}

impl OpenedTab {
    fn new(connected: &Connected, tab: &octo_browser::Tab) -> Self {
        Self { connected: connected.clone(), tab: Some(tab.clone()) }
    }

    fn keep(mut self) {
        self.tab = None;
    }
}

impl Drop for OpenedTab {
    fn drop(&mut self) {
        let Some(tab) = self.tab.take() else { return };
        let connected = self.connected.clone();
        tokio::spawn(async move {
            if let Err(error) = connected.tabs.close(&tab, octo_browser::Closing::OnlyOurs).await {
                tracing::debug!(%error, "an empty tab stays");
            }
        });
    }
}

/// Formats page text for the model: marked, bounded, and remembered as read at that site.
pub(super) fn written(work: &mut Work, page: &PageBlock, is_learnt: bool) -> String {
    if let Ok(site) = page.origin.parse::<Site>() {
        if !is_learnt {
            work.read().memory.shown(&site, page.text.raw());
        }
        page.lines.iter().for_each(|(_, said)| work.read().memory.shown(&site, said.raw()));
    }
    block(page, BLOCK, &work.read().redactor)
}

/// Adds a report on files downloaded by the page, whenever they arrived.
async fn fetched(work: &mut Work, awaiting: Awaiting, told: &mut Told) {
    let files = work.fetching.told(awaiting).await;
    if files.is_empty() {
        if awaiting == Awaiting::AFile {
            told.words.push_str(" No file has come of it.");
        }
        return;
    }
    let block =
        told.page.get_or_insert_with(|| PageBlock { origin: "downloads".to_owned(), ..PageBlock::default() });
    block.lines.extend(files.iter().map(|file| (Said::Download, PageText::new(file.line()))));
    told.after.push_str("\n(Files of this page: see Download.)");
    if files.iter().any(|file| matches!(file.course, Course::Unasked { .. })) {
        told.after.push_str(ASKS_FIRST);
    }
    told.file = files.into_iter().find_map(|file| match file.course {
        Course::Done { path, .. } | Course::Unasked { kept: path, .. } => {
            path.map(|path| path.display().to_string())
        }
        Course::Coming | Course::Stopped => None,
    });
}

/// Runs a script with all rights of the page: the person was asked about exactly this script.
async fn evaluate(page: &Page, script: &str) -> Result<Told, ToolError> {
    let run = EvaluateParams {
        return_by_value: Some(true),
        await_promise: Some(true),
        user_gesture: Some(false),
        ..EvaluateParams::new(script)
    };
    let answer = page.call(run, SCRIPT).await.map_err(|error| fault(&error))?;
    let failed = answer.exception_details.is_some();
    let said = match answer.result.value {
        Some(serde_json::Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => answer.result.description.unwrap_or_else(|| "undefined".to_owned()),
    };
    let mut told = Told::words(if failed { "The script failed:" } else { "The script ran:" });
    let text: String = said.chars().take(SAID).collect();
    told.page =
        Some(PageBlock { origin: card::site_now(page), lines: Vec::new(), text: PageText::new(text) });
    Ok(told)
}
