//! Everything a line would start, inferred from its words: through wrappers, nested shells, substitutions,
//! functions and pipes.
//!
//! This scan is generous: it guesses values, follows variables roughly and reads strings as scripts. Its
//! findings are only ever a reason to refuse, to ask or to send a removal to the trash; they never allow
//! anything.

mod call;
mod wrappers;

pub(crate) use call::{Call, Guess};
pub(crate) use wrappers::SHELLS;

use crate::{
    bash,
    context::{LineContext, UNKNOWN},
    script::{
        Command, Compound, GroundKind, Joint, Parsed, Part, Pipeline, Quoting, Redirect, RedirectKind,
        Script, Simple, Word,
    },
};
use std::{collections::BTreeMap, ops::Range};

/// How far wrappers, nested shells and functions are followed.
const MAX_DEPTH: usize = 12;

/// How many calls are looked at. A line with more makes [`Scan::cut`] true.
const MAX_CALLS: usize = 2_000;

/// How many feeding commands are kept of one stage.
const MAX_FED: usize = 64;

/// The findings in a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scan {
    /// Everything it would start.
    pub calls: Vec<Call>,
    /// Whether it defines something that multiplies itself.
    pub multiplies: bool,
    /// Whether more is started than was looked at, or a nested script could not be read.
    pub cut: bool,
}

/// Looks through a line that was read.
pub(crate) fn scan(parsed: &Parsed, context: &LineContext) -> Scan {
    let mut scanner = Scanner::new(context);
    scanner.bases = vec![".".to_owned()];
    scanner.parsed_line(parsed, &Flow::default());
    scanner.found
}

/// Looks through text that cannot be read: every run of words between signs of the language counts as a call.
pub(crate) fn rough_scan(text: &str, context: &LineContext) -> Scan {
    let mut scanner = Scanner::new(context);
    scanner.bases = vec![".".to_owned()];
    // Pieces start nothing that could grow beyond the text's length.
    scanner.most = text.len() + MAX_CALLS;
    scanner.rough_text(text);
    scanner.found
}

/// What flows into a command.
#[derive(Clone, Debug, Default)]
struct Flow {
    through: Vec<String>,
    fed: Vec<String>,
    /// Text that is known to come in.
    text: Option<String>,
    /// Whether words stand in the line itself.
    nested: bool,
    depth: usize,
}

struct Scanner<'a> {
    context: &'a LineContext,
    found: Scan,
    variables: BTreeMap<String, String>,
    functions: BTreeMap<String, Command>,
    documents: Vec<String>,
    bases: Vec<String>,
    /// Functions whose body is being looked at.
    within: Vec<String>,
    most: usize,
}

impl<'a> Scanner<'a> {
    fn new(context: &'a LineContext) -> Self {
        Self {
            context,
            found: Scan::default(),
            variables: BTreeMap::new(),
            functions: BTreeMap::new(),
            documents: Vec::new(),
            bases: Vec::new(),
            within: Vec::new(),
            most: MAX_CALLS,
        }
    }

    fn parsed_line(&mut self, parsed: &Parsed, flow: &Flow) {
        let before = std::mem::take(&mut self.documents);
        self.documents = parsed.documents.iter().map(|document| document.text.clone()).collect();
        self.script(&parsed.script, flow);
        for script in parsed.documents.iter().flat_map(|document| &document.parts).flat_map(Part::scripts) {
            self.script(script, flow);
        }
        self.documents = before;
    }

    /// Text a shell would read as a script.
    fn text(&mut self, text: &str, flow: &Flow) {
        let flow = Flow { nested: true, depth: flow.depth + 1, ..flow.clone() };
        if flow.depth > MAX_DEPTH {
            self.found.cut = true;
            return;
        }
        match bash::parse(&text.replace(UNKNOWN, "\u{1}")) {
            Ok(parsed) => self.parsed_line(&parsed, &flow),
            Err(_) => {
                self.found.cut = true;
                self.rough_text(text);
            }
        }
    }

    fn rough_text(&mut self, text: &str) {
        for piece in text.split([';', '|', '&', '(', ')', '{', '}', '\n', '`', '<', '\r']) {
            let (command, target) = piece.split_once('>').unwrap_or((piece, ""));
            let clean = |text: &str| text.replace(['"', '\'', '\\', '$'], "");
            let mut words: Vec<Guess> = command
                .split_whitespace()
                .map(|word| word.replace("${HOME", "~").replace("$HOME", "~"))
                .map(|word| Guess { text: self.expand_home(&clean(&word)), span: None })
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
            self.invoke(words, redirects, &Flow { nested: true, ..Flow::default() }, None);
        }
    }

    fn expand_home(&self, word: &str) -> String {
        let home = self.context.home.as_ref().map(|home| home.to_string_lossy().into_owned());
        match (word.strip_prefix('~'), home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
            _ => word.to_owned(),
        }
    }

