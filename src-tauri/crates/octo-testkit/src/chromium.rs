//! The real Chromium of the tests: where it is, and how it is started.

use std::path::PathBuf;

/// What every start of it has: no question at the first start, no keyring, nothing fetched by itself, a window of a
/// known size, and no sandbox, which root cannot have.
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

/// What starts it beside those without a screen, for a test that reaches it by a port.
pub const CHROMIUM_UNSEEN: &[&str] = &["--headless=new", "--remote-debugging-port=0"];

/// Where it is on the path.
pub fn chromium_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|program| program.is_file())
}

/// The same, for a test that is skipped where there is none and nobody promised one.
///
/// # Panics
///
/// When there is none in a place that promised one.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub fn chromium_or_skip() -> Option<PathBuf> {
    let found = chromium_program();
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "Chromium is missing; cargo xtask test installs it");
        eprintln!("skipped: Chromium is not installed; cargo xtask test installs it");
    }
    found
}
