//! A separate desktop for one test: a display, a message bus and an unlocked keychain, in a temporary home.

use crate::{display::Display, keyring};
use anyhow::{Context as _, Result, bail};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};
use tempfile::TempDir;

/// Timeout for the start of a part of the desktop on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Size of a picture of the whole screen.
const SCREEN: &str = "1440x900x24";

/// Variables the desktop's programs inherit; everything else of the environment is left out, so that no test
/// reaches the person's own session.
const INHERITED: &[&str] = &["PATH", "TMPDIR", "RUST_BACKTRACE", "LD_LIBRARY_PATH"];

/// A bus that knows no programs to start.
const BARE_BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// A running desktop. Its programs end with it.
#[derive(Debug)]
pub struct Desktop {
    // Dropped in this order: programs that need the display end before the display.
    programs: Vec<Program>,
    environment: BTreeMap<OsString, OsString>,
    folder: TempDir,
}

impl Desktop {
    /// Starts one.
    ///
    /// # Errors
    /// When one of its programs is not installed or does not come up.
    pub fn start() -> Result<Self> {
        let mut desktop = Self::start_screen()?;
        let mut bus = desktop.command("dbus-daemon");
        bus.args(["--session", "--nofork", "--print-address=1"]);
        desktop.start_bus(bus)?;
        let keychain = keyring::start(&desktop)?;
        desktop.own_child(keychain);
        Ok(desktop)
    }

    /// Starts one on whose bus there is no keychain, and nothing that would start one.
    ///
    /// # Errors
    /// When one of its programs is not installed or does not come up.
    pub fn start_without_keychain() -> Result<Self> {
        let mut desktop = Self::start_screen()?;
        let config = desktop.folder().join("bus.conf");
        fs::write(&config, BARE_BUS)?;
        let mut bus = desktop.command("dbus-daemon");
        bus.args(["--nofork", "--print-address=1"]).arg(format!("--config-file={}", config.display()));
        desktop.start_bus(bus)?;
        Ok(desktop)
    }

    fn start_bus(&mut self, bus: Command) -> Result<()> {
        let address = self.start_and_read_line(bus)?;
        self.environment.insert("DBUS_SESSION_BUS_ADDRESS".into(), address.into());
        Ok(())
    }

    fn start_screen() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("octo-desktop-").tempdir()?;
        let (home, run) = (folder.path().join("home"), folder.path().join("run"));
        fs::create_dir(&home)?;
        fs::create_dir(&run)?;
        private(&run)?;
        let mut environment: BTreeMap<OsString, OsString> = INHERITED
            .iter()
            .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
            .collect();
        let fixed: [(&str, &OsStr); 8] = [
            ("HOME", home.as_os_str()),
            ("XDG_RUNTIME_DIR", run.as_os_str()),
            ("LANG", "C.UTF-8".as_ref()),
            ("GDK_BACKEND", "x11".as_ref()),
            // Software rendering, without the warnings that hardware is missing.
            ("LIBGL_ALWAYS_SOFTWARE", "1".as_ref()),
            ("WEBKIT_DISABLE_COMPOSITING_MODE", "1".as_ref()),
            // Accessibility and virtual file systems would start further programs.
            ("NO_AT_BRIDGE", "1".as_ref()),
            ("GIO_USE_VFS", "local".as_ref()),
        ];
        environment.extend(fixed.map(|(name, value)| (name.into(), value.into())));
        let mut desktop = Self { programs: Vec::new(), environment, folder };

        let screen = desktop.another_screen()?;
        desktop.environment.insert("DISPLAY".into(), screen.into());
        Ok(desktop)
    }

    /// The folder that is deleted with the desktop.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the person's home on it.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Starts a second screen, for windows that must not cover the application's own; returns the name of its
    /// display.
    ///
    /// # Errors
    /// When it does not start.
    pub fn another_screen(&mut self) -> Result<String> {
        let mut display = self.command("Xvfb");
        display.args(["-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp"]);
        Ok(format!(":{}", self.start_and_read_line(display)?))
    }

    /// Puts a folder first in `PATH`.
    ///
    /// # Errors
    /// When its name cannot be part of `PATH`.
    pub fn prepend_path(&mut self, folder: &Path) -> Result<()> {
        let path = self.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
        self.environment.insert("PATH".into(), std::env::join_paths(folders)?);
        Ok(())
    }

    /// Sets a variable in the environment of programs started from now on.
    pub fn set_variable(&mut self, name: &str, value: &str) {
        self.environment.insert(name.into(), value.into());
    }

    /// Returns the brightness of a point of a screen, named as by [`Desktop::another_screen`].
    ///
    /// # Errors
    /// When the screen is gone.
    pub fn shade(&self, screen: &str, point: (i16, i16)) -> Result<u8> {
        Display::connect(screen)?.shade(point)
    }

    /// The address of its bus.
    pub(crate) fn bus(&self) -> Result<String> {
        let address = self.environment.get(OsStr::new("DBUS_SESSION_BUS_ADDRESS"));
        Ok(address.context("a started desktop has a bus")?.to_string_lossy().into_owned())
    }

    /// Its screen.
    pub(crate) fn display(&self) -> Result<Display> {
        Display::connect(&self.screen()?)
    }

    /// The name of its display.
    pub(crate) fn screen(&self) -> Result<String> {
        let name = self.environment.get(OsStr::new("DISPLAY")).context("a started desktop has a display")?;
        Ok(name.to_string_lossy().into_owned())
    }

    /// Creates a command with the desktop's environment, and no other.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.environment).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Ends a program with the desktop.
    pub fn own_child(&mut self, child: Child) {
        self.programs.insert(0, Program(child));
    }

    /// Starts a program whose first output line is its address.
    fn start_and_read_line(&mut self, mut command: Command) -> Result<String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{name} could not be started; cargo xtask test installs it"))?;
        let output = child.stdout.take().context("its output")?;
        self.own_child(child);
        let (sender, receiver) = mpsc::channel();
        // Read to the end, so that the program never blocks on its output.
        thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        match receiver.recv_timeout(PATIENCE) {
            Ok(line) => Ok(line.trim().to_owned()),
            Err(_) => bail!("{name} did not come up"),
        }
    }
}

/// A program that ends when it is dropped.
#[derive(Debug)]
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // If it has already ended, that is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
fn private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(Into::into)
}

#[cfg(not(unix))]
fn private(_folder: &Path) -> Result<()> {
    bail!("a private desktop needs X11 and D-Bus")
}
