//! Decides which system notification is due: one for each change the person does not see, and none about the session
//! they look at.

use crate::{
    runs::{RunNotification, RunTracker, notification_kind},
    work_tracker::{CurrentWork, WorkTracker},
};
use octo_protocol::{
    ActivityRow, NoticeSettings, RunId, SessionId, SessionInfo, SessionStatus, Source, Switch,
    TaskNotifications, TaskRun,
};
use std::collections::{BTreeMap, BTreeSet};

/// The person's current view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersonView {
    /// Where their attention is.
    pub attention: Attention,
    /// The session the page shows.
    pub session: Option<SessionId>,
}

/// Location of the person's attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attention {
    /// On Octo's window.
    Here,
    /// Elsewhere: the window is hidden, minimised or behind another.
    #[default]
    Elsewhere,
}

/// Kind of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotificationKind {
    /// A question waits.
    Question,
    /// A turn ended.
    Finished,
    /// A turn failed, or a run of a scheduled task did not succeed.
    Failed,
}

/// Subject of a notification. Each has at most one notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotificationSubject {
    /// A session.
    Session(SessionId),
    /// A run of a scheduled task that has no session.
    Run(RunId),
}

/// Action that a notification offers without opening Octo first. None of them grants a permission: the
/// notification does not show the content of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationAction {
    /// Opens the session.
    Open,
    /// Stops its turn.
    Stop,
    /// Resumes its turn from the failure.
    TryAgain,
}

impl NotificationKind {
    /// Returns the actions of a notification of this kind; a click on the notification itself runs the first.
    #[must_use]
    pub fn actions(self) -> &'static [NotificationAction] {
        match self {
            Self::Question => &[NotificationAction::Open, NotificationAction::Stop],
            Self::Finished => &[NotificationAction::Open],
            Self::Failed => &[NotificationAction::Open, NotificationAction::TryAgain],
        }
    }
}

/// Instruction to the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotificationCommand {
    /// Shows a notification, replacing one of the same subject. It contains the session's title or the scheduled
    /// task's name, and nothing of the conversation.
    Show {
        /// Its subject.
        subject: NotificationSubject,
        /// Its kind.
        kind: NotificationKind,
        /// The session's title, or the scheduled task's name.
        title: String,
        /// Details of the run, if the subject is one.
        run: Option<RunNotification>,
    },
    /// Withdraws the subject's notification: the person saw it, it is outdated, or must not be shown.
    Withdraw {
        /// Its subject.
        subject: NotificationSubject,
    },
}

impl NotificationCommand {
    /// Applies the setting of the subject's scheduled task, if any: an earlier notification must not stay in place
    /// of a suppressed one.
    #[must_use]
    pub fn with_task_setting(self, task: Option<TaskNotifications>) -> Self {
        match self {
            Self::Show { subject, kind, .. } if task.is_some_and(|task| !kind.is_allowed_by(task)) => {
                Self::Withdraw { subject }
            }
            command => command,
        }
    }
}

impl NotificationKind {
    /// Returns whether a scheduled task's own setting allows this notification; the person's setting for all
    /// sessions applies as well.
    #[must_use]
    pub fn is_allowed_by(self, task: TaskNotifications) -> bool {
        match task {
            TaskNotifications::All => true,
            TaskNotifications::Trouble => self != Self::Finished,
            TaskNotifications::Nothing => false,
        }
    }
}

/// Follows the list of sessions, the runs of scheduled tasks and the person's view.
#[derive(Clone, Debug, Default)]
pub struct NotificationTracker {
    work: WorkTracker,
    /// Whether the list was received once.
    has_list: bool,
    runs: RunTracker,
    /// Sessions whose end a run reports: a run is active in them, or ended before the session's end was
    /// received.
    reported_by_run: BTreeSet<SessionId>,
    shown_kinds: BTreeMap<NotificationSubject, NotificationKind>,
    /// Sessions that the person stopped from outside: their end is not reported.
    stopped: BTreeSet<SessionId>,
    view: PersonView,
    wanted: NoticeSettings,
}

impl NotificationTracker {
    /// Sets the notifications the person wants.
    pub fn set_wanted(&mut self, settings: NoticeSettings) {
        self.wanted = settings;
    }

    /// Returns the current work.
    #[must_use]
    pub fn work(&self) -> CurrentWork {
        CurrentWork { missed_runs: self.runs.missed_count(), ..self.work.work() }
    }

    /// Records the running work.
    pub fn take_activity(&mut self, rows: &[ActivityRow]) {
        self.work.take_activity(rows);
    }

    /// Processes the complete list. The state at Octo's start is not reported; changes during a gap in the
    /// updates are reported as usual.
    pub fn start_over(&mut self, sessions: &[SessionInfo]) -> Vec<NotificationCommand> {
        if !std::mem::replace(&mut self.has_list, true) {
            self.work.start_over(sessions);
            return Vec::new();
        }
        let missing = self.work.busy().into_iter().filter(|id| !sessions.iter().any(|info| info.id == *id));
        let mut commands: Vec<NotificationCommand> =
            missing.collect::<Vec<_>>().into_iter().filter_map(|id| self.session_removed(id)).collect();
        commands.extend(sessions.iter().filter_map(|info| self.session_changed(info)));
        // A missed end is not awaited.
        self.reported_by_run.retain(|session| self.runs.is_open_in(*session) || self.work.is_busy(*session));
        commands
    }

    /// Returns whether this entry may be the end of a run that is not known yet, so the runs must be read
    /// first.
    #[must_use]
    pub fn may_end_run(&self, info: &SessionInfo) -> bool {
        info.source == Source::Task
            && matches!(info.status, SessionStatus::Idle | SessionStatus::Failed)
            && self.work.is_busy(info.id)
    }

