//! Sessions exported and imported: as text, as a page, or as a file another Octo can read.
//!
//! An export is completed in memory before anything is written, so it matches its preview. Secrets are removed
//! from every text on the way; content that cannot be searched for them is not exported.

mod file;
mod html;
mod import;
mod markdown;
mod pieces;
mod redaction;

pub use import::{ImportedSession, TitleRule, read};
use octo_protocol::{
    ApiError, BlobHash, ExportForm, ExportPart, ExportPreview, MessageId, Profile, SessionExport,
    SessionInfo, TranscriptPage, words,
};
use octo_runtime::blocking;
use octo_workspace::UnfinishedWrites;
use pieces::ExportPiece;
use redaction::Redaction;
use secrecy::SecretString;
use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Maximum size of an export's pictures, in bytes: a larger file could not be opened or sent.
const MAX_PICTURE_BYTES: usize = 200 * 1024 * 1024;
/// Maximum length of a title in a file name, in characters.
const MAX_NAME_CHARS: usize = 60;

/// The stored content of a session.
pub struct SessionContent {
    /// Its data.
    pub info: SessionInfo,
    /// Its whole transcript.
    pub page: TranscriptPage,
    /// The messages the model sees, in order.
    pub context: Vec<MessageId>,
}

/// A session to export.
pub struct ExportedSession {
    content: SessionContent,
    /// The vendor's name of its model.
    model: Option<String>,
    pictures: HashMap<BlobHash, Arc<[u8]>>,
    secrets: Vec<SecretString>,
}

/// An unwritten export.
struct ExportFile {
    name: String,
    bytes: Vec<u8>,
    parts: Vec<ExportPart>,
    secrets: u32,
}

/// The texts of exports, in the person's language.
struct ExportWords(octo_protocol::Language);

impl ExportWords {
    fn say(&self, key: &str) -> String {
        words::say(self.0, key, &BTreeMap::new())
    }
}

impl ExportedSession {
    /// Creates an export. `secrets` are the values to remove from its texts.
    ///
    /// # Errors
    /// `export.too_large`.
    pub fn new(
        content: SessionContent,
        model: Option<String>,
        pictures: HashMap<BlobHash, Arc<[u8]>>,
        secrets: Vec<SecretString>,
    ) -> Result<Self, ApiError> {
        if pictures.values().map(|bytes| bytes.len()).sum::<usize>() > MAX_PICTURE_BYTES {
            let limit = MAX_PICTURE_BYTES / (1024 * 1024);
            return Err(ApiError::new("export.too_large").arg("limit_mib", limit));
        }
        Ok(Self { content, model, pictures, secrets })
    }

    fn make(self, form: ExportForm, language: octo_protocol::Language) -> Result<ExportFile, ApiError> {
        let words = ExportWords(language);
        let mut redaction = Redaction::new(&self.secrets)?;
        let title = redaction.redact_text(&self.content.info.title);
        let pieces = pieces::export_pieces(&self.content.page, &words, &mut redaction);
        // Counted once, because the file consists of the same texts.
        let secrets = redaction.count();
        let included: Vec<ExportPiece> = pieces.into_iter().filter(|piece| piece.is_in(form)).collect();
        let parts = pieces::count_parts(&included, form, &self.pictures);
        let name = file_name(&title, self.content.info.updated_at, form);
        let bytes = match form {
            ExportForm::Markdown => markdown::to_markdown(&title, &self, &included, &words).into_bytes(),
            ExportForm::Html => html::to_html(&title, &self, &included, &words).into_bytes(),
            ExportForm::Json => file::to_json(&self, &mut redaction)?,
        };
        Ok(ExportFile { name, bytes, parts, secrets })
    }

    /// Returns a preview of the export.
    pub async fn preview(
        self,
        form: ExportForm,
        language: octo_protocol::Language,
    ) -> Result<ExportPreview, ApiError> {
        let made = blocking(move || self.make(form, language)).await?;
        Ok(ExportPreview {
            name: made.name,
            bytes: made.bytes.len() as u64,
            parts: made.parts,
            secrets: made.secrets,
        })
    }

