//! Sent requests: the allow-list, the cases providers are strict about, and the frozen prefix.

mod rules;
mod sealed;

use crate::marked;
use octo_llm::{
    BreakpointSupport, CacheKeyField, CacheLifetime, CachePlan, CallSignatures, Dialect, KeyHeaders,
    MarkerStyle, ModelRequest, OutputLimit, ProviderId, ReasoningItems, ReasoningPadding, ToolSchema,
    UnsignedReasoning, anthropic, bedrock, openai_chat, openai_responses,
};
use octo_protocol::{
    BlobHash, Block, CallId, CallStatus, Effort, Message, MessageId, Meta, NoticeKind, Origin, Replay,
    ResultImage, Role, ToolCall, ToolResult, TurnId, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};

const PROVIDER: &str = "test@host";

fn message(role: Role, blocks: Vec<Block>) -> Message {
    let origin = if role == Role::User { Origin::Person } else { Origin::Model };
    let usage = Some(Usage { input: 987_654_321, ..Usage::default() });
    let meta = Meta { usage, ..Meta::new(origin, 1_780_000_000_123) };
    Message { id: MessageId::new(), turn: TurnId::new(), role, blocks, meta }
}

fn user(blocks: Vec<Block>) -> Message {
    message(Role::User, blocks)
}

fn assistant(blocks: Vec<Block>) -> Message {
    message(Role::Assistant, blocks)
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn reasoning(provider: &str, raw: Value) -> Block {
    Block::Reasoning { text: "shown".to_owned(), replay: Some(Replay { provider: provider.to_owned(), raw }) }
}

fn image(hash: &str, media_type: &str) -> Block {
    Block::Image {
        blob: BlobHash(hash.to_owned()),
        media_type: media_type.to_owned(),
        name: "shot.png".to_owned(),
    }
}

fn call_id(number: u8) -> CallId {
    format!("{number:032x}").parse().unwrap()
}

fn call(number: u8, provider_id: &str, name: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: call_id(number),
        provider_id: provider_id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    })
}

fn document(hash: &str, media_type: &str) -> Block {
    Block::Document {
        blob: BlobHash(hash.to_owned()),
        media_type: media_type.to_owned(),
        name: format!("{hash}.pdf"),
        path: format!("/work/{hash}.pdf"),
    }
}

fn result(number: u8, provider_id: &str, status: CallStatus, text: &str, images: &[&str]) -> Block {
    let images = images.iter().map(|hash| ResultImage {
        blob: BlobHash((*hash).to_owned()),
        media_type: "image/png".to_owned(),
        name: format!("{hash}.png"),
    });
    Block::ToolResult(ToolResult {
        call: call_id(number),
        provider_id: provider_id.to_owned(),
        status,
        text: text.to_owned(),
        images: images.collect(),
    })
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let parameters = json!({ "type": "object", "properties": { "zebra": { "type": "string" }, "apple": {} }, "required": ["zebra"] });
    let tool = |name: &str| ToolSchema {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: parameters.clone(),
    };
    ModelRequest {
        model: "model-1".to_owned(),
        system: Arc::from("You are Octo."),
        tools: Arc::from([tool("write"), tool("grep")]),
        cache: marked(&messages),
        messages,
        images: Arc::new(HashMap::from([(BlobHash("here".to_owned()), Arc::from(&b"PNG"[..]))])),
        vision: true,
        documents: true,
        max_output: 8192,
        effort: None,
    }
}

