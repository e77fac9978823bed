//! Determines the targets of a call at the live page: the site, the real element, the consequences.

mod act_context;

use crate::{
    BrowserSession,
    acting::PageContext,
    browser_session::BrowserWork,
    card::{full_text, line, name_of, question_view},
    faults::fault,
    risks::risks,
    tabs,
};
use act_context::ActContext;
use octo_browser::{
    BrowserConnection, HistoryDirection, NavigateError, Tab, TabOwner,
    safety::{
        self, ActionContext, ActionTarget, GrantLifetime, JudgedDialog, Origin, PageAction, PageAddress,
        PageStep, SecretRelease, SiteGrants, SiteKind, SiteVerdict, judge,
    },
    snapshot::NodeRef,
};
use octo_protocol::{BrowserView, PageElement};
use octo_tools::{
    BrowserAction, BrowserAssessment, BrowserPermission, BrowserRequest, DialogAnswer, InspectionDepth,
    LocationAccess, NavigationScope, ToolError,
};
use std::sync::Arc;

/// Maximum length of a text given to a page at once, in characters: all of it is shown to the person.
const MAX_GIVEN_TEXT: usize = 32_000;

/// An assessed call: its consequences, and the targets that were found.
#[derive(Clone, Default)]
pub(crate) struct AssessedCall {
    pub assessment: BrowserAssessment,
    /// The tab of the call.
    pub tab: Option<Tab>,
    /// The element acted on.
    pub element: Option<NodeRef>,
    /// The drop target of a drag.
    pub drop_target: Option<NodeRef>,
    /// The focused element, for a key that is sent there.
    pub focus: Option<NodeRef>,
    /// Permissions to type secrets into the element now, in the order of the text.
    pub releases: Arc<[SecretRelease]>,
    /// The inspected document; empty if the call touches none.
    pub document: String,
    /// Note for the model that a similar element was taken, because the one with the number was gone.
    pub remark: Option<String>,
}

/// Returns the kind of step that a call is.
fn step_of(action: &BrowserAction) -> PageStep {
    match action {
        BrowserAction::Open { .. } | BrowserAction::Navigate { .. } | BrowserAction::Back => {
            PageStep::Navigate
        }
        BrowserAction::Snapshot { .. }
        | BrowserAction::Find { .. }
        | BrowserAction::Read { .. }
        | BrowserAction::Screenshot { .. }
        | BrowserAction::Focus => PageStep::Read,
        BrowserAction::Status
        | BrowserAction::Tabs
        | BrowserAction::Close
        | BrowserAction::Page(_)
        | BrowserAction::Dialog(_)
        | BrowserAction::Download { .. }
        | BrowserAction::Evaluate { .. } => PageStep::Act,
    }
}

impl BrowserSession {
    /// Assesses a call against the existing grants. Waits while the person controls the page, because assessing
    /// reads the page.
    pub(crate) async fn assess_call(
        &self,
        request: &BrowserRequest,
        permission: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        if request.action == BrowserAction::Status {
            return Ok(AssessedCall::default());
        }
        if let Some(text) = full_text(&request.action).filter(|text| text.chars().count() > MAX_GIVEN_TEXT) {
            return Err(ToolError::new(format!(
                "That is {} characters at once; {MAX_GIVEN_TEXT} is the most the person can be shown. Nothing was done: make it shorter, or in parts.",
                text.chars().count()
            )));
        }
        let connection = self.connect().await?;
        loop {
            self.wait_for_agent().await;
            tokio::select! {
                biased;
                // Nothing is read while the person acts: assessing restarts once they hand the page back.
                () = self.wait_for_person() => {}
                result = self.assess_while_controlled(&connection, request, permission) => return result,
            }
        }
    }

