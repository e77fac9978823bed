//! The content of a command line as plain data: the result of [`crate::bash`].
//!
//! Nothing here is a judgement. Constructs whose meaning the reader does not vouch for are in
//! [`Parsed::doubts`]: a line with a doubt is still scanned for commands that must never run, and always asks.

use std::ops::Range;

/// A line that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parsed {
    /// What it runs.
    pub script: Script,
    /// The here-documents, in the order they begin; [`RedirectKind::Document`] is an index into them.
    pub documents: Vec<Document>,
    /// What makes it uncertain.
    pub doubts: Vec<Doubt>,
}

/// Commands one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// In order.
    pub lists: Vec<List>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// The pipelines; the first one's joint is [`Joint::Sequence`].
    pub pipelines: Vec<(Joint, Pipeline)>,
    /// Whether the shell waits for it.
    pub ground: GroundKind,
}

/// Whether the shell waits for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroundKind {
    /// It does.
    Fore,
    /// It was ended by `&`.
    Back,
}

/// How a pipeline hangs on the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joint {
    /// It runs in any case.
    Sequence,
    /// After a success.
    And,
    /// After a failure.
    Or,
}

/// Commands that feed each other.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    /// In order; never empty.
    pub stages: Vec<Command>,
    /// Whether `!` turns its status.
    pub negated: Negated,
}

/// Whether a status is turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negated {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// One command.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// A simple command.
    Simple(Simple),
    /// A compound one.
    Compound {
        /// What it is.
        what: Compound,
        /// Where the whole of it reads and writes.
        redirects: Vec<Redirect>,
    },
    /// The definition of a function.
    Function {
        /// Its name.
        name: String,
        /// Its body.
        body: Box<Command>,
    },
}

/// A compound command.
#[derive(Clone, Debug)]
pub(crate) enum Compound {
    /// `( … )`
    Subshell(Script),
    /// `{ …; }`
    Group(Script),
    /// `if`: conditions and branches in order.
    If(Vec<Script>),
    /// `while`, `until`.
    While {
        /// The condition.
        condition: Script,
        /// The body.
        body: Script,
    },
    /// `for`, `select`.
    For {
        /// The variable.
        name: String,
        /// What it goes through.
        words: Vec<Word>,
        /// The body.
        body: Script,
    },
    /// `case`.
    Case {
        /// The examined word.
        word: Word,
        /// Patterns and what follows on them.
        arms: Vec<(Vec<Word>, Script)>,
    },
    /// `[[ … ]]`: its words, operators left out.
    Test(Vec<Word>),
    /// `(( … ))`; always with a doubt.
    Arithmetic(Vec<Script>),
}

/// A simple command.
#[derive(Clone, Debug)]
pub(crate) struct Simple {
    /// `NAME=value` before the name.
    pub assignments: Vec<Assignment>,
    /// Name and arguments.
    pub words: Vec<Word>,
    /// Redirections.
    pub redirects: Vec<Redirect>,
    /// Its range in the line, including redirections.
    pub span: Range<usize>,
}

/// An assignment.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
    /// Whether it replaces the value: not `+=`, no subscript, no array.
    pub plain: Plain,
}

/// Whether an assignment is of the simplest form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// `NAME=value`
    Yes,
    /// Anything else.
    No,
}

/// A word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    /// What it is made of.
    pub parts: Vec<Part>,
    /// Its range in the line, including quotes.
    pub span: Range<usize>,
}

/// A part of a word.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Literal text.
    Text(String, Quoting),
    /// `*`, `?` or `[`, unquoted.
    Pattern(char),
    /// `~` or `~name` where bash replaces it by a home.
    Home(String),
    /// `$name`, `${name}`.
    Variable(String, Quoting),
    /// `$(…)`, backticks.
    Command(Script, Quoting),
    /// `<(…)`.
    Process(Script),
    /// `{a,b}`, `{1..3}` with nothing but text in it.
    Braces(Vec<String>),
    /// A number that is not known: `$?`, `$((1+2))`, `${#x}`.
    Number,
    /// `${name%…}`, `${name:-…}` with nothing but text behind the name.
    Derived(String, Quoting),
    /// An expansion that is not followed, with the commands found in it.
    Opaque(Vec<Script>, Quoting),
}

/// Whether a part is in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// It does: it is one word whatever its value.
    Quoted,
    /// It does not: its value may be split, and is matched against file names.
    Bare,
}

/// A redirection.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// Its target; for a here-document the delimiter, for a here-string the text.
    pub target: Word,
}

/// The effect of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`
    Write,
    /// `2>&1`, `>&-`
    Duplicate,
    /// `<<`, `<<-`: the document with this index.
    Document(usize),
    /// `<<<`
    Text,
}

/// A here-document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    /// Its text, as written.
    pub text: String,
    /// Its parts, when its delimiter is not quoted: expansions happen in it.
    pub parts: Vec<Part>,
}

