//! The `trash_manager` tool: removed files, and their restoration.

use crate::{Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput, TrashFile, Trashcan};
use octo_protocol::{RemovedBy, ToolView, TrashForm, TrashId, TrashTotals};
use octo_workspace::{display_path, is_secret, resolve};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// Maximum files listed at a time.
const MAX_LISTED: u32 = 50;
/// Maximum files suggested when a path is not found.
const MAX_SUGGESTED: u32 = 5;
/// Maximum files listed by `status`.
const MAX_RECENT: u32 = 3;
/// Default minimum age of entries that `empty` deletes, in days.
const DEFAULT_DAYS: u32 = 7;

pub(crate) struct TrashManagerTool;

#[derive(Clone, Deserialize, JsonSchema)]
pub(crate) struct TrashInput {
    action: Action,
    /// For restore: the path it was removed from, or its id.
    file_path: Option<String>,
    /// For empty: only what was removed at least so many days ago. Default 7.
    #[schemars(range(min = 0))]
    days_old: Option<u32>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    List,
    Restore,
    Status,
    Empty,
    Help,
}

const HELP: &str = "Files removed with rm, unlink or find -delete are moved to the trash and can be brought back.\n\
    list: what is there, this project's files first, each with its id.\n\
    restore: give file_path, the path a file was removed from (its newest removal is taken), or an id from list. \
    Nothing is overwritten: move a file that is there now away first.\n\
    status: how much is there.\n\
    empty: deletes for good what was removed at least days_old days ago; the person is always asked.";

impl Tool for TrashManagerTool {
    const NAME: &'static str = "trash_manager";
    const DESCRIPTION: &'static str = "Lists and restores files removed with rm, which moves to a trash. restore \
        takes the newest removal of a path and overwrites nothing.";
    type Input = TrashInput;

    fn effects(&self, input: &TrashInput, cwd: &Path) -> Effects {
        match input.action {
            Action::List | Action::Status | Action::Help => Effects::none(),
            Action::Empty => {
                Effects { empties_trash: Some(input.days_old.unwrap_or(DEFAULT_DAYS)), ..Effects::none() }
            }
            Action::Restore => match target(input, cwd) {
                Ok(TrashTarget::Path(path)) => Effects::restores(vec![path]),
                // Its original path is known only after a lookup; the run allows no path outside.
                Ok(TrashTarget::Id(_)) => Effects::restores(vec![cwd.to_owned()]),
                Err(_) => Effects::none(),
            },
        }
    }

    async fn preview(&self, input: &TrashInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let text = match input.action {
            Action::List => "list".to_owned(),
            Action::Status => "status".to_owned(),
            Action::Help => "help".to_owned(),
            Action::Empty => format!("empty, {} days", input.days_old.unwrap_or(DEFAULT_DAYS)),
            Action::Restore => {
                let (file, target) = find_file(input, context).await?;
                format!("restore {} ({})", target.display(), size(file.entry.size))
            }
        };
        Ok(ToolView::Plain { text })
    }

    async fn run(&self, input: TrashInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let text = match input.action {
            Action::Help => HELP.to_owned(),
            Action::List => list(&context).await?,
            Action::Status => status(&context).await?,
            Action::Restore => {
                let (file, target) = find_file(&input, &context).await?;
                context.trash.restore(file.entry.id, &target).await?;
                format!("Restored {} to {}.", describe(&file, now()), display_path(&target, &context.cwd))
            }
            Action::Empty => {
                let days = input.days_old.unwrap_or(DEFAULT_DAYS);
                let emptied = context.trash.empty(days).await?;
                format!("Deleted for good: {}, removed at least {days} days ago.", amount(emptied))
            }
        };
        let view = ToolView::Plain { text: text.clone() };
        Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done })
    }
}

/// The entry to restore.
enum TrashTarget {
    Path(PathBuf),
    Id(TrashId),
}

fn target(input: &TrashInput, cwd: &Path) -> Result<TrashTarget, ToolError> {
    let text = input.file_path.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| {
        ToolError::new("restore needs file_path: the path the file was removed from, or its id from list.")
    })?;
    if let Ok(id) = text.parse() {
        return Ok(TrashTarget::Id(id));
    }
    // The last part is a name in its folder and is not followed if it is a link: the link itself was removed.
    let trimmed = text.trim_end_matches('/');
    let (parent, name) = match trimmed.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((parent, name)) => (parent, name),
        None => (".", trimmed),
    };
    if matches!(name, "" | "." | ".." | "~") {
        return Err(ToolError::new(format!("{text} names no file. Nothing was restored.")));
    }
    Ok(TrashTarget::Path(resolve(parent, cwd)?.join(name)))
}

