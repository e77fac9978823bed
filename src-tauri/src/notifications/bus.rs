//! Notifications on Linux, over the desktop's bus: they can be withdrawn, and the desktop reports clicks.

use super::{
    DESKTOP_ENTRY, NotificationRequest,
    click::{BUTTONS, action_of, handle_click},
};
use futures::StreamExt as _;
use octo_desktop::{NotificationAction, NotificationKind, NotificationSubject};
use std::collections::HashMap;
use tauri::AppHandle;
use tokio::sync::mpsc::UnboundedReceiver;
use zbus::{Connection, Message, Proxy, proxy::CacheProperties, zvariant::Value};

const SERVICE: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// Action key of a click on the notification itself.
const DEFAULT_ACTION: &str = "default";

/// Urgency levels of the specification.
const NORMAL: u8 = 1;
const CRITICAL: u8 = 2;

/// The name under which the application's icon is installed.
const ICON: &str = "octo";

/// Shows and withdraws notifications until Octo exits. If the desktop's service cannot be reached, it is tried again
/// with the next notification.
pub(super) async fn serve(app: AppHandle, mut requests: UnboundedReceiver<NotificationRequest>) {
    while let Some(request) = requests.recv().await {
        // There is nothing to withdraw yet.
        if matches!(request, NotificationRequest::Withdraw { .. }) {
            continue;
        }
        if let Err(error) = follow(&app, request, &mut requests).await {
            tracing::info!(%error, "the desktop shows no notifications");
        }
    }
}

/// Carries out requests over one connection to the desktop, beginning with `first`.
async fn follow(
    app: &AppHandle,
    first: NotificationRequest,
    requests: &mut UnboundedReceiver<NotificationRequest>,
) -> zbus::Result<()> {
    let connection = Connection::session().await?;
    let proxy: Proxy<'_> = zbus::proxy::Builder::new(&connection)
        .destination(SERVICE)?
        .path(PATH)?
        .interface(SERVICE)?
        .cache_properties(CacheProperties::No)
        .build()
        .await?;
    let mut signals = std::pin::pin!(proxy.receive_all_signals().await?);
    let mut notifications =
        ShownNotifications { has_markup: understands_markup(&proxy).await?, ids: HashMap::new() };
    notifications.carry_out(&proxy, first).await?;
    loop {
        tokio::select! {
            request = requests.recv() => match request {
                Some(request) => notifications.carry_out(&proxy, request).await?,
                None => return Ok(()),
            },
            signal = signals.next() => match signal {
                Some(signal) => {
                    if let Some((subject, action)) = notifications.resolve_click(&signal) {
                        handle_click(app, subject, action);
                    }
                }
                None => return Ok(()),
            },
        }
    }
}

/// Returns whether the desktop parses the body as markup, which requires escaping.
async fn understands_markup(proxy: &Proxy<'_>) -> zbus::Result<bool> {
    let abilities: Vec<String> = proxy.call("GetCapabilities", &()).await?;
    Ok(abilities.iter().any(|ability| ability == "body-markup"))
}

/// The notifications on screen, with the ids that the desktop gave them.
struct ShownNotifications {
    has_markup: bool,
    ids: HashMap<NotificationSubject, u32>,
}

impl ShownNotifications {
    async fn carry_out(&mut self, proxy: &Proxy<'_>, request: NotificationRequest) -> zbus::Result<()> {
        match request {
            NotificationRequest::Withdraw { subject } => {
                if let Some(id) = self.ids.remove(&subject) {
                    // An error means that the notification is already gone.
                    let _gone: zbus::Result<()> = proxy.call("CloseNotification", &id).await;
                }
                Ok(())
            }
            NotificationRequest::Show { subject, summary, body, actions, kind } => {
                let replaced_id = self.ids.get(&subject).copied().unwrap_or(0);
                let body = if self.has_markup { escape_markup(&body) } else { body };
                let urgency = if kind == NotificationKind::Question { CRITICAL } else { NORMAL };
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

    /// Returns the subject and the action of a click; `None` for any other signal. Forgets closed notifications.
    fn resolve_click(&mut self, signal: &Message) -> Option<(NotificationSubject, NotificationAction)> {
        let header = signal.header();
        match header.member()?.as_str() {
            "ActionInvoked" => {
                let (id, action): (u32, String) = signal.body().deserialize().ok()?;
                let action =
                    action_of(&action).or((action == DEFAULT_ACTION).then_some(NotificationAction::Open))?;
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

    fn subject_of(&self, id: u32) -> Option<NotificationSubject> {
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
