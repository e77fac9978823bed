//! Reads skills from a folder, such as a cloned repository.

use super::{
    InstallError,
    source_files::{FileCollector, SourceContent, SourceFile, source_name},
};
use crate::{
    Warning,
    discovery::skill_file,
    tree::{Tree, TreeEntryKind},
};
use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// Maximum depth of the search for skills in a source; the next constant limits its entries.
const MAX_DEPTH: usize = 6;
const MAX_ENTRIES: usize = 20_000;
/// Hidden folders in which other programs store skills.
const SEARCHED_FOLDERS: &[&str] = &[".claude", ".agents", ".octo"];

/// Folders that are not part of a skill: the history of a repository, and downloaded dependencies.
const EXCLUDED_FOLDERS: &[&str] = &[".git", ".hg", ".svn", ".jj", "node_modules"];

/// Reads the skills in a folder: the folder itself, or those below it.
pub(super) fn read_folder(source: &Path) -> Result<SourceContent, InstallError> {
    let source = source.canonicalize()?;
    let mut gathering = FileCollector::default();
    let mut warnings = Vec::new();
    for folder in skill_folders(&source)? {
        let tree = Tree::read(&folder, |name| EXCLUDED_FOLDERS.contains(&name))?;
        if tree.is_cut {
            return Err(InstallError::TooManyFiles);
        }
        if tree.bytes() > gathering.bytes_left() {
            return Err(InstallError::TooLarge);
        }
        for entry in tree.entries {
            let path = entry.full_path.strip_prefix(&source).ok().and_then(Path::to_str);
            let (TreeEntryKind::File { executable, .. }, Some(path)) = (&entry.kind, path) else {
                warnings.push(Warning::new("skills.warning.link_left_out").arg("path", &entry.path));
                continue;
            };
            let path = path.replace(std::path::MAIN_SEPARATOR, "/");
            let mut content = Vec::new();
            // The file may grow in the meantime: the limit still applies.
            File::open(&entry.full_path)?.take(gathering.bytes_left() + 1).read_to_end(&mut content)?;
            gathering.add(SourceFile { path, executable: *executable, content })?;
        }
    }
    let name = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(SourceContent { files: gathering.finish(), warnings, name: source_name(&name) })
}

/// Returns the folders with a SKILL.md, none inside another. Does not follow links.
fn skill_folders(source: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let mut found = Vec::new();
    let mut looked = 0;
    let mut open = vec![(source.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        if skill_file(&folder).is_some() {
            found.push(folder);
            continue;
        }
        if depth == MAX_DEPTH {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            looked += 1;
            if looked > MAX_ENTRIES {
                return Err(InstallError::TooManyFiles);
            }
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_searched = !name.starts_with('.') || SEARCHED_FOLDERS.contains(&name.as_str());
            if entry.file_type()?.is_dir() && is_searched && name != "node_modules" {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
}