/// A conversation with everything that can be in one.
fn everything() -> Vec<Message> {
    vec![
        user(vec![
            Block::Notice { kind: NoticeKind::Context, text: "Today is Monday.</octo-notice><b>".to_owned() },
            text("Look at these"),
            text("  \n"),
            image("here", "image/png"),
            image("gone", "image/png"),
            image("here", "image/tiff"),
            Block::File { path: "/work/a file.txt".to_owned() },
            document("here", "application/pdf"),
            document("gone", "application/pdf"),
            document("here", "application/msword"),
            document("here", "application/pdf"),
        ]),
        assistant(vec![
            reasoning(
                PROVIDER,
                json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln", "reasoning_content": "hm" }),
            ),
            reasoning(
                "other@host",
                json!({ "type": "thinking", "thinking": "secret", "signature": "x", "reasoning_content": "secret" }),
            ),
            reasoning(
                PROVIDER,
                json!({ "id": "rs_1", "type": "reasoning", "status": "completed", "summary": [], "content": null, "encrypted_content": "RU5D" }),
            ),
            reasoning(PROVIDER, json!({ "id": "rs_2", "type": "reasoning", "summary": [] })),
            reasoning(PROVIDER, json!({ "reasoningText": { "text": "hm", "signature": "c2ln" } })),
            reasoning("other@host", json!({ "type": "reasoning", "encrypted_content": "secret" })),
            reasoning("other@host", json!({ "redactedContent": "secret" })),
            text("I look."),
            call(1, "toolu_1", "write", "{\"zebra\": \"\u{e9}\",  \"apple\": 1.50}"),
            call(2, "toolu_1", "gr ep!", "{\"cut"),
            call(3, "", "", ""),
        ]),
        user(vec![
            text("Also this"),
            result(1, "toolu_1", CallStatus::Done, "ok", &["here", "gone"]),
            result(2, "toolu_1", CallStatus::Failed, "broken arguments", &[]),
            result(3, "", CallStatus::Denied, "", &[]),
        ]),
        assistant(vec![reasoning("other@host", json!({ "type": "thinking", "thinking": "secret" }))]),
        user(vec![Block::Summary { text: "What came before.".to_owned(), covers: 4, archive: None }]),
        assistant(vec![]),
        user(vec![text("")]),
    ]
}

#[test]
fn an_anthropic_request() {
    insta::assert_json_snapshot!(encode_anthropic(&request(everything())));
}

#[test]
fn an_openai_chat_request() {
    let encoded =
        openai_chat::encode(&request(everything()), &ProviderId(PROVIDER.to_owned()), &Dialect::default());
    insta::assert_json_snapshot!(encoded);
}

fn encode_anthropic(request: &ModelRequest) -> Value {
    anthropic::encode(request, &ProviderId(PROVIDER.to_owned()), &Dialect::default())
}

fn encode_openai_chat(request: &ModelRequest) -> Value {
    openai_chat::encode(request, &ProviderId(PROVIDER.to_owned()), &Dialect::default())
}

fn encode_openai_responses(request: &ModelRequest) -> Value {
    openai_responses::encode(request, &ProviderId(PROVIDER.to_owned()), &Dialect::default())
}

fn encode_bedrock(request: &ModelRequest) -> Value {
    bedrock::encode(request, &ProviderId(PROVIDER.to_owned()))
}

const MARKED: Dialect = Dialect { markers: MarkerStyle::CacheControl, ..COMMON };
const BROKEN: Dialect = Dialect { breakpoints: BreakpointSupport::Explicit, ..COMMON };
const COMMON: Dialect = Dialect {
    output_limit: OutputLimit::MaxTokens,
    padding: ReasoningPadding::Following,
    unsigned: UnsignedReasoning::Keep,
    key_headers: KeyHeaders::ApiKey,
    cache_key: CacheKeyField::Unknown,
    markers: MarkerStyle::Unknown,
    breakpoints: BreakpointSupport::Unknown,
    reasoning_items: ReasoningItems::Encrypted,
    signatures: CallSignatures::Optional,
};

type Encode = fn(&ModelRequest) -> Value;

/// Every protocol, in every dialect that changes what messages look like.
const ENCODERS: [(&str, Encode); 8] = [
    ("anthropic", encode_anthropic),
    ("chat", encode_openai_chat),
    ("chat, padded", |request| chat(request, Dialect { padding: ReasoningPadding::Always, ..COMMON })),
    ("chat, markers", |request| chat(request, MARKED)),
    ("chat, breakpoints", |request| chat(request, BROKEN)),
    ("responses", encode_openai_responses),
    ("responses, breakpoints", |request| responses(request, BROKEN)),
    ("bedrock", encode_bedrock),
];

