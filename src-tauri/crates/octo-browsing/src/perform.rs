//! Performs an allowed call and reports the result to the model. Page text reaches the model only in a marked
//! block.

use crate::{
    BrowserSession,
    acting::{PageContext, to_browser_act},
    assessment::AssessedCall,
    browser_session::{BrowserWork, ControlHistory, STOPPED, TAKEN_OVER},
    card,
    downloads::{DownloadStatus, ExpectedDownload},
    faults::{CHANGED, fault},
    live, tabs,
};
use octo_browser::{
    BringToFront, BrowserAct, BrowserConnection, DialogReply, ElementLabels, HistoryDirection, Page,
    TabNumber,
    cdp::js_protocol::runtime::EvaluateParams,
    safety::{PageBlock, PageText, PageTextKind, Site, block},
    snapshot::NodeRef,
};
use octo_protocol::{BlobHash, BrowserState, CallId, PageRisk, ResultImage, ToolView};
use octo_tools::{
    BrowserAction, BrowserPermission, BrowserRequest, DialogAnswer, ElementNumbers, InspectionDepth, Outcome,
    PageLines, ToolError, ToolOutput,
};
use std::{fmt::Write, time::Duration};
use tokio_util::sync::CancellationToken;

/// Maximum length of a block in characters, whatever its budget: a token is rarely longer than four.
const MAX_BLOCK: usize = 24_000;
/// Timeout for a script.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of a script's result, in characters. Allowed scripts run in the page's own world.
const MAX_SCRIPT_RESULT: usize = 4_000;
/// Maximum length of the model's input displayed on a card.
const MAX_CARD_TEXT: usize = 4_000;

/// Message for a call whose site the person granted, but not yet the consequences of the act there.
const ACT_NOT_ASKED: &str = "The person granted the site. Nothing was done yet: this act is asked about by itself. Make the same call again.";

/// Message for an act that was not presented as a download and caused one.
const DOWNLOAD_NOT_ASKED: &str = "\n(The person was not asked about a file, so it was stopped. To get it, use action download on the link or button it came from: that asks them.)";

/// The result of a call.
#[derive(Default)]
pub(crate) struct CallReport {
    /// Octo's own text.
    pub text: String,
    /// The page's text.
    pub page: Option<PageBlock>,
    /// Octo's text after the page's.
    pub after: String,
    /// True if the page memory already has the page text, attributed to its frames.
    pub is_recorded: bool,
    pub images: Vec<ResultImage>,
    pub picture: Option<BlobHash>,
    /// The path of a downloaded file.
    pub file: Option<String>,
}

impl CallReport {
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl BrowserSession {
    /// Performs a call.
    pub(crate) async fn perform(
        &self,
        request: BrowserRequest,
        permission: BrowserPermission,
        call: CallId,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        if request.action == BrowserAction::Status {
            return Ok(self.status(&request));
        }
        let stop_signal = self.release_token();
        let stopped = || ToolError::new(STOPPED);
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(stopped()),
            () = stop_signal.cancelled() => Err(stopped()),
            result = self.perform_in_page(&request, &permission, call) => result,
        };
        self.mark_finished();
        result
    }

    async fn perform_in_page(
        &self,
        request: &BrowserRequest,
        permission: &BrowserPermission,
        call: CallId,
    ) -> Result<ToolOutput, ToolError> {
        let connection = self.connect().await?;
        self.wait_for_agent().await;
        let mut work = self.work().await;
        let work = &mut *work;
        // Checked before every step: no input is sent and nothing is read once the person has the page.
        tokio::select! {
            biased;
            () = self.wait_for_person() => Err(ToolError::new(TAKEN_OVER)),
            result = self.perform_while_controlled(work, &connection, request, permission, call) => result,
        }
    }