    async fn assess_while_controlled(
        &self,
        connection: &BrowserConnection,
        request: &BrowserRequest,
        permission: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let mut work = self.work().await;
        self.recall(&work).await?;
        work.set_attachment(self.0.browser.attachment());
        let result = self.assess_in(&mut work, connection, request, permission).await;
        if let Some(page) = &work.page {
            page.release_nodes(result.as_ref().ok().and_then(|assessed| assessed.element.as_ref()));
        }
        work.assessed = result.as_ref().ok().map(|assessed| (request.clone(), assessed.clone()));
        result
    }

    /// Assesses a call. For a page that the grant does not cover, only its address is read.
    pub(crate) async fn assess_in(
        &self,
        work: &mut BrowserWork,
        connection: &BrowserConnection,
        request: &BrowserRequest,
        permission: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let mut assessed = self.assess_target(work, connection, request, permission).await?;
        // A page may name an element after text typed elsewhere, and repeat it in a dialog. Redact before
        // cutting to a line, because the rest of a cut value would not be recognised.
        if let Some(target) = &mut assessed.assessment.target {
            target.name = line(&work.redacted(&target.name));
        }
        Ok(assessed)
    }

    async fn assess_target(
        &self,
        work: &mut BrowserWork,
        connection: &BrowserConnection,
        request: &BrowserRequest,
        permission: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let step = step_of(&request.action);
        match &request.action {
            BrowserAction::Status | BrowserAction::Tabs => Ok(AssessedCall::default()),
            BrowserAction::Open { url } => {
                let address = PageAddress::of(url);
                let assessment = BrowserAssessment {
                    fingerprint: url.clone(),
                    ..self.assess_destination(work, step, &address, url)
                };
                Ok(AssessedCall { assessment, ..AssessedCall::default() })
            }
            BrowserAction::Navigate { url } => {
                let tab = tabs::tab_in_use(work, connection, request).await?;
                let address = PageAddress::of(url);
                let fingerprint = format!("{} {url}", tab.number);
                let assessment =
                    BrowserAssessment { fingerprint, ..self.assess_destination(work, step, &address, url) };
                Ok(AssessedCall { assessment, tab: Some(tab), ..AssessedCall::default() })
            }
            BrowserAction::Close => {
                let tab = tabs::named_tab(connection, request).await?;
                let owner_text = match tab.owner {
                    TabOwner::Octo if self.0.browser.has_opened(tab.number, self.0.session) => None,
                    TabOwner::Octo => Some("was opened in another conversation"),
                    TabOwner::Person => Some("is the person's own"),
                };
                if let Some(owner_text) = owner_text {
                    return Err(ToolError::new(format!(
                        "Tab {} {owner_text}. Only tabs that were opened from here are closed; ask the person to close it.",
                        tab.number
                    )));
                }
                let assessment =
                    BrowserAssessment { fingerprint: tab.number.to_string(), ..BrowserAssessment::default() };
                Ok(AssessedCall { assessment, tab: Some(tab), ..AssessedCall::default() })
            }
            BrowserAction::Focus
            | BrowserAction::Snapshot { .. }
            | BrowserAction::Find { .. }
            | BrowserAction::Read { .. }
            | BrowserAction::Screenshot { .. } => {
                let tab = tabs::tab_to_read(work, connection, request).await?;
                let address = tabs::address_of(work, connection, &tab).await;
                let location = self.location_question(step, &address);
                let assessment = BrowserAssessment {
                    location,
                    fingerprint: tab.number.to_string(),
                    ..BrowserAssessment::default()
                };
                Ok(AssessedCall { assessment, tab: Some(tab), ..AssessedCall::default() })
            }
            BrowserAction::Back => {
                let tab = tabs::tab_in_use(work, connection, request).await?;
                let page = work.attach_tab(connection, &tab).await?;
                let entry =
                    page.history_address(HistoryDirection::Back).await.map_err(|error| match error {
                        NavigateError::Page(error) => fault(&error),
                        error => ToolError::new(format!("Not done: {error}.")),
                    })?;
                // The destination counts and not the page that is left, which may be one where the turn may not be.
                let location = self.location_question(step, &PageAddress::of(&entry));
                let fingerprint = format!("{} {entry}", tab.number);
                let assessment = BrowserAssessment { location, fingerprint, ..BrowserAssessment::default() };
                Ok(AssessedCall { assessment, tab: Some(tab), ..AssessedCall::default() })
            }
            BrowserAction::Page(_)
            | BrowserAction::Dialog(_)
            | BrowserAction::Download { .. }
            | BrowserAction::Evaluate { .. } => self.assess_act(work, connection, request, permission).await,
        }
    }