fn chat(request: &ModelRequest, dialect: Dialect) -> Value {
    openai_chat::encode(request, &ProviderId(PROVIDER.to_owned()), &dialect)
}

fn responses(request: &ModelRequest, dialect: Dialect) -> Value {
    openai_responses::encode(request, &ProviderId(PROVIDER.to_owned()), &dialect)
}

#[test]
fn an_openai_responses_request() {
    insta::assert_json_snapshot!(encode_openai_responses(&request(everything())));
}

#[test]
fn a_bedrock_request() {
    insta::assert_json_snapshot!(encode_bedrock(&request(everything())));
}

#[test]
fn nothing_but_content_leaves_the_machine() {
    let request = request(everything());
    for (_, encode) in ENCODERS {
        let encoded = encode(&request);
        let bytes = encoded.to_string();
        for private in ["987654321", "1780000000123", "origin", "secret", "shown"] {
            assert!(!bytes.contains(private), "{private} in {bytes}");
        }
        for message in &request.messages {
            assert!(!bytes.contains(&message.id.to_string()) && !bytes.contains(&message.turn.to_string()));
        }
    }
}

#[test]
fn failed_results_are_marked_as_such() {
    for (status, is_error) in [
        (CallStatus::Done, false),
        (CallStatus::Failed, true),
        (CallStatus::Denied, true),
        (CallStatus::Stopped, true),
        (CallStatus::Interrupted, true),
    ] {
        let request = request(vec![
            user(vec![text("go")]),
            assistant(vec![call(1, "t1", "write", "{}")]),
            user(vec![result(1, "t1", status, "said", &[])]),
        ]);
        let block = encode_anthropic(&request)["messages"][2]["content"][0].clone();
        assert_eq!(block["is_error"] == true, is_error, "{status:?}");
        let block = encode_bedrock(&request)["messages"][2]["content"][0]["toolResult"].clone();
        assert_eq!(block["status"] == "error", is_error, "{status:?}");
    }
}

#[test]
fn a_model_without_vision_gets_mentions_of_files() {
    let mut request = request(everything());
    (request.vision, request.documents) = (false, false);
    for (_, encode) in ENCODERS {
        let bytes = encode(&request).to_string();
        assert!(!bytes.contains("UE5H") && !bytes.contains("image_url"), "{bytes}");
        assert!(bytes.contains("this model takes no pictures"), "{bytes}");
        assert!(bytes.contains("Attached document: /work/here.pdf"), "{bytes}");
    }
}

#[test]
fn the_dialect_decides_the_field_of_the_limit() {
    for (output_limit, present, absent) in [
        (OutputLimit::MaxTokens, "max_tokens", "max_completion_tokens"),
        (OutputLimit::MaxCompletionTokens, "max_completion_tokens", "max_tokens"),
    ] {
        let dialect = Dialect { output_limit, ..Dialect::default() };
        let body = openai_chat::encode(&request(everything()), &ProviderId(PROVIDER.to_owned()), &dialect);
        assert_eq!(body[present], 8192);
        assert_eq!(body.get(absent), None);
    }
}

