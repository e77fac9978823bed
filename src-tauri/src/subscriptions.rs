//! The pages' subscriptions: one task each, which forwards the core's batches to the page's channel.

use octo_core::Subscription;
use octo_protocol::Update;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::Arc};
use tauri::{async_runtime::JoinHandle, ipc::Channel};

/// Id of a page's subscription; never reused while the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SubscriptionId(u32);

/// The subscriptions of the pages of all windows.
#[derive(Default)]
pub(crate) struct Subscriptions {
    running: Arc<Mutex<RunningForwards>>,
}

#[derive(Default)]
struct RunningForwards {
    last_id: u32,
    tasks: HashMap<SubscriptionId, ForwardTask>,
}

/// The forwarding task and the label of the window it serves.
struct ForwardTask {
    window: String,
    handle: JoinHandle<()>,
}

impl Subscriptions {
    /// Forwards until the subscription ends, the page is gone or [`Subscriptions::end`] is called.
    pub(crate) fn forward(
        &self,
        mut subscription: Subscription,
        window: &str,
        page: Channel<Vec<Update>>,
    ) -> SubscriptionId {
        let mut running = self.running.lock();
        running.last_id += 1;
        let id = SubscriptionId(running.last_id);
        let all = Arc::clone(&self.running);
        // The lock is kept until the task is entered, so that a task which ends at once finds its entry.
        let handle = tauri::async_runtime::spawn(async move {
            while let Some(batch) = subscription.next().await {
                if let Err(error) = page.send(batch) {
                    tracing::debug!(%error, "the page no longer listens");
                    break;
                }
            }
            all.lock().tasks.remove(&id);
        });
        running.tasks.insert(id, ForwardTask { window: window.to_owned(), handle });
        id
    }

    /// Ends a subscription; ignored if it has already ended.
    pub(crate) fn end(&self, id: SubscriptionId) {
        if let Some(task) = self.running.lock().tasks.remove(&id) {
            task.handle.abort();
        }
    }

    /// Ends all subscriptions of a window: its page navigated away or crashed (the new page subscribes again),
    /// or the window closed.
    pub(crate) fn end_window(&self, window: &str) {
        for (_, task) in self.running.lock().tasks.extract_if(|_, task| task.window == window) {
            task.handle.abort();
        }
    }
}
