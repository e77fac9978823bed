//! Reads documents: the text is extracted once and cached for later ranges.
//!
//! Octo's own readers are tried first, in a process with limits. If one fails, a script in the person's folder
//! is tried: it can be repaired and extended, so even an unforeseen format can be read.

use super::text::{self, LineRange, LineSource};
use crate::{ToolContext, ToolError, ToolOutput, blocking::blocking};
use octo_documents::{DocumentError, DocumentSource, Format};
use octo_protocol::CommandState;
use octo_shell::{CarryScope, CommandRun, RunMode};
use octo_workspace::{FileStat, ShippedScript};
use std::{
    io::BufReader,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

/// Version of the readers. Raise it when one extracts different text from the same file: cached text is then
/// discarded.
const READERS_VERSION: u32 = 1;
/// Timeout of a script: recognising fifty scanned pages takes about this long.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum bytes read of a script's output.
const MAX_OUTPUT: u64 = 16 << 20;
/// Maximum characters of a failed script's message that the model sees.
const MAX_SCRIPT_MESSAGE: usize = 800;

/// Scripts shipped with Octo, for `~/.octo/scripts`.
pub const SHIPPED_SCRIPTS: &[ShippedScript] = &[
    ShippedScript { name: "read_pdf.sh", text: include_str!("../../scripts/read_pdf.sh") },
    ShippedScript { name: "read_pdf_ocr.sh", text: include_str!("../../scripts/read_pdf_ocr.sh") },
    ShippedScript { name: "read_word.py", text: include_str!("../../scripts/read_word.py") },
    ShippedScript { name: "read_excel.py", text: include_str!("../../scripts/read_excel.py") },
    ShippedScript { name: "read_powerpoint.py", text: include_str!("../../scripts/read_powerpoint.py") },
];

/// Returns the script for a format. Archives have none: a script would unpack exactly the data that the limits
/// guard against.
fn script(format: Format) -> Option<&'static str> {
    match format {
        Format::Pdf => Some("read_pdf.sh"),
        Format::Word | Format::OldWord => Some("read_word.py"),
        Format::Sheet => Some("read_excel.py"),
        Format::Presentation | Format::OldPresentation => Some("read_powerpoint.py"),
        Format::Zip | Format::Tar | Format::Gzip => None,
    }
}

/// A document to read.
pub(super) struct DocumentFile {
    pub path: PathBuf,
    pub format: Format,
    pub range: LineRange,
}

/// Returns the text of a document in the requested range.
pub(super) async fn read(document: DocumentFile, context: ToolContext) -> Result<ToolOutput, ToolError> {
    let document = Arc::new(document);
    let (source, reading) = (document.clone(), context.clone());
    let (name, read) = blocking(move || {
        let name = cache_name(&source, &reading.files.stat(&source.path)?);
        if let Some(cached) = reading.outputs.find(&name) {
            return Ok((name, Ok(cached)));
        }
        let (file, _) = reading.files.open(&source.path)?;
        let stop = || reading.cancel.is_cancelled();
        let read = match reading.documents.read(source.format, DocumentSource::File(file), &stop) {
            Ok(text) => Ok(cache_text(&name, &text, &reading)?),
            Err(error) => Err(error),
        };
        Ok((name, read))
    })
    .await?;
    let cached = match read {
        Ok(cached) => cached,
        Err(DocumentError::Stopped) => return Err(ToolError::new("Reading was stopped.")),
        Err(error) => {
            let text = read_with_script(&document, &error, &context).await?;
            let context = context.clone();
            blocking(move || cache_text(&name, &text, &context)).await?
        }
    };
    blocking(move || {
        let (file, _) = context.files.open(&cached)?;
        let line_source = LineSource::Document(document.format.description());
        text::read(BufReader::new(file), &document.range, &document.path, line_source, &context)
    })
    .await
}

