//! Parses the command line as GNU's `rm` and `unlink` do.

use super::quote::{quote, quote_if_needed, without_quotes};
use std::{
    ffi::{OsStr, OsString},
    fs,
};

/// The parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RmRequest {
    /// Remove these operands.
    Remove(RmOptions, Vec<OsString>),
    /// Only print this text.
    Print(String),
}

/// The options of a removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RmOptions {
    pub recursive: bool,
    pub empty_folders: bool,
    pub ignore_missing: bool,
    pub interactive: PromptMode,
    pub prompt_once: bool,
    pub verbose: bool,
    /// Behave like `unlink`: one file, no questions.
    pub unlink: bool,
}

/// When to ask before a removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PromptMode {
    Never,
    /// For write-protected files, at a terminal.
    #[default]
    Sometimes,
    Always,
}

const LONG: &[&str] = &[
    "dir",
    "force",
    "help",
    "interactive",
    "no-preserve-root",
    "one-file-system",
    "preserve-root",
    "recursive",
    "verbose",
    "version",
];

const HELP: &str = "Usage: rm [OPTION]... [FILE]...
Move the FILE(s) to Octo's trash, from where they can be restored.

  -f, --force           ignore nonexistent files and arguments, never prompt
  -i                    prompt before every removal
  -I                    prompt once before removing more than three files, or
                          when removing recursively
      --interactive[=WHEN]  prompt according to WHEN: never, once (-I), or
                          always (-i)
      --one-file-system  accepted; mount points are always refused
      --no-preserve-root  accepted; '/' is always refused
      --preserve-root[=all]  accepted
  -r, -R, --recursive   remove directories and their contents
  -d, --dir             remove empty directories
  -v, --verbose         explain what is being done
      --help            display this help and exit
      --version         output version information and exit
";

pub(super) fn parse_rm(arguments: &[OsString]) -> Result<RmRequest, String> {
    let mut options = RmOptions::default();
    let mut paths = Vec::new();
    let mut remaining = arguments.iter();
    let permutes = std::env::var_os("POSIXLY_CORRECT").is_none();
    while let Some(argument) = remaining.next() {
        let bytes = argument.as_encoded_bytes();
        match bytes {
            b"--" => paths.extend(remaining.by_ref().cloned()),
            [b'-', b'-', ..] => {
                if let Some(text) = parse_long_option(&mut options, argument, arguments)? {
                    return Ok(RmRequest::Print(text));
                }
            }
            [b'-', options_text @ ..] if !options_text.is_empty() => {
                for option in options_text {
                    parse_short_option(&mut options, *option, arguments)?;
                }
            }
            _ => {
                paths.push(argument.clone());
                if !permutes {
                    paths.extend(remaining.by_ref().cloned());
                }
            }
        }
    }
    if paths.is_empty() && !options.ignore_missing {
        return Err("missing operand".to_owned());
    }
    Ok(RmRequest::Remove(options, paths))
}

fn parse_short_option(options: &mut RmOptions, option: u8, arguments: &[OsString]) -> Result<(), String> {
    match option {
        b'd' => options.empty_folders = true,
        b'f' => set_force(options),
        b'i' => set_prompt(options, PromptMode::Always),
        b'I' => set_single_prompt(options),
        b'r' | b'R' => options.recursive = true,
        b'v' => options.verbose = true,
        other => {
            let other = char::from(other);
            return Err(format!("invalid option -- '{other}'{}", hint(arguments)));
        }
    }
    Ok(())
}

fn set_force(options: &mut RmOptions) {
    options.interactive = PromptMode::Never;
    options.ignore_missing = true;
    options.prompt_once = false;
}

fn set_prompt(options: &mut RmOptions, mode: PromptMode) {
    options.interactive = mode;
    options.ignore_missing = false;
    options.prompt_once = false;
}

fn set_single_prompt(options: &mut RmOptions) {
    set_prompt(options, PromptMode::Sometimes);
    options.prompt_once = true;
}