    async fn assess_act(
        &self,
        work: &mut BrowserWork,
        connection: &BrowserConnection,
        request: &BrowserRequest,
        permission: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let tab = tabs::tab_in_use(work, connection, request).await?;
        let page = work.attach_tab(connection, &tab).await?;
        // Read before the address: if the page navigates in between, acts on this document are refused.
        let document = page.document();
        let committed = page.committed();
        let address = PageAddress::of_frame(&committed.url, &committed.origin);
        let location = self.location_question(PageStep::Act, &address);
        let mut assessed = AssessedCall {
            assessment: BrowserAssessment {
                location,
                fingerprint: format!("{} {document}", tab.number),
                ..BrowserAssessment::default()
            },
            tab: Some(tab.clone()),
            document,
            ..AssessedCall::default()
        };
        // No page is inspected before its site is granted; questions about its content follow after that.
        if !self.may_be_at(permission, &address) {
            assessed.assessment.inspected = InspectionDepth::LocationOnly;
            return Ok(assessed);
        }
        self.redact_site_values(work, &[Origin::parse(&committed.origin)]).await?;
        let secrets = self.0.browser.secrets();
        let context = PageContext { connection, tab: &tab, page: &page, permission };
        let is_read = work.view(tab.number).last_snapshot().is_some();
        let act_context =
            ActContext { session: self, page_context: context, address: &address, secrets, is_read };
        match &request.action {
            BrowserAction::Dialog(reply) => {
                let dialog = page.dialog().ok_or_else(|| ToolError::new("No dialog is open."))?;
                if let DialogAnswer::Accept(text) = reply {
                    let kind = match dialog.kind {
                        octo_browser::DialogKind::Alert => JudgedDialog::Alert,
                        octo_browser::DialogKind::Confirm => JudgedDialog::Confirm,
                        octo_browser::DialogKind::Prompt => JudgedDialog::Prompt,
                        octo_browser::DialogKind::BeforeUnload => JudgedDialog::BeforeUnload,
                    };
                    let text = text.as_deref().unwrap_or_default();
                    let action = PageAction::AcceptDialog { kind, message: &dialog.message, text };
                    act_context.add_consequences(
                        &mut assessed.assessment,
                        work,
                        (&Origin::parse(&dialog.url), None),
                        action,
                    );
                    assessed.assessment.target = Some(PageElement {
                        role: dialog.kind.name().to_owned(),
                        name: dialog.message.clone(),
                    });
                }
                assessed.assessment.fingerprint.push_str(&format!(
                    " {} {}",
                    dialog.kind.name(),
                    dialog.message
                ));
            }
            BrowserAction::Evaluate { script } => {
                let origin = Origin::parse(&committed.origin);
                act_context.add_consequences(
                    &mut assessed.assessment,
                    work,
                    (&origin, None),
                    PageAction::Evaluate,
                );
                assessed.assessment.fingerprint.push_str(&format!(" {script}"));
            }
            BrowserAction::Download { target } => {
                act_context.assess_download(work, *target, &mut assessed).await?
            }
            BrowserAction::Page(act) => act_context.assess_interaction(work, act, &mut assessed).await?,
            _ => {}
        }
        Ok(assessed)
    }

