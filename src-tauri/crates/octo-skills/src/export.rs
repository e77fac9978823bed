//! A skill as one file to give away.

use crate::{
    Skill, Warning,
    discovery::SKILL_FILE,
    public::{PublicSkill, to_public},
    tree::{Kind, MAX_BYTES, Tree},
};
use octo_protocol::ApiError;
use std::{
    fs::File,
    io::{self, Cursor, Read, Write},
};
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

/// A skill as a zip file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// What the file should be called: the skill's name with `.zip`.
    pub file_name: String,
    /// Its bytes. The same skill gives the same bytes.
    pub bytes: Vec<u8>,
    /// What was left out or said otherwise.
    pub notes: Vec<Warning>,
}

/// Why a skill is not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It cannot be read itself.
    #[error("the skill cannot be read")]
    Broken,
    /// It has more files or bytes than a skill may have.
    #[error("the skill has too many files, or more than {MAX_BYTES} bytes")]
    TooLarge,
    /// The system's words.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Hidden files, and folders that programs fill.
fn is_left_out(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "node_modules" | "__pycache__")
}

impl From<&ExportError> for ApiError {
    fn from(error: &ExportError) -> Self {
        match error {
            ExportError::Broken => ApiError::new("skill.export.broken"),
            ExportError::TooLarge => {
                ApiError::new("skill.export.too_large").arg("most", (MAX_BYTES >> 20).to_string())
            }
            ExportError::Io(error) => ApiError::new("skill.export.io").arg("reason", error.to_string()),
        }
    }
}

/// Packs a skill's folder, its SKILL.md in the public format. Hidden files, links, and what
/// programs put beside it are left out.
///
/// # Errors
/// [`ExportError`].
pub fn export(skill: &Skill) -> Result<Export, ExportError> {
    if skill.error.is_some() {
        return Err(ExportError::Broken);
    }
    let PublicSkill { name, text, mut notes } = to_public(skill);
    let tree = Tree::look(&skill.folder, is_left_out)?;
    if tree.is_cut || tree.bytes() > MAX_BYTES {
        return Err(ExportError::TooLarge);
    }
    // One date for all: the same skill is the same file, whenever it is packed.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(format!("{name}/{SKILL_FILE}"), options.unix_permissions(0o644))
        .map_err(io::Error::from)?;
    zip.write_all(text.as_bytes())?;
    let mut left = MAX_BYTES;
    for entry in &tree.entries {
        let Kind::File { executable, .. } = entry.kind else {
            notes.push(Warning::new("skills.warning.link_left_out").arg("path", &entry.path));
            continue;
        };
        if entry.path.eq_ignore_ascii_case(SKILL_FILE) {
            continue;
        }
        let mode = if executable { 0o755 } else { 0o644 };
        let mut content = Vec::new();
        // The file may grow meanwhile: the limit holds all the same.
        File::open(&entry.place)?.take(left + 1).read_to_end(&mut content)?;
        left = left.checked_sub(content.len() as u64).ok_or(ExportError::TooLarge)?;
        zip.start_file(format!("{name}/{}", entry.path), options.unix_permissions(mode))
            .map_err(io::Error::from)?;
        zip.write_all(&content)?;
    }
    let bytes = zip.finish().map_err(io::Error::from)?.into_inner();
    Ok(Export { file_name: format!("{name}.zip"), bytes, notes })
}
