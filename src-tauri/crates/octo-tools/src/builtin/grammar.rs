//! Parses the builtin commands.

mod task;

use super::{
    BrowserQuery, BuiltinCommand, MemoryCommand, PersonaCommand, SettingsQuery, SkillCommand, SkillSourceRef,
    TaskCommand,
};
use crate::{ToolContext, ToolError, blocking::blocking};
use clap::{
    Args, ColorChoice, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
    error::ErrorKind,
};
use octo_protocol::{PersonaKind, SettingsPage};
use octo_workspace::resolve;
use std::path::{Path, PathBuf};
use url::Url;

/// Second words of the builtin commands.
pub(crate) const GROUPS: &[&str] = &["skill", "memory", "persona", "task", "browser", "settings"];

/// Usage of all commands.
const USAGE: &str = "octo skill list | show NAME | validate PATH | inspect SOURCE | install SOURCE [NAME...] [--replace NAME...] | propose PATH --reason TEXT | export NAME FILE
octo memory list [--query TEXT] | read FILE | save [FILE] --topic TEXT --description TEXT (--body TEXT | --body-file PATH) | delete FILE
octo persona show | write soul|user --body-file PATH
octo task list | show FILE | add --name TEXT --when TIMES (--prompt TEXT | --prompt-file PATH) [OPTION...] | edit FILE [OPTION...] | run FILE | pause FILE | resume FILE | delete FILE
octo browser status | doctor
octo settings list | show KEY | open PAGE [KEY VALUE]";

/// Maximum bytes of a file given as a body.
const MAX_BODY: u64 = 50_000;

#[derive(Parser)]
#[command(name = "octo", color = ColorChoice::Never, disable_help_subcommand = true, disable_help_flag = true)]
struct CommandLine {
    #[command(subcommand)]
    group: CommandGroup,
}

#[derive(Subcommand)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
enum CommandGroup {
    #[command(subcommand)]
    Skill(SkillLine),
    #[command(subcommand)]
    Memory(MemoryLine),
    #[command(subcommand)]
    Persona(PersonaLine),
    #[command(subcommand)]
    Task(Box<task::TaskLine>),
    #[command(subcommand)]
    Browser(BrowserLine),
    #[command(subcommand)]
    Settings(SettingsLine),
}

