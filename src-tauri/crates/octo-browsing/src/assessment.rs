//! Determines the targets of a call at the live page: the site, the real element, the consequences.

mod act_context;

use crate::{
    BrowserSession,
    acting::PageContext,
    browser_session::BrowserWork,
    card::{line, name_of, view_of, whole_text},
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
const WHOLE: usize = 32_000;

/// The targets found.
#[derive(Clone, Default)]
pub(crate) struct AssessedCall {
    pub assessment: BrowserAssessment,
    /// The tab of the call.
    pub tab: Option<Tab>,
    /// The element acted on, and the drop target of a drag.
    pub element: Option<NodeRef>,
    pub onto: Option<NodeRef>,
    /// The focused element, for a key that is sent there.
    pub focus: Option<NodeRef>,
    /// Permissions to type secrets into the element now, in the order of the text.
    pub releases: Arc<[SecretRelease]>,
    /// The inspected document; empty if the call touches none.
    pub document: String,
    /// Note that a number was matched to another, similar element.
    pub note: Option<String>,
}

/// Returns the kind of step that a call is.
fn step(deed: &BrowserAction) -> PageStep {
    match deed {
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
    pub(crate) async fn look(
        &self,
        wish: &BrowserRequest,
        standing: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        if wish.action == BrowserAction::Status {
            return Ok(AssessedCall::default());
        }
        if let Some(text) = whole_text(&wish.action).filter(|text| text.chars().count() > WHOLE) {
            return Err(ToolError::new(format!(
                "That is {} characters at once; {WHOLE} is the most the person can be shown. Nothing was done: make it shorter, or in parts.",
                text.chars().count()
            )));
        }
        let connected = self.connect().await?;
        loop {
            self.in_hand().await;
            tokio::select! {
                biased;
                // Nothing is read while the person acts: assessing restarts once they hand the page back.
                () = self.taken() => {}
                found = self.assess_while_controlled(&connected, wish, standing) => return found,
            }
        }
    }

    async fn assess_while_controlled(
        &self,
        connected: &BrowserConnection,
        wish: &BrowserRequest,
        standing: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let mut work = self.work().await;
        self.recall(&work).await?;
        work.over(self.0.browser.attachment());
        let found = self.look_in(&mut work, connected, wish, standing).await;
        if let Some(page) = &work.page {
            page.release_nodes(found.as_ref().ok().and_then(|found| found.element.as_ref()));
        }
        work.assessed = found.as_ref().ok().map(|found| (wish.clone(), found.clone()));
        found
    }

    /// Assesses a call. For a page that the grant does not cover, only its address is read.
    pub(crate) async fn look_in(
        &self,
        work: &mut BrowserWork,
        connected: &BrowserConnection,
        wish: &BrowserRequest,
        leave: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let mut found = self.look_at(work, connected, wish, leave).await?;
        // A page may name an element after text typed elsewhere, and repeat it in a dialog. Redact before
        // cutting to a line, because the rest of a cut value would not be recognised.
        if let Some(target) = &mut found.assessment.target {
            target.name = line(&work.redacted(&target.name));
        }
        Ok(found)
    }

    async fn look_at(
        &self,
        work: &mut BrowserWork,
        connected: &BrowserConnection,
        wish: &BrowserRequest,
        leave: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let step = step(&wish.action);
        match &wish.action {
            BrowserAction::Status | BrowserAction::Tabs => Ok(AssessedCall::default()),
            BrowserAction::Open { url } => {
                let address = PageAddress::of(url);
                let assessment =
                    BrowserAssessment { fingerprint: url.clone(), ..self.leads(work, step, &address, url) };
                Ok(AssessedCall { assessment, ..AssessedCall::default() })
            }
            BrowserAction::Navigate { url } => {
                let tab = tabs::tab_in_use(work, connected, wish).await?;
                let address = PageAddress::of(url);
                let mark = format!("{} {url}", tab.number);
                let assessment =
                    BrowserAssessment { fingerprint: mark, ..self.leads(work, step, &address, url) };
                Ok(AssessedCall { assessment, tab: Some(tab), ..AssessedCall::default() })
            }
            BrowserAction::Close => {
                let tab = tabs::named(connected, wish).await?;
                let whose = match tab.owner {
                    TabOwner::Octo if self.0.browser.has_opened(tab.number, self.0.session) => None,
                    TabOwner::Octo => Some("was opened in another conversation"),
                    TabOwner::Person => Some("is the person's own"),
                };
                if let Some(whose) = whose {
                    return Err(ToolError::new(format!(
                        "Tab {} {whose}. Only tabs that were opened from here are closed; ask the person to close it.",
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
                let tab = tabs::tab_to_read(work, connected, wish).await?;
                let address = tabs::address_of(work, connected, &tab).await;
                let place = self.place(step, &address);
                let assessment = BrowserAssessment {
                    location: place,
                    fingerprint: tab.number.to_string(),
                    ..BrowserAssessment::default()
                };
                Ok(AssessedCall { assessment, tab: Some(tab), ..AssessedCall::default() })
            }
            BrowserAction::Back => {
                let tab = tabs::tab_in_use(work, connected, wish).await?;
                let page = work.attached(connected, &tab).await?;
                let entry = page.entry(HistoryDirection::Back).await.map_err(|error| match error {
                    NavigateError::Page(error) => fault(&error),
                    error => ToolError::new(format!("Not done: {error}.")),
                })?;
                // The destination counts, not the page being left, which may be an unwanted one.
                let place = self.place(step, &PageAddress::of(&entry));
                let mark = format!("{} {entry}", tab.number);
                let assessment =
                    BrowserAssessment { location: place, fingerprint: mark, ..BrowserAssessment::default() };
                Ok(AssessedCall { assessment, tab: Some(tab), ..AssessedCall::default() })
            }
            BrowserAction::Page(_)
            | BrowserAction::Dialog(_)
            | BrowserAction::Download { .. }
            | BrowserAction::Evaluate { .. } => self.look_at_act(work, connected, wish, leave).await,
        }
    }

    async fn look_at_act(
        &self,
        work: &mut BrowserWork,
        connected: &BrowserConnection,
        wish: &BrowserRequest,
        leave: &BrowserPermission,
    ) -> Result<AssessedCall, ToolError> {
        let tab = tabs::tab_in_use(work, connected, wish).await?;
        let page = work.attached(connected, &tab).await?;
        // Read before the address: if the page navigates in between, acts on this document are refused.
        let document = page.document();
        let committed = page.committed();
        let address = PageAddress::of_frame(&committed.url, &committed.origin);
        let place = self.place(PageStep::Act, &address);
        let mut found = AssessedCall {
            assessment: BrowserAssessment {
                location: place,
                fingerprint: format!("{} {document}", tab.number),
                ..BrowserAssessment::default()
            },
            tab: Some(tab.clone()),
            document,
            ..AssessedCall::default()
        };
        // No page is inspected before its site is granted; questions about its content follow after that.
        if !self.may_be_at(leave, &address) {
            found.assessment.inspected = InspectionDepth::LocationOnly;
            return Ok(found);
        }
        self.keep_out(work, &[Origin::parse(&committed.origin)]).await?;
        let secrets = self.0.browser.secrets();
        let ground = PageContext { connected, tab: &tab, page: &page, leave };
        let is_read = work.view(tab.number).last().is_some();
        let about = ActContext { session: self, ground, address: &address, secrets, is_read };
        match &wish.action {
            BrowserAction::Dialog(answer) => {
                let dialog = page.dialog().ok_or_else(|| ToolError::new("No dialog is open."))?;
                if let DialogAnswer::Accept(text) = answer {
                    let kind = match dialog.kind {
                        octo_browser::DialogKind::Alert => JudgedDialog::Alert,
                        octo_browser::DialogKind::Confirm => JudgedDialog::Confirm,
                        octo_browser::DialogKind::Prompt => JudgedDialog::Prompt,
                        octo_browser::DialogKind::BeforeUnload => JudgedDialog::BeforeUnload,
                    };
                    let text = text.as_deref().unwrap_or_default();
                    let action = PageAction::AcceptDialog { kind, message: &dialog.message, text };
                    about.judged(&mut found.assessment, work, (&Origin::parse(&dialog.url), None), action);
                    found.assessment.target = Some(PageElement {
                        role: dialog.kind.name().to_owned(),
                        name: dialog.message.clone(),
                    });
                }
                found.assessment.fingerprint.push_str(&format!(" {} {}", dialog.kind.name(), dialog.message));
            }
            BrowserAction::Evaluate { script } => {
                let origin = Origin::parse(&committed.origin);
                about.judged(&mut found.assessment, work, (&origin, None), PageAction::Evaluate);
                found.assessment.fingerprint.push_str(&format!(" {script}"));
            }
            BrowserAction::Download { target } => about.download(work, *target, &mut found).await?,
            BrowserAction::Page(act) => about.act(work, act, &mut found).await?,
            _ => {}
        }
        Ok(found)
    }

    /// Returns an address's destination, and the data it would disclose there.
    fn leads(
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
            loose_fields: None,
            target: ActionTarget::Unknown,
            action: PageAction::Navigate { url },
        };
        let place = self.place(step, address);
        let forbidden =
            matches!(place.as_ref().map(|place| &place.access), Some(LocationAccess::Never { .. }));
        let risks = if forbidden { Vec::new() } else { risks(&judge(&act, &work.read().memory)) };
        BrowserAssessment { location: place, risks, ..BrowserAssessment::default() }
    }

    /// Returns the question for an address, if the turn may not be there yet.
    fn place(&self, step: PageStep, address: &PageAddress) -> Option<octo_tools::BrowserLocation> {
        let entry = match self.grants().check(safety::TabNumber(0), step, address) {
            SiteVerdict::Allowed(_) => LocationAccess::Open,
            SiteVerdict::Refused(why) => LocationAccess::Never { why: why.to_string() },
            SiteVerdict::Ask(question) => match question.longest() {
                GrantLifetime::Always => LocationAccess::Asks,
                GrantLifetime::Task => LocationAccess::AsksEachTurn,
                GrantLifetime::Once => LocationAccess::AsksEachTime,
            },
        };
        let site = name_of(address);
        (entry != LocationAccess::Open || !site.is_empty())
            .then_some(octo_tools::BrowserLocation { site, access: entry })
    }

    fn grants(&self) -> SiteGrants {
        let mut grants = SiteGrants::default();
        for port in self.0.browser.ports() {
            grants.refuse_port(port);
        }
        grants
    }

    /// Returns whether a call with this grant may be where the page is now.
    pub(crate) fn may_be_at(&self, leave: &BrowserPermission, address: &PageAddress) -> bool {
        let (mut grants, tab) = (self.grants(), safety::TabNumber(0));
        let place = leave.assessment.location.iter().map(|place| &place.site);
        let mut allow = |site: &str, shortest: GrantLifetime| {
            if let SiteVerdict::Ask(question) = grants.check(tab, PageStep::Navigate, &PageAddress::of(site))
                && question.longest() >= shortest
            {
                let _kept = grants.allow(tab, question, GrantLifetime::Task);
            }
        };
        // A site that needs a grant each time is granted only to the call that was asked about.
        leave.granted.iter().for_each(|site| allow(site, GrantLifetime::Task));
        place.for_each(|site| allow(site, GrantLifetime::Once));
        match grants.check(tab, PageStep::Commit, address) {
            SiteVerdict::Allowed(_) => true,
            SiteVerdict::Ask(question) => {
                leave.navigation == NavigationScope::Web
                    && matches!(question.kind(), SiteKind::Web | SiteKind::Near)
            }
            SiteVerdict::Refused(_) => false,
        }
    }

    /// Returns a call as shown to the person before it runs: from the assessed state, and without content of a
    /// page that is not granted.
    pub(crate) async fn view(&self, wish: &BrowserRequest) -> Result<BrowserView, ToolError> {
        let assessed = self.work().await.assessed.take();
        let found = match assessed {
            Some((assessed, found)) if assessed == *wish => found,
            _ => self.look(wish, &BrowserPermission::none()).await?,
        };
        let mut view = view_of(wish, &found);
        self.work().await.redact(&mut view);
        // The element is shown as it appears in the page.
        //
        // Not inside the condition, where the lock on the work would be held until the picture, which needs
        // that lock, is taken.
        let page = self.work().await.page.clone();
        if !found.assessment.risks.is_empty()
            && let (Some(place), Some(tab), Some(page)) = (&found.element, &found.tab, page)
        {
            view.picture = loop {
                self.in_hand().await;
                tokio::select! {
                    biased;
                    () = self.taken() => {}
                    picture = self.crop(tab.number, &page, place) => break picture,
                }
            };
        }
        Ok(view)
    }
}
