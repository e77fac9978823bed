//! The system's notices: shown, taken away, and what a click on one opens.

#[cfg(target_os = "linux")]
mod bus;
#[cfg(not(target_os = "linux"))]
mod other;
mod pressed;

#[cfg(target_os = "linux")]
use bus as system;
#[cfg(not(target_os = "linux"))]
use other as system;

use crate::desk::Desk;
use octo_desktop::{Act, Deed, NoticeKind, RunNews, Subject, Why};
use tauri::{AppHandle, Manager as _};
use tokio::sync::mpsc;

/// The name of the application's entry among those of the desktop, which the packages make of the product's name.
#[cfg(target_os = "linux")]
pub(crate) const ENTRY: &str = "Octo";

/// How much of a session's title a notice shows, in characters.
const TITLE: usize = 120;

/// How much of the reason why a task did not succeed.
const REASON: usize = 300;

/// What the system is to show.
pub(crate) enum Order {
    /// A notice of a subject, in place of an earlier one.
    Show { of: Subject, summary: String, body: String, deeds: Vec<(Deed, String)>, kind: NoticeKind },
    /// No notice of a subject any more.
    Withdraw { of: Subject },
}

/// Where orders go.
struct Orders(mpsc::UnboundedSender<Order>);

/// Begins to show notices.
pub(crate) fn begin(app: &AppHandle) {
    let (sender, orders) = mpsc::unbounded_channel();
    app.manage(Orders(sender));
    tauri::async_runtime::spawn(system::serve(app.clone(), orders));
}

/// Shows a notice or takes it away.
pub(crate) fn carry_out(app: &AppHandle, act: Act) {
    let order = match act {
        Act::Withdraw { of } => Order::Withdraw { of },
        Act::Show { of, kind, title, run } => {
            let desk = app.state::<Desk>();
            let offered = if run.is_some() { RunNews::DEEDS } else { kind.deeds() };
            let deeds = offered.iter().map(|deed| (*deed, desk.say(words(*deed), &[]))).collect();
            let name = title.chars().take(TITLE).collect();
            let (summary, body) = match run.and_then(|run| run.why) {
                None => (desk.say(told(kind), &[]), name),
                Some(why) => {
                    let why = reason(&desk, &why).chars().take(REASON).collect();
                    (
                        desk.say(told_of_task(kind), &[]),
                        desk.say("notice.task_why", &[("name", name), ("why", why)]),
                    )
                }
            };
            Order::Show { of, summary, body, deeds, kind }
        }
    };
    if let Some(orders) = app.try_state::<Orders>()
        && orders.0.send(order).is_err()
    {
        tracing::debug!("notices are not shown any more");
    }
}

/// What a notice of a session says.
fn told(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Question => "notice.question",
        NoticeKind::Finished => "notice.finished",
        NoticeKind::Failed => "notice.failed",
    }
}

/// What a notice of a run says that has a reason to it.
fn told_of_task(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Question => "notice.task_question",
        NoticeKind::Finished => "notice.finished",
        NoticeKind::Failed => "notice.task_failed",
    }
}

/// Why a run asks or did not succeed.
fn reason(desk: &Desk, why: &Why) -> String {
    match why {
        Why::Error(error) => desk.explain(error),
        Why::TimedOut => desk.say("tasks.status.timed_out", &[]),
        Why::OverBudget => desk.say("tasks.status.over_budget", &[]),
        Why::Missed => desk.say("notice.task_missed", &[]),
    }
}

/// What a button says.
fn words(deed: Deed) -> &'static str {
    match deed {
        Deed::Open => "notice.open",
        Deed::Stop => "notice.stop",
        Deed::TryAgain => "notice.again",
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_named_as_the_packages_name_it() {
        let configuration: serde_json::Value =
            serde_json::from_str(include_str!("../../tauri.conf.json")).unwrap();
        assert_eq!(configuration["productName"], ENTRY);
    }
}
