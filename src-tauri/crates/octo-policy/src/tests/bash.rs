//! The policy against the real bash.

use super::is_read_only;
use crate::{
    environment,
    plain::{self, Join},
    programs, tree,
};
use proptest::{
    prelude::*,
    sample::select,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::SystemTime,
};

/// Words for lines: harmless words, odd words, and words that mean something to a shell.
#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b.txt", "-n", "--all", "'q r'", "\"d q\"", "\"a\\\"b\"", "\"a\\nb\"", "'*'", "*", "?x", "[ab]c", "a\\ b", "\\(", "\\)", "\\;",
    "\\\\", "a'b'c", "\"\"", "''", "a=b", "1", "22", "HEAD~1", "@", "%", "^", "+x", ",", ":", "/", "..", "é", "中", "a#b", "\"#\"", "-",
    "--", "]", "a\\'b", "\"'\"", "'\"'", "x\"y\"'z'", "0", "2",
];

/// Separators of words and commands.
const JOINTS: &[&str] =
    &[" ", ";", " ; ", " && ", "&&", " || ", "||", "|", " | ", "\n", ";\n", " &&\n", " |\n ", "\n\n"];

/// Redirections after a command.
#[rustfmt::skip]
const REDIRECTS: &[&str] = &["", "", "", "", " 2>&1", " >/dev/null", " 2>/dev/null", " <in", " < in", "<in", " &>/dev/null", " >>/dev/null", " 2> /dev/null 1>&2", " 2>&1 x"];

/// Constructs that are never plain.
#[rustfmt::skip]
const DANGERS: &[&str] = &[
    "$(x)", "`x`", "\"$(x)\"", "\"`x`\"", ">f", "> f", ">>f", "2>f", "&>f", ">|f", "<>f", "$x", "${x}", "\"$x\"", "$((1))", "<(x)", ">(x)", "<<E",
    "<<<x", "&", "|&", "{a,b}", "(x)", "$'x'", "~", "!x", "\\\n", "\r", "\0", "\x1b", "#", "a=$(x)", "\"a${x:-`y`}\"", "\u{a0}", "\u{200b}",
];

const NAMES: &[&str] =
    &["ls", "cat", "echo", "grep", "cd", "printf", "git", "true", "pwd", "type", "'ls'", "\"cat\""];

fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        select(ATOMS).prop_map(str::to_owned),
        (select(ATOMS), select(ATOMS)).prop_map(|(a, b)| format!("{a}{b}"))
    ];
    let command = (
        select(NAMES),
        prop::collection::vec((select(&[" ", "  ", "\t"][..]), word), 0..4),
        select(REDIRECTS),
    )
        .prop_map(|(name, words, redirect)| {
            let words: String = words.iter().map(|(gap, word)| format!("{gap}{word}")).collect();
            format!("{name}{words}{redirect}")
        });
    (prop::collection::vec((command, select(JOINTS)), 0..4), select(&["", " ", ";", "\n", " ;\n"][..]))
        .prop_map(|(commands, end)| {
            let mut line = String::new();
            for (command, joint) in &commands {
                line.push_str(command);
                line.push_str(joint);
            }
            line.push_str("ls");
            line.push_str(end);
            line
        })
}

