//! Git commands that change nothing but the folder and its repository, and lose nothing the time machine does not
//! keep.
//!
//! They run with hooks and signing switched off ([`crate::unattended`]), which is not what the person
//! would get: where the repository has any, the look at the folder makes them ask.

use super::{Hooks, Touch};
use crate::{
    grammar::OptionGrammar,
    plain::{Form, Word},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// The subcommands, with their options in the notation of [`crate::grammar`].
#[rustfmt::skip]
pub(super) const ROWS: &[(&str, &str)] = &[
    ("add", "-AuvnN --all --update --verbose --dry-run --intent-to-add --no-all !-f !--force !-p !--patch !-i !--interactive !-e !--edit !--pathspec-from-file=FILE !--chmod=MODE"),
    ("branch", "-qv --quiet --verbose --no-track"),
    ("checkout", "-q -b=NAME --quiet --no-track"),
    ("commit", "-aqsv -m=TEXT --all --quiet --signoff --verbose --message=TEXT --allow-empty --no-status !-F=FILE !--file=FILE !-t=FILE !--template=FILE !--amend !-S[KEY] !--gpg-sign[=KEY] !-p !-i !-o !-e !--edit"),
    ("init", "-q -b=NAME --quiet --initial-branch=NAME !--template=DIR !--separate-git-dir=DIR !--bare !--shared[=MODE]"),
    ("mv", "-fkvn --force --verbose --dry-run"),
    ("restore", "-qS --quiet --staged !-s=TREE !--source=TREE !-p !--patch !--pathspec-from-file=FILE"),
    ("reset", "-q --quiet --mixed !--hard !--merge !--keep !--soft !-p !--patch"),
    ("stash", "-qu -m=TEXT --quiet --include-untracked --message=TEXT --index --keep-index !-a !--all !-p !--patch"),
    ("switch", "-q -c=NAME --quiet --create=NAME --no-track !-f !--force !--discard-changes !-C=NAME !-m !--merge"),
    ("tag", "-a -m=TEXT --annotate --message=TEXT !-d !--delete !-f !--force !-s !-u=KEY !-F=FILE !--file=FILE"),
];

static COMMANDS: LazyLock<BTreeMap<&'static str, OptionGrammar>> =
    LazyLock::new(|| ROWS.iter().map(|(name, spec)| (*name, OptionGrammar::new(spec))).collect());

/// To git, all paths of a repository.
const ALL: &str = ":/";

/// What this `git` does; none when it may do more than change the folder and its repository.
pub(super) fn touches(arguments: &[Word]) -> Option<Vec<Touch>> {
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "--no-pager" => rest,
        all => all,
    };
    let (verb, rest) = arguments.split_first()?;
    let grammar = COMMANDS.get(verb.text.as_str()).filter(|_| verb.form == Form::Literal)?;
    let options = grammar.read(&rest.iter().collect::<Vec<_>>())?;
    let operands: Vec<&str> = options.operands.iter().map(|word| word.text.as_str()).collect();
    let literal =
        options.operands.iter().all(|word| word.form == Form::Literal) && options.patterns.is_empty();
    if !literal && verb.text != "add" {
        return None;
    }
    let given = |names: &[&str]| options.has(names);
    let repository = |hooks| vec![Touch::Repository(".".to_owned(), hooks)];
    let tree = || vec![Touch::Repository(".".to_owned(), Hooks::Run), Touch::Tree(".".to_owned())];
    let switch = |target: &str| {
        let query = ["diff", "--name-only", "-z", "--no-renames", "HEAD", target, "--"];
        let mut touched = vec![Touch::Rewrite(".".to_owned(), query.map(str::to_owned).to_vec())];
        touched.extend(tree());
        touched.push(Touch::Switch);
        touched
    };
    let unstaged = || {
        let mut touched = repository(Hooks::None);
        touched.push(recorded(&["diff", "--cached", "--name-only", "-z", "--no-renames"]));
        touched
    };
    let files = |mut touched: Vec<Touch>| {
        // Before anything is put there.
        touched.splice(0..0, operands.iter().map(|path| Touch::Write((*path).to_owned())));
        touched
    };
    let ended = rest.iter().any(|word| word.text == "--");
    // Changes that are reverted whole may include work that neither a commit nor a turn recorded.
    let whole = || operands.iter().any(|path| path.chars().all(|c| matches!(c, '.' | '/' | '*' | ':')));
    let found = match verb.text.as_str() {
        // What it adds, a later `git diff --cached` prints. Git refuses a path outside the repository.
        "add" => {
            let mut touched = repository(Hooks::None);
            touched.extend(operands.iter().map(|path| Touch::Read((*path).to_owned())));
            let mut query = vec!["ls-files", "-z", "--full-name", "-m"];
            if !given(&["u", "update"]) {
                query.extend(["-o", "--exclude-standard"]);
            }
            query.push("--");
            // Without a path it takes all of the repository, wherever it runs.
            if operands.is_empty() {
                query.push(ALL);
            }
            query.extend(&operands);
            touched.push(recorded(&query));
            touched
        }
        // Without a message an editor would open.
        "commit" if given(&["m", "message"]) && plain(&operands) => {
            let mut touched = repository(Hooks::Run);
            touched.push(recorded(&["diff", "--cached", "--name-only", "-z", "--no-renames"]));
            if given(&["a", "all"]) {
                touched.push(recorded(&["ls-files", "-z", "--full-name", "-m", "--", ALL]));
            }
            if !operands.is_empty() {
                touched.extend(operands.iter().map(|path| Touch::Read((*path).to_owned())));
                let mut query = vec!["ls-files", "-z", "--full-name", "-m", "--"];
                query.extend(&operands);
                touched.push(recorded(&query));
            }
            touched
        }
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
        "checkout" if given(&["b"]) && operands.len() == 1 && plain(&operands) => switch(operands.first()?),
        "switch" if operands.len() == 1 && plain(&operands) => switch(operands.first()?),
        // It may be a file's name too.
        "checkout" if operands.len() == 1 && plain(&operands) && !ended && !whole() => {
            files(switch(operands.first()?))
        }
        "checkout" if ended && !operands.is_empty() && !whole() => files(tree()),
        "restore" if given(&["S", "staged"]) && !operands.is_empty() => unstaged(),
        "restore" if !operands.is_empty() && !whole() => files(tree()),
        // Only the index; a branch stays where it is.
        "reset" if matches!(operands.as_slice(), [] | ["HEAD", ..]) => unstaged(),
        "stash" => match operands.as_slice() {
            [] | ["push" | "save"] => {
                let mut query = vec!["ls-files", "-z", "--full-name", "-m"];
                if given(&["u", "include-untracked"]) {
                    query.extend(["-o", "--exclude-standard"]);
                }
                query.extend(["--", ALL]);
                let mut touched = vec![recorded(&query)];
                touched.extend(tree());
                touched
            }
            ["pop" | "apply", stash @ ..]
                if stash.iter().all(|name| name.starts_with("stash@{")) && stash.len() < 2 =>
            {
                let mut query = vec!["stash", "show", "--name-only", "-z", "--include-untracked"];
                query.extend(stash);
                let words = query.iter().map(|word| (*word).to_owned()).collect();
                let mut touched = vec![recorded(&query), Touch::Rewrite(".".to_owned(), words)];
                touched.extend(tree());
                touched
            }
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

/// The files that a query names, taken into the repository.
fn recorded(query: &[&str]) -> Touch {
    Touch::Record(".".to_owned(), query.iter().map(|word| (*word).to_owned()).collect())
}

/// Whether operands are names: of branches, commits, paths.
fn plain(operands: &[&str]) -> bool {
    operands.iter().all(|name| !name.is_empty() && !name.starts_with(['-', '+', ':']))
}
