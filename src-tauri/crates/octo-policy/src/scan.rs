//! Finds everything a line would start, from its words: through wrappers, nested shells, substitutions, functions and
//! pipes.
//!
//! The scan is generous: it guesses values, follows variables roughly and reads strings as scripts. Its findings can
//! only be a reason to refuse, to ask or to send a removal to the trash; they never allow anything.

mod call;
mod fork_bomb;
mod wrappers;

pub(crate) use call::{Call, CallWord};
pub(crate) use wrappers::SHELLS;

use crate::{
    bash,
    context::{LineContext, UNKNOWN},
    names,
    script::{
        Command, Compound, Join, Parsed, Part, Pipeline, Quoting, Redirect, RedirectKind, Script, Simple,
        Word,
    },
};
use fork_bomb::is_fork_bomb;
use std::{collections::BTreeMap, ops::Range};

/// Maximum nesting depth of wrappers, nested shells and functions.
const MAX_DEPTH: usize = 12;

/// Maximum number of scanned calls. A line with more makes [`Scan::incomplete`] true.
const MAX_CALLS: usize = 2_000;

/// Maximum number of commands kept in [`Call::input_commands`] for each stage of a pipeline.
const MAX_INPUT_COMMANDS: usize = 64;

/// The findings in a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// Everything the line would start.
    pub calls: Vec<Call>,
    /// Whether the line defines a function that starts itself without end.
    pub has_fork_bomb: bool,
    /// Whether the scan left out a call, or could not parse a nested script.
    pub incomplete: bool,
}

/// Scans a parsed line.
pub(crate) fn scan(parsed: &Parsed, context: &LineContext) -> Scan {
    let mut scanner = Scanner::new(context);
    scanner.directories = vec![".".to_owned()];
    scanner.parsed_line(parsed, &CallOrigin::default());
    scanner.scan
}

/// Scans text that cannot be parsed: every run of words between the shell's operators counts as a call.
pub(crate) fn rough_scan(text: &str, context: &LineContext) -> Scan {
    let mut scanner = Scanner::new(context);
    scanner.directories = vec![".".to_owned()];
    // The text cannot contain more runs of words than bytes.
    scanner.max_calls = text.len() + MAX_CALLS;
    scanner.rough_text(text);
    scanner.scan
}

/// How a line comes to start a call.
#[derive(Clone, Debug, Default)]
struct CallOrigin {
    /// As [`Call::wrappers`].
    wrappers: Vec<String>,
    /// As [`Call::input_commands`].
    input_commands: Vec<String>,
    /// The text on standard input; `None` if unknown.
    stdin: Option<String>,
    /// Whether the words are in a nested script, and not in the line itself.
    nested: bool,
    /// The number of wrappers, nested scripts and functions around the call.
    depth: usize,
}

struct Scanner<'a> {
    context: &'a LineContext,
    scan: Scan,
    variables: BTreeMap<String, String>,
    functions: BTreeMap<String, Command>,
    /// The texts of the here-documents of the script being scanned.
    documents: Vec<String>,
    /// As [`Call::directories`], at the current position.
    directories: Vec<String>,
    /// The functions whose bodies are being scanned.
    active_functions: Vec<String>,
    max_calls: usize,
}

impl<'a> Scanner<'a> {
    fn new(context: &'a LineContext) -> Self {
        Self {
            context,
            scan: Scan::default(),
            variables: BTreeMap::new(),
            functions: BTreeMap::new(),
            documents: Vec::new(),
            directories: Vec::new(),
            active_functions: Vec::new(),
            max_calls: MAX_CALLS,
        }
    }

    fn parsed_line(&mut self, parsed: &Parsed, origin: &CallOrigin) {
        let before = std::mem::take(&mut self.documents);
        self.documents = parsed.documents.iter().map(|document| document.text.clone()).collect();
        self.script(&parsed.script, origin);
        for script in parsed.documents.iter().flat_map(|document| &document.parts).flat_map(Part::scripts) {
            self.script(script, origin);
        }
        self.documents = before;
    }

    /// Scans text that a shell would run as a script.
    fn nested_script(&mut self, text: &str, origin: &CallOrigin) {
        let origin = CallOrigin { nested: true, depth: origin.depth + 1, ..origin.clone() };
        if origin.depth > MAX_DEPTH {
            self.scan.incomplete = true;
            return;
        }
        match bash::parse(&text.replace(UNKNOWN, "\u{1}")) {
            Ok(parsed) => self.parsed_line(&parsed, &origin),
            Err(_) => {
                self.scan.incomplete = true;
                self.rough_text(text);
            }
        }
    }

