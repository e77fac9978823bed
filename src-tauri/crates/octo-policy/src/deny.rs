//! Lines that never run, whatever the mode, the rules and the person's `policy.toml`.
//!
//! The words alone decide ([`crate::scan`]), and the rules are narrow on purpose: a person cannot override a refusal,
//! so a line that merely might do harm asks instead.

use crate::{
    context::{LineContext, UNKNOWN, is_device},
    scan::{Call, Scan},
    script::RedirectKind,
};
use octo_protocol::Refusal;
use std::{ops::Range, path::PathBuf};

/// The names of Octo's processes.
const PROGRAMS: &[&str] = &["octo", "octo-cli"];

/// A refusal and the part of the line it concerns; `None` for the whole line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeniedPart {
    pub why: Refusal,
    pub span: Option<Range<usize>>,
}

/// Returns the first part of a line that must never run.
pub(crate) fn refused(scan: &Scan, context: &LineContext) -> Option<DeniedPart> {
    if scan.has_fork_bomb {
        return Some(DeniedPart { why: Refusal::ForkBomb, span: None });
    }
    let looks_for_octo = scan.calls.iter().any(is_about_octo);
    scan.calls.iter().find_map(|call| {
        let why = wipes(call, context)
            .or_else(|| writes_device(call))
            .or_else(|| ends_octo(call, context, looks_for_octo))
            .or_else(|| touches_octo(call, context))?;
        Some(DeniedPart { why, span: call.span.clone() })
    })
}

/// Returns the paths that a word of a call may name.
fn located_paths(call: &Call, context: &LineContext, text: &str) -> Vec<PathBuf> {
    call.directories.iter().filter_map(|directory| context.locate(text, directory)).collect()
}

fn is_essential(call: &Call, context: &LineContext, text: &str) -> bool {
    located_paths(call, context, text).iter().any(|path| context.is_essential(path))
}

fn wipes(call: &Call, context: &LineContext) -> Option<Refusal> {
    let name = call.name();
    let operands = call.operands();
    let any_essential = |operands: &[&str]| operands.iter().any(|text| is_essential(call, context, text));
    let recursive = || call.has_option(Some('R'), "recursive") || call.has_option(Some('r'), "recursive");
    let wipes = match name.as_str() {
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "wipe" | "trash" | "trash-put" | "del" => {
            any_essential(&operands)
        }
        "gio" => operands.first() == Some(&"trash") && any_essential(operands.get(1..).unwrap_or_default()),
        // The last operand is the target; the others are moved.
        "mv" => {
            let target = call.has_option(Some('t'), "target-directory");
            let sources = if target {
                operands.as_slice()
            } else {
                operands.split_last().map_or(&[][..], |(_, rest)| rest)
            };
            any_essential(sources)
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
            recursive() && any_essential(operands.get(1..).unwrap_or_default())
        }
        "find" => find_wipes(call, context),
        // It may make the target an empty folder.
        "rsync" => {
            call.arguments().any(|text| text.starts_with("--delete"))
                && operands.last().is_some_and(|target| is_essential(call, context, target))
        }
        _ => false,
    };
    let overwrites_accounts =
        matches!(name.as_str(), "cp" | "mv" | "ln" | "install" | "tee" | "dd" | "truncate")
            && operands.last().is_some_and(|target| {
                located_paths(call, context, target)
                    .iter()
                    .any(|path| matches!(path.to_str(), Some("/etc/passwd" | "/etc/shadow" | "/etc/sudoers")))
            });
    (wipes || overwrites_accounts).then_some(Refusal::Wipes)
}

