//! Files whose names one command finds and another one reads: `find … -exec wc {} +`, `git ls-files | xargs cat`.
//!
//! The words of the line do not name these files, so the folder is inspected: every file that could be found counts as
//! read if it is closed or a link.

use crate::{
    folder::{self, contents},
    grammar::Reads,
    names,
    paths::is_object_store,
    plain::{Form, Word},
    search::RestrictionLookup,
};
use octo_workspace::PathRestriction;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum number of entries inspected below the roots. A line with more asks.
const MAX_ENTRIES: usize = 50_000;

/// The text of a word that represents a found file. No typed word has this text, because a control character raises a
/// doubt.
pub(crate) const FOUND: &str = "\u{1}found";

/// Files that a command finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFiles {
    /// The folders it searches, relative to the directory in which the line starts.
    pub roots: Vec<String>,
    /// The files it may find below the roots.
    pub source: FoundSource,
    /// How the names are split into words before a command reads them.
    pub splitting: Splitting,
}

/// The files that a command may find below its roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundSource {
    /// Files and folders whose names match one of these patterns; all if there are no patterns.
    Tree(Vec<String>),
    /// The files that this git query lists.
    Git(Vec<String>),
}

/// How names are split into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// Each name is one word.
    None,
    /// Names are split at blanks, and quotes and backslashes are interpreted.
    AtBlanks,
}

impl FoundFiles {
    /// Returns the files that could be found and are closed or links; `None` if there are too many entries, or a name
    /// that would not stay one word.
    pub(crate) fn closed(
        &self,
        place: &Path,
        restriction: RestrictionLookup<'_>,
        git: folder::GitQuery,
    ) -> Option<Reads> {
        let mut reads = Reads::new();
        let roots: Vec<PathBuf> = self
            .roots
            .iter()
            .map(|root| octo_workspace::resolve(root, place))
            .collect::<Result<_, _>>()
            .ok()?;
        match &self.source {
            FoundSource::Git(query) => {
                for root in &roots {
                    let Some((_, names)) = contents::answer(git, root, query)? else { continue };
                    for name in names::names_in(&names)? {
                        if name.starts_with(['-', '"']) || !self.is_one_word(name) {
                            return None;
                        }
                        add_if_closed(&root.join(name), restriction, &mut reads)?;
                    }
                }
            }
            FoundSource::Tree(patterns) => {
                let mut entries_left = MAX_ENTRIES;
                let mut folders = Vec::new();
                for root in roots {
                    add_if_closed(&root, restriction, &mut reads)?;
                    folders.push(root);
                }
                while let Some(folder) = folders.pop() {
                    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                        entries_left = entries_left.checked_sub(1)?;
                        let name = names::text_of(&entry.file_name())?;
                        if !self.is_one_word(&name) {
                            return None;
                        }
                        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                            folders.push(entry.path());
                        }
                        if patterns.is_empty()
                            || patterns.iter().any(|pattern| folder::matches(pattern, &name))
                        {
                            add_if_closed(&entry.path(), restriction, &mut reads)?;
                        }
                    }
                }
            }
        }
        Some(reads)
    }

    fn is_one_word(&self, name: &str) -> bool {
        self.splitting == Splitting::None || is_plain_word(name)
    }
}

/// Returns whether a name stays one word, with its own text, if the shell or `xargs` splits it.
pub(crate) fn is_plain_word(name: &str) -> bool {
    !name.starts_with('-') && !name.chars().any(|c| c.is_whitespace() || "\\'\"*?[".contains(c))
}

/// Adds a path that is closed or a link. Returns `None` if it has no text.
fn add_if_closed(path: &Path, restriction: RestrictionLookup<'_>, reads: &mut Reads) -> Option<()> {
    let link = path.symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink());
    if link || restriction(path) != PathRestriction::No || is_object_store(path) {
        reads.push(names::text_of_path(path)?);
    }
    Some(())
}

/// Returns the word that represents a found file, at the position of `written`.
pub(crate) fn found_word(written: &Word) -> Word {
    Word { text: FOUND.to_owned(), form: Form::Found, span: written.span.clone() }
}
