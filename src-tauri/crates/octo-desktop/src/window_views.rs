//! Tracks the session in each of several windows, and the focused window.

use crate::{Attention, PersonView};
use octo_protocol::{SessionId, WindowNumber};
use std::collections::BTreeMap;

/// The windows' views. The windows show different sessions; the person uses at most one of them.
#[derive(Debug, Default)]
pub struct WindowViews {
    sessions: BTreeMap<WindowNumber, SessionId>,
    focused: Option<WindowNumber>,
    last: WindowNumber,
}

impl WindowViews {
    /// Assigns a number to a window that will open for a session; numbers are never reused.
    pub fn open(&mut self, session: SessionId) -> WindowNumber {
        self.last.0 += 1;
        self.sessions.insert(self.last, session);
        self.last
    }

    /// Records that a window shows another session, or none.
    pub fn show(&mut self, window: WindowNumber, session: Option<SessionId>) {
        match session {
            Some(session) => self.sessions.insert(window, session),
            None => self.sessions.remove(&window),
        };
    }

    /// Records that the person uses this window, or none.
    pub fn focus(&mut self, window: Option<WindowNumber>) {
        self.focused = window;
    }

    /// Records that a window was closed.
    pub fn close(&mut self, window: WindowNumber) {
        self.sessions.remove(&window);
        if self.focused == Some(window) {
            self.focused = None;
        }
    }

    /// Returns the window that shows a session; the newest if there are several.
    pub fn window_of(&self, session: SessionId) -> Option<WindowNumber> {
        self.sessions.iter().rev().find(|(_, viewed)| **viewed == session).map(|(window, _)| *window)
    }

    /// Returns the person's current view. While they are elsewhere, it is the view of the first window.
    pub fn current(&self) -> PersonView {
        let attention = if self.focused.is_some() { Attention::Here } else { Attention::Elsewhere };
        PersonView { attention, session: self.sessions.get(&self.focused.unwrap_or_default()).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attention_follows_the_focused_window() {
        let (first_session, second_session) = (SessionId::new(), SessionId::new());
        let main = WindowNumber::default();
        let mut views = WindowViews::default();
        views.show(main, Some(first_session));
        let unfocused = PersonView { attention: Attention::Elsewhere, session: Some(first_session) };
        assert_eq!(views.current(), unfocused);

        let second = views.open(second_session);
        assert_eq!(
            (views.window_of(first_session), views.window_of(second_session)),
            (Some(main), Some(second))
        );
        views.focus(Some(second));
        assert_eq!(views.current(), PersonView { attention: Attention::Here, session: Some(second_session) });
        // Activity in an unfocused window does not count as seen.
        views.show(main, None);
        assert_eq!(views.current().session, Some(second_session));
        views.show(second, Some(first_session));
        assert_eq!(views.current().session, Some(first_session));
        views.show(main, Some(first_session));
        assert_eq!(views.window_of(first_session), Some(second));

        views.close(second);
        assert_eq!(views.current(), unfocused);
        assert_ne!(views.open(second_session), second);
    }
}
