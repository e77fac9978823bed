//! Recognises commands that the terminal answers in process: `octo skill …` and similar ones.
//!
//! A line counts only if it is exactly one such command, in literal words. With anything else in the line, the
//! shell would be involved, and a file, a script or a page could have supplied it: then Octo refuses the line
//! with an explanation, since the program named `octo` on the path is a different one and has no such command.

use super::TerminalInput;
use crate::{
    BuiltinCommandEffect, CommandOrigin, Effects, Outcome, Site, SkillCommand, SkillSourceRef, ToolContext,
    ToolError, ToolOutput,
    builtin::{self, BuiltinCommand, ParsedCommand},
};
use octo_policy::{sole_command, would_start};
use octo_protocol::{CommandState, CommandView, ToolView};
use std::{path::Path, time::Instant};
use url::Url;

/// Name of the command.
const PROGRAM_NAME: &str = "octo";

/// Classification of a line as a builtin command.
pub(super) enum BuiltinMatch {
    /// A valid command.
    Valid(ParsedCommand),
    /// An invalid attempt at one, with the reason for the model.
    Invalid(ToolError),
}

/// Parses a line; `None` if it has nothing to do with builtin commands.
pub(super) fn match_line(line: &str, input: &TerminalInput, folder: &Path) -> Option<BuiltinMatch> {
    // Most lines do not contain the name, in any quoting, and parsing a line takes time.
    let unquoted: String = line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '\n')).collect();
    if !unquoted.contains(PROGRAM_NAME) {
        return None;
    }
    let arguments = sole_command(line).filter(|arguments| {
        arguments.first().is_some_and(|name| name == PROGRAM_NAME)
            && arguments.get(1).is_some_and(|group| builtin::GROUPS.contains(&group.as_str()))
    });
    let nearly = |near_miss: &str| {
        Some(BuiltinMatch::Invalid(ToolError::new(format!(
            "Not run: {near_miss}. The app itself answers `octo {} …`, as the only command of a call: no pipe, redirection, \
             variable, substitution or second command, `octo` and its first argument unquoted, text in single quotes.",
            builtin::GROUPS.join("|")
        ))))
    };
    let Some(arguments) = arguments else {
        return would_start(line, PROGRAM_NAME, builtin::GROUPS, folder)
            .then(|| nearly("something stands beside or inside an octo command"))
            .flatten();
    };
    if input.background == Some(true) {
        return nearly("octo commands are not answered in the background");
    }
    if input.env.as_ref().is_some_and(|env| !env.is_empty()) {
        return nearly("octo commands take no variables");
    }
    let folder = match input.folder(folder) {
        Ok(cwd) => cwd.unwrap_or_else(|| folder.to_owned()),
        Err(error) => return Some(BuiltinMatch::Invalid(error)),
    };
    Some(match builtin::parse(&arguments, &folder) {
        Ok(parsed) => BuiltinMatch::Valid(parsed),
        Err(error) => BuiltinMatch::Invalid(error),
    })
}

/// Returns the effects of a builtin command.
pub(super) fn effects(builtin: &BuiltinMatch) -> Effects {
    // Certain to fail before anything happens: the run reports why.
    let BuiltinMatch::Valid(parsed) = builtin else { return Effects::none() };
    let builtin_effect =
        parsed.command().change().map_or(BuiltinCommandEffect::Reads, BuiltinCommandEffect::Changes);
    let mut effects = Effects { builtin: Some(builtin_effect), ..Effects::none() };
    effects.reads.extend(parsed.body().map(Path::to_owned));
    match parsed.command() {
        BuiltinCommand::Skill(
            SkillCommand::Validate { path }
            | SkillCommand::Propose { path, .. }
            | SkillCommand::Inspect { source: SkillSourceRef::Path(path) }
            | SkillCommand::Install { source: SkillSourceRef::Path(path), .. },
        ) => effects.reads.push(path.clone()),
        BuiltinCommand::Skill(SkillCommand::Inspect { source: SkillSourceRef::Address(address) }) => {
            let site = Url::parse(address).ok().and_then(|url| Site::from_url(&url));
            effects.sites.extend(site);
        }
        BuiltinCommand::Skill(SkillCommand::Export { file, .. }) => effects.writes.push(file.clone()),
        // A source that was fetched before is installed from the cached copy.
        BuiltinCommand::Skill(
            SkillCommand::Install { source: SkillSourceRef::Address(_), .. }
            | SkillCommand::List
            | SkillCommand::Show { .. },
        )
        | BuiltinCommand::Memory(_)
        | BuiltinCommand::Persona(_)
        | BuiltinCommand::Task(_)
        | BuiltinCommand::Browser(_)
        | BuiltinCommand::Settings(_) => {}
    }
    effects
}

fn command_origin(context: &ToolContext) -> CommandOrigin {
    CommandOrigin { session: context.session, call: context.call, folder: context.cwd.clone() }
}

/// Returns the preview for the person.
pub(super) async fn preview(
    builtin: BuiltinMatch,
    line: &str,
    input: &TerminalInput,
    context: &ToolContext,
) -> Result<ToolView, ToolError> {
    let parsed = parse_command(builtin, line, input, context)?;
    let command = parsed.with_body(context).await?;
    if command.change().is_none() {
        return Ok(view(line, context, None));
    }
    context.builtin.preview(&command, &command_origin(context)).await
}

/// Executes the command.
pub(super) async fn run(
    builtin: BuiltinMatch,
    line: &str,
    input: &TerminalInput,
    context: ToolContext,
) -> Result<ToolOutput, ToolError> {
    let parsed = parse_command(builtin, line, input, &context)?;
    let started = Instant::now();
    let command = parsed.with_body(&context).await?;
    // Not dropped on cancellation: half an installation would be worse than a late end.
    let text = context.builtin.execute(command, command_origin(&context), context.cancel.clone()).await?;
    let view = view(line, &context, Some((&text, started)));
    Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done })
}

/// Returns the command if it means the same in the shell's current folder: the permission decision used paths
/// relative to the session's folder.
fn parse_command(
    builtin: BuiltinMatch,
    line: &str,
    input: &TerminalInput,
    context: &ToolContext,
) -> Result<ParsedCommand, ToolError> {
    let parsed = match builtin {
        BuiltinMatch::Valid(parsed) => parsed,
        BuiltinMatch::Invalid(error) => return Err(error),
    };
    let stands = context.shell.current_dir(&context.cwd);
    if stands == context.cwd {
        return Ok(parsed);
    }
    match self::match_line(line, input, &stands) {
        Some(BuiltinMatch::Valid(there)) if there == parsed => Ok(parsed),
        _ => Err(ToolError::new(format!(
            "Not run: the terminal now stands in {}, so a relative path is uncertain. Give the absolute path.",
            stands.display()
        ))),
    }
}

fn view(line: &str, context: &ToolContext, outcome: Option<(&str, Instant)>) -> ToolView {
    ToolView::Command(CommandView {
        command: line.trim().to_owned(),
        cwd: context.cwd.to_string_lossy().into_owned(),
        output: outcome.map(|(text, _)| text.to_owned()),
        state: outcome.map(|_| CommandState::Exited { code: 0 }),
        duration_ms: outcome.and_then(|(_, started)| u64::try_from(started.elapsed().as_millis()).ok()),
        log: None,
        handle: None,
        lost_folder: None,
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
