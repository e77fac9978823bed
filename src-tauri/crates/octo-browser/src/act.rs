//! What is done to a page: real input events, at places that were scrolled to and found not to be covered.

mod capture;
mod choose;
mod chooser;
mod drag;
mod error;
mod keys;
mod nodes;
mod overlay;
mod place;
mod pointer;
mod press;
mod settle;
mod spot;
mod text;
mod upload;
mod wait;
mod wheel;
mod write;

pub use error::{ActError, Cover, Unfit};
pub use keys::knows_key;
pub(crate) use keys::{HeldKeys, Stroke};
pub use overlay::Audience;
pub use settle::{Came, Loading, Settling};
pub use spot::Spot;

use crate::{Page, PageError, snapshot::Place};
use chooser::Chooser;
use place::session;
use settle::Patience;
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};
use tokio::sync::broadcast::error::RecvError;

/// How long a page may take to answer a question, or to take an input.
const LIMIT: Duration = Duration::from_secs(5);

/// The world of scripts that look and measure: the page's own scripts neither see it nor change it.
const WORLD: &str = "octo";

/// Something to do. Elements are where a [`crate::View`] or [`crate::snapshot::Refs`] says they are.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Pressed once.
    Click(Place),
    /// Pressed twice.
    DoubleClick(Place),
    /// Text is added to what a field holds.
    Type(Place, String),
    /// Text replaces what a field holds. Dates and times are written as `2026-11-22` and `09:30`, colours as
    /// `#rrggbb`, boxes that are ticked as `true` and `false`.
    Fill(Place, String),
    /// A key or a shortcut, `Enter` or `Control+A`, in an element or where the focus is. `Mod` is the key that the
    /// system's shortcuts use: Command on a Mac, Control elsewhere.
    Press(Option<Place>, String),
    /// A key where the focus is, as long as that is this element: a page can move it while the key is decided on.
    PressAtFocus(Place, String),
    /// The pointer rests on it.
    Hover(Place),
    /// The first is dragged onto the second.
    Drag(Place, Place),
    /// Options of a native list are chosen by what they say or by their values.
    Select(Place, Vec<String>),
    /// Something is moved into view.
    Scroll(Scroll),
    /// Something is waited for.
    Wait(Wait),
    /// A point is pressed, in CSS pixels of what is seen of the page, as long as this element or a part of it is
    /// there once the pointer is.
    ClickAt(Place, f64, f64),
    /// Files are given to a field, or to the button that asks for them. Whoever calls has checked them.
    Upload(Place, Vec<PathBuf>),
}

impl Act {
    /// The element that it is done to first.
    fn place(&self) -> Option<&Place> {
        match self {
            Self::Click(place)
            | Self::DoubleClick(place)
            | Self::Type(place, _)
            | Self::Fill(place, _)
            | Self::Press(Some(place), _)
            | Self::PressAtFocus(place, _)
            | Self::Hover(place)
            | Self::Drag(place, _)
            | Self::Select(place, _)
            | Self::Scroll(Scroll::To(place) | Scroll::By(Some(place), ..))
            | Self::ClickAt(place, ..)
            | Self::Upload(place, _) => Some(place),
            Self::Press(None, _) | Self::Scroll(Scroll::ToText(_) | Scroll::By(None, ..)) | Self::Wait(_) => {
                None
            }
        }
    }

    /// Whether it presses something, which may ask for files.
    fn presses(&self) -> bool {
        match self {
            Self::Click(_)
            | Self::DoubleClick(_)
            | Self::ClickAt(..)
            | Self::Press(..)
            | Self::PressAtFocus(..) => true,
            Self::Type(..)
            | Self::Fill(..)
            | Self::Hover(_)
            | Self::Drag(..)
            | Self::Select(..)
            | Self::Scroll(_)
            | Self::Wait(_)
            | Self::Upload(..) => false,
        }
    }
}

/// What is scrolled.
#[derive(Clone, Debug, PartialEq)]
pub enum Scroll {
    /// The page, until an element is seen.
    To(Place),
    /// The page, until a text is seen.
    ToText(String),
    /// The page, or what scrolls at an element, by so many CSS pixels to the right and downwards.
    By(Option<Place>, f64, f64),
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A text to be seen, for ten seconds at most.
    Text(String),
    /// A text to be seen no more, for ten seconds at most.
    Gone(String),
    /// This time, thirty seconds at most.
    Time(Duration),
}

