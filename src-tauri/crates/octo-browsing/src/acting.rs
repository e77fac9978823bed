//! Acts in a page and reports the result. Acts only in the page that was assessed, and reports nothing about a
//! page that the turn may not be at.

use crate::{
    BrowserSession,
    assessment::AssessedCall,
    browser_session::BrowserWork,
    card,
    faults::{CHANGED, fault},
    live,
    perform::{CallReport, format_page_text},
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
pub(crate) const SNAPSHOT_BUDGET: usize = 4_000;
/// Budget of a change report, in estimated tokens.
const CHANGE_BUDGET: usize = 1_200;

/// The tab and page that a call works in.
#[derive(Clone, Copy)]
pub(crate) struct PageContext<'a> {
    pub connection: &'a BrowserConnection,
    pub tab: &'a Tab,
    pub page: &'a Page,
    pub permission: &'a BrowserPermission,
}

impl BrowserSession {
    /// Reports whether the page reached its destination.
    pub(crate) async fn report_navigation(
        &self,
        work: &mut BrowserWork,
        context: &PageContext<'_>,
        navigation: Result<NavigationOutcome, NavigateError>,
        reaction: ReactionObserver,
    ) -> Result<CallReport, ToolError> {
        let message = match navigation {
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
        let _reaction = reaction.wait().await;
        self.outcome(work, context, message).await
    }

    /// Performs an act in the assessed page. Stops if the page navigates to an address where the turn may not be.
    pub(crate) async fn act(
        &self,
        work: &mut BrowserWork,
        context: &PageContext<'_>,
        assessed: &AssessedCall,
        act: &BrowserAct,
    ) -> Result<CallReport, ToolError> {
        let page = context.page;
        // Without focus emulation the browser throttles a background tab. The emulation lasts until the person
        // takes the page or the turn ends: menus of the page close when it loses the focus, even between two acts.
        if page.dialog().is_none() {
            page.begin_focus_emulation().await.map_err(|error| fault(&error))?;
        }
        // A person who was asked about the act sees its target before it is performed.
        let audience =
            if assessed.assessment.risks.is_empty() { Audience::Person } else { Audience::AskedPerson };
        let action = page.perform_in(&assessed.document, act, audience);
        let Some(result) = self.run_while_permitted(context, assessed, action).await? else {
            return self.outcome(work, context, "Done.").await;
        };
        match result {
            Ok(result) => self.outcome(work, context, outcome_text(&result)).await,
            Err(ActError::Page(PageError::Dialog(_))) => {
                self.outcome(work, context, "Nothing more was done: a dialog holds the page.").await
            }
            Err(ActError::NavigatedAway) => {
                let message =
                    "The page went elsewhere before this was done to its end; a part of it may be done.";
                self.outcome(work, context, message).await
            }
            Err(ActError::Gone) => {
                Err(self.gone_error(work, context, "Not done: the element is gone.").await)
            }
            Err(error) => report_failure(page, error),
        }
    }

    /// Performs another operation in the page under the same conditions, and waits for the page's reaction.
    pub(crate) async fn do_in_page(
        &self,
        work: &mut BrowserWork,
        context: &PageContext<'_>,
        assessed: &AssessedCall,
        message: &str,
        action: impl Future<Output = Result<(), PageError>>,
    ) -> Result<CallReport, ToolError> {
        let reaction = context.page.observe_reaction();
        let action = async {
            action.await?;
            // A page that is gone is handled below.
            let _reaction = reaction.wait().await;
            Ok(())
        };
        if let Some(Err(error)) = self.run_while_permitted(context, assessed, action).await? {
            return Err(fault(&error));
        }
        self.outcome(work, context, message).await
    }

    /// Runs an operation while the page is at an address where the turn may be. Returns `None` if the page navigated
    /// elsewhere. Nothing starts in a document other than the assessed one.
    pub(crate) async fn run_while_permitted<T>(
        &self,
        context: &PageContext<'_>,
        assessed: &AssessedCall,
        action: impl Future<Output = T>,
    ) -> Result<Option<T>, ToolError> {
        // Subscribe before the check, so that no later event is missed.
        let mut events = context.page.events();
        if context.page.document() != assessed.document {
            return Err(ToolError::new(CHANGED));
        }
        let left_permitted_sites = async {
            loop {
                match events.recv().await {
                    Ok(PageEvent::Committed(committed)) => {
                        let address = PageAddress::of_frame(&committed.url, &committed.origin);
                        if !self.may_be_at(context.permission, &address) {
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
            () = left_permitted_sites => Ok(None),
            result = action => Ok(Some(result)),
        }
    }

    /// Reports the page after an act: the changes, and nothing about a site that was not granted.
    pub(crate) async fn outcome(
        &self,
        work: &mut BrowserWork,
        context: &PageContext<'_>,
        message: &str,
    ) -> Result<CallReport, ToolError> {
        let PageContext { connection, tab, page, permission } = context;
        let mut report = CallReport::from_text(message);
        let committed = page.committed();
        let address = PageAddress::of_frame(&committed.url, &committed.origin);
        if !self.may_be_at(permission, &address) {
            work.view(tab.number).forget_snapshot();
            report.text = DisallowedPage(address).report(message);
            return Ok(report);
        }
        if let Some(dialog) = page.dialog() {
            self.redact_site_values(work, &[Origin::parse(&committed.origin), Origin::parse(&dialog.url)])
                .await?;
            report.text = format!(
                "{message} The page opened a dialog ({}). Nothing else in the page answers until it is answered with action dialog.",
                dialog.kind.name()
            );
            report.page = Some(PageBlock {
                origin: live::site_of(page),
                lines: vec![(PageTextKind::Dialog, PageText::new(dialog.message))],
                text: PageText::default(),
            });
            return Ok(report);
        }
        if !page.is_attached() {
            work.page = None;
            work.view(tab.number).forget_snapshot();
            report.text = format!("{message} The tab was closed.");
            return Ok(report);
        }
        let capture = match self.read_permitted(work, context).await? {
            Ok(capture) => capture,
            Err(disallowed) => {
                report.text = disallowed.report(message);
                return Ok(report);
            }
        };
        let origin = card::captured_site(&capture);
        let current = CurrentContent::of(work, tab.number, &capture);
        report.text.push_str(current.summary);
        (report.page, report.is_recorded) = (current.page, current.is_whole);
        report.after = tabs::popups(work, connection, tab).await;
        if let Some(snapshot) = work.view(tab.number).last_snapshot().filter(|_| current.is_whole) {
            report.after.push_str(&self.available_secrets(&origin, snapshot));
        }
        Ok(report)
    }

    /// Builds the error for a gone element, including the current content, so that the model need not request
    /// it first.
    pub(crate) async fn gone_error(
        &self,
        work: &mut BrowserWork,
        context: &PageContext<'_>,
        message: &str,
    ) -> ToolError {
        let capture = match self.read_permitted(work, context).await {
            Ok(Ok(capture)) => capture,
            Ok(Err(disallowed)) => return ToolError::new(disallowed.report(message)),
            Err(_) => return ToolError::new(format!("{message} Take a snapshot.")),
        };
        let current = CurrentContent::of(work, context.tab.number, &capture);
        let mut text = format!("{message}{}", current.summary);
        if let Some(page) = &current.page {
            text = format!("{text}\n{}", format_page_text(work, page, current.is_whole));
        }
        ToolError::new(text)
    }
}

/// The page's current content, compared with the last read.
struct CurrentContent {
    summary: &'static str,
    page: Option<PageBlock>,
    /// True if it is the full page and not a change report; the page memory then has it already.
    is_whole: bool,
}

impl CurrentContent {
    fn of(work: &mut BrowserWork, tab: TabNumber, capture: &PageCapture) -> Self {
        let view = work.view(tab);
        let budget = if view.last_snapshot().is_some() { CHANGE_BUDGET } else { SNAPSHOT_BUDGET };
        let diff = view.changes_in(capture, budget);
        let is_whole = diff.change == ChangeExtent::Page;
        if is_whole {
            work.mark_read(tab);
        }
        let block = |text| PageBlock { origin: card::captured_site(capture), lines: Vec::new(), text };
        Self {
            summary: match diff.change {
                ChangeExtent::Nothing => " Nothing that a snapshot shows has changed.",
                ChangeExtent::Lines => " What changed (+ new, - gone, ~ now):",
                ChangeExtent::Page => " The page now:",
            },
            page: (diff.change != ChangeExtent::Nothing).then(|| block(PageText::new(diff.text))),
            is_whole,
        }
    }
}

/// Converts an interaction with the assessed elements. Returns `None` if there is no element to act on.
pub(crate) fn to_browser_act(act: &PageInteraction, assessed: &AssessedCall) -> Option<BrowserAct> {
    let element = || assessed.element.clone();
    Some(match act {
        PageInteraction::Click(_) => BrowserAct::Click(element()?),
        PageInteraction::DoubleClick(_) => BrowserAct::DoubleClick(element()?),
        PageInteraction::Type(_, text) => BrowserAct::Type(element()?, text.clone()),
        PageInteraction::Fill(_, text) => BrowserAct::Fill(element()?, text.clone()),
        PageInteraction::Press(None, key) => match &assessed.focus {
            Some(element) => BrowserAct::PressAtFocus(element.clone(), key.clone()),
            None => BrowserAct::Press(None, key.clone()),
        },
        PageInteraction::Press(Some(_), key) => BrowserAct::Press(Some(element()?), key.clone()),
        PageInteraction::Hover(_) => BrowserAct::Hover(element()?),
        PageInteraction::Drag(..) => BrowserAct::Drag(element()?, assessed.drop_target.clone()?),
        PageInteraction::Select(_, values) => BrowserAct::Select(element()?, values.clone()),
        PageInteraction::Scroll(RequestedScroll::To(_)) => BrowserAct::Scroll(ScrollTarget::To(element()?)),
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
        PageInteraction::ClickAt(x, y) => BrowserAct::ClickAt(element()?, *x, *y),
        PageInteraction::Upload(_, files) => BrowserAct::Upload(element()?, files.clone()),
    })
}

fn outcome_text(outcome: &ActOutcome) -> &'static str {
    match (outcome.method, &outcome.reaction) {
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
            PageReaction::Unchanged
            | PageReaction::AddressChanged
            | PageReaction::Navigated(LoadProgress::Done)
            | PageReaction::Dialog(_),
        ) => "Done.",
    }
}

/// Reports why an act failed. Page text is put into the block.
fn report_failure(page: &Page, error: ActError) -> Result<CallReport, ToolError> {
    let in_block = |message: String, lines, text| CallReport {
        text: message,
        page: Some(PageBlock { origin: card::current_site(page), lines, text }),
        ..CallReport::default()
    };
    match error {
        ActError::NoVisibleArea | ActError::Gone => Err(ToolError::new(
            "Not done: the element takes no room on the page, or is outside of what can be shown. Take a snapshot.",
        )),
        ActError::NavigatedAway => Err(ToolError::new(CHANGED)),
        ActError::Page(error) => Err(fault(&error)),
        ActError::Covered(obstacle) => Ok(in_block(
            "Not done: something else covers the element and would be pressed instead.".to_owned(),
            vec![(PageTextKind::Element, PageText::new(obstacle.description))],
            PageText::default(),
        )),
        ActError::Unsupported(unsupported) => {
            let message = format!("Not done: {unsupported}.");
            match unsupported {
                UnsupportedAct::NoSuchOption(options) => Ok(in_block(
                    format!("{message} The first it has:"),
                    Vec::new(),
                    PageText::new(options.join("\n")),
                )),
                _ => Err(ToolError::new(message)),
            }
        }
    }
}