/// Returns the cache name of a document's text, which changes with the file.
fn cache_name(document: &DocumentFile, stat: &FileStat) -> String {
    let modified = stat.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |elapsed| elapsed.as_nanos());
    let key = format!(
        "{READERS_VERSION}\0{}\0{modified}\0{}\0{}",
        document.format.name(),
        stat.len,
        document.path.to_string_lossy()
    );
    let hash = blake3::hash(key.as_bytes()).to_hex();
    format!("document-{}.md", hash.as_str().get(..24).unwrap_or_default())
}

fn cache_text(name: &str, text: &str, context: &ToolContext) -> Result<PathBuf, ToolError> {
    let text = text.trim_matches('\n');
    context
        .outputs
        .keep(name, &format!("{text}\n"))
        .map_err(|error| ToolError::new(format!("The document's text could not be kept: {error}.")))
}

/// Extracts the text with a script, after Octo's own reader failed.
async fn read_with_script(
    document: &DocumentFile,
    error: &DocumentError,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let path = document.path.display();
    let failed =
        format!("Failed to extract text from {path}: it is {}, and {error}.", document.format.description());
    // No program can supply a password, and a file that is not a document is not one for a script either.
    let name = match (error, script(document.format)) {
        (DocumentError::Locked, _) | (_, None) => return Err(ToolError::new(failed)),
        (_, Some(name)) => name,
    };
    let Some(script) = context.scripts.find(name) else {
        return Err(ToolError::new(format!("{failed} There is no script {name} in Octo's scripts folder.")));
    };
    let script_path = script.display();
    match run_script(&script, &document.path, context).await {
        Ok(text) => Ok(text),
        Err(message) => Err(ToolError::new(format!(
            "{failed} The script {script_path} was tried then, and failed: {message}\nIt gets the file's path as its argument, \
             prints the text and ends with 0. Install what it misses, or repair or extend it (changing it asks the \
             person), and read the file again."
        ))),
    }
}

/// Runs a script on a file; returns its text, or its message.
async fn run_script(script: &Path, file: &Path, context: &ToolContext) -> Result<String, String> {
    let interpreter = match script.extension().and_then(|extension| extension.to_str()) {
        Some("py") => "python3",
        _ => "bash",
    };
    let run = CommandRun {
        call: context.call,
        command: format!("{interpreter} {} {}", shell_quote(script), shell_quote(file)),
        folder: context.cwd.clone(),
        cwd: Some(context.cwd.clone()),
        env: Vec::new(),
        carry_scope: CarryScope::FolderOnly,
        live: Arc::new(|_| {}),
        cancel: context.cancel.clone(),
        wait: SCRIPT_TIMEOUT,
        mode: RunMode::Foreground,
        confinement: context.confinement.clone(),
        guard: context.running.clone(),
    };
    let report = context.shell.run(run).await.map_err(|error| error.to_string())?;
    if let Some(handle) = &report.handle {
        // It may have ended already.
        let _ = context.shell.kill(handle, context.call).await;
        return Err(format!(
            "it did not end within {} seconds, or waited for input.",
            SCRIPT_TIMEOUT.as_secs()
        ));
    }
    let text = match &report.log {
        Some(log) if report.truncated => {
            let (files, log) = (context.files.clone(), log.clone());
            let read = tokio::task::spawn_blocking(move || files.read(&log, MAX_OUTPUT)).await;
            let bytes = read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Some(_) | None => report.output_model,
    };
    if report.state == (CommandState::Exited { code: 0 }) && !text.trim().is_empty() {
        return Ok(text);
    }
    let count = text.trim().chars().count();
    let message: String = text.trim().chars().skip(count.saturating_sub(MAX_SCRIPT_MESSAGE)).collect();
    Err(match report.state {
        CommandState::Exited { code: 0 } => "it printed nothing.".to_owned(),
        CommandState::Exited { code } => format!("it ended with {code}. {message}"),
        _ => format!("it was ended. {message}"),
    })
}

fn shell_quote(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}
