//! Git commands that change nothing but the folder and its repository, and lose nothing the time machine does not
//! keep.
//!
//! They run with hooks and signing switched off ([`crate::unattended`]), which is not what the person
//! would get: where the repository has any, the look at the folder makes them ask.

use super::{Hooks, Touch, row};
use crate::{
    options::Options,
    plain::{Form, Word},
    table::Tool,
};

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    row("add", "AuvnfN", "", &["all", "update", "verbose", "dry-run", "intent-to-add", "no-all"]),
    row("branch", "qv", "", &["quiet", "verbose", "no-track"]),
    row("checkout", "q", "b", &["quiet", "no-track"]),
    row("commit", "aqsv", "m", &["all", "quiet", "signoff", "verbose", "message=", "allow-empty", "no-status"]),
    row("init", "q", "b", &["quiet", "initial-branch="]),
    row("mv", "fkvn", "", &["force", "verbose", "dry-run"]),
    row("restore", "qS", "", &["quiet", "staged"]),
    row("reset", "q", "", &["quiet", "mixed"]),
    row("stash", "qu", "m", &["quiet", "include-untracked", "message=", "index", "keep-index"]),
    row("switch", "q", "c", &["quiet", "create=", "no-track"]),
    row("tag", "a", "m", &["annotate", "message="]),
];

/// What this `git` does; none when it may do more than change the folder and its repository.
pub(super) fn touches(arguments: &[Word]) -> Option<Vec<Touch>> {
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "--no-pager" => rest,
        all => all,
    };
    let (verb, rest) = arguments.split_first()?;
    let tool = TOOLS.iter().find(|tool| tool.name == verb.text && verb.form == Form::Literal)?;
    let words: Vec<&Word> = rest.iter().collect();
    let options = Options::read(tool, &words)?;
    let operands: Vec<&str> = options.operands.iter().map(|word| word.text.as_str()).collect();
    let literal =
        options.operands.iter().all(|word| word.form == Form::Literal) && options.patterns.is_empty();
    if !literal && verb.text != "add" {
        return None;
    }
    let given = |names: &[&str]| options.has(names);
    let repository = |hooks| vec![Touch::Repository(".".to_owned(), hooks)];
    // The working tree gets other files, links among them.
    let tree = || {
        vec![
            Touch::Repository(".".to_owned(), Hooks::Run),
            Touch::Write(".".to_owned()),
            Touch::Place(".".to_owned()),
        ]
    };
    let files = |mut touched: Vec<Touch>| {
        // Before anything is put there.
        touched.splice(0..0, operands.iter().map(|path| Touch::Write((*path).to_owned())));
        touched
    };
    let found = match verb.text.as_str() {
        // It adds files the agent may read; git refuses a path outside the repository.
        "add" if given(&["f"]) => return None,
        "add" => {
            let mut touched = repository(Hooks::None);
            touched.extend(
                operands.iter().filter(|path| **path != ".").map(|path| Touch::Read((*path).to_owned())),
            );
            touched
        }
        // Without a message an editor would open.
        "commit" if operands.is_empty() && given(&["m", "message"]) => repository(Hooks::Run),
        "branch" if (1..=2).contains(&operands.len()) && plain(&operands) => repository(Hooks::None),
        "tag"
            if (1..=2).contains(&operands.len())
                && plain(&operands)
                && given(&["a", "annotate"]) == given(&["m", "message"]) =>
        {
            repository(Hooks::Run)
        }
        // A new branch here changes no file.
        "checkout" if given(&["b"]) && operands.is_empty() => repository(Hooks::Run),
        "switch" if given(&["c", "create"]) && operands.is_empty() => repository(Hooks::Run),
        "checkout" if given(&["b"]) && operands.len() == 1 && plain(&operands) => tree(),
        "switch" if operands.len() == 1 && plain(&operands) => tree(),
        "checkout" if operands.len() == 1 && plain(&operands) => tree(),
        "checkout" if rest.iter().any(|word| word.text == "--") && !operands.is_empty() => files(tree()),
        "restore" if given(&["S", "staged"]) && !operands.is_empty() => repository(Hooks::None),
        "restore" if !operands.is_empty() => files(tree()),
        // Only the index; a branch stays where it is.
        "reset" if matches!(operands.as_slice(), [] | ["HEAD", ..]) => repository(Hooks::None),
        "stash" => match operands.as_slice() {
            [] | ["push" | "save" | "pop" | "apply"] => tree(),
            ["pop" | "apply", one] if one.starts_with("stash@{") => tree(),
            _ => return None,
        },
        "mv" if operands.len() == 2 => {
            let mut touched = files(tree());
            touched.splice(0..0, operands.iter().map(|path| Touch::Remove((*path).to_owned())));
            touched
        }
        // A repository of one's own in an empty folder: nothing is read from it that was not put there here.
        "init" if operands.is_empty() => vec![Touch::Write(".".to_owned())],
        _ => return None,
    };
    Some(found)
}

/// Whether operands are names: of branches, commits, paths.
fn plain(operands: &[&str]) -> bool {
    operands.iter().all(|name| !name.is_empty() && !name.starts_with(['-', '+', ':']))
}
