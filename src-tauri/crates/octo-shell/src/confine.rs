//! What the system itself lets a command touch, whatever the command turns out to do.
//!
//! The policy judges a line before it runs; this holds while it runs. On Linux it is Landlock, which knows only
//! grants: it cannot take `.env` out of a folder that may be written, nor keep a program from speaking to the
//! keychain over D-Bus. That is left to the policy. So entries of the person's home are granted one by one, all
//! but those that hold secrets ([`octo_workspace::is_secret`]); names of files may be listed everywhere.
//!
//! macOS and Windows have nothing of the kind here yet, and [`Confinement::enforce`] says so.

mod grants;
#[cfg(target_os = "linux")]
mod landlocked;

use std::{io, path::PathBuf};

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
    /// Folders of Octo's home that may be read.
    pub octo_readable: Vec<PathBuf>,
}

/// Whether the system holds a command to its [`Confinement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforced {
    /// Wholly, or as far as an older kernel can.
    Yes,
    /// The system has no means for it.
    Unavailable,
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
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
