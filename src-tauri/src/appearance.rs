//! Applies the theme and zoom from the settings to the windows: frames and backgrounds follow the theme (the
//! page follows it on its own), and pages are scaled by the zoom.

use crate::windows;
use octo_core::Octo;
use octo_protocol::{Event, Settings, Snapshot, StoredTopic, Theme, Update, Zoom};
use parking_lot::Mutex;
use tauri::{AppHandle, Manager, WebviewWindow, utils::config::Color};

/// Page backgrounds (`--bg` in the page's tokens), so that nothing flashes before the page paints.
const LIGHT: Color = Color(0xff, 0xff, 0xff, 0xff);
const DARK: Color = Color(0x1b, 0x1c, 0x1f, 0xff);

/// The latest appearance settings.
#[derive(Default)]
pub(crate) struct Appearance(Mutex<AppearanceSettings>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct AppearanceSettings {
    theme: Theme,
    zoom: Zoom,
}

impl Appearance {
    fn settings(&self) -> AppearanceSettings {
        *self.0.lock()
    }

    /// Stores the settings and returns the previous ones.
    fn set(&self, settings: AppearanceSettings) -> AppearanceSettings {
        std::mem::replace(&mut *self.0.lock(), settings)
    }
}

/// Starts to apply settings changes to the windows.
pub(crate) fn follow(app: AppHandle, octo: Octo) {
    tauri::async_runtime::spawn(async move {
        let mut settings = match octo.subscribe(StoredTopic::Settings).await {
            Ok(settings) => settings,
            Err(error) => return tracing::warn!(%error, "the window does not follow the settings"),
        };
        while let Some(batch) = settings.next().await {
            let Some(settings) = batch.iter().rev().find_map(settings_in) else { continue };
            let previous = app.state::<Appearance>().set(settings);
            // A window that opens later reads the settings when it opens.
            for window in app.webview_windows().into_values() {
                let theme = if previous.theme == settings.theme {
                    Ok(())
                } else {
                    apply_theme(&window, settings.theme)
                };
                let zoom =
                    if previous.zoom == settings.zoom { Ok(()) } else { apply_zoom(&window, settings.zoom) };
                if let Err(error) = theme.and(zoom) {
                    tracing::warn!(%error, "a window did not accept the new appearance");
                }
            }
        }
    });
}

/// Applies theme, background and zoom to a new window.
///
/// # Errors
/// When the window no longer exists.
pub(crate) fn apply_to_new(window: &WebviewWindow) -> tauri::Result<()> {
    let settings = window.state::<Appearance>().settings();
    match settings.theme {
        // A new window already has the system's theme.
        Theme::System => set_background(window)?,
        theme => apply_theme(window, theme)?,
    }
    // A new window has the default zoom.
    if settings.zoom == Zoom::default() { Ok(()) } else { apply_zoom(window, settings.zoom) }
}

/// Sets the zoom of a window with the complete page. The quick ask window is exactly as large as its field, so it
/// is not zoomed.
fn apply_zoom(window: &WebviewWindow, zoom: Zoom) -> tauri::Result<()> {
    if windows::number(window.label()).is_some() { window.set_zoom(zoom.factor()) } else { Ok(()) }
}

fn apply_theme(window: &WebviewWindow, theme: Theme) -> tauri::Result<()> {
    window.set_theme(match theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    })?;
    // On Linux, "none" leaves GTK light whatever the desktop's theme is; at this point the window reports the
    // desktop's theme.
    if cfg!(target_os = "linux") && theme == Theme::System && window.theme()? == tauri::Theme::Dark {
        window.set_theme(Some(tauri::Theme::Dark))?;
    }
    set_background(window)
}

fn set_background(window: &WebviewWindow) -> tauri::Result<()> {
    let color = if window.theme()? == tauri::Theme::Dark { DARK } else { LIGHT };
    window.set_background_color(Some(color))
}

fn settings_in(update: &Update) -> Option<AppearanceSettings> {
    let appearance_of =
        |settings: &Settings| AppearanceSettings { theme: settings.theme, zoom: settings.appearance.zoom };
    match update {
        Update::Snapshot { snapshot: Snapshot::Settings { snapshot, .. } } => {
            Some(appearance_of(&snapshot.settings))
        }
        Update::Event { envelope } => match &envelope.event {
            Event::SettingsChanged { snapshot } => Some(appearance_of(&snapshot.settings)),
            _ => None,
        },
        _ => None,
    }
}
