//! Recorded streams: their content, in any pieces and however they are cut.

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use octo_llm::{
    AnswerProgress, AnswerReader, BilledUsage, BlockKind, Dialect, ErrorClass, FinishReason, MAX_ANSWER,
    ModelEvent, ProviderError, ProviderId,
};
use octo_protocol::{Block, Protocol, ToolCall};
use serde_json::Value;
use std::{fmt::Write, fs, path::Path};

const PROTOCOLS: [(Protocol, &str); 4] = [
    (Protocol::Anthropic, "anthropic"),
    (Protocol::OpenaiChat, "openai_chat"),
    (Protocol::OpenaiResponses, "openai_responses"),
    (Protocol::Bedrock, "bedrock"),
];

/// Encodes a readable recording as a binary stream: one frame per line, with its complete payload.
fn frames(lines: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| line.get(name).and_then(Value::as_str);
        let text = |text: &str| HeaderValue::String(text.to_owned().into());
        let payload = match field("raw") {
            Some(raw) => raw.to_owned(),
            None => line.get("payload").map(Value::to_string).unwrap_or_default(),
        };
        let kinds = [
            ("event", "event", ":event-type"),
            ("exception", "exception", ":exception-type"),
            ("error", "error", ":error-code"),
        ];
        let mut message = Message::new(payload.into_bytes());
        for (name, kind, header) in kinds {
            if let Some(value) = field(name) {
                message = message
                    .add_header(Header::new(header, text(value)))
                    .add_header(Header::new(":content-type", text("application/json")))
                    .add_header(Header::new(":message-type", text(kind)));
            }
        }
        for (name, header) in [("kind", ":message-type"), ("message", ":error-message")] {
            if let Some(value) = field(name) {
                message = message.add_header(Header::new(header, text(value)));
            }
        }
        write_message_to(&message, &mut bytes).unwrap();
    }
    bytes
}

/// All recorded streams of a protocol, by name.
fn recorded(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams").join(folder);
    let mut streams: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let is_readable = path.extension().is_some_and(|extension| extension == "jsonl");
            let bytes = if is_readable {
                frames(&fs::read_to_string(path).unwrap())
            } else {
                fs::read(path).unwrap()
            };
            (name, bytes)
        })
        .collect();
    streams.sort();
    assert!(streams.len() >= 20, "the recorded streams were found");
    streams
}

#[derive(Debug, PartialEq)]
struct StreamReading {
    events: Vec<ModelEvent>,
    end: Result<(), ProviderError>,
}

fn read<'a>(protocol: Protocol, chunks: impl IntoIterator<Item = &'a [u8]>) -> StreamReading {
    let provider = ProviderId("test@host".to_owned());
    let mut reader = AnswerReader::new(protocol, &provider, &Dialect::default());
    let mut events = Vec::new();
    let mut is_complete = false;
    let mut end = Ok(());
    for chunk in chunks {
        match reader.push(chunk, &mut events) {
            Ok(AnswerProgress::More) => {}
            Ok(AnswerProgress::Whole) => {
                is_complete = true;
                break;
            }
            Err(error) => {
                end = Err(error);
                break;
            }
        }
    }
    if end.is_ok() && !is_complete {
        end = reader.finish(&mut events);
    }
    // Fresh ids differ from one reading to the next.
    let id = "00000000000000000000000000000000".parse().unwrap();
    for event in &mut events {
        if let ModelEvent::BlockFinished { content: Block::ToolCall(ToolCall { id: call_id, .. }), .. } =
            event
        {
            *call_id = id;
        }
    }
    StreamReading { events, end }
}

/// Returns the blocks in order and the finish reason: an answer without its usage.
fn result(read: &StreamReading) -> Result<(Vec<(u32, Block)>, FinishReason), ErrorClass> {
    read.end.as_ref().map_err(|error| error.class)?;
    let blocks = read.events.iter().filter_map(|event| match event {
        ModelEvent::BlockFinished { block, content } => Some((*block, content.clone())),
        _ => None,
    });
    let Some(ModelEvent::Finished(reason)) = read.events.last() else { panic!("a success without an end") };
    Ok((blocks.collect(), *reason))
}

