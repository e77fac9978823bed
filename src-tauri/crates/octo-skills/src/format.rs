//! Reads SKILL.md leniently, so there is always a result.

use crate::{
    Warning,
    fields::{self, Fields},
    front_matter::{self, FrontMatter},
    name::{is_name, public_name},
};

/// Maximum bytes of a SKILL.md.
pub const MAX_SKILL_BYTES: u64 = 256 << 10;

/// A parsed SKILL.md.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillDocument {
    /// Name of the skill; always usable.
    pub name: String,
    /// Its fields.
    pub fields: Fields,
    /// Its whole head, including unknown keys, for rewriting it.
    pub front: FrontMatter,
    /// Its instructions.
    pub body: String,
    /// Notes on repaired and ignored parts.
    pub warnings: Vec<Warning>,
    /// Reason why it cannot be used.
    pub error: Option<Warning>,
}

impl SkillDocument {
    /// Returns the document for an unreadable file.
    pub(crate) fn unreadable(folder: &str, error: Warning) -> Self {
        let mut warnings = Vec::new();
        let name = choose_name(None, folder, &mut warnings);
        Self {
            name,
            fields: Fields::default(),
            front: FrontMatter::default(),
            body: String::new(),
            warnings,
            error: Some(error),
        }
    }
}

/// Reads a SKILL.md; `folder` is the name of its folder. Never fails: an unusable skill has a
/// [`SkillDocument::error`].
pub fn read(bytes: &[u8], folder: &str) -> SkillDocument {
    if bytes.len() as u64 > MAX_SKILL_BYTES {
        return SkillDocument::unreadable(folder, too_large(bytes.len() as u64));
    }
    let mut warnings = Vec::new();
    let Some(text) = decode(bytes, &mut warnings) else {
        return SkillDocument::unreadable(folder, Warning::new("skills.error.no_text"));
    };
    let parts = front_matter::split_markdown(&text);
    warnings.extend(parts.warnings);
    let fields = fields::read(&parts.front, &parts.body, &mut warnings);
    let name = choose_name(fields.written_name.as_deref(), folder, &mut warnings);
    let mut error = None;
    if parts.body.is_empty() {
        error = Some(Warning::new("skills.error.empty"));
    } else if fields.description.is_empty() {
        warnings.push(Warning::new("skills.warning.no_description"));
    }
    SkillDocument { name, fields, front: parts.front, body: parts.body, warnings, error }
}

pub(crate) fn too_large(bytes: u64) -> Warning {
    Warning::new("skills.error.too_large").arg("size", bytes >> 10).arg("most", MAX_SKILL_BYTES >> 10)
}

/// Decodes the text of a file: UTF-8, or UTF-16 with a byte order mark. `None` if it is not text.
fn decode(bytes: &[u8], warnings: &mut Vec<Warning>) -> Option<String> {
    let decode_utf16 = |from_bytes: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| from_bytes(*pair)).collect();
        String::from_utf16_lossy(&units)
    };
    let (text, is_whole) = match bytes {
        [0xff, 0xfe, content @ ..] => (decode_utf16(u16::from_le_bytes, content), false),
        [0xfe, 0xff, content @ ..] => (decode_utf16(u16::from_be_bytes, content), false),
        bytes => {
            let text = String::from_utf8_lossy(bytes);
            let is_whole = matches!(text, std::borrow::Cow::Borrowed(_));
            (text.into_owned(), is_whole)
        }
    };
    if text.contains('\0') {
        return None;
    }
    if !is_whole {
        warnings.push(Warning::new("skills.warning.encoding"));
    }
    Some(text)
}

/// Returns the written name if valid, otherwise the folder's, otherwise one derived from either.
fn choose_name(declared: Option<&str>, folder: &str, warnings: &mut Vec<Warning>) -> String {
    if let Some(declared) = declared {
        if is_name(declared) {
            return declared.to_owned();
        }
        let name = if is_name(folder) { folder.to_owned() } else { public_name(folder) };
        warnings.push(Warning::new("skills.warning.name").arg("written", declared).arg("name", &name));
        return name;
    }
    if is_name(folder) {
        return folder.to_owned();
    }
    let name = public_name(folder);
    warnings.push(Warning::new("skills.warning.name").arg("written", folder).arg("name", &name));
    name
}
