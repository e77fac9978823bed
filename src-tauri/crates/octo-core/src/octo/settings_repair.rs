//! Repair of unreadable settings, which never prevent Octo's start: they are set apart, the readable parts are
//! used, and the person is informed.

use octo_protocol::{ApiError, Event, KeychainState, Settings, SettingsSnapshot, StoredTopic};
use octo_store::Store;
use serde_json::{Map, Value};
use std::path::Path;

/// Repairs the stored settings if necessary. Returns the remark for the person.
///
/// # Errors
/// If they could not be set apart; then nothing is changed.
pub(super) async fn repair_settings(
    store: &Store,
    home: &Path,
    keychain: KeychainState,
) -> Result<Option<ApiError>, ApiError> {
    let unreadable = store.read(|reader| reader.unreadable_settings()).await?;
    let Some(text) = unreadable else { return Ok(None) };
    let settings = readable_settings(&text);
    // Named by its content: the same text, found again after a failed start, is one file.
    let name = format!(
        "settings-{}.json",
        blake3::hash(text.as_bytes()).to_hex().chars().take(8).collect::<String>()
    );
    let path = home.join(name);
    let target = path.clone();
    // Nothing is replaced before the copy exists.
    tokio::task::spawn_blocking(move || octo_workspace::write_private(&target, text.as_bytes()))
        .await
        .map_err(|error| ApiError::new("internal").detail(error))?
        .map_err(|error| ApiError::new("start.home_unwritable").arg("home", home.display()).detail(error))?;
    let result = store.write(move |tx| {
        tx.put_settings(&settings)?;
        let snapshot = SettingsSnapshot { settings, models: tx.models()?, keychain };
        tx.emit(StoredTopic::Settings, Event::SettingsChanged { snapshot })?;
        Ok(())
    });
    result.await?;
    tracing::warn!(path = %path.display(), "settings that cannot be read were put aside");
    Ok(Some(ApiError::new("start.settings_aside").arg("path", path.display())))
}

/// Returns the readable parts of stored settings; the rest has default values.
fn readable_settings(text: &str) -> Settings {
    let stored: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    let mut readable = Map::new();
    for (name, value) in stored {
        readable.insert(name.clone(), value);
        if serde_json::from_value::<Settings>(Value::Object(readable.clone())).is_err() {
            readable.remove(&name);
        }
    }
    serde_json::from_value(Value::Object(readable)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_protocol::Theme;
    use serde_json::json;

    #[test]
    fn what_can_be_read_is_kept() {
        let dark = Settings { theme: Theme::Dark, welcomed: true, ..Settings::default() };
        for (text, settings) in [
            (json!({ "theme": "dark", "language": "klingon", "welcomed": true }).to_string(), dark.clone()),
            (json!({ "trash": 7, "theme": "dark", "from_tomorrow": [], "welcomed": true }).to_string(), dark),
            ("{ half".to_owned(), Settings::default()),
            ("[]".to_owned(), Settings::default()),
            (String::new(), Settings::default()),
        ] {
            assert_eq!(readable_settings(&text), settings, "{text}");
        }
    }
}
