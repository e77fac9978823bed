//! The `glob` tool: finds files by name.

use crate::{
    Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput, blocking::blocking, grep::describe_skipped,
};
use octo_protocol::ToolView;
use octo_workspace::{GlobQuery, display_path, glob, glob_base};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

const DEFAULT_LIMIT: u32 = 100;
/// Maximum limit; a longer list is not useful.
const MAX_LIMIT: u32 = 1_000;

pub(crate) struct GlobTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GlobInput {
    /// Such as "*.rs" (any depth), "src/**/*.{ts,tsx}" or an absolute pattern.
    pattern: String,
    /// Folder to search in. Default: the working folder.
    base_path: Option<String>,
    /// Most paths to return. Default 100.
    limit: Option<u32>,
}

impl Tool for GlobTool {
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Finds files by name, newest first. Ignored files are left out.";
    type Input = GlobInput;

    fn effects(&self, input: &GlobInput, cwd: &Path) -> Effects {
        base(input, cwd).map_or_else(|_| Effects::reads(Vec::new()), |(base, _)| Effects::reads(vec![base]))
    }

    async fn preview(&self, input: &GlobInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let (base, pattern) = base(input, &context.cwd)?;
        let pattern = pattern.trim_start_matches("./");
        Ok(ToolView::Plain { text: base.join(pattern).to_string_lossy().into_owned() })
    }

    async fn run(&self, input: GlobInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        blocking(move || {
            let (base, pattern) = base(&input, &context.cwd)?;
            let limit = input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT) as usize;
            let found = glob(&context.files, &GlobQuery { base, pattern, limit }, &context.cancel)?;
            let paths: Vec<String> =
                found.paths.iter().map(|path| display_path(path, &context.cwd)).collect();
            let mut text = match paths.len() {
                0 => "No files found.".to_owned(),
                _ => paths.join("\n"),
            };
            if found.total > paths.len() {
                text.push_str(&format!("\n({} of {} files, newest first)", paths.len(), found.total));
            }
            text.push_str(&describe_skipped(&found.skipped));
            let view = ToolView::Paths {
                pattern: input.pattern,
                paths,
                total: u32::try_from(found.total).unwrap_or(u32::MAX),
            };
            Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done })
        })
        .await
    }
}

fn base(input: &GlobInput, cwd: &Path) -> Result<(std::path::PathBuf, String), ToolError> {
    Ok(glob_base(&input.pattern, input.base_path.as_deref().unwrap_or("."), cwd)?)
}
