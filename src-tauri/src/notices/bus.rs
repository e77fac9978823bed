//! Notices on Linux, over the desktop's bus: they can be withdrawn, and the desktop reports clicks.

use super::{
    DESKTOP_ENTRY, NoticeOrder,
    click::{BUTTONS, action_of, handle_click},
};
use futures::StreamExt as _;
use octo_desktop::{NoticeAction, NoticeKind, NoticeSubject};
use std::collections::HashMap;
use tauri::AppHandle;
use tokio::sync::mpsc::UnboundedReceiver;
use zbus::{Connection, Message, Proxy, proxy::CacheProperties, zvariant::Value};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// Action key of a click on the notice itself.
const DEFAULT_ACTION: &str = "default";

/// Urgency levels of the specification.
const NORMAL: u8 = 1;
const CRITICAL: u8 = 2;

/// The name under which the application's icon is installed.
const ICON: &str = "octo";

/// Shows and withdraws notices until Octo exits. If the desktop's service cannot be reached, it is tried again
/// with the next notice.
pub(super) async fn serve(app: AppHandle, mut orders: UnboundedReceiver<NoticeOrder>) {
    while let Some(order) = orders.recv().await {
        // There is nothing to withdraw yet.
        if matches!(order, NoticeOrder::Withdraw { .. }) {
            continue;
        }
        if let Err(error) = follow(&app, order, &mut orders).await {
            tracing::info!(%error, "the desktop shows no notices");
        }
    }
}

/// Carries out orders over one connection to the desktop, beginning with `first`.
async fn follow(
    app: &AppHandle,
    first: NoticeOrder,
    orders: &mut UnboundedReceiver<NoticeOrder>,
) -> zbus::Result<()> {
    let connection = Connection::session().await?;
    let proxy: Proxy<'_> = zbus::proxy::Builder::new(&connection)
        .destination(NAME)?
        .path(PATH)?
        .interface(NAME)?
        .cache_properties(CacheProperties::No)
        .build()
        .await?;
    let mut signals = std::pin::pin!(proxy.receive_all_signals().await?);
    let mut notices = ShownNotices { markup: understands_markup(&proxy).await?, ids: HashMap::new() };
    notices.carry_out(&proxy, first).await?;
    loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(order) => notices.carry_out(&proxy, order).await?,
                None => return Ok(()),
            },
            signal = signals.next() => match signal {
                Some(signal) => {
                    if let Some((of, action)) = notices.resolve_click(&signal) {
                        handle_click(app, of, action);
                    }
                }
                None => return Ok(()),
            },
        }
    }
}

/// Returns whether the desktop parses text as markup, in which case the text is escaped.
async fn understands_markup(proxy: &Proxy<'_>) -> zbus::Result<bool> {
    let abilities: Vec<String> = proxy.call("GetCapabilities", &()).await?;
    Ok(abilities.iter().any(|ability| ability == "body-markup"))
}

/// The notices on screen, by the numbers the desktop gave them.
struct ShownNotices {
    markup: bool,
    ids: HashMap<NoticeSubject, u32>,
}

impl ShownNotices {
    async fn carry_out(&mut self, proxy: &Proxy<'_>, order: NoticeOrder) -> zbus::Result<()> {
        match order {
            NoticeOrder::Withdraw { subject } => {
                if let Some(id) = self.ids.remove(&subject) {
                    // If the notice is already gone, the goal is reached.
                    let _gone: zbus::Result<()> = proxy.call("CloseNotification", &id).await;
                }
                Ok(())
            }
            NoticeOrder::Show { subject, summary, body, actions, kind } => {
                let replaced_id = self.ids.get(&subject).copied().unwrap_or(0);
                let body = if self.markup { escape_markup(&body) } else { body };
                let urgency = if kind == NoticeKind::Question { CRITICAL } else { NORMAL };
                let hints: HashMap<&str, Value<'_>> = HashMap::from([
                    ("urgency", Value::U8(urgency)),
                    ("desktop-entry", Value::from(DESKTOP_ENTRY)),
                ]);
                let default_action = actions.first().map(|(_, label)| [DEFAULT_ACTION, label.as_str()]);
                let buttons = actions.iter().filter_map(|(action, label)| {
                    let (name, _) = BUTTONS.iter().find(|(_, name)| name == action)?;
                    Some([*name, label.as_str()])
                });
                let actions: Vec<&str> = default_action.into_iter().chain(buttons).flatten().collect();
                // The desktop decides how long it stays visible.
                let call = ("Octo", replaced_id, ICON, summary, body, actions, hints, -1_i32);
                let id: u32 = proxy.call("Notify", &call).await?;
                self.ids.insert(subject, id);
                Ok(())
            }
        }
    }

    /// Returns the subject and the action of a click; `None` for any other signal. Forgets closed notices.
    fn resolve_click(&mut self, signal: &Message) -> Option<(NoticeSubject, NoticeAction)> {
        let header = signal.header();
        match header.member()?.as_str() {
            "ActionInvoked" => {
                let (id, action): (u32, String) = signal.body().deserialize().ok()?;
                let action =
                    action_of(&action).or((action == DEFAULT_ACTION).then_some(NoticeAction::Open))?;
                Some((self.subject_of(id)?, action))
            }
            "NotificationClosed" => {
                let (id, _reason): (u32, u32) = signal.body().deserialize().ok()?;
                let subject = self.subject_of(id)?;
                self.ids.remove(&subject);
                None
            }
            _ => None,
        }
    }

    fn subject_of(&self, id: u32) -> Option<NoticeSubject> {
        self.ids.iter().find(|(_, shown_id)| **shown_id == id).map(|(subject, _)| *subject)
    }
}

fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_no_markup() {
        assert_eq!(escape_markup("a < b & <img src='x'>"), "a &lt; b &amp; &lt;img src='x'&gt;");
    }
}
