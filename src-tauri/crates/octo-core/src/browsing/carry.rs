//! Carrying out what was allowed, and telling the model what came of it. What a page says reaches the model in a
//! marked block and in no other way.

use super::{
    Seat,
    hands::{self, Fault, Scroll, Writing},
    live,
    reading::Strayed,
    seat::{Hand, Work},
    weigh::{self, Found},
};
use octo_browser::{
    Answer, Area, Arrival, Connected, Freshness, History, NavigateError, Page, PageError, PageEvent,
    PictureFormat, Tab,
    cdp::{browser_protocol::dom::BackendNodeId, js_protocol::runtime::EvaluateParams},
    safety::{Address, PageBlock, PageText, Said, Site, block},
    snapshot::{Change, Filter, Place},
};
use octo_protocol::{BlobHash, BrowserState, CallId, ResultImage, ToolView};
use octo_tools::{
    Awaited, BrowserLeave, BrowserWish, DialogAnswer, Outcome, PageAct, Scrolled, ToolError, ToolOutput,
    WishedDeed,
};
use std::{fmt::Write, time::Duration};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// What a snapshot may take, in estimated tokens.
pub(super) const SNAPSHOT: usize = 4_000;
/// What is told of a change.
const CHANGE: usize = 1_200;
/// The most characters of a block, whatever its budget: a token is seldom longer than four.
const BLOCK: usize = 24_000;
/// How long a script may run.
const SCRIPT: Duration = Duration::from_secs(10);
/// The world of scripts that were allowed is the page's own; how much of what they say is told, in characters.
const SAID: usize = 4_000;
/// The most that a card shows of what the model read.
const SHOWN: usize = 4_000;
/// Tabs named at most.
const TABS: usize = 60;

const STOPPED: &str = "The page was let go of before this was done; what it had done until then may remain.";
const CHANGED: &str =
    "Not done: the page changed since this call was allowed. Take a snapshot and make the call again.";

