//! The shell's state on this desktop, and the open requests that are not carried out yet.

use crate::windows;
use octo_desktop::{CloseStep, CurrentWork, NoticeCommand, Notices, PageReadiness, WindowViews, on_close};
use octo_protocol::{
    Ability, ActivityRow, ApiError, DesktopSettings, DesktopState, Language, OpenRequest, OpenRequestSource,
    SessionId, SessionInfo, TaskRun, WindowNumber, WindowRecovery, words,
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};
use tauri::{AppHandle, Emitter as _, Manager as _};

/// Event that tells the page about a new open request; the page then fetches it. The event does not contain the
/// request, so nothing is lost while no page is loaded.
const ERRAND: &str = "errand";

/// Maximum number of open requests waiting for a page. Further ones push out the oldest.
const MAX_PENDING: usize = 32;

/// State of the shell.
#[derive(Default)]
pub(crate) struct ShellState {
    known: Mutex<ShellStateInner>,
}

struct ShellStateInner {
    errands: VecDeque<OpenRequest>,
    page: PageReadiness,
    tray: Result<(), ApiError>,
    /// Whether a second start reaches this process.
    reachable: bool,
    /// How the hidden window can be brought back, as known when the person hid it; `None` if they did not.
    hid: Option<WindowRecovery>,
    shortcut: Result<(), ApiError>,
    autostart: Result<(), ApiError>,
    settings: DesktopSettings,
    language: Language,
    notices: Notices,
    sights: WindowViews,
}

impl Default for ShellStateInner {
    fn default() -> Self {
        Self {
            errands: VecDeque::new(),
            page: PageReadiness::Unavailable,
            tray: Err(ApiError::new("desktop.no_tray")),
            // Other systems need no desktop bus for that.
            reachable: cfg!(not(target_os = "linux")),
            hid: None,
            shortcut: Ok(()),
            autostart: Ok(()),
            settings: DesktopSettings::default(),
            language: Language::System,
            notices: Notices::default(),
            sights: WindowViews::default(),
        }
    }
}

impl ShellStateInner {
    /// Returns how a hidden window can be brought back.
    fn window_recovery(&self) -> Option<WindowRecovery> {
        match (&self.tray, self.reachable) {
            (Ok(()), _) => Some(WindowRecovery::Tray),
            (Err(_), true) => Some(WindowRecovery::Start),
            (Err(_), false) => None,
        }
    }
}

impl ShellState {
    fn known(&self) -> MutexGuard<'_, ShellStateInner> {
        // Every change is one assignment or one call, so a panic elsewhere leaves nothing half done.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns and removes the pending open requests. The caller is a page that can carry them out.
    pub(crate) fn take_open_requests(&self) -> Vec<OpenRequest> {
        let mut known = self.known();
        if known.page == PageReadiness::Unavailable {
            known.page = PageReadiness::Ready;
        }
        known.errands.drain(..).collect()
    }

    /// Records that the page is gone: it navigated away or crashed.
    pub(crate) fn mark_page_gone(&self) {
        let mut known = self.known();
        if known.page != PageReadiness::Deleted {
            known.page = PageReadiness::Unavailable;
        }
    }

    /// Records that everything was deleted: closing the window now quits.
    pub(crate) fn end(&self) {
        self.known().page = PageReadiness::Deleted;
    }

    /// Stores new settings and returns the previous ones.
    pub(crate) fn set_settings(&self, settings: DesktopSettings, language: Language) -> DesktopSettings {
        let mut known = self.known();
        known.notices.set_wanted(settings.notices);
        known.language = language;
        std::mem::replace(&mut known.settings, settings)
    }

    /// Returns a text in the person's language.
    pub(crate) fn say(&self, key: &str, args: &[(&str, String)]) -> String {
        let args: BTreeMap<String, String> =
            args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        words::say(self.known().language, key, &args)
    }

    /// Returns an error's text without its detail, for places other people may see.
    pub(crate) fn explain(&self, error: &ApiError) -> String {
        words::say(self.known().language, &format!("error.{}", error.key), &error.args)
    }

    /// Returns the desktop features available here; `updates` is determined elsewhere.
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

    /// Returns whether a hidden window could be brought back at all.
    pub(crate) fn may_hide(&self) -> bool {
        self.known().window_recovery().is_some()
    }

    /// Returns whether a hidden window could be brought back from the tray.
    pub(crate) fn has_tray(&self) -> bool {
        self.known().tray.is_ok()
    }

    /// Records whether the tray is available.
    pub(crate) fn set_tray(&self, tray: Result<(), ApiError>) {
        self.known().tray = tray;
    }

