//! The entries a snapshot leaves out: large ones that can be recreated. Ignore files do not count here: they
//! hide `.env`, local settings and other files that exist only once.

use octo_protocol::Unsaved;
use std::path::Path;

/// Folders that are always left out: their names have no other use.
const ALWAYS: &[(&str, Unsaved)] = &[
    // Version control data changes with every command, and restoring old parts of it breaks the repository.
    (".git", Unsaved::VersionControl),
    (".hg", Unsaved::VersionControl),
    (".svn", Unsaved::VersionControl),
    (".jj", Unsaved::VersionControl),
    ("node_modules", Unsaved::Dependencies),
    ("bower_components", Unsaved::Dependencies),
    (".venv", Unsaved::Dependencies),
    (".tox", Unsaved::Dependencies),
    (".nox", Unsaved::Dependencies),
    (".yarn", Unsaved::Dependencies),
    (".pnpm-store", Unsaved::Dependencies),
    (".gradle", Unsaved::Cache),
    ("__pycache__", Unsaved::Cache),
    (".mypy_cache", Unsaved::Cache),
    (".pytest_cache", Unsaved::Cache),
    (".ruff_cache", Unsaved::Cache),
    (".parcel-cache", Unsaved::Cache),
    (".turbo", Unsaved::Cache),
    (".sass-cache", Unsaved::Cache),
    (".terraform", Unsaved::Dependencies),
    (".next", Unsaved::BuildOutput),
    (".nuxt", Unsaved::BuildOutput),
    (".svelte-kit", Unsaved::BuildOutput),
    ("DerivedData", Unsaved::BuildOutput),
];

/// Folders that are left out if one of these files, which generate their content, is in the same folder.
const BESIDE: &[(&str, &[&str], Unsaved)] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"], Unsaved::BuildOutput),
    ("venv", &["pyproject.toml", "requirements.txt", "setup.py"], Unsaved::Dependencies),
    ("vendor", &["composer.json", "Gemfile"], Unsaved::Dependencies),
    ("Pods", &["Podfile"], Unsaved::Dependencies),
    ("_build", &["mix.exs", "dune-project"], Unsaved::BuildOutput),
    ("deps", &["mix.exs"], Unsaved::Dependencies),
    (".build", &["Package.swift"], Unsaved::BuildOutput),
];

/// Returns why a folder is left out, or `None` if it is entered. The callback tells whether a name is in the
/// same folder.
pub(crate) fn leave_out(name: &[u8], is_beside: impl Fn(&str) -> bool) -> Option<Unsaved> {
    if let Some((_, why)) = ALWAYS.iter().find(|(always, _)| always.as_bytes() == name) {
        return Some(*why);
    }
    let (_, makers, why) = BESIDE.iter().find(|(known, _, _)| known.as_bytes() == name)?;
    makers.iter().any(|maker| is_beside(maker)).then_some(*why)
}

/// Whether the existence of a file with this name affects other names in or above its folder.
pub(super) fn decides(name: &[u8]) -> bool {
    let makes = |maker: &str| maker.as_bytes() == name;
    name == b"CACHEDIR.TAG" || BESIDE.iter().any(|(_, makers, _)| makers.iter().any(|maker| makes(maker)))
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
