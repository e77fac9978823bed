//! What is sent: the allow-list, the cases providers are strict about, and the frozen prefix.

use crate::marked;
use octo_llm::{
    CachePlan, Dialect, Life, ModelRequest, OutputLimit, ProviderId, ReasoningPadding, ToolSchema, anthropic,
    openai_chat,
};
use octo_protocol::{
    BlobHash, Block, CallId, CallStatus, Message, MessageId, Meta, NoticeKind, Origin, Replay, ResultImage,
    Role, ToolCall, ToolResult, TurnId, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};

const PROVIDER: &str = "test@host";

fn message(role: Role, blocks: Vec<Block>) -> Message {
    let origin = if role == Role::User { Origin::Person } else { Origin::Model };
    let usage = Some(Usage { input: 987_654_321, ..Usage::default() });
    let meta = Meta { origin, at: 1_780_000_000_123, model: None, usage, end: None };
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

#[test]
fn nothing_but_content_leaves_the_machine() {
    let request = request(everything());
    for encoded in [encode_anthropic(&request), encode_openai_chat(&request)] {
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
    for (status, marked) in [
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
        assert_eq!(block["is_error"] == true, marked, "{status:?}");
    }
}

#[test]
fn a_blind_model_is_told_of_pictures() {
    let mut request = request(everything());
    request.vision = false;
    for encoded in [encode_anthropic(&request), encode_openai_chat(&request)] {
        let bytes = encoded.to_string();
        assert!(!bytes.contains("UE5H") && !bytes.contains("image_url"), "{bytes}");
        assert!(bytes.contains("this model takes no pictures"), "{bytes}");
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
    let said = |raw: Option<Value>| {
        assistant(raw.map(|raw| reasoning(PROVIDER, raw)).into_iter().chain([text("a")]).collect())
    };
    let messages = vec![
        user(vec![text("1")]),
        said(None),
        user(vec![text("2")]),
        said(Some(json!({ "reasoning": "hm" }))),
        user(vec![text("3")]),
        said(None),
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
            .filter(|said| said["role"] == "assistant")
            .cloned()
            .collect();
        assistants
            .iter()
            .map(|said| (said.get("reasoning_content").cloned(), said.get("reasoning").cloned()))
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
    request.cache.messages = [0, 2, 4, 6, 8, 99].map(|index| (index, Life::FiveMinutes)).to_vec();
    let body = encode_anthropic(&request);
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    assert!(body["system"][0]["cache_control"].is_object());
    // The last ones are kept; one that names no message counts for nothing.
    assert!(body["messages"][8]["content"][0]["cache_control"].is_object());
}

#[test]
fn without_a_system_prompt_the_tools_are_marked() {
    let mut request = request(vec![user(vec![text("x")])]);
    request.system = Arc::from("");
    let body = encode_anthropic(&request);
    assert_eq!(body.get("system"), None);
    assert_eq!(body["tools"][0].get("cache_control"), None);
    assert!(body["tools"][1]["cache_control"].is_object());
}

/// Any block a message of that side may hold.
fn block(role: Role) -> BoxedStrategy<Block> {
    let words = prop_oneof![Just(String::new()), Just(" ".to_owned()), "[a-zé🦑\"\\\\\n]{1,12}"];
    let status = prop_oneof![Just(CallStatus::Done), Just(CallStatus::Failed), Just(CallStatus::Stopped)];
    let ids = prop_oneof![Just(""), Just("toolu_1"), Just("call:2"), Just("toolu_3")];
    let provider = prop_oneof![Just(PROVIDER), Just("other@host")];
    match role {
        Role::User => prop_oneof![
            words.clone().prop_map(|text| Block::Text { text }),
            words.clone().prop_map(|text| Block::Summary { text, covers: 1, archive: None }),
            words.clone().prop_map(|text| Block::Notice { kind: NoticeKind::Todos, text }),
            words.clone().prop_map(|path| Block::File { path }),
            prop_oneof![Just("here"), Just("gone")].prop_map(|hash| image(hash, "image/png")),
            (0..4_u8, ids, status, words, 0..2_usize).prop_map(|(number, id, status, text, images)| {
                result(number, id, status, &text, &["here", "gone"][..images])
            }),
        ]
        .boxed(),
        Role::Assistant => prop_oneof![
            words.clone().prop_map(|text| Block::Text { text }),
            (provider.clone(), words.clone()).prop_map(|(provider, text)| reasoning(
                provider,
                json!({ "type": "thinking", "thinking": text, "signature": "s" })
            )),
            (provider, words.clone(), any::<bool>()).prop_map(|(provider, text, long)| {
                let field = if long { "reasoning_content" } else { "reasoning" };
                reasoning(provider, json!({ field: text }))
            }),
            (
                0..4_u8,
                ids,
                words,
                prop_oneof![Just("{}"), Just("{\"b\":1,\"a\":[2.50]}"), Just("{\"cut"), Just("7")]
            )
                .prop_map(|(number, id, name, arguments)| call(number, id, &name, arguments)),
        ]
        .boxed(),
    }
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let said = prop_oneof![Just(Role::User), Just(Role::Assistant)]
        .prop_flat_map(|role| (Just(role), proptest::collection::vec(block(role), 0..5)));
    proptest::collection::vec(said.prop_map(|(role, blocks)| message(role, blocks)), 1..10)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Everything up to and including the messages, as the provider hashes it, without the list's closing bracket.
fn prefix(mut body: Value) -> (String, Vec<String>) {
    strip(&mut body);
    let messages = body["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
    (format!("{}{}{}", body["model"], body["tools"], body["system"]), messages)
}

fn all_text(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if fields.get("type") == Some(&json!("text")) {
                found.push(fields["text"].as_str().unwrap().to_owned());
            }
            fields.values().for_each(|value| all_text(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| all_text(value, found)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn appending_messages_never_changes_earlier_bytes(messages in conversation(), cut in any::<prop::sample::Index>()) {
        let longer = request(messages.clone());
        let shorter = request(messages[..=cut.index(messages.len())].to_vec());
        for padding in [ReasoningPadding::Following, ReasoningPadding::Always] {
            let dialect = Dialect { padding, ..Dialect::default() };
            let provider = ProviderId(PROVIDER.to_owned());
            let (fixed, before) = prefix(openai_chat::encode(&shorter, &provider, &dialect));
            let (fixed_later, after) = prefix(openai_chat::encode(&longer, &provider, &dialect));
            prop_assert_eq!(fixed, fixed_later);
            prop_assert!(after.starts_with(&before), "{:#?}\n{:#?}", before, after);
        }
        let (fixed, before) = prefix(encode_anthropic(&shorter));
        let (fixed_later, after) = prefix(encode_anthropic(&longer));
        prop_assert_eq!(fixed, fixed_later);
        prop_assert_eq!(before.len(), shorter.messages.len(), "one message for one, so that markers hit");
        prop_assert!(after.starts_with(&before), "{:#?}\n{:#?}", before, after);
    }

    #[test]
    fn no_message_and_no_text_is_empty(messages in conversation()) {
        let request = request(messages);
        let body = encode_anthropic(&request);
        let mut texts = Vec::new();
        all_text(&body, &mut texts);
        prop_assert!(texts.iter().all(|text| !text.trim().is_empty()), "{:?}", texts);
        for said in body["messages"].as_array().unwrap() {
            prop_assert!(said["content"].as_array().is_some_and(|content| !content.is_empty()));
        }
        for said in encode_openai_chat(&request)["messages"].as_array().unwrap() {
            let empty = said["content"].as_str().is_some_and(|text| text.trim().is_empty());
            prop_assert!(!empty || said.get("tool_calls").is_some(), "{}", said);
        }
    }

    #[test]
    fn markers_change_nothing_but_themselves(messages in conversation(), marks in proptest::collection::vec(0..10_usize, 0..5)) {
        let mut request = request(messages);
        request.cache = CachePlan::default();
        let plain = prefix(encode_anthropic(&request));
        let messages = marks.into_iter().map(|index| (index, Life::Hour)).collect();
        request.cache = CachePlan { fixed: Some(Life::Hour), messages, key: None };
        prop_assert_eq!(prefix(encode_anthropic(&request)), plain);
    }

    #[test]
    fn what_one_call_wrote_the_next_call_marks(messages in conversation()) {
        // A call is made when the person's side has spoken last; the model answers, the person's side speaks again.
        let mut messages = messages;
        messages.push(user(vec![text("now")]));
        let written = marked(&messages).messages.last().copied();
        messages.push(assistant(vec![text("well")]));
        messages.push(user(vec![result(1, "t", CallStatus::Done, "x", &[])]));
        messages.push(user(vec![text("queued")]));
        let marks = marked(&messages).messages;
        prop_assert!(marks.contains(&written.unwrap()), "{:?} {:?}", written, marks);
        prop_assert_eq!(marks.last().map(|mark| mark.0), Some(messages.len() - 1));
        prop_assert!(marks.len() <= 3 && marks.is_sorted_by(|one, other| one < other));
    }
}