#[derive(Subcommand)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
enum SkillLine {
    List,
    Show {
        name: String,
    },
    Validate {
        path: String,
    },
    Inspect {
        source: String,
    },
    Install {
        source: String,
        names: Vec<String>,
        #[arg(long, num_args = 1.., value_name = "NAME")]
        replace: Vec<String>,
    },
    Propose {
        path: String,
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    Export {
        name: String,
        file: String,
    },
}

#[derive(Subcommand)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
enum MemoryLine {
    List {
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        query: Option<String>,
    },
    Read {
        file: String,
    },
    Save(SaveLine),
    Delete {
        file: String,
    },
}

#[derive(Args)]
#[group(skip)]
struct SaveLine {
    file: Option<String>,
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    topic: String,
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    description: String,
    // Bodies are Markdown: a text with a list at its start begins with a hyphen.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    #[arg(long, value_name = "PATH", conflicts_with = "body", required_unless_present = "body")]
    body_file: Option<String>,
}

#[derive(Subcommand)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
enum PersonaLine {
    Show,
    Write {
        which: PersonaChoice,
        #[arg(long, value_name = "PATH")]
        body_file: String,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum PersonaChoice {
    Soul,
    User,
}

#[derive(Subcommand)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
enum BrowserLine {
    Status,
    Doctor,
}

#[derive(Subcommand)]
#[command(disable_help_subcommand = true, disable_help_flag = true)]
enum SettingsLine {
    List,
    Show {
        key: String,
    },
    Open {
        #[arg(value_parser = settings_page())]
        page: SettingsPage,
        /// A setting to propose.
        #[arg(requires = "value")]
        key: Option<String>,
        value: Option<String>,
    },
}

fn settings_page() -> impl TypedValueParser<Value = SettingsPage> {
    let names = SettingsPage::ALL.iter().map(|page| page.name());
    PossibleValuesParser::new(names).try_map(|name| SettingsPage::by_name(&name).ok_or("no page"))
}

/// A command whose text may still be in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedCommand {
    command: BuiltinCommand,
    body: Option<PathBuf>,
}

/// Parses the words of a command, `octo` first. Relative paths start from `folder`.
pub(crate) fn parse(arguments: &[String], folder: &Path) -> Result<ParsedCommand, ToolError> {
    let line = CommandLine::try_parse_from(arguments).map_err(|error| usage_error(&error))?;
    let path =
        |text: &str| resolve(text, folder).map_err(|error| ToolError::new(format!("Not done: {error}")));
    let without_body = |command| Ok(ParsedCommand { command, body: None });
    match line.group {
        CommandGroup::Skill(line) => without_body(BuiltinCommand::Skill(match line {
            SkillLine::List => SkillCommand::List,
            SkillLine::Show { name } => SkillCommand::Show { name },
            SkillLine::Validate { path: text } => SkillCommand::Validate { path: path(&text)? },
            SkillLine::Inspect { source: text } => SkillCommand::Inspect { source: source(&text, folder)? },
            SkillLine::Install { source: text, names, replace } => {
                SkillCommand::Install { source: source(&text, folder)?, names, replace }
            }
            SkillLine::Propose { path: text, reason } => SkillCommand::Propose { path: path(&text)?, reason },
            SkillLine::Export { name, file } => SkillCommand::Export { name, file: path(&file)? },
        })),
        CommandGroup::Memory(MemoryLine::Save(line)) => {
            let SaveLine { file, topic, description, body, body_file } = line;
            let body_path = body_file.as_deref().map(path).transpose()?;
            let body = body.unwrap_or_default();
            Ok(ParsedCommand {
                command: BuiltinCommand::Memory(MemoryCommand::Save { file, topic, description, body }),
                body: body_path,
            })
        }
        CommandGroup::Memory(line) => without_body(BuiltinCommand::Memory(match line {
            MemoryLine::List { query } => MemoryCommand::List { query },
            MemoryLine::Read { file } => MemoryCommand::Read { file },
            MemoryLine::Delete { file } => MemoryCommand::Delete { file },
            MemoryLine::Save(_) => return Err(ToolError::new(USAGE)),
        })),
        CommandGroup::Persona(PersonaLine::Show) => {
            without_body(BuiltinCommand::Persona(PersonaCommand::Show))
        }
        CommandGroup::Persona(PersonaLine::Write { which, body_file }) => {
            let kind = match which {
                PersonaChoice::Soul => PersonaKind::Soul,
                PersonaChoice::User => PersonaKind::User,
            };
            let command = BuiltinCommand::Persona(PersonaCommand::Write { kind, text: String::new() });
            Ok(ParsedCommand { command, body: Some(path(&body_file)?) })
        }
        CommandGroup::Task(line) => {
            let (command, prompt) = task::to_command(*line, &path)?;
            Ok(ParsedCommand { command: BuiltinCommand::Task(command), body: prompt })
        }
        CommandGroup::Browser(line) => without_body(BuiltinCommand::Browser(match line {
            BrowserLine::Status => BrowserQuery::Status,
            BrowserLine::Doctor => BrowserQuery::Doctor,
        })),
        CommandGroup::Settings(line) => without_body(BuiltinCommand::Settings(match line {
            SettingsLine::List => SettingsQuery::List,
            SettingsLine::Show { key } => SettingsQuery::Show { key },
            SettingsLine::Open { page, key, value } => SettingsQuery::Open { page, proposal: key.zip(value) },
        })),
    }
}

fn source(text: &str, folder: &Path) -> Result<SkillSourceRef, ToolError> {
    match text.split_once("://") {
        Some(("https", _)) => address(text),
        Some((scheme, _)) => Err(ToolError::new(format!(
            "Not done: {scheme}:// is not a way skills are fetched. Give an https:// address or a path."
        ))),
        None => match resolve(text, folder) {
            Ok(path) => Ok(SkillSourceRef::Path(path)),
            Err(error) => Err(ToolError::new(format!("Not done: {error}"))),
        },
    }
}

fn address(text: &str) -> Result<SkillSourceRef, ToolError> {
    match Url::parse(text) {
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Err(ToolError::new("Not done: the address holds a name or a password. Give one without."))
        }
        Ok(url) if url.host().is_some() => Ok(SkillSourceRef::Address(text.to_owned())),
        Ok(_) | Err(_) => Err(ToolError::new(format!("Not done: {text} is no https:// address."))),
    }
}

/// Returns an error with the problem and the usage.
fn usage_error(error: &clap::Error) -> ToolError {
    let reason = match error.kind() {
        // There was nothing that could be wrong.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => String::new(),
        _ => {
            let message = error.to_string();
            // Its own usage covers one command, in more lines than the usage of all of them.
            let message = message.split("\n\nUsage:").next().unwrap_or_default();
            format!("{}\n", message.trim_start_matches("error: ").trim())
        }
    };
    ToolError::new(format!("Not done. {reason}Usage:\n{USAGE}"))
}

impl ParsedCommand {
    /// Returns the command, without any text that is still in a file.
    pub(crate) fn command(&self) -> &BuiltinCommand {
        &self.command
    }

    /// Returns the file with its text.
    pub(crate) fn body(&self) -> Option<&Path> {
        self.body.as_deref()
    }

    /// Returns the command with its text.
    pub(crate) async fn with_body(self, context: &ToolContext) -> Result<BuiltinCommand, ToolError> {
        let Some(path) = self.body else { return Ok(self.command) };
        let files = context.files.clone();
        let text = blocking(move || {
            let bytes = files.read(&path, MAX_BODY)?;
            String::from_utf8(bytes)
                .map_err(|_| ToolError::new(format!("Not done: {} is not UTF-8 text.", path.display())))
        })
        .await?;
        Ok(match self.command {
            BuiltinCommand::Memory(MemoryCommand::Save { file, topic, description, .. }) => {
                BuiltinCommand::Memory(MemoryCommand::Save { file, topic, description, body: text })
            }
            BuiltinCommand::Persona(PersonaCommand::Write { kind, .. }) => {
                BuiltinCommand::Persona(PersonaCommand::Write { kind, text })
            }
            BuiltinCommand::Task(TaskCommand::Save { task, mut draft }) => {
                draft.prompt = Some(text);
                BuiltinCommand::Task(TaskCommand::Save { task, draft })
            }
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_of_builtin_commands_is_frozen() {
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/frozen-names.txt");
        let mut command = CommandLine::command();
        command.build();
        octo_testkit::check_names(&list, "commands of the model", &octo_testkit::grammar(&command));
    }
}
