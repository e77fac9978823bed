//! The real application without a driver: as a person starts it, with nothing foreign in its process.

use crate::{Application, Desktop, display::Display};
use anyhow::{Context as _, Result, bail};
use std::{
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

/// Timeout of each phase on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Polling interval of the screen, chosen to take little CPU time from the application.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The running application. It is killed when dropped without [`BareApplication::close`].
pub struct BareApplication {
    process: Child,
    started: Instant,
    display: Display,
}

impl BareApplication {
    /// Starts the binary named by `OCTO_APP` with `home` as Octo's home.
    ///
    /// # Errors
    /// When it is not built.
    pub fn start(desktop: &Desktop, home: &Path) -> Result<Self> {
        Self::spawn(desktop, Application::second_process(desktop, home)?)
    }

    /// Starts another program with one window, for comparison.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_other(desktop: &Desktop, program: &Path) -> Result<Self> {
        Self::spawn(desktop, desktop.command(program))
    }

    /// Starts a program from a command of that desktop, without a wrapper process.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(desktop: &Desktop, mut command: Command) -> Result<Self> {
        let display = desktop.display()?;
        let started = Instant::now();
        let process = command.spawn().context("the application could not be started")?;
        Ok(Self { process, started, display })
    }

    /// Its main process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Blocks until its window shows the page, and returns the time since the process started.
    ///
    /// # Errors
    /// When it ends or shows nothing.
    pub fn painted(&mut self) -> Result<Duration> {
        let mut window = None;
        loop {
            // There is none at first, and a new one may not be readable yet.
            if window.is_none() {
                window = self.display.window().ok();
            }
            let painted = window.is_some_and(|window| self.display.is_painted(window).unwrap_or(false));
            let elapsed = self.started.elapsed();
            if painted {
                return Ok(elapsed);
            }
            if let Some(status) = self.process.try_wait()? {
                bail!("the application ended before it showed its page: {status}");
            }
            if elapsed > PATIENCE {
                bail!(
                    "the application's window {}",
                    if window.is_some() { "stayed empty" } else { "never came" }
                );
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Asks the window to close, as the button in its frame does.
    ///
    /// # Errors
    /// When there is not exactly one window.
    pub fn press_close(&self) -> Result<()> {
        self.display.close(self.display.window()?)
    }

    /// How many windows are on the screen.
    ///
    /// # Errors
    /// When the screen cannot be looked at.
    pub fn windows_shown(&self) -> Result<usize> {
        Ok(self.display.windows()?.len())
    }

    /// Returns the width and height of its window, in pixels.
    ///
    /// # Errors
    /// When there is not exactly one window.
    pub fn size(&self) -> Result<(u32, u32)> {
        self.display.size(self.display.window()?)
    }

    /// Closes the window as the person does, and waits until the application has ended.
    ///
    /// # Errors
    /// When it is still there after a while.
    pub fn close(self) -> Result<()> {
        self.display.close_and_confirm(self.display.window()?)?;
        self.ended()
    }

    /// Waits until the application has ended.
    ///
    /// # Errors
    /// When it is still there after a while.
    pub fn ended(mut self) -> Result<()> {
        let started = Instant::now();
        while self.process.try_wait()?.is_none() {
            if started.elapsed() > PATIENCE {
                bail!("the application did not end");
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }
}

impl Drop for BareApplication {
    fn drop(&mut self) {
        // If it has already ended, that is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
