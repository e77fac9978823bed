//! Reads binary event frames (`application/vnd.amazon.eventstream`) from bytes in pieces of any size.
//!
//! This module cuts out and bounds the frames; `aws-smithy-eventstream` parses them and verifies the checksums.
//! The result has the form of a server-sent event, so all later code is the same for both framings.

use crate::{ErrorClass, ProviderError, sse};
use aws_smithy_eventstream::frame::read_message_from;
use aws_smithy_types::event_stream::{HeaderValue, Message};
use bytes::{Buf, BytesMut};
use serde_json::{Value, json};

/// Event name that an exception is given.
pub(crate) const EXCEPTION: &str = "exception";
/// Length of the shortest frame: a prelude of twelve bytes and a checksum of four.
const MIN_FRAME: usize = 16;

/// Reads frames from bytes pushed in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct EventStreamReader {
    buffer: BytesMut,
}

impl EventStreamReader {
    /// Reads the next bytes and appends the events they complete.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorClass::Malformed`] when a frame is longer than [`sse::MAX_FRAME`], shorter than any frame
    /// can be, or its checksums do not match. `events` keeps the events completed before that by the same
    /// bytes.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        events: &mut Vec<sse::SseEvent>,
    ) -> Result<(), ProviderError> {
        self.buffer.extend_from_slice(bytes);
        while let Some(length) = self.buffer.first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            if !(MIN_FRAME..=sse::MAX_FRAME).contains(&length) {
                return Err(malformed(format!("a frame of {length} bytes")));
            }
            if self.buffer.len() < length {
                break;
            }
            let frame = self.buffer.split_to(length).freeze();
            let message = read_message_from(frame).map_err(|error| malformed(error.to_string()))?;
            events.extend(event(&message)?);
        }
        Ok(())
    }
}

fn malformed(reason: String) -> ProviderError {
    ProviderError::new(ErrorClass::Malformed, format!("The stream holds {reason}."))
}