/// Parses a long option, possibly abbreviated. Returns the text to print if that is the whole job.
fn parse_long_option(
    options: &mut RmOptions,
    argument: &OsStr,
    arguments: &[OsString],
) -> Result<Option<String>, String> {
    let text = argument.to_string_lossy();
    let name_and_value = text.trim_start_matches("--");
    let (name, value) = match name_and_value.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (name_and_value, None),
    };
    let fitting: Vec<&str> = LONG.iter().copied().filter(|option| option.starts_with(name)).collect();
    let name = match fitting.as_slice() {
        [] => return Err(format!("unrecognized option '{}'{}", without_quotes(argument), hint(arguments))),
        [only] => *only,
        several => match several.iter().find(|option| **option == name) {
            Some(exact) => exact,
            None => {
                let quoted: Vec<String> = several.iter().map(|option| format!("'--{option}'")).collect();
                return Err(format!("option '{text}' is ambiguous; possibilities: {}", quoted.join(" ")));
            }
        },
    };
    match (name, value) {
        ("interactive", value) => match value {
            None => set_prompt(options, PromptMode::Always),
            Some(mode) => parse_interactive(options, mode)?,
        },
        ("preserve-root", None | Some("all")) => {}
        ("preserve-root", Some(value)) => {
            return Err(format!("unrecognized --preserve-root argument: {}", quote(OsStr::new(value))));
        }
        (_, Some(_)) => return Err(format!("option '--{name}' doesn't allow an argument")),
        ("dir", None) => options.empty_folders = true,
        ("force", None) => set_force(options),
        ("help", None) => return Ok(Some(HELP.to_owned())),
        ("recursive", None) => options.recursive = true,
        ("verbose", None) => options.verbose = true,
        ("version", None) => return Ok(Some(version("rm"))),
        // The root and other file systems are refused anyway.
        (_, None) => {}
    }
    Ok(None)
}

fn parse_interactive(options: &mut RmOptions, mode: &str) -> Result<(), String> {
    let modes = ["never", "no", "none", "once", "always", "yes"];
    let fitting: Vec<&str> = modes.iter().copied().filter(|value| value.starts_with(mode)).collect();
    // "n" abbreviates three words with the same meaning.
    match fitting.first() {
        Some(&("never" | "no" | "none")) => {
            set_prompt(options, PromptMode::Never);
            Ok(())
        }
        Some(&"once") => {
            set_single_prompt(options);
            Ok(())
        }
        Some(&("always" | "yes")) => {
            set_prompt(options, PromptMode::Always);
            Ok(())
        }
        Some(_) | None => Err(format!(
            "invalid argument {} for '--interactive'\nValid arguments are:\n  - 'never', 'no', 'none'\n  - 'once'\n  \
             - 'always', 'yes'",
            quote(OsStr::new(mode))
        )),
    }
}

/// Returns a hint on how to name a file whose name begins with a dash.
fn hint(arguments: &[OsString]) -> String {
    let file = arguments.iter().find(|argument| {
        argument.as_encoded_bytes().starts_with(b"-")
            && argument.len() > 1
            && fs::symlink_metadata(argument).is_ok()
    });
    match file {
        Some(file) => {
            format!("\nTry 'rm ./{}' to remove the file {}.", quote_if_needed(file), quote(file))
        }
        None => String::new(),
    }
}

fn version(program: &str) -> String {
    format!("{program} (Octo) {}\n", env!("CARGO_PKG_VERSION"))
}

pub(super) fn parse_unlink(arguments: &[OsString]) -> Result<RmRequest, String> {
    let paths = match arguments {
        [first, rest @ ..] if first == "--" => rest,
        [only] if only == "--help" => {
            return Ok(RmRequest::Print(
                "Usage: unlink FILE\nMove the FILE to Octo's trash, from where it can be restored.\n"
                    .to_owned(),
            ));
        }
        [only] if only == "--version" => return Ok(RmRequest::Print(version("unlink"))),
        [first, ..] if first.as_encoded_bytes().starts_with(b"--") => {
            return Err(format!("unrecognized option '{}'", without_quotes(first)));
        }
        [first, ..] if first.len() > 1 && first.as_encoded_bytes().starts_with(b"-") => {
            let option = first.to_string_lossy().chars().nth(1).unwrap_or('?');
            return Err(format!("invalid option -- '{option}'"));
        }
        all => all,
    };
    match paths {
        [] => Err("missing operand".to_owned()),
        [path] => {
            let options = RmOptions { interactive: PromptMode::Never, unlink: true, ..RmOptions::default() };
            Ok(RmRequest::Remove(options, vec![path.clone()]))
        }
        [_, extra, ..] => Err(format!("extra operand ‘{}’", without_quotes(extra))),
    }
}
