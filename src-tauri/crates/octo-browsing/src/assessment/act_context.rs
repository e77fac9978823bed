//! The elements of an act, and its consequences for them.

use super::AssessedCall;
use crate::{
    BrowserSession,
    acting::PageContext,
    browser_session::BrowserWork,
    card::named_by_page,
    facts::{self, ElementFacts},
    faults,
    risks::risks,
    secrets::{JudgedText, PersonSecrets},
};
use octo_browser::{
    CallError, LocateError, LocateMethod, LocatedElement, PageError, is_known_key,
    safety::{
        ActionContext, ActionTarget, Origin, PageAction, PageAddress, SensitiveData, TypingMode, judge,
    },
    snapshot::NodeRef,
};
use octo_protocol::{PageElement, PageRisk};
use octo_tools::{BrowserAssessment, PageInteraction, ToolError};

/// Context for assessing an act in a page.
pub(super) struct ActContext<'a> {
    pub session: &'a BrowserSession,
    pub page_context: PageContext<'a>,
    pub address: &'a PageAddress,
    pub secrets: &'a PersonSecrets,
    /// Whether the model has read the page in this state.
    pub is_read: bool,
}

/// The effect of written text on a field's existing content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldEdit {
    /// The text is appended to it.
    Append,
    /// The text replaces it.
    Replace,
}

/// An element that was inspected, with its facts.
pub(super) type InspectedElement = (NodeRef, Option<ElementFacts>);

