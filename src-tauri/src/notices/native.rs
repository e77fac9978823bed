//! Notices on macOS and Windows. They disappear on their own; clicks are handled while they are visible.

use super::{
    NoticeOrder,
    click::{BUTTONS, action_of, handle_click},
};
use notify_rust::{Notification, NotificationResponse};
use octo_desktop::NoticeAction;
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use tauri::AppHandle;
use tokio::sync::mpsc::UnboundedReceiver;

/// Maximum number of notices listened to at once: each occupies a thread until it disappears.
const MAX_LISTENED: usize = 16;

/// Shows notices until Octo exits.
pub(super) async fn serve(app: AppHandle, mut orders: UnboundedReceiver<NoticeOrder>) {
    let listening = Arc::new(AtomicUsize::new(0));
    while let Some(order) = orders.recv().await {
        let NoticeOrder::Show { subject, summary, body, actions, .. } = order else { continue };
        let mut notice = Notification::new();
        notice.appname("Octo").summary(&summary).body(&body);
        // Windows identifies the app, and finds its icon, by the system's name for it; an app that is not
        // installed has none.
        #[cfg(windows)]
        if !tauri::is_dev() {
            notice.app_id(&app.config().identifier);
        }
        for (action, label) in &actions {
            if let Some((name, _)) = BUTTONS.iter().find(|(_, button)| button == action) {
                notice.action(name, label);
            }
        }
        let (app, listening) = (app.clone(), Arc::clone(&listening));
        // A separate thread: on macOS, showing a notice already blocks until it is answered.
        let thread = thread::Builder::new().name("octo-notice".to_owned()).spawn(move || {
            let handle = match notice.show() {
                Ok(handle) => handle,
                Err(error) => return tracing::info!(%error, "the desktop shows no notices"),
            };
            if listening.fetch_add(1, Ordering::Relaxed) < MAX_LISTENED {
                let answered = handle.wait_for_response(|response: &NotificationResponse| {
                    let action = match response {
                        NotificationResponse::Default => Some(NoticeAction::Open),
                        NotificationResponse::Action(name) => action_of(name),
                        NotificationResponse::Reply(_) | NotificationResponse::Closed(_) => None,
                    };
                    if let Some(action) = action {
                        handle_click(&app, subject, action);
                    }
                });
                if let Err(error) = answered {
                    tracing::debug!(%error, "what became of a notice is not known");
                }
            }
            listening.fetch_sub(1, Ordering::Relaxed);
        });
        if let Err(error) = thread {
            tracing::warn!(%error, "a notice was not shown");
        }
    }
}
