//! A request of any protocol as the sequence of segments its cache sees.

use crate::server_format::server_format;
use octo_protocol::Protocol;
use serde_json::{Map, Value};

/// A request split into segments.
#[derive(Debug)]
pub(super) struct Segments {
    pub(super) effort: String,
    /// Key that routes requests to machines.
    pub(super) key: String,
    /// Settings that, together with the messages, belong to the prefix from the first message on.
    pub(super) message_settings: String,
    /// Whether the server adds its own breakpoint.
    pub(super) own_breakpoint: bool,
    pub(super) all: Vec<Segment>,
}

#[derive(Debug)]
pub(crate) struct Segment {
    pub(super) section: Section,
    pub(super) side: SegmentSide,
    pub(super) run: SegmentRun,
    /// The segment's bytes without markers.
    pub(super) text: String,
    pub(super) mark: Option<MarkerLifetime>,
    /// Whether the segment may carry a marker.
    pub(super) may_be_marked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Tools,
    System,
    /// Part of the message with this index.
    Message(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SegmentSide {
    Fixed,
    Person,
    Model,
}

/// Consecutive calls are one position, and so are consecutive results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentRun {
    Calls,
    Results,
    Alone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkerLifetime {
    Short,
    Long,
}

/// The fields that carry markers.
const MARKER_FIELDS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

impl Segments {
    pub(super) fn parse(protocol: Protocol, body: &Value) -> Self {
        let segments = (server_format(protocol).segments)(body);
        let effort = ["/output_config/effort", "/reasoning_effort", "/reasoning/effort"];
        let more = "/additionalModelRequestFields";
        let effort = effort.iter().map(|path| body.pointer(path).or(body.pointer(&format!("{more}{path}"))));
        let effort = effort.flatten().map(Value::to_string).collect();
        let manner = ["/tool_choice", "/thinking", "/additionalModelRequestFields/thinking"];
        let manner = manner.iter().filter_map(|path| body.pointer(path)).map(Value::to_string).collect();
        let key =
            ["prompt_cache_key", "session_id"].iter().filter_map(|field| body[field].as_str()).collect();
        let own_breakpoint = body.pointer("/prompt_cache_options/mode") != Some(&Value::from("explicit"));
        Self { effort, key, message_settings: manner, own_breakpoint, all: segments }
    }
}

impl Segment {
    fn new(section: Section, side: SegmentSide, run: SegmentRun, mut value: Value) -> Self {
        let marker = take_mark(&mut value);
        Self { section, side, run, text: value.to_string(), mark: marker, may_be_marked: true }
    }
}

fn list<'a>(body: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    body.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the blocks of a content, which may also be plain text.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks.clone(),
        Value::Null => Vec::new(),
        text => vec![text.clone()],
    }
}

pub(crate) fn anthropic(body: &Value) -> Vec<Segment> {
    let fixed =
        |section| move |block: Value| Segment::new(section, SegmentSide::Fixed, SegmentRun::Alone, block);
    let mut segments: Vec<Segment> = list(body, "/tools").cloned().map(fixed(Section::Tools)).collect();
    segments.extend(blocks(&body["system"]).into_iter().map(fixed(Section::System)));
    for (index, message) in list(body, "/messages").enumerate() {
        let side = side(message);
        for block in blocks(&message["content"]) {
            let run = match block["type"].as_str() {
                Some("tool_use") => SegmentRun::Calls,
                Some("tool_result") => SegmentRun::Results,
                _ => SegmentRun::Alone,
            };
            let reasoning = matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
            let mut segment = Segment::new(Section::Message(index), side, run, block);
            segment.may_be_marked = !reasoning;
            segments.push(segment);
        }
    }
    // Automatic mode: the last block that takes a marker gets one.
    let automatic = body.get("cache_control").map(mark);
    if let (Some(marker), Some(last)) =
        (automatic, segments.iter_mut().rev().find(|block| block.may_be_marked))
    {
        last.mark = last.mark.or(Some(marker));
    }
    segments
}

