//! Slash commands: one parser for the window, the headless form and all other senders of messages.

use octo_protocol::{ApiError, Block, CommandInfo, Mode};

/// A built-in command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SlashCommand {
    /// Go to the new-session screen.
    New,
    /// Show the commands.
    Help,
    /// Stop the running turn.
    Stop,
    /// Retry the last step.
    Retry,
    /// Undo the last turn.
    Undo,
    /// Redo the turn that was undone last.
    Redo,
    /// Change or show the model.
    Model(Option<String>),
    /// Change or show the mode.
    Mode(Option<Mode>),
    /// Change or show the folder.
    Folder(Option<String>),
    /// Rename the session.
    Rename(String),
}

/// The meaning of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParsedMessage {
    /// A message for the model.
    Message,
    /// A command.
    Command(SlashCommand),
    /// A command whose argument is missing or wrong.
    Misused {
        /// The command's name.
        name: &'static str,
    },
    /// It looks like a command but has an unknown name.
    Unknown {
        /// The typed text without the slash.
        name: String,
        /// Similar names, best first.
        similar: Vec<&'static str>,
    },
}

/// Name and argument hint of each command, in the order menus show them.
const COMMANDS: &[(&str, &str)] = &[
    ("new", ""),
    ("model", "name"),
    ("mode", "ask | ask_risky | autonomous"),
    ("folder", "path"),
    ("rename", "title"),
    ("stop", ""),
    ("retry", ""),
    ("undo", ""),
    ("redo", ""),
    ("help", ""),
];

/// Returns the commands for menus.
pub(crate) fn commands() -> Vec<CommandInfo> {
    COMMANDS
        .iter()
        .map(|(name, argument)| CommandInfo {
            name: (*name).to_owned(),
            description: None,
            description_zh: None,
            argument: (*argument).to_owned(),
            argument_zh: None,
        })
        .collect()
}

/// Parses a message. Only a message with a single text block can be a command: with a picture or a file it is
/// meant for the model.
pub(crate) fn parse(blocks: &[Block]) -> ParsedMessage {
    match blocks {
        [Block::Text { text }] => parse_text(text),
        _ => ParsedMessage::Message,
    }
}

fn parse_text(text: &str) -> ParsedMessage {
    // Chinese keyboards produce a full-width slash.
    let Some(line) = text.trim().strip_prefix(['/', '／']) else { return ParsedMessage::Message };
    let (name, argument) = match line.split_once(char::is_whitespace) {
        Some((name, argument)) => (name, argument.trim()),
        None => (line, ""),
    };
    // A path ("/etc/hosts is …") or a lone slash is not a command.
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !is_name {
        return ParsedMessage::Message;
    }
    let argument = (!argument.is_empty()).then(|| argument.to_owned());
    match (name.to_ascii_lowercase().as_str(), argument) {
        ("new", _) => ParsedMessage::Command(SlashCommand::New),
        ("help", _) => ParsedMessage::Command(SlashCommand::Help),
        ("stop", _) => ParsedMessage::Command(SlashCommand::Stop),
        ("undo", _) => ParsedMessage::Command(SlashCommand::Undo),
        ("redo", _) => ParsedMessage::Command(SlashCommand::Redo),
        ("retry", _) => ParsedMessage::Command(SlashCommand::Retry),
        ("model", name) => ParsedMessage::Command(SlashCommand::Model(name)),
        ("folder", path) => ParsedMessage::Command(SlashCommand::Folder(path)),
        ("rename", Some(title)) => ParsedMessage::Command(SlashCommand::Rename(title)),
        ("rename", None) => ParsedMessage::Misused { name: "rename" },
        ("mode", None) => ParsedMessage::Command(SlashCommand::Mode(None)),
        ("mode", Some(mode)) => match mode.to_ascii_lowercase().replace('-', "_").as_str() {
            "ask" => ParsedMessage::Command(SlashCommand::Mode(Some(Mode::Ask))),
            "ask_risky" => ParsedMessage::Command(SlashCommand::Mode(Some(Mode::AskRisky))),
            "autonomous" => ParsedMessage::Command(SlashCommand::Mode(Some(Mode::Autonomous))),
            _ => ParsedMessage::Misused { name: "mode" },
        },
        (other, _) => ParsedMessage::Unknown { name: other.to_owned(), similar: similar_commands(other) },
    }
}

/// Returns the reply to an unknown command, with similar names.
pub(crate) fn unknown(name: String, similar: &[&str]) -> ApiError {
    if similar.is_empty() {
        return ApiError::new("command.unknown").arg("name", name);
    }
    let similar: Vec<String> = similar.iter().map(|name| format!("/{name}")).collect();
    ApiError::new("command.unknown_near").arg("name", name).list("near", similar)
}

fn similar_commands(name: &str) -> Vec<&'static str> {
    let mut ranked: Vec<(usize, &'static str)> = COMMANDS
        .iter()
        .map(|(command, _)| (edit_distance(name, command), *command))
        .filter(|(distance, command)| *distance <= 2 || command.starts_with(name))
        .collect();
    ranked.sort();
    ranked.into_iter().take(3).map(|(_, command)| command).collect()
}

/// Returns the number of single-letter edits between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_paths_and_messages_are_told_apart() {
        let table: &[(&str, ParsedMessage)] = &[
            ("hello", ParsedMessage::Message),
            ("/", ParsedMessage::Message),
            ("/etc/hosts is odd", ParsedMessage::Message),
            ("/new", ParsedMessage::Command(SlashCommand::New)),
            ("／new", ParsedMessage::Command(SlashCommand::New)),
            ("  /STOP  ", ParsedMessage::Command(SlashCommand::Stop)),
            ("/model gpt-5.5", ParsedMessage::Command(SlashCommand::Model(Some("gpt-5.5".into())))),
            ("/mode ask-risky", ParsedMessage::Command(SlashCommand::Mode(Some(Mode::AskRisky)))),
            ("/mode maybe", ParsedMessage::Misused { name: "mode" }),
            ("/rename", ParsedMessage::Misused { name: "rename" }),
            ("/rename A b  c", ParsedMessage::Command(SlashCommand::Rename("A b  c".into()))),
            ("/modle", ParsedMessage::Unknown { name: "modle".into(), similar: vec!["mode", "model"] }),
            ("/he", ParsedMessage::Unknown { name: "he".into(), similar: vec!["help", "new"] }),
            ("/frobnicate", ParsedMessage::Unknown { name: "frobnicate".into(), similar: vec![] }),
        ];
        for (text, expected) in table {
            assert_eq!(&parse(&[Block::Text { text: (*text).into() }]), expected, "{text:?}");
        }
        let with_file = [Block::Text { text: "/new".into() }, Block::File { path: "/a".into() }];
        assert_eq!(parse(&with_file), ParsedMessage::Message);
    }

    #[test]
    fn every_listed_command_is_one() {
        for command in commands() {
            let parsed = parse_text(&format!("/{} x", command.name));
            assert!(
                matches!(parsed, ParsedMessage::Command(_) | ParsedMessage::Misused { .. }),
                "/{} is listed but unknown",
                command.name
            );
        }
    }
}
