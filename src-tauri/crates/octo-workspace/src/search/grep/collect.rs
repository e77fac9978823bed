//! Collects the results of all threads, bounded during the search and sorted at the end.

use super::{FileHits, GrepMatches, GrepQuery, ReachedLimit, sink::FileSink};
use crate::search::SkippedFiles;
use octo_protocol::MatchLine;
use parking_lot::Mutex;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The first files with a match, by path. Files over the limit are only counted, so the result does not depend
/// on the speed of threads.
pub(super) struct MatchCollector {
    max_files: usize,
    max_matches: usize,
    max_matches_per_file: usize,
    max_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: BTreeMap<PathBuf, (Vec<MatchLine>, u64)>,
    total_matches: u64,
    total_files: u64,
    searched: u64,
    skipped: SkippedFiles,
}

impl MatchCollector {
    pub(super) fn new(query: &GrepQuery) -> Self {
        Self {
            max_files: query.max_files,
            max_matches: query.max_matches,
            max_matches_per_file: query.max_matches_per_file,
            max_bytes: query.max_bytes,
            state: Mutex::default(),
        }
    }

    pub(super) fn skip(&self, count: impl FnOnce(&mut SkippedFiles)) {
        count(&mut self.state.lock().skipped);
    }

    pub(super) fn add(&self, path: &Path, sink: FileSink<'_>) {
        let mut state = self.state.lock();
        state.searched += 1;
        if sink.matches == 0 {
            return;
        }
        state.total_matches += sink.matches;
        state.total_files += 1;
        state.files.insert(path.to_owned(), (sink.lines, sink.matches));
        if state.files.len() > self.max_files {
            state.files.pop_last();
        }
    }

    /// Returns the files in order, cut at the overall limits.
    pub(super) fn finish(self) -> GrepMatches {
        let state = self.state.into_inner();
        let mut found = GrepMatches {
            files: Vec::new(),
            total_matches: state.total_matches,
            total_files: state.total_files,
            searched: state.searched,
            skipped: state.skipped,
            cut_short: (state.total_files > state.files.len() as u64).then_some(ReachedLimit::Files),
        };
        let (mut matches, mut bytes) = (0, 0);
        'files: for (path, (lines, in_file)) in state.files {
            if in_file > self.max_matches_per_file as u64 {
                found.cut_short.get_or_insert(ReachedLimit::MatchesPerFile);
            }
            let mut file_hits = FileHits { path, lines: Vec::new(), matches: in_file };
            for line in lines {
                bytes += line.text.len();
                matches += usize::from(line.is_match);
                let limit = if matches > self.max_matches {
                    Some(ReachedLimit::Matches)
                } else {
                    (bytes > self.max_bytes).then_some(ReachedLimit::Bytes)
                };
                if let Some(limit) = limit {
                    found.cut_short = Some(limit);
                    if file_hits.lines.iter().any(|line| line.is_match) {
                        found.files.push(file_hits);
                    }
                    break 'files;
                }
                file_hits.lines.push(line);
            }
            found.files.push(file_hits);
        }
        if found.cut_short.is_none() && found.total_matches > matches as u64 {
            found.cut_short = Some(ReachedLimit::Matches);
        }
        found
    }
}
