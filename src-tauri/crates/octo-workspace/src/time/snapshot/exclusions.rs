//! The entries a snapshot leaves out: large ones that can be recreated. Ignore files do not count here: they
//! hide `.env`, local settings and other files that exist only once.

use octo_protocol::UnsavedReason;
use std::path::Path;

/// Folders that are always left out: their names have no other use.
const ALWAYS_LEFT_OUT: &[(&str, UnsavedReason)] = &[
    // Version control data changes with every command, and restoring old parts of it breaks the repository.
    (".git", UnsavedReason::VersionControl),
    (".hg", UnsavedReason::VersionControl),
    (".svn", UnsavedReason::VersionControl),
    (".jj", UnsavedReason::VersionControl),
    ("node_modules", UnsavedReason::Dependencies),
    ("bower_components", UnsavedReason::Dependencies),
    (".venv", UnsavedReason::Dependencies),
    (".tox", UnsavedReason::Dependencies),
    (".nox", UnsavedReason::Dependencies),
    (".yarn", UnsavedReason::Dependencies),
    (".pnpm-store", UnsavedReason::Dependencies),
    (".gradle", UnsavedReason::Cache),
    ("__pycache__", UnsavedReason::Cache),
    (".mypy_cache", UnsavedReason::Cache),
    (".pytest_cache", UnsavedReason::Cache),
    (".ruff_cache", UnsavedReason::Cache),
    (".parcel-cache", UnsavedReason::Cache),
    (".turbo", UnsavedReason::Cache),
    (".sass-cache", UnsavedReason::Cache),
    (".terraform", UnsavedReason::Dependencies),
    (".next", UnsavedReason::BuildOutput),
    (".nuxt", UnsavedReason::BuildOutput),
    (".svelte-kit", UnsavedReason::BuildOutput),
    ("DerivedData", UnsavedReason::BuildOutput),
];

/// Folders that are left out if one of these files, which generate their content, is in the same folder.
const LEFT_OUT_NEXT_TO: &[(&str, &[&str], UnsavedReason)] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"], UnsavedReason::BuildOutput),
    ("venv", &["pyproject.toml", "requirements.txt", "setup.py"], UnsavedReason::Dependencies),
    ("vendor", &["composer.json", "Gemfile"], UnsavedReason::Dependencies),
    ("Pods", &["Podfile"], UnsavedReason::Dependencies),
    ("_build", &["mix.exs", "dune-project"], UnsavedReason::BuildOutput),
    ("deps", &["mix.exs"], UnsavedReason::Dependencies),
    (".build", &["Package.swift"], UnsavedReason::BuildOutput),
];

/// Returns why a folder is left out, or `None` if it is entered. The callback tells whether a name is in the
/// same folder.
pub(crate) fn reason_to_leave_out(name: &[u8], is_beside: impl Fn(&str) -> bool) -> Option<UnsavedReason> {
    if let Some((_, reason)) = ALWAYS_LEFT_OUT.iter().find(|(always, _)| always.as_bytes() == name) {
        return Some(*reason);
    }
    let (_, makers, reason) =
        LEFT_OUT_NEXT_TO.iter().find(|(folder_name, _, _)| folder_name.as_bytes() == name)?;
    makers.iter().any(|maker| is_beside(maker)).then_some(*reason)
}

/// Whether the existence of a file with this name affects other names in or above its folder.
pub(super) fn affects_other_names(name: &[u8]) -> bool {
    let makes = |maker: &str| maker.as_bytes() == name;
    name == b"CACHEDIR.TAG"
        || LEFT_OUT_NEXT_TO.iter().any(|(_, makers, _)| makers.iter().any(|maker| makes(maker)))
}

/// Whether a folder declares itself a cache (<https://bford.info/cachedir/>).
pub(super) fn is_tagged_cache(folder: &Path) -> bool {
    const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
    let read = || -> std::io::Result<bool> {
        let mut start = [0; SIGNATURE.len()];
        let path = folder.join("CACHEDIR.TAG");
        if !std::fs::symlink_metadata(&path)?.is_file() {
            return Ok(false);
        }
        std::io::Read::read_exact(&mut std::fs::File::open(path)?, &mut start)?;
        Ok(start == SIGNATURE)
    };
    read().unwrap_or(false)
}
