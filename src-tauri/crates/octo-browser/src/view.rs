//! What was shown of a tab: the numbers of its elements and the newest snapshot.

mod draw;
mod shot;

pub use shot::{Boxes, Shot, ShotError};

use crate::{
    Page, PageError,
    snapshot::{AgainError, Captured, Diff, Known, Place, RefError, Refs, Snapshot},
};

/// What was shown of a tab. It outlives being attached, for the numbers are the tab's.
#[derive(Debug, Default)]
pub struct View {
    refs: Refs,
    last: Option<Snapshot>,
}

/// Where the element of a number is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The number it has now: another one than was asked for where it was found again.
    pub number: u32,
    /// Where.
    pub place: Place,
    /// What it was known by when it was last seen.
    pub known: Known,
    /// How it was found.
    pub how: Recognition,
}

/// How an element was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognition {
    /// It is the one of the number.
    Same,
    /// That one is gone, and this is the only one of its role, name and heading. The model is told.
    Alike,
}

/// Why no element was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// The number was never given.
    #[error("element {0} was never named")]
    NeverGiven(u32),
    /// It is gone, and there is not exactly one like it. What changed since the last look is in [`View::changes`].
    #[error("element {number} is gone: {again}")]
    Stale {
        /// The number.
        number: u32,
        /// What it was known by, if that is remembered.
        known: Option<Known>,
        /// Why it was not found again.
        again: AgainError,
    },
    /// The page cannot be looked at.
    #[error(transparent)]
    Page(#[from] PageError),
}

impl View {
    /// Looks at the page as it is now.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn look(&mut self, page: &Page) -> Result<&Snapshot, PageError> {
        let captured = page.capture().await?;
        Ok(self.take(&captured))
    }

    /// Takes in a page that was read with [`Page::capture`], for those who first look at where it was read.
    pub fn take(&mut self, captured: &Captured) -> &Snapshot {
        self.last.insert(Snapshot::new(captured, &mut self.refs))
    }

    /// Forgets the newest snapshot, and no number: what is told next is told whole.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// The newest snapshot.
    pub fn last(&self) -> Option<&Snapshot> {
        self.last.as_ref()
    }

    /// The numbers that were given.
    pub fn refs(&self) -> &Refs {
        &self.refs
    }

    /// Looks again and says what changed since the last look, in about `budget` estimated tokens. Without a last
    /// look, everything did.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn changes(&mut self, page: &Page, budget: usize) -> Result<Diff, PageError> {
        let captured = page.capture().await?;
        Ok(self.changes_to(&captured, budget))
    }

    /// The same for a page that was read with [`Page::capture`].
    pub fn changes_to(&mut self, captured: &Captured, budget: usize) -> Diff {
        let now = Snapshot::new(captured, &mut self.refs);
        let diff = match &self.last {
            Some(before) => now.diff(before, budget),
            None => Diff {
                change: crate::snapshot::Change::Page,
                text: now.render(budget, crate::snapshot::Filter::default()).text,
            },
        };
        self.last = Some(now);
        diff
    }

    /// The element of a number. One that is gone is looked for by its role, name and heading, and taken only where
    /// exactly one is like it.
    ///
    /// # Errors
    ///
    /// [`LocateError`]; after [`LocateError::Stale`] the newest snapshot is the one it was, for what is there now to
    /// be told against it.
    pub async fn locate(&mut self, page: &Page, number: u32) -> Result<Located, LocateError> {
        match self.refs.lookup(number) {
            Ok(place) => {
                let place = place.clone();
                if page.is_there(&place).await? {
                    return Ok(self.located(number, place, Recognition::Same));
                }
            }
            Err(RefError::NeverGiven { .. }) => return Err(LocateError::NeverGiven(number)),
            Err(RefError::DocumentGone { .. } | RefError::NodeGone { .. }) => {}
        }
        let known = self.refs.known(number).cloned();
        let captured = page.capture().await?;
        let snapshot = Snapshot::new(&captured, &mut self.refs);
        let again = match self.refs.lookup(number) {
            // It was out of the page for a moment.
            Ok(_) => Ok(number),
            Err(_) => self.refs.again(number, &snapshot),
        };
        let again = again.map_err(|again| LocateError::Stale { number, known: known.clone(), again })?;
        let place = self.refs.lookup(again).cloned().map_err(|_| LocateError::Stale {
            number,
            known,
            again: AgainError::Nothing { number },
        })?;
        self.last = Some(snapshot);
        let how = if again == number { Recognition::Same } else { Recognition::Alike };
        Ok(self.located(again, place, how))
    }

    fn located(&self, number: u32, place: Place, how: Recognition) -> Located {
        let known = self.refs.known(number).cloned().unwrap_or_default();
        Located { number, place, known, how }
    }
}