impl ActContext<'_> {
    /// Adds the consequences of an action. If the person must be asked, the fingerprint covers all
    /// facts that the question is based on.
    pub(super) fn add_consequences(
        &self,
        assessment: &mut BrowserAssessment,
        work: &BrowserWork,
        (frame, facts): (&Origin, Option<(&NodeRef, &ElementFacts)>),
        action: PageAction<'_>,
    ) {
        let sensitive_data = facts.and_then(|(node_ref, facts)| {
            facts
                .outside_forms
                .into_iter()
                .chain(self.sensitive_data_elsewhere(work, node_ref, &facts.in_document))
                .min()
        });
        let act = ActionContext {
            page: self.address,
            frame,
            language: facts.and_then(|(_, facts)| facts.language.as_deref()),
            fields_outside_forms: sensitive_data,
            target: facts.map_or(ActionTarget::Unknown, |(_, facts)| ActionTarget::Element(&facts.element)),
            action,
        };
        let new_risks = risks(&judge(&act, &work.read_texts().memory));
        if new_risks.is_empty() {
            return;
        }
        if let Some((_, facts)) = facts {
            assessment.fingerprint.push_str(&format!(" {}", facts.fingerprint()));
        }
        for risk in new_risks {
            if !assessment.risks.contains(&risk) {
                assessment.risks.push(risk);
            }
        }
    }

    /// Returns the kinds of sensitive data that fields outside the element's own document ask for: in frames,
    /// above all of payment providers, and in shadow roots that the document cannot see.
    fn sensitive_data_elsewhere(
        &self,
        work: &BrowserWork,
        node_ref: &NodeRef,
        requested: &[SensitiveData],
    ) -> Vec<SensitiveData> {
        let Some(snapshot) =
            work.views.get(&self.page_context.tab.number).and_then(octo_browser::TabView::last_snapshot)
        else {
            return Vec::new();
        };
        let data_elsewhere = snapshot
            .requested_data()
            .filter(|(frame, sensitive)| *frame != node_ref.frame || !requested.contains(sensitive))
            .map(|(_, sensitive)| sensitive);
        data_elsewhere.collect()
    }

    /// Returns the element with a number. For an element that is gone, the only similar one is returned, if there is
    /// exactly one.
    pub(super) async fn element(
        &self,
        work: &mut BrowserWork,
        number: u32,
        assessed: &mut AssessedCall,
        chosen: &[String],
    ) -> Result<InspectedElement, ToolError> {
        let located = work.view(self.page_context.tab.number).locate(self.page_context.page, number).await;
        let LocatedElement { number: current, node_ref, identity, method } = match located {
            Ok(located) => located,
            Err(error @ LocateError::Stale { .. }) => {
                return Err(self.gone_error(work, &faults::not_found(&error).text).await);
            }
            Err(error) => return Err(faults::not_found(&error)),
        };
        if method == LocateMethod::Similar {
            assessed.remark = Some(format!(
                "(Element {number} was gone; {current}, the only one of the same kind, name and place, was taken.)"
            ));
        }
        let facts = facts::inspect_element(
            self.page_context.page,
            &node_ref,
            (&identity.role, &identity.name),
            chosen,
        )
        .await;
        let facts = match facts {
            Ok(facts) => facts,
            Err(PageError::Call(CallError::Refused { .. })) => {
                return Err(self
                    .gone_error(work, &format!("Element {number} is gone; nothing was done."))
                    .await);
            }
            Err(error) => return Err(faults::fault(&error)),
        };
        assessed.assessment.target = Some(PageElement { role: identity.role, name: identity.name });
        assessed
            .assessment
            .fingerprint
            .push_str(&format!(" {}:{}:{}", node_ref.document.0, node_ref.session, node_ref.node));
        Ok((node_ref, facts))
    }

    /// Builds the error for a gone element, with the current page. The comparison is with the last snapshot the
    /// model read, since an unread one would show no changes.
    async fn gone_error(&self, work: &mut BrowserWork, message: &str) -> ToolError {
        if !self.is_read {
            work.view(self.page_context.tab.number).forget_snapshot();
        }
        self.session.gone_error(work, &self.page_context, message).await
    }

    pub(super) async fn assess_interaction(
        &self,
        work: &mut BrowserWork,
        act: &PageInteraction,
        assessed: &mut AssessedCall,
    ) -> Result<(), ToolError> {
        if let PageInteraction::Press(_, key) = act
            && !is_known_key(key)
        {
            return Err(ToolError::new(format!("Not done: {}.", octo_browser::UnsupportedAct::UnknownKey)));
        }
        // The other frames' fields are known only from a snapshot of the page.
        if work.view(self.page_context.tab.number).last_snapshot().is_none()
            && !matches!(act, PageInteraction::Scroll(_) | PageInteraction::Wait(_))
        {
            work.view(self.page_context.tab.number)
                .refresh(self.page_context.page)
                .await
                .map_err(|error| faults::fault(&error))?;
        }
        match act {
            PageInteraction::Click(target) | PageInteraction::DoubleClick(target) => {
                self.assess_actions(work, *target, &[PageAction::Click], assessed).await
            }
            PageInteraction::Hover(target) => {
                self.assess_actions(work, *target, &[PageAction::Hover], assessed).await
            }
            PageInteraction::Select(target, values) => {
                self.assess_choice(work, *target, values, assessed).await
            }
            PageInteraction::Type(target, text) => {
                self.assess_text(work, *target, text, FieldEdit::Append, assessed).await
            }
            PageInteraction::Fill(target, text) => {
                self.assess_text(work, *target, text, FieldEdit::Replace, assessed).await
            }
            PageInteraction::Press(Some(target), key) => {
                self.assess_actions(work, *target, &[PageAction::Press { key }], assessed).await
            }
            PageInteraction::Press(None, key) => self.assess_key_at_focus(work, key, assessed).await,
            PageInteraction::Upload(target, files) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                // Resolved now: a link with another target by then is another file.
                assessed.assessment.fingerprint.push_str(&format!(" {files:?}"));
                // An element other than a file field is clicked, to make it ask for files.
                self.assess_actions(
                    work,
                    *target,
                    &[PageAction::Upload { files: &files }, PageAction::Click],
                    assessed,
                )
                .await
            }
            PageInteraction::Drag(from, to) => {
                let (destination, onto_facts) = self.element(work, *to, assessed, &[]).await?;
                let (source, facts) = self.element(work, *from, assessed, &[]).await?;
                let target = onto_facts
                    .as_ref()
                    .map_or(ActionTarget::Unknown, |facts| ActionTarget::Element(&facts.element));
                if let Some(facts) = &onto_facts {
                    assessed.assessment.fingerprint.push_str(&format!(" {}", facts.fingerprint()));
                }
                let subject = (&Origin::parse(&source.origin), facts.as_ref().map(|facts| (&source, facts)));
                self.add_consequences(
                    &mut assessed.assessment,
                    work,
                    subject,
                    PageAction::Drag { drop_target: target },
                );
                (assessed.element, assessed.drop_target) = (Some(source), Some(destination));
                Ok(())
            }
            PageInteraction::ClickAt(x, y) => self.assess_click_at(work, (*x, *y), assessed).await,
            PageInteraction::Scroll(octo_tools::RequestedScroll::To(target)) => {
                self.assess_actions(work, *target, &[PageAction::Scroll], assessed).await
            }
            PageInteraction::Scroll(_) | PageInteraction::Wait(_) => Ok(()),
        }
    }

    /// Judges all actions that one act performs on an element, the most serious first.
    pub(super) async fn assess_actions(
        &self,
        work: &mut BrowserWork,
        target: u32,
        actions: &[PageAction<'_>],
        assessed: &mut AssessedCall,
    ) -> Result<(), ToolError> {
        let (node_ref, facts) = self.element(work, target, assessed, &[]).await?;
        let subject = (&Origin::parse(&node_ref.origin), facts.as_ref().map(|facts| (&node_ref, facts)));
        for action in actions {
            self.add_consequences(&mut assessed.assessment, work, subject, *action);
        }
        assessed.element = Some(node_ref);
        Ok(())
    }

    /// Judges a download: a click on the offering element, with any other effect of that click.
    pub(super) async fn assess_download(
        &self,
        work: &mut BrowserWork,
        target: u32,
        assessed: &mut AssessedCall,
    ) -> Result<(), ToolError> {
        let (node_ref, facts) = self.element(work, target, assessed, &[]).await?;
        let subject = (&Origin::parse(&node_ref.origin), facts.as_ref().map(|facts| (&node_ref, facts)));
        let name = facts.as_ref().and_then(|facts| facts.element.download.as_deref()).unwrap_or_default();
        for action in [PageAction::Click, PageAction::Download { name }] {
            self.add_consequences(&mut assessed.assessment, work, subject, action);
        }
        assessed.element = Some(node_ref);
        Ok(())
    }

    async fn assess_choice(
        &self,
        work: &mut BrowserWork,
        target: u32,
        values: &[String],
        assessed: &mut AssessedCall,
    ) -> Result<(), ToolError> {
        let (node_ref, facts) = self.element(work, target, assessed, values).await?;
        let subject = (&Origin::parse(&node_ref.origin), facts.as_ref().map(|facts| (&node_ref, facts)));
        let options = facts.as_ref().map(|facts| facts.options.clone()).unwrap_or_default();
        self.add_consequences(
            &mut assessed.assessment,
            work,
            subject,
            PageAction::Select { options: &options },
        );
        assessed.element = Some(node_ref);
        Ok(())
    }

    async fn assess_text(
        &self,
        work: &mut BrowserWork,
        target: u32,
        text: &str,
        edit: FieldEdit,
        assessed: &mut AssessedCall,
    ) -> Result<(), ToolError> {
        let (node_ref, facts) = self.element(work, target, assessed, &[text.to_owned()]).await?;
        let JudgedText { text, releases } =
            self.secrets.release(self.page_context.page, &node_ref, facts.as_ref(), text)?;
        let text = text.as_str();
        if !releases.is_empty() {
            // Asked every time, in every mode: the page's later behaviour does not show who typed it.
            assessed.assessment.risks.push(PageRisk::Password);
            if let Some(facts) = &facts {
                assessed.assessment.fingerprint.push_str(&format!(" {}", facts.fingerprint()));
            }
        }
        assessed.releases = releases.into();
        let subject = (&Origin::parse(&node_ref.origin), facts.as_ref().map(|facts| (&node_ref, facts)));
        // A native list is filled by choosing an option.
        if edit == FieldEdit::Replace
            && let Some(facts) = facts.as_ref().filter(|facts| facts.element.tag == "select")
        {
            self.add_consequences(
                &mut assessed.assessment,
                work,
                subject,
                PageAction::Select { options: &facts.options },
            );
        }
        let content = facts.as_ref().map(|facts| facts.element.content.as_str()).unwrap_or_default();
        let mut candidates = vec![text.to_owned()];
        if edit == FieldEdit::Append && !content.is_empty() {
            // Judge the text together with the existing content: a text may be written in pieces.
            candidates.extend([format!("{content} {text}"), format!("{content}{text}")]);
        }
        for text in &candidates {
            self.add_consequences(
                &mut assessed.assessment,
                work,
                subject,
                PageAction::Type { text, mode: TypingMode::Insertion },
            );
        }
        assessed.element = Some(node_ref);
        Ok(())
    }

    /// Judges a key at the focus: the focused element is judged, and the key is sent to no other.
    async fn assess_key_at_focus(
        &self,
        work: &BrowserWork,
        key: &str,
        assessed: &mut AssessedCall,
    ) -> Result<(), ToolError> {
        let focused = self.page_context.page.focused().await.map_err(|error| faults::fault(&error))?;
        let Some(node_ref) = focused else {
            let no_element = (&Origin::parse(&self.page_context.page.origin()), None);
            self.add_consequences(&mut assessed.assessment, work, no_element, PageAction::Press { key });
            return Ok(());
        };
        let facts = facts::inspect_element(self.page_context.page, &node_ref, ("", ""), &[]).await;
        let facts = facts.map_err(|error| faults::fault(&error))?;
        let subject = (
            &Origin::parse(&self.page_context.page.origin()),
            facts.as_ref().map(|facts| (&node_ref, facts)),
        );
        self.add_consequences(&mut assessed.assessment, work, subject, PageAction::Press { key });
        assessed.assessment.fingerprint.push_str(&format!(" {}:{}", node_ref.document.0, node_ref.node));
        // Without a focused element the body has the focus, which is not worth showing.
        let shown_facts =
            facts.as_ref().filter(|facts| !matches!(facts.element.tag.as_str(), "body" | "html"));
        if let Some(facts) = shown_facts {
            assessed.assessment.target = Some(named_by_page(&facts.element));
            assessed.element = Some(node_ref.clone());
        }
        assessed.focus = Some(node_ref);
        Ok(())
    }

    async fn assess_click_at(
        &self,
        work: &BrowserWork,
        (x, y): (f64, f64),
        assessed: &mut AssessedCall,
    ) -> Result<(), ToolError> {
        let node_ref = self.page_context.page.element_at(x, y).await.map_err(|_| {
            ToolError::new("Nothing can be pressed at that point of what is seen of the page.")
        })?;
        let facts = facts::inspect_element(self.page_context.page, &node_ref, ("", ""), &[]).await;
        let facts = facts.map_err(|error| faults::fault(&error))?;
        assessed.assessment.fingerprint.push_str(&format!(" {}:{}", node_ref.document.0, node_ref.node));
        assessed.assessment.target = facts.as_ref().map(|facts| named_by_page(&facts.element));
        // An element without any text could do anything: the act was given only a point.
        let described = facts.as_ref().filter(|facts| !facts.is_unlabelled());
        let subject = (&Origin::parse(&node_ref.origin), described.map(|facts| (&node_ref, facts)));
        self.add_consequences(&mut assessed.assessment, work, subject, PageAction::Click);
        assessed.element = Some(node_ref);
        Ok(())
    }
}
