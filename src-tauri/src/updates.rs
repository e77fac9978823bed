//! Updates: checked when the person asks, or once a day if they agreed to that; shown with their changes and
//! installed on request.
//!
//! The source of updates and their signing key are part of a release's configuration. A build without them says
//! so and contacts no one.

mod transfer;

use crate::{exit, setup::Core, shell_state::queue_open_request};
use octo_core::Octo;
use octo_desktop::{is_news, until_check};
use octo_protocol::{
    ApiError, ChangeSettings, GetSettings, Millis, OpenRequest, SettingsPatch, StoredTopic, UpdateDownload,
    UpdateOffer, UpdateSettings,
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tauri::{AppHandle, Config, Manager as _, Wry, plugin::TauriPlugin};
use tauri_plugin_updater::{Update, UpdaterExt as _};
use tokio::sync::Mutex;
use transfer::{TransferError, UpdateTransfer};

/// The plugin's name in the configuration.
const PLUGIN_NAME: &str = "updater";

/// Maximum time that a server may take to report the latest version.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// Interval at which the clock is checked while waiting for the next update check.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(15 * 60);

/// The update that was found but not installed, and the one being downloaded.
#[derive(Default)]
pub(crate) struct UpdateState {
    update: Mutex<Option<Update>>,
    transfer: parking_lot::Mutex<Option<UpdateTransfer>>,
}

impl UpdateState {
    fn transfer(&self) -> parking_lot::MutexGuard<'_, Option<UpdateTransfer>> {
        // The lock protects single assignments only.
        self.transfer.lock()
    }
}

/// Creates the updater plugin, if this build knows an update source.
pub(crate) fn plugin(config: &Config) -> Option<TauriPlugin<Wry, tauri_plugin_updater::Config>> {
    has_source(config).then(|| tauri_plugin_updater::Builder::new().build())
}

/// Replaces the build's update source.
pub(crate) fn set_source(config: &mut Config, updates: serde_json::Value) {
    config.plugins.0.insert(PLUGIN_NAME.to_owned(), updates);
}

fn has_source(config: &Config) -> bool {
    let is_set = |value: Option<&serde_json::Value>| {
        value.and_then(|value| value.as_str()).is_some_and(|text| !text.is_empty())
    };
    config.plugins.0.get(PLUGIN_NAME).is_some_and(|updates| {
        let addresses = updates.get("endpoints").and_then(|addresses| addresses.as_array());
        is_set(updates.get("pubkey")) && addresses.is_some_and(|addresses| !addresses.is_empty())
    })
}

/// Fails if this build has no update source.
pub(crate) fn require_source(app: &AppHandle) -> Result<(), ApiError> {
    if has_source(app.config()) { Ok(()) } else { Err(ApiError::new("updates.not_set_up")) }
}

/// Checks for an update.
pub(crate) async fn check_for_update(app: &AppHandle) -> Result<Option<UpdateOffer>, ApiError> {
    require_source(app)?;
    let octo =
        app.state::<Core>().running().ok_or_else(|| ApiError::new("updates.not_reached").retryable())?;
    // Like all other requests, check and download use the chosen proxy and the trusted certificates.
    let configure = octo.network().configure().map_err(|error| error.to_api())?;
    let failure =
        |error: tauri_plugin_updater::Error| ApiError::new("updates.not_reached").detail(error).retryable();
    let handle = app.clone();
    let updater = app
        .updater_builder()
        .timeout(CHECK_TIMEOUT)
        .configure_client(configure)
        // On Windows the installer ends this process.
        .on_before_exit(move || exit::shut_core_down_blocking(&handle))
        .build()
        .map_err(failure)?;
    let update = updater.check().await.map_err(failure)?;
    let offer = update.as_ref().map(|update| UpdateOffer {
        version: update.version.clone(),
        notes: update.body.clone().unwrap_or_default(),
        released: update.raw_json.get("pub_date").and_then(|date| date.as_str()).map(str::to_owned),
    });
    *app.state::<UpdateState>().update.lock().await = update;
    Ok(offer)
}

/// Starts to check automatically, as often as the person agreed to.
pub(crate) fn follow(app: &AppHandle, octo: &Octo) {
    // A build without an update source has nothing to check, whatever was set under another build.
    if require_source(app).is_ok() {
        tauri::async_runtime::spawn(check_daily(app.clone(), octo.clone()));
    }
}

