//! What the shell knows of its place in the system, and what came from there and is not carried out yet.

use crate::windows;
use octo_desktop::{Act, CloseStep, Notices, Page, Sights, Work, on_close};
use octo_protocol::{
    Ability, ActivityRow, ApiError, DesktopSettings, DesktopState, Errand, ErrandSource, Language, SessionId,
    SessionInfo, TaskRun, WayBack, WindowNumber, words,
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tauri::{AppHandle, Emitter as _, Manager as _};

/// Tells the page that an errand came; the page fetches it. The errand itself is not in it, so that nothing is lost
/// while there is no page.
const ERRAND: &str = "errand";

/// How many errands wait for a page that does not come. Further ones push out the oldest.
const WAITING: usize = 32;

/// What the shell knows.
#[derive(Default)]
pub(crate) struct Desk {
    known: Mutex<Known>,
}

struct Known {
    errands: VecDeque<Errand>,
    page: Page,
    tray: Result<(), ApiError>,
    /// Whether a second start reaches this one.
    reachable: bool,
    /// What would bring the window back as the person hid it; none while they did not.
    hid: Option<WayBack>,
    shortcut: Result<(), ApiError>,
    autostart: Result<(), ApiError>,
    settings: DesktopSettings,
    language: Language,
    notices: Notices,
    sights: Sights,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            errands: VecDeque::new(),
            page: Page::Away,
            tray: Err(ApiError::new("desktop.no_tray")),
            // Elsewhere that takes no desktop bus.
            reachable: cfg!(not(target_os = "linux")),
            hid: None,
            shortcut: Ok(()),
            autostart: Ok(()),
            settings: DesktopSettings::default(),
            language: Language::System,
            notices: Notices::default(),
            sights: Sights::default(),
        }
    }
}

impl Known {
    /// What would bring a hidden window back.
    fn way_back(&self) -> Option<WayBack> {
        match (&self.tray, self.reachable) {
            (Ok(()), _) => Some(WayBack::Tray),
            (Err(_), true) => Some(WayBack::Start),
            (Err(_), false) => None,
        }
    }
}

impl Desk {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Every change is one assignment or one call: a panic elsewhere leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What came and was not taken yet. Whoever takes it is a page that can carry it out.
    pub(crate) fn take_errands(&self) -> Vec<Errand> {
        let mut known = self.known();
        if known.page == Page::Away {
            known.page = Page::Ready;
        }
        known.errands.drain(..).collect()
    }

    /// The page went: it was left, or it died.
    pub(crate) fn page_left(&self) {
        let mut known = self.known();
        if known.page != Page::Over {
            known.page = Page::Away;
        }
    }

    /// Everything was deleted: to close the window is now to quit.
    pub(crate) fn end(&self) {
        self.known().page = Page::Over;
    }

    /// Takes what the person wants; what they wanted before.
    pub(crate) fn set_settings(&self, settings: DesktopSettings, language: Language) -> DesktopSettings {
        let mut known = self.known();
        known.notices.want(settings.notices);
        known.language = language;
        std::mem::replace(&mut known.settings, settings)
    }

    /// Words in the person's language.
    pub(crate) fn say(&self, key: &str, args: &[(&str, String)]) -> String {
        let args: BTreeMap<String, String> =
            args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        words::say(self.known().language, key, &args)
    }

    /// The words for an error, for a place where others may look: without its detail.
    pub(crate) fn explain(&self, error: &ApiError) -> String {
        words::say(self.known().language, &format!("error.{}", error.key), &error.args)
    }

    /// What can be done here; `updates` is known elsewhere.
    pub(crate) fn state(&self, updates: Result<(), ApiError>) -> DesktopState {
        let known = self.known();
        let ability = |outcome: &Result<(), ApiError>| match outcome {
            Ok(()) => Ability::Able,
            Err(error) => Ability::Unable { error: error.clone() },
        };
        DesktopState {
            tray: ability(&known.tray),
            quick_ask: ability(&known.shortcut),
            autostart: ability(&known.autostart),
            updates: ability(&updates),
        }
    }

    /// Whether a hidden window could be brought back at all.
    pub(crate) fn may_hide(&self) -> bool {
        self.known().way_back().is_some()
    }

    /// Whether a hidden window could be brought back from the tray.
    pub(crate) fn has_tray(&self) -> bool {
        self.known().tray.is_ok()
    }

    /// The tray came or went.
    pub(crate) fn set_tray(&self, tray: Result<(), ApiError>) {
        self.known().tray = tray;
    }