/// Converts a message to an event with its name and payload; an exception becomes an event named [`EXCEPTION`],
/// an object with its `type` and `message`. Other kinds of message yield nothing.
fn event(message: &Message) -> Result<Option<sse::SseEvent>, ProviderError> {
    let header = |name: &str| {
        let found = message.headers().iter().find(|header| header.name().as_str() == name)?;
        match found.value() {
            HeaderValue::String(text) => Some(text.as_str().to_owned()),
            _ => None,
        }
    };
    let payload = || {
        std::str::from_utf8(message.payload().chunk())
            .map(str::to_owned)
            .map_err(|_| malformed("a payload that is no text".to_owned()))
    };
    let exception = |kind: Option<String>, body: Option<Value>| {
        let (kind, body) = (kind.unwrap_or_default(), body.unwrap_or(Value::Null));
        sse::SseEvent {
            event: EXCEPTION.to_owned(),
            data: json!({ "type": kind, "message": body }).to_string(),
        }
    };
    Ok(match header(":message-type").as_deref() {
        Some("event") | None => {
            let name = header(":event-type").unwrap_or_default();
            Some(sse::SseEvent { event: name, data: payload()? })
        }
        Some("exception") => {
            let body: Option<Value> = serde_json::from_str(&payload()?).ok();
            let body = body.and_then(|mut body: Value| body.get_mut("message").map(Value::take));
            Some(exception(header(":exception-type"), body))
        }
        Some("error") => Some(exception(header(":error-code"), header(":error-message").map(Value::from))),
        Some(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sse::SseEvent;
    use aws_smithy_eventstream::frame::write_message_to;
    use aws_smithy_types::event_stream::Header;
    use proptest::prelude::*;

    fn frame(headers: &[(&'static str, &'static str)], payload: &[u8]) -> Vec<u8> {
        let mut message = Message::new(payload.to_vec());
        for (name, value) in headers {
            message = message.add_header(Header::new(*name, HeaderValue::String((*value).into())));
        }
        let mut bytes = Vec::new();
        write_message_to(&message, &mut bytes).unwrap();
        bytes
    }

    fn read(chunks: &[&[u8]]) -> (Vec<SseEvent>, Result<(), ErrorClass>) {
        let mut reader = EventStreamReader::default();
        let mut events = Vec::new();
        for chunk in chunks {
            if let Err(error) = reader.push(chunk, &mut events) {
                return (events, Err(error.class));
            }
        }
        (events, Ok(()))
    }

    /// From the vendor's own tests (awslabs/aws-c-event-stream, `message_deserializer_test.c`).
    const PUBLISHED: &[u8] = &[
        0x00, 0x00, 0x00, 0x3D, 0x00, 0x00, 0x00, 0x20, 0x07, 0xFD, 0x83, 0x96, 0x0C, b'c', b'o', b'n', b't',
        b'e', b'n', b't', b'-', b't', b'y', b'p', b'e', 0x07, 0x00, 0x10, b'a', b'p', b'p', b'l', b'i', b'c',
        b'a', b't', b'i', b'o', b'n', b'/', b'j', b's', b'o', b'n', 0x7b, 0x27, 0x66, 0x6f, 0x6f, 0x27, 0x3a,
        0x27, 0x62, 0x61, 0x72, 0x27, 0x7d, 0x8D, 0x9C, 0x08, 0xB1,
    ];

    #[test]
    fn a_published_frame_decodes_and_any_flipped_bit_is_refused() {
        let (events, end) = read(&[PUBLISHED]);
        assert_eq!(end, Ok(()));
        assert_eq!(events, [SseEvent { event: String::new(), data: "{'foo':'bar'}".to_owned() }]);
        for index in 4..PUBLISHED.len() {
            let mut broken = PUBLISHED.to_vec();
            broken[index] ^= 0x10;
            assert_eq!(read(&[&broken]), (Vec::new(), Err(ErrorClass::Malformed)), "byte {index}");
        }
    }

    #[test]
    fn messages_become_events() {
        for (headers, payload, expected) in [
            (
                &[(":message-type", "event"), (":event-type", "messageStop")][..],
                r#"{"a":1}"#,
                Some(("messageStop", r#"{"a":1}"#)),
            ),
            (
                &[(":message-type", "exception"), (":exception-type", "throttlingException")],
                r#"{"message":"slow"}"#,
                Some(("exception", r#"{"type":"throttlingException","message":"slow"}"#)),
            ),
            (
                &[(":message-type", "exception")],
                "no json",
                Some(("exception", r#"{"type":"","message":null}"#)),
            ),
            (
                &[(":message-type", "error"), (":error-code", "500"), (":error-message", "broke")],
                "",
                Some(("exception", r#"{"type":"500","message":"broke"}"#)),
            ),
            (&[(":message-type", "news")], "{}", None),
        ] {
            let expected = expected.map(|(event, data)| SseEvent { event: event.into(), data: data.into() });
            let (events, end) = read(&[&frame(headers, payload.as_bytes())]);
            assert_eq!((events, end), (expected.into_iter().collect(), Ok(())), "{headers:?}");
        }
    }

    #[test]
    fn an_impossible_frame_length_is_refused_at_once() {
        for length in [0_u32, 15, 16 * 1024 * 1024 + 1, u32::MAX] {
            let (events, end) = read(&[&length.to_be_bytes()]);
            assert_eq!((events.len(), end), (0, Err(ErrorClass::Malformed)), "{length}");
        }
        assert_eq!(read(&[&frame(&[(":event-type", "x")], b"\xff")]).1, Err(ErrorClass::Malformed));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            payloads in proptest::collection::vec("[a-zé🦑]{0,20}", 0..5),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let headers = [(":message-type", "event"), (":event-type", "x")];
            let bytes = payloads.iter().flat_map(|text| frame(&headers, text.as_bytes())).collect::<Vec<u8>>();
            let mut splits: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            splits.extend([0, bytes.len()]);
            splits.sort_unstable();
            let chunks: Vec<&[u8]> = splits.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let (events, end) = read(&chunks);
            prop_assert_eq!(end, Ok(()));
            prop_assert_eq!(events.into_iter().map(|event| event.data).collect::<Vec<_>>(), payloads);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), length in 16_u8..120) {
            let _ = read(&[&bytes]);
            // With a plausible length the frame itself is parsed.
            let _ = read(&[&[0, 0, 0, length], &bytes]);
        }
    }
}