    fn rough_text(&mut self, text: &str) {
        for piece in text.split([';', '|', '&', '(', ')', '{', '}', '\n', '`', '<', '\r']) {
            let (command, target) = piece.split_once('>').unwrap_or((piece, ""));
            let clean = |text: &str| text.replace(['"', '\'', '\\', '$'], "");
            let mut words: Vec<CallWord> = command
                .split_whitespace()
                .map(|word| word.replace("${HOME", "~").replace("$HOME", "~"))
                .map(|word| CallWord { text: self.expand_home(&clean(&word)), span: None })
                .collect();
            while words.first().is_some_and(|word| {
                word.text.contains('=')
                    || ["then", "do", "else", "!", "time", "if", "while", "until"]
                        .contains(&word.text.as_str())
            }) {
                words.remove(0);
            }
            let target = clean(target.trim_start_matches(['>', '|']).trim());
            let redirects = if target.is_empty() {
                Vec::new()
            } else {
                vec![(RedirectKind::Write, target.split_whitespace().next().unwrap_or_default().to_owned())]
            };
            self.invoke(words, redirects, &CallOrigin { nested: true, ..CallOrigin::default() }, None);
        }
    }

    fn expand_home(&self, word: &str) -> String {
        let home = self.context.home.as_ref().map(|home| names::for_comparison(home.as_os_str()));
        match (word.strip_prefix('~'), home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
            _ => word.to_owned(),
        }
    }

    fn script(&mut self, script: &Script, origin: &CallOrigin) {
        for list in &script.lists {
            let mut before = self.directories.clone();
            for (join, pipeline) in &list.pipelines {
                if *join != Join::And {
                    self.add_directories(&before);
                }
                before.clone_from(&self.directories);
                self.pipeline(pipeline, origin);
            }
            self.add_directories(&before);
        }
    }

