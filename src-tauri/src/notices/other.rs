//! Notices where the system takes them without saying what became of them. A click brings the application forward.

use super::Order;
use notify_rust::Notification;
use tauri::AppHandle;
use tokio::sync::mpsc::UnboundedReceiver;

/// Shows what is ordered until Octo ends. What is on screen goes by itself.
pub(super) async fn serve(_app: AppHandle, mut orders: UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        let Order::Show { summary, body, .. } = order else { continue };
        let shown = tauri::async_runtime::spawn_blocking(move || {
            Notification::new().appname("Octo").summary(&summary).body(&body).show().map(|_| ())
        });
        match shown.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::info!(%error, "the desktop shows no notices"),
            Err(error) => tracing::warn!(%error, "a notice was not shown"),
        }
    }
}
