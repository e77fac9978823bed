//! Programs that start other programs.

use super::{Call, CallOrigin, CallWord, Scanner};
use crate::context::UNKNOWN;
use std::ops::Range;

/// Shells that run a script given as text.
pub(crate) const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "zsh"];

/// Programs that start the command after their own options. Each row has the name, the letters of the short options
/// with a separate value, the long options with one, and the number of operands before the command.
#[rustfmt::skip]
const WRAPPERS: &[(&str, &str, &[&str], usize)] = &[
    ("builtin", "", &[], 0),
    ("busybox", "", &[], 0),
    ("caffeinate", "tw", &[], 0),
    ("catchsegv", "", &[], 0),
    ("chronic", "", &[], 0),
    ("chroot", "", &[], 1),
    ("command", "", &[], 0),
    ("dbus-launch", "", &[], 0),
    ("dbus-run-session", "", &[], 0),
    ("doas", "uC", &[], 0),
    ("eatmydata", "", &[], 0),
    ("env", "uCS", &["unset", "chdir"], 0),
    ("exec", "a", &[], 0),
    ("fakeroot", "", &[], 0),
    ("faketime", "", &[], 1),
    ("firejail", "", &[], 0),
    ("flock", "wE", &["timeout", "wait", "conflict-exit-code"], 1),
    ("gdb", "", &[], 0),
    ("ionice", "cnpP", &["class", "classdata"], 0),
    ("ltrace", "aeonpsuS", &[], 0),
    ("nice", "n", &["adjustment"], 0),
    ("nocorrect", "", &[], 0),
    ("nohup", "", &[], 0),
    ("nsenter", "tSG", &["target"], 0),
    ("numactl", "", &[], 0),
    ("parallel", "jaIENLnPSsC", &["jobs", "arg-file"], 0),
    ("perf", "", &[], 1),
    ("pkexec", "u", &["user"], 0),
    ("prlimit", "", &[], 0),
    ("proxychains", "f", &[], 0),
    ("proxychains4", "f", &[], 0),
    ("rlwrap", "", &[], 0),
    ("run0", "u", &[], 0),
    ("runuser", "ugGs", &[], 0),
    ("setarch", "", &[], 0),
    ("setpriv", "", &[], 0),
    ("setsid", "", &[], 0),
    ("stdbuf", "ioe", &["input", "output", "error"], 0),
    ("strace", "aeEIoOpPsSuUX", &[], 0),
    ("sudo", "ugChprtTDRU", &["user", "group", "chdir", "chroot", "host", "prompt", "role", "type", "close-from"], 0),
    ("systemd-run", "pEutM", &["unit", "property", "setenv", "uid", "gid"], 0),
    ("taskset", "", &[], 1),
    ("time", "fo", &["format", "output"], 0),
    ("timeout", "sk", &["signal", "kill-after"], 1),
    ("torsocks", "", &[], 0),
    ("toybox", "", &[], 0),
    ("unbuffer", "", &[], 0),
    ("unshare", "RSGw", &["root", "wd"], 0),
    ("valgrind", "", &[], 0),
    ("watch", "nqi", &["interval"], 0),
    ("xargs", "aEIdLnPs", &["arg-file", "delimiter", "max-args", "max-procs", "replace", "max-lines", "process-slot-var", "max-chars"], 0),
    ("xvfb-run", "enpsfw", &["server-args", "server-num"], 0),
];

