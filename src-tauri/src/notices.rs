//! System notices: shows and withdraws them, and handles clicks on them.

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
use octo_desktop::{NoticeAction, NoticeCommand, NoticeKind, NoticeSubject, RunNotice, RunProblem};
use tauri::{AppHandle, Manager as _};
use tokio::sync::mpsc;

/// Name of the application's desktop entry, which the packages derive from the product's name.
#[cfg(target_os = "linux")]
pub(crate) const DESKTOP_ENTRY: &str = "Octo";

/// Maximum length of a session title in a notice, in characters.
const MAX_TITLE_CHARS: usize = 120;

/// Maximum length of the reason why a task failed, in characters.
const MAX_REASON_CHARS: usize = 300;

/// Instruction for the system's notice service.
pub(crate) enum NoticeOrder {
    /// Show a notice of a subject, replacing an earlier one.
    Show {
        subject: NoticeSubject,
        summary: String,
        body: String,
        actions: Vec<(NoticeAction, String)>,
        kind: NoticeKind,
    },
    /// Withdraw the notice of a subject.
    Withdraw { subject: NoticeSubject },
}

/// Channel to the notice service.
struct NoticeOrders(mpsc::UnboundedSender<NoticeOrder>);

/// Starts the notice service.
pub(crate) fn start(app: &AppHandle) {
    let (sender, orders) = mpsc::unbounded_channel();
    app.manage(NoticeOrders(sender));
    tauri::async_runtime::spawn(system::serve(app.clone(), orders));
}

/// Shows or withdraws a notice.
pub(crate) fn carry_out(app: &AppHandle, command: NoticeCommand) {
    let order = match command {
        NoticeCommand::Withdraw { subject } => NoticeOrder::Withdraw { subject },
        NoticeCommand::Show { subject, kind, title, run } => {
            let state = app.state::<ShellState>();
            let offered = if run.is_some() { RunNotice::ACTIONS } else { kind.actions() };
            let actions =
                offered.iter().map(|action| (*action, state.text(action_key(*action), &[]))).collect();
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
            NoticeOrder::Show { subject, summary, body, actions, kind }
        }
    };
    if let Some(orders) = app.try_state::<NoticeOrders>()
        && orders.0.send(order).is_err()
    {
        tracing::debug!("notices are not shown any more");
    }
}

/// Returns the message key for a session's notice.
fn session_key(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Question => "notice.question",
        NoticeKind::Finished => "notice.finished",
        NoticeKind::Failed => "notice.failed",
    }
}

/// Returns the message key for a run's notice that has a reason.
fn task_key(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Question => "notice.task_question",
        NoticeKind::Finished => "notice.finished",
        NoticeKind::Failed => "notice.task_failed",
    }
}

/// Returns why a run asks or failed.
fn reason(state: &ShellState, problem: &RunProblem) -> String {
    match problem {
        RunProblem::Error(error) => state.error_text(error),
        RunProblem::TimedOut => state.text("tasks.status.timed_out", &[]),
        RunProblem::OverBudget => state.text("tasks.status.over_budget", &[]),
        RunProblem::Missed => state.text("notice.task_missed", &[]),
    }
}

/// Returns the message key of a button.
fn action_key(action: NoticeAction) -> &'static str {
    match action {
        NoticeAction::Open => "notice.open",
        NoticeAction::Stop => "notice.stop",
        NoticeAction::TryAgain => "notice.again",
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_named_as_the_packages_name_it() {
        let configuration: serde_json::Value =
            serde_json::from_str(include_str!("../../tauri.conf.json")).unwrap();
        assert_eq!(configuration["productName"], DESKTOP_ENTRY);
    }
}