    /// Returns an address's destination, and the data it would disclose there.
    fn assess_destination(
        &self,
        work: &BrowserWork,
        step: PageStep,
        address: &PageAddress,
        url: &str,
    ) -> BrowserAssessment {
        let frame = Origin::Opaque;
        let act = ActionContext {
            page: address,
            frame: &frame,
            language: None,
            fields_outside_forms: None,
            target: ActionTarget::Unknown,
            action: PageAction::Navigate { url },
        };
        let location = self.location_question(step, address);
        let forbidden =
            matches!(location.as_ref().map(|location| &location.access), Some(LocationAccess::Never { .. }));
        let risks = if forbidden { Vec::new() } else { risks(&judge(&act, &work.read_texts().memory)) };
        BrowserAssessment { location, risks, ..BrowserAssessment::default() }
    }

    /// Returns the question for an address, if the turn may not be there yet.
    fn location_question(
        &self,
        step: PageStep,
        address: &PageAddress,
    ) -> Option<octo_tools::BrowserLocation> {
        let access = match self.grants().check(safety::TabNumber(0), step, address) {
            SiteVerdict::Allowed(_) => LocationAccess::Open,
            SiteVerdict::Refused(reason) => LocationAccess::Never { why: reason.to_string() },
            SiteVerdict::Ask(question) => match question.max_lifetime() {
                GrantLifetime::Always => LocationAccess::Asks,
                GrantLifetime::Turn => LocationAccess::AsksEachTurn,
                GrantLifetime::Once => LocationAccess::AsksEachTime,
            },
        };
        let site = name_of(address);
        (access != LocationAccess::Open || !site.is_empty())
            .then_some(octo_tools::BrowserLocation { site, access })
    }

    fn grants(&self) -> SiteGrants {
        let mut grants = SiteGrants::default();
        for port in self.0.browser.ports() {
            grants.refuse_port(port);
        }
        grants
    }

    /// Returns whether a call with this permission may be at the address of the page.
    pub(crate) fn may_be_at(&self, permission: &BrowserPermission, address: &PageAddress) -> bool {
        let (mut grants, tab) = (self.grants(), safety::TabNumber(0));
        let locations = permission.assessment.location.iter().map(|location| &location.site);
        let mut allow = |site: &str, min_lifetime: GrantLifetime| {
            if let SiteVerdict::Ask(question) = grants.check(tab, PageStep::Navigate, &PageAddress::of(site))
                && question.max_lifetime() >= min_lifetime
            {
                let _recorded = grants.allow(tab, question, GrantLifetime::Turn);
            }
        };
        // A site that needs a grant each time is granted only to the call that was asked about.
        permission.granted.iter().for_each(|site| allow(site, GrantLifetime::Turn));
        locations.for_each(|site| allow(site, GrantLifetime::Once));
        match grants.check(tab, PageStep::Commit, address) {
            SiteVerdict::Allowed(_) => true,
            SiteVerdict::Ask(question) => {
                permission.navigation == NavigationScope::Web
                    && matches!(question.kind(), SiteKind::Web | SiteKind::Near)
            }
            SiteVerdict::Refused(_) => false,
        }
    }

    /// Returns a call as shown to the person before it runs: from the assessed state, and without content of a
    /// page that is not granted.
    pub(crate) async fn preview_view(&self, request: &BrowserRequest) -> Result<BrowserView, ToolError> {
        let last_assessed = self.work().await.assessed.take();
        let assessed = match last_assessed {
            Some((assessed_request, assessed)) if assessed_request == *request => assessed,
            _ => self.assess_call(request, &BrowserPermission::none()).await?,
        };
        let mut view = question_view(request, &assessed);
        self.work().await.redact(&mut view);
        // The element is shown as it appears in the page.
        //
        // Not inside the condition, where the lock on the work would be held until the picture, which needs
        // that lock, is taken.
        let page = self.work().await.page.clone();
        if !assessed.assessment.risks.is_empty()
            && let (Some(element), Some(tab), Some(page)) = (&assessed.element, &assessed.tab, page)
        {
            view.picture = loop {
                self.wait_for_agent().await;
                tokio::select! {
                    biased;
                    () = self.wait_for_person() => {}
                    picture = self.picture_for_question(tab.number, &page, element) => break picture,
                }
            };
        }
        Ok(view)
    }
}
