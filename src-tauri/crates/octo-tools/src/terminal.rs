//! The `terminal` tool: shell commands, and processes that still run; and the builtin commands.

mod builtin_line;

use crate::{Approver, CommandEffect, Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput};
use octo_protocol::{CommandState, CommandView, ToolView};
use octo_shell::{
    CarryScope, CommandReport, CommandRun, DEFAULT_WAIT, ProcessInput, RunMode, START_WINDOW, ShellError,
};
use octo_workspace::resolve;
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The tool's name.
pub const TERMINAL: &str = "terminal";

pub(crate) struct TerminalTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TerminalInput {
    /// A bash command line. Exclusive with handle_id.
    command: Option<String>,
    /// A command of this session that still runs.
    handle_id: Option<String>,
    /// What to type into it, such as "y\n" or "\x03". Empty: look at new output.
    input: Option<String>,
    /// End it.
    kill: Option<bool>,
    /// Folder for this command. Default: where the last one ended.
    cwd: Option<String>,
    /// Extra variables for this command.
    env: Option<BTreeMap<String, String>>,
    /// Go to the background at once: servers, long builds.
    #[serde(rename = "async")]
    background: Option<bool>,
}

/// Action of a call, derived from its fields.
enum TerminalAction<'a> {
    Start(&'a str),
    Type { handle: &'a str, text: &'a str },
    Kill { handle: &'a str },
}

impl TerminalInput {
    fn requested_action(&self) -> Result<TerminalAction<'_>, ToolError> {
        let is_given = |text: &'_ Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        if is_given(&self.handle_id) {
            let handle = self.handle_id.as_deref().unwrap_or_default().trim();
            return Ok(match self.kill {
                Some(true) => TerminalAction::Kill { handle },
                Some(false) | None => {
                    TerminalAction::Type { handle, text: self.input.as_deref().unwrap_or_default() }
                }
            });
        }
        match self.command.as_deref() {
            Some(command) if !command.trim().is_empty() => Ok(TerminalAction::Start(command)),
            Some(_) | None => Err(ToolError::new(
                "Nothing to do: give command to run something, or handle_id (with input or kill) for a command that still runs.",
            )),
        }
    }

    fn variables(&self) -> Vec<(String, String)> {
        self.env.iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn folder(&self, cwd: &Path) -> Result<Option<PathBuf>, ToolError> {
        match self.cwd.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            Some(text) => resolve(text, cwd).map(Some).map_err(|error| ToolError::new(error.to_string())),
            None => Ok(None),
        }
    }
}

impl Tool for TerminalTool {
    const NAME: &'static str = TERMINAL;
    const DESCRIPTION: &'static str = "Runs a bash command. Directory, exports and functions carry over to the next one. One that waits for input, or runs over a minute, goes on in the background under a handle_id; a notice tells its end, so do not poll.";
    type Input = TerminalInput;

    fn effects(&self, input: &TerminalInput, cwd: &Path) -> Effects {
        let command = match input.requested_action() {
            // Certain to fail before anything happens: the run reports why.
            Err(_) => return Effects::none(),
            Ok(TerminalAction::Start(line))
                if let Some(builtin) = builtin_line::match_line(line, input, cwd) =>
            {
                return builtin_line::effects(&builtin);
            }
            Ok(TerminalAction::Start(line)) => match input.folder(cwd) {
                Ok(cwd) => CommandEffect::Start { line: line.to_owned(), cwd, env: input.variables() },
                Err(_) => return Effects::none(),
            },
            Ok(TerminalAction::Type { text: "", .. } | TerminalAction::Kill { .. }) => CommandEffect::Control,
            Ok(TerminalAction::Type { handle, text }) => {
                CommandEffect::Input { handle: handle.to_owned(), input: text.to_owned() }
            }
        };
        Effects { command: Some(command), ..Effects::none() }
    }

    async fn preview(&self, input: &TerminalInput, context: &ToolContext) -> Result<ToolView, ToolError> {
        let (command, cwd, handle) = match input.requested_action()? {
            TerminalAction::Start(line)
                if let Some(builtin) = builtin_line::match_line(line, input, &context.cwd) =>
            {
                return builtin_line::preview(builtin, line, input, context).await;
            }
            TerminalAction::Start(line) => {
                let cwd =
                    input.folder(&context.cwd)?.unwrap_or_else(|| context.shell.current_dir(&context.cwd));
                (line.to_owned(), cwd, None)
            }
            TerminalAction::Type { handle, text } => {
                let (_, cwd) = running_command(context, handle)?;
                (text.to_owned(), cwd, Some(handle.to_owned()))
            }
            TerminalAction::Kill { handle } => {
                let (command, cwd) = running_command(context, handle)?;
                (command, cwd, Some(handle.to_owned()))
            }
        };
        let cwd = cwd.to_string_lossy().into_owned();
        Ok(ToolView::Command(CommandView {
            command,
            cwd,
            output: None,
            state: None,
            duration_ms: None,
            log: None,
            handle,
            lost_folder: None,
        }))
    }