    /// Records whether a second start reaches this process; without a tray, that brings a hidden window back.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_reachable(&self, reachable: bool) {
        self.known().reachable = reachable;
    }

    /// Records that the person hid the window.
    pub(crate) fn hid(&self) {
        let mut known = self.known();
        known.hid = known.window_recovery();
    }

    /// Returns whether the person hid the window when a second start could bring it back, and it still can.
    pub(crate) fn restores_by_start(&self) -> bool {
        let known = self.known();
        known.hid == Some(WindowRecovery::Start) && known.reachable
    }

    /// Records whether the quick ask shortcut could be registered.
    pub(crate) fn set_shortcut(&self, outcome: Result<(), ApiError>) {
        self.known().shortcut = outcome;
    }

    /// Records whether the login item could be changed.
    pub(crate) fn set_autostart(&self, outcome: Result<(), ApiError>) {
        self.known().autostart = outcome;
    }

    /// Decides what closing the window does.
    pub(crate) fn close(&self) -> CloseStep {
        let mut known = self.known();
        let step = on_close(known.settings.closing, known.window_recovery(), known.page);
        if matches!(step, CloseStep::Ask(_)) {
            known.page = PageReadiness::Asking;
        }
        step
    }

    /// Records that the question about closing was answered.
    pub(crate) fn asked(&self) {
        let mut known = self.known();
        if known.page == PageReadiness::Asking {
            known.page = PageReadiness::Ready;
        }
    }

    /// Records that a window shows another session, or none.
    pub(crate) fn look_at(&self, window: WindowNumber, session: Option<SessionId>) -> Option<NoticeCommand> {
        self.see(|sights| sights.show(window, session))
    }

    /// Records which window has the person's attention, if any.
    pub(crate) fn attend(&self, window: Option<WindowNumber>) -> Option<NoticeCommand> {
        self.see(|sights| sights.focus(window))
    }

    fn see(&self, change: impl FnOnce(&mut WindowViews)) -> Option<NoticeCommand> {
        let mut known = self.known();
        change(&mut known.sights);
        let view = known.sights.current();
        known.notices.set_view(view)
    }

    /// Returns the window that shows a session.
    pub(crate) fn window_of(&self, session: SessionId) -> Option<WindowNumber> {
        self.known().sights.window_of(session)
    }

    /// Removes a closed window.
    pub(crate) fn close_window(&self, window: WindowNumber) {
        self.known().sights.close(window);
    }

    /// Returns the number of a window that is about to open for a session.
    pub(crate) fn next_window(&self, session: SessionId) -> WindowNumber {
        self.known().sights.open(session)
    }

    /// Replaces the list of sessions.
    pub(crate) fn start_over(&self, list: &[SessionInfo]) -> Vec<NoticeCommand> {
        self.known().notices.start_over(list)
    }

    /// Updates an entry of the session list.
    pub(crate) fn listed(&self, info: &SessionInfo) -> Option<NoticeCommand> {
        self.known().notices.session_changed(info)
    }

    /// Returns whether the runs of tasks must be read before this entry is processed.
    pub(crate) fn may_end_run(&self, info: &SessionInfo) -> bool {
        self.known().notices.may_end_run(info)
    }

    /// Updates the newest runs of all tasks.
    pub(crate) fn runs(&self, list: &[TaskRun]) -> Vec<NoticeCommand> {
        self.known().notices.runs_changed(list)
    }

    /// Updates the activity of this process.
    pub(crate) fn take_activity(&self, rows: &[ActivityRow]) {
        self.known().notices.take_activity(rows);
    }

    /// Removes a session from the list.
    pub(crate) fn removed(&self, session: SessionId) -> Option<NoticeCommand> {
        self.known().notices.session_removed(session)
    }

    /// Returns the amount of current work.
    pub(crate) fn work(&self) -> CurrentWork {
        self.known().notices.work()
    }

    /// Records that the person stops everything; returns the sessions to stop one by one.
    pub(crate) fn stop_all(&self) -> Vec<SessionId> {
        self.known().notices.stop_all()
    }

    /// Records that the person stops a session through its notice; only Linux reports that button.
    #[cfg(target_os = "linux")]
    pub(crate) fn stop(&self, session: SessionId) {
        self.known().notices.stop(session);
    }

    /// Queues an open request for the page.
    pub(crate) fn push(&self, errand: OpenRequest) {
        let mut known = self.known();
        if known.errands.len() == MAX_PENDING {
            known.errands.pop_front();
        }
        // A duplicate that arrives before the first was carried out is dropped.
        if known.errands.back() != Some(&errand) {
            known.errands.push_back(errand);
        }
    }
}

/// Has the page carry out an open request, and shows its window.
pub(crate) fn open_in_window(app: &AppHandle, errand: OpenRequest) {
    windows::bring_to_front(app);
    queue_open_request(app, errand);
}

/// Queues an open request and tells the page, without bringing its window to the front.
pub(crate) fn queue_open_request(app: &AppHandle, errand: OpenRequest) {
    app.state::<ShellState>().push(errand);
    if let Err(error) = app.emit_to(windows::MAIN, ERRAND, ()) {
        tracing::warn!(%error, "the page was not told of an errand");
    }
}

/// Returns a request for an empty new session.
pub(crate) fn fresh_session() -> OpenRequest {
    OpenRequest::NewSession { prompt: String::new(), folder: None, from: OpenRequestSource::Person }
}