    /// Writes an export to a new file that only its owner can read. If the name is taken it uses the next free
    /// one.
    ///
    /// # Errors
    /// `export.taken` if all names are taken or the path is invalid, `export.unwritable`.
    pub async fn write(
        self,
        form: ExportForm,
        language: octo_protocol::Language,
        path: PathBuf,
        unfinished: UnfinishedWrites,
    ) -> Result<SessionExport, ApiError> {
        blocking(move || {
            let taken_error = || ApiError::new("export.taken").arg("path", path.display());
            let path = free_name(&path).ok_or_else(taken_error)?;
            let made = self.make(form, language)?;
            unfinished.write_private(&path, &made.bytes).map_err(|error| {
                ApiError::new("export.unwritable").arg("path", path.display()).detail(error)
            })?;
            Ok(SessionExport { path: path.display().to_string(), bytes: made.bytes.len() as u64 })
        })
        .await
    }

    /// Returns the folder, profile and model of the session, as lines for a reader.
    fn session_details(&self, words: &ExportWords) -> Vec<(String, String)> {
        let mut about = vec![
            (words.say("export.folder"), self.content.info.folder.clone()),
            (words.say("export.begun"), format_time(self.content.info.created_at)),
            (words.say("export.worked"), format_time(self.content.info.updated_at)),
        ];
        if self.content.info.profile != Profile::GENERAL {
            about.push((words.say("export.profile"), self.content.info.profile.to_string()));
        }
        about.extend(self.model.clone().map(|model| (words.say("export.model"), model)));
        about
    }
}

/// Formats a moment in this machine's time zone.
fn format_time(time: octo_protocol::Millis) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(time).unwrap_or_default();
    timestamp.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Returns a file name valid on any system: letters and digits of the title, the day, and the form.
fn file_name(title: &str, time: octo_protocol::Millis, form: ExportForm) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let name: String = words.join("-").chars().take(MAX_NAME_CHARS).collect();
    let name = name.trim_end_matches('-');
    let name = if name.is_empty() { "session" } else { name };
    let day: String = format_time(time).chars().take(10).collect();
    let ending = match form {
        ExportForm::Markdown => "md",
        ExportForm::Html => "html",
        ExportForm::Json => "octo.json",
    };
    format!("{name}-{day}.{ending}")
}

/// Maximum number of exports of one name in a folder.
const MAX_SAME_NAME: u32 = 999;

/// Returns the path itself, or with a number before its extension; `None` if all are taken or it is not
/// absolute.
fn free_name(preferred: &Path) -> Option<PathBuf> {
    let name = preferred.file_name()?.to_str()?;
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let numbered =
        (2..=MAX_SAME_NAME).map(|number| preferred.with_file_name(format!("{stem}-{number}.{ending}")));
    let is_free = |candidate: &PathBuf| candidate.symlink_metadata().is_err();
    preferred.is_absolute().then(|| std::iter::once(preferred.to_owned()).chain(numbered).find(is_free))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn export_file_names_are_valid_on_every_system() {
        for (title, expected) in [
            ("Fix: the \"parser\" / now?", "Fix-the-parser-now-1970-01-01.md"),
            ("整理发票 2026", "整理发票-2026-1970-01-01.md"),
            ("../../etc/passwd", "etc-passwd-1970-01-01.md"),
            ("???", "session-1970-01-01.md"),
        ] {
            assert_eq!(file_name(title, 43_200_000, ExportForm::Markdown), expected, "{title}");
        }
        let long_name = file_name(&"word ".repeat(100), 43_200_000, ExportForm::Json);
        assert!(long_name.chars().count() < 100 && long_name.ends_with(".octo.json"), "{long_name}");
    }
}