    async fn perform_while_controlled(
        &self,
        work: &mut BrowserWork,
        connection: &BrowserConnection,
        request: &BrowserRequest,
        permission: &BrowserPermission,
        call: CallId,
    ) -> Result<ToolOutput, ToolError> {
        self.recall(work).await?;
        work.set_attachment(self.0.browser.attachment());
        let assessed = self.assess_in(work, connection, request, permission).await?;
        if !permission.covers(&assessed.assessment) {
            let only_granted = permission.assessment.inspected == InspectionDepth::LocationOnly
                && permission.is_at(&assessed.assessment);
            return Err(ToolError::new(if only_granted { ACT_NOT_ASKED } else { CHANGED }));
        }
        // A download is accepted if the person was asked about one, and stopped otherwise.
        let is_asked = assessed.assessment.risks.contains(&PageRisk::Downloads);
        let expected = if is_asked { ExpectedDownload::File } else { ExpectedDownload::Nothing };
        let _expected_download = work.downloads.expect(expected);
        let result = self.perform_action(work, connection, request, &assessed, permission, call).await;
        let mut report = result.map_err(|error| ToolError::new(work.redacted(&error.text)))?;
        report_downloads(work, expected, &mut report).await;
        if self.take_control_history() == ControlHistory::PersonHadControl {
            report.text.insert_str(
                0,
                "(The person worked in the page and handed it back: it may have changed since you saw it.)\n",
            );
        }
        if std::mem::take(&mut work.reattached) {
            report.text.insert_str(0, "(Octo was attached to the browser anew.)\n");
        }
        if let Some(remark) = &assessed.remark {
            let _ = writeln!(report.after, "{remark}");
        }
        Ok(self.output(work, request, &assessed, report))
    }

    fn output(
        &self,
        work: &mut BrowserWork,
        request: &BrowserRequest,
        assessed: &AssessedCall,
        report: CallReport,
    ) -> ToolOutput {
        let mut text = report.text.trim_end().to_owned();
        if let Some(page) = &report.page {
            let _ = write!(text, "\n{}", format_page_text(work, page, report.is_recorded));
        }
        if !report.after.trim().is_empty() {
            let _ = write!(text, "\n{}", report.after.trim());
        }
        // Octo's text outside the block repeats names and titles of the page.
        let text = work.redacted(&text);
        let mut view = card::finished_view(request, assessed);
        work.redact(&mut view);
        view.output = text.chars().take(MAX_CARD_TEXT).collect();
        view.picture = report.picture;
        view.text = view.text.or(report.file);
        if let Some(page) = &work.page {
            view.site = Some(card::current_site(page));
        }
        let text = text.trim().to_owned();
        ToolOutput { text, images: report.images, view: ToolView::Browser(view), outcome: Outcome::Done }
    }

    fn status(&self, request: &BrowserRequest) -> ToolOutput {
        let status = match self.0.browser.state() {
            BrowserState::Apart => {
                "Not attached to a browser. The first call that needs one attaches.".to_owned()
            }
            BrowserState::Looking => "A browser is being looked for.".to_owned(),
            BrowserState::WaitingForAllow { browser, .. } => {
                format!("{browser} asks the person whether to allow it; they have not answered yet.")
            }
            BrowserState::Attached { browser, version, .. } => format!("Attached to {browser} ({version})."),
            BrowserState::Lost { error } => crate::state::for_model(&error).text,
        };
        let mut view = card::question_view(request, &AssessedCall::default());
        view.output.clone_from(&status);
        ToolOutput { text: status, images: Vec::new(), view: ToolView::Browser(view), outcome: Outcome::Done }
    }