    /// Whether a second start reaches this one: where there is no tray, that brings a hidden window back.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_reachable(&self, reachable: bool) {
        self.known().reachable = reachable;
    }

    /// The person hid the window.
    pub(crate) fn hid(&self) {
        let mut known = self.known();
        known.hid = known.way_back();
    }

    /// Whether the person hid the window where they knew that a second start brings it back, and it does.
    pub(crate) fn comes_back_by_start(&self) -> bool {
        let known = self.known();
        known.hid == Some(WayBack::Start) && known.reachable
    }

    /// What became of the keys of the small window.
    pub(crate) fn set_shortcut(&self, outcome: Result<(), ApiError>) {
        self.known().shortcut = outcome;
    }

    /// What became of the entry among what starts at login.
    pub(crate) fn set_autostart(&self, outcome: Result<(), ApiError>) {
        self.known().autostart = outcome;
    }

    /// The person closes the window.
    pub(crate) fn close(&self) -> CloseStep {
        let mut known = self.known();
        let step = on_close(known.settings.closing, known.way_back(), known.page);
        if matches!(step, CloseStep::Ask(_)) {
            known.page = Page::Asking;
        }
        step
    }

    /// The question about closing was answered.
    pub(crate) fn asked(&self) {
        let mut known = self.known();
        if known.page == Page::Asking {
            known.page = Page::Ready;
        }
    }

    /// A window shows another session, or none.
    pub(crate) fn look_at(&self, window: WindowNumber, session: Option<SessionId>) -> Option<Act> {
        self.see(|sights| sights.show(window, session))
    }

    /// This window is before the person's eyes, or none is.
    pub(crate) fn attend(&self, window: Option<WindowNumber>) -> Option<Act> {
        self.see(|sights| sights.attend(window))
    }

    fn see(&self, change: impl FnOnce(&mut Sights)) -> Option<Act> {
        let mut known = self.known();
        change(&mut known.sights);
        let sight = known.sights.now();
        known.notices.look(sight)
    }

    /// The window that shows a session.
    pub(crate) fn window_of(&self, session: SessionId) -> Option<WindowNumber> {
        self.known().sights.window_of(session)
    }

    /// A window is gone.
    pub(crate) fn close_window(&self, window: WindowNumber) {
        self.known().sights.close(window);
    }

    /// The number of a window that is about to open for a session.
    pub(crate) fn next_window(&self, session: SessionId) -> WindowNumber {
        self.known().sights.open(session)
    }

    /// The list of sessions as a whole.
    pub(crate) fn start_over(&self, list: &[SessionInfo]) -> Vec<Act> {
        self.known().notices.start_over(list)
    }

    /// A line of the list.
    pub(crate) fn listed(&self, info: &SessionInfo) -> Option<Act> {
        self.known().notices.listed(info)
    }

    /// Whether the runs of tasks are to be heard before this line.
    pub(crate) fn may_end_run(&self, info: &SessionInfo) -> bool {
        self.known().notices.may_end_run(info)
    }

    /// The newest runs of all tasks.
    pub(crate) fn runs(&self, list: &[TaskRun]) -> Vec<Act> {
        self.known().notices.runs(list)
    }

    /// What runs in this process.
    pub(crate) fn take_activity(&self, rows: &[ActivityRow]) {
        self.known().notices.take_activity(rows);
    }

    /// A session left the list.
    pub(crate) fn removed(&self, session: SessionId) -> Option<Act> {
        self.known().notices.removed(session)
    }

    /// How much is going on.
    pub(crate) fn work(&self) -> Work {
        self.known().notices.work()
    }

    /// The person stops everything; the sessions to stop one by one.
    pub(crate) fn stop_all(&self) -> Vec<SessionId> {
        self.known().notices.stop_all()
    }

    /// The person stops a session by its notice; only Linux has one that tells of it.
    #[cfg(target_os = "linux")]
    pub(crate) fn stop(&self, session: SessionId) {
        self.known().notices.stop(session);
    }

    /// Keeps an errand for the page.
    pub(crate) fn push(&self, errand: Errand) {
        let mut known = self.known();
        if known.errands.len() == WAITING {
            known.errands.pop_front();
        }
        // The same again, before it was carried out, is one.
        if known.errands.back() != Some(&errand) {
            known.errands.push_back(errand);
        }
    }
}

/// Has the page carry out an errand, in a window that is seen.
pub(crate) fn run_errand(app: &AppHandle, errand: Errand) {
    windows::bring_to_front(app);
    leave_errand(app, errand);
}

/// Has the page carry out an errand when the person is at it: now, where it is there.
pub(crate) fn leave_errand(app: &AppHandle, errand: Errand) {
    app.state::<Desk>().push(errand);
    if let Err(error) = app.emit_to(windows::MAIN, ERRAND, ()) {
        tracing::warn!(%error, "the page was not told of an errand");
    }
}

/// An empty new session.
pub(crate) fn fresh_session() -> Errand {
    Errand::NewSession { prompt: String::new(), folder: None, from: ErrandSource::Person }
}