/// What came of a call.
#[derive(Default)]
pub(super) struct Told {
    /// Octo's own words.
    pub words: String,
    /// The page's.
    pub page: Option<PageBlock>,
    /// Octo's words behind the page's.
    pub after: String,
    pub images: Vec<ResultImage>,
    pub picture: Option<BlobHash>,
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
        let hand = self.in_hand().await;
        let mut work = self.work().await;
        let found = self.look_in(&mut work, &connected, wish).await?;
        if !leave.covers(&found.weight) {
            return Err(ToolError::new(CHANGED));
        }
        let mut told = self.done(&mut work, &connected, wish, &found, leave, call).await?;
        if hand == Hand::Returned {
            told.words.insert_str(
                0,
                "(The person worked in the page and handed it back: it may have changed since you saw it.)\n",
            );
        }
        if connected.fresh == Freshness::New {
            told.words.insert_str(0, "(Octo was attached to the browser anew.)\n");
        }
        if let Some(note) = &found.note {
            let _ = writeln!(told.after, "{note}");
        }
        Ok(self.output(&mut work, wish, &found, told))
    }

    fn output(&self, work: &mut Work, wish: &BrowserWish, found: &Found, told: Told) -> ToolOutput {
        let mut text = told.words.trim_end().to_owned();
        if let Some(page) = &told.page {
            if let Ok(site) = page.origin.parse::<Site>() {
                work.memory.shown(&site, page.text.raw());
                page.lines.iter().for_each(|(_, said)| work.memory.shown(&site, said.raw()));
            }
            let _ = write!(text, "\n{}", block(page, BLOCK, &work.redactor));
        }
        if !told.after.trim().is_empty() {
            let _ = write!(text, "\n{}", told.after.trim());
        }
        let mut view = weigh::view_of(wish, found);
        view.output = text.chars().take(SHOWN).collect();
        view.picture = told.picture;
        if let Some(page) = &work.page {
            view.site = Some(weigh::site_now(page));
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
        let mut view = weigh::view_of(wish, &Found::default());
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
            (WishedDeed::Tabs, _) => return tabs(work, connected).await,
            (WishedDeed::Open { url }, _) => return self.open(work, connected, url, leave, call).await,
            (WishedDeed::Close, Some(tab)) => return close(work, connected, tab).await,
            (_, Some(tab)) => tab,
            (_, None) => return Err(ToolError::new(CHANGED)),
        };
        let page = work.attached(connected, tab).await?;
        if !work.fronted {
            work.fronted = true;
            // A dialog that holds the page is told of below.
            let _held = page.bring_to_front().await;
        }
        let _watching =
            self.watch(&page, tab.number.0, weigh::title_of(found), call, self.mark(&page, found).await);
        match &wish.deed {
            WishedDeed::Navigate { url } => {
                let mut events = hands::Reactions::of(&page);
                let arrival = page.navigate(url).await;
                self.arrived(work, connected, tab, &page, leave, arrival, &mut events).await
            }
            WishedDeed::Back => {
                let mut events = hands::Reactions::of(&page);
                let arrival = page.travel(History::Back).await;
                self.arrived(work, connected, tab, &page, leave, arrival, &mut events).await
            }
            WishedDeed::Focus => {
                page.bring_to_front().await.map_err(|error| fault(&error))?;
                let mut told = self.snapshot(work, tab, &page, leave, 1).await?;
                told.words = format!("Tab {} is in use now.", tab.number);
                Ok(told)
            }
            WishedDeed::Snapshot { part } => self.snapshot(work, tab, &page, leave, *part).await,
            WishedDeed::Find { text } => self.find(work, tab, &page, leave, text).await,
            WishedDeed::Read { target, part } => self.read(work, tab, &page, leave, *target, *part).await,
            WishedDeed::Screenshot { target } => self.screenshot(work, tab, &page, leave, *target).await,
            WishedDeed::Dialog(answer) => {
                let answer = match answer {
                    DialogAnswer::Accept(Some(text)) => Answer::AcceptWith(text.clone()),
                    DialogAnswer::Accept(None) => Answer::Accept,
                    DialogAnswer::Dismiss => Answer::Dismiss,
                };
                let doing = async { Ok(page.answer(answer).await?) };
                self.act(work, connected, tab, &page, leave, "The dialog was answered.", doing).await
            }
            WishedDeed::Evaluate { script } => evaluate(&page, script).await,
            WishedDeed::Download { .. } => {
                let place = found.element.clone().ok_or_else(|| ToolError::new(CHANGED))?;
                let doing = hands::click(&page, &place, 1);
                let words = "The link was followed; a file goes to the person's folder for downloads.";
                self.act(work, connected, tab, &page, leave, words, doing).await
            }
            WishedDeed::Act(act) => {
                let doing = perform(&page, act, found);
                self.act(work, connected, tab, &page, leave, "Done.", doing).await
            }
            WishedDeed::Status | WishedDeed::Tabs | WishedDeed::Open { .. } | WishedDeed::Close => {
                Err(ToolError::new(CHANGED))
            }
        }
    }

    /// Where it is about to act, as the person is shown it.
    async fn mark(&self, page: &Page, found: &Found) -> Option<octo_protocol::PageMark> {
        let place = found.element.as_ref().filter(|place| place.session == *page.session().inner())?;
        live::mark(page, hands::spot(page, place).await.ok()?).await
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
        work.use_tab(&tab);
        let page = work.attached(connected, &tab).await?;
        let _watching = self.watch(&page, tab.number.0, String::new(), call, None);
        let mut events = hands::Reactions::of(&page);
        let arrival = page.navigate(url).await;
        let mut told = self.arrived(work, connected, &tab, &page, leave, arrival, &mut events).await?;
        told.words.insert_str(0, &format!("Tab {} was opened. ", tab.number));
        Ok(told)
    }

    #[expect(clippy::too_many_arguments, reason = "one step of a call, split off for its length alone")]
    async fn arrived(
        &self,
        work: &mut Work,
        connected: &Connected,
        tab: &Tab,
        page: &Page,
        leave: &BrowserLeave,
        arrival: Result<Arrival, NavigateError>,
        events: &mut hands::Reactions,
    ) -> Result<Told, ToolError> {
        let words = match arrival {
            Ok(Arrival::Loaded | Arrival::SameDocument) => "The page is there.",
            Ok(Arrival::Loading) => "The page is there and still loads.",
            Ok(Arrival::Waiting) => "The server has not answered yet. Wait, or take a snapshot later.",
            Ok(Arrival::Download) => {
                "It became a download into the person's folder; the page is the one it was."
            }
            Err(NavigateError::Page(PageError::Dialog(_))) => "",
            Err(NavigateError::Page(error)) => return Err(fault(&error)),
            Err(error) => return Err(ToolError::new(format!("The page was not opened: {error}."))),
        };
        events.settle(page).await;
        self.outcome(work, connected, tab, page, leave, words).await
    }

    /// Does something in the page, unless that becomes a page the task may not be at.
    #[expect(clippy::too_many_arguments, reason = "one step of a call, split off for its length alone")]
    async fn act(
        &self,
        work: &mut Work,
        connected: &Connected,
        tab: &Tab,
        page: &Page,
        leave: &BrowserLeave,
        words: &str,
        doing: impl Future<Output = Result<(), Fault>>,
    ) -> Result<Told, ToolError> {
        let mut events = hands::Reactions::of(page);
        // A tab in the background is slowed down otherwise. Detaching ends it.
        if page.dialog().is_none() {
            page.begin_acting().await.map_err(|error| fault(&error))?;
        }
        let mut commits = page.events();
        let strayed = async {
            loop {
                match commits.recv().await {
                    Ok(PageEvent::Committed(committed)) => {
                        let address = Address::of_frame(&committed.url, &committed.origin);
                        if !self.may_be_at(leave, &address) {
                            return;
                        }
                    }
                    Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                }
            }
        };
        let done = tokio::select! {
            biased;
            () = strayed => Ok(()),
            done = doing => done,
        };
        match done {
            // A dialog holds the page; it is told below.
            Ok(()) | Err(Fault::Page(PageError::Dialog(_))) => {}
            Err(Fault::Page(error)) => return Err(fault(&error)),
            Err(Fault::NoRoom) => {
                return Err(ToolError::new(
                    "Not done: the element takes no room on the page, or is outside of what can be shown. Take a snapshot.",
                ));
            }
            Err(Fault::Unfit(why)) => return Err(ToolError::new(format!("Not done: {why}."))),
            Err(Fault::Covered(by)) => {
                let mut told =
                    Told::words("Not done: something else covers the element and would be pressed instead.");
                told.page = Some(PageBlock {
                    origin: weigh::site_now(page),
                    lines: vec![(Said::Element, PageText::new(by))],
                    text: PageText::default(),
                });
                return Ok(told);
            }
        }
        events.settle(page).await;
        self.outcome(work, connected, tab, page, leave, words).await
    }

    /// What the page is like after something was done in it: what changed, and nothing of a place that was not granted.
    async fn outcome(
        &self,
        work: &mut Work,
        connected: &Connected,
        tab: &Tab,
        page: &Page,
        leave: &BrowserLeave,
        words: &str,
    ) -> Result<Told, ToolError> {
        let mut told = Told::words(words);
        let committed = page.committed();
        let address = Address::of_frame(&committed.url, &committed.origin);
        if !self.may_be_at(leave, &address) {
            work.last = None;
            told.words = Strayed(address).words(words);
            return Ok(told);
        }
        if let Some(dialog) = page.dialog() {
            told.words = format!(
                "{words} The page opened a dialog ({}). Nothing else in the page answers until it is answered with action dialog.",
                dialog.kind.name()
            );
            told.page = Some(PageBlock {
                origin: weigh::site_now(page),
                lines: vec![(Said::Dialog, PageText::new(dialog.message))],
                text: PageText::default(),
            });
            return Ok(told);
        }
        if !page.is_attached() {
            (work.page, work.last) = (None, None);
            told.words = format!("{words} The tab was closed.");
            return Ok(told);
        }
        self.take(page).await;
        let before = work.last.take();
        let now = match self.capture(work, tab, page, leave).await? {
            Ok(now) => now,
            Err(strayed) => {
                told.words = strayed.words(words);
                return Ok(told);
            }
        };
        let (text, change) = match &before {
            Some(before) => {
                let diff = now.diff(before, CHANGE);
                (diff.text, Some(diff.change))
            }
            None => (now.render(SNAPSHOT, Filter::default()).text, None),
        };
        match change {
            Some(Change::Nothing) => told.words.push_str(" Nothing that a snapshot shows has changed."),
            Some(Change::Lines) => told.words.push_str(" What changed (+ new, - gone, ~ now):"),
            Some(Change::Page) | None => told.words.push_str(" The page now:"),
        }
        if change != Some(Change::Nothing) {
            told.page = Some(PageBlock {
                origin: weigh::site_now(page),
                lines: Vec::new(),
                text: PageText::new(text),
            });
        }
        work.last = Some(now);
        told.after = popups(work, connected, tab).await;
        Ok(told)
    }

    /// What an element looks like, for the person who is asked about it.
    pub(super) async fn crop(&self, page: &Page, place: &Place) -> Option<BlobHash> {
        let picture =
            page.picture(Area::Element(BackendNodeId::new(place.node)), PictureFormat::Png).await.ok()?;
        self.keep(picture.bytes).await
    }

    pub(super) async fn keep(&self, bytes: Vec<u8>) -> Option<BlobHash> {
        let blobs = self.0.browser.blobs();
        tokio::task::spawn_blocking(move || blobs.put(&bytes).ok()).await.ok().flatten()
    }
}

