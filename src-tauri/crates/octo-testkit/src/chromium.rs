//! The tests' real Chromium: its location and start switches.

use std::path::PathBuf;

/// Switches of every start: no first-run dialog, no keyring, no background downloads, a window of a known size,
/// and no sandbox, which root cannot have.
pub const CHROMIUM_SWITCHES: &[&str] = &[
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--window-size=1100,800",
];

/// Additional switches for a headless start in a test that connects through a port.
pub const CHROMIUM_HEADLESS_SWITCHES: &[&str] = &["--headless=new", "--remote-debugging-port=0"];

/// Returns Chromium's path, if it is on `PATH`.
pub fn chromium_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|program| program.is_file())
}

/// Like [`chromium_program`], for a test that is skipped when Chromium is missing and was not promised.
///
/// # Panics
///
/// When Chromium is missing although the environment promised it.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub fn chromium_or_skip() -> Option<PathBuf> {
    let found = chromium_program();
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "Chromium is missing; cargo xtask test installs it");
        eprintln!("skipped: Chromium is not installed; cargo xtask test installs it");
    }
    found
}
