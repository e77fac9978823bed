//! What the system itself lets a command touch, whatever the command turns out to do.
//!
//! The policy judges a line before it runs; this holds while it runs. On Linux it is Landlock, which knows only
//! grants: it cannot take `.env` out of a folder that may be written, nor keep a program from speaking to the
//! keychain over D-Bus. That is left to the policy. So entries of the person's home are granted one by one, all
//! but those that hold secrets ([`octo_workspace::is_secret`]); names of files may be listed everywhere.
//!
//! On macOS a command is started through `sandbox-exec`, with a profile that says the same ([`profile`]). Windows has
//! nothing of the kind that a command could be held by without being changed, and [`is_available`] says so.

mod caches;
#[cfg(any(target_os = "linux", target_os = "macos", test))]
mod grants;
#[cfg(target_os = "linux")]
mod landlocked;
#[cfg(any(target_os = "macos", test))]
mod profile;

#[cfg(unix)]
use std::ffi::OsString;
use std::{io, path::PathBuf};

/// The program that holds a command to a profile on macOS, part of the system.
#[cfg(target_os = "macos")]
const SANDBOX: &str = "/usr/bin/sandbox-exec";

/// What a command may touch. Everything not named here may be read, outside the person's and Octo's homes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Files and folders (with all below) it may change: the session's folder, those for temporary files
    /// ([`temporary_folders`]), and what was allowed for this command.
    pub writable: Vec<PathBuf>,
    /// Folders it may make, replace and take away things in, without reading what is there: those of what was allowed
    /// for this command.
    pub entered: Vec<PathBuf>,
    /// Secrets it may read, because that was allowed for this command.
    pub secrets: Vec<PathBuf>,
    /// The person's home, real; none where there is none.
    pub home: Option<PathBuf>,
    /// Octo's own home, real: what is not granted of it cannot be read.
    pub octo: PathBuf,
    /// Other paths of it, and where it was before, real: nothing there is granted.
    pub octo_others: Vec<PathBuf>,
    /// Folders of Octo's home that may be read.
    pub octo_readable: Vec<PathBuf>,
}

/// Whether the system holds a thread, and what it starts, to a [`Confinement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// Wholly, or as far as an older kernel can.
    Yes,
    /// The system cannot hold a thread; macOS holds by the program a command is started through.
    Unavailable,
}

/// A program that starts another one, which is then held.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The program.
    pub program: PathBuf,
    /// What it is given before the other program and its arguments.
    pub arguments: Vec<OsString>,
}

impl Confinement {
    /// Holds the calling thread, and every process it starts from now on, to this. It cannot be undone, so it is
    /// called on a thread that ends soon after. Reads the home's folders; takes a millisecond or two.
    ///
    /// # Errors
    ///
    /// When the system has the means and refuses. Nothing may be started then.
    pub fn enforce(&self) -> io::Result<Enforced> {
        #[cfg(target_os = "linux")]
        return landlocked::enforce(&self.grants());
        #[cfg(not(target_os = "linux"))]
        Ok(Enforced::Unavailable)
    }

    /// The program a command is to be started through, where the system holds by such a program. Reads the home's
    /// folders; takes a millisecond or two.
    ///
    /// # Errors
    ///
    /// When something that must be kept from the command cannot be told to it. Nothing may be started then.
    #[cfg(unix)]
    pub(crate) fn holder(&self) -> io::Result<Option<Holder>> {
        #[cfg(target_os = "macos")]
        {
            let profile = profile::profile(&self.bounds())?;
            let arguments = vec![OsString::from("-p"), OsString::from(profile)];
            Ok(Some(Holder { program: PathBuf::from(SANDBOX), arguments }))
        }
        #[cfg(not(target_os = "macos"))]
        Ok(None)
    }
}

/// Folders of this system for temporary files, which any command may write.
pub fn temporary_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).to_vec();
    folders.push(std::env::temp_dir());
    folders
}

/// Whether this system can hold commands to a [`Confinement`]. Looked at once.
pub fn is_available() -> bool {
    #[cfg(target_os = "linux")]
    return *landlocked::AVAILABLE;
    #[cfg(target_os = "macos")]
    return std::path::Path::new(SANDBOX).exists();
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