fn show(read: &StreamReading) -> String {
    let mut text = String::new();
    for event in &read.events {
        match event {
            ModelEvent::BlockStarted { block, kind: BlockKind::ToolCall { name } } => {
                writeln!(text, "{block} begins: call of {name}")
            }
            ModelEvent::BlockStarted { block, kind } => writeln!(text, "{block} begins: {kind:?}"),
            ModelEvent::Delta { block, text: piece } => writeln!(text, "{block} grows: {piece:?}"),
            ModelEvent::BlockFinished { block, content } => match content {
                Block::Text { text: said } => writeln!(text, "{block} is: text {said:?}"),
                Block::Reasoning { text: said, replay } => {
                    let raw = replay.as_ref().map(|replay| format!("{} {}", replay.provider, replay.raw));
                    writeln!(text, "{block} is: reasoning {said:?}, replayed {raw:?}")
                }
                Block::ToolCall(call) => {
                    writeln!(
                        text,
                        "{block} is: call {} of {} with {:?}",
                        call.provider_id, call.name, call.arguments
                    )
                }
                other => writeln!(text, "{block} is: {other:?}"),
            },
            ModelEvent::Usage(BilledUsage { usage, written_for_an_hour }) if *written_for_an_hour > 0 => {
                writeln!(
                    text,
                    "usage: {} in, {} read, {} written ({written_for_an_hour} for an hour), {} out",
                    usage.input, usage.cache_read, usage.cache_write, usage.output
                )
            }
            ModelEvent::Usage(BilledUsage { usage, .. }) => writeln!(
                text,
                "usage: {} in, {} read, {} written, {} out",
                usage.input, usage.cache_read, usage.cache_write, usage.output
            ),
            ModelEvent::Finished(reason) => writeln!(text, "finished: {reason:?}"),
        }
        .unwrap();
    }
    if let Err(error) = &read.end {
        writeln!(text, "{error}").unwrap();
    }
    text
}

#[test]
fn recorded_streams_decode() {
    for (protocol, folder) in PROTOCOLS {
        let transcripts =
            recorded(folder).into_iter().fold(String::new(), |mut transcripts, (name, bytes)| {
                writeln!(transcripts, "# {name}\n{}", show(&read(protocol, [bytes.as_slice()]))).unwrap();
                transcripts
            });
        insta::assert_snapshot!(folder, transcripts);
    }
}

#[test]
fn streams_named_errors_fail_and_all_others_succeed() {
    for (protocol, folder) in PROTOCOLS {
        for (name, bytes) in recorded(folder) {
            let read = read(protocol, [bytes.as_slice()]);
            assert_eq!(read.end.is_err(), name.starts_with("error_"), "{folder}/{name}: {:?}", read.end);
        }
    }
}

#[test]
fn blocks_are_numbered_without_gaps_and_their_deltas_add_up() {
    for (protocol, folder) in PROTOCOLS {
        for (name, bytes) in recorded(folder) {
            let mut open: Vec<String> = Vec::new();
            for event in read(protocol, [bytes.as_slice()]).events {
                match event {
                    ModelEvent::BlockStarted { block, .. } => {
                        assert_eq!(block as usize, open.len(), "{folder}/{name}");
                        open.push(String::new());
                    }
                    ModelEvent::Delta { block, text } => {
                        assert!(!text.is_empty(), "{folder}/{name}");
                        open[block as usize].push_str(&text);
                    }
                    ModelEvent::BlockFinished { block, content } => {
                        let streamed = &open[block as usize];
                        match content {
                            Block::Text { text } | Block::Reasoning { text, .. } => {
                                assert_eq!(&text, streamed)
                            }
                            Block::ToolCall(call) if !streamed.is_empty() => {
                                assert_eq!(&call.arguments, streamed)
                            }
                            Block::ToolCall(_) => {}
                            other => panic!("{folder}/{name}: {other:?}"),
                        }
                    }
                    ModelEvent::Usage(_) | ModelEvent::Finished(_) => {}
                }
            }
        }
    }
}

