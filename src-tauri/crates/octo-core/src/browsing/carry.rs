//! Carrying out what was allowed, and telling the model what came of it. What a page says reaches the model in a
//! marked block and in no other way.

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

/// The most characters of a block, whatever its budget: a token is seldom longer than four.
const BLOCK: usize = 24_000;
/// How long a script may run.
const SCRIPT: Duration = Duration::from_secs(10);
/// The world of scripts that were allowed is the page's own; how much of what they say is told, in characters.
const SAID: usize = 4_000;
/// The most that a card shows of what the model read.
const SHOWN: usize = 4_000;

/// What was granted was where to work, and not what the act would set off there.
const ASKED_NEXT: &str = "The person granted the site. Nothing was done yet: this act is asked about by itself. Make the same call again.";

/// A file came of something that was not asked about as one.
const ASKS_FIRST: &str = "\n(The person was not asked about a file, so it was stopped. To get it, use action download on the link or button it came from: that asks them.)";

/// What came of a call.
#[derive(Default)]
pub(super) struct Told {
    /// Octo's own words.
    pub words: String,
    /// The page's.
    pub page: Option<PageBlock>,
    /// Octo's words behind the page's.
    pub after: String,
    /// Whether the page's words are in the memory already, each as of the frame it is in.
    pub learnt: bool,
    pub images: Vec<ResultImage>,
    pub picture: Option<BlobHash>,
    /// Where a file is that came of it.
    pub file: Option<String>,
}

impl Told {
    pub fn words(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

impl Seat {
    /// Carries a call out.
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
        // Looked at before every step: no input goes out, and nothing is read, once the person has the page.
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
        // A file is taken where the person was asked about one, and stopped otherwise.
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
        // Octo's words repeat names and titles of the page, beside the block.
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
            // A dialog that holds the page is told of below.
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
                    // It began, and led elsewhere.
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

    /// Where it is about to act, as the person is shown it.
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
        // Empty at first: where it goes is watched from its first step on.
        let tab = connected.tabs.open("about:blank").await.map_err(|error| failed(&error))?;
        self.0.browser.note_opened(tab.number, self.0.session);
        // One that is not gone to in the end is not left behind.
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

    /// What an element looks like, for the person who is asked about it. It is kept, so nothing is in it that must not
    /// be. They are about to answer in Octo's own window, so the browser does not come before it for that.
    pub(super) async fn crop(&self, tab: TabNumber, page: &Page, place: &Place) -> Option<BlobHash> {
        // What is asked about is shown as the page has it.
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

/// A tab that was opened and is empty still. It is closed where nothing comes of it: Stop, a page that cannot be
/// attached to.
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

/// What a page says, as it reaches the model: marked, bounded, and remembered as read at that site.
pub(super) fn written(work: &mut Work, page: &PageBlock, is_learnt: bool) -> String {
    if let Ok(site) = page.origin.parse::<Site>() {
        if !is_learnt {
            work.read().memory.shown(&site, page.text.raw());
        }
        page.lines.iter().for_each(|(_, said)| work.read().memory.shown(&site, said.raw()));
    }
    block(page, BLOCK, &work.read().redactor)
}

/// Tells of files that came of the page, whenever they came.
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

/// Runs a script with all rights of the page: the person was asked about exactly this one.
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
