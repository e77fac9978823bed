//! The `file_reader` tool: text with line numbers, folders, pictures, documents.

mod document;
mod picture;
mod text;

use crate::{
    Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput, blocking::blocking, encoding::Encoding,
};
use document::DocumentFile;
use octo_documents::Format;
use octo_protocol::ToolView;
use octo_workspace::{FileKind, FilesError, display_path, resolve};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    io::{Cursor, Read, Seek},
    path::Path,
};
use text::{LineRange, LineSource};

pub use document::SHIPPED_SCRIPTS;

const DEFAULT_MAX_LINES: u32 = 1_000;
/// Maximum entries listed of a folder.
const MAX_ENTRIES: usize = 500;
/// Maximum size of files that are read at once, so a later change is noticed by content; larger ones are
/// streamed.
const MAX_WHOLE: u64 = 8 << 20;
/// Bytes inspected to distinguish text from binary; the same as git's.
const HEAD_BYTES: u64 = 8_000;

pub(crate) struct FileReaderTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct FileReaderInput {
    /// File or folder to read.
    path: String,
    /// Default 1000.
    max_lines: Option<u32>,
    /// First line, from 1.
    start_line: Option<u32>,
    /// Last line.
    end_line: Option<u32>,
}

impl Tool for FileReaderTool {
    const NAME: &'static str = "file_reader";
    const DESCRIPTION: &'static str = "Reads a text file (each line as number, tab, text) or the text of a PDF, \
        Word, Excel or PowerPoint file, lists a folder or an archive, shows a picture. Large files: read ranges.";
    type Input = FileReaderInput;

    fn effects(&self, input: &FileReaderInput, cwd: &Path) -> Effects {
        resolve(&input.path, cwd)
            .map_or_else(|_| Effects::reads(Vec::new()), |path| Effects::reads(vec![path]))
    }

    async fn preview(&self, input: &FileReaderInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let path = resolve(&input.path, &context.cwd)?;
        Ok(ToolView::Plain { text: path.to_string_lossy().into_owned() })
    }

    async fn run(&self, input: FileReaderInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let reading = context.clone();
        let found = blocking(move || {
            let path = resolve(&input.path, &reading.cwd)?;
            match reading.files.stat(&path)?.kind {
                FileKind::Folder => list_folder(&path, &reading).map(ReadResult::output),
                FileKind::File => read(&path, &input, &reading),
                FileKind::Special => Err(FilesError::Special { path }.into()),
            }
        });
        match found.await? {
            ReadResult::Output(output) => Ok(*output),
            ReadResult::Document(document) => document::read(document, context).await,
        }
    }
}

/// Result of opening a path.
enum ReadResult {
    /// Output that is ready.
    Output(Box<ToolOutput>),
    /// A document, to be read in a process of its own.
    Document(DocumentFile),
}

impl ReadResult {
    fn output(output: ToolOutput) -> Self {
        Self::Output(Box::new(output))
    }
}

fn list_folder(path: &Path, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    let listing = context.files.list(path, MAX_ENTRIES)?;
    let total = listing.folders + listing.files;
    let entries: Vec<String> = listing
        .entries
        .iter()
        .map(|entry| match entry.kind {
            FileKind::Folder => format!("{}/", entry.name),
            FileKind::File | FileKind::Special => entry.name.clone(),
        })
        .collect();
    let mut text = format!(
        "Folder: {} ({} folders, {} files)\n",
        display_path(path, &context.cwd),
        listing.folders,
        listing.files
    );
    for entry in &entries {
        text.push_str("\n  ");
        text.push_str(entry);
    }
    if total > entries.len() {
        text.push_str(&format!("\n({} of {total} entries; use glob to find others)", entries.len()));
    }
    let view = ToolView::Folder {
        path: path.to_string_lossy().into_owned(),
        entries,
        total: u32::try_from(total).unwrap_or(u32::MAX),
    };
    Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done })
}