/// What makes a line uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Characters that show as something else than they are.
    Characters,
    /// A backslash at a line's end inside a word.
    SplitWord,
    /// Commands inside an expansion or a here-document, where the second reader does not see them.
    Hidden,
    /// An expansion that may evaluate a value or set one: `${x@P}`, `${!x}`, `${x:=…}`, subscripts, arithmetic on
    /// names.
    Evaluates,
    /// A quoting or brace form that is rare and easily misread.
    Form,
    /// A function is defined: a name does not mean any more what it did.
    Function,
    /// A construct that is known and not followed: `select`, `coproc`, `((…))`, arrays.
    Construct,
}

impl Word {
    /// Returns the text of a word that is entirely literal; `None` for any other.
    pub fn literal(&self) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(more, _) => text.push_str(more),
                _ => return None,
            }
        }
        Some(text)
    }

    /// The commands in its expansions.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.parts.iter().flat_map(Part::scripts)
    }
}

impl Part {
    /// The commands in an expansion.
    pub fn scripts(&self) -> &[Script] {
        match self {
            Self::Command(script, _) | Self::Process(script) => std::slice::from_ref(script),
            Self::Opaque(scripts, _) => scripts,
            _ => &[],
        }
    }
}

impl Parsed {
    /// Returns every simple command, at any depth.
    pub fn simples(&self) -> Vec<&Simple> {
        let mut found = Vec::new();
        self.script.collect(&mut found);
        for document in &self.documents {
            for script in document.parts.iter().flat_map(Part::scripts) {
                script.collect(&mut found);
            }
        }
        found
    }

    /// Returns every redirection, at any depth.
    pub fn redirects(&self) -> Vec<&Redirect> {
        let mut found: Vec<&Redirect> =
            self.simples().into_iter().flat_map(|simple| &simple.redirects).collect();
        self.script.each(&mut |command| {
            if let Command::Compound { redirects, .. } = command {
                found.extend(redirects);
            }
        });
        found
    }
}

impl Script {
    /// Every command of it, outer ones before inner ones; those in expansions of words too.
    pub fn each<'a>(&'a self, take: &mut impl FnMut(&'a Command)) {
        for (_, pipeline) in self.lists.iter().flat_map(|list| &list.pipelines) {
            for stage in &pipeline.stages {
                stage.each(take);
            }
        }
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Simple>) {
        self.each(&mut |command| {
            if let Command::Simple(simple) = command {
                found.push(simple);
            }
        });
    }
}

impl Command {
    /// As [`Script::each`].
    pub fn each<'a>(&'a self, take: &mut impl FnMut(&'a Self)) {
        take(self);
        let mut words: Vec<&'a Word> = Vec::new();
        match self {
            Self::Simple(simple) => {
                words.extend(simple.assignments.iter().map(|assignment| &assignment.value));
                words.extend(&simple.words);
                words.extend(simple.redirects.iter().map(|redirect| &redirect.target));
            }
            Self::Compound { what, redirects } => {
                words.extend(redirects.iter().map(|redirect| &redirect.target));
                words.extend(what.words());
                for script in what.scripts() {
                    each_boxed(script, take);
                }
            }
            Self::Function { body, .. } => each_command_boxed(body, take),
        }
        for script in words.into_iter().flat_map(Word::scripts) {
            each_boxed(script, take);
        }
    }
}

/// Recursion through a trait object: the closure's type must not grow with the depth.
fn each_boxed<'a>(script: &'a Script, take: &mut impl FnMut(&'a Command)) {
    let take: &mut dyn FnMut(&'a Command) = take;
    each_dyn(script, take);
}

fn each_command_boxed<'a>(command: &'a Command, take: &mut impl FnMut(&'a Command)) {
    let take: &mut dyn FnMut(&'a Command) = take;
    let mut take = take;
    command.each(&mut take);
}

fn each_dyn<'a>(script: &'a Script, mut take: &mut dyn FnMut(&'a Command)) {
    script.each(&mut take);
}

impl Compound {
    /// Its words.
    pub fn words(&self) -> Vec<&Word> {
        match self {
            Self::For { words, .. } | Self::Test(words) => words.iter().collect(),
            Self::Case { word, arms } => {
                std::iter::once(word).chain(arms.iter().flat_map(|(patterns, _)| patterns)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its inner scripts, in order.
    pub fn scripts(&self) -> Vec<&Script> {
        match self {
            Self::Subshell(script) | Self::Group(script) => vec![script],
            Self::If(scripts) | Self::Arithmetic(scripts) => scripts.iter().collect(),
            Self::While { condition, body } => vec![condition, body],
            Self::For { body, .. } => vec![body],
            Self::Case { arms, .. } => arms.iter().map(|(_, script)| script).collect(),
            Self::Test(_) => Vec::new(),
        }
    }
}
