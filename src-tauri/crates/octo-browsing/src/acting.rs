//! Acts in a page and reports the result. Acts only in the page that was assessed, and reports nothing about a
//! page that the turn may not be at.

use crate::{
    BrowserSession,
    assessment::AssessedCall,
    browser_session::BrowserWork,
    card,
    faults::{CHANGED, fault},
    live,
    perform::{CallReport, written},
    reading::DisallowedPage,
    tabs,
};
use octo_browser::{
    ActError, ActMethod, ActOutcome, Audience, BrowserAct, BrowserConnection, LoadProgress, NavigateError,
    NavigationOutcome, Page, PageError, PageEvent, PageReaction, ReactionObserver, ScrollTarget, Tab,
    TabNumber, UnsupportedAct, WaitCondition,
    safety::{Origin, PageAddress, PageBlock, PageText, PageTextKind},
    snapshot::{ChangeExtent, PageCapture},
};
use octo_tools::{BrowserPermission, PageInteraction, RequestedScroll, RequestedWait, ToolError};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// Budget of a snapshot, in estimated tokens.
pub(crate) const SNAPSHOT: usize = 4_000;
/// Budget of a change report, in estimated tokens.
const CHANGE: usize = 1_200;

/// The tab and page that a call works in.
#[derive(Clone, Copy)]
pub(crate) struct PageContext<'a> {
    pub connected: &'a BrowserConnection,
    pub tab: &'a Tab,
    pub page: &'a Page,
    pub leave: &'a BrowserPermission,
}

impl BrowserSession {
    /// Reports whether the page reached its destination.
    pub(crate) async fn arrived(
        &self,
        work: &mut BrowserWork,
        ground: &PageContext<'_>,
        arrival: Result<NavigationOutcome, NavigateError>,
        settling: ReactionObserver,
    ) -> Result<CallReport, ToolError> {
        let words = match arrival {
            Ok(NavigationOutcome::Loaded | NavigationOutcome::SameDocument) => "The page is there.",
            Ok(NavigationOutcome::Loading) => "The page is there and still loads.",
            Ok(NavigationOutcome::Waiting) => {
                "The server has not answered yet. Wait, or take a snapshot later."
            }
            Ok(NavigationOutcome::Download) => "It is a file and no page; the page is the one it was.",
            Err(NavigateError::Page(PageError::Dialog(_))) => "",
            Err(NavigateError::Page(error)) => return Err(fault(&error)),
            Err(error) => return Err(ToolError::new(format!("The page was not opened: {error}."))),
        };
        // After an immediate redirect the final page is reported; a page that is gone is handled below.
        let _came = settling.wait().await;
        self.outcome(work, ground, words).await
    }

    /// Performs an act in the page that was assessed, unless the page becomes one the turn may not be at.
    pub(crate) async fn act(
        &self,
        work: &mut BrowserWork,
        ground: &PageContext<'_>,
        found: &AssessedCall,
        act: &BrowserAct,
    ) -> Result<CallReport, ToolError> {
        let page = ground.page;
        // Otherwise a background tab is throttled. This lasts until the person takes the page or the turn ends:
        // the page's own menus close when it loses the focus, even between two acts.
        if page.dialog().is_none() {
            page.begin_focus_emulation().await.map_err(|error| fault(&error))?;
        }
        // If the person was asked about the act, they see where before it is done.
        let audience =
            if found.assessment.risks.is_empty() { Audience::Person } else { Audience::AskedPerson };
        let doing = page.perform_in(&found.document, act, audience);
        let Some(done) = self.while_permitted(ground, found, doing).await? else {
            return self.outcome(work, ground, "Done.").await;
        };
        match done {
            Ok(done) => self.outcome(work, ground, words_of(&done)).await,
            Err(ActError::Page(PageError::Dialog(_))) => {
                self.outcome(work, ground, "Nothing more was done: a dialog holds the page.").await
            }
            Err(ActError::NavigatedAway) => {
                let words =
                    "The page went elsewhere before this was done to its end; a part of it may be done.";
                self.outcome(work, ground, words).await
            }
            Err(ActError::Gone) => Err(self.gone(work, ground, "Not done: the element is gone.").await),
            Err(error) => report_failure(page, error),
        }
    }

    /// Performs another operation in the page under the same conditions, and waits for the page's reaction.
    pub(crate) async fn do_in_page(
        &self,
        work: &mut BrowserWork,
        ground: &PageContext<'_>,
        found: &AssessedCall,
        words: &str,
        doing: impl Future<Output = Result<(), PageError>>,
    ) -> Result<CallReport, ToolError> {
        let settling = ground.page.observe_reaction();
        let doing = async {
            doing.await?;
            // A page that is gone is handled below.
            let _came = settling.wait().await;
            Ok(())
        };
        if let Some(Err(error)) = self.while_permitted(ground, found, doing).await? {
            return Err(fault(&error));
        }
        self.outcome(work, ground, words).await
    }

