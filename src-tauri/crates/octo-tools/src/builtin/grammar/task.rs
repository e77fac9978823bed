//! Parses `octo task …`.

use crate::{TaskCommand, TaskFields, ToolError};
use clap::{Args, Subcommand};
use octo_protocol::Switch;
use std::path::PathBuf;

#[derive(Subcommand)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
pub(super) enum TaskLine {
    List,
    Show { file: String },
    Add(DraftLine),
    Edit(EditLine),
    Run { file: String },
    Pause { file: String },
    Resume { file: String },
    Delete { file: String },
}

#[derive(Args)]
#[group(skip)]
pub(super) struct EditLine {
    file: String,
    #[command(flatten)]
    draft: DraftLine,
}

#[derive(Args)]
#[group(skip)]
pub(super) struct DraftLine {
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    name: Option<String>,
    #[arg(long, value_name = "TIMES")]
    when: Option<String>,
    // Prompts are Markdown: a text with a list at its start begins with a hyphen.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    #[arg(long, value_name = "PATH", conflicts_with = "prompt")]
    prompt_file: Option<String>,
    #[arg(long, value_name = "PATH")]
    folder: Option<String>,
    #[arg(long, value_name = "NAME")]
    zone: Option<String>,
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    #[arg(long, value_name = "ask|ask_risky|autonomous")]
    mode: Option<String>,
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    #[arg(long, value_name = "DOLLARS")]
    budget: Option<String>,
    #[arg(long, value_name = "NUMBER")]
    minutes: Option<u32>,
    #[arg(long, value_name = "NUMBER")]
    retries: Option<u32>,
    #[arg(long, value_name = "NUMBER")]
    retry_minutes: Option<u32>,
    #[arg(long, value_name = "skip|run-once|ask")]
    missed: Option<String>,
    #[arg(long, value_name = "all|trouble|nothing")]
    tell: Option<String>,
}

type PathResolver<'a> = &'a dyn Fn(&str) -> Result<PathBuf, ToolError>;

/// Returns the command of a parsed line, and the file with its prompt.
pub(super) fn to_command(
    line: TaskLine,
    path: PathResolver<'_>,
) -> Result<(TaskCommand, Option<PathBuf>), ToolError> {
    let without_body = |command| Ok((command, None));
    match line {
        TaskLine::List => without_body(TaskCommand::List),
        TaskLine::Show { file } => without_body(TaskCommand::Show { task: file }),
        TaskLine::Run { file } => without_body(TaskCommand::Run { task: file }),
        TaskLine::Pause { file } => without_body(TaskCommand::Switch { task: file, on: Switch::Off }),
        TaskLine::Resume { file } => without_body(TaskCommand::Switch { task: file, on: Switch::On }),
        TaskLine::Delete { file } => without_body(TaskCommand::Delete { task: file }),
        TaskLine::Add(line) => {
            let (name, has_timing) = (line.name.is_some(), line.when.is_some());
            let prompt = line.prompt.is_some() || line.prompt_file.is_some();
            if !(name && has_timing && prompt) {
                return Err(ToolError::new(
                    "Not done. A new task needs --name, --when and --prompt or --prompt-file.",
                ));
            }
            save_command(None, line, path)
        }
        TaskLine::Edit(line) => save_command(Some(line.file), line.draft, path),
    }
}

fn save_command(
    task: Option<String>,
    line: DraftLine,
    path: PathResolver<'_>,
) -> Result<(TaskCommand, Option<PathBuf>), ToolError> {
    let body_path = line.prompt_file.as_deref().map(path).transpose()?;
    let draft = TaskFields {
        name: line.name,
        when: line.when,
        prompt: line.prompt,
        folder: line.folder.as_deref().map(path).transpose()?,
        zone: line.zone,
        profile: line.profile,
        mode: line.mode,
        model: line.model,
        budget: line.budget,
        minutes: line.minutes,
        retries: line.retries,
        retry_minutes: line.retry_minutes,
        missed: line.missed,
        tell: line.tell,
    };
    Ok((TaskCommand::Save { task, draft: Box::new(draft) }, body_path))
}
