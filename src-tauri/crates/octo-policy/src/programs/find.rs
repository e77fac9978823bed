//! `find`, whose arguments are starting points, then tests and actions.

use crate::{
    found::{FoundFiles, FoundSource, Splitting, found_word},
    grammar::Reads,
    plain::{Form, Word},
};

/// Tests and actions without an argument.
#[rustfmt::skip]
const WITHOUT_ARGUMENT: &[&str] = &[
    "-a", "-and", "-daystart", "-depth", "-empty", "-executable", "-false", "-ls", "-mount", "-nogroup",
    "-noleaf", "-not", "-nouser", "-o", "-or", "-print", "-print0", "-prune", "-quit", "-readable", "-true", "-writable",
    "-xdev",
];
/// Tests with an argument that is no path.
#[rustfmt::skip]
const WITH_TEXT: &[&str] = &[
    "-amin", "-atime", "-cmin", "-ctime", "-gid", "-group", "-ilname", "-iname", "-inum", "-ipath", "-iregex",
    "-iwholename", "-links", "-lname", "-maxdepth", "-mindepth", "-mmin", "-mtime", "-name", "-newermt", "-path",
    "-perm", "-printf", "-regex", "-regextype", "-size", "-type", "-uid", "-user", "-wholename", "-xtype",
];
/// Tests with an argument that is a path.
const WITH_FILE: &[&str] = &["-anewer", "-cnewer", "-newer", "-samefile"];

/// A `find` whose words are known.
#[derive(Debug, Default)]
pub(crate) struct FindCommand {
    /// Starting points, files that tests compare with, and patterns.
    pub reads: Reads,
    /// The commands it starts; a word of [`Form::Found`] represents a found file.
    pub started: Vec<Vec<Word>>,
    /// Starting points.
    starts: Vec<String>,
    /// The patterns of `-name`. Every found file matches them, unless the expression has alternatives.
    names: Vec<String>,
    has_alternatives: bool,
}

/// Returns the paths that a `find` which starts nothing would read.
pub(crate) fn reads(arguments: &[Word]) -> Option<Reads> {
    FindCommand::read(arguments).filter(|find| find.started.is_empty()).map(|find| find.reads)
}

impl FindCommand {
    /// Parses the words of a `find` that only searches and starts commands; `None` if it may delete or write
    /// (`-delete`, `-fprint…`, `-fls`), prompts (`-ok…`), or leaves the folder (`-L`, `-follow`).
    pub(crate) fn read(arguments: &[Word]) -> Option<Self> {
        let mut find = Self::default();
        let mut words = arguments.iter().peekable();
        if arguments
            .iter()
            .any(|word| matches!(word.form, Form::Split | Form::Number | Form::Pipe | Form::Found))
        {
            return None;
        }
        while let Some(word) = words.next_if(|word| !begins_expression(&word.text)) {
            find.reads.push(word.text.clone());
            find.starts.push(word.text.clone());
        }
        let mut has_action = false;
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            has_action |= ["-exec", "-print", "-ls"].iter().any(|action| text.starts_with(action));
            if matches!(text, "-exec" | "-execdir") {
                let command = exec_command(words.by_ref(), text == "-execdir")?;
                find.started.push(command);
                continue;
            }
            find.has_alternatives |= matches!(text, "-o" | "-or" | "!" | "-not" | "(" | ",");
            // In the line these signs are quoted or escaped.
            if matches!(text, "(" | ")" | "!") || WITHOUT_ARGUMENT.contains(&text) {
                continue;
            }
            let takes_file = WITH_FILE.contains(&text);
            if !takes_file && !WITH_TEXT.contains(&text) {
                // Bash may expand a pattern to several words. In a line that runs unasked no name begins with a
                // dash, so these words are misplaced starting points.
                if word.form == Form::Pattern && !begins_expression(text) {
                    find.reads.push(text.to_owned());
                    find.starts.push(text.to_owned());
                    continue;
                }
                return None;
            }
            let value = words.next().filter(|value| value.form != Form::Split)?;
            if takes_file || value.form == Form::Pattern {
                find.reads.push(value.text.clone());
            }
            // A test after an action does not limit the files of the action.
            if text == "-name" && value.form == Form::Literal && !has_action {
                find.names.push(value.text.clone());
            }
        }
        if find.starts.is_empty() {
            find.starts.push(".".to_owned());
        }
        Some(find)
    }

    /// Returns the starting points.
    pub(crate) fn starts(&self) -> &[String] {
        &self.starts
    }

    /// Returns the files it could find.
    pub(crate) fn found(&self, splitting: Splitting) -> FoundFiles {
        // An escape or a bracket is not interpreted here.
        let plain = |pattern: &&String| pattern.chars().all(|c| c.is_alphanumeric() || "._-*?".contains(c));
        let names = if self.has_alternatives { None } else { self.names.first().filter(plain) };
        let source = FoundSource::Tree(names.cloned().into_iter().collect());
        FoundFiles { roots: self.starts.clone(), source, splitting }
    }
}

/// Returns the words of `-exec` up to its `;` or `+`; `None` if the command is not known. A found file must be a whole
/// word, because only some versions replace `{}` within a word, and it must not be the first word.
fn exec_command<'a>(words: impl Iterator<Item = &'a Word>, in_folder: bool) -> Option<Vec<Word>> {
    let mut command: Vec<Word> = Vec::new();
    for word in words {
        match word.text.as_str() {
            ";" => return (!command.is_empty() && !in_folder).then_some(command),
            "+" if command.last().is_some_and(|last| last.form == Form::Found) => {
                return (!in_folder).then_some(command);
            }
            "{}" if !command.is_empty() => command.push(found_word(word)),
            text if text.contains("{}") || word.form != Form::Literal => return None,
            _ => command.push(word.clone()),
        }
    }
    None
}

fn begins_expression(text: &str) -> bool {
    text.starts_with(['-', '(', ')', '!', ','])
}