    /// Runs an operation while the page is where the turn may be; `None` if it navigated away. Nothing starts
    /// in a document other than the one assessed.
    pub(crate) async fn while_permitted<T>(
        &self,
        ground: &PageContext<'_>,
        found: &AssessedCall,
        doing: impl Future<Output = T>,
    ) -> Result<Option<T>, ToolError> {
        // Subscribe before the check, so that no later event is missed.
        let mut events = ground.page.events();
        if ground.page.document() != found.document {
            return Err(ToolError::new(CHANGED));
        }
        let strayed = async {
            loop {
                match events.recv().await {
                    Ok(PageEvent::Committed(committed)) => {
                        let address = PageAddress::of_frame(&committed.url, &committed.origin);
                        if !self.may_be_at(ground.leave, &address) {
                            return;
                        }
                    }
                    Err(RecvError::Closed) => std::future::pending().await,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                }
            }
        };
        tokio::select! {
            biased;
            () = strayed => Ok(None),
            done = doing => Ok(Some(done)),
        }
    }

    /// Reports the page after an act: the changes, and nothing about a site that was not granted.
    pub(crate) async fn outcome(
        &self,
        work: &mut BrowserWork,
        ground: &PageContext<'_>,
        words: &str,
    ) -> Result<CallReport, ToolError> {
        let PageContext { connected, tab, page, leave } = ground;
        let mut told = CallReport::words(words);
        let committed = page.committed();
        let address = PageAddress::of_frame(&committed.url, &committed.origin);
        if !self.may_be_at(leave, &address) {
            work.view(tab.number).forget();
            told.words = DisallowedPage(address).words(words);
            return Ok(told);
        }
        if let Some(dialog) = page.dialog() {
            self.keep_out(work, &[Origin::parse(&committed.origin), Origin::parse(&dialog.url)]).await?;
            told.words = format!(
                "{words} The page opened a dialog ({}). Nothing else in the page answers until it is answered with action dialog.",
                dialog.kind.name()
            );
            told.page = Some(PageBlock {
                origin: live::site_of(page),
                lines: vec![(PageTextKind::Dialog, PageText::new(dialog.message))],
                text: PageText::default(),
            });
            return Ok(told);
        }
        if !page.is_attached() {
            work.page = None;
            work.view(tab.number).forget();
            told.words = format!("{words} The tab was closed.");
            return Ok(told);
        }
        let captured = match self.read_permitted(work, ground).await? {
            Ok(captured) => captured,
            Err(strayed) => {
                told.words = strayed.words(words);
                return Ok(told);
            }
        };
        let origin = card::captured_site(&captured);
        let now = CurrentContent::of(work, tab.number, &captured);
        told.words.push_str(now.words);
        (told.page, told.learnt) = (now.page, now.is_whole);
        told.after = tabs::popups(work, connected, tab).await;
        if let Some(snapshot) = work.view(tab.number).last().filter(|_| now.is_whole) {
            told.after.push_str(&self.available_secrets(&origin, snapshot));
        }
        Ok(told)
    }

    /// Builds the error for a gone element, including the current content, so that the model need not request
    /// it first.
    pub(crate) async fn gone(
        &self,
        work: &mut BrowserWork,
        ground: &PageContext<'_>,
        words: &str,
    ) -> ToolError {
        let captured = match self.read_permitted(work, ground).await {
            Ok(Ok(captured)) => captured,
            Ok(Err(strayed)) => return ToolError::new(strayed.words(words)),
            Err(_) => return ToolError::new(format!("{words} Take a snapshot.")),
        };
        let now = CurrentContent::of(work, ground.tab.number, &captured);
        let mut text = format!("{words}{}", now.words);
        if let Some(page) = &now.page {
            text = format!("{text}\n{}", written(work, page, now.is_whole));
        }
        ToolError::new(text)
    }
}

/// The page's current content, compared with the last read.
struct CurrentContent {
    words: &'static str,
    page: Option<PageBlock>,
    /// Whether it is the full page and not a change report. Then it is already in the memory.
    is_whole: bool,
}