/// One act on what was found.
async fn perform(page: &Page, act: &PageAct, found: &Found) -> Result<(), Fault> {
    let gone = || Fault::Unfit("the element is gone");
    let place = || found.element.as_ref().ok_or_else(gone);
    match act {
        PageAct::Click(_) => hands::click(page, place()?, 1).await,
        PageAct::DoubleClick(_) => hands::click(page, place()?, 2).await,
        PageAct::Type(_, text) => hands::write(page, place()?, text, Writing::Append).await,
        PageAct::Fill(_, text) => hands::write(page, place()?, text, Writing::Replace).await,
        PageAct::Press(_, key) => hands::press(page, found.element.as_ref(), key).await,
        PageAct::Hover(_) => hands::hover(page, place()?).await,
        PageAct::Drag(..) => hands::drag(page, place()?, found.onto.as_ref().ok_or_else(gone)?).await,
        PageAct::Select(_, values) => hands::select(page, place()?, values).await,
        PageAct::Scroll(Scrolled::To(_)) => hands::spot(page, place()?).await.map(|_| ()),
        PageAct::Scroll(Scrolled::By(x, y)) => hands::scroll_by(page, (*x, *y)).await,
        PageAct::Scroll(Scrolled::ToText(text)) => {
            let root = hands::root(page).await?;
            match hands::shows(page, &root, text, Scroll::There).await? {
                true => Ok(()),
                false => Err(Fault::Unfit("the page shows no such text")),
            }
        }
        PageAct::Wait(Awaited::Time(ms)) => {
            tokio::time::sleep(Duration::from_millis(*ms)).await;
            Ok(())
        }
        PageAct::Wait(Awaited::Text(text)) => match hands::await_text(page, text).await? {
            true => Ok(()),
            false => Err(Fault::Unfit("the text did not come within ten seconds")),
        },
        PageAct::ClickAt(x, y) => hands::click_at(page, *x, *y).await,
        PageAct::Upload(_, files) => hands::upload(page, place()?, files).await,
    }
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
        Some(PageBlock { origin: weigh::site_now(page), lines: Vec::new(), text: PageText::new(text) });
    Ok(told)
}

