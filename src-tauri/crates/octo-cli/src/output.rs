//! Standard output and standard error, written line by line, so lines never mix.

use octo_protocol::{ApiError, Language, words};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

/// Whether standard output still has a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputReader {
    /// It has a reader.
    Present,
    /// The reader closed its end: nothing more is written, and the work continues without it.
    Closed,
}

/// Lines to a stream: each is locked, written completely and flushed.
#[derive(Debug)]
pub(crate) struct OutputLines<W> {
    writer: W,
    reader: OutputReader,
}

impl OutputLines<io::Stdout> {
    /// Creates lines to standard output.
    pub fn stdout() -> Self {
        Self::new(io::stdout())
    }
}

impl<W: Write> OutputLines<W> {
    /// Creates lines to any stream.
    pub fn new(writer: W) -> Self {
        Self { writer, reader: OutputReader::Present }
    }

    /// Writes a value as one line of JSON.
    pub fn json(&mut self, value: &impl Serialize) -> OutputReader {
        match serde_json::to_vec(value) {
            Ok(line) => self.bytes(line),
            Err(error) => {
                // Protocol types always serialise; if one ever failed, silence would be worse.
                print_error_line(&error.to_string());
                self.reader
            }
        }
    }

    /// Writes a text, followed by a line end.
    pub fn text(&mut self, text: &str) -> OutputReader {
        self.bytes(text.as_bytes().to_vec())
    }

    fn bytes(&mut self, mut line: Vec<u8>) -> OutputReader {
        line.push(b'\n');
        if self.reader == OutputReader::Present
            && self.writer.write_all(&line).and_then(|()| self.writer.flush()).is_err()
        {
            self.reader = OutputReader::Closed;
        }
        self.reader
    }
}

/// Prints one line on standard error. A closed standard error is ignored.
pub(crate) fn print_error_line(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints an error's message on standard error, in the person's language.
pub(crate) fn print_error(language: Language, error: &ApiError) {
    print_error_line(&words::explain(language, error));
}

/// Returns a message of the catalogue without arguments.
pub(crate) fn catalogue_text(language: Language, key: &str) -> String {
    words::say(language, key, &BTreeMap::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pipe {
        bytes_taken: Vec<u8>,
        room: usize,
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.bytes_taken.len() >= self.room {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.bytes_taken.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_ends_only_the_output() {
        let mut lines = OutputLines::new(Pipe { bytes_taken: Vec::new(), room: 3 });
        assert_eq!(lines.json(&[1]), OutputReader::Present);
        assert_eq!(lines.json(&[2]), OutputReader::Closed);
        assert_eq!(lines.text("x"), OutputReader::Closed);
        assert_eq!(lines.writer.bytes_taken, b"[1]\n");
    }
}
