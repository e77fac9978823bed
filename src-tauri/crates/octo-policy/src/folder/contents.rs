//! Closed files whose contents git would print although the line does not name them. A query of git lists their names
//! before the command runs.

use super::{
    FolderQueries, GitQuery, repository,
    settings::{self, GitUse},
};
use crate::{
    grammar::Reads,
    names,
    plain::Simple,
    programs::git::{Contents, shown_contents},
    search::RestrictionLookup,
};
use octo_workspace::PathRestriction;
use std::path::{Path, PathBuf};

/// Maximum number of closed files that are returned. One is enough to ask.
const MAX_CLOSED: usize = 3;

/// Returns the closed files whose contents a git command would print in a folder; `None` if they are unknown.
pub(crate) fn closed(command: &Simple, folder: &Path, queries: FolderQueries<'_>) -> Option<Reads> {
    let arguments = command.words.get(1..).unwrap_or_default();
    let Some(shown) = shown_contents(arguments) else { return Some(Reads::new()) };
    let folder = &shown.folder.as_ref().map_or_else(|| folder.to_owned(), |inner| folder.join(inner));
    // Outside a repository git prints nothing.
    let Some(root) = repository(folder)? else { return Some(Reads::new()) };
    for object in &shown.objects {
        // A blob has no name, and the names in a tree lack the folder they were in, so the content is unknown.
        // The folder of a commit's whole tree is known.
        let object = object.strip_suffix("^{tree}").unwrap_or(object);
        if object_kind(queries.git, folder, object).is_some_and(|kind| kind != "commit") {
            return None;
        }
    }
    let answer = match &shown.contents {
        None => return Some(Reads::new()),
        Some(Contents::Named(query)) => match ask(queries.git, folder, query) {
            Some(names) => names,
            // Without a commit or a stash there is nothing to show.
            None if queries.ask(folder, &["rev-parse", "-q", "--verify", "HEAD"]).is_none() => String::new(),
            None if query.iter().any(|word| word == "stash")
                && queries.ask(folder, &["rev-parse", "-q", "--verify", "refs/stash"]).is_none() =>
            {
                String::new()
            }
            None => return None,
        },
        Some(Contents::Matching(query, all)) => {
            ask(queries.git, folder, query).or_else(|| ask(queries.git, folder, all))?
        }
    };
    closed_names(&answer, &root, folder, queries.restriction)
}

/// Returns the closed files among those that a git query in a folder names. Links are not followed, because git prints
/// the target of a link and not the content of the target. `None` if a name has no text.
pub(crate) fn closed_names(
    answer: &str,
    root: &Path,
    folder: &Path,
    restriction: RestrictionLookup<'_>,
) -> Option<Reads> {
    names::names_in(answer)?
        .into_iter()
        .map(|name| name.rsplit_once(':').map_or(name, |(_, path)| path))
        .filter(|name| !name.is_empty())
        .flat_map(|name| [root.join(name), folder.join(name)])
        .filter(|path| restriction(path) != PathRestriction::No)
        .take(MAX_CLOSED)
        .map(|path| names::text_of_path(&path))
        .collect()
}

/// Queries git in the repository that contains a folder. Returns the root of the repository and the answer, which is
/// empty if git fails, because the command then fails too. `Some(None)` outside a repository; `None` if the query could
/// start a program.
#[expect(clippy::option_option, reason = "no repository and an unusable one are different answers")]
pub(crate) fn answer(git: GitQuery, folder: &Path, query: &[String]) -> Option<Option<(PathBuf, String)>> {
    let Some(root) = repository(folder)? else { return Some(None) };
    if !settings::is_harmless(&root, git, GitUse::default()) {
        return None;
    }
    let answer = ask(git, folder, query).unwrap_or_default();
    Some(Some((root, answer)))
}

/// Returns the kind of the object that a word names, behind tags: `commit`, `tree`, `blob`; `None` if it names none.
pub(crate) fn object_kind(git: GitQuery, folder: &Path, word: &str) -> Option<String> {
    // With a suffix, the word itself may mean something else: git takes the braces of `a@{1}:b^{}` for one pair.
    let id = git(folder, &["rev-parse", "--quiet", "--verify", word])?;
    let kind = git(folder, &["cat-file", "-t", &format!("{}^{{}}", id.trim())])?;
    Some(kind.trim().to_owned())
}

/// Queries git with owned words.
fn ask(git: GitQuery, folder: &Path, words: &[String]) -> Option<String> {
    git(folder, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

impl FolderQueries<'_> {
    fn ask(&self, folder: &Path, words: &[&str]) -> Option<String> {
        (self.git)(folder, words)
    }
}