fn read(path: &Path, input: &FileReaderInput, context: &ToolContext) -> Result<ReadResult, ToolError> {
    let range =
        LineRange::new(input.start_line, input.end_line, input.max_lines.unwrap_or(DEFAULT_MAX_LINES))?;
    let len = context.files.stat(path)?.len;
    if len > MAX_WHOLE {
        let (mut file, _) = context.files.open(path)?;
        let failed =
            |error: std::io::Error| ToolError::new(format!("{} cannot be read: {error}.", path.display()));
        let mut head = Vec::new();
        file.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
        return match detect_content(path, &head) {
            ContentKind::Text => {
                file.rewind().map_err(failed)?;
                let file = std::io::BufReader::with_capacity(1 << 16, file);
                text::read(file, &range, path, LineSource::File, context).map(ReadResult::output)
            }
            ContentKind::Utf16 | ContentKind::Picture => {
                let bytes = context.files.read(path, picture::MAX_FILE)?;
                read_whole(bytes, range, path, context)
            }
            ContentKind::Document(format) => {
                Ok(ReadResult::Document(DocumentFile { path: path.to_owned(), format, range }))
            }
            ContentKind::Binary(description) => Err(binary(path, len, description)),
        };
    }
    let bytes = context.files.read(path, MAX_WHOLE)?;
    read_whole(bytes, range, path, context)
}

fn read_whole(
    bytes: Vec<u8>,
    range: LineRange,
    path: &Path,
    context: &ToolContext,
) -> Result<ReadResult, ToolError> {
    let head = bytes.get(..HEAD_BYTES as usize).unwrap_or(&bytes);
    match detect_content(path, head) {
        ContentKind::Text => {
            text::read(Cursor::new(bytes), &range, path, LineSource::File, context).map(ReadResult::output)
        }
        ContentKind::Utf16 => {
            let text = Cursor::new(Encoding::detect(&bytes).decode_lossy(bytes));
            text::read(text, &range, path, LineSource::File, context).map(ReadResult::output)
        }
        ContentKind::Picture => picture::read(bytes, path, context).map(ReadResult::output),
        ContentKind::Document(format) => {
            Ok(ReadResult::Document(DocumentFile { path: path.to_owned(), format, range }))
        }
        ContentKind::Binary(description) => Err(binary(path, bytes.len() as u64, description)),
    }
}

/// Content type of a file, determined from its first bytes; the name only distinguishes formats with the same
/// beginning.
enum ContentKind {
    Text,
    Utf16,
    Picture,
    Document(Format),
    Binary(&'static str),
}

fn detect_content(path: &Path, head: &[u8]) -> ContentKind {
    if Encoding::detect(head) != Encoding::Bytes {
        return ContentKind::Utf16;
    }
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if let Some(format) = Format::detect(&name, head) {
        return ContentKind::Document(format);
    }
    // The end of the head may split a character.
    let is_text = match std::str::from_utf8(head) {
        Ok(_) => !head.contains(&0),
        Err(error) => error.error_len().is_none() && !head.contains(&0),
    };
    if is_text {
        return ContentKind::Text;
    }
    let Some(kind) = infer::get(head) else {
        return if head.contains(&0) { ContentKind::Binary("binary data") } else { ContentKind::Text };
    };
    match (kind.matcher_type(), kind.mime_type()) {
        (_, "image/png" | "image/jpeg" | "image/gif" | "image/webp") => ContentKind::Picture,
        (infer::MatcherType::Image, _) => ContentKind::Binary("a picture of a format that cannot be shown"),
        (infer::MatcherType::Archive, _) => ContentKind::Binary("an archive of a format Octo does not list"),
        (infer::MatcherType::Doc | infer::MatcherType::Book, _) => ContentKind::Binary("an office document"),
        (infer::MatcherType::Audio, _) => ContentKind::Binary("a sound file"),
        (infer::MatcherType::Video, _) => ContentKind::Binary("a video"),
        (infer::MatcherType::Font, _) => ContentKind::Binary("a font"),
        (infer::MatcherType::App, _) => ContentKind::Binary("a program"),
        _ if head.contains(&0) => ContentKind::Binary("binary data"),
        _ => ContentKind::Text,
    }
}

fn binary(path: &Path, len: u64, description: &str) -> ToolError {
    ToolError::new(format!(
        "Binary file detected: {} is {description} ({len} bytes), which file_reader cannot show as text. If you need \
         what is in it, use a program for its format in the terminal.",
        path.display()
    ))
}

#[cfg(test)]
mod tests;