/// Returns values of a strategy, the same ones on every run.
fn sample<T>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Returns the commands that bash runs for each line if every command ends with `status`: the words of each command,
/// sorted because the stages of a pipeline run at the same time.
fn commands_run_by_bash(lines: &[String], status: u8) -> Vec<Vec<Vec<String>>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), "").unwrap();
    let mut script =
        "set -f\nPATH=/nowhere\nrecord() { local IFS=; printf '%s\\0' \"C$#\" \"$@\" >&9; }\n".to_owned();
    for name in NAMES.iter().map(|name| name.trim_matches(['\'', '"'])).filter(|name| *name != "printf") {
        script.push_str(&format!("{name}() {{ record {name} \"$@\"; return {status}; }}\n"));
    }
    script.push_str(&format!(
        "printf() {{ builtin printf '%s\\0' \"C$(($#+1))\" printf \"$@\" >&9; return {status}; }}\n"
    ));
    script = script.replace("local IFS=; printf", "builtin printf");
    script.push_str("while IFS= read -r -d '' line <&8; do builtin printf 'L\\0' >&9; eval -- \"$line\"; done 8<lines 9>seen </dev/null >/dev/null 2>&1\n");
    fs::write(folder.path().join("lines"), lines.iter().map(|line| format!("{line}\0")).collect::<String>())
        .unwrap();
    fs::write(folder.path().join("script"), script).unwrap();
    Command::new("bash")
        .args(["--noprofile", "--norc", "script"])
        .current_dir(&folder)
        .env("LC_ALL", "C.UTF-8")
        .status()
        .unwrap();
    let seen = fs::read_to_string(folder.path().join("seen")).unwrap();
    let mut fields = seen.split_terminator('\0');
    let mut all: Vec<Vec<Vec<String>>> = Vec::new();
    while let Some(field) = fields.next() {
        match field.strip_prefix('C') {
            Some(count) => {
                let words = fields.by_ref().take(count.parse().unwrap()).map(str::to_owned).collect();
                all.last_mut().unwrap().push(words);
            }
            None => all.push(Vec::new()),
        }
    }
    all.iter_mut().for_each(|commands| commands.sort());
    all
}

/// Returns the commands that bash runs for a line according to our parser.
fn commands_of_plain_line(line: &plain::PlainLine, status: u8) -> Vec<Vec<String>> {
    let mut seen = Vec::new();
    let (mut runs, mut last) = (true, 0);
    for command in &line.commands {
        runs = match command.join {
            Join::Sequence => true,
            Join::And => last == 0,
            Join::Or => last != 0,
            Join::Pipe => runs,
        };
        if runs {
            seen.push(command.words.iter().map(|word| word.text.clone()).collect());
            last = status;
        }
    }
    seen.sort();
    seen
}

#[test]
fn bash_runs_exactly_the_commands_and_words_our_parser_sees() {
    let lines: Vec<String> =
        sample(line(), 4_000).into_iter().filter(|line| plain::read(line).is_ok()).collect();
    assert!(lines.len() > 1_000, "only {} of the lines are plain", lines.len());
    for status in [0, 1] {
        let by_bash = commands_run_by_bash(&lines, status);
        assert_eq!(by_bash.len(), lines.len());
        for (line, by_bash) in lines.iter().zip(by_bash) {
            assert_eq!(commands_of_plain_line(&plain::read(line).unwrap(), status), by_bash, "{line:?}");
        }
    }
}

#[test]
fn the_two_parsers_agree_on_most_plain_lines() {
    let lines: Vec<String> =
        sample(line(), 2_000).into_iter().filter(|line| plain::read(line).is_ok()).collect();
    let agreed = lines
        .iter()
        .filter(|line| tree::outline(line).is_some_and(|outline| outline.agrees(&plain::read(line).unwrap())))
        .count();
    // If they disagree (for example about words after a redirection), the line asks. Frequent disagreement would mean
    // that our reading of the grammar is wrong.
    assert!(agreed * 10 > lines.len() * 8, "{agreed} of {}", lines.len());
}

proptest! {
    #![proptest_config(Config { cases: 3_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_line_with_an_expansion_or_a_redirection_to_a_file_is_read_only(before in line(), danger in select(DANGERS), after in line(), gaps in prop::array::uniform2(select(&["", " "][..]))) {
        let [first, second] = gaps;
        let lines = [
            format!("{before}{first} {danger}{second}"),
            format!("{before}{first} {danger}{second}\n{after}"),
            format!("ls {danger} x; {after}"),
            format!("echo \"a\" {danger}"),
        ];
        for line in &lines {
            prop_assert!(!is_read_only(line), "{:?}", line);
        }
    }

    #[test]
    fn any_text_gets_an_answer(line in "\\PC{0,60}", odd in "[a-z $`'\"\\\\(){}<>|&;\n*#!~=\\[\\]-]{0,60}") {
        super::judge(&line, &[]);
        super::judge(&odd, &[]);
        super::allowed_by(&odd, &[vec!["cargo".to_owned(), "test".to_owned()]]);
    }
}

