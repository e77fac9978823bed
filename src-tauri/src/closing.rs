//! The end: running work is let go in good order, but the end is not held up for it.

use crate::setup::Core;
use std::time::Duration;
use tauri::{AppHandle, Manager, RunEvent};

/// How long the end waits for the core. What was finished is stored by then; a kill after this loses no more
/// than a power cut would, and the next start repairs that.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where the end of the application stands.
#[derive(Default)]
pub(crate) enum Closing {
    /// Nobody asked for it.
    #[default]
    Open,
    /// The core is being let go; the next request to exit is our own.
    LettingGo,
}

impl Closing {
    /// Follows the application's events.
    pub(crate) fn on(&mut self, app: &AppHandle, event: &RunEvent) {
        let RunEvent::ExitRequested { code, api, .. } = event else { return };
        match self {
            Self::LettingGo => {}
            Self::Open => {
                api.prevent_exit();
                *self = Self::LettingGo;
                let app = app.clone();
                let code = code.unwrap_or(0);
                tauri::async_runtime::spawn(async move {
                    let core = app.try_state::<Core>().and_then(|core| core.running());
                    if let Some(octo) = core
                        && tokio::time::timeout(PATIENCE, octo.shutdown()).await.is_err()
                    {
                        tracing::warn!(?PATIENCE, "the core did not end in time");
                    }
                    app.exit(code);
                });
            }
        }
    }
}
