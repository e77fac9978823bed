//! The windows' frames and grounds follow the theme chosen in the settings, which the page itself knows already, and
//! their pages are as large as is chosen there.

use crate::windows;
use octo_core::Octo;
use octo_protocol::{Event, Settings, Snapshot, Theme, Topic, Update, Zoom};
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager, WebviewWindow, utils::config::Color};

/// The ground of the page in light and dark (`--bg` of its tokens), so that nothing flashes before it paints.
const LIGHT: Color = Color(0xff, 0xff, 0xff, 0xff);
const DARK: Color = Color(0x1b, 0x1c, 0x1f, 0xff);

/// What is chosen in the settings, as last heard.
#[derive(Default)]
pub(crate) struct Appearance(Mutex<Chosen>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Chosen {
    theme: Theme,
    zoom: Zoom,
}

impl Appearance {
    fn chosen(&self) -> Chosen {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was chosen before.
    fn set(&self, chosen: Chosen) -> Chosen {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), chosen)
    }
}

/// Keeps the windows as the settings say from now on.
pub(crate) fn follow(app: AppHandle, octo: Octo) {
    tauri::async_runtime::spawn(async move {
        let mut settings = match octo.subscribe(Topic::Settings).await {
            Ok(settings) => settings,
            Err(error) => return tracing::warn!(%error, "the window does not follow the settings"),
        };
        while let Some(batch) = settings.next().await {
            let Some(chosen) = batch.iter().rev().find_map(chosen_by) else { continue };
            let before = app.state::<Appearance>().set(chosen);
            // One that opens later asks for itself.
            for window in app.webview_windows().into_values() {
                let theme = if before.theme == chosen.theme { Ok(()) } else { apply(&window, chosen.theme) };
                let zoom = if before.zoom == chosen.zoom { Ok(()) } else { enlarge(&window, chosen.zoom) };
                if let Err(error) = theme.and(zoom) {
                    tracing::warn!(%error, "a window did not take what was chosen");
                }
            }
        }
    });
}

/// Gives a window that was just made its theme, its ground and its size of things.
///
/// # Errors
/// When the window is gone.
pub(crate) fn dress(window: &WebviewWindow) -> tauri::Result<()> {
    let chosen = window.state::<Appearance>().chosen();
    match chosen.theme {
        // It came as the system has it.
        Theme::System => ground(window)?,
        theme => apply(window, theme)?,
    }
    // It came with the usual one.
    if chosen.zoom == Zoom::default() { Ok(()) } else { enlarge(window, chosen.zoom) }
}

/// The small window is as large as its field is: it would not hold more.
fn enlarge(window: &WebviewWindow, zoom: Zoom) -> tauri::Result<()> {
    if windows::number(window.label()).is_some() { window.set_zoom(zoom.factor()) } else { Ok(()) }
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

fn chosen_by(update: &Update) -> Option<Chosen> {
    let of = |settings: &Settings| Chosen { theme: settings.theme, zoom: settings.appearance.zoom };
    match update {
        Update::Snapshot { snapshot: Snapshot::Settings { snapshot, .. } } => Some(of(&snapshot.settings)),
        Update::Event { envelope } => match &envelope.event {
            Event::SettingsChanged { snapshot } => Some(of(&snapshot.settings)),
            _ => None,
        },
        _ => None,
    }
}