#[test]
fn empty_reasoning_follows_reasoning_and_never_precedes_it() {
    let reasoning_of = |raw: Option<Value>| {
        assistant(raw.map(|raw| reasoning(PROVIDER, raw)).into_iter().chain([text("a")]).collect())
    };
    let messages = vec![
        user(vec![text("1")]),
        reasoning_of(None),
        user(vec![text("2")]),
        reasoning_of(Some(json!({ "reasoning": "hm" }))),
        user(vec![text("3")]),
        reasoning_of(None),
        user(vec![text("4")]),
    ];
    let fields = |padding| {
        let dialect = Dialect { padding, ..Dialect::default() };
        let body =
            openai_chat::encode(&request(messages.clone()), &ProviderId(PROVIDER.to_owned()), &dialect);
        let assistants: Vec<Value> = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|reasoning_of| reasoning_of["role"] == "assistant")
            .cloned()
            .collect();
        assistants
            .iter()
            .map(|reasoning_of| {
                (reasoning_of.get("reasoning_content").cloned(), reasoning_of.get("reasoning").cloned())
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        fields(ReasoningPadding::Following),
        [(None, None), (None, Some(json!("hm"))), (None, Some(json!("")))]
    );
    let padded = (Some(json!("")), None);
    assert_eq!(fields(ReasoningPadding::Always), [padded.clone(), (None, Some(json!("hm"))), padded]);
}

#[test]
fn there_are_never_more_than_four_markers() {
    let messages: Vec<Message> = (0..9)
        .map(|index| message(if index % 2 == 0 { Role::User } else { Role::Assistant }, vec![text("x")]))
        .collect();
    let mut request = request(messages);
    request.cache.messages = [0, 2, 4, 6, 8, 99].map(|index| (index, CacheLifetime::FiveMinutes)).to_vec();
    let body = encode_anthropic(&request);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    assert!(body["system"][0]["cache_control"].is_object());
    // The last ones are kept; a marker that names no message is ignored.
    assert!(body["messages"][8]["content"][0]["cache_control"].is_object());
}

/// Two turns, with a call in the first.
fn two_turns() -> ModelRequest {
    let mut request = request(vec![
        user(vec![text("go")]),
        assistant(vec![text("I look."), call(1, "t1", "write", "{}")]),
        user(vec![result(1, "t1", CallStatus::Done, "said", &[])]),
        user(vec![text("queued"), image("here", "image/png")]),
    ]);
    request.cache = CachePlan {
        fixed: Some(CacheLifetime::Hour),
        messages: vec![
            (0, CacheLifetime::Hour),
            (2, CacheLifetime::FiveMinutes),
            (3, CacheLifetime::FiveMinutes),
        ],
        key: Some("conversation-1".to_owned()),
    };
    request
}

#[test]
fn markers_are_written_as_each_server_takes_them() {
    let request = two_turns();
    let (short, hour) = (json!({ "type": "ephemeral" }), json!({ "type": "ephemeral", "ttl": "1h" }));
    let body = chat(&request, MARKED);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], hour);
    assert_eq!(body["messages"][1]["content"][0]["cache_control"], hour);
    assert_eq!(
        body["messages"][3]["content"],
        json!([{ "type": "text", "text": "said", "cache_control": short }])
    );
    // On text alone: the picture after it gets none.
    assert_eq!(body["messages"][4]["content"][0]["cache_control"], short);
    assert_eq!(body["messages"][4]["content"][1]["type"], "image_url");
    assert!(!chat(&request, COMMON).to_string().contains("cache_control"));

    let point = json!({ "mode": "explicit" });
    let body = responses(&request, BROKEN);
    assert_eq!(body.get("instructions"), None);
    assert_eq!(body["input"][0]["role"], "developer");
    assert_eq!(body["input"][0]["content"][0]["prompt_cache_breakpoint"], point);
    assert_eq!(body["input"][4]["output"][0]["prompt_cache_breakpoint"], point);
    assert_eq!(body["input"][5]["content"][1]["prompt_cache_breakpoint"], point);
    // Three in addition to the server's own: the earliest message gets none.
    assert_eq!(body.to_string().matches("prompt_cache_breakpoint").count(), 3);
    let body = responses(&request, COMMON);
    assert!(!body.to_string().contains("prompt_cache_breakpoint"));
    assert_eq!(body["instructions"], "You are Octo.");

    let (short, hour) = (json!({ "type": "default" }), json!({ "type": "default", "ttl": "1h" }));
    let body = encode_bedrock(&request);
    assert_eq!(body["system"][1]["cachePoint"], hour);
    assert_eq!(body["messages"][0]["content"][1]["cachePoint"], hour);
    // The last two messages are merged; each keeps its own breakpoint.
    let merged = body["messages"][2]["content"].as_array().unwrap();
    let points: Vec<usize> =
        (0..merged.len()).filter(|index| merged[*index]["cachePoint"] == short).collect();
    assert_eq!((points, merged.len()), (vec![1, 4], 5));
}

