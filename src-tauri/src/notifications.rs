//! System notifications: shows and withdraws them, and handles clicks on them.

#[cfg(target_os = "linux")]
mod bus;
mod click;
#[cfg(not(target_os = "linux"))]
mod native;

#[cfg(target_os = "linux")]
use bus as system;
#[cfg(not(target_os = "linux"))]
use native as system;

use crate::shell_state::ShellState;
use octo_desktop::{
    NotificationAction, NotificationCommand, NotificationKind, NotificationSubject, RunNotification,
    RunProblem,
};
use tauri::{AppHandle, Manager as _};
use tokio::sync::mpsc;

/// Name of the application's desktop entry, which the packages derive from the product's name.
#[cfg(target_os = "linux")]
pub(crate) const DESKTOP_ENTRY: &str = "Octo";

/// Maximum length of a session title in a notification, in characters.
const MAX_TITLE_CHARS: usize = 120;

/// Maximum length of the reason why a task failed, in characters.
const MAX_REASON_CHARS: usize = 300;

/// A request to the task that talks to the system's notification service.
pub(crate) enum NotificationRequest {
    /// Show a notification of a subject, replacing an earlier one.
    Show {
        subject: NotificationSubject,
        summary: String,
        body: String,
        actions: Vec<(NotificationAction, String)>,
        kind: NotificationKind,
    },
    /// Withdraw the notification of a subject.
    Withdraw { subject: NotificationSubject },
}

/// The sender of requests to that task.
struct NotificationSender(mpsc::UnboundedSender<NotificationRequest>);

/// Starts the task that shows notifications.
pub(crate) fn start(app: &AppHandle) {
    let (sender, requests) = mpsc::unbounded_channel();
    app.manage(NotificationSender(sender));
    tauri::async_runtime::spawn(system::serve(app.clone(), requests));
}

/// Shows or withdraws a notification.
pub(crate) fn carry_out(app: &AppHandle, command: NotificationCommand) {
    let request = match command {
        NotificationCommand::Withdraw { subject } => NotificationRequest::Withdraw { subject },
        NotificationCommand::Show { subject, kind, title, run } => {
            let state = app.state::<ShellState>();
            let action_kinds = if run.is_some() { RunNotification::ACTIONS } else { kind.actions() };
            let actions =
                action_kinds.iter().map(|action| (*action, state.text(action_key(*action), &[]))).collect();
            let name = title.chars().take(MAX_TITLE_CHARS).collect();
            let (summary, body) = match run.and_then(|run| run.problem) {
                None => (state.text(session_key(kind), &[]), name),
                Some(problem) => {
                    let text = reason(&state, &problem).chars().take(MAX_REASON_CHARS).collect();
                    (
                        state.text(task_key(kind), &[]),
                        state.text("notice.task_why", &[("name", name), ("why", text)]),
                    )
                }
            };
            NotificationRequest::Show { subject, summary, body, actions, kind }
        }
    };
    if let Some(requests) = app.try_state::<NotificationSender>()
        && requests.0.send(request).is_err()
    {
        tracing::debug!("notifications are no longer shown");
    }
}

/// Returns the message key for a session's notification.
fn session_key(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::Question => "notice.question",
        NotificationKind::Finished => "notice.finished",
        NotificationKind::Failed => "notice.failed",
    }
}

/// Returns the message key for a run's notification with a reason.
fn task_key(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::Question => "notice.task_question",
        NotificationKind::Finished => "notice.finished",
        NotificationKind::Failed => "notice.task_failed",
    }
}

/// Returns the reason why a run asks or failed, in the person's language.
fn reason(state: &ShellState, problem: &RunProblem) -> String {
    match problem {
        RunProblem::Error(error) => state.error_text(error),
        RunProblem::TimedOut => state.text("tasks.status.timed_out", &[]),
        RunProblem::OverBudget => state.text("tasks.status.over_budget", &[]),
        RunProblem::Missed => state.text("notice.task_missed", &[]),
    }
}

/// Returns the message key of a button.
fn action_key(action: NotificationAction) -> &'static str {
    match action {
        NotificationAction::Open => "notice.open",
        NotificationAction::Stop => "notice.stop",
        NotificationAction::TryAgain => "notice.again",
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_desktop_entry_has_the_product_name() {
        let configuration: serde_json::Value =
            serde_json::from_str(include_str!("../../tauri.conf.json")).unwrap();
        assert_eq!(configuration["productName"], DESKTOP_ENTRY);
    }
}
