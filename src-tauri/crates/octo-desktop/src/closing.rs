//! What closing the window does.

use octo_protocol::Closing;

/// Whether Octo can be reached without a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tray {
    /// There is an icon in the tray.
    There,
    /// There is none: a hidden window could not be brought back.
    Missing,
}

/// What happens when the person closes the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseStep {
    /// The page asks.
    Ask,
    /// The window goes, Octo stays.
    Hide,
    /// Octo ends. What runs is kept and goes on with the next start.
    Quit,
}

/// Whether the page can ask, and whether it does already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// It can.
    Ready,
    /// It is asking.
    Asking,
    /// It cannot: it is not there yet, or Octo could not start.
    Away,
    /// Everything of Octo's was deleted: there is nothing to come back to.
    Over,
}

/// What happens when the person closes the window.
///
/// A window is only hidden where it can be brought back, and a person who closes it again while they are asked has
/// answered.
#[must_use]
pub fn on_close(chosen: Closing, tray: Tray, page: Page) -> CloseStep {
    match (tray, chosen, page) {
        (Tray::Missing, _, _) | (Tray::There, Closing::Quit, _) | (Tray::There, _, Page::Over) => {
            CloseStep::Quit
        }
        (Tray::There, Closing::Hide, _) => CloseStep::Hide,
        (Tray::There, Closing::Ask, Page::Ready) => CloseStep::Ask,
        (Tray::There, Closing::Ask, Page::Asking | Page::Away) => CloseStep::Quit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_hidden_only_where_it_can_be_brought_back() {
        for chosen in [Closing::Ask, Closing::Hide, Closing::Quit] {
            for page in [Page::Ready, Page::Asking, Page::Away] {
                assert_eq!(on_close(chosen, Tray::Missing, page), CloseStep::Quit, "{chosen:?} {page:?}");
            }
        }
    }

    #[test]
    fn what_is_over_is_left_whatever_was_chosen() {
        for chosen in [Closing::Ask, Closing::Hide, Closing::Quit] {
            assert_eq!(on_close(chosen, Tray::There, Page::Over), CloseStep::Quit, "{chosen:?}");
        }
    }

    #[test]
    fn the_person_is_asked_once() {
        let there = |chosen, page| on_close(chosen, Tray::There, page);
        assert_eq!(there(Closing::Ask, Page::Ready), CloseStep::Ask);
        assert_eq!(there(Closing::Ask, Page::Asking), CloseStep::Quit, "closed again while asked");
        assert_eq!(there(Closing::Ask, Page::Away), CloseStep::Quit, "nobody can ask");
        for page in [Page::Ready, Page::Asking, Page::Away] {
            assert_eq!(there(Closing::Hide, page), CloseStep::Hide);
            assert_eq!(there(Closing::Quit, page), CloseStep::Quit);
        }
    }
}
