//! Lists the files of a skill's folder: sorted, bounded, links never followed.

use crate::Fingerprint;
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Maximum entries of one skill that are inspected.
pub const MAX_FILES: usize = 2_000;
/// Maximum total bytes of a skill's files.
pub const MAX_BYTES: u64 = 50 << 20;
/// Maximum nesting of folders.
const MAX_DEPTH: usize = 16;
/// Files in a folder, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    pub entries: Vec<TreeEntry>,
    /// Whether the limits cut the listing short.
    pub is_cut: bool,
}

/// A file below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    /// Path from the folder, with `/` on every system; invalid text is replaced.
    pub path: String,
    /// Full path.
    pub full_path: PathBuf,
    pub kind: TreeEntryKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TreeEntryKind {
    File { len: u64, executable: bool },
    Link { target: PathBuf },
    Special,
}

impl Tree {
    /// Lists the files below `folder`, which must not be a link; `skip` excludes folders and files by path and
    /// name.
    pub(crate) fn read(folder: &Path, skip: impl Fn(&str) -> bool) -> io::Result<Self> {
        let mut tree = Self::default();
        let mut count = 0;
        let mut open = vec![(folder.to_owned(), String::new(), 0)];
        while let Some((folder_path, prefix, depth)) = open.pop() {
            for entry in fs::read_dir(&folder_path)? {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if skip(&name) {
                    continue;
                }
                count += 1;
                if count > MAX_FILES {
                    tree.is_cut = true;
                    break;
                }
                let path = format!("{prefix}{name}");
                // Of the entry itself: a link is a link.
                let meta = entry.metadata()?;
                let kind = if meta.is_symlink() {
                    TreeEntryKind::Link { target: fs::read_link(entry.path())? }
                } else if meta.is_dir() {
                    if depth < MAX_DEPTH {
                        open.push((entry.path(), format!("{path}/"), depth + 1));
                    } else {
                        tree.is_cut = true;
                    }
                    continue;
                } else if meta.is_file() {
                    TreeEntryKind::File { len: meta.len(), executable: is_executable(&meta) }
                } else {
                    TreeEntryKind::Special
                };
                tree.entries.push(TreeEntry { path, full_path: entry.path(), kind });
            }
        }
        tree.entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    /// Returns the total bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.entries
            .iter()
            .map(|entry| match entry.kind {
                TreeEntryKind::File { len, .. } => len,
                TreeEntryKind::Link { .. } | TreeEntryKind::Special => 0,
            })
            .fold(0, u64::saturating_add)
    }
}

#[cfg(unix)]
fn is_executable(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_meta: &fs::Metadata) -> bool {
    false
}

/// Computes the fingerprint of a folder's files; `None` if they exceed [`MAX_FILES`] or [`MAX_BYTES`], or one
/// cannot be read. `None` never equals an accepted fingerprint.
pub fn fingerprint(folder: &Path) -> Option<Fingerprint> {
    fingerprint_within(folder, &mut HashingBudget { files: MAX_FILES, bytes: MAX_BYTES })
}

/// Remaining reads for detecting changed skills.
pub(crate) struct HashingBudget {
    pub files: usize,
    pub bytes: u64,
}

pub(crate) fn fingerprint_within(folder: &Path, allowance: &mut HashingBudget) -> Option<Fingerprint> {
    let tree = Tree::read(folder, |_| false).ok()?;
    if tree.is_cut || tree.bytes() > MAX_BYTES.min(allowance.bytes) {
        return None;
    }
    allowance.files = allowance.files.checked_sub(tree.entries.len())?;
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    for entry in &tree.entries {
        add(entry.full_path.strip_prefix(folder).ok()?.as_os_str().as_encoded_bytes());
        match &entry.kind {
            TreeEntryKind::File { executable, .. } => {
                let mut content = Vec::new();
                // The file may grow in the meantime: the limit still applies.
                let limit = allowance.bytes.saturating_add(1);
                File::open(&entry.full_path).ok()?.take(limit).read_to_end(&mut content).ok()?;
                allowance.bytes = allowance.bytes.checked_sub(content.len() as u64)?;
                add(if *executable { b"program" } else { b"file" });
                add(&content);
            }
            TreeEntryKind::Link { target } => {
                add(b"link");
                add(target.as_os_str().as_encoded_bytes());
            }
            TreeEntryKind::Special => return None,
        }
    }
    Some(Fingerprint(*hasher.finalize().as_bytes()))
}
