//! Reads server-sent events from bytes in pieces of any size.
//!
//! Octo has its own reader because `eventsource-stream` never delivers a last frame without its blank line,
//! panics on a byte order mark, and sets no bound on a frame. Field rules are those of the HTML standard,
//! section 9.2.6; `id` and `retry` are ignored, since the transport must never resume or repeat a model call.

use crate::{ErrorClass, ProviderError};

/// Maximum bytes of one frame. Far above any honest frame (whole tool calls in one frame stay below a model's
/// output limit of some hundred kilobytes); it bounds how much a lying server can make Octo buffer.
pub const MAX_FRAME: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name; empty when the stream gave none.
    pub event: String,
    /// Its data, lines joined by line feeds.
    pub data: String,
}

/// Reads events from bytes pushed in pieces of any size.
#[derive(Debug, Default)]
pub struct SseReader {
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so a line feed right after it belongs to it.
    after_cr: bool,
    /// Whether a line was read already, so a byte order mark is ordinary text.
    is_started: bool,
    event: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl SseReader {
    /// Creates the reader of a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes and appends the events they complete.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorClass::Malformed`] when a frame exceeds [`MAX_FRAME`]. `events` keeps the events
    /// completed before that by the same bytes.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), ProviderError> {
        let mut remaining = bytes;
        while !remaining.is_empty() {
            if self.after_cr {
                self.after_cr = false;
                if let Some(after) = remaining.strip_prefix(b"\n") {
                    remaining = after;
                    continue;
                }
            }
            let Some(end) = remaining.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.grow(remaining)?;
                break;
            };
            let (head, following) = remaining.split_at(end);
            self.grow(head)?;
            self.after_cr = following.first() == Some(&b'\r');
            remaining = following.get(1..).unwrap_or_default();
            events.extend(self.end_line());
        }
        Ok(())
    }

    /// Ends the stream. Returns a last frame even without its blank line (or its last line's end): the caller
    /// can tell from its data whether it is complete.
    pub fn finish(mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            let completed = self.end_line();
            debug_assert!(completed.is_none(), "a line with content ends no frame");
        }
        self.dispatch()
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        if self.line.len() + self.data.len() + bytes.len() > MAX_FRAME {
            return Err(ProviderError::new(
                ErrorClass::Malformed,
                format!("a frame of more than {MAX_FRAME} bytes"),
            ));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if !self.is_started {
            self.is_started = true;
            text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        }
        if text.is_empty() {
            return self.dispatch();
        }
        let colon = text.iter().position(|byte| *byte == b':').unwrap_or(text.len());
        let (field, value) = text.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.event = value.to_vec(),
            // An empty name is a comment; `id`, `retry` and unknown fields have no effect here.
            _ => {}
        }
        // The buffer is reused, so a stream of short lines allocates once.
        self.line = line;
        self.line.clear();
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.has_data).then(|| SseEvent { event: text_of(event), data: text_of(data) })
    }
}

/// Decodes UTF-8 with replacement and never fails, as the standard requires.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns all events of `chunks`, including the unfinished last one.
    fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let mut reader = SseReader::new();
        let mut events = Vec::new();
        for chunk in chunks {
            reader.push(chunk, &mut events).unwrap();
        }
        events.extend(reader.finish());
        events.into_iter().map(|event| (event.event, event.data)).collect()
    }

    #[test]
    fn fields_follow_the_standard() {
        for (stream, expected) in [
            ("data: a\n\n", vec![("", "a")]),
            ("data:a\n\n", vec![("", "a")]),
            ("data:  a\n\n", vec![("", " a")]),
            ("event: x\ndata: a\n\n", vec![("x", "a")]),
            ("event: x\nevent: y\ndata: a\n\n", vec![("y", "a")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec![("", "a"), ("", "b")]),
            ("data: a\r\rdata: b\r\r", vec![("", "a"), ("", "b")]),
            ("data: a\n\r\ndata: b\r\n\n", vec![("", "a"), ("", "b")]),
            ("data: a\ndata: b\n\n", vec![("", "a\nb")]),
            ("data\ndata\n\n", vec![("", "\n")]),
            ("data\n\n", vec![("", "")]),
            ("data:\n\n", vec![("", "")]),
            (": a comment\n\ndata: a\n\n", vec![("", "a")]),
            (":\n:\ndata: a\n: between\ndata: b\n\n", vec![("", "a\nb")]),
            ("event: x\n\ndata: a\n\n", vec![("", "a")]),
            ("id: 7\nretry: 10\nfoo: bar\ndata: a\n\n", vec![("", "a")]),
            (" data: a\n\ndata: b\n\n", vec![("", "b")]),
            ("\u{feff}data: a\n\n", vec![("", "a")]),
            ("\u{feff}\n\u{feff}data: a\n\ndata: b\n\n", vec![("", "b")]),
            ("data: a: b\n\n", vec![("", "a: b")]),
            ("\n\n\ndata: a\n\n\n\n", vec![("", "a")]),
            ("data: a\n", vec![("", "a")]),
            ("data: a", vec![("", "a")]),
            ("event: x\ndata: a", vec![("x", "a")]),
            ("data: a\n\n: bye", vec![("", "a")]),
            ("data: a\n\nevent: x", vec![("", "a")]),
            ("", vec![]),
        ] {
            let expected: Vec<(String, String)> =
                expected.into_iter().map(|(event, data)| (event.to_owned(), data.to_owned())).collect();
            assert_eq!(read([stream.as_bytes()]), expected, "{stream:?}");
            assert_eq!(read(stream.as_bytes().chunks(1)), expected, "{stream:?} byte by byte");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(read([&b"data: a\xffb\n\n"[..]]), [(String::new(), "a\u{fffd}b".to_owned())]);
    }

    #[test]
    fn an_endless_frame_is_an_error() {
        let mut reader = SseReader::new();
        let mut events = Vec::new();
        reader.push(b"data: whole\n\ndata: ", &mut events).unwrap();
        let filler = vec![b'x'; 1024 * 1024];
        let error = (0..32).find_map(|_| reader.push(&filler, &mut events).err()).unwrap();
        assert_eq!(error.class, ErrorClass::Malformed);
        assert_eq!(events.len(), 1);

        let mut reader = SseReader::new();
        let line: Vec<u8> = [b"data: ".as_slice(), &filler, b"\n"].concat();
        assert!(
            (0..32).any(|_| reader.push(&line, &mut events).is_err()),
            "many lines of one frame count together"
        );
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            stream in "(data|event|id|:|x)?:? ?(é|漢|🦑|a|\u{feff}){0,3}(\n|\r|\r\n)|(\n|\r|\r\n)|data: [a-z]{0,3}(\n\n|\r\r|\r\n\r\n)",
            more in proptest::collection::vec("(data: é|event: x|: c|data|)(\n|\r|\r\n)", 0..12),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let bytes = (stream + &more.concat()).into_bytes();
            let mut splits: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            splits.extend([0, bytes.len()]);
            splits.sort_unstable();
            let chunks = splits.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(read(chunks), read([bytes.as_slice()]));
        }
    }
}
