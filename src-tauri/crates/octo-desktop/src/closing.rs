//! Decides the effect of closing the window.

use octo_protocol::{CloseAction, WindowRecovery};

/// Effect of closing the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseStep {
    /// The page asks, and explains how to bring the window back.
    Ask(WindowRecovery),
    /// The window is hidden, Octo keeps running.
    Hide,
    /// Octo quits. Running work is stored and continues at the next start.
    Quit,
}

/// Whether the page can ask, or already asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageReadiness {
    /// It can.
    Ready,
    /// It is asking.
    Asking,
    /// It cannot: it is not loaded yet, or Octo could not start.
    Unavailable,
    /// All of Octo's data was deleted: there is nothing to return to.
    Deleted,
}

/// Decides the effect of closing the window; `recovery` is how to bring a hidden one back, `None` if impossible.
///
/// A window is only hidden if it can be brought back, and a person who closes it again during the question has
/// answered it.
#[must_use]
pub fn on_close(action: CloseAction, recovery: Option<WindowRecovery>, page: PageReadiness) -> CloseStep {
    match (recovery, action, page) {
        (None, _, _) | (_, CloseAction::Quit, _) | (_, _, PageReadiness::Deleted) => CloseStep::Quit,
        (Some(_), CloseAction::Hide, _) => CloseStep::Hide,
        (Some(recovery), CloseAction::Ask, PageReadiness::Ready) => CloseStep::Ask(recovery),
        (Some(_), CloseAction::Ask, PageReadiness::Asking | PageReadiness::Unavailable) => CloseStep::Quit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CloseAction; 3] = [CloseAction::Ask, CloseAction::Hide, CloseAction::Quit];
    const RECOVERIES: [WindowRecovery; 2] = [WindowRecovery::Tray, WindowRecovery::Start];

    #[test]
    fn a_window_is_hidden_only_if_it_can_be_restored() {
        for action in ALL {
            for page in [PageReadiness::Ready, PageReadiness::Asking, PageReadiness::Unavailable] {
                assert_eq!(on_close(action, None, page), CloseStep::Quit, "{action:?} {page:?}");
            }
        }
    }

    #[test]
    fn a_deleted_home_quits_despite_the_setting() {
        for (action, recovery) in
            ALL.into_iter().flat_map(|action| RECOVERIES.map(|recovery| (action, recovery)))
        {
            assert_eq!(
                on_close(action, Some(recovery), PageReadiness::Deleted),
                CloseStep::Quit,
                "{action:?} {recovery:?}"
            );
        }
    }

    #[test]
    fn the_person_is_asked_once_and_told_what_brings_the_window_back() {
        for recovery in RECOVERIES {
            let close = |action, page| on_close(action, Some(recovery), page);
            assert_eq!(close(CloseAction::Ask, PageReadiness::Ready), CloseStep::Ask(recovery));
            assert_eq!(
                close(CloseAction::Ask, PageReadiness::Asking),
                CloseStep::Quit,
                "closed again while asked"
            );
            assert_eq!(
                close(CloseAction::Ask, PageReadiness::Unavailable),
                CloseStep::Quit,
                "nobody can ask"
            );
            for page in [PageReadiness::Ready, PageReadiness::Asking, PageReadiness::Unavailable] {
                assert_eq!(close(CloseAction::Hide, page), CloseStep::Hide);
                assert_eq!(close(CloseAction::Quit, page), CloseStep::Quit);
            }
        }
    }
}
