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
    last_snapshot: Option<Snapshot>,
}

/// The result of locating an element by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedElement {
    /// Its current number, which differs from the requested one if it was found again.
    pub number: u32,
    /// Its location.
    pub node_ref: NodeRef,
    /// Its description from when it was last seen.
    pub identity: NodeIdentity,
    /// The way in which it was found.
    pub method: LocateMethod,
}

/// The way in which an element was found.
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
    #[error("element {number} is gone: {refind_error}")]
    Stale {
        /// The number.
        number: u32,
        /// Its description, if still remembered.
        identity: Option<NodeIdentity>,
        /// The reason why it was not found again.
        refind_error: RefindError,
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
        let capture = page.capture().await?;
        Ok(self.apply_capture(&capture))
    }

    /// Makes a snapshot of a page read with [`Page::capture`], for callers that first check where it was read.
    pub fn apply_capture(&mut self, capture: &PageCapture) -> &Snapshot {
        self.last_snapshot.insert(Snapshot::new(capture, &mut self.refs))
    }

    /// Forgets the newest snapshot, so that the next report is complete. The numbers stay.
    pub fn forget_snapshot(&mut self) {
        self.last_snapshot = None;
    }

    /// Returns the newest snapshot.
    pub fn last_snapshot(&self) -> Option<&Snapshot> {
        self.last_snapshot.as_ref()
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
        let capture = page.capture().await?;
        Ok(self.changes_in(&capture, budget))
    }

    /// Like `changes`, for a page read with [`Page::capture`].
    pub fn changes_in(&mut self, capture: &PageCapture, budget: usize) -> Diff {
        let current = Snapshot::new(capture, &mut self.refs);
        let diff = match &self.last_snapshot {
            Some(previous) => current.diff(previous, budget),
            None => Diff {
                change: crate::snapshot::ChangeExtent::Page,
                text: current.render(budget, crate::snapshot::RenderFilter::default()).text,
            },
        };
        self.last_snapshot = Some(current);
        diff
    }

    /// Returns the element with a number. An element that is gone is searched by its role, name and heading, and accepted
    /// only if exactly one matches.
    ///
    /// # Errors
    ///
    /// [`LocateError`]; after [`LocateError::Stale`] the newest snapshot is the previous one, so that the
    /// current state can be compared with it.
    pub async fn locate(&mut self, page: &Page, number: u32) -> Result<LocatedElement, LocateError> {
        match self.refs.lookup(number) {
            Ok(node_ref) => {
                let node_ref = node_ref.clone();
                if page.is_connected(&node_ref).await? {
                    return Ok(self.located(number, node_ref, LocateMethod::Same));
                }
            }
            Err(RefError::NeverGiven { .. }) => return Err(LocateError::NeverGiven(number)),
            Err(RefError::DocumentGone { .. } | RefError::NodeGone { .. }) => {}
        }
        let identity = self.refs.identity(number).cloned();
        let capture = page.capture().await?;
        let snapshot = Snapshot::new(&capture, &mut self.refs);
        let refound = match self.refs.lookup(number) {
            // The element had left the page only for a moment.
            Ok(_) => Ok(number),
            Err(_) => self.refs.refind(number, &snapshot),
        };
        let refound = refound.map_err(|refind_error| LocateError::Stale {
            number,
            identity: identity.clone(),
            refind_error,
        })?;
        let node_ref = self.refs.lookup(refound).cloned().map_err(|_| LocateError::Stale {
            number,
            identity,
            refind_error: RefindError::Nothing { number },
        })?;
        self.last_snapshot = Some(snapshot);
        let method = if refound == number { LocateMethod::Same } else { LocateMethod::Similar };
        Ok(self.located(refound, node_ref, method))
    }

    fn located(&self, number: u32, node_ref: NodeRef, method: LocateMethod) -> LocatedElement {
        let identity = self.refs.identity(number).cloned().unwrap_or_default();
        LocatedElement { number, node_ref, identity, method }
    }
}
