//! Git commands that change only the folder and its repository, and lose nothing that the time machine cannot restore.
//!
//! They run with hooks and signing switched off ([`crate::unattended`]), unlike the person's own. If the repository has
//! hooks or signs, the inspection of the folder makes the command ask.

use super::{Hooks, Touch, below};
use crate::{
    grammar::OptionGrammar,
    plain::{Form, Word},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// The subcommands, with their options in the notation of [`crate::grammar`].
#[rustfmt::skip]
pub(crate) const ROWS: &[(&str, &str)] = &[
    ("add", "-AuvnN --all --update --verbose --dry-run --intent-to-add --no-all !-f !--force !-p !--patch !-i !--interactive !-e !--edit !--pathspec-from-file=FILE !--chmod=MODE"),
    ("branch", "-qv --quiet --verbose --no-track"),
    ("checkout", "-q -b=NAME --quiet --no-track"),
    ("commit", "-aqs !-v !--verbose -m=TEXT --all --quiet --signoff --message=TEXT --allow-empty --no-status !-F=FILE !--file=FILE !-t=FILE !--template=FILE !--amend !-S[KEY] !--gpg-sign[=KEY] !-p !-i !-o !-e !--edit"),
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

/// The pathspec of a whole repository.
const ALL: &str = ":/";

/// Returns the effects of a git command; `None` if it may do more than change the folder and its repository.
pub(super) fn touches(arguments: &[Word]) -> Option<Vec<Touch>> {
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "--no-pager" => rest,
        all => all,
    };
    let (verb, rest) = arguments.split_first()?;
    let grammar = COMMANDS.get(verb.text.as_str()).filter(|_| verb.form == Form::Literal)?;
    let options = grammar.read(&rest.iter().collect::<Vec<_>>())?;
    let operands: Vec<&str> = options.operands.iter().map(|word| word.text.as_str()).collect();
    let is_literal =
        options.operands.iter().all(|word| word.form == Form::Literal) && options.patterns.is_empty();
    if !is_literal && verb.text != "add" {
        return None;
    }
    let has = |names: &[&str]| options.has(names);
    let repository = |hooks| vec![Touch::Repository(".".to_owned(), hooks)];
    let working_tree = || vec![Touch::Repository(".".to_owned(), Hooks::Run), Touch::Tree(".".to_owned())];
    let switch_to = |target: &str| {
        let query = ["diff", "--name-only", "-z", "--no-renames", "HEAD", target, "--"];
        let mut touched = vec![Touch::Rewrite(".".to_owned(), query.map(str::to_owned).to_vec())];
        touched.extend(working_tree());
        touched.push(Touch::Switch);
        touched
    };
    let unstaged = || {
        let mut touched = repository(Hooks::None);
        touched.push(recorded(&["diff", "--cached", "--name-only", "-z", "--no-renames"]));
        touched
    };
    let with_writes = |mut touched: Vec<Touch>| {
        // The writes come before the replacements.
        touched.splice(0..0, operands.iter().map(|path| Touch::Write((*path).to_owned())));
        touched
    };
    let has_separator = rest.iter().any(|word| word.text == "--");
    // A revert of the whole folder may lose work that neither a commit nor a turn recorded.
    let reverts_all = || operands.iter().any(|path| path.chars().all(|c| matches!(c, '.' | '/' | '*' | ':')));
    let touched = match verb.text.as_str() {
        // A later `git diff --cached` prints the added files. Git refuses a path outside the repository.
        "add" => {
            let mut touched = repository(Hooks::None);
            touched.extend(operands.iter().map(|path| Touch::Read((*path).to_owned())));
            let mut query = vec!["ls-files", "-z", "--full-name", "-m"];
            if !has(&["u", "update"]) {
                query.extend(["-o", "--exclude-standard"]);
            }
            query.push("--");
            // Without a path it adds the whole repository, wherever it runs.
            if operands.is_empty() {
                query.push(ALL);
            }
            query.extend(&operands);
            touched.push(recorded(&query));
            touched
        }
        // Without a message an editor would open.
        "commit" if has(&["m", "message"]) && are_names(&operands) => {
            let mut touched = repository(Hooks::Run);
            touched.push(recorded(&["diff", "--cached", "--name-only", "-z", "--no-renames"]));
            if has(&["a", "all"]) {
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
        "branch" if (1..=2).contains(&operands.len()) && are_names(&operands) => repository(Hooks::None),
        "tag"
            if (1..=2).contains(&operands.len())
                && are_names(&operands)
                && has(&["a", "annotate"]) == has(&["m", "message"]) =>
        {
            let mut touched = repository(Hooks::Run);
            // A tag of any other object would give a name to a file's content.
            touched.extend(operands.get(1).map(|word| Touch::Commit(".".to_owned(), (*word).to_owned())));
            touched
        }
        // A new branch here changes no file.
        "checkout" if has(&["b"]) && operands.is_empty() => repository(Hooks::Run),
        "switch" if has(&["c", "create"]) && operands.is_empty() => repository(Hooks::Run),
        "checkout" if has(&["b"]) && operands.len() == 1 && are_names(&operands) => {
            switch_to(operands.first()?)
        }
        "switch" if operands.len() == 1 && are_names(&operands) => switch_to(operands.first()?),
        // The operand may also be the name of a file.
        "checkout" if operands.len() == 1 && are_names(&operands) && !has_separator && !reverts_all() => {
            with_writes(switch_to(operands.first()?))
        }
        "checkout" if has_separator && !operands.is_empty() && !reverts_all() => with_writes(working_tree()),
        "restore" if has(&["S", "staged"]) && !operands.is_empty() => unstaged(),
        "restore" if !operands.is_empty() && !reverts_all() => with_writes(working_tree()),
        // These change only the index and move no branch.
        "reset" if matches!(operands.as_slice(), [] | ["HEAD", ..]) => unstaged(),
        "stash" => match operands.as_slice() {
            [] | ["push" | "save"] => {
                let mut query = vec!["ls-files", "-z", "--full-name", "-m"];
                if has(&["u", "include-untracked"]) {
                    query.extend(["-o", "--exclude-standard"]);
                }
                query.extend(["--", ALL]);
                let mut touched = vec![recorded(&query)];
                touched.extend(working_tree());
                touched
            }
            ["pop" | "apply", stash @ ..]
                if stash.iter().all(|name| name.starts_with("stash@{")) && stash.len() < 2 =>
            {
                let mut query =
                    vec!["stash", "show", "--name-only", "-z", "--no-renames", "--include-untracked"];
                query.extend(stash);
                let words = query.iter().map(|word| (*word).to_owned()).collect();
                let mut touched = vec![recorded(&query), Touch::Rewrite(".".to_owned(), words)];
                touched.extend(working_tree());
                touched
            }
            _ => return None,
        },
        "mv" if operands.len() == 2 => {
            let (from, to) = (operands.first()?, operands.get(1)?);
            let inner = below(to, from);
            let mut touched: Vec<Touch> = vec![
                Touch::Place((*from).to_owned(), (*to).to_owned()),
                Touch::Write(inner.clone()),
                Touch::Write((*to).to_owned()),
                Touch::Write((*from).to_owned()),
                Touch::Remove((*from).to_owned()),
                Touch::Remove((*to).to_owned()),
            ];
            // The replacements come after the writes.
            touched.extend([Touch::Replace((*to).to_owned()), Touch::Replace(inner)]);
            touched.extend(working_tree());
            touched
        }
        // A new repository contains only files that the line itself puts there.
        "init" if operands.is_empty() => vec![Touch::Write(".".to_owned())],
        _ => return None,
    };
    Some(touched)
}

/// Returns the touch of adding the files that a query lists to the repository.
fn recorded(query: &[&str]) -> Touch {
    Touch::Record(".".to_owned(), query.iter().map(|word| (*word).to_owned()).collect())
}

/// Returns whether operands are names of branches, commits or paths.
fn are_names(operands: &[&str]) -> bool {
    operands.iter().all(|name| !name.is_empty() && !name.starts_with(['-', '+', ':']))
}
