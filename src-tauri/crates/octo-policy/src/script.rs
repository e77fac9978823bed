//! The content of a command line as plain data: the result of [`crate::bash`].
//!
//! Nothing here is a judgement. [`Parsed::doubts`] lists the constructs whose meaning the parser does not vouch for:
//! a line with a doubt is still scanned for commands that must never run, and always asks.

use std::ops::Range;

/// A parsed line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parsed {
    /// The commands of the line.
    pub script: Script,
    /// The here-documents, in the order in which they begin; [`RedirectKind::Document`] is an index into them.
    pub documents: Vec<Document>,
    /// The constructs that make the line uncertain.
    pub doubts: Vec<Doubt>,
}

/// A sequence of commands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// The lists, in order.
    pub lists: Vec<List>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// The pipelines, each with how it is joined to the one before; [`Join::Sequence`] for the first.
    pub pipelines: Vec<(Join, Pipeline)>,
    /// Whether the shell waits for the list.
    pub execution: Execution,
}

/// Whether the shell waits for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    /// The shell waits.
    Foreground,
    /// The list ends with `&`, and the shell does not wait.
    Background,
}

/// How a pipeline is joined to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// It runs in any case.
    Sequence,
    /// It runs if the one before succeeded.
    And,
    /// It runs if the one before failed.
    Or,
}

/// Commands joined by `|`, each reading the output of the one before.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    /// The commands, in order; never empty.
    pub stages: Vec<Command>,
    /// Whether `!` inverts the exit status.
    pub negation: Negation,
}

/// Whether `!` inverts an exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negation {
    /// The status is inverted.
    Yes,
    /// The status is kept.
    No,
}

/// One command.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// A simple command.
    Simple(Simple),
    /// A compound command.
    Compound {
        /// The command without its redirections.
        compound: Compound,
        /// The redirections of the whole command.
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
        /// The words that the variable takes its values from.
        words: Vec<Word>,
        /// The body.
        body: Script,
    },
    /// `case`.
    Case {
        /// The examined word.
        word: Word,
        /// The patterns of each arm, and its commands.
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
    /// The assignments before the command's name.
    pub assignments: Vec<Assignment>,
    /// The name and the arguments.
    pub words: Vec<Word>,
    /// Redirections.
    pub redirects: Vec<Redirect>,
    /// The byte range of the command in the line, including its redirections.
    pub span: Range<usize>,
}

/// An assignment.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
    /// Whether the assignment is plain.
    pub form: AssignmentForm,
}

/// The form of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignmentForm {
    /// `NAME=value`, which replaces the value.
    Plain,
    /// `+=`, an array, or a name with a subscript.
    Other,
}

/// A word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// The byte range of the word in the line, including its quotes.
    pub span: Range<usize>,
}

/// A part of a word.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Literal text.
    Text(String, Quoting),
    /// `*`, `?` or `[`, unquoted.
    Pattern(char),
    /// `~` or `~name` where bash replaces it with a home; the text is the name, empty for the person's own home.
    Home(String),
    /// `$name`, `${name}`.
    Variable(String, Quoting),
    /// `$(…)`, backticks.
    Command(Script, Quoting),
    /// `<(…)`.
    Process(Script),
    /// `{a,b}`, `{1..3}` with only text inside; the words it expands to.
    Braces(Vec<String>),
    /// An unknown number: `$?`, `$((1+2))`, `${#x}`.
    Number,
    /// `${name%…}`, `${name:-…}` with only text after the name.
    Derived(String, Quoting),
    /// An expansion that the policy does not follow, with the commands inside it.
    Opaque(Vec<Script>, Quoting),
}

/// Whether a part is in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// In quotes: the part stays in one word, whatever its value.
    Quoted,
    /// Not in quotes: bash may split the value into words and match it against file names.
    Unquoted,
}

/// A redirection.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// The effect.
    pub kind: RedirectKind,
    /// The target; the delimiter of a here-document, the text of a here-string.
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
    /// `<<`, `<<-`; the index of the document in [`Parsed::documents`].
    Document(usize),
    /// `<<<`
    Text,
}

