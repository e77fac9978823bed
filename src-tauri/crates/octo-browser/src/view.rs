//! The model's view of a tab: the numbers of its elements and the newest snapshot.

mod draw;
mod picture;

pub use picture::{ElementLabels, ModelPicture, ModelPictureError};

use crate::{
    Page, PageError,
    snapshot::{Diff, NodeIdentity, NodeRef, PageCapture, RefError, RefindError, Refs, Snapshot},
};

/// The model's view of a tab. It outlives an attachment, because the numbers belong to the tab.
#[derive(Debug, Default)]
pub struct TabView {
    refs: Refs,
    last: Option<Snapshot>,
}

/// The result of locating an element by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedElement {
    /// Its current number, which differs from the requested one if it was found again.
    pub number: u32,
    /// Its location.
    pub place: NodeRef,
    /// Its description from when it was last seen.
    pub identity: NodeIdentity,
    /// How it was found.
    pub how: LocateMethod,
}

/// How an element was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocateMethod {
    /// It is the element with that number.
    Same,
    /// That element is gone, and this is the only one with its role, name and heading. The model is informed.
    Similar,
}

/// The reason why no element was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// The number was never assigned.
    #[error("element {0} was never named")]
    NeverGiven(u32),
    /// It is gone, without exactly one match. [`TabView::changes`] returns the changes since the last snapshot.
    #[error("element {number} is gone: {again}")]
    Stale {
        /// The number.
        number: u32,
        /// Its description, if still remembered.
        known: Option<NodeIdentity>,
        /// The reason why it was not found again.
        again: RefindError,
    },
    /// The page cannot be read.
    #[error(transparent)]
    Page(#[from] PageError),
}

impl TabView {
    /// Takes a snapshot of the page as it is now.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn refresh(&mut self, page: &Page) -> Result<&Snapshot, PageError> {
        let captured = page.capture().await?;
        Ok(self.apply_capture(&captured))
    }

    /// Adds a page read with [`Page::capture`], for callers that first check where it was read.
    pub fn apply_capture(&mut self, captured: &PageCapture) -> &Snapshot {
        self.last.insert(Snapshot::new(captured, &mut self.refs))
    }

    /// Forgets the newest snapshot but no numbers: the next report is complete.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// Returns the newest snapshot.
    pub fn last(&self) -> Option<&Snapshot> {
        self.last.as_ref()
    }

    /// Returns the refs assigned.
    pub fn refs(&self) -> &Refs {
        &self.refs
    }

    /// Takes a new snapshot and returns the changes since the last one, in about `budget` estimated tokens.
    /// Without a last snapshot, everything counts as changed.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn changes(&mut self, page: &Page, budget: usize) -> Result<Diff, PageError> {
        let captured = page.capture().await?;
        Ok(self.changes_in(&captured, budget))
    }

    /// Like `changes`, for a page read with [`Page::capture`].
    pub fn changes_in(&mut self, captured: &PageCapture, budget: usize) -> Diff {
        let now = Snapshot::new(captured, &mut self.refs);
        let diff = match &self.last {
            Some(before) => now.diff(before, budget),
            None => Diff {
                change: crate::snapshot::ChangeExtent::Page,
                text: now.render(budget, crate::snapshot::RenderFilter::default()).text,
            },
        };
        self.last = Some(now);
        diff
    }

    /// Returns the element with a number. A gone one is searched by its role, name and heading, and accepted
    /// only if exactly one matches.
    ///
    /// # Errors
    ///
    /// [`LocateError`]; after [`LocateError::Stale`] the newest snapshot is the previous one, so that the
    /// current state can be compared with it.
    pub async fn locate(&mut self, page: &Page, number: u32) -> Result<LocatedElement, LocateError> {
        match self.refs.lookup(number) {
            Ok(place) => {
                let place = place.clone();
                if page.is_connected(&place).await? {
                    return Ok(self.located(number, place, LocateMethod::Same));
                }
            }
            Err(RefError::NeverGiven { .. }) => return Err(LocateError::NeverGiven(number)),
            Err(RefError::DocumentGone { .. } | RefError::NodeGone { .. }) => {}
        }
        let known = self.refs.identity(number).cloned();
        let captured = page.capture().await?;
        let snapshot = Snapshot::new(&captured, &mut self.refs);
        let again = match self.refs.lookup(number) {
            // It was out of the page for a moment.
            Ok(_) => Ok(number),
            Err(_) => self.refs.refind(number, &snapshot),
        };
        let again = again.map_err(|again| LocateError::Stale { number, known: known.clone(), again })?;
        let place = self.refs.lookup(again).cloned().map_err(|_| LocateError::Stale {
            number,
            known,
            again: RefindError::Nothing { number },
        })?;
        self.last = Some(snapshot);
        let how = if again == number { LocateMethod::Same } else { LocateMethod::Similar };
        Ok(self.located(again, place, how))
    }

    fn located(&self, number: u32, place: NodeRef, how: LocateMethod) -> LocatedElement {
        let known = self.refs.identity(number).cloned().unwrap_or_default();
        LocatedElement { number, place, identity: known, how }
    }
}