/// Commands that the test does not run: if the policy were wrong about them, the test would change the machine.
const NOT_RUN: &[&str] = &["date", "hostname", "docker"];

fn known_command() -> impl Strategy<Value = String> {
    let tools: Vec<&'static str> =
        programs::rows().map(|(name, ..)| name).filter(|name| !NOT_RUN.contains(name)).collect();
    let subcommands = [
        "status",
        "log",
        "diff",
        "show",
        "branch",
        "ls-files",
        "blame",
        "rev-parse",
        "tag",
        "stash",
        "describe",
        "shortlog",
        "remote",
    ];
    let words = [
        "one.txt",
        "two.txt",
        "sub",
        "sub/three.txt",
        ".",
        "*.txt",
        "sub/*",
        "-n",
        "-r",
        "-c",
        "-o",
        "-l",
        "-a",
        "-s",
        "-u",
        "-v",
        "-f",
        "-i",
        "5",
        "--all",
        "--list",
        "-delete",
        "-exec",
        "-name",
        "-type",
        "f",
        "--output=out",
        "-print",
        "--stat",
        "-p",
        "HEAD",
        "'%s\\n'",
        "new",
        "--",
        "-d",
        "x",
        "-m",
        "-t",
        "-k1",
        "-R",
        "--compress-program=touch",
        "-w",
        "-z",
        "-L",
        "-",
    ];
    (select(tools), select(subcommands.to_vec()), prop::collection::vec(select(words.to_vec()), 0..4))
        .prop_map(|(name, subcommand, words)| {
            let git = if name == "git" { format!(" {subcommand}") } else { String::new() };
            format!("{name}{git} {}", words.join(" "))
        })
}

/// Returns the mode, size, time of change and content of everything below a folder.
fn state(folder: &Path) -> BTreeMap<PathBuf, (u32, u64, SystemTime, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let meta = entry.path().symlink_metadata().unwrap();
            if meta.is_dir() {
                folders.push(entry.path());
            }
            let content = if meta.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            all.insert(entry.path(), (meta.mode(), meta.len(), meta.modified().unwrap(), content));
        }
    }
    all
}

/// Creates a folder with files, a folder and a repository in it.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script = "printf 'b\\na\\nb\\n' >one.txt; printf 'c\\n' >two.txt; mkdir sub; echo x >sub/three.txt
        git init -q . && git add . && git -c user.name=n -c user.email=e@x commit -qm first && echo more >>one.txt";
    let done = Command::new("bash")
        .args(["-c", script])
        .current_dir(&folder)
        .env("HOME", folder.path())
        .status()
        .unwrap();
    assert!(done.success());
    folder
}

#[test]
fn read_only_lines_leave_the_folder_unchanged() {
    let lines: Vec<String> =
        sample(known_command(), 6_000).into_iter().filter(|line| is_read_only(line)).collect();
    assert!(lines.len() > 400, "only {}", lines.len());
    let folder = repository();
    let before = state(folder.path());
    let mut script = crate::PATTERN_SETUP.to_owned();
    for line in &lines {
        script.push_str(&format!("( eval '{}' ) </dev/null >/dev/null 2>&1\n", line.replace('\'', "'\\''")));
    }
    let script_file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&script_file, script).unwrap();
    let login = environment::Variables::from([
        ("PATH".to_owned(), std::env::var("PATH").unwrap()),
        ("HOME".to_owned(), folder.path().display().to_string()),
    ]);
    let status = Command::new("timeout")
        .args(["240", "bash", "--noprofile", "--norc"])
        .arg(script_file.path())
        .env_clear()
        .envs(environment::unattended(login, folder.path()))
        .current_dir(&folder)
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert_ne!(status.code(), Some(124), "a line did not end");
    let after = state(folder.path());
    for (path, was) in &before {
        assert_eq!(after.get(path), Some(was), "{}", path.display());
    }
    assert_eq!(
        before.len(),
        after.len(),
        "{:?}",
        after.keys().filter(|path| !before.contains_key(*path)).collect::<Vec<_>>()
    );
}
