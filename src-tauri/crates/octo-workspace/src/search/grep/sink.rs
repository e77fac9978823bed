//! The result of searching one file.

use super::GrepQuery;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};
use octo_protocol::MatchLine;
use std::{fs::File, io};
use tokio_util::sync::CancellationToken;

/// The matching lines of one file, up to a limit; further matches are only counted.
pub(super) struct FileSink<'a> {
    matcher: &'a RegexMatcher,
    max_matches: usize,
    max_line: usize,
    max_bytes: usize,
    bytes: usize,
    pub(super) lines: Vec<MatchLine>,
    pub(super) matches: u64,
    pub(super) is_binary: bool,
    is_full: bool,
}

impl<'a> FileSink<'a> {
    pub(super) fn new(matcher: &'a RegexMatcher, query: &GrepQuery) -> Self {
        Self {
            matcher,
            max_matches: query.max_matches_per_file.min(query.max_matches),
            max_line: query.max_line,
            max_bytes: query.max_bytes,
            bytes: 0,
            lines: Vec::new(),
            matches: 0,
            is_binary: false,
            is_full: false,
        }
    }

    fn push(&mut self, number: u64, line: &[u8], is_match: bool) {
        let text = cut(self.matcher, line, self.max_line);
        self.bytes += text.len();
        self.lines.push(MatchLine { number, text, is_match });
        // One line over the budget lets the caller notice that the budget was reached.
        self.is_full |= self.bytes > self.max_bytes;
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        if self.matches > self.max_matches as u64 {
            self.is_full = true;
        }
        if !self.is_full {
            self.push(found.line_number().unwrap_or_default(), found.bytes(), true);
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        // The context before a match that is not returned is not returned either.
        let is_wanted = match context.kind() {
            SinkContextKind::Before => self.matches < self.max_matches as u64,
            SinkContextKind::After | SinkContextKind::Other => true,
        };
        if is_wanted && !self.is_full {
            self.push(context.line_number().unwrap_or_default(), context.bytes(), false);
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Returns the line as text without its line ending; a long one is cut around its first match.
fn cut(matcher: &RegexMatcher, line: &[u8], max: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= max {
        return String::from_utf8_lossy(line).into_owned();
    }
    let match_start = matcher.find(line).ok().flatten().map_or(0, |found| found.start());
    // A fifth of the space before the match, the rest from its start; whole characters.
    let mut start = match_start.saturating_sub(max / 5).min(line.len() - max);
    let mut end = start + max;
    while start > 0 && is_continuation_byte(line, start) {
        start -= 1;
    }
    while end < line.len() && is_continuation_byte(line, end) {
        end -= 1;
    }
    let text = String::from_utf8_lossy(line.get(start..end).unwrap_or_default());
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    format!("{before}{text}{after} [line of {} bytes]", line.len())
}

fn is_continuation_byte(line: &[u8], index: usize) -> bool {
    line.get(index).is_some_and(|byte| byte & 0xC0 == 0x80)
}

/// A file that stops reading when the search is stopped: nothing else checks for that in a 2 GB log without a
/// match.
pub(super) struct StoppableFile<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl<'a> StoppableFile<'a> {
    pub(super) fn new(file: File, cancel: &'a CancellationToken) -> Self {
        Self { file, cancel }
    }
}

impl io::Read for StoppableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("stopped"));
        }
        self.file.read(buffer)
    }
}
