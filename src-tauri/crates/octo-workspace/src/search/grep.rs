//! Searches lines by content.

mod collect;
mod sink;

use super::{SearchError, SkippedFiles, walk};
use crate::{FileKind, Files, PathRestriction};
use collect::MatchCollector;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkState;
use octo_protocol::MatchLine;
use sink::{FileSink, StoppableFile};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// The maximum length of an unfinished line in memory; files with longer lines are skipped.
const MAX_LINE_MEMORY: usize = 64 << 20;
/// The maximum number of threads of one search: more gain little and slow the person's machine down.
const MAX_THREADS: usize = 8;

/// A search for lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// The folder or file to search.
    pub base: PathBuf,
    /// A regular expression of the `regex` crate, applied line by line.
    pub pattern: String,
    /// A glob that restricts the search to files whose path matches; one without a folder matches at any depth.
    /// Not applied if `base` is a file.
    pub file_pattern: Option<String>,
    /// The case sensitivity.
    pub case: CaseSensitivity,
    /// The number of lines shown before and after each match.
    pub context: usize,
    /// The maximum number of files returned: the first by path.
    pub max_files: usize,
    /// The maximum number of matching lines returned per file: the first ones.
    pub max_matches_per_file: usize,
    /// The maximum number of matching lines returned.
    pub max_matches: usize,
    /// The size in bytes above which files are skipped.
    pub max_file_size: Option<u64>,
    /// The maximum total bytes of lines returned.
    pub max_bytes: usize,
    /// The maximum bytes of a line; a longer one is cut around its first match.
    pub max_line: usize,
}

/// The case sensitivity of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseSensitivity {
    /// `a` does not match `A`.
    Sensitive,
    /// `a` matches `A`.
    Insensitive,
}

/// The result of a search for lines. It does not depend on the number of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepMatches {
    /// The files returned, by path.
    pub files: Vec<FileHits>,
    /// The number of matching lines in all files, returned or not.
    pub total_matches: u64,
    /// The number of files with a match, returned or not.
    pub total_files: u64,
    /// The number of files searched.
    pub searched: u64,
    /// The files left out of the search.
    pub skipped: SkippedFiles,
    /// The first limit that cut the result short; `None` if all matching lines are returned.
    pub cut_short: Option<ReachedLimit>,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedLimit {
    /// [`GrepQuery::max_files`].
    Files,
    /// [`GrepQuery::max_matches_per_file`].
    MatchesPerFile,
    /// [`GrepQuery::max_matches`].
    Matches,
    /// [`GrepQuery::max_bytes`].
    Bytes,
}

/// The matching lines of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHits {
    /// The file.
    pub path: PathBuf,
    /// The matching lines and their context, by number; a gap in the numbers is a gap in the file.
    pub lines: Vec<MatchLine>,
    /// The number of matching lines in the file, returned or not.
    pub matches: u64,
}

/// Searches a folder as ripgrep does, or one file. Skips binary and denied files, and secret files unless
/// `base` is the file itself.
pub fn grep(
    files: &Files,
    query: &GrepQuery,
    cancel: &CancellationToken,
) -> Result<GrepMatches, SearchError> {
    if query.pattern.is_empty() {
        return Err(SearchError::Empty);
    }
    let matcher = matcher(query)?;
    let base = files.check_read(&query.base)?;
    let found = match files.stat(&base)?.kind {
        FileKind::Folder => search_folder(files, query, &base, &matcher, cancel)?,
        FileKind::File => {
            let collected = MatchCollector::new(query);
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
        .case_insensitive(query.case == CaseSensitivity::Insensitive)
        .build(&query.pattern)
        .map_err(|error| SearchError::Pattern { reason: error.to_string() })
}

fn searcher(query: &GrepQuery) -> Searcher {
    SearcherBuilder::new()
        // Like the matcher's; lines still end at `\n`.
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
) -> Result<GrepMatches, SearchError> {
    let glob = query
        .file_pattern
        .as_deref()
        .filter(|pattern| !pattern.trim().is_empty())
        .map(walk::matcher)
        .transpose()
        .map_err(|error| SearchError::Pattern { reason: error.to_string() })?;
    let collected = MatchCollector::new(query);
    // A caller that may search a secret folder by name may search its content.
    let secrets_named = files.restriction(base) == PathRestriction::Secret;
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS));
    walk::walk(base).threads(threads).build_parallel().run(|| {
        let mut searcher = searcher(query);
        // One per thread: threads would otherwise contend for the matcher's scratch space.
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
            match files.restriction(path) {
                PathRestriction::Denied => {
                    collected.skip(|skipped| skipped.closed += 1);
                    return WalkState::Continue;
                }
                PathRestriction::Secret if !secrets_named => {
                    collected.skip(|skipped| skipped.secret += 1);
                    return WalkState::Continue;
                }
                PathRestriction::Secret | PathRestriction::No => {}
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
    collected: &MatchCollector,
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