impl CurrentContent {
    fn of(work: &mut BrowserWork, tab: TabNumber, captured: &PageCapture) -> Self {
        let view = work.view(tab);
        let budget = if view.last().is_some() { CHANGE } else { SNAPSHOT };
        let diff = view.changes_in(captured, budget);
        let is_whole = diff.change == ChangeExtent::Page;
        if is_whole {
            work.learn(tab);
        }
        let block = |text| PageBlock { origin: card::captured_site(captured), lines: Vec::new(), text };
        Self {
            words: match diff.change {
                ChangeExtent::Nothing => " Nothing that a snapshot shows has changed.",
                ChangeExtent::Lines => " What changed (+ new, - gone, ~ now):",
                ChangeExtent::Page => " The page now:",
            },
            page: (diff.change != ChangeExtent::Nothing).then(|| block(PageText::new(diff.text))),
            is_whole,
        }
    }
}

/// Converts a page act on the found elements; `None` if there is no element to act on.
pub(crate) fn to_browser_act(act: &PageInteraction, found: &AssessedCall) -> Option<BrowserAct> {
    let place = || found.element.clone();
    Some(match act {
        PageInteraction::Click(_) => BrowserAct::Click(place()?),
        PageInteraction::DoubleClick(_) => BrowserAct::DoubleClick(place()?),
        PageInteraction::Type(_, text) => BrowserAct::Type(place()?, text.clone()),
        PageInteraction::Fill(_, text) => BrowserAct::Fill(place()?, text.clone()),
        PageInteraction::Press(None, key) => match &found.focus {
            Some(place) => BrowserAct::PressAtFocus(place.clone(), key.clone()),
            None => BrowserAct::Press(None, key.clone()),
        },
        PageInteraction::Press(Some(_), key) => BrowserAct::Press(Some(place()?), key.clone()),
        PageInteraction::Hover(_) => BrowserAct::Hover(place()?),
        PageInteraction::Drag(..) => BrowserAct::Drag(place()?, found.onto.clone()?),
        PageInteraction::Select(_, values) => BrowserAct::Select(place()?, values.clone()),
        PageInteraction::Scroll(RequestedScroll::To(_)) => BrowserAct::Scroll(ScrollTarget::To(place()?)),
        PageInteraction::Scroll(RequestedScroll::ToText(text)) => {
            BrowserAct::Scroll(ScrollTarget::ToText(text.clone()))
        }
        PageInteraction::Scroll(RequestedScroll::By(x, y)) => {
            BrowserAct::Scroll(ScrollTarget::By(None, *x, *y))
        }
        PageInteraction::Wait(RequestedWait::Text(text)) => {
            BrowserAct::Wait(WaitCondition::Text(text.clone()))
        }
        PageInteraction::Wait(RequestedWait::Time(time)) => {
            BrowserAct::Wait(WaitCondition::Time(Duration::from_millis(*time)))
        }
        PageInteraction::ClickAt(x, y) => BrowserAct::ClickAt(place()?, *x, *y),
        PageInteraction::Upload(_, files) => BrowserAct::Upload(place()?, files.clone()),
    })
}

fn words_of(done: &ActOutcome) -> &'static str {
    match (done.method, &done.reaction) {
        (ActMethod::Nothing, _) => "Nothing had to be done: it is so already.",
        (_, PageReaction::Navigated(LoadProgress::Partial)) => "Done. The page still loads.",
        (_, PageReaction::Navigated(LoadProgress::AwaitingServer)) => {
            "Done. It leads to another page, whose server has not answered yet: take a snapshot later."
        }
        (_, PageReaction::AsksForFiles) => {
            "Done. The page asks for a file now, and none was given: give one with kind upload and the same ref."
        }
        (
            _,
            PageReaction::Stayed
            | PageReaction::Moved
            | PageReaction::Navigated(LoadProgress::Done)
            | PageReaction::Dialog(_),
        ) => "Done.",
    }
}

/// Reports why an act failed. Page text is put into the block.
fn report_failure(page: &Page, error: ActError) -> Result<CallReport, ToolError> {
    let in_block = |words: String, lines, text| CallReport {
        words,
        page: Some(PageBlock { origin: card::current_site(page), lines, text }),
        ..CallReport::default()
    };
    match error {
        ActError::NoRoom | ActError::Gone => Err(ToolError::new(
            "Not done: the element takes no room on the page, or is outside of what can be shown. Take a snapshot.",
        )),
        ActError::NavigatedAway => Err(ToolError::new(CHANGED)),
        ActError::Page(error) => Err(fault(&error)),
        ActError::Covered(cover) => Ok(in_block(
            "Not done: something else covers the element and would be pressed instead.".to_owned(),
            vec![(PageTextKind::Element, PageText::new(cover.description))],
            PageText::default(),
        )),
        ActError::Unfit(unfit) => {
            let words = format!("Not done: {unfit}.");
            match unfit {
                UnsupportedAct::NoSuchOption(options) => Ok(in_block(
                    format!("{words} The first it has:"),
                    Vec::new(),
                    PageText::new(options.join("\n")),
                )),
                _ => Err(ToolError::new(words)),
            }
        }
    }
}
