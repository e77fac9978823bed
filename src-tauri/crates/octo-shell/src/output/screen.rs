//! A minimal terminal for text: a line in progress, and finished lines.

use std::fmt::Write;
use vte::{Params, Parser, Perform};

/// The maximum characters of a line in progress; a longer one is passed on in parts, which bounds the memory
/// for output without line endings (a binary file).
const MAX_CELLS: usize = 8 * 1024;

/// The maximum column for cursor movement; programs do not intend text further right.
const MAX_COLUMN: usize = 1_000;

/// The terminal's state.
#[derive(Default)]
pub(super) struct Screen {
    parser: Parser,
    line: ScreenLine,
    /// The first bytes of an incomplete character.
    incomplete: Vec<u8>,
}

/// A line, or part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Its text.
    pub plain: String,
    /// Its text with colours as SGR escapes, closed at its end.
    pub styled: String,
    /// Whether the line ended with it.
    pub end: RowEnd,
}

/// Whether a row ends its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowEnd {
    /// The row ends its line.
    Line,
    /// The line continues.
    Open,
}

impl Screen {
    /// Feeds the program's output; finished rows are passed to `on_row`.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut on_row: impl FnMut(Row, &mut dyn FnMut(usize) -> String),
    ) {
        // The parser (vte 0.15) loses characters that are split between chunks, so it only receives whole ones.
        let mut bytes_to_parse = std::mem::take(&mut self.incomplete);
        bytes_to_parse.extend_from_slice(bytes);
        let mut chunks = bytes_to_parse.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.parser.advance(&mut self.line, chunk.valid().as_bytes());
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && is_incomplete_character(invalid) {
                self.incomplete = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.parser.advance(&mut self.line, "\u{fffd}".as_bytes());
            }
            // Passed on between chunks, which avoids a second copy of a whole burst.
            for (cells, end) in self.line.finished.drain(..) {
                let row = Row { plain: plain(&cells), styled: styled(&cells, 0), end };
                on_row(row, &mut |from| styled(&cells, from));
            }
        }
    }

    /// Returns the line in progress.
    pub(super) fn partial(&self) -> Row {
        Row { plain: plain(&self.line.cells), styled: styled(&self.line.cells, 0), end: RowEnd::Open }
    }

    /// Returns the line in progress from character `start` on, with colours.
    pub(super) fn partial_from(&self, start: usize) -> String {
        styled(&self.line.cells, start)
    }

    /// Ends the line in progress as it is.
    pub(super) fn take_partial(&mut self) -> Row {
        if !std::mem::take(&mut self.incomplete).is_empty() {
            self.line.put('\u{fffd}');
        }
        let row = self.partial();
        self.line.cells.clear();
        self.line.column = 0;
        row
    }
}

/// Whether the bytes are the beginning of a character that later bytes complete.
fn is_incomplete_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

#[derive(Default)]
struct ScreenLine {
    cells: Vec<Cell>,
    column: usize,
    style: CellStyle,
    finished: Vec<(Vec<Cell>, RowEnd)>,
}

