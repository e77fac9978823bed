//! Reads `tauri.conf.json` at the repository's root and declares the page's commands.

use std::process::ExitCode;
use tauri_build::{AppManifest, Attributes};

/// Declared, so that each needs a permission: an undeclared command could be called by any page.
const COMMANDS: &[&str] = &["request", "subscribe", "unsubscribe"];

fn main() -> ExitCode {
    let attributes = Attributes::new()
        .app_manifest(AppManifest::new().commands(COMMANDS))
        .capabilities_path_pattern("src-tauri/capabilities/**/*");
    match tauri_build::try_build(attributes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Cargo shows a build script's standard error when it fails.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{error:#}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}