    /// Processes the newest runs of all scheduled tasks, newest first.
    pub fn runs_changed(&mut self, runs: &[TaskRun]) -> Vec<NotificationCommand> {
        let progressed_runs = self.runs.record_progress(runs);
        self.reported_by_run.extend(
            runs.iter().filter_map(|run| run.session).filter(|session| self.runs.is_open_in(*session)),
        );
        progressed_runs.into_iter().filter_map(|run| self.run_changed(run)).collect()
    }

    /// Processes a run that has progressed.
    fn run_changed(&mut self, run: &TaskRun) -> Option<NotificationCommand> {
        if let Some(session) = run.session
            && !self.runs.is_open_in(session)
        {
            if self.work.is_busy(session) {
                self.reported_by_run.insert(session);
            } else {
                self.reported_by_run.remove(&session);
            }
        }
        let subject = run.session.map_or(NotificationSubject::Run(run.id), NotificationSubject::Session);
        match notification_kind(&run.status).filter(|(kind, _)| self.is_due(subject, *kind)) {
            Some((kind, problem)) => {
                let run_notification = RunNotification { task: run.task.clone(), problem };
                Some(self.show(subject, kind, run.name.clone(), Some(run_notification)))
            }
            // The session reports a question in it.
            None if run.session.is_some() => None,
            None => self.withdraw(subject),
        }
    }

    /// Processes a changed entry of the list.
    pub fn session_changed(&mut self, info: &SessionInfo) -> Option<NotificationCommand> {
        if info.source == Source::SubAgent {
            return None;
        }
        let previous_status = self.work.record(info);
        let was_busy = previous_status.is_some();
        let is_end = matches!(info.status, SessionStatus::Idle | SessionStatus::Failed);
        if is_end && was_busy && self.reported_by_run.contains(&info.id) {
            return self.end_by_run(info.id);
        }
        let kind = match info.status {
            status if previous_status == Some(status) => return None,
            SessionStatus::Waiting => Some(NotificationKind::Question),
            SessionStatus::Idle if was_busy => Some(NotificationKind::Finished),
            SessionStatus::Failed if was_busy => Some(NotificationKind::Failed),
            SessionStatus::Running => {
                // A new turn: any later end was not caused by the earlier stop.
                self.stopped.remove(&info.id);
                None
            }
            // A changed title, or a pin.
            SessionStatus::Idle | SessionStatus::Failed => return None,
        };
        let stopped = is_end && self.stopped.remove(&info.id);
        // A person who started it in a terminal, or with another program, sees its end there.
        let is_reported_there = info.source == Source::Headless && !self.work.runs_here(info.id);
        let subject = NotificationSubject::Session(info.id);
        match kind.filter(|kind| !stopped && !is_reported_there && self.is_due(subject, *kind)) {
            Some(kind) => Some(self.show(subject, kind, info.title.clone(), None)),
            None => self.withdraw(subject),
        }
    }

    /// Processes the end of a session's turn that a run reports.
    fn end_by_run(&mut self, session: SessionId) -> Option<NotificationCommand> {
        self.stopped.remove(&session);
        if !self.runs.is_open_in(session) {
            self.reported_by_run.remove(&session);
        }
        let subject = NotificationSubject::Session(session);
        // An earlier report of its run stays.
        if self.shown_kinds.get(&subject) == Some(&NotificationKind::Question) {
            self.withdraw(subject)
        } else {
            None
        }
    }

    /// Processes the removal of a session.
    pub fn session_removed(&mut self, session: SessionId) -> Option<NotificationCommand> {
        self.work.forget(session);
        self.stopped.remove(&session);
        self.reported_by_run.remove(&session);
        self.withdraw(NotificationSubject::Session(session))
    }

    /// Records a change of the person's view. A session that is visible now needs no notification.
    pub fn set_view(&mut self, view: PersonView) -> Option<NotificationCommand> {
        self.view = view;
        let session = view.session.filter(|_| view.attention == Attention::Here)?;
        self.withdraw(NotificationSubject::Session(session))
    }

    /// Records that the person stops everything. Returns the sessions to stop one by one: the others stop with
    /// the known running work.
    pub fn stop_all(&mut self) -> Vec<SessionId> {
        self.stopped.extend(self.work.busy());
        self.work.busy_without_activity()
    }

    /// Records that the person stops a session with its notification.
    pub fn stop(&mut self, session: SessionId) {
        self.stopped.insert(session);
    }

    fn is_due(&self, subject: NotificationSubject, kind: NotificationKind) -> bool {
        let is_wanted = match kind {
            NotificationKind::Question => self.wanted.question,
            NotificationKind::Finished => self.wanted.finished,
            NotificationKind::Failed => self.wanted.failed,
        };
        let unseen = match (self.view.attention, kind) {
            (Attention::Elsewhere, _) => true,
            // It waits for the person, who is occupied with something else in the window.
            (Attention::Here, NotificationKind::Question) => {
                self.view.session.map(NotificationSubject::Session) != Some(subject)
            }
            // The list marks it unread.
            (Attention::Here, NotificationKind::Finished | NotificationKind::Failed) => false,
        };
        is_wanted == Switch::On && unseen
    }

    fn show(
        &mut self,
        subject: NotificationSubject,
        kind: NotificationKind,
        title: String,
        run: Option<RunNotification>,
    ) -> NotificationCommand {
        self.shown_kinds.insert(subject, kind);
        NotificationCommand::Show { subject, kind, title, run }
    }

    fn withdraw(&mut self, subject: NotificationSubject) -> Option<NotificationCommand> {
        self.shown_kinds.remove(&subject).map(|_| NotificationCommand::Withdraw { subject })
    }
}

#[cfg(test)]
mod tests;
