//! Reads a model's answer from the bytes of its body.

use crate::{
    Dialect, ErrorClass, ModelEvent, ProviderError, ProviderId,
    codec::{Decode, Framing, codec},
    event_stream::EventStreamReader,
    openai_chat,
    sse::{SseEvent, SseReader},
};
use octo_protocol::{Block, Protocol};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// Maximum bytes of one answer in transit. The longest honest answers, with a frame of some hundred bytes for
/// each of some hundred thousand tokens, stay below it; it bounds how much a lying server can make Octo buffer.
pub const MAX_ANSWER: usize = 128 * 1024 * 1024;

/// Reads an answer from the bytes of a streamed body, in pieces of any size. Pure.
///
/// Blocks finish in order: a block that is complete before an earlier one is buffered until the earlier one is
/// complete too.
pub struct AnswerReader {
    reader: FrameReader,
    decoder: Box<dyn Decode>,
    /// Index of the block that finishes next.
    next: u32,
    /// Complete blocks that wait for an earlier, still growing one.
    waiting: BTreeMap<u32, Block>,
    /// Number of bytes read so far.
    bytes_read: usize,
}

/// Framing of a body's events.
enum FrameReader {
    /// Server-sent events.
    Text(SseReader),
    /// Binary frames.
    Binary(EventStreamReader),
}

impl FrameReader {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), ProviderError> {
        match self {
            Self::Text(reader) => reader.push(bytes, events),
            Self::Binary(reader) => reader.push(bytes, events),
        }
    }

    /// Returns a last frame that lacks its terminator. An incomplete binary frame yields nothing.
    fn finish(&mut self) -> Option<SseEvent> {
        match self {
            Self::Text(reader) => std::mem::take(reader).finish(),
            Self::Binary(_) => None,
        }
    }
}

/// Whether an answer is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerProgress {
    /// More bytes must follow.
    More,
    /// The terminal event was read and [`ModelEvent::Finished`] was emitted.
    Whole,
}

impl AnswerReader {
    /// Creates the reader of a new answer from `provider`.
    pub fn new(protocol: Protocol, provider: &ProviderId, dialect: &Dialect) -> Self {
        let codec = codec(protocol);
        let decoder = (codec.decoder)(provider, dialect);
        let reader = match codec.framing {
            Framing::Text => FrameReader::Text(SseReader::new()),
            Framing::Binary => FrameReader::Binary(EventStreamReader::default()),
        };
        Self { reader, decoder, next: 0, waiting: BTreeMap::new(), bytes_read: 0 }
    }

    /// Reads the next bytes and appends their events to `events`, including those that precede an error.
    ///
    /// # Errors
    ///
    /// Returns the errors of the codec's decoder, and [`ErrorClass::Malformed`] for invalid frames and for more
    /// than [`MAX_ANSWER`] bytes. After an error nothing more may be pushed.
    pub fn push(
        &mut self,
        bytes: &[u8],
        events: &mut Vec<ModelEvent>,
    ) -> Result<AnswerProgress, ProviderError> {
        self.bytes_read = self.bytes_read.saturating_add(bytes.len());
        if self.bytes_read > MAX_ANSWER {
            let message = format!("The answer is longer than {} MiB.", MAX_ANSWER / (1024 * 1024));
            return Err(ProviderError::new(ErrorClass::Malformed, message));
        }
        let mut frames: Vec<SseEvent> = Vec::new();
        let read = self.reader.push(bytes, &mut frames);
        for frame in frames {
            let decoded = self.decoder.push(frame)?;
            self.emit_complete(decoded, events);
            if self.decoder.is_done() {
                return Ok(AnswerProgress::Whole);
            }
        }
        read.map(|()| AnswerProgress::More)
    }

    /// Reads the end of the body. A last frame without its blank line counts if it is complete.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorClass::CutOff`] when the answer is incomplete, or the error that a complete last frame
    /// reports.
    pub fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), ProviderError> {
        // An unreadable last frame was cut off; the decoder decides whether the answer was complete before it.
        if let Some(last_event) = self.reader.finish()
            && (last_event.data.trim() == openai_chat::DONE
                || serde_json::from_str::<IgnoredAny>(&last_event.data).is_ok())
        {
            let decoded = self.decoder.push(last_event)?;
            self.emit_complete(decoded, events);
        }
        let decoded = self.decoder.finish()?;
        self.emit_complete(decoded, events);
        Ok(())
    }

    fn emit_complete(&mut self, decoded: Vec<ModelEvent>, events: &mut Vec<ModelEvent>) {
        for event in decoded {
            let ModelEvent::BlockFinished { block, content } = event else {
                events.push(event);
                continue;
            };
            self.waiting.insert(block, content);
            while let Some(content) = self.waiting.remove(&self.next) {
                events.push(ModelEvent::BlockFinished { block: self.next, content });
                self.next += 1;
            }
        }
    }
}