async fn check_daily(app: AppHandle, octo: Octo) {
    let mut changes = match octo.subscribe(StoredTopic::Settings).await {
        Ok(changes) => changes,
        Err(error) => return tracing::warn!(%error, "updates are not checked for"),
    };
    loop {
        let desktop = match octo.call(GetSettings {}).await {
            Ok(snapshot) => snapshot.settings.desktop,
            Err(error) => return tracing::warn!(%error, "updates are no longer checked for"),
        };
        // A sleeping machine does not count the time, so the clock is checked regularly.
        let delay = until_check(&desktop.updates, now()).map(|delay| delay.min(CLOCK_CHECK_INTERVAL));
        tokio::select! {
            batch = changes.next() => if batch.is_none() { return },
            () = tokio::time::sleep(delay.unwrap_or(CLOCK_CHECK_INTERVAL)), if delay.is_some() => {
                if until_check(&desktop.updates, now()).is_some_and(|left| left.is_zero())
                    && let Err(error) = check_once(&app, &octo).await
                {
                    tracing::warn!(%error, "the check for an update failed");
                    // If the check cannot be recorded, it is due again at once.
                    tokio::time::sleep(CLOCK_CHECK_INTERVAL).await;
                }
            }
        }
    }
}

/// Checks once. A failed check counts too: the server is asked once a day, not until it answers.
async fn check_once(app: &AppHandle, octo: &Octo) -> Result<(), ApiError> {
    let settings = update_settings(octo, |updates| updates.checked_at = Some(now())).await?;
    if let Some(offer) = check_for_update(app).await?.filter(|offer| is_news(&settings, &offer.version)) {
        update_settings(octo, |updates| updates.announced = Some(offer.version.clone())).await?;
        queue_open_request(app, OpenRequest::UpdateFound { offer });
    }
    Ok(())
}

/// Changes the current update settings: the person may have edited them while the server was asked.
async fn update_settings(
    octo: &Octo,
    change: impl FnOnce(&mut UpdateSettings),
) -> Result<UpdateSettings, ApiError> {
    let mut desktop = octo.call(GetSettings {}).await?.settings.desktop;
    change(&mut desktop.updates);
    let updates = desktop.updates.clone();
    let patch = SettingsPatch { desktop: Some(desktop), ..SettingsPatch::default() };
    octo.call(ChangeSettings { patch }).await?;
    Ok(updates)
}

fn now() -> Millis {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(elapsed.as_millis()).unwrap_or(Millis::MAX)
}

/// Installs the update of this version, which the person saw, and restarts.
pub(crate) async fn install(app: &AppHandle, version: &str) -> Result<(), ApiError> {
    require_source(app)?;
    // Taken, so that it is installed only once. If the installation fails it is put back, unless another update
    // was found meanwhile.
    let state = app.state::<UpdateState>();
    let update = state.update.lock().await.take_if(|update| update.version == version);
    let update = update.ok_or_else(|| ApiError::new("updates.gone").arg("version", version))?;
    let transfer = UpdateTransfer::new(version);
    *state.transfer() = Some(transfer.clone());
    let progress = transfer.clone();
    let downloaded = transfer
        .run(update.download(move |bytes, total| progress.record_progress(bytes, total), || {}))
        .await;
    *state.transfer() = None;
    // The download verified its signature.
    let installed = downloaded.and_then(|bytes| update.install(bytes).map_err(TransferError::from));
    let Err(error) = installed else {
        exit::restart(app);
        return Ok(());
    };
    state.update.lock().await.get_or_insert(update);
    tracing::warn!(?error, version, "the update was not installed");
    Err(match error {
        TransferError::Cancelled => ApiError::new("updates.given_up").arg("version", version),
        TransferError::Untrusted(error) => {
            ApiError::new("updates.untrusted").arg("version", version).detail(error)
        }
        TransferError::Failed(error) => {
            ApiError::new("updates.not_installed").arg("version", version).detail(error)
        }
    })
}

/// Returns the progress of the update that is being installed.
pub(crate) fn download(app: &AppHandle) -> Option<UpdateDownload> {
    app.state::<UpdateState>().transfer().as_ref().map(UpdateTransfer::state)
}

/// Cancels the download; once it is complete, the update is installed.
pub(crate) fn cancel(app: &AppHandle) {
    if let Some(transfer) = app.state::<UpdateState>().transfer().as_ref() {
        transfer.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_build_without_a_key_or_an_address_has_no_updates() {
        let config = |updates: serde_json::Value| -> Config {
            serde_json::from_value(json!({ "identifier": "io.example.x", "plugins": { "updater": updates } }))
                .unwrap()
        };
        for (updates, set_up) in [
            (json!({ "pubkey": "key", "endpoints": ["https://example.org/latest.json"] }), true),
            (json!({ "pubkey": "", "endpoints": ["https://example.org/latest.json"] }), false),
            (json!({ "pubkey": "key", "endpoints": [] }), false),
            (json!({ "endpoints": ["https://example.org/latest.json"] }), false),
            (json!({}), false),
        ] {
            assert_eq!(has_source(&config(updates.clone())), set_up, "{updates}");
        }
        assert!(!has_source(&Config::default()));
    }
}