#[derive(Clone, Copy)]
struct Cell {
    character: char,
    style: CellStyle,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct CellStyle {
    /// Bit n is SGR attribute n (1 bold … 9 struck through).
    attributes: u16,
    text: Colour,
    background: Colour,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Colour {
    #[default]
    Default,
    Indexed(u8),
    Rgb(u8, u8, u8),
}

impl ScreenLine {
    fn put(&mut self, character: char) {
        let cell = Cell { character, style: self.style };
        let blank = Cell { character: ' ', style: CellStyle::default() };
        while self.cells.len() < self.column {
            self.cells.push(blank);
        }
        match self.cells.get_mut(self.column) {
            Some(cell_slot) => *cell_slot = cell,
            None => self.cells.push(cell),
        }
        self.column += 1;
        if self.cells.len() >= MAX_CELLS {
            self.finish_row(RowEnd::Open);
        }
    }

    fn finish_row(&mut self, end: RowEnd) {
        self.finished.push((std::mem::take(&mut self.cells), end));
        self.column = 0;
    }

    fn blank(&mut self, start: usize, end: usize) {
        let end = end.min(self.cells.len());
        for cell in self.cells.get_mut(start.min(end)..end).unwrap_or_default() {
            *cell = Cell { character: ' ', style: CellStyle::default() };
        }
    }

    fn select(&mut self, params: &Params) {
        let mut groups = params.iter();
        while let Some(group) = groups.next() {
            let style = &mut self.style;
            match group {
                [] | [0] => *style = CellStyle::default(),
                [on @ 1..=9] => style.attributes |= 1 << on,
                [4, kind, ..] => style.attributes = style.attributes & !(1 << 4) | u16::from(*kind > 0) << 4,
                [22] => style.attributes &= !0b110,
                [off @ 23..=29] => style.attributes &= !(1 << (off - 20)),
                [colour @ 30..=37] => style.text = Colour::Indexed(low(colour - 30)),
                [colour @ 90..=97] => style.text = Colour::Indexed(low(colour - 82)),
                [39] => style.text = Colour::Default,
                [colour @ 40..=47] => style.background = Colour::Indexed(low(colour - 40)),
                [colour @ 100..=107] => style.background = Colour::Indexed(low(colour - 92)),
                [49] => style.background = Colour::Default,
                [which @ (38 | 48), parts @ ..] => {
                    let colour = if parts.is_empty() { extended(&mut groups) } else { extended_in(parts) };
                    if let Some(colour) = colour {
                        if *which == 38 { style.text = colour } else { style.background = colour }
                    }
                }
                _ => {}
            }
        }
    }
}

fn low(value: u16) -> u8 {
    (value & 0xff) as u8
}

/// `38;5;n` and `38;2;r;g;b`.
fn extended<'a>(groups: &mut impl Iterator<Item = &'a [u16]>) -> Option<Colour> {
    let mut next = || groups.next().and_then(|group| group.first().copied());
    match next()? {
        5 => Some(Colour::Indexed(low(next()?))),
        2 => Some(Colour::Rgb(low(next()?), low(next()?), low(next()?))),
        _ => None,
    }
}

/// `38:5:n`, `38:2:r:g:b` and `38:2::r:g:b`.
fn extended_in(parts: &[u16]) -> Option<Colour> {
    match parts {
        [5, index] => Some(Colour::Indexed(low(*index))),
        [2, red, green, blue] | [2, _, red, green, blue, ..] => {
            Some(Colour::Rgb(low(*red), low(*green), low(*blue)))
        }
        _ => None,
    }
}

impl Perform for ScreenLine {
    fn print(&mut self, character: char) {
        // DEL, which terminals do not display.
        if !character.is_control() {
            self.put(character);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.finish_row(RowEnd::Line),
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => self.put('\t'),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if ignore || !intermediates.is_empty() {
            return;
        }
        let first = params.iter().next().and_then(|group| group.first().copied()).unwrap_or(0);
        let count = usize::from(first.max(1)).min(MAX_COLUMN);
        match action {
            'm' => self.select(params),
            'C' => self.column = (self.column + count).min(MAX_COLUMN.max(self.cells.len())),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = count - 1,
            'K' if first == 1 => self.blank(0, self.column + 1),
            'K' if first == 2 => self.cells.clear(),
            'K' => self.cells.truncate(self.column),
            'X' => self.blank(self.column, self.column + count),
            'P' => {
                let end = (self.column + count).min(self.cells.len());
                self.cells.drain(self.column.min(end)..end);
            }
            _ => {}
        }
    }
}

fn plain(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.character).collect()
}

fn styled(cells: &[Cell], start: usize) -> String {
    let mut text = String::new();
    let mut style = CellStyle::default();
    for cell in cells.get(start..).unwrap_or_default() {
        if cell.style != style {
            style = cell.style;
            open(&mut text, style);
        }
        text.push(cell.character);
    }
    if style != CellStyle::default() {
        text.push_str("\x1b[0m");
    }
    text
}

fn open(text: &mut String, style: CellStyle) {
    text.push_str("\x1b[0");
    for attribute in 1..=9 {
        if style.attributes & (1 << attribute) != 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, ";{attribute}");
        }
    }
    for (colour, base, bright, extended) in [(style.text, 30, 90, 38), (style.background, 40, 100, 48)] {
        let _ = match colour {
            Colour::Default => Ok(()),
            Colour::Indexed(index @ 0..=7) => write!(text, ";{}", base + u32::from(index)),
            Colour::Indexed(index @ 8..=15) => write!(text, ";{}", bright + u32::from(index) - 8),
            Colour::Indexed(index) => write!(text, ";{extended};5;{index}"),
            Colour::Rgb(red, green, blue) => write!(text, ";{extended};2;{red};{green};{blue}"),
        };
    }
    text.push('m');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(chunks: &[&[u8]]) -> (String, String) {
        let mut screen = Screen::default();
        let (mut plain, mut styled) = (String::new(), String::new());
        let mut add = |row: Row| {
            let end = if row.end == RowEnd::Line { "\n" } else { "" };
            plain.push_str(&row.plain);
            plain.push_str(end);
            styled.push_str(&row.styled);
            styled.push_str(end);
        };
        for chunk in chunks {
            screen.feed(chunk, |row, _| add(row));
        }
        add(screen.take_partial());
        (plain, styled)
    }

    #[test]
    fn text_is_what_a_terminal_would_show() {
        for (bytes, text) in [
            ("50%\r100%\n", "100%\n"),
            ("downloading\rdone\x1b[K\n", "done\n"),
            ("abX\x08c", "abc"),
            ("\x1b]0;window-title\x07text", "text"),
            ("\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bPq#0;2;0;0;0\x1b\\after", "after"),
            ("line1\r\nline2\r\n", "line1\nline2\n"),
            ("\x1b[?25l\x1b[>4;1mhidden cursor\x1b[?25h", "hidden cursor"),
            ("\x1b[31mred\x1b[0m plain", "red plain"),
            ("a\tb", "a\tb"),
            ("\x1b7saved\x1b8", "saved"),
            ("ab\x1b[5Cx", "ab     x"),
            ("abcdef\x1b[3D\x1b[Px", "abcxf"),
            ("abc\x1b[2K\rx", "x"),
            ("abc\x1b[1G\x1b[Xz", "zbc"),
            ("bell\x07", "bell"),
            ("中文é🐙\n", "中文é🐙\n"),
        ] {
            assert_eq!(texts(&[bytes.as_bytes()]).0, text, "{bytes:?}");
        }
    }

    #[test]
    fn colours_are_kept_in_one_form_and_closed_at_the_end_of_each_line() {
        for (bytes, styled) in [
            ("\x1b[31mred\nstill\x1b[m", "\x1b[0;31mred\x1b[0m\n\x1b[0;31mstill\x1b[0m"),
            ("\x1b[1;4;92;104mx\x1b[22my", "\x1b[0;1;4;92;104mx\x1b[0;4;92;104my\x1b[0m"),
            ("\x1b[38;5;200ma\x1b[38;2;1;2;3mb", "\x1b[0;38;5;200ma\x1b[0;38;2;1;2;3mb\x1b[0m"),
            ("\x1b[38:2::1:2:3mb", "\x1b[0;38;2;1;2;3mb\x1b[0m"),
            ("\x1b[4:3mu\x1b[24mn", "\x1b[0;4mu\x1b[0mn"),
        ] {
            assert_eq!(texts(&[bytes.as_bytes()]).1, styled, "{bytes:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_become_replacement_characters() {
        assert_eq!(texts(&[b"a\xffb\xc3"]).0, "a\u{fffd}b\u{fffd}");
        assert_eq!(texts(&[b"\xf0\x9f", b"\x90", b"\x99!"]).0, "🐙!");
        assert_eq!(texts(&[b"\xf0\x9f", b"a"]).0, "\u{fffd}a");
    }

    #[test]
    fn an_unended_line_is_passed_on_in_parts() {
        let text = "x".repeat(3 * MAX_CELLS + 5);
        assert_eq!(texts(&[text.as_bytes()]).0, text);
    }

    proptest! {
        #[test]
        fn chunk_boundaries_in_output_do_not_matter(text in "[ab中é🐙\r\n\x1b\\[;0-9mKCDGPX\x08]{0,80}", split in 0usize..200) {
            let bytes = text.as_bytes();
            let split = split.min(bytes.len());
            prop_assert_eq!(texts(&[bytes]), texts(&[&bytes[..split], &bytes[split..]]));
        }

        #[test]
        fn any_bytes_give_text_without_control_characters(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let (plain, styled) = texts(&[&bytes]);
            let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
            prop_assert!(plain.chars().all(is_text));
            let mut remaining = styled.as_str();
            while let Some((_, escape)) = remaining.split_once('\x1b') {
                let (parameters, after) = escape.split_once('m').unwrap();
                prop_assert!(parameters.starts_with('[') && parameters.chars().skip(1).all(|c| c.is_ascii_digit() || c == ';'));
                remaining = after;
            }
        }
    }
}
