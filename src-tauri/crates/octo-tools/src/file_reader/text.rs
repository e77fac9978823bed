//! Reads ranges of lines from a stream.

use crate::{Outcome, ToolContext, ToolError, ToolOutput};
use octo_protocol::ToolView;
use octo_workspace::display_path;
use std::{
    borrow::Cow,
    fmt::Write,
    io::{BufRead, Read},
    path::Path,
};

/// Maximum characters shown of one line.
const MAX_LINE: usize = 1_000;
/// Maximum bytes kept of one line; a character has at most four.
const MAX_LINE_BYTES: u64 = 4 * MAX_LINE as u64;
/// Maximum bytes of lines in one result, about 15,000 tokens.
const MAX_BYTES: usize = 60_000;
/// Maximum bytes read after the range to count the file's lines.
const MAX_COUNTED: u64 = 16 << 20;
/// Number of lines between checks for cancellation.
const CANCEL_CHECK_INTERVAL: u64 = 4_096;

/// Source of the lines.
#[derive(Clone, Copy)]
pub(super) enum LineSource<'a> {
    /// The file itself.
    File,
    /// The text in a document, with the document's description.
    Document(&'a str),
}

/// Lines to read, from 1, both ends inclusive.
#[derive(Debug)]
pub(super) struct LineRange {
    first: u64,
    last: u64,
}

impl LineRange {
    pub(super) fn new(start: Option<u32>, end: Option<u32>, max_lines: u32) -> Result<Self, ToolError> {
        let first_line = u64::from(start.unwrap_or(1).max(1));
        if let (Some(start), Some(end)) = (start, end)
            && start > end
        {
            return Err(ToolError::new(format!("start_line {start} > end_line {end}: no such range.")));
        }
        let limit = first_line + u64::from(max_lines.max(1)) - 1;
        // A requested end applies exactly: `max_lines` has only a default there.
        let last_line = end.map_or(limit, |end| u64::from(end.max(1)));
        Ok(Self { first: first_line, last: last_line })
    }
}

/// Returns the numbered lines of the range. Memory is bounded by the shown text, regardless of the length of
/// the file or its lines.
pub(super) fn read(
    mut source: impl BufRead,
    range: &LineRange,
    path: &Path,
    source_kind: LineSource<'_>,
    context: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let failed =
        |error: std::io::Error| ToolError::new(format!("{} cannot be read: {error}.", path.display()));
    let mut lines = LineReader { source: &mut source, read: 0 };
    while lines.read + 1 < range.first {
        check_cancelled(lines.read, context)?;
        if lines.skip().map_err(failed)? == 0 {
            return Err(range_beyond_end(range, lines.read));
        }
    }
    let (mut numbered, mut unnumbered) = (String::new(), String::new());
    let (mut invalid, mut is_full, mut is_end) = (0_u64, false, false);
    while lines.read < range.last {
        check_cancelled(lines.read, context)?;
        let Some(line) = lines.next().map_err(failed)? else {
            is_end = true;
            break;
        };
        let bytes = if lines.read == 1 {
            line.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line.bytes)
        } else {
            &line.bytes
        };
        let text = String::from_utf8_lossy(bytes);
        invalid += u64::from(matches!(text, Cow::Owned(_)));
        let mut text: Cow<'_, str> = match text.char_indices().nth(MAX_LINE) {
            Some((end, _)) => Cow::Owned(text.get(..end).unwrap_or_default().to_owned()),
            None => text,
        };
        if (text.len() as u64) < line.len && text.chars().count() >= MAX_LINE {
            text.to_mut().push_str(&format!("… [line cut: {} bytes]", line.len));
        }
        // Writing to a string does not fail.
        let _ = writeln!(numbered, "{:>6}\t{text}", lines.read);
        unnumbered.push_str(&text);
        unnumbered.push('\n');
        if numbered.len() >= MAX_BYTES {
            is_full = lines.read < range.last;
            break;
        }
    }
    let last_line = lines.read;
    if is_end && last_line < range.first && last_line > 0 {
        return Err(range_beyond_end(range, last_line));
    }
    let total = lines.count_rest(is_end, context).map_err(failed)?;

    let shown_path = match source_kind {
        LineSource::File => display_path(path, &context.cwd),
        LineSource::Document(description) => {
            format!("{} [text of {description}]", display_path(path, &context.cwd))
        }
    };
    let total_lines = total.map_or_else(|| "many".to_owned(), |total| total.to_string());
    let mut text = match (last_line, total) {
        (0, _) => format!("File: {shown_path} (empty)\n"),
        (last_line, Some(total)) if range.first == 1 && last_line == total => {
            format!("File: {shown_path} ({total} lines)\n\n{numbered}")
        }
        (last_line, _) => {
            format!("File: {shown_path} (lines {}-{last_line} of {total_lines})\n\n{numbered}", range.first)
        }
    };
    if is_full {
        text.push_str(&format!(
            "[TRUNCATED: a result holds {MAX_BYTES} bytes. Go on with start_line {}.]\n",
            last_line + 1
        ));
    } else if total.is_none_or(|total| last_line < total) {
        text.push_str(&format!("[More follows: start_line {}.]\n", last_line + 1));
    }
    if invalid > 0 {
        text.push_str(&format!(
            "[{invalid} of these lines are not valid UTF-8; bad bytes are shown as \u{FFFD}.]\n"
        ));
    }
    let line = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let view = ToolView::Text {
        path: path.to_string_lossy().into_owned(),
        first_line: line(range.first.min(last_line.max(1))),
        last_line: line(last_line),
        total_lines: total.map(line),
        text: unnumbered,
    };
    Ok(ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done })
}

