//! Skills bundled with Octo.

use octo_workspace::{BundledFile, install_bundle};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Folder in Octo's home that contains them. Octo manages it and removes other files.
pub const BUNDLED_FOLDER: &str = "bundled-skills";

/// Lists the files of `skills/` in the repository; a test compares the two.
macro_rules! bundled {
    ($($path:literal),* $(,)?) => {
        &[$(BundledFile { path: $path, bytes: include_bytes!(concat!("../../../../skills/", $path)) }),*]
    };
}

/// Files of the bundled skills.
pub const BUNDLED_SKILLS: &[BundledFile] = bundled![
    "browser-setup/SKILL.md",
    "code-explorer/SKILL.md",
    "cron-task-creator/SKILL.md",
    "onboard/SKILL.md",
    "persist-memory/SKILL.md",
    "personal-website/SKILL.md",
    "product-help/SKILL.md",
    "product-help/docs/browser.md",
    "product-help/docs/commands.md",
    "product-help/docs/cost.md",
    "product-help/docs/data.md",
    "product-help/docs/models.md",
    "product-help/docs/permissions.md",
    "product-help/docs/sessions.md",
    "product-help/docs/skills.md",
    "product-help/docs/start.md",
    "product-help/docs/system.md",
    "product-help/docs/chats.md",
    "product-help/docs/tasks.md",
    "product-help/docs/trouble.md",
    "product-help/docs/undo.md",
    "product-help/docs/web.md",
    "read-excel/SKILL.md",
    "read-pdf/SKILL.md",
    "read-powerpoint/SKILL.md",
    "read-scanned-pdf/SKILL.md",
    "read-word/SKILL.md",
    "recall-memory/SKILL.md",
    "skill-add/SKILL.md",
    "skill-creator/SKILL.md",
    "skill-creator/references/evaluation.md",
    "skill-trial/SKILL.md",
];

/// Writes them into the home, read-only, unless they already exist there. Returns their folder.
///
/// # Errors
/// Returns errors of the system.
pub fn install_bundled(home: &Path) -> io::Result<PathBuf> {
    let folder = home.join(BUNDLED_FOLDER);
    install_bundle(&folder, BUNDLED_SKILLS)?;
    Ok(folder)
}

#[cfg(test)]
mod tests;
