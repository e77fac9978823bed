//! A private display with simulated input.

use super::until;
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, ImageFormat},
};

/// A point of the page below the browser's prompts.
const SAMPLE_POINT: (i16, i16) = (560, 700);

/// The window management of a display, without which windows have no frames and cannot be minimised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowFrames {
    /// There is no window manager.
    None,
    /// There is one.
    Managed,
}

/// A separate display with a separate home. Its programs end with it.
pub(crate) struct TestDisplay {
    programs: Vec<Child>,
    name: String,
    folder: TempDir,
}

impl TestDisplay {
    pub(crate) async fn start(frame: WindowFrames) -> Self {
        let folder = tempfile::Builder::new().prefix("octo-browser-").tempdir().expect("a folder");
        let mut screen = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb; cargo xtask test installs it");
        let mut number = String::new();
        BufReader::new(screen.stdout.take().expect("its output")).read_line(&mut number).expect("a display");
        let mut display = Self { programs: vec![screen], name: format!(":{}", number.trim()), folder };
        if frame == WindowFrames::Managed {
            let manager = display.command("openbox").spawn().expect("openbox; cargo xtask test installs it");
            display.programs.insert(0, manager);
            until("the window manager", async || {
                // Only a window manager answers this.
                (!display.run_xdotool(&["get_num_desktops"]).is_empty()).then_some(())
            })
            .await;
        }
        display
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn profile(&self) -> PathBuf {
        self.folder.path().join("profile")
    }

    /// Creates a command on the display, with no other environment.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", self.folder.path())
            .env("LANG", "C.UTF-8")
            .env("DISPLAY", &self.name)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Returns whether one of the browser's prompts covers the tests' white pages: it darkens them.
    pub(crate) fn is_darkened(&self) -> bool {
        (0x30..0xc0).contains(&self.brightness())
    }

    /// Returns whether the page is visible and nothing covers it.
    pub(crate) fn is_white(&self) -> bool {
        self.brightness() >= 0xf0
    }

    /// Returns the brightness of the page.
    fn brightness(&self) -> u8 {
        let (connection, screen) = x11rb::connect(Some(&self.name)).expect("the display");
        let root = connection.setup().roots[screen].root;
        let pixel = connection
            .get_image(ImageFormat::Z_PIXMAP, root, SAMPLE_POINT.0, SAMPLE_POINT.1, 1, 1, u32::MAX)
            .expect("asked")
            .reply()
            .expect("a picture");
        pixel.data[0]
    }

    /// Runs `xdotool` and returns its output.
    pub(crate) fn run_xdotool(&self, arguments: &[&str]) -> String {
        let output = self
            .command("xdotool")
            .args(arguments)
            .stdout(Stdio::piped())
            .output()
            .expect("xdotool; cargo xtask test installs it");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for TestDisplay {
    fn drop(&mut self) {
        for program in &mut self.programs {
            // If it has already ended, that is fine.
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}
