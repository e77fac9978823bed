//! Judges `find`, whose arguments are starting points, then tests and actions.

use crate::{
    options::Reads,
    plain::{Form, Word},
};

/// Tests and actions without an argument.
#[rustfmt::skip]
const ALONE: &[&str] = &[
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

/// Returns the paths that this `find` would read; `None` if it may do more than read. It may with an option
/// that runs, deletes or writes (`-exec…`, `-ok…`, `-delete`, `-fprint…`, `-fls`), and with `-L` and `-follow`,
/// which leave the folder.
pub(crate) fn reads(arguments: &[Word]) -> Option<Reads> {
    let mut reads = Reads::new();
    let mut words = arguments.iter().peekable();
    if arguments.iter().any(|word| word.form == Form::Split) {
        return None;
    }
    while let Some(word) = words.next_if(|word| !begins_expression(&word.text)) {
        reads.push(word.text.clone());
    }
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        // The parentheses are quoted or escaped here, and `!` is quoted.
        if matches!(text, "(" | ")" | "!") || ALONE.contains(&text) {
            continue;
        }
        let takes_file = WITH_FILE.contains(&text);
        if !takes_file && !WITH_TEXT.contains(&text) {
            // A pattern among an argument's words: bash may have expanded it to several words. Where a command
            // runs unasked, none of them can begin with a dash, so they are misplaced starting points.
            if word.form == Form::Pattern && !begins_expression(text) {
                reads.push(text.to_owned());
                continue;
            }
            return None;
        }
        let value = words.next().filter(|value| value.form != Form::Split)?;
        if takes_file || value.form == Form::Pattern {
            reads.push(value.text.clone());
        }
    }
    Some(reads)
}

fn begins_expression(text: &str) -> bool {
    text.starts_with(['-', '(', ')', '!', ','])
}