/// How an act was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As a person would: by the mouse and the keyboard.
    Input,
    /// A value was set and the page was told, where no input of a person can be made: dates, colours, native lists.
    Set,
    /// Nothing had to be done.
    Nothing,
}

/// What came of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// How it was done.
    pub way: Way,
    /// What the page did then.
    pub came: Came,
    /// How long the page was given to answer, which is its own time and no part of the act.
    pub waited: Duration,
}

impl Page {
    /// Does something and waits for a moment until the page has taken it in.
    ///
    /// A dialog that the act opens is no error but [`Came::Dialog`]. Dropping the future leaves no button pressed.
    ///
    /// # Errors
    ///
    /// [`ActError`]. Nothing was done where it is about the element; after [`ActError::Page`] and
    /// [`ActError::Left`] it may have been.
    pub async fn perform(&self, act: &Act, audience: Audience) -> Result<Done, ActError> {
        self.perform_in(&self.document(), act, audience).await
    }

    /// The same for a document that was looked at before: no input goes to another one. A wait, which touches
    /// nothing, goes on through pages.
    ///
    /// # Errors
    ///
    /// As [`Self::perform`]; [`ActError::Left`] where the page shows another document already.
    pub async fn perform_in(&self, document: &str, act: &Act, audience: Audience) -> Result<Done, ActError> {
        if let Some(dialog) = self.dialog() {
            return Err(ActError::Page(PageError::Dialog(dialog)));
        }
        let mut events = self.events();
        let touches = !matches!(act, Act::Wait(_));
        let left = async {
            while self.document() == document {
                if let Err(RecvError::Closed) = events.recv().await {
                    std::future::pending::<()>().await;
                }
            }
        };
        let settling = self.settling();
        let pressed_in = || act.place().map_or_else(|| self.session().clone(), session);
        let mut chooser = act.presses().then(|| Chooser::held_back(self, pressed_in()));
        // Together, and what watches first: the page takes it in before any input.
        let doing = async {
            let watching = async { self.begin_watching(act.place()).await.map_err(ActError::from) };
            tokio::try_join!(biased; watching, self.carry_out(act, audience))
        };
        let done = tokio::select! {
            biased;
            () = left, if touches => Err(ActError::Left),
            done = doing => done,
        };
        self.let_nodes_go(act.place());
        let (mut watch, way) = match done {
            Ok(done) => done,
            Err(ActError::Page(PageError::Dialog(dialog))) => {
                return Ok(Done { way: Way::Input, came: Came::Dialog(dialog), waited: Duration::ZERO });
            }
            Err(error) => return Err(error),
        };
        let done = Instant::now();
        let came = match way {
            Way::Nothing => Came::Stayed,
            Way::Input | Way::Set => settling.settled(Patience::with(act), &mut watch).await?,
        };
        let asks =
            matches!(came, Came::Stayed | Came::Moved) && chooser.as_mut().is_some_and(Chooser::has_asked);
        let came = if asks { Came::AsksForFiles } else { came };
        Ok(Done { way, came, waited: done.elapsed() })
    }

    async fn carry_out(&self, act: &Act, audience: Audience) -> Result<Way, ActError> {
        match act {
            Act::Click(place) => self.click(place, 1, audience).await,
            Act::DoubleClick(place) => self.click(place, 2, audience).await,
            Act::Type(place, text) => self.type_text(place, text, audience).await,
            Act::Fill(place, text) => self.fill(place, text, audience).await,
            Act::Press(place, key) => self.press(place.as_ref(), key, audience).await,
            Act::Hover(place) => self.hover(place, audience).await,
            Act::Drag(from, to) => self.drag(from, to, audience).await,
            Act::Select(place, values) => self.select(place, values, audience).await,
            Act::Scroll(scroll) => self.scroll(scroll, audience).await,
            Act::Wait(wait) => self.wait(wait).await,
            Act::PressAtFocus(place, key) => self.press_at_focus(place, key).await,
            Act::ClickAt(place, x, y) => self.click_at(place, (*x, *y), audience).await,
            Act::Upload(place, files) => self.upload(place, files, audience).await,
        }
    }
}
