//! The facts about the machine that determine where browsers are.

use std::{env, ffi::OsString, path::PathBuf};

/// The operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostSystem {
    /// Linux and the other systems with X11 or Wayland.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

/// The facts about the machine that determine where browsers are. Collected once, so that everything else is a
/// pure function of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserEnvironment {
    /// The system.
    pub system: HostSystem,
    /// The person's home folder.
    pub home: PathBuf,
    /// `CHROME_CONFIG_HOME`, which takes precedence for a browser on Linux.
    pub chrome_config_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config_home: Option<PathBuf>,
    /// `%LOCALAPPDATA%`.
    pub local_app_data: Option<PathBuf>,
    /// The program folders on Windows.
    pub program_files: Vec<PathBuf>,
    /// The folder `AppData/Local` of each Windows user, if this Linux runs in Windows (WSL); otherwise empty.
    pub windows_local_app_data: Vec<PathBuf>,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
}

impl BrowserEnvironment {
    /// Creates an environment with only the system and the home folder set.
    pub fn bare(system: HostSystem, home: impl Into<PathBuf>) -> Self {
        Self {
            system,
            home: home.into(),
            chrome_config_home: None,
            xdg_config_home: None,
            local_app_data: None,
            program_files: Vec::new(),
            windows_local_app_data: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        let system = if cfg!(windows) {
            HostSystem::Windows
        } else if cfg!(target_os = "macos") {
            HostSystem::Mac
        } else {
            HostSystem::Linux
        };
        let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = env::home_dir().unwrap_or_default();
        Self {
            system,
            chrome_config_home: folder("CHROME_CONFIG_HOME"),
            xdg_config_home: folder("XDG_CONFIG_HOME"),
            local_app_data: folder("LOCALAPPDATA"),
            program_files: ["ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA"]
                .iter()
                .filter_map(|name| folder(name))
                .collect(),
            windows_local_app_data: if system == HostSystem::Linux {
                windows_local_app_data()
            } else {
                Vec::new()
            },
            path: env::var_os("PATH")
                .map(|path: OsString| env::split_paths(&path).collect())
                .unwrap_or_default(),
            home,
        }
    }
}

/// Returns `AppData/Local` of each Windows user, if this Linux runs in Windows (WSL).
fn windows_local_app_data() -> Vec<PathBuf> {
    if env::var_os("WSL_DISTRO_NAME").is_none() {
        return Vec::new();
    }
    let users = std::fs::read_dir("/mnt/c/Users").into_iter().flatten().flatten();
    let mut homes: Vec<PathBuf> =
        users.map(|user| user.path().join("AppData").join("Local")).filter(|path| path.is_dir()).collect();
    homes.sort();
    homes
}
