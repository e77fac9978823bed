//! The elements of an act, and what doing it to them would set off.

use super::Found;
use crate::browsing::{
    card::{line, named_by_page},
    facts, faults,
    risks::risks,
    seat::Work,
};
use octo_browser::{
    Located, Page, Recognition, TabNumber,
    safety::{self, Act, Action, Address, Keys, Origin, Target, judge},
    snapshot::Place,
};
use octo_protocol::PageElement;
use octo_tools::{PageAct, ToolError, Weight};

/// What is weighed of an act in a page.
pub(super) struct About<'a> {
    pub page: &'a Page,
    pub address: &'a Address,
    pub tab: TabNumber,
}

impl About<'_> {
    pub(super) fn judged(
        &self,
        weight: &mut Weight,
        work: &Work,
        facts: Option<&facts::Facts>,
        frame: &Origin,
        action: Action<'_>,
    ) {
        let act = Act {
            page: self.address,
            frame,
            language: facts.and_then(|facts| facts.language.as_deref()),
            loose_fields: facts.and_then(|facts| facts.loose),
            target: facts.map_or(Target::Unknown, |facts| Target::Element(&facts.element)),
            action,
        };
        weight.risks.extend(risks(&judge(&act, &work.memory)));
        weight.risks.dedup();
    }

    /// The element of a number, found again by what it was known by where it is gone and only one is like it.
    pub(super) async fn element(
        &self,
        work: &mut Work,
        number: u32,
        found: &mut Found,
    ) -> Result<(Place, Option<facts::Facts>), ToolError> {
        let located = work.view(self.tab).locate(self.page, number).await;
        let Located { number: again, place, known, how } =
            located.map_err(|error| faults::not_found(&error))?;
        if how == Recognition::Alike {
            found.note = Some(format!(
                "(Element {number} was gone; {again}, the only one of the same kind, name and place, was taken.)"
            ));
        }
        let facts =
            facts::of(self.page, &place, &known.role, &known.name).await.map_err(|error| match error {
                octo_browser::PageError::Call(octo_browser::CallError::Refused { .. }) => {
                    ToolError::new(format!("Element {number} is gone. Take a snapshot; nothing was done."))
                }
                error => faults::fault(&error),
            })?;
        found.weight.target = Some(PageElement { role: known.role, name: line(&known.name) });
        found.weight.mark.push_str(&format!(" {}:{}:{}", place.document.0, place.session, place.node));
        Ok((place, facts))
    }

    pub(super) async fn act(
        &self,
        work: &mut Work,
        act: &PageAct,
        found: &mut Found,
    ) -> Result<(), ToolError> {
        let plain = |action: Action<'static>| action;
        match act {
            PageAct::Click(target) | PageAct::DoubleClick(target) => {
                self.on(work, *target, plain(Action::Click), found).await
            }
            PageAct::Hover(target) => self.on(work, *target, plain(Action::Hover), found).await,
            PageAct::Select(target, _) => self.on(work, *target, plain(Action::Select), found).await,
            PageAct::Type(target, text) | PageAct::Fill(target, text) => {
                let holds_secret = safety::pieces(text).map_or(true, |pieces| {
                    pieces.iter().any(|piece| matches!(piece, safety::Piece::Secret(_)))
                });
                if holds_secret {
                    return Err(ToolError::new(
                        "No secrets are set up to be typed by name. Ask the person to type it themselves: they can take the page over.",
                    ));
                }
                self.on(work, *target, Action::Type { text, keys: Keys::Inserted }, found).await
            }
            PageAct::Press(Some(target), key) => self.on(work, *target, Action::Press { key }, found).await,
            PageAct::Press(None, key) => {
                let facts = facts::of_focus(self.page).await.map_err(|error| faults::fault(&error))?;
                let frame = Origin::read(&self.page.origin());
                self.judged(&mut found.weight, work, facts.as_ref(), &frame, Action::Press { key });
                if let Some(facts) = facts {
                    found.weight.target = Some(named_by_page(&facts.element));
                }
                Ok(())
            }
            PageAct::Upload(target, files) => {
                let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
                self.on(work, *target, Action::Upload { files: &files }, found).await
            }
            PageAct::Drag(from, to) => {
                let (onto, onto_facts) = self.element(work, *to, found).await?;
                let (place, facts) = self.element(work, *from, found).await?;
                let target =
                    onto_facts.as_ref().map_or(Target::Unknown, |facts| Target::Element(&facts.element));
                let frame = Origin::read(&place.origin);
                self.judged(&mut found.weight, work, facts.as_ref(), &frame, Action::Drag { onto: target });
                (found.element, found.onto) = (Some(place), Some(onto));
                Ok(())
            }
            PageAct::ClickAt(x, y) => {
                let place = self.page.place_at(*x, *y).await.map_err(|_| {
                    ToolError::new("Nothing can be pressed at that point of what is seen of the page.")
                })?;
                let facts =
                    facts::of(self.page, &place, "", "").await.map_err(|error| faults::fault(&error))?;
                found.weight.mark.push_str(&format!(" {}:{}", place.document.0, place.node));
                found.weight.target = facts.as_ref().map(|facts| named_by_page(&facts.element));
                let frame = Origin::read(&place.origin);
                self.judged(&mut found.weight, work, facts.as_ref(), &frame, Action::Click);
                found.element = Some(place);
                Ok(())
            }
            PageAct::Scroll(octo_tools::Scrolled::To(target)) => {
                self.on(work, *target, plain(Action::Scroll), found).await
            }
            PageAct::Scroll(_) | PageAct::Wait(_) => Ok(()),
        }
    }

    async fn on(
        &self,
        work: &mut Work,
        target: u32,
        action: Action<'_>,
        found: &mut Found,
    ) -> Result<(), ToolError> {
        let (place, facts) = self.element(work, target, found).await?;
        self.judged(&mut found.weight, work, facts.as_ref(), &Origin::read(&place.origin), action);
        found.element = Some(place);
        Ok(())
    }
}