pub(crate) fn converse(body: &Value) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut add = |section, side, block: &Value| {
        let Some(point) = block.get("cachePoint") else {
            let run = match block {
                block if block.get("toolUse").is_some() => SegmentRun::Calls,
                block if block.get("toolResult").is_some() => SegmentRun::Results,
                _ => SegmentRun::Alone,
            };
            let mut segment = Segment::new(section, side, run, block.clone());
            segment.may_be_marked = block.get("reasoningContent").is_none();
            return segments.push(segment);
        };
        if let Some(before) = segments.last_mut() {
            before.mark = Some(mark(point));
        }
    };
    list(body, "/toolConfig/tools").for_each(|tool| add(Section::Tools, SegmentSide::Fixed, tool));
    list(body, "/system").for_each(|block| add(Section::System, SegmentSide::Fixed, block));
    for (index, message) in list(body, "/messages").enumerate() {
        let side = side(message);
        list(message, "/content").for_each(|block| add(Section::Message(index), side, block));
    }
    segments
}

pub(crate) fn chat(body: &Value) -> Vec<Segment> {
    let tool =
        |tool: &Value| Segment::new(Section::Tools, SegmentSide::Fixed, SegmentRun::Alone, tool.clone());
    let mut segments: Vec<Segment> = list(body, "/tools").map(tool).collect();
    let mut index = 0;
    for message in list(body, "/messages") {
        let role = message["role"].as_str().unwrap_or_default();
        if matches!(role, "system" | "developer") {
            segments.push(Segment::new(
                Section::System,
                SegmentSide::Fixed,
                SegmentRun::Alone,
                message.clone(),
            ));
            continue;
        }
        let run = match role {
            "tool" => SegmentRun::Results,
            _ if message.get("tool_calls").is_some() => SegmentRun::Calls,
            _ => SegmentRun::Alone,
        };
        segments.push(Segment::new(Section::Message(index), side(message), run, message.clone()));
        index += 1;
    }
    segments
}

pub(crate) fn responses(body: &Value) -> Vec<Segment> {
    let tool =
        |tool: &Value| Segment::new(Section::Tools, SegmentSide::Fixed, SegmentRun::Alone, tool.clone());
    let mut segments: Vec<Segment> = list(body, "/tools").map(tool).collect();
    if let Some(instructions) = body.get("instructions").filter(|value| !value.is_null()) {
        let mut segment =
            Segment::new(Section::System, SegmentSide::Fixed, SegmentRun::Alone, instructions.clone());
        segment.may_be_marked = false;
        segments.push(segment);
    }
    let mut index = 0;
    for item in list(body, "/input") {
        let role = item["role"].as_str().unwrap_or_default();
        if matches!(role, "system" | "developer") {
            segments.push(Segment::new(Section::System, SegmentSide::Fixed, SegmentRun::Alone, item.clone()));
            continue;
        }
        let (side, run) = match item["type"].as_str() {
            Some("function_call") => (SegmentSide::Model, SegmentRun::Calls),
            Some("function_call_output") => (SegmentSide::Person, SegmentRun::Results),
            Some("reasoning") => (SegmentSide::Model, SegmentRun::Alone),
            _ => (side(item), SegmentRun::Alone),
        };
        let mut segment = Segment::new(Section::Message(index), side, run, item.clone());
        segment.may_be_marked = side != SegmentSide::Model;
        segments.push(segment);
        index += 1;
    }
    segments
}

fn side(message: &Value) -> SegmentSide {
    if message["role"] == "assistant" { SegmentSide::Model } else { SegmentSide::Person }
}

fn mark(marker: &Value) -> MarkerLifetime {
    if marker["ttl"] == "1h" { MarkerLifetime::Long } else { MarkerLifetime::Short }
}

/// Removes the marker from a block and from the parts of its content; leaves a tool's own parameters alone.
fn take_mark(value: &mut Value) -> Option<MarkerLifetime> {
    match value {
        Value::Array(parts) => parts.iter_mut().filter_map(take_mark).next_back(),
        Value::Object(fields) => {
            let markers = MARKER_FIELDS.iter().filter_map(|field| fields.shift_remove(*field)).next_back();
            let inner =
                ["content", "output"].iter().filter_map(|field| mark_within(fields, field)).next_back();
            markers.as_ref().map(mark).or(inner)
        }
        _ => None,
    }
}

fn mark_within(fields: &mut Map<String, Value>, field: &str) -> Option<MarkerLifetime> {
    fields.get_mut(field).and_then(take_mark)
}
