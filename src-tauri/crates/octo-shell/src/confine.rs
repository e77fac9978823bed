//! Limits a command's access by means of the operating system, regardless of the command's actual behaviour.
//!
//! The policy judges a line before it runs; this applies while it runs. On Linux it is Landlock, which knows
//! only grants: it cannot exclude `.env` from a writable folder, nor keep a program from accessing the keychain
//! over D-Bus. The policy has to cover those. Entries of the person's home are therefore granted one by one,
//! except those that contain secrets ([`octo_workspace::is_secret`]); file names may be listed everywhere.
//!
//! On macOS a command is started through `sandbox-exec`, with an equivalent profile ([`profile`]). Windows has
//! no such mechanism that works for unmodified commands, and [`is_available`] returns that.

mod caches;
#[cfg(any(target_os = "linux", target_os = "macos", test))]
mod grants;
#[cfg(any(target_os = "macos", test))]
mod profile;
#[cfg(unix)]
mod tmux;

#[cfg(unix)]
use std::ffi::OsString;
use std::{io, path::PathBuf};

/// The program that confines a command to a profile on macOS, part of the system.
#[cfg(target_os = "macos")]
const SANDBOX: &str = "/usr/bin/sandbox-exec";

/// The paths a command may access. Everything not named here may be read, outside the person's and Octo's
/// homes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Files and folders (with everything below) it may change: the session's folder, its temporary folder, and
    /// those granted to this command. The system's folders for temporary files are not among them: homes and
    /// projects there are like others.
    pub writable: Vec<PathBuf>,
    /// Folders in which it may create, replace and remove entries without reading them: granted to this
    /// command.
    pub enterable: Vec<PathBuf>,
    /// Secrets it may read, granted to this command.
    pub secrets: Vec<PathBuf>,
    /// The real path of the person's home, or `None` if there is none.
    pub home: Option<PathBuf>,
    /// The real path of Octo's own home: parts not granted here cannot be read.
    pub octo: PathBuf,
    /// Other real paths of Octo's home, and its former locations: nothing in them is granted.
    pub octo_others: Vec<PathBuf>,
    /// Readable folders of Octo's home.
    pub octo_readable: Vec<PathBuf>,
}

/// Whether the system confines a thread, and its child processes, to a [`Confinement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforcement {
    /// Fully, or as much as an older kernel can.
    Yes,
    /// The system cannot confine a thread; macOS uses a program that starts the command.
    Unavailable,
}

/// A program that starts another one under confinement.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfiningLauncher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the other program and its arguments.
    pub arguments: Vec<OsString>,
}

impl Confinement {
    /// Confines the calling thread, and every process it starts from now on. This cannot be undone, so it is
    /// called on a thread that ends soon after. Reads the home's folders; takes a millisecond or two.
    ///
    /// # Errors
    ///
    /// When the system supports confinement but refuses. Nothing may be started then.
    pub fn enforce(&self) -> io::Result<Enforcement> {
        #[cfg(target_os = "linux")]
        {
            if !is_available() {
                return Ok(Enforcement::Unavailable);
            }
            octo_keeper::confine_thread(&self.grants())?;
            Ok(Enforcement::Yes)
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Enforcement::Unavailable)
    }

    /// Returns the program that must start the command, on systems that confine this way. Reads the home's
    /// folders; takes a millisecond or two.
    ///
    /// # Errors
    ///
    /// When the profile cannot express a path that must be protected. Nothing may be started then.
    #[cfg(unix)]
    pub(crate) fn launcher(&self) -> io::Result<Option<ConfiningLauncher>> {
        #[cfg(target_os = "macos")]
        {
            let profile = profile::profile(&self.bounds())?;
            let arguments = vec![OsString::from("-p"), OsString::from(profile)];
            Ok(Some(ConfiningLauncher { program: PathBuf::from(SANDBOX), arguments }))
        }
        #[cfg(not(target_os = "macos"))]
        Ok(None)
    }
}

/// Whether this system can hold commands to a [`Confinement`]. Checked once.
pub fn is_available() -> bool {
    #[cfg(target_os = "linux")]
    return *octo_keeper::CONFINES;
    #[cfg(target_os = "macos")]
    return std::path::Path::new(SANDBOX).exists();
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
