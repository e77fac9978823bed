//! What may be typed after a program's name.

use clap::{Arg, ArgAction, Command};

/// A line for each subcommand and each argument of a command, with what values it takes.
pub fn grammar(command: &Command) -> Vec<String> {
    let mut lines = Vec::new();
    add(command, command.get_name(), &mut lines);
    lines
}

fn add(command: &Command, path: &str, lines: &mut Vec<String>) {
    lines.push(path.to_owned());
    lines.extend(command.get_arguments().map(|argument| format!("{path} {}", describe_argument(argument))));
    for inner in command.get_subcommands() {
        add(inner, &format!("{path} {}", inner.get_name()), lines);
    }
}

fn describe_argument(argument: &Arg) -> String {
    let mut description = match (argument.get_long(), argument.get_short()) {
        (Some(long_name), Some(short)) => format!("--{long_name} -{short}"),
        (Some(long_name), None) => format!("--{long_name}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => format!("({})", argument.get_id()),
    };
    if argument.get_action().takes_values() {
        let values: Vec<String> =
            argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        description += &match values.as_slice() {
            [] => " VALUE".to_owned(),
            values => format!(" {}", values.join("|")),
        };
        if let Some(count) = argument.get_num_args().filter(|count| count.max_values() > 1) {
            description += &format!(" {count}");
        }
    }
    if matches!(argument.get_action(), ArgAction::Append) {
        description += " repeated";
    }
    if argument.is_required_set() {
        description += " required";
    }
    description
}
