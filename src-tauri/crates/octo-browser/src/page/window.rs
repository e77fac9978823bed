//! The window the tab is in.

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

/// How long the browser may take to move a window or a tab.
const MOVE: Duration = Duration::from_secs(3);

impl Page {
    /// Brings the tab to the front of its window, and a minimised window back. Once when a task begins on a tab: it
    /// takes the focus.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn bring_to_front(&self) -> Result<(), PageError> {
        self.restore_window().await?;
        self.call(BringToFrontParams {}, MOVE).await?;
        Ok(())
    }

    /// Brings a minimised window back. Windows that are on the screen, whatever their size, stay as they are.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn restore_window(&self) -> Result<(), PageError> {
        let core = &self.0.core;
        let window = GetWindowForTargetParams { target_id: Some(core.target.clone()) };
        let window = match core.link.call(None, window, MOVE).await {
            Ok(window) => window,
            // A tab need not be in a window: an app's own page is not.
            Err(CallError::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if window.bounds.window_state == Some(WindowState::Minimized) {
            let normal = Bounds { window_state: Some(WindowState::Normal), ..Default::default() };
            core.link.call(None, SetWindowBoundsParams::new(window.window_id, normal), MOVE).await?;
        }
        Ok(())
    }

    /// Has the page believe that it has the focus, so that a tab in the background is not slowed down while it is
    /// acted upon. [`Self::end_acting`] ends it, and so does detaching.
    ///
    /// # Errors
    ///
    /// [`PageError`].
    pub async fn begin_acting(&self) -> Result<(), PageError> {
        self.call(SetFocusEmulationEnabledParams::new(true), MOVE).await?;
        Ok(())
    }

    /// Ends what [`Self::begin_acting`] began. It is not waited for: a page that a dialog holds does it once that is
    /// closed.
    pub fn end_acting(&self) {
        self.link().tell(Some(self.session()), SetFocusEmulationEnabledParams::new(false));
    }
}