    async fn perform_action(
        &self,
        work: &mut BrowserWork,
        connection: &BrowserConnection,
        request: &BrowserRequest,
        assessed: &AssessedCall,
        permission: &BrowserPermission,
        call: CallId,
    ) -> Result<CallReport, ToolError> {
        let tab = match (&request.action, &assessed.tab) {
            (BrowserAction::Tabs, _) => return tabs::list(self, work, connection).await,
            (BrowserAction::Open { url }, _) => {
                return self.open(work, connection, url, permission, call).await;
            }
            (BrowserAction::Close, Some(tab)) => return tabs::close(work, connection, tab).await,
            (_, Some(tab)) => tab,
            (_, None) => return Err(ToolError::new(CHANGED)),
        };
        let page = work.attach_tab(connection, tab).await?;
        if !work.in_front {
            work.in_front = true;
            // A dialog that blocks the page is reported below.
            let _result = page.bring_to_front().await;
        }
        let _pictures = self.watch(
            &page,
            tab.number.0,
            work.redacted(&card::title_of(assessed)),
            call,
            self.act_position(&page, assessed).await,
        );
        let context = PageContext { connection, tab, page: &page, permission };
        match &request.action {
            BrowserAction::Navigate { url } => {
                let reaction = page.observe_reaction();
                let navigation = page.navigate(url).await;
                self.report_navigation(work, &context, navigation, reaction).await
            }
            BrowserAction::Back => {
                let reaction = page.observe_reaction();
                let navigation = page.travel_history(HistoryDirection::Back).await;
                self.report_navigation(work, &context, navigation, reaction).await
            }
            BrowserAction::Focus => {
                page.bring_to_front().await.map_err(|error| fault(&error))?;
                let mut report = self.snapshot(work, &context, PageLines::All, 1).await?;
                report.text = format!("Tab {} is in use now.", tab.number);
                Ok(report)
            }
            BrowserAction::Snapshot { lines, part } => self.snapshot(work, &context, *lines, *part).await,
            BrowserAction::Find { text } => self.find(work, &context, text).await,
            BrowserAction::Read { target, part } => self.read(work, &context, *target, *part).await,
            BrowserAction::Screenshot { target, numbered } => {
                let boxes = match numbered {
                    ElementNumbers::Yes => ElementLabels::Numbered,
                    ElementNumbers::No => ElementLabels::None,
                };
                self.screenshot(work, &context, *target, boxes).await
            }
            BrowserAction::Dialog(reply) => {
                let reply = match reply {
                    DialogAnswer::Accept(Some(text)) => DialogReply::AcceptWith(text.clone()),
                    DialogAnswer::Accept(None) => DialogReply::Accept,
                    DialogAnswer::Dismiss => DialogReply::Dismiss,
                };
                let action = page.answer(reply);
                self.do_in_page(work, &context, assessed, "The dialog was answered.", action).await
            }
            BrowserAction::Evaluate { script } => {
                match self.run_while_permitted(&context, assessed, evaluate(&page, script)).await? {
                    Some(report) => report,
                    // The script started, and the page navigated.
                    None => self.outcome(work, &context, "The script ran; what it answered is lost.").await,
                }
            }
            BrowserAction::Download { .. } => {
                let element = assessed.element.clone().ok_or_else(|| ToolError::new(CHANGED))?;
                self.act(work, &context, assessed, &BrowserAct::Click(element)).await
            }
            BrowserAction::Page(act) => {
                let act = to_browser_act(act, assessed).ok_or_else(|| ToolError::new(CHANGED))?;
                let act = self.with_secrets(work, act, assessed).await?;
                self.act(work, &context, assessed, &act).await
            }
            BrowserAction::Status
            | BrowserAction::Tabs
            | BrowserAction::Open { .. }
            | BrowserAction::Close => Err(ToolError::new(CHANGED)),
        }
    }

    /// Returns the position of the act that is about to happen, to show it to the person.
    async fn act_position(&self, page: &Page, assessed: &AssessedCall) -> Option<octo_protocol::PageMark> {
        let element = assessed.element.as_ref()?;
        live::page_mark(page, page.element_rect(element).await.ok()?).await
    }

    async fn open(
        &self,
        work: &mut BrowserWork,
        connection: &BrowserConnection,
        url: &str,
        permission: &BrowserPermission,
        call: CallId,
    ) -> Result<CallReport, ToolError> {
        let failed =
            |error: &dyn std::fmt::Display| ToolError::new(format!("The tab was not opened: {error}."));
        // Start with an empty tab, so that its navigation is observed from the first step.
        let tab = connection.tabs.open("about:blank").await.map_err(|error| failed(&error))?;
        self.0.browser.record_opened(tab.number, self.0.session);
        // The guard closes the tab if the navigation does not happen.
        let guard = NewTabGuard::new(connection, &tab);
        work.use_tab(&tab);
        let page = work.attach_tab(connection, &tab).await?;
        let _pictures = self.watch(&page, tab.number.0, String::new(), call, None);
        let reaction = page.observe_reaction();
        let navigation = page.navigate(url).await;
        guard.disarm();
        let context = PageContext { connection, tab: &tab, page: &page, permission };
        let mut report = self.report_navigation(work, &context, navigation, reaction).await?;
        report.text.insert_str(0, &format!("Tab {} was opened. ", tab.number));
        Ok(report)
    }

