//! Notifications on macOS and Windows. They disappear on their own; clicks are handled while they are visible.

use super::{
    NotificationRequest,
    click::{BUTTONS, action_of, handle_click},
};
use notify_rust::{Notification, NotificationResponse};
use octo_desktop::NotificationAction;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use tauri::AppHandle;
use tokio::sync::mpsc::UnboundedReceiver;

/// Maximum number of notifications listened to at once: each occupies a thread until it disappears.
const MAX_LISTENERS: usize = 16;

/// Shows notifications until Octo exits.
pub(super) async fn serve(app: AppHandle, mut requests: UnboundedReceiver<NotificationRequest>) {
    let listener_count = Arc::new(AtomicUsize::new(0));
    while let Some(request) = requests.recv().await {
        let NotificationRequest::Show { subject, summary, body, actions, .. } = request else { continue };
        let mut notification = Notification::new();
        notification.appname("Octo").summary(&summary).body(&body);
        // Windows identifies the app, and finds its icon, by the system's name for it; an app that is not
        // installed has none.
        #[cfg(windows)]
        if !tauri::is_dev() {
            notification.app_id(&app.config().identifier);
        }
        for (action, label) in &actions {
            if let Some((name, _)) = BUTTONS.iter().find(|(_, button)| button == action) {
                notification.action(name, label);
            }
        }
        let (app, listener_count) = (app.clone(), Arc::clone(&listener_count));
        // A separate thread: on macOS, showing a notification already blocks until it is answered.
        let thread = thread::Builder::new().name("octo-notice".to_owned()).spawn(move || {
            let handle = match notification.show() {
                Ok(handle) => handle,
                Err(error) => return tracing::info!(%error, "the desktop shows no notifications"),
            };
            if listener_count.fetch_add(1, Ordering::Relaxed) < MAX_LISTENERS {
                let answered = handle.wait_for_response(|response: &NotificationResponse| {
                    let action = match response {
                        NotificationResponse::Default => Some(NotificationAction::Open),
                        NotificationResponse::Action(name) => action_of(name),
                        NotificationResponse::Reply(_) | NotificationResponse::Closed(_) => None,
                    };
                    if let Some(action) = action {
                        handle_click(&app, subject, action);
                    }
                });
                if let Err(error) = answered {
                    tracing::debug!(%error, "the response to a notification is not known");
                }
            }
            listener_count.fetch_sub(1, Ordering::Relaxed);
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "a notification was not shown");
        }
    }
}