/// Returns whether a `find` removes the files below an essential folder without a test that narrows them down.
fn find_wipes(call: &Call, context: &LineContext) -> bool {
    let words: Vec<&str> = call.arguments().collect();
    let mut starts: Vec<&str> =
        words.iter().copied().take_while(|word| !word.starts_with(['-', '(', '!'])).collect();
    // `-H`, `-L` and `-P` may stand before them.
    if starts.is_empty() {
        let behind = words.iter().copied().skip_while(|word| matches!(*word, "-H" | "-L" | "-P"));
        starts = behind.take_while(|word| !word.starts_with(['-', '(', '!'])).collect();
    }
    if starts.is_empty() {
        starts.push(".");
    }
    let removes = words.iter().enumerate().any(|(at, word)| {
        *word == "-delete"
            || (matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir")
                && words.iter().skip(at + 1).take_while(|word| !matches!(**word, ";" | "+")).any(|word| {
                    let name = word.rsplit('/').next().unwrap_or(word);
                    matches!(name, "rm" | "rmdir" | "unlink" | "shred" | "mv" | "chmod" | "chown")
                }))
    });
    let narrows = words.iter().enumerate().any(|(at, word)| {
        let value = words.get(at + 1).copied().unwrap_or_default();
        matches!(
            *word,
            "-name"
                | "-iname"
                | "-path"
                | "-ipath"
                | "-wholename"
                | "-regex"
                | "-iregex"
                | "-mtime"
                | "-mmin"
                | "-atime"
                | "-amin"
                | "-ctime"
                | "-cmin"
                | "-size"
                | "-newer"
                | "-newermt"
                | "-empty"
                | "-user"
                | "-inum"
                | "-samefile"
                | "-lname"
                | "-uid"
                | "-gid"
                | "-group"
                | "-nouser"
                | "-nogroup"
                | "-links"
        ) && !value.chars().all(|c| c == '*')
    });
    removes && !narrows && starts.iter().any(|start| is_essential(call, context, start))
}

fn writes_device(call: &Call) -> Option<Refusal> {
    let name = call.name();
    let operands = call.operands();
    let redirected =
        call.redirects.iter().any(|(kind, target)| *kind == RedirectKind::Write && is_device(target));
    let names_device = operands.iter().any(|text| is_device(text));
    let destroys = match name.as_str() {
        "dd" | "dcfldd" | "dc3dd" => {
            call.arguments().filter_map(|word| word.strip_prefix("of=")).any(is_device)
        }
        "wipefs" | "blkdiscard" | "shred" | "tee" | "truncate" | "mkswap" | "badblocks" | "scrub"
        | "nwipe" | "rm" | "wipe" | "sponge" => names_device,
        "fdisk" | "gdisk" | "sgdisk" | "cfdisk" | "sfdisk" | "parted" => {
            names_device && !call.has_option(Some('l'), "list")
        }
        "cryptsetup" => {
            names_device
                && operands.first().is_some_and(|verb| matches!(*verb, "luksFormat" | "erase" | "reencrypt"))
        }
        "hdparm" => {
            names_device
                && call
                    .arguments()
                    .any(|word| word.contains("security-erase") || word.contains("trim-sector"))
        }
        "nvme" => {
            names_device
                && operands
                    .first()
                    .is_some_and(|verb| matches!(*verb, "format" | "sanitize" | "write-zeroes"))
        }
        "cp" | "mv" | "install" | "cat" | "pv" | "ddrescue" => {
            operands.last().is_some_and(|text| is_device(text)) && operands.len() > 1
        }
        "diskutil" => operands.first().is_some_and(|verb| {
            let verb = verb.to_ascii_lowercase();
            verb.contains("erase") || verb.contains("zero") || verb.contains("partition")
        }),
        _ => {
            (name.starts_with("mkfs") || name.starts_with("mke2fs") || name.starts_with("newfs"))
                && names_device
        }
    };
    (destroys || redirected).then_some(Refusal::Device)
}

fn is_kill_program(name: &str) -> bool {
    matches!(
        name,
        "kill" | "pkill" | "killall" | "skill" | "killall5" | "taskkill" | "fuser" | "snice" | "xkill"
    )
}

/// Returns whether a call looks for Octo's processes.
fn is_about_octo(call: &Call) -> bool {
    let searches = matches!(
        call.name().as_str(),
        "pgrep" | "pidof" | "grep" | "egrep" | "rg" | "awk" | "ps" | "lsof" | "ss"
    );
    searches && call.arguments().any(names_octo)
}