    /// Takes a picture of an element, for the question to the person. The picture is stored, so secrets are
    /// covered. The browser is not brought to the front, because the person is about to answer in Octo's own
    /// window.
    pub(crate) async fn picture_for_question(
        &self,
        tab: TabNumber,
        page: &Page,
        node_ref: &NodeRef,
    ) -> Option<BlobHash> {
        // The picture must not show the overlay.
        let _cleared = page.clear_overlay().await;
        let area = page.area_of(node_ref).await.ok()?;
        let mut work = self.work().await;
        let redactor = work.read_texts().redactor.clone();
        let picture = work
            .view(tab)
            .take_picture(page, area, ElementLabels::None, BringToFront::IfNeeded, &redactor)
            .await
            .ok()?;
        drop(work);
        self.store_picture(picture.picture.bytes).await
    }

    pub(crate) async fn store_picture(&self, bytes: Vec<u8>) -> Option<BlobHash> {
        let blobs = self.0.browser.blobs();
        tokio::task::spawn_blocking(move || blobs.put(&bytes).ok()).await.ok().flatten()
    }
}

/// Guard that closes a new, still empty tab if the call fails: on Stop, or if its page cannot be attached to.
struct NewTabGuard {
    connection: BrowserConnection,
    tab: Option<octo_browser::Tab>,
}

impl NewTabGuard {
    fn new(connection: &BrowserConnection, tab: &octo_browser::Tab) -> Self {
        Self { connection: connection.clone(), tab: Some(tab.clone()) }
    }

    fn disarm(mut self) {
        self.tab = None;
    }
}

impl Drop for NewTabGuard {
    fn drop(&mut self) {
        let Some(tab) = self.tab.take() else { return };
        let connection = self.connection.clone();
        tokio::spawn(async move {
            if let Err(error) = connection.tabs.close(&tab, octo_browser::CloseScope::OwnTabs).await {
                tracing::debug!(%error, "an empty tab stays");
            }
        });
    }
}

/// Formats page text for the model: marked, bounded, and remembered as read at that site.
pub(crate) fn format_page_text(work: &mut BrowserWork, page: &PageBlock, is_recorded: bool) -> String {
    if let Ok(site) = page.origin.parse::<Site>() {
        if !is_recorded {
            work.read_texts().memory.record_text(&site, page.text.raw());
        }
        page.lines.iter().for_each(|(_, text)| work.read_texts().memory.record_text(&site, text.raw()));
    }
    block(page, MAX_BLOCK, &work.read_texts().redactor)
}

/// Adds a report on files downloaded by the page, whenever they arrived.
async fn report_downloads(work: &mut BrowserWork, expected: ExpectedDownload, report: &mut CallReport) {
    let files = work.downloads.take_reports(expected).await;
    if files.is_empty() {
        if expected == ExpectedDownload::File {
            report.text.push_str(" No file has come of it.");
        }
        return;
    }
    let block = report
        .page
        .get_or_insert_with(|| PageBlock { origin: "downloads".to_owned(), ..PageBlock::default() });
    block.lines.extend(files.iter().map(|file| (PageTextKind::Download, PageText::new(file.line()))));
    report.after.push_str("\n(Files of this page: see Download.)");
    if files.iter().any(|file| matches!(file.status, DownloadStatus::WithoutConsent { .. })) {
        report.after.push_str(DOWNLOAD_NOT_ASKED);
    }
    report.file = files.into_iter().find_map(|file| match file.status {
        DownloadStatus::Done { path, .. } | DownloadStatus::WithoutConsent { remaining_path: path, .. } => {
            path.map(|path| path.display().to_string())
        }
        DownloadStatus::InProgress | DownloadStatus::Stopped => None,
    });
}

/// Runs a script with all rights of the page: the person was asked about exactly this script.
async fn evaluate(page: &Page, script: &str) -> Result<CallReport, ToolError> {
    let command = EvaluateParams {
        return_by_value: Some(true),
        await_promise: Some(true),
        user_gesture: Some(false),
        ..EvaluateParams::new(script)
    };
    let reply = page.call(command, SCRIPT_TIMEOUT).await.map_err(|error| fault(&error))?;
    let failed = reply.exception_details.is_some();
    let output = match reply.result.value {
        Some(serde_json::Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => reply.result.description.unwrap_or_else(|| "undefined".to_owned()),
    };
    let mut report = CallReport::from_text(if failed { "The script failed:" } else { "The script ran:" });
    let text: String = output.chars().take(MAX_SCRIPT_RESULT).collect();
    report.page =
        Some(PageBlock { origin: card::current_site(page), lines: Vec::new(), text: PageText::new(text) });
    Ok(report)
}
