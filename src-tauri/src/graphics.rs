//! Linux graphics settings that must be made before GTK starts.

use std::{env, ffi::OsStr, os::unix::process::CommandExt as _, path::Path, process::Command};

/// A file that exists only while NVIDIA's own kernel module is loaded.
const NVIDIA_DRIVER: &str = "/proc/driver/nvidia/version";

/// WebKitGTK's switch that disables DMA-BUF: with NVIDIA's driver that renderer shows an empty window.
const SWITCH: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// Restarts this process with the switch set if it is needed; returns otherwise.
///
/// It restarts because setting a variable inside a running process is only sound while nothing else reads the
/// environment, which cannot be shown for all linked code.
///
/// # Errors
/// When the process could not be replaced.
pub(crate) fn avoid_dmabuf_on_nvidia() -> std::io::Result<()> {
    if !is_needed(Path::new(NVIDIA_DRIVER), env::var_os(SWITCH).as_deref()) {
        return Ok(());
    }
    Err(Command::new(env::current_exe()?).args(env::args_os().skip(1)).env(SWITCH, "1").exec())
}

/// Returns whether the switch must be set. A value set by the person is kept.
fn is_needed(driver: &Path, switch: Option<&OsStr>) -> bool {
    switch.is_none() && driver.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_is_set_once_and_only_for_the_driver() {
        let driver = Path::new("/proc/version");
        let missing = Path::new("/proc/no-such-driver");
        assert!(is_needed(driver, None));
        assert!(!is_needed(driver, Some(OsStr::new("1"))), "after the restart");
        assert!(!is_needed(driver, Some(OsStr::new("0"))), "the person's own choice");
        assert!(!is_needed(missing, None));
    }
}
