//! The system's notices: shown, taken away, and what a click on one opens.

#[cfg(target_os = "linux")]
mod bus;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(target_os = "linux")]
use bus as system;
#[cfg(not(target_os = "linux"))]
use other as system;

use crate::desk::Desk;
use octo_desktop::{Act, Deed, NoticeKind};
use octo_protocol::SessionId;
use tauri::{AppHandle, Manager as _};
use tokio::sync::mpsc;

/// How much of a session's title a notice shows, in characters.
const TITLE: usize = 120;

/// What the system is to show.
pub(crate) enum Order {
    /// A notice of a session, in place of an earlier one.
    Show { session: SessionId, summary: String, body: String, deeds: Vec<(Deed, String)>, kind: NoticeKind },
    /// No notice of a session any more.
    Withdraw { session: SessionId },
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
        Act::Withdraw { session } => Order::Withdraw { session },
        Act::Show { session, kind, title } => {
            let desk = app.state::<Desk>();
            let summary = match kind {
                NoticeKind::Question => "notice.question",
                NoticeKind::Finished => "notice.finished",
                NoticeKind::Failed => "notice.failed",
            };
            let body = title.chars().take(TITLE).collect();
            let deeds = kind.deeds().iter().map(|deed| (*deed, desk.say(words(*deed), &[]))).collect();
            Order::Show { session, summary: desk.say(summary, &[]), body, deeds, kind }
        }
    };
    if let Some(orders) = app.try_state::<Orders>()
        && orders.0.send(order).is_err()
    {
        tracing::debug!("notices are not shown any more");
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