fn a_stream_split_at_any_byte_decodes_the_same((protocol, folder): (Protocol, &str)) {
    for (name, bytes) in recorded(folder) {
        let expected = read(protocol, [bytes.as_slice()]);
        for index in 0..=bytes.len() {
            let (head, remainder) = bytes.split_at(index);
            assert_eq!(read(protocol, [head, remainder]), expected, "{folder}/{name} split at {index}");
        }
        assert_eq!(read(protocol, bytes.chunks(1)), expected, "{folder}/{name} byte by byte");
    }
}

fn a_stream_cut_at_any_byte_is_complete_or_a_named_error((protocol, folder): (Protocol, &str)) {
    for (name, bytes) in recorded(folder) {
        let complete = read(protocol, [bytes.as_slice()]);
        let expected = result(&complete);
        let mut succeeded = false;
        for index in 0..bytes.len() {
            let truncated = read(protocol, [&bytes[..index]]);
            match result(&truncated) {
                Ok(found) => {
                    succeeded = true;
                    assert_eq!(Ok(found), expected, "{folder}/{name} cut at {index}");
                    // A server without `[DONE]` may be cut between its finish reason and its figures: then
                    // there are no figures (or the earlier ones), never others.
                    for event in truncated.events.iter().filter(|event| matches!(event, ModelEvent::Usage(_)))
                    {
                        assert!(complete.events.contains(event), "{folder}/{name} cut at {index}");
                    }
                }
                Err(class) => {
                    assert!(!succeeded, "{folder}/{name}: more bytes made a whole answer fail at {index}");
                    // Either the cut is visible, or the stream's own error was reached before.
                    assert!(
                        class == ErrorClass::CutOff || Err(class) == expected,
                        "{folder}/{name} cut at {index}: {class:?}"
                    );
                }
            }
            // The text before the cut is a beginning of the complete stream's text; the end of a stream may
            // also end blocks.
            let deltas: Vec<&ModelEvent> =
                truncated.events.iter().filter(|event| matches!(event, ModelEvent::Delta { .. })).collect();
            let all_deltas: Vec<&ModelEvent> =
                complete.events.iter().filter(|event| matches!(event, ModelEvent::Delta { .. })).collect();
            assert!(all_deltas.starts_with(&deltas), "{folder}/{name} cut at {index}");
        }
    }
}

/// The tests of every byte take long, so each protocol has its own and they run in parallel.
macro_rules! at_any_byte {
    ($($protocol:ident = $index:literal),*) => {$(
        mod $protocol {
            #[test]
            fn a_stream_split_at_any_byte_decodes_the_same() {
                super::a_stream_split_at_any_byte_decodes_the_same(super::PROTOCOLS[$index]);
            }

            #[test]
            fn a_stream_cut_at_any_byte_is_complete_or_a_named_error() {
                super::a_stream_cut_at_any_byte_is_complete_or_a_named_error(super::PROTOCOLS[$index]);
            }
        }
    )*};
}
at_any_byte!(anthropic = 0, openai_chat = 1, openai_responses = 2, bedrock = 3);

#[test]
fn an_endless_answer_is_an_error() {
    // Comments, so that only the count is kept.
    let padding = [&b":"[..], &vec![b'x'; 1024 * 1024 - 2], b"\n"].concat();
    let provider = ProviderId("test@host".to_owned());
    let mut reader = AnswerReader::new(Protocol::Anthropic, &provider, &Dialect::default());
    let mut events = Vec::new();
    for _ in 0..MAX_ANSWER / padding.len() {
        assert_eq!(reader.push(&padding, &mut events), Ok(AnswerProgress::More));
    }
    let error = reader.push(b":\n", &mut events).unwrap_err();
    assert_eq!((error.class, events.len()), (ErrorClass::Malformed, 0));
}