/// All tabs, by title and site: more of a page is seen only where it is granted.
async fn tabs(work: &Work, connected: &Connected) -> Result<Told, ToolError> {
    let tabs = connected.tabs.list().await;
    let tabs = tabs.map_err(|error| ToolError::new(format!("The browser did not answer: {error}.")))?;
    let mut text = String::new();
    for tab in tabs.iter().take(TABS) {
        let mut marks: Vec<&str> = Vec::new();
        if work.tab == Some(tab.number) {
            marks.push("in use");
        }
        if tab.place.is_some_and(|place| place.shown) {
            marks.push("shown");
        }
        if tab.owner == octo_browser::Owner::Octo {
            marks.push("opened from here");
        }
        let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
        let site = weigh::name_of(&Address::of(&tab.url));
        let _ = writeln!(text, "{} {} \"{}\"{marks}", tab.number, site, weigh::line(&tab.title));
    }
    let more = tabs.len().saturating_sub(TABS);
    let mut told = Told::words(format!("{} tabs.", tabs.len()));
    if more > 0 {
        told.after = format!("({more} more are not listed.)");
    }
    told.page = Some(PageBlock { origin: "tabs".to_owned(), lines: Vec::new(), text: PageText::new(text) });
    Ok(told)
}

async fn close(work: &mut Work, connected: &Connected, tab: &Tab) -> Result<Told, ToolError> {
    let closed = connected.tabs.close(tab, octo_browser::Closing::OnlyOurs).await;
    closed.map_err(|error| ToolError::new(format!("The tab was not closed: {error}.")))?;
    if work.tab == Some(tab.number) {
        (work.tab, work.page, work.last) = (None, None, None);
    }
    work.refs.remove(&tab.number);
    Ok(Told::words(format!("Tab {} was closed.", tab.number)))
}