impl Scanner<'_> {
    /// Scans the calls that a call makes in turn.
    pub(super) fn wrapper(
        &mut self,
        name: &str,
        call: &Call,
        origin: &CallOrigin,
        span: Option<Range<usize>>,
    ) {
        let mut wrappers = origin.wrappers.clone();
        wrappers.push(name.to_owned());
        let origin = CallOrigin { wrappers, ..origin.clone() };
        if let Some((_, letters, longs, operands)) = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name) {
            let (words, scripts) = inner_command(name, call, letters, longs, *operands);
            for script in scripts {
                self.nested_script(&script, &origin);
            }
            let mut words = words;
            if name == "parallel"
                && let Some(at) = words.iter().position(|word| word.text.starts_with(":::"))
            {
                words.truncate(at);
            }
            if matches!(name, "xargs" | "parallel") {
                let text = origin.stdin.clone().unwrap_or_else(|| UNKNOWN.to_string());
                words.extend(
                    text.split_whitespace().map(|text| CallWord { text: text.to_owned(), span: None }),
                );
            }
            // These give a single word to a shell.
            if let Some(only) = words.first()
                && only.text.contains(' ')
                && matches!(name, "watch" | "parallel" | "flock")
            {
                return self.nested_script(&only.text.clone(), &origin);
            }
            return self.invoke(words, Vec::new(), &CallOrigin { stdin: None, ..origin }, span);
        }
        match name {
            _ if SHELLS.contains(&name) => self.shell(call, &origin),
            "eval" | "trap" => {
                let mut words: Vec<&str> = call.arguments().filter(|text| *text != "--").collect();
                if name == "trap" {
                    words.truncate(1);
                }
                self.nested_script(&words.join(" "), &origin);
            }
            "su" | "script" | "runuser" | "sg" | "newgrp" => {
                for text in values_of(call, 'c', "command") {
                    self.nested_script(&text, &origin);
                }
            }
            "ssh" | "mosh" => {
                // A command on a remote machine is not refused but asks: it loses nothing on this machine.
            }
            "find" | "fd" | "fdfind" => self.find(call, &origin, span.as_ref()),
            "git" => {
                // `git rebase --exec`, `git bisect run`, `git submodule foreach`, `-c alias.x='!…'`.
                let words: Vec<&str> = call.arguments().collect();
                for (at, word) in words.iter().enumerate() {
                    if let Some((_, script)) = word.split_once("=!") {
                        self.nested_script(script, &origin);
                    } else if matches!(*word, "--exec" | "-x" | "foreach" | "run" | "--tree-filter") {
                        let rest: Vec<&str> = words.iter().skip(at + 1).copied().collect();
                        self.nested_script(&rest.join(" "), &origin);
                    } else if let Some(script) = word.strip_prefix("--exec=") {
                        self.nested_script(script, &origin);
                    }
                }
            }
            "." | "source" => {
                // `source /dev/stdin <<< …`
                if let Some(text) = origin.stdin.clone() {
                    self.nested_script(&text, &origin);
                }
            }
            _ => {}
        }
    }

    fn shell(&mut self, call: &Call, origin: &CallOrigin) {
        let words: Vec<&str> = call.arguments().collect();
        let at = words.iter().position(|word| {
            word.strip_prefix('-').is_some_and(|short| !short.starts_with('-') && short.contains('c'))
        });
        match at.and_then(|at| words.get(at + 1..)) {
            Some(rest) => {
                // Other options may stand between `-c` and the script.
                let mut rest = rest.iter().skip_while(|word| word.starts_with(['-', '+']));
                if let Some(script) = rest.next() {
                    for (at, word) in rest.enumerate() {
                        self.variables.insert(at.to_string(), (*word).to_owned());
                    }
                    self.nested_script(script, origin);
                }
            }
            // A shell without a script reads its piped input.
            None => {
                if let Some(text) = origin.stdin.clone() {
                    self.nested_script(&text, origin);
                }
            }
        }
    }

    fn find(&mut self, call: &Call, origin: &CallOrigin, span: Option<&Range<usize>>) {
        let mut words = call.words.iter().skip(1).peekable();
        let mut starts: Vec<CallWord> = Vec::new();
        while let Some(word) = words.next_if(|word| !word.text.starts_with(['-', '(', '!'])) {
            starts.push(CallWord { span: None, ..word.clone() });
        }
        let rest: Vec<&CallWord> = words.collect();
        for (at, word) in rest.iter().enumerate() {
            if !matches!(
                word.text.as_str(),
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
            ) {
                continue;
            }
            let mut inner: Vec<CallWord> = rest
                .iter()
                .skip(at + 1)
                .take_while(|word| !matches!(word.text.as_str(), ";" | "+"))
                .map(|word| (*word).clone())
                .collect();
            // The files that `find` finds are below its starting points.
            inner.retain(|word| word.text != "{}");
            inner.extend(starts.iter().map(|start| CallWord {
                text: format!("{}/{UNKNOWN}", start.text.trim_end_matches('/')),
                span: None,
            }));
            self.invoke(inner, Vec::new(), origin, span.cloned());
        }
    }
}

/// Returns the words of the command that a wrapper starts, and the scripts in the wrapper's options.
fn inner_command(
    name: &str,
    call: &Call,
    letters: &str,
    longs: &[&str],
    operands: usize,
) -> (Vec<CallWord>, Vec<String>) {
    let mut scripts = Vec::new();
    let mut words = call.words.iter().skip(1);
    let mut operands_left = operands;
    let mut rest: Vec<CallWord> = Vec::new();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if text == "--" {
            if operands_left == 0 {
                break;
            }
        } else if let Some(long) = text.strip_prefix("--") {
            if name == "env" && long.starts_with("split-string") {
                let value = long.split_once('=').map(|(_, value)| value.to_owned());
                scripts.extend(value.or_else(|| words.next().map(|word| word.text.clone())));
            } else if longs.contains(&long) {
                words.next();
            }
        } else if let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) {
            if name == "env" && short.starts_with('S') {
                let mut script = short.trim_start_matches('S').to_owned();
                for word in words.by_ref() {
                    script.push(' ');
                    script.push_str(&word.text);
                }
                scripts.push(script);
            } else if name == "flock" && short == "c" {
                scripts.extend(words.next().map(|word| word.text.clone()));
            } else if short.chars().last().is_some_and(|last| letters.contains(last))
                && (short.chars().count() == 1
                    || !short.chars().next().is_some_and(|first| letters.contains(first)))
            {
                // Skips the value in `-n 5` and `-xn 5`; `-n5` has it attached.
                words.next();
            }
        } else if matches!(name, "env" | "sudo" | "doas") && is_assignment(text)
            || text == "-" && name == "env"
        {
            continue;
        } else if operands_left > 0 {
            operands_left -= 1;
        } else {
            rest.push(word.clone());
            break;
        }
    }
    rest.extend(words.cloned());
    (rest, scripts)
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Returns the values of an option.
fn values_of(call: &Call, letter: char, long: &str) -> Vec<String> {
    let words: Vec<&str> = call.arguments().collect();
    let mut values = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if let Some(value) = word.strip_prefix(&format!("--{long}=")) {
            values.push(value.to_owned());
        } else if *word == format!("--{long}")
            || word.strip_prefix('-').is_some_and(|short| !short.starts_with('-') && short.ends_with(letter))
        {
            values.extend(words.get(at + 1).map(|value| (*value).to_owned()));
        }
    }
    values
}