    fn script(&mut self, script: &Script, flow: &Flow) {
        for list in &script.lists {
            let mut keep = self.bases.clone();
            for (joint, pipeline) in &list.pipelines {
                if *joint != Joint::And {
                    self.add_bases(&keep);
                }
                keep.clone_from(&self.bases);
                self.pipeline(pipeline, flow);
            }
            self.add_bases(&keep);
        }
    }

    /// A `cd` may have failed: what comes behind it runs there or where it was.
    fn add_bases(&mut self, before: &[String]) {
        for base in before {
            if !self.bases.contains(base) {
                self.bases.push(base.clone());
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, flow: &Flow) {
        let (mut fed, mut text) = (flow.fed.clone(), flow.text.clone());
        for stage in &pipeline.stages {
            let from = self.found.calls.len();
            let flow = Flow { fed: fed.clone(), text: text.take(), ..flow.clone() };
            self.command(stage, &flow);
            fed.extend(self.found.calls.iter().skip(from).take(MAX_FED).map(Call::name));
            text = match stage {
                Command::Simple(simple) => self.printed(simple),
                _ => None,
            };
        }
    }

    fn command(&mut self, command: &Command, flow: &Flow) {
        if self.found.calls.len() >= self.most {
            self.found.cut = true;
            return;
        }
        match command {
            Command::Simple(simple) => self.simple(simple, flow),
            Command::Compound { what, redirects } => {
                if let Compound::For { name, words, .. } = what {
                    let values: Vec<Guess> = words.iter().flat_map(|word| self.expand(word)).collect();
                    for value in values.iter().take(8) {
                        self.variables.insert(name.clone(), value.text.clone());
                        for script in what.scripts() {
                            self.script(script, flow);
                        }
                    }
                    if values.len() != 1 {
                        self.variables.insert(name.clone(), UNKNOWN.to_string());
                    }
                }
                self.inner(&what.words(), flow);
                self.inner(&redirects.iter().map(|redirect| &redirect.target).collect::<Vec<_>>(), flow);
                let keep = self.bases.clone();
                for script in what.scripts() {
                    self.script(script, flow);
                }
                if matches!(what, Compound::Subshell(_)) {
                    self.bases = keep;
                }
                let redirects = self.redirects(redirects);
                if !redirects.is_empty() {
                    self.push(Vec::new(), redirects, flow, None);
                }
            }
            Command::Function { name, body } => {
                if multiplies(name, body) {
                    self.found.multiplies = true;
                }
                self.functions.insert(name.clone(), (**body).clone());
                let keep = self.bases.clone();
                self.command(body, flow);
                self.bases = keep;
            }
        }
    }

    /// The commands in the expansions of words.
    fn inner(&mut self, words: &[&Word], flow: &Flow) {
        for script in words.iter().flat_map(|word| word.scripts()) {
            let keep = self.bases.clone();
            self.script(script, &Flow { text: None, ..flow.clone() });
            self.bases = keep;
        }
    }

    fn simple(&mut self, simple: &Simple, flow: &Flow) {
        let from = self.found.calls.len();
        let mut all: Vec<&Word> = simple.words.iter().collect();
        all.extend(simple.assignments.iter().map(|assignment| &assignment.value));
        all.extend(simple.redirects.iter().map(|redirect| &redirect.target));
        self.inner(&all, flow);
        let mut flow = flow.clone();
        // The output of a substitution becomes words of this command.
        flow.fed.extend(self.found.calls.iter().skip(from).take(MAX_FED).map(Call::name));
        for redirect in &simple.redirects {
            flow.text = match redirect.kind {
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
        let words: Vec<Guess> = simple.words.iter().flat_map(|word| self.expand(word)).collect();
        let redirects = self.redirects(&simple.redirects);
        let span = (!flow.nested).then(|| simple.span.clone());
        let words = words
            .into_iter()
            .map(|word| if flow.nested { Guess { span: None, ..word } } else { word })
            .collect();
        self.invoke(words, redirects, &flow, span);
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

    fn push(
        &mut self,
        words: Vec<Guess>,
        redirects: Vec<(RedirectKind, String)>,
        flow: &Flow,
        span: Option<Range<usize>>,
    ) -> bool {
        if self.found.calls.len() >= self.most {
            self.found.cut = true;
            return false;
        }
        let (bases, through, fed) = (self.bases.clone(), flow.through.clone(), flow.fed.clone());
        self.found.calls.push(Call { words, redirects, bases, through, fed, span });
        true
    }

    /// A call, and what it starts in turn.
    fn invoke(
        &mut self,
        words: Vec<Guess>,
        redirects: Vec<(RedirectKind, String)>,
        flow: &Flow,
        span: Option<Range<usize>>,
    ) {
        if flow.depth > MAX_DEPTH {
            self.found.cut = true;
            return;
        }
        if (words.is_empty() && redirects.is_empty())
            || !self.push(words.clone(), redirects, flow, span.clone())
        {
            return;
        }
        let Some(call) = self.found.calls.last().cloned() else { return };
        let name = call.name();
        if let Some(folder) = call.operands().first().filter(|_| matches!(name.as_str(), "cd" | "pushd")) {
            let folder = (*folder).to_owned();
            self.bases = self.bases.iter().map(|base| joined(base, &folder)).collect();
            self.bases.dedup();
        } else if name == "cd" {
            self.bases = vec![self.expand_home("~")];
        }
        let deeper = Flow { depth: flow.depth + 1, ..flow.clone() };
        if let Some(body) = self.functions.get(&name).cloned().filter(|_| !self.within.contains(&name)) {
            for (at, word) in words.iter().enumerate().skip(1) {
                self.variables.insert(at.to_string(), word.text.clone());
            }
            let rest: Vec<&str> = call.arguments().collect();
            self.variables.insert("@".to_owned(), rest.join(" "));
            self.variables.insert("*".to_owned(), rest.join(" "));
            self.within.push(name);
            self.command(&body, &Flow { nested: true, ..deeper });
            self.within.pop();
            return;
        }
        self.unwrap(&name, &call, &deeper, span);
    }

    /// Returns the output of a simple command if its words determine it.
    fn printed(&self, simple: &Simple) -> Option<String> {
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

    /// Returns the known words a word expands to.
    fn expand(&self, word: &Word) -> Vec<Guess> {
        let mut made = vec![String::new()];
        let (mut quoted, mut split) = (false, false);
        for part in &word.parts {
            let more: Vec<String> = match part {
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
                    let value = self.value(name);
                    // An unset or blank separator makes words of one.
                    split |= *quoting == Quoting::Bare && value.contains([' ', '\t', '\n']);
                    vec![value]
                }
                Part::Command(script, quoting) => {
                    let value = self.output(script).unwrap_or_else(|| UNKNOWN.to_string());
                    split |= *quoting == Quoting::Bare && value.contains([' ', '\t', '\n']);
                    vec![value]
                }
                Part::Braces(words) => words.clone(),
                Part::Number | Part::Process(_) | Part::Derived(..) | Part::Opaque(..) => {
                    vec![UNKNOWN.to_string()]
                }
            };
            made = made
                .iter()
                .flat_map(|before| more.iter().map(move |more| format!("{before}{more}")))
                .take(MAX_CALLS)
                .collect();
        }
        let several = made.len() > 1 || split;
        let span = (!several).then(|| word.span.clone());
        let made: Vec<String> = if split {
            made.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
        } else {
            made
        };
        made.into_iter()
            .filter(|text| !text.is_empty() || quoted || !several)
            .map(|text| Guess { text, span: span.clone() })
            .collect()
    }

    fn value(&self, name: &str) -> String {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        match name {
            "HOME" => self.expand_home("~"),
            "IFS" => " ".to_owned(),
            "PWD" => ".".to_owned(),
            "SHELL" => "/bin/bash".to_owned(),
            // What commands are started by is Octo itself.
            "PPID" => self.context.processes.first().map_or_else(|| UNKNOWN.to_string(), u32::to_string),
            _ => UNKNOWN.to_string(),
        }
    }

    /// Returns the output of a substitution that only prints words.
    fn output(&self, script: &Script) -> Option<String> {
        let [list] = script.lists.as_slice() else { return None };
        let [(_, pipeline)] = list.pipelines.as_slice() else { return None };
        let [Command::Simple(simple)] = pipeline.stages.as_slice() else { return None };
        if simple.words.first()?.literal()? == "pwd" {
            return Some(".".to_owned());
        }
        self.printed(simple)
    }
}

fn joined(base: &str, folder: &str) -> String {
    if folder.starts_with('/') || base == "." {
        folder.to_owned()
    } else {
        format!("{}/{folder}", base.trim_end_matches('/'))
    }
}

/// Whether a function calls itself concurrently: in a pipeline with itself, or in the background.
fn multiplies(name: &str, body: &Command) -> bool {
    fn calls(name: &str, command: &Command) -> usize {
        let mut count = 0;
        command.each(&mut |command| {
            if let Command::Simple(simple) = command {
                count += usize::from(
                    simple.words.first().and_then(Word::literal).is_some_and(|first| first == name),
                );
            }
        });
        count
    }
    let mut found = false;
    body.each(&mut |command| {
        let scripts = match command {
            Command::Compound { what, .. } => what.scripts(),
            _ => Vec::new(),
        };
        for list in scripts.iter().flat_map(|script| &script.lists) {
            for (_, pipeline) in &list.pipelines {
                let count: usize = pipeline.stages.iter().map(|stage| calls(name, stage)).sum();
                found |= count >= 2 || (count >= 1 && list.ground == GroundKind::Back);
            }
        }
    });
    found
}
