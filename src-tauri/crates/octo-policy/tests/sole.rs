//! Compares lines that count as one command with the real bash, which must see that command, once, with those words,
//! and nothing else.
//!
//! The lines consist of random pieces. Without `OCTO_SOAK` the test runs a seeded tenth of the full number.
#![expect(clippy::expect_used, reason = "a test")]
#![cfg(target_os = "linux")]

use octo_policy::sole_command;
use std::process::Command;

/// Number of lines in the full campaign.
const FULL: usize = 20_000;
/// Value of `~`.
const HOME: &str = "/home/ada";

/// A small deterministic generator.
struct SoleRandom(u64);

impl SoleRandom {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % sides
    }
}

/// Pieces of words. Most are harmless, so that many lines count as one command.
const PIECES: &[&str] = &[
    "a",
    "skill",
    "-x",
    "--b=c",
    "1",
    "é",
    "记忆",
    "'b c'",
    "\"d e\"",
    "\"it's\"",
    "'say \"x\"'",
    "''",
    "\"\"",
    "\\ ",
    "\\'",
    "\\\"",
    "\\\\",
    "\\$x",
    "'$x'",
    "\"\\$x\"",
    "\"\\`id\\`\"",
    "'`id`'",
    "'*'",
    "\\*",
    "=",
    ":",
    ",",
    ".",
    "/",
    "@",
    "%",
    "+",
    "^",
    "~",
    "~/",
    "~/x",
    "a~",
    "'~/q'",
    "'two\nlines'",
    "\"two\nlines\"",
    "$'x\\ny'",
    "!",
    "'!'",
    "#",
    "a#b",
    "]",
    "}",
    "%d",
    "\"a\\b\"",
    "\"a\\\nb\"",
    "$",
    "\"$\"",
    "'#'",
    "\\#",
    "-",
    "--",
];

/// Additions that change a line's meaning for bash.
const DISRUPTIONS: &[&str] = &[
    ";",
    "&",
    "|",
    "&&",
    "||",
    "\n",
    "\nb",
    ">",
    "<",
    "2>&1",
    "<<<",
    "<<E",
    "$x",
    "$(id)",
    "`id`",
    "\"$(id)\"",
    "*",
    "?",
    "[a]",
    "{a,b}",
    "{1..3}",
    "(",
    ")",
    "$((1))",
    "<(id)",
    "${x}",
    "# c",
    "\u{200b}",
    "\u{202e}",
    "\r",
    "'",
    "\"",
    "\\",
    "$\"x\"",
];

fn line(dice: &mut SoleRandom) -> String {
    let mut line = ["", " ", "\t", "\n", "A=b ", "! ", "( "]
        [if dice.roll(8) == 0 { dice.roll(7) } else { 0 }]
    .to_owned();
    line.push_str("octo");
    for _ in 0..1 + dice.roll(5) {
        line.push_str([" ", "  ", "\t", " \\\n", ""][if dice.roll(6) == 0 { dice.roll(5) } else { 0 }]);
        for _ in 0..1 + dice.roll(2) {
            let from = if dice.roll(20) == 0 { DISRUPTIONS } else { PIECES };
            line.push_str(from[dice.roll(from.len())]);
        }
    }
    line.push_str(["", " ", "\n", ";", " #x"][if dice.roll(8) == 0 { dice.roll(5) } else { 0 }]);
    line
}

/// Returns the words of each call of `octo` that bash makes, and bash's error output.
fn calls_by_bash(line: &str, folder: &std::path::Path) -> (Vec<Vec<String>>, String) {
    let script = format!("octo() {{ printf '%s\\0' \"\u{1}\" octo \"$@\"; }}\n{line}");
    let output = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .env_clear()
        .env("HOME", HOME)
        .env("PATH", folder)
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder)
        .output()
        .expect("bash");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut calls: Vec<Vec<String>> = Vec::new();
    for word in text.split_terminator('\0') {
        match (word, calls.last_mut()) {
            ("\u{1}", _) | (_, None) => calls.push(Vec::new()),
            (word, Some(call)) => call.push(word.to_owned()),
        }
    }
    (calls, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_sole_command_is_one_command_to_bash() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = if std::env::var_os("OCTO_SOAK").is_some() { FULL } else { FULL / 10 };
    let seed = std::env::var("OCTO_CAMPAIGN_SEED").map_or(20_261_122, |seed| seed.parse().expect("a number"));
    let mut dice = SoleRandom(seed);
    let (mut counted, mut quoted) = (0, 0);
    for _ in 0..lines {
        let line = line(&mut dice);
        let counts = sole_command(&line).filter(|words| words.first().is_some_and(|name| name == "octo"));
        let Some(words) = counts else { continue };
        counted += 1;
        quoted += usize::from(line.contains(['\'', '"', '\\']));
        let (calls, errors) = calls_by_bash(&line, folder.path());
        assert_eq!((calls.len(), errors.as_str()), (1, ""), "{line:?}: {words:?} {calls:?}");
        let same = |one: &String, other: &String| {
            let home = one.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
            one == other || home.is_some_and(|rest| format!("{HOME}{rest}") == *other)
        };
        let actual = &calls[0];
        let all =
            words.len() == actual.len() && words.iter().zip(actual).all(|(one, other)| same(one, other));
        assert!(all, "{line:?}: {words:?} {actual:?}");
    }
    assert!(
        counted > lines / 5 && quoted > lines / 10,
        "{counted} of {lines} lines counted, {quoted} with quotes"
    );
    let left = std::fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(left, 0, "no line wrote anything");
}
