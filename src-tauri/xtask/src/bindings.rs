//! The page's TypeScript types, generated from `octo-protocol`.

use crate::{
    project::{Project, short},
    steps::{self, Steps},
};
use anyhow::{Context as _, Result, bail};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Regenerates them.
///
/// # Errors
/// When the protocol does not build or the folder cannot be written.
pub(crate) fn write(project: &Project, steps: &mut Steps) -> Result<()> {
    let folder = committed_folder(project);
    let mut generate =
        project.cargo(["test", "--quiet", "--package", "octo-protocol", "--lib", "export_bindings"]);
    generate.env("TS_RS_EXPORT_DIR", &folder);
    steps.work("types", || {
        // Types removed from the protocol must be removed from the page too.
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        steps::run(&mut generate)
    })
}

/// Checks that they are current, using the test binaries the gate has already built.
///
/// # Errors
/// Names the first few files that differ.
pub(crate) fn check(project: &Project, steps: &mut Steps) -> Result<()> {
    let fresh = project.target.join("types");
    let mut generate = project.workspace(["test", "--quiet", "--lib"]);
    generate.args(["--", "export_bindings"]).env("TS_RS_EXPORT_DIR", &fresh);
    steps.work("generated types", || {
        if fresh.exists() {
            fs::remove_dir_all(&fresh)?;
        }
        steps::run(&mut generate)?;
        compare(project, &fresh)
    })
}

fn committed_folder(project: &Project) -> PathBuf {
    project.ui().join("src").join("lib").join("ipc").join("generated")
}

fn compare(project: &Project, fresh: &Path) -> Result<()> {
    let committed = committed_folder(project);
    let (old, new) = (read_files(&committed)?, read_files(fresh)?);
    if new.is_empty() {
        bail!("no types were generated");
    }
    let differing: Vec<&str> = new
        .iter()
        .filter(|(name, text)| old.get(*name) != Some(*text))
        .map(|(name, _)| name.as_str())
        .chain(old.keys().filter(|name| !new.contains_key(*name)).map(String::as_str))
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = differing.iter().take(8).copied().collect();
    bail!(
        "{} of the types in {} are not what the protocol says ({}); write them anew: cargo xtask types",
        differing.len(),
        short(&project.root, &committed).display(),
        names.join(", ")
    )
}

/// Returns all files below a folder by their relative path.
fn read_files(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| next.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = short(folder, &path).display().to_string();
                files.insert(name, fs::read_to_string(&path).with_context(|| path.display().to_string())?);
            }
        }
    }
    Ok(files)
}
