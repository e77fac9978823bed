//! The tab's window.

use super::{Page, PageError};
use crate::{
    CallError,
    cdp::browser_protocol::{
        browser::{Bounds, GetWindowForTargetParams, SetWindowBoundsParams, WindowState},
        emulation::SetFocusEmulationEnabledParams,
        page::BringToFrontParams,
    },
};
use std::time::Duration;

/// Timeout for moving a window or a tab.
const MOVE_TIMEOUT: Duration = Duration::from_secs(3);

impl Page {
    /// Brings the tab to the front of its window and restores a minimised window. Done once when a turn starts
    /// to use a tab, because it takes the focus.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn bring_to_front(&self) -> Result<(), PageError> {
        self.restore_window().await?;
        self.call(BringToFrontParams {}, MOVE_TIMEOUT).await?;
        Ok(())
    }

    /// Restores a minimised window. Windows in any other state stay as they are.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn restore_window(&self) -> Result<(), PageError> {
        let core = &self.0.core;
        let window = GetWindowForTargetParams { target_id: Some(core.target.clone()) };
        let window = match core.link.call(None, window, MOVE_TIMEOUT).await {
            Ok(window) => window,
            // A tab need not have a window: an app's own page has none.
            Err(CallError::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if window.bounds.window_state == Some(WindowState::Minimized) {
            let normal = Bounds { window_state: Some(WindowState::Normal), ..Default::default() };
            core.link.call(None, SetWindowBoundsParams::new(window.window_id, normal), MOVE_TIMEOUT).await?;
        }
        Ok(())
    }

    /// Emulates focus, so that a tab in the background is not throttled while it is acted on. Ends with
    /// [`Self::end_focus_emulation`] or on detach.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn begin_focus_emulation(&self) -> Result<(), PageError> {
        self.call(SetFocusEmulationEnabledParams::new(true), MOVE_TIMEOUT).await?;
        Ok(())
    }

    /// Ends the emulation that [`Self::begin_focus_emulation`] started. Does not wait: a page blocked by a dialog
    /// handles this once the dialog is closed.
    pub fn end_focus_emulation(&self) {
        self.link().send(Some(self.session()), SetFocusEmulationEnabledParams::new(false));
    }
}
