//! The shell's state on this desktop, and the open requests that are not carried out yet.

use crate::windows;
use octo_desktop::{
    CloseStep, CurrentWork, NotificationCommand, NotificationTracker, PageReadiness, WindowViews, on_close,
};
use octo_protocol::{
    Ability, ActivityRow, ApiError, DesktopSettings, DesktopState, Language, OpenRequest, OpenRequestSource,
    SessionId, SessionInfo, TaskRun, WindowNumber, WindowRecovery, words,
};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use tauri::{AppHandle, Emitter as _, Manager as _};

/// Event that tells the page about a new open request; the page then fetches it. The event does not contain the
/// request, so nothing is lost while no page is loaded.
const OPEN_REQUEST_EVENT: &str = "errand";

/// Maximum number of open requests waiting for a page. Further ones push out the oldest.
const MAX_OPEN_REQUESTS: usize = 32;

/// The shell's state.
#[derive(Default)]
pub(crate) struct ShellState {
    inner: Mutex<ShellStateInner>,
}

struct ShellStateInner {
    open_requests: VecDeque<OpenRequest>,
    page: PageReadiness,
    tray: Result<(), ApiError>,
    /// Whether a second start reaches this process.
    reachable: bool,
    /// How the hidden window can be brought back, as known when the person hid it; `None` if they did not.
    hidden_recovery: Option<WindowRecovery>,
    shortcut: Result<(), ApiError>,
    autostart: Result<(), ApiError>,
    settings: DesktopSettings,
    language: Language,
    notifications: NotificationTracker,
    views: WindowViews,
}

impl Default for ShellStateInner {
    fn default() -> Self {
        Self {
            open_requests: VecDeque::new(),
            page: PageReadiness::Unavailable,
            tray: Err(ApiError::new("desktop.no_tray")),
            // Other systems need no desktop bus for that.
            reachable: cfg!(not(target_os = "linux")),
            hidden_recovery: None,
            shortcut: Ok(()),
            autostart: Ok(()),
            settings: DesktopSettings::default(),
            language: Language::System,
            notifications: NotificationTracker::default(),
            views: WindowViews::default(),
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
    fn lock(&self) -> MutexGuard<'_, ShellStateInner> {
        // Every change is one assignment or one call, so a panic elsewhere leaves nothing half done.
        self.inner.lock()
    }

    /// Returns and removes the pending open requests. The caller is a page that can carry them out.
    pub(crate) fn take_open_requests(&self) -> Vec<OpenRequest> {
        let mut inner = self.lock();
        if inner.page == PageReadiness::Unavailable {
            inner.page = PageReadiness::Ready;
        }
        inner.open_requests.drain(..).collect()
    }

    /// Records that the page is gone: it navigated away or crashed.
    pub(crate) fn mark_page_gone(&self) {
        let mut inner = self.lock();
        if inner.page != PageReadiness::Deleted {
            inner.page = PageReadiness::Unavailable;
        }
    }

    /// Records that everything was deleted: closing the window now quits.
    pub(crate) fn mark_erased(&self) {
        self.lock().page = PageReadiness::Deleted;
    }

    /// Stores new settings and returns the previous ones.
    pub(crate) fn set_settings(&self, settings: DesktopSettings, language: Language) -> DesktopSettings {
        let mut inner = self.lock();
        inner.notifications.set_wanted(settings.notices);
        inner.language = language;
        std::mem::replace(&mut inner.settings, settings)
    }

    /// Returns a text in the person's language.
    pub(crate) fn text(&self, key: &str, args: &[(&str, String)]) -> String {
        let args: BTreeMap<String, String> =
            args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        words::say(self.lock().language, key, &args)
    }

    /// Returns an error's text without its detail, for places other people may see.
    pub(crate) fn error_text(&self, error: &ApiError) -> String {
        words::say(self.lock().language, &format!("error.{}", error.key), &error.args)
    }

    /// Returns the desktop features available here; `updates` is determined elsewhere.
    pub(crate) fn state(&self, updates: Result<(), ApiError>) -> DesktopState {
        let inner = self.lock();
        let ability = |outcome: &Result<(), ApiError>| match outcome {
            Ok(()) => Ability::Able,
            Err(error) => Ability::Unable { error: error.clone() },
        };
        DesktopState {
            tray: ability(&inner.tray),
            quick_ask: ability(&inner.shortcut),
            autostart: ability(&inner.autostart),
            updates: ability(&updates),
        }
    }

    /// Returns whether a hidden window could be brought back at all.
    pub(crate) fn can_hide(&self) -> bool {
        self.lock().window_recovery().is_some()
    }

    /// Returns whether a hidden window could be brought back from the tray.
    pub(crate) fn has_tray(&self) -> bool {
        self.lock().tray.is_ok()
    }

    /// Records whether the tray is available.
    pub(crate) fn set_tray(&self, tray: Result<(), ApiError>) {
        self.lock().tray = tray;
    }

    /// Records whether a second start reaches this process; without a tray, that brings a hidden window back.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_reachable(&self, reachable: bool) {
        self.lock().reachable = reachable;
    }

    /// Records that the person hid the window.
    pub(crate) fn mark_hidden(&self) {
        let mut inner = self.lock();
        inner.hidden_recovery = inner.window_recovery();
    }