fn range_beyond_end(range: &LineRange, total: u64) -> ToolError {
    ToolError::new(format!("start_line {} exceeds total lines ({total}).", range.first))
}

fn check_cancelled(lines: u64, context: &ToolContext) -> Result<(), ToolError> {
    if lines.is_multiple_of(CANCEL_CHECK_INTERVAL) && context.cancel.is_cancelled() {
        return Err(ToolError::new("Reading was stopped."));
    }
    Ok(())
}

struct LineReader<'a, R> {
    source: &'a mut R,
    read: u64,
}

struct TruncatedLine {
    /// Its first bytes, without the line end.
    bytes: Vec<u8>,
    /// Its length in bytes.
    len: u64,
}

impl<R: BufRead> LineReader<'_, R> {
    /// Skips a line and returns its number of bytes, 0 at the end.
    fn skip(&mut self) -> std::io::Result<usize> {
        let bytes = self.source.skip_until(b'\n')?;
        self.read += u64::from(bytes > 0);
        Ok(bytes)
    }

    fn next(&mut self) -> std::io::Result<Option<TruncatedLine>> {
        let mut bytes = Vec::new();
        let mut len = self.source.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes)? as u64;
        if len == 0 {
            return Ok(None);
        }
        self.read += 1;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            len -= 1;
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
                len -= 1;
            }
        } else if len == MAX_LINE_BYTES {
            len += self.skip_rest()?;
        }
        Ok(Some(TruncatedLine { bytes, len }))
    }

    /// Skips the rest of a line and returns its number of bytes without the line end.
    fn skip_rest(&mut self) -> std::io::Result<u64> {
        let mut skipped = 0;
        loop {
            let buffer = self.source.fill_buf()?;
            if buffer.is_empty() {
                return Ok(skipped);
            }
            let (bytes, end) = match memchr::memchr(b'\n', buffer) {
                Some(index) => (index, 1),
                None => (buffer.len(), 0),
            };
            self.source.consume(bytes + end);
            skipped += bytes as u64;
            if end == 1 {
                return Ok(skipped);
            }
        }
    }

    /// Counts the lines of the whole file, unless that would take long.
    fn count_rest(&mut self, is_end: bool, context: &ToolContext) -> std::io::Result<Option<u64>> {
        let mut counted = 0;
        while !is_end && counted < MAX_COUNTED && !context.cancel.is_cancelled() {
            match self.skip()? {
                0 => return Ok(Some(self.read)),
                bytes => counted += bytes as u64,
            }
        }
        Ok(is_end.then_some(self.read))
    }
}