/// Returns the chosen file and its destination.
async fn find_file(input: &TrashInput, context: &ToolContext) -> Result<(TrashFile, PathBuf), ToolError> {
    match target(input, &context.cwd)? {
        TrashTarget::Path(path) => {
            let newest = context.trash.at_path(&path).await?.into_iter().next();
            match newest {
                Some(file) => Ok((file, path)),
                None => Err(unknown(&path, context.trash.as_ref()).await?),
            }
        }
        TrashTarget::Id(id) => {
            let file = context.trash.file(id).await?.ok_or_else(|| {
                ToolError::new(format!(
                    "Nothing in the trash has the id {id}. Use list. Nothing was restored."
                ))
            })?;
            let path = file.path.clone();
            let closed = path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
            if closed || is_secret(&path) || !context.files.in_writable_scope(&path) {
                return Err(ToolError::new(format!(
                    "That file was at {}, where the person must agree to a change. Restore it by giving that path as \
                     file_path. Nothing was restored.",
                    path.display()
                )));
            }
            Ok((file, path))
        }
    }
}

async fn unknown(path: &Path, trash: &dyn Trashcan) -> Result<ToolError, ToolError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let similar = trash.find_named(&name, MAX_SUGGESTED).await?;
    let mut text = format!("Nothing in the trash was removed from {}.", path.display());
    if similar.is_empty() {
        text.push_str(" Use list to see what is there.");
    } else {
        text.push_str(" Of a similar name:");
        for file in &similar {
            let _ = write!(text, "\n{}", line(file, now()));
        }
    }
    Ok(ToolError::new(text))
}

async fn list(context: &ToolContext) -> Result<String, ToolError> {
    let listing = context.trash.files(&context.cwd, MAX_LISTED).await?;
    if listing.files.is_empty() {
        return Ok("No removed files are in the trash.".to_owned());
    }
    let mut text = String::new();
    let (in_project, elsewhere) = listing.files.split_at(listing.of_project.min(listing.files.len()));
    for (title, files) in [("Of this project:", in_project), ("Of other projects:", elsewhere)] {
        if !files.is_empty() {
            let _ = writeln!(text, "{title}");
            for file in files {
                let _ = writeln!(text, "{}", line(file, now()));
            }
        }
    }
    let _ = write!(text, "In all: {}.", amount(listing.totals));
    if listing.files.len() >= MAX_LISTED as usize {
        text.push_str(" Only the newest are listed; restore finds the others by their path.");
    }
    Ok(text)
}

async fn status(context: &ToolContext) -> Result<String, ToolError> {
    let listing = context.trash.files(&context.cwd, MAX_RECENT).await?;
    let mut text = format!("In the trash: {}.", amount(listing.totals));
    for file in &listing.files {
        let _ = write!(text, "\n{}", line(file, now()));
    }
    Ok(text)
}

fn line(file: &TrashFile, now: i64) -> String {
    format!("{} {} {}", file.entry.id, file.path.display(), describe(file, now))
}

fn describe(file: &TrashFile, now: i64) -> String {
    let entry = &file.entry;
    let kind = match entry.form {
        TrashForm::File => size(entry.size),
        TrashForm::Folder => format!("folder, {} files, {}", entry.files, size(entry.size)),
        TrashForm::Link => format!("link to {}", entry.link.as_deref().unwrap_or_default()),
        TrashForm::Special => "pipe or socket".to_owned(),
    };
    let remover = match entry.who {
        RemovedBy::Agent => "",
        RemovedBy::Person => " by the person",
    };
    format!("({kind}; removed {} ago{remover})", age(now.saturating_sub(entry.at)))
}

fn amount(totals: TrashTotals) -> String {
    let things = if totals.things == 1 { "1 thing" } else { &format!("{} things", totals.things) };
    format!("{things}, {}", size(totals.bytes))
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn age(milliseconds: i64) -> String {
    let minutes = milliseconds / 60_000;
    match minutes {
        ..1 => "less than a minute".to_owned(),
        1..120 => format!("{minutes} min"),
        120..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    }
}

fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