/// A here-document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    /// The text, as written.
    pub text: String,
    /// The parts of the text if the delimiter is not quoted, because bash then expands the text; empty otherwise.
    pub parts: Vec<Part>,
}

/// A reason why the meaning of a line is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// Characters that look like other characters, or like nothing.
    MisleadingCharacters,
    /// A backslash at the end of a line, inside a word.
    SplitWord,
    /// Commands inside an expansion or a here-document, where the second parser does not see them.
    HiddenCommand,
    /// An expansion that may evaluate a value or set one: `${x@P}`, `${!x}`, `${x:=…}`, subscripts, arithmetic on
    /// names.
    Evaluation,
    /// A rare form of quoting or of braces that is easily misread.
    RareForm,
    /// The definition of a function, which changes the meaning of a name.
    Function,
    /// A construct that the parser knows and the policy does not follow: `select`, `coproc`, `((…))`, arrays.
    UnfollowedConstruct,
}

impl Word {
    /// Returns the text of an entirely literal word, or `None` for any other word.
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

    /// Returns the commands inside the word's expansions.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.parts.iter().flat_map(Part::scripts)
    }
}

impl Part {
    /// Returns the commands inside the expansion.
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
    pub fn simple_commands(&self) -> Vec<&Simple> {
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
            self.simple_commands().into_iter().flat_map(|simple| &simple.redirects).collect();
        self.script.visit_commands(&mut |command| {
            if let Command::Compound { redirects, .. } = command {
                found.extend(redirects);
            }
        });
        found
    }
}

impl Script {
    /// Calls `visit` with every command, outer commands before inner ones, including those inside expansions.
    pub fn visit_commands<'a>(&'a self, visit: &mut impl FnMut(&'a Command)) {
        for (_, pipeline) in self.lists.iter().flat_map(|list| &list.pipelines) {
            for stage in &pipeline.stages {
                stage.visit_commands(visit);
            }
        }
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Simple>) {
        self.visit_commands(&mut |command| {
            if let Command::Simple(simple) = command {
                found.push(simple);
            }
        });
    }
}

impl Command {
    /// Calls `visit` with the command and every command inside it, as [`Script::visit_commands`] does.
    pub fn visit_commands<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        let mut words: Vec<&'a Word> = Vec::new();
        match self {
            Self::Simple(simple) => {
                words.extend(simple.assignments.iter().map(|assignment| &assignment.value));
                words.extend(&simple.words);
                words.extend(simple.redirects.iter().map(|redirect| &redirect.target));
            }
            Self::Compound { compound, redirects } => {
                words.extend(redirects.iter().map(|redirect| &redirect.target));
                words.extend(compound.words());
                for script in compound.scripts() {
                    visit_script(script, visit);
                }
            }
            Self::Function { body, .. } => visit_command(body, visit),
        }
        for script in words.into_iter().flat_map(Word::scripts) {
            visit_script(script, visit);
        }
    }
}

/// Recurses through a trait object, because the closure's type must not grow with the depth.
fn visit_script<'a>(script: &'a Script, visit: &mut impl FnMut(&'a Command)) {
    let visit: &mut dyn FnMut(&'a Command) = visit;
    visit_script_dyn(script, visit);
}

fn visit_command<'a>(command: &'a Command, visit: &mut impl FnMut(&'a Command)) {
    let visit: &mut dyn FnMut(&'a Command) = visit;
    let mut visit = visit;
    command.visit_commands(&mut visit);
}

fn visit_script_dyn<'a>(script: &'a Script, mut visit: &mut dyn FnMut(&'a Command)) {
    script.visit_commands(&mut visit);
}

impl Compound {
    /// Returns the words of the command itself, without those of its inner scripts.
    pub fn words(&self) -> Vec<&Word> {
        match self {
            Self::For { words, .. } | Self::Test(words) => words.iter().collect(),
            Self::Case { word, arms } => {
                std::iter::once(word).chain(arms.iter().flat_map(|(patterns, _)| patterns)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the inner scripts, in order.
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