#[test]
fn the_cache_key_uses_only_a_field_the_server_knows() {
    let request = two_turns();
    for (cache_key, expected) in [
        (CacheKeyField::Unknown, [None, None, Some("prompt_cache_key")]),
        (CacheKeyField::PromptCacheKey, [None, Some("prompt_cache_key"), Some("prompt_cache_key")]),
        (CacheKeyField::SessionId, [Some("session_id"), Some("session_id"), Some("session_id")]),
    ] {
        let dialect = Dialect { cache_key, ..COMMON };
        let provider = ProviderId(PROVIDER.to_owned());
        let bodies = [
            anthropic::encode(&request, &provider, &dialect),
            chat(&request, dialect),
            responses(&request, dialect),
        ];
        for (body, expected) in bodies.iter().zip(expected) {
            for field in ["session_id", "prompt_cache_key"] {
                let found = body.get(field).and_then(Value::as_str);
                assert_eq!(
                    found,
                    (expected == Some(field)).then_some("conversation-1"),
                    "{cache_key:?} {field}"
                );
            }
        }
        assert!(!encode_bedrock(&request).to_string().contains("conversation-1"));
    }
}

#[test]
fn effort_is_asked_for_in_each_protocols_words() {
    let mut request = two_turns();
    for (_, encode) in ENCODERS {
        let bytes = encode(&request).to_string();
        assert!(!bytes.contains("effort") && !bytes.contains("thinking"), "nothing is sent unasked: {bytes}");
    }
    for (effort, openai, anthropic) in [
        (Effort::Off, "none", None),
        (Effort::Minimal, "minimal", Some("low")),
        (Effort::Low, "low", Some("low")),
        (Effort::Medium, "medium", Some("medium")),
        (Effort::High, "high", Some("high")),
        (Effort::Xhigh, "xhigh", Some("xhigh")),
        (Effort::Max, "max", Some("max")),
    ] {
        request.effort = Some(effort);
        assert_eq!(chat(&request, COMMON)["reasoning_effort"], openai);
        assert_eq!(responses(&request, COMMON)["reasoning"], json!({ "effort": openai }));
        for fields in
            [encode_anthropic(&request), encode_bedrock(&request)["additionalModelRequestFields"].clone()]
        {
            match anthropic {
                Some(level) => {
                    assert_eq!(fields["thinking"], json!({ "type": "adaptive" }));
                    assert_eq!(fields["output_config"], json!({ "effort": level }));
                }
                None => {
                    assert_eq!(fields["thinking"], json!({ "type": "disabled" }));
                    assert_eq!(fields.get("output_config"), None);
                }
            }
        }
    }
}

#[test]
fn reasoning_is_asked_for_encrypted_unless_the_model_has_none() {
    let request = two_turns();
    let body = responses(&request, COMMON);
    assert_eq!((&body["store"], &body["include"]), (&json!(false), &json!(["reasoning.encrypted_content"])));
    let unasked = Dialect { reasoning_items: ReasoningItems::Omitted, ..COMMON };
    assert_eq!(responses(&request, unasked).get("include"), None);
}

#[test]
fn without_a_system_prompt_the_tools_are_marked() {
    let mut request = request(vec![user(vec![text("x")])]);
    request.system = Arc::from("");
    let body = encode_anthropic(&request);
    assert_eq!(body.get("system"), None);
    assert_eq!(body["tools"][0].get("cache_control"), None);
    assert!(body["tools"][1]["cache_control"].is_object());
    let body = encode_bedrock(&request);
    assert_eq!(body.get("system"), None);
    assert!(body["toolConfig"]["tools"][2]["cachePoint"].is_object());
}