    /// Returns whether the person hid the window when a second start could bring it back, and it still can.
    pub(crate) fn restores_by_start(&self) -> bool {
        let inner = self.lock();
        inner.hidden_recovery == Some(WindowRecovery::Start) && inner.reachable
    }

    /// Records whether the quick ask shortcut could be registered.
    pub(crate) fn set_shortcut(&self, outcome: Result<(), ApiError>) {
        self.lock().shortcut = outcome;
    }

    /// Records whether the login item could be changed.
    pub(crate) fn set_autostart(&self, outcome: Result<(), ApiError>) {
        self.lock().autostart = outcome;
    }

    /// Decides what closing the window does.
    pub(crate) fn close(&self) -> CloseStep {
        let mut inner = self.lock();
        let step = on_close(inner.settings.closing, inner.window_recovery(), inner.page);
        if matches!(step, CloseStep::Ask(_)) {
            inner.page = PageReadiness::Asking;
        }
        step
    }

    /// Records that the question about closing was answered.
    pub(crate) fn mark_close_answered(&self) {
        let mut inner = self.lock();
        if inner.page == PageReadiness::Asking {
            inner.page = PageReadiness::Ready;
        }
    }

    /// Records that a window shows another session, or none.
    pub(crate) fn set_shown_session(
        &self,
        window: WindowNumber,
        session: Option<SessionId>,
    ) -> Option<NotificationCommand> {
        self.update_attention(|views| views.show(window, session))
    }

    /// Records which window has the person's attention, if any.
    pub(crate) fn set_focused_window(&self, window: Option<WindowNumber>) -> Option<NotificationCommand> {
        self.update_attention(|views| views.focus(window))
    }

    fn update_attention(&self, change: impl FnOnce(&mut WindowViews)) -> Option<NotificationCommand> {
        let mut inner = self.lock();
        change(&mut inner.views);
        let view = inner.views.current();
        inner.notifications.set_view(view)
    }

    /// Returns the window that shows a session.
    pub(crate) fn window_of(&self, session: SessionId) -> Option<WindowNumber> {
        self.lock().views.window_of(session)
    }

    /// Removes a closed window.
    pub(crate) fn close_window(&self, window: WindowNumber) {
        self.lock().views.close(window);
    }

    /// Returns the number of a window that is about to open for a session.
    pub(crate) fn next_window(&self, session: SessionId) -> WindowNumber {
        self.lock().views.open(session)
    }

    /// Replaces the list of sessions.
    pub(crate) fn replace_sessions(&self, sessions: &[SessionInfo]) -> Vec<NotificationCommand> {
        self.lock().notifications.start_over(sessions)
    }

    /// Updates an entry of the session list.
    pub(crate) fn update_session(&self, info: &SessionInfo) -> Option<NotificationCommand> {
        self.lock().notifications.session_changed(info)
    }

    /// Returns whether the runs of tasks must be read before this entry is processed.
    pub(crate) fn needs_runs_first(&self, info: &SessionInfo) -> bool {
        self.lock().notifications.may_end_run(info)
    }

    /// Updates the newest runs of all tasks.
    pub(crate) fn update_runs(&self, runs: &[TaskRun]) -> Vec<NotificationCommand> {
        self.lock().notifications.runs_changed(runs)
    }

    /// Updates the activity of this process.
    pub(crate) fn set_activity(&self, rows: &[ActivityRow]) {
        self.lock().notifications.take_activity(rows);
    }

    /// Removes a session from the list.
    pub(crate) fn remove_session(&self, session: SessionId) -> Option<NotificationCommand> {
        self.lock().notifications.session_removed(session)
    }

    /// Returns the amount of current work.
    pub(crate) fn work(&self) -> CurrentWork {
        self.lock().notifications.work()
    }

    /// Records that the person stops everything; returns the sessions to stop one by one.
    pub(crate) fn stop_all(&self) -> Vec<SessionId> {
        self.lock().notifications.stop_all()
    }

    /// Records that the person stops a session through its notification; only Linux reports that button.
    #[cfg(target_os = "linux")]
    pub(crate) fn stop(&self, session: SessionId) {
        self.lock().notifications.stop(session);
    }

    /// Queues an open request for the page.
    pub(crate) fn push(&self, request: OpenRequest) {
        let mut inner = self.lock();
        if inner.open_requests.len() == MAX_OPEN_REQUESTS {
            inner.open_requests.pop_front();
        }
        // A duplicate that arrives before the first was carried out is dropped.
        if inner.open_requests.back() != Some(&request) {
            inner.open_requests.push_back(request);
        }
    }
}

/// Has the page carry out an open request, and shows its window.
pub(crate) fn open_in_window(app: &AppHandle, request: OpenRequest) {
    windows::bring_to_front(app);
    queue_open_request(app, request);
}

/// Queues an open request and tells the page, without bringing its window to the front.
pub(crate) fn queue_open_request(app: &AppHandle, request: OpenRequest) {
    app.state::<ShellState>().push(request);
    if let Err(error) = app.emit_to(windows::MAIN, OPEN_REQUEST_EVENT, ()) {
        tracing::warn!(%error, "the page was not told about an open request");
    }
}

/// Returns a request for an empty new session.
pub(crate) fn new_session_request() -> OpenRequest {
    OpenRequest::NewSession { prompt: String::new(), folder: None, from: OpenRequestSource::Person }
}
