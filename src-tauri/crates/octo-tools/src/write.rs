//! The `write` tool: writes a whole file.

use crate::{
    Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput, blocking::blocking, encoding::Encoding,
};
use octo_protocol::{DiffView, FileChange, ToolView};
use octo_workspace::{Files, FilesError, diff, display_path, resolve};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// Maximum size of the old content that is compared with the new one for the person.
const MAX_COMPARED: u64 = 8 << 20;

pub(crate) struct WriteTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct WriteInput {
    /// File to write.
    path: String,
    /// The file's whole new content.
    content: String,
}

impl Tool for WriteTool {
    const NAME: &'static str = "write";
    const DESCRIPTION: &'static str = "Creates a file, or replaces its whole content. Missing folders are \
        created. To change part of a file use edit.";
    type Input = WriteInput;

    fn effects(&self, input: &WriteInput, cwd: &Path) -> Effects {
        // An invalid path has no effects; the run reports the error.
        resolve(&input.path, cwd).map_or_else(|_| Effects::none(), |path| Effects::writes(vec![path]))
    }

    async fn preview(&self, input: &WriteInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let path = resolve(&input.path, &context.cwd)?;
        let (files, content) = (context.files.for_person(), input.content.clone());
        blocking(move || Ok(ToolView::Diff(compare(&files, &path, content.as_bytes())?))).await
    }

    async fn run(&self, input: WriteInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        blocking(move || {
            let path = resolve(&input.path, &context.cwd)?;
            let content = input.content.into_bytes();
            context.files.check_write(&path)?;
            let person_files = context.files.for_person();
            let view = compare(&person_files, &path, &content)?;
            let lines = content.split_inclusive(|byte| *byte == b'\n').count();
            // Programs that read the file expect its previous encoding.
            let encoding = Encoding::of_file(&person_files, &path)?;
            let report = context.files.write(&path, &encoding.encode(content))?;
            let name = display_path(&report.path, &context.cwd);
            let len = report.after.len;
            let encoding_note = if encoding == Encoding::Bytes { "" } else { " It stays UTF-16, as it was." };
            let text = match report.before {
                None => format!("Created {name}: {len} bytes, {lines} lines."),
                Some(before) if before.hash == report.after.hash => {
                    format!("{name} already had exactly this content.")
                }
                Some(before) => {
                    format!(
                        "Replaced {name}: {len} bytes, {lines} lines (before: {} bytes).{encoding_note}",
                        before.len
                    )
                }
            };
            Ok(ToolOutput { text, images: Vec::new(), view: ToolView::Diff(view), outcome: Outcome::Done })
        })
        .await
    }
}

fn compare(files: &Files, path: &Path, content: &[u8]) -> Result<DiffView, ToolError> {
    match files.read(path, MAX_COMPARED) {
        Ok(before) => Ok(diff(path, Some(&Encoding::detect(&before).decode_lossy(before)), content)),
        Err(FilesError::NotFound { .. }) => Ok(diff(path, None, content)),
        Err(FilesError::TooLarge { .. }) => Ok(DiffView {
            path: path.to_string_lossy().into_owned(),
            change: FileChange::Edited,
            added: 0,
            removed: 0,
            hunks: Vec::new(),
            truncated: true,
        }),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
