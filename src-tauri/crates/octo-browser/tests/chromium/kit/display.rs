//! A private display, and hands on it.

use super::until;
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// Whether windows have frames, and can be minimised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// There is no window manager.
    None,
    /// There is one.
    Managed,
}

/// A display of its own, with a home of its own. Its programs end with it.
pub(crate) struct Desk {
    programs: Vec<Child>,
    name: String,
    folder: TempDir,
}

impl Desk {
    pub(crate) async fn start(frame: Frame) -> Self {
        let folder = tempfile::Builder::new().prefix("octo-browser-").tempdir().expect("a folder");
        let mut screen = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb; cargo xtask test installs it");
        let mut number = String::new();
        BufReader::new(screen.stdout.take().expect("its output")).read_line(&mut number).expect("a display");
        let mut desk = Self { programs: vec![screen], name: format!(":{}", number.trim()), folder };
        if frame == Frame::Managed {
            let manager = desk.command("openbox").spawn().expect("openbox; cargo xtask test installs it");
            desk.programs.insert(0, manager);
            until("the window manager", async || {
                // Only a window manager knows it.
                (!desk.hands(&["get_num_desktops"]).is_empty()).then_some(())
            })
            .await;
        }
        desk
    }

    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn profile(&self) -> PathBuf {
        self.folder.path().join("profile")
    }

    /// A program on the display, in no other environment.
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

    /// What `xdotool` says.
    pub(crate) fn hands(&self, arguments: &[&str]) -> String {
        let output = self
            .command("xdotool")
            .args(arguments)
            .stdout(Stdio::piped())
            .output()
            .expect("xdotool; cargo xtask test installs it");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The windows shown with this in their title.
    pub(crate) fn windows(&self, title: &str) -> Vec<String> {
        let found = self.hands(&["search", "--onlyvisible", "--name", title]);
        found.lines().map(str::to_owned).collect()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for program in &mut self.programs {
            // It may have ended already, which is as good.
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}