/// Tabs that the page in use opened.
async fn popups(work: &mut Work, connected: &Connected, tab: &Tab) -> String {
    let Ok(tabs) = connected.tabs.list().await else { return String::new() };
    let mut text = String::new();
    for other in tabs {
        let is_new = other.opener.as_ref() == Some(&tab.target) && !work.refs.contains_key(&other.number);
        if is_new {
            // Told once: its numbers begin here.
            work.refs.entry(other.number).or_default();
            let site = weigh::name_of(&Address::of(&other.url));
            let _ = writeln!(text, "The page opened tab {} ({site}). Use focus to work in it.", other.number);
        }
    }
    text
}

/// Why a page did not do something, for the model. The page's own words are not among it.
pub(super) fn fault(error: &PageError) -> ToolError {
    match error {
        PageError::Dialog(dialog) => ToolError::new(format!(
            "A dialog ({}) is open and holds the page. Answer it with action dialog first; a snapshot is not possible until then.",
            dialog.kind.name()
        )),
        PageError::NoDialog => ToolError::new("No dialog is open (any more)."),
        PageError::Crashed => ToolError::new("The page crashed. Use navigate to load it again."),
        PageError::Detached => ToolError::new("The tab was closed, or the browser ended. Use action tabs."),
        PageError::Silent(octo_browser::Liveness::DialogOpen) => ToolError::new(
            "The tab does not answer: a dialog that was open before is in it. Only the person can close that one; ask them.",
        ),
        PageError::Silent(why) => ToolError::new(format!(
            "The tab does not answer: {why}. Use another tab, or ask the person to look at it."
        )),
        PageError::Call(error) => ToolError::new(format!("The page did not do it: {error}.")),
    }
}
