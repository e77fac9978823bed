//! Lines by content.

mod collect;
mod sink;

use super::{SearchError, Skipped, walk};
use crate::{Closed, FileKind, Files};
use collect::Collected;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkState;
use octo_protocol::MatchLine;
use sink::{FileSink, StoppableFile};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// A line that does not end is held in memory up to here; files with longer ones are skipped.
const MAX_LINE_MEMORY: usize = 64 << 20;
/// Threads of one search: more gain little and take the machine from the person.
const MAX_THREADS: usize = 8;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// The folder or file that is searched.
    pub base: PathBuf,
    /// A regular expression of the `regex` crate, applied line by line.
    pub pattern: String,
    /// Only files whose path matches this glob; one without a folder matches at any depth. Not applied
    /// where `base` is a file.
    pub file_pattern: Option<String>,
    /// Whether case counts.
    pub case: Case,
    /// Lines shown before and after each match.
    pub context: usize,
    /// The most files given, the first by path.
    pub max_files: usize,
    /// The most matching lines given of one file, the first.
    pub max_matches_per_file: usize,
    /// The most matching lines given.
    pub max_matches: usize,
    /// Files larger than this many bytes are skipped.
    pub max_file_size: Option<u64>,
    /// The most bytes of lines given.
    pub max_bytes: usize,
    /// Longer lines are cut around their first match, in bytes.
    pub max_line: usize,
}

/// Whether case counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `a` is not `A`.
    Counts,
    /// `a` is `A`.
    Ignored,
}

/// What was found. The same for the same files, however many threads searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepFound {
    /// The files given, by path.
    pub files: Vec<FileHits>,
    /// Matching lines in all files, given or not.
    pub total_matches: u64,
    /// Files with a match, given or not.
    pub total_files: u64,
    /// Files searched.
    pub searched: u64,
    /// What was left out of the search.
    pub skipped: Skipped,
    /// The first limit because of which not all matching lines are given.
    pub cut_short: Option<CutShort>,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutShort {
    /// [`GrepQuery::max_files`].
    Files,
    /// [`GrepQuery::max_matches_per_file`].
    MatchesPerFile,
    /// [`GrepQuery::max_matches`].
    Matches,
    /// [`GrepQuery::max_bytes`].
    Bytes,
}

/// The lines of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHits {
    /// The file.
    pub path: PathBuf,
    /// Matching lines and their surroundings, by number; a gap in the numbers is a gap in the file.
    pub lines: Vec<MatchLine>,
    /// Matching lines in the file, given or not.
    pub matches: u64,
}

/// Searches a folder, in the way of ripgrep, or one file. Binary and denied files are skipped; files that hold
/// secrets too, unless `base` is the file itself.
pub fn grep(files: &Files, query: &GrepQuery, cancel: &CancellationToken) -> Result<GrepFound, SearchError> {
    if query.pattern.is_empty() {
        return Err(SearchError::Empty);
    }
    let matcher = matcher(query)?;
    let base = files.check_read(&query.base)?;
    let found = match files.stat(&base)?.kind {
        FileKind::Folder => search_folder(files, query, &base, &matcher, cancel)?,
        FileKind::File => {
            let collected = Collected::new(query);
            search_file(&mut searcher(query), &matcher, query, &base, &collected, cancel);
            collected.finish()
        }
        FileKind::Special => return Err(crate::FilesError::Special { path: base }.into()),
    };
    if cancel.is_cancelled() { Err(SearchError::Stopped) } else { Ok(found) }
}

fn matcher(query: &GrepQuery) -> Result<RegexMatcher, SearchError> {
    RegexMatcherBuilder::new()
        .multi_line(true)
        .crlf(true)
        .case_insensitive(query.case == Case::Ignored)
        .build(&query.pattern)
        .map_err(|error| SearchError::Pattern { reason: error.to_string() })
}

fn searcher(query: &GrepQuery) -> Searcher {
    SearcherBuilder::new()
        // As the matcher's; lines still end at `\n`.
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .before_context(query.context)
        .after_context(query.context)
        .heap_limit(Some(MAX_LINE_MEMORY))
        .build()
}

fn search_folder(
    files: &Files,
    query: &GrepQuery,
    base: &Path,
    matcher: &RegexMatcher,
    cancel: &CancellationToken,
) -> Result<GrepFound, SearchError> {
    let glob = query
        .file_pattern
        .as_deref()
        .filter(|pattern| !pattern.trim().is_empty())
        .map(walk::matcher)
        .transpose()
        .map_err(|error| SearchError::Pattern { reason: error.to_string() })?;
    let collected = Collected::new(query);
    // Who may search a secret folder by its name may search what is in it.
    let secrets_named = files.closed(base) == Closed::Secret;
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    walk::walk(base).threads(threads).build_parallel().run(|| {
        let mut searcher = searcher(query);
        // Each thread its own: the matcher's scratch space is not shared.
        let matcher = matcher.clone();
        let (collected, glob) = (&collected, glob.as_ref());
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else {
                collected.skip(|skipped| skipped.unreadable += 1);
                return WalkState::Continue;
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return WalkState::Continue;
            }
            let path = entry.path();
            let relative = path.strip_prefix(base).unwrap_or(path);
            if glob.is_some_and(|glob| !glob.is_match(relative)) {
                return WalkState::Continue;
            }
            match files.closed(path) {
                Closed::Denied => {
                    collected.skip(|skipped| skipped.closed += 1);
                    return WalkState::Continue;
                }
                Closed::Secret if !secrets_named => {
                    collected.skip(|skipped| skipped.secret += 1);
                    return WalkState::Continue;
                }
                Closed::Secret | Closed::No => {}
            }
            search_file(&mut searcher, &matcher, query, path, collected, cancel);
            WalkState::Continue
        })
    });
    Ok(collected.finish())
}

fn search_file(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    query: &GrepQuery,
    path: &Path,
    collected: &Collected,
    cancel: &CancellationToken,
) {
    let Ok(file) = std::fs::File::open(path) else {
        return collected.skip(|skipped| skipped.unreadable += 1);
    };
    if let Some(limit) = query.max_file_size
        && file.metadata().is_ok_and(|meta| meta.len() > limit)
    {
        return collected.skip(|skipped| skipped.too_large += 1);
    }
    let mut sink = FileSink::new(matcher, query);
    let searched = searcher.search_reader(matcher, StoppableFile::new(file, cancel), &mut sink);
    if searched.is_err() {
        return collected.skip(|skipped| skipped.unreadable += 1);
    }
    if sink.is_binary {
        return collected.skip(|skipped| skipped.binary += 1);
    }
    collected.add(path, sink);
}
