//! What closing the window does.

use octo_protocol::{Closing, WayBack};

/// What happens when the person closes the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseStep {
    /// The page asks, and says what would bring the window back.
    Ask(WayBack),
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

/// What happens when the person closes the window; `back` is what would bring a hidden one back, none if nothing would.
///
/// A window is only hidden where it can be brought back, and a person who closes it again while they are asked has
/// answered.
#[must_use]
pub fn on_close(chosen: Closing, back: Option<WayBack>, page: Page) -> CloseStep {
    match (back, chosen, page) {
        (None, _, _) | (_, Closing::Quit, _) | (_, _, Page::Over) => CloseStep::Quit,
        (Some(_), Closing::Hide, _) => CloseStep::Hide,
        (Some(back), Closing::Ask, Page::Ready) => CloseStep::Ask(back),
        (Some(_), Closing::Ask, Page::Asking | Page::Away) => CloseStep::Quit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Closing; 3] = [Closing::Ask, Closing::Hide, Closing::Quit];
    const WAYS: [WayBack; 2] = [WayBack::Tray, WayBack::Start];

    #[test]
    fn a_window_is_hidden_only_where_it_can_be_brought_back() {
        for chosen in ALL {
            for page in [Page::Ready, Page::Asking, Page::Away] {
                assert_eq!(on_close(chosen, None, page), CloseStep::Quit, "{chosen:?} {page:?}");
            }
        }
    }

    #[test]
    fn what_is_over_is_left_whatever_was_chosen() {
        for (chosen, back) in ALL.into_iter().flat_map(|chosen| WAYS.map(|back| (chosen, back))) {
            assert_eq!(on_close(chosen, Some(back), Page::Over), CloseStep::Quit, "{chosen:?} {back:?}");
        }
    }

    #[test]
    fn the_person_is_asked_once_and_told_what_brings_the_window_back() {
        for back in WAYS {
            let close = |chosen, page| on_close(chosen, Some(back), page);
            assert_eq!(close(Closing::Ask, Page::Ready), CloseStep::Ask(back));
            assert_eq!(close(Closing::Ask, Page::Asking), CloseStep::Quit, "closed again while asked");
            assert_eq!(close(Closing::Ask, Page::Away), CloseStep::Quit, "nobody can ask");
            for page in [Page::Ready, Page::Asking, Page::Away] {
                assert_eq!(close(Closing::Hide, page), CloseStep::Hide);
                assert_eq!(close(Closing::Quit, page), CloseStep::Quit);
            }
        }
    }
}