/// Returns whether a pattern names one of Octo's programs, and not a program with a longer name.
fn names_octo(pattern: &str) -> bool {
    let letters: String = pattern
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect::<String>()
        .to_ascii_lowercase();
    PROGRAMS.contains(&letters.trim_matches('-'))
        || pattern
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .any(|word| PROGRAMS.contains(&word.to_ascii_lowercase().as_str()))
}

fn ends_octo(call: &Call, context: &LineContext, looks_for_octo: bool) -> Option<Refusal> {
    let name = call.name();
    if !is_kill_program(&name) {
        return None;
    }
    // In `-9 -1` the first word is a signal and the second means every process.
    let mut words: Vec<&str> = call.arguments().collect();
    if words.first() == Some(&"--") {
        words.remove(0);
    } else if words.first().is_some_and(|word| word.starts_with('-')) {
        let takes_value = matches!(words.first(), Some(&"-s" | &"-n" | &"--signal"));
        words.drain(..words.len().min(if takes_value { 2 } else { 1 }));
    }
    let ends = match name.as_str() {
        "kill" => {
            let by_id = words.iter().any(|word| {
                let id = word.trim_start_matches('-');
                *word == "-1"
                    || *word == "0"
                    || context.processes.iter().any(|process| process.to_string() == id)
                    || id.contains("OCTO")
            });
            by_id || (looks_for_octo && words.iter().any(|word| word.contains(UNKNOWN)))
        }
        "killall5" => true,
        "pkill" | "killall" | "skill" | "snice" => {
            let exact = call.has_option(Some('x'), "exact") || name == "killall";
            words.iter().filter(|word| !word.starts_with('-')).any(|word| {
                let plain = word.trim_start_matches('^').trim_end_matches('$').to_ascii_lowercase();
                let matches_name = |program: &&str| {
                    if exact || plain.is_empty() { *program == plain } else { program.contains(&plain) }
                };
                // The pattern may match a part of the name: `oct` and `.` match too.
                names_octo(word)
                    || PROGRAMS.iter().any(matches_name)
                    || (!plain.is_empty()
                        && plain.chars().all(|c| ".*+?^$[]a-z".contains(c))
                        && plain.contains('.'))
            })
        }
        "taskkill" => words.iter().any(|word| names_octo(word.trim_end_matches(".exe"))),
        _ => false,
    };
    (ends || (name != "kill" && looks_for_octo && call.wrappers.iter().any(|name| name == "xargs")))
        .then_some(Refusal::EndsOcto)
}

fn touches_octo(call: &Call, context: &LineContext) -> Option<Refusal> {
    let name = call.name();
    let reads_keychain = match name.as_str() {
        "secret-tool" | "keyring" | "kwallet-query" | "lssecret" => {
            call.arguments().any(names_octo)
                || call.operands().contains(&"search")
                    && call.arguments().any(|word| word == "--all")
                    && call.operands().len() < 3
        }
        "security" => {
            let verb = call.operands().first().copied().unwrap_or_default().to_owned();
            verb == "dump-keychain"
                || (verb.contains("password") || verb.contains("keychain"))
                    && call.arguments().any(names_octo)
        }
        "dbus-send" | "busctl" | "gdbus" | "qdbus" => {
            call.arguments().any(|word| {
                word.contains("freedesktop.secrets")
                    || word.contains("freedesktop.Secret")
                    || word.contains("/secrets/")
            }) && call.arguments().any(names_octo)
        }
        "cmdkey" => call.arguments().any(|word| word.split([':', '.']).any(|part| PROGRAMS.contains(&part))),
        _ => false,
    };
    let touched = call
        .words
        .iter()
        .map(|word| word.text.as_str())
        .chain(call.redirects.iter().map(|(_, target)| target.as_str()));
    let touches_file = touched.into_iter().any(|text| {
        let value = text.split_once('=').map_or(text, |(_, value)| value);
        context.mentions_octo_file(text)
            || [text, value]
                .iter()
                .any(|text| located_paths(call, context, text).iter().any(|path| context.is_octo_file(path)))
    });
    (reads_keychain || touches_file).then_some(Refusal::OctoOwn)
}
