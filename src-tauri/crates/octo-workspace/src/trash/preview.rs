//! Previews of trash entries.

use super::{Trash, restore::form, tree};
use octo_protocol::{TrashForm, TrashId};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// The maximum bytes of text shown.
const MAX_TEXT_BYTES: u64 = 16 * 1024;

/// The maximum lines of text shown.
const MAX_LINES: usize = 200;

/// The maximum bytes of an image shown.
const MAX_IMAGE_BYTES: u64 = 20 << 20;

/// The maximum number of names shown for a folder.
const MAX_NAMES: usize = 200;

/// The properties of an item in the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemProperties {
    /// Its form.
    pub form: TrashForm,
    /// Its total size in bytes.
    pub size: u64,
    /// The number of files in it.
    pub files: u64,
    /// Its permission bits.
    pub mode: u32,
    /// The target of a link.
    pub link: Option<String>,
    /// Whether it can be recreated, so it may be purged early.
    pub recreatable: bool,
}

/// The preview of an item in the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemPreview {
    /// The beginning of a text.
    Text {
        /// Its first lines.
        text: String,
        /// Whether more follows.
        more: bool,
    },
    /// A complete image.
    Picture(Vec<u8>),
    /// The content of a folder.
    Folder {
        /// Its names, folders with a trailing slash.
        entries: Vec<String>,
        /// The total number of entries.
        total: u64,
    },
    /// The target of a link.
    Link(String),
    /// No preview is possible.
    Nothing,
}

impl Trash {
    /// Returns the properties of an item. An unreadable part counts as empty.
    ///
    /// # Errors
    ///
    /// I/O errors if the item does not exist.
    pub fn measure(&self, id: TrashId, name: &Path) -> io::Result<ItemProperties> {
        let content = self.content_path(id);
        let meta = fs::symlink_metadata(&content)?;
        let form = form(&meta);
        let (mut size, mut files) = (0, 0);
        if form == TrashForm::Folder {
            let counted = tree::walk(&content, &mut |_, meta| {
                if !meta.is_dir() {
                    size += meta.len();
                    files += 1;
                }
                Ok(())
            });
            if let Err(error) = counted {
                tracing::debug!(%id, %error, "a folder in the trash could not be looked through");
            }
        } else {
            (size, files) = (meta.len(), 1);
        }
        #[cfg(unix)]
        let mode = std::os::unix::fs::MetadataExt::mode(&meta) & 0o7777;
        #[cfg(not(unix))]
        let mode = u32::from(!meta.permissions().readonly());
        let link = fs::read_link(&content).ok().map(|target| target.to_string_lossy().into_owned());
        let is_reproducible = form == TrashForm::Folder && is_recreatable(name, &content);
        Ok(ItemProperties { form, size, files, mode, link, recreatable: is_reproducible })
    }

    /// Returns the beginning of an item's content, by which a person can recognise it.
    ///
    /// # Errors
    ///
    /// I/O errors if the item does not exist or is unreadable.
    pub fn preview(&self, id: TrashId) -> io::Result<ItemPreview> {
        let content = self.content_path(id);
        let meta = fs::symlink_metadata(&content)?;
        match form(&meta) {
            TrashForm::Link => Ok(ItemPreview::Link(fs::read_link(&content)?.to_string_lossy().into_owned())),
            TrashForm::Special => Ok(ItemPreview::Nothing),
            TrashForm::Folder => names(&content),
            TrashForm::File => file(&content, meta.len()),
        }
    }
}

fn names(folder: &Path) -> io::Result<ItemPreview> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
        names.push(format!("{}{slash}", entry.file_name().to_string_lossy()));
    }
    let total = names.len() as u64;
    names.sort_unstable_by_key(|name| (!name.ends_with('/'), name.to_lowercase()));
    names.truncate(MAX_NAMES);
    Ok(ItemPreview::Folder { entries: names, total })
}

fn file(path: &Path, len: u64) -> io::Result<ItemPreview> {
    let mut head = Vec::new();
    File::open(path)?.take(MAX_TEXT_BYTES).read_to_end(&mut head)?;
    let is_picture =
        ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&crate::media_type(&head));
    if is_picture && len <= MAX_IMAGE_BYTES {
        return Ok(ItemPreview::Picture(fs::read(path)?));
    }
    if head.contains(&0) {
        return Ok(ItemPreview::Nothing);
    }
    // A character may be cut at the end of the bytes read.
    let valid = match std::str::from_utf8(&head) {
        Ok(_) => head.len(),
        Err(error) if error.valid_up_to() + 4 > head.len() => error.valid_up_to(),
        Err(_) => return Ok(ItemPreview::Nothing),
    };
    let text = String::from_utf8_lossy(head.get(..valid).unwrap_or_default());
    let mut preview: String = text.lines().take(MAX_LINES).collect::<Vec<_>>().join("\n");
    let more = len > valid as u64 || text.lines().count() > MAX_LINES;
    if text.ends_with('\n') && !more {
        preview.push('\n');
    }
    Ok(ItemPreview::Text { text: preview, more })
}

/// Whether a folder is dependencies, build output or a cache: by its name *and* by a file that only such a
/// folder contains. A name alone (`dist`, `build`, `vendor`) proves nothing, so those are kept like everything
/// else.
fn is_recreatable(original: &Path, content: &Path) -> bool {
    let name = original.file_name().unwrap_or_default().to_string_lossy();
    let has_sibling = |file: &str| original.with_file_name(file).exists();
    let contains = |file: &str| content.join(file).exists();
    match name.as_ref() {
        "node_modules" | ".next" | ".nuxt" | ".svelte-kit" | ".turbo" | ".parcel-cache" => {
            has_sibling("package.json")
        }
        "__pycache__" => true,
        ".venv" | "venv" | ".tox" => contains("pyvenv.cfg"),
        ".gradle" => has_sibling("build.gradle") || has_sibling("build.gradle.kts"),
        // Cargo, pytest, mypy, ruff and others mark folders they can recreate.
        _ => contains("CACHEDIR.TAG"),
    }
}