    /// Adds the directories before a `cd`, because the `cd` may have failed.
    fn add_directories(&mut self, before: &[String]) {
        for base in before {
            if !self.directories.contains(base) {
                self.directories.push(base.clone());
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, origin: &CallOrigin) {
        let (mut input_commands, mut stdin) = (origin.input_commands.clone(), origin.stdin.clone());
        for stage in &pipeline.stages {
            let from = self.scan.calls.len();
            let origin =
                CallOrigin { input_commands: input_commands.clone(), stdin: stdin.take(), ..origin.clone() };
            self.command(stage, &origin);
            input_commands.extend(self.scan.calls.iter().skip(from).take(MAX_INPUT_COMMANDS).map(Call::name));
            stdin = match stage {
                Command::Simple(simple) => self.literal_output(simple),
                _ => None,
            };
        }
    }

    fn command(&mut self, command: &Command, origin: &CallOrigin) {
        if self.scan.calls.len() >= self.max_calls {
            self.scan.incomplete = true;
            return;
        }
        match command {
            Command::Simple(simple) => self.simple(simple, origin),
            Command::Compound { compound, redirects } => {
                if let Compound::For { name, words, .. } = compound {
                    let values: Vec<CallWord> = words.iter().flat_map(|word| self.expand(word)).collect();
                    for value in values.iter().take(8) {
                        self.variables.insert(name.clone(), value.text.clone());
                        for script in compound.scripts() {
                            self.script(script, origin);
                        }
                    }
                    if values.len() != 1 {
                        self.variables.insert(name.clone(), UNKNOWN.to_string());
                    }
                }
                self.substitutions(&compound.words(), origin);
                self.substitutions(
                    &redirects.iter().map(|redirect| &redirect.target).collect::<Vec<_>>(),
                    origin,
                );
                let before = self.directories.clone();
                for script in compound.scripts() {
                    self.script(script, origin);
                }
                if matches!(compound, Compound::Subshell(_)) {
                    self.directories = before;
                }
                let redirects = self.redirects(redirects);
                if !redirects.is_empty() {
                    self.push(Vec::new(), redirects, origin, None);
                }
            }
            Command::Function { name, body } => {
                if is_fork_bomb(name, body) {
                    self.scan.has_fork_bomb = true;
                }
                self.functions.insert(name.clone(), (**body).clone());
                let before = self.directories.clone();
                self.command(body, origin);
                self.directories = before;
            }
        }
    }

    /// Scans the commands in the expansions of words.
    fn substitutions(&mut self, words: &[&Word], origin: &CallOrigin) {
        for script in words.iter().flat_map(|word| word.scripts()) {
            let before = self.directories.clone();
            self.script(script, &CallOrigin { stdin: None, ..origin.clone() });
            self.directories = before;
        }
    }

    fn simple(&mut self, simple: &Simple, origin: &CallOrigin) {
        let from = self.scan.calls.len();
        let mut all: Vec<&Word> = simple.words.iter().collect();
        all.extend(simple.assignments.iter().map(|assignment| &assignment.value));
        all.extend(simple.redirects.iter().map(|redirect| &redirect.target));
        self.substitutions(&all, origin);
        let mut origin = origin.clone();
        // The output of a substitution becomes words of this command.
        origin
            .input_commands
            .extend(self.scan.calls.iter().skip(from).take(MAX_INPUT_COMMANDS).map(Call::name));
        for redirect in &simple.redirects {
            origin.stdin = match redirect.kind {
                RedirectKind::Document(index) => self.documents.get(index).cloned(),
                RedirectKind::Text => Some(
                    self.expand(&redirect.target)
                        .into_iter()
                        .map(|word| word.text)
                        .collect::<Vec<_>>()
                        .join(" "),
                ),
                _ => continue,
            };
        }
        for assignment in &simple.assignments {
            let value: Vec<String> =
                self.expand(&assignment.value).into_iter().map(|word| word.text).collect();
            self.variables.insert(assignment.name.clone(), value.join(" "));
        }
        let words: Vec<CallWord> = simple.words.iter().flat_map(|word| self.expand(word)).collect();
        let redirects = self.redirects(&simple.redirects);
        let span = (!origin.nested).then(|| simple.span.clone());
        let words = words
            .into_iter()
            .map(|word| if origin.nested { CallWord { span: None, ..word } } else { word })
            .collect();
        self.invoke(words, redirects, &origin, span);
    }

    fn redirects(&self, redirects: &[Redirect]) -> Vec<(RedirectKind, String)> {
        let plain = redirects.iter().filter(|redirect| {
            matches!(redirect.kind, RedirectKind::Read | RedirectKind::Write | RedirectKind::Duplicate)
        });
        plain
            .flat_map(|redirect| {
                self.expand(&redirect.target).into_iter().map(|word| (redirect.kind, word.text))
            })
            .collect()
    }

    /// Records a call. Returns false at the maximum number of calls.
    fn push(
        &mut self,
        words: Vec<CallWord>,
        redirects: Vec<(RedirectKind, String)>,
        origin: &CallOrigin,
        span: Option<Range<usize>>,
    ) -> bool {
        if self.scan.calls.len() >= self.max_calls {
            self.scan.incomplete = true;
            return false;
        }
        let (directories, wrappers, input_commands) =
            (self.directories.clone(), origin.wrappers.clone(), origin.input_commands.clone());
        self.scan.calls.push(Call { words, redirects, directories, wrappers, input_commands, span });
        true
    }

    /// Records a call, and scans the calls it makes in turn.
    fn invoke(
        &mut self,
        words: Vec<CallWord>,
        redirects: Vec<(RedirectKind, String)>,
        origin: &CallOrigin,
        span: Option<Range<usize>>,
    ) {
        if origin.depth > MAX_DEPTH {
            self.scan.incomplete = true;
            return;
        }
        if (words.is_empty() && redirects.is_empty())
            || !self.push(words.clone(), redirects, origin, span.clone())
        {
            return;
        }
        let Some(call) = self.scan.calls.last().cloned() else { return };
        let name = call.name();
        if let Some(folder) = call.operands().first().filter(|_| matches!(name.as_str(), "cd" | "pushd")) {
            let folder = (*folder).to_owned();
            self.directories = self.directories.iter().map(|base| joined(base, &folder)).collect();
            self.directories.dedup();
        } else if name == "cd" {
            self.directories = vec![self.expand_home("~")];
        }
        let deeper = CallOrigin { depth: origin.depth + 1, ..origin.clone() };
        if let Some(body) =
            self.functions.get(&name).cloned().filter(|_| !self.active_functions.contains(&name))
        {
            for (at, word) in words.iter().enumerate().skip(1) {
                self.variables.insert(at.to_string(), word.text.clone());
            }
            let rest: Vec<&str> = call.arguments().collect();
            self.variables.insert("@".to_owned(), rest.join(" "));
            self.variables.insert("*".to_owned(), rest.join(" "));
            self.active_functions.push(name);
            self.command(&body, &CallOrigin { nested: true, ..deeper });
            self.active_functions.pop();
            return;
        }
        self.wrapper(&name, &call, &deeper, span);
    }

    /// Returns the output of a simple command if its words determine it.
    fn literal_output(&self, simple: &Simple) -> Option<String> {
        let words: Vec<String> =
            simple.words.iter().flat_map(|word| self.expand(word)).map(|word| word.text).collect();
        let document = simple.redirects.iter().find_map(|redirect| match redirect.kind {
            RedirectKind::Document(index) => self.documents.get(index).cloned(),
            RedirectKind::Text => redirect.target.literal(),
            _ => None,
        });
        match words.split_first() {
            Some((name, rest)) if name == "echo" => {
                Some(rest.iter().filter(|word| !word.starts_with('-')).cloned().collect::<Vec<_>>().join(" "))
            }
            Some((name, rest)) if name == "printf" => {
                let all: Vec<String> =
                    rest.iter().map(|word| word.replace("\\n", "\n").replace("%s", " ")).collect();
                Some(all.join(" "))
            }
            Some((name, _)) if matches!(name.as_str(), "cat" | "tee") => document,
            _ => None,
        }
    }

    /// Returns the words that a word expands to, with [`UNKNOWN`] for unknown parts.
    fn expand(&self, word: &Word) -> Vec<CallWord> {
        let mut expansions = vec![String::new()];
        let (mut quoted, mut split) = (false, false);
        for part in &word.parts {
            let values: Vec<String> = match part {
                Part::Text(text, quoting) => {
                    quoted |= *quoting == Quoting::Quoted;
                    vec![text.clone()]
                }
                Part::Pattern(c) => vec![c.to_string()],
                Part::Home(user) => vec![match user.as_str() {
                    "" => self.expand_home("~"),
                    "root" => "/root".to_owned(),
                    "+" => ".".to_owned(),
                    user => format!("/home/{user}"),
                }],
                Part::Variable(name, quoting) => {
                    let value = self.variable_value(name);
                    // The value may be split into words.
                    split |= *quoting == Quoting::Unquoted && value.contains([' ', '\t', '\n']);
                    vec![value]
                }
                Part::Command(script, quoting) => {
                    let value = self.substitution_output(script).unwrap_or_else(|| UNKNOWN.to_string());
                    split |= *quoting == Quoting::Unquoted && value.contains([' ', '\t', '\n']);
                    vec![value]
                }
                Part::Braces(words) => words.clone(),
                Part::Number | Part::Process(_) | Part::Derived(..) | Part::Opaque(..) => {
                    vec![UNKNOWN.to_string()]
                }
            };
            expansions = expansions
                .iter()
                .flat_map(|before| values.iter().map(move |value| format!("{before}{value}")))
                .take(MAX_CALLS)
                .collect();
        }
        let several = expansions.len() > 1 || split;
        let span = (!several).then(|| word.span.clone());
        let expansions: Vec<String> = if split {
            expansions.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
        } else {
            expansions
        };
        expansions
            .into_iter()
            .filter(|text| !text.is_empty() || quoted || !several)
            .map(|text| CallWord { text, span: span.clone() })
            .collect()
    }

    fn variable_value(&self, name: &str) -> String {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        match name {
            "HOME" => self.expand_home("~"),
            "IFS" => " ".to_owned(),
            "PWD" => ".".to_owned(),
            "SHELL" => "/bin/bash".to_owned(),
            // Octo itself starts the shell.
            "PPID" => self.context.processes.first().map_or_else(|| UNKNOWN.to_string(), u32::to_string),
            _ => UNKNOWN.to_string(),
        }
    }

    /// Returns the output of a substitution that only prints words.
    fn substitution_output(&self, script: &Script) -> Option<String> {
        let [list] = script.lists.as_slice() else { return None };
        let [(_, pipeline)] = list.pipelines.as_slice() else { return None };
        let [Command::Simple(simple)] = pipeline.stages.as_slice() else { return None };
        if simple.words.first()?.literal()? == "pwd" {
            return Some(".".to_owned());
        }
        self.literal_output(simple)
    }
}

fn joined(base: &str, folder: &str) -> String {
    if folder.starts_with('/') || base == "." {
        folder.to_owned()
    } else {
        format!("{}/{folder}", base.trim_end_matches('/'))
    }
}
