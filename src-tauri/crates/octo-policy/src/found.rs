//! Files whose names one command finds and another one reads: `find … -exec wc {} +`, `git ls-files | xargs cat`.
//!
//! The words of the line do not name them, so the folder is looked at: each file that could be found counts as read,
//! if it is closed or a link.

use crate::{
    folder::{self, contents},
    grammar::Reads,
    plain::{Form, Word},
    search::RestrictionLookup,
};
use octo_workspace::PathRestriction;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Entries looked at below the roots before a line asks.
const MAX_ENTRIES: usize = 50_000;

/// The text of a word that stands for a found file. No typed word has this text: a control character makes a line
/// doubtful.
pub(crate) const FOUND: &str = "\u{1}found";

/// Files that a command finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFiles {
    /// Where it looks, as seen from where the line begins.
    pub roots: Vec<String>,
    /// The files it may name there.
    pub source: FoundSource,
    /// Whether its names are split into words before they are read.
    pub splitting: Splitting,
}

/// The files a command may name below its roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FoundSource {
    /// Files and folders with a name like one of these patterns; all if there are none.
    Tree(Vec<String>),
    /// The files that this git query lists.
    Git(Vec<String>),
}

/// Whether names are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// Each name is one word.
    None,
    /// At blanks; quotes and backslashes mean something too.
    AtBlanks,
}

impl FoundFiles {
    /// Returns the files among those that could be found which are closed or lie elsewhere; `None` if there are too
    /// many to look at, or one whose name would be read as something else.
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
                    for name in names.split(['\0', '\n']).filter(|name| !name.is_empty()) {
                        if name.starts_with(['-', '"']) || !self.is_one_word(name) {
                            return None;
                        }
                        take(&root.join(name), restriction, &mut reads);
                    }
                }
            }
            FoundSource::Tree(patterns) => {
                let mut budget = MAX_ENTRIES;
                let mut folders = Vec::new();
                for root in roots {
                    take(&root, restriction, &mut reads);
                    folders.push(root);
                }
                while let Some(folder) = folders.pop() {
                    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                        budget = budget.checked_sub(1)?;
                        let name = entry.file_name().to_string_lossy().into_owned();
                        if !self.is_one_word(&name) {
                            return None;
                        }
                        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                            folders.push(entry.path());
                        }
                        if patterns.is_empty()
                            || patterns.iter().any(|pattern| folder::matches(pattern, &name))
                        {
                            take(&entry.path(), restriction, &mut reads);
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

/// Whether a name stays one word that means itself where the shell or `xargs` splits it.
pub(crate) fn is_plain_word(name: &str) -> bool {
    !name.starts_with('-') && !name.chars().any(|c| c.is_whitespace() || "\\'\"*?[".contains(c))
}

fn take(path: &Path, restriction: RestrictionLookup<'_>, reads: &mut Reads) {
    let link = path.symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink());
    if link || restriction(path) != PathRestriction::No {
        reads.push(path.to_string_lossy().into_owned());
    }
}

/// Returns the word for a found file that replaces another word.
pub(crate) fn found_word(written: &Word) -> Word {
    Word { text: FOUND.to_owned(), form: Form::Found, span: written.span.clone() }
}