    async fn run(&self, input: TerminalInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let (live, cancel) = (context.live.clone(), context.cancel.clone());
        let report = match input.requested_action()? {
            TerminalAction::Start(line)
                if let Some(builtin) = builtin_line::match_line(line, &input, &context.cwd) =>
            {
                return builtin_line::run(builtin, line, &input, context).await;
            }
            TerminalAction::Start(line) => {
                let (mode, wait) = match input.background {
                    Some(true) => (RunMode::Background, START_WINDOW),
                    Some(false) | None => (RunMode::Foreground, DEFAULT_WAIT),
                };
                let run = CommandRun {
                    call: context.call,
                    command: context.rewritten.clone().unwrap_or_else(|| line.to_owned()),
                    folder: context.cwd.clone(),
                    cwd: input.folder(&context.cwd)?.or(context.shell_folder.clone()),
                    env: input.variables(),
                    carry_scope: match context.approved_by {
                        Approver::Person => CarryScope::All,
                        Approver::Policy => CarryScope::FolderOnly,
                    },
                    live,
                    cancel,
                    wait,
                    mode,
                    confinement: context.confinement.clone(),
                    guard: context.running.clone(),
                };
                context.shell.run(run).await
            }
            TerminalAction::Type { handle, text } => {
                let input = ProcessInput {
                    call: context.call,
                    handle: handle.to_owned(),
                    text: text.to_owned(),
                    live,
                    cancel,
                    wait: DEFAULT_WAIT,
                };
                context.shell.input(input).await
            }
            TerminalAction::Kill { handle } => context.shell.kill(handle, context.call).await,
        };
        Ok(output(report.map_err(|error| error_words(&error))?, &context))
    }
}

fn running_command(context: &ToolContext, handle: &str) -> Result<(String, PathBuf), ToolError> {
    context
        .shell
        .command_of(handle)
        .ok_or_else(|| error_words(&ShellError::UnknownHandle { handle: handle.to_owned() }))
}

fn error_words(error: &ShellError) -> ToolError {
    ToolError::new(format!("Not run: {error}."))
}

fn output(report: CommandReport, context: &ToolContext) -> ToolOutput {
    let text = report_text(&report, context);
    let path_text = |path: PathBuf| path.to_string_lossy().into_owned();
    let view = ToolView::Command(CommandView {
        command: report.command,
        cwd: path_text(report.cwd),
        output: Some(report.output_view),
        state: Some(report.state),
        duration_ms: u64::try_from(report.duration.as_millis()).ok(),
        log: report.log.map(path_text),
        handle: report.handle,
        lost_folder: report.lost_dir.map(path_text),
    });
    ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done }
}

/// Returns the report for the model: the output, then one line on the state of the command.
fn report_text(report: &CommandReport, context: &ToolContext) -> String {
    let handle = report.handle.as_deref().unwrap_or_default();
    let seconds = report.duration.as_secs_f64();
    let output = match &report.log {
        Some(log) => format!("; output in {}", log.display()),
        None => String::new(),
    };
    let state = match report.state {
        CommandState::Exited { code } => format!("exit code {code}, {seconds:.1} s"),
        CommandState::Signalled { signal } => format!("ended by signal {signal} after {seconds:.1} s"),
        CommandState::Killed => format!("killed after {seconds:.1} s"),
        CommandState::TimedOut => format!("timed out: ended after {seconds:.0} s"),
        CommandState::EndedWithOcto => format!("ended with the app after {seconds:.1} s"),
        CommandState::Waiting => format!(
            "waits for input; handle_id {handle}{output}. Answer with input (end a line with \\n), or end it with kill"
        ),
        CommandState::Running => format!(
            "goes on in the background after {seconds:.0} s; handle_id {handle}{output}. A notice will tell its end: do other work or finish your turn, do not poll. End it with kill"
        ),
    };
    let mut lines = Vec::new();
    let output = report.output_model.trim_end();
    lines.push(if output.is_empty() { "(no output)".to_owned() } else { output.to_owned() });
    let log = match &report.log {
        Some(log) if report.truncated && report.state.is_over() => {
            format!("; whole output ({} bytes) in {}", report.output_bytes, log.display())
        }
        Some(_) | None => String::new(),
    };
    let cwd_note = match &report.lost_dir {
        Some(lost) => {
            format!("; the folder {} is gone: now in {}", lost.display(), report.cwd_after.display())
        }
        None if report.cwd_after == report.cwd || report.cwd_after == context.cwd => String::new(),
        None => format!("; now in {}", report.cwd_after.display()),
    };
    let confinement_hint = if looks_confined(report, context) {
        "; the system held this command back: it may write only in the session's folder, its temporary folder ($TMPDIR) and caches, and read no stored keys. If it must do more, tell the person, who can allow it or turn this off in the settings"
    } else {
        ""
    };
    lines.push(format!("[{state}{log}{cwd_note}{confinement_hint}]"));
    lines.join("\n")
}

/// Returns whether a command failed in the way that confined ones do. It may have another reason too.
fn looks_confined(report: &CommandReport, context: &ToolContext) -> bool {
    const CONFINEMENT_ERRORS: [&str; 4] =
        ["Permission denied", "Operation not permitted", "EACCES", "Read-only file system"];
    context.confinement.is_some()
        && matches!(report.state, CommandState::Exited { code } if code != 0)
        && CONFINEMENT_ERRORS.iter().any(|sign| report.output_model.contains(sign))
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
