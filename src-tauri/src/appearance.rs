//! The windows' frames and grounds follow the theme chosen in the settings; the page itself knows it already.

use octo_core::Octo;
use octo_protocol::{Event, Snapshot, Theme, Topic, Update};
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager, WebviewWindow, utils::config::Color};

/// The ground of the page in light and dark (`--bg` of its tokens), so that nothing flashes before it paints.
const LIGHT: Color = Color(0xff, 0xff, 0xff, 0xff);
const DARK: Color = Color(0x1b, 0x1c, 0x1f, 0xff);

/// The theme chosen in the settings, as last heard.
#[derive(Default)]
pub(crate) struct Appearance(Mutex<Theme>);

impl Appearance {
    fn chosen(&self) -> Theme {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, theme: Theme) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = theme;
    }
}

/// Keeps the windows as the settings say from now on.
pub(crate) fn follow(app: AppHandle, octo: Octo) {
    tauri::async_runtime::spawn(async move {
        let mut settings = match octo.subscribe(Topic::Settings).await {
            Ok(settings) => settings,
            Err(error) => return tracing::warn!(%error, "the window does not follow the theme"),
        };
        while let Some(batch) = settings.next().await {
            let Some(theme) = batch.iter().rev().find_map(theme_of) else { continue };
            let appearance = app.state::<Appearance>();
            if appearance.chosen() == theme {
                continue;
            }
            appearance.set(theme);
            // One that opens later asks for itself.
            for window in app.webview_windows().into_values() {
                if let Err(error) = apply(&window, theme) {
                    tracing::warn!(%error, "a window did not take the theme");
                }
            }
        }
    });
}

/// Gives a window that was just made its theme and its ground.
///
/// # Errors
/// When the window is gone.
pub(crate) fn dress(window: &WebviewWindow) -> tauri::Result<()> {
    match window.state::<Appearance>().chosen() {
        // It came as the system has it.
        Theme::System => ground(window),
        theme => apply(window, theme),
    }
}

fn apply(window: &WebviewWindow, theme: Theme) -> tauri::Result<()> {
    window.set_theme(match theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    })?;
    // There "none" leaves GTK light, whatever the desktop says; asked now, the window tells what that is.
    if cfg!(target_os = "linux") && theme == Theme::System && window.theme()? == tauri::Theme::Dark {
        window.set_theme(Some(tauri::Theme::Dark))?;
    }
    ground(window)
}

fn ground(window: &WebviewWindow) -> tauri::Result<()> {
    let ground = if window.theme()? == tauri::Theme::Dark { DARK } else { LIGHT };
    window.set_background_color(Some(ground))
}

fn theme_of(update: &Update) -> Option<Theme> {
    match update {
        Update::Snapshot { snapshot: Snapshot::Settings { snapshot, .. } } => Some(snapshot.settings.theme),
        Update::Event { envelope } => match &envelope.event {
            Event::SettingsChanged { snapshot } => Some(snapshot.settings.theme),
            _ => None,
        },
        _ => None,
    }
}
