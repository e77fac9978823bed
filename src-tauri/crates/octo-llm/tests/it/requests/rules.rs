//! Rules for any conversation: earlier bytes stay, nothing is empty, markers change nothing else.

use super::*;

/// Generates any block a message of that side may contain.
fn block(role: Role) -> BoxedStrategy<Block> {
    let texts = prop_oneof![Just(String::new()), Just(" ".to_owned()), "[a-zé🦑\"\\\\\n]{1,12}"];
    let status = prop_oneof![Just(CallStatus::Done), Just(CallStatus::Failed), Just(CallStatus::Stopped)];
    let ids = prop_oneof![Just(""), Just("toolu_1"), Just("call:2"), Just("toolu_3")];
    let provider = prop_oneof![Just(PROVIDER), Just("other@host")];
    match role {
        Role::User => prop_oneof![
            texts.clone().prop_map(|text| Block::Text { text }),
            texts.clone().prop_map(|text| Block::Summary { text, covers: 1, archive: None }),
            texts.clone().prop_map(|text| Block::Notice { kind: NoticeKind::Todos, text }),
            texts.clone().prop_map(|path| Block::File { path }),
            prop_oneof![Just("here"), Just("gone")].prop_map(|hash| image(hash, "image/png")),
            (0..4_u8, ids, status, texts, 0..2_usize).prop_map(|(number, id, status, text, images)| {
                result(number, id, status, &text, &["here", "gone"][..images])
            }),
        ]
        .boxed(),
        Role::Assistant => prop_oneof![
            texts.clone().prop_map(|text| Block::Text { text }),
            (provider.clone(), texts.clone()).prop_map(|(provider, text)| reasoning(
                provider,
                json!({ "type": "thinking", "thinking": text, "signature": "s" })
            )),
            (provider.clone(), texts.clone()).prop_map(|(provider, text)| reasoning(
                provider,
                json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": text })
            )),
            (provider.clone(), texts.clone()).prop_map(|(provider, text)| reasoning(
                provider,
                json!({ "reasoningText": { "text": text, "signature": "s" } })
            )),
            (provider, texts.clone(), any::<bool>()).prop_map(|(provider, text, is_long)| {
                let field = if is_long { "reasoning_content" } else { "reasoning" };
                reasoning(provider, json!({ field: text }))
            }),
            prop_oneof![Just(PROVIDER), Just("other@host")].prop_map(|provider| reasoning(
                provider,
                json!({
                    "reasoning_details": [{ "type": "reasoning.encrypted", "data": "RU5D" }],
                    "tool_calls": [{ "google": { "thought_signature": "c2ln" } }],
                })
            )),
            (
                0..4_u8,
                ids,
                texts,
                prop_oneof![Just("{}"), Just("{\"b\":1,\"a\":[2.50]}"), Just("{\"cut"), Just("7")]
            )
                .prop_map(|(number, id, name, arguments)| call(number, id, &name, arguments)),
        ]
        .boxed(),
    }
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let roles = prop_oneof![Just(Role::User), Just(Role::Assistant)]
        .prop_flat_map(|role| (Just(role), proptest::collection::vec(block(role), 0..5)));
    proptest::collection::vec(roles.prop_map(|(role, blocks)| message(role, blocks)), 1..10)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.shift_remove("prompt_cache_breakpoint");
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => {
            values.retain(|value| value.get("cachePoint").is_none());
            values.iter_mut().for_each(strip);
        }
        _ => {}
    }
}

/// Returns everything up to and including the messages, as the provider hashes it, without the list's closing
/// bracket. If the server wants messages merged, a message grows: it is then split into its blocks.
fn prefix(mut body: Value) -> (String, Vec<String>) {
    strip(&mut body);
    let fixed =
        ["model", "tools", "toolConfig", "instructions", "system"].map(|field| body[field].to_string());
    let messages = body.get("messages").or_else(|| body.get("input")).unwrap().as_array().unwrap();
    let is_merged = body.get("inferenceConfig").is_some();
    let parts = messages.iter().flat_map(|message| match message["content"].as_array() {
        Some(blocks) if is_merged => {
            blocks.iter().map(|block| format!("{}{block}", message["role"])).collect::<Vec<_>>()
        }
        _ => vec![message.to_string()],
    });
    (fixed.concat(), parts.collect())
}

fn all_text(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            // A text block, whatever its type is called; reasoning contains its text.
            let is_text = fields.keys().all(|key| matches!(key.as_str(), "type" | "text" | "annotations"));
            if let (true, Some(text)) = (is_text, fields.get("text")) {
                found.push(text.as_str().unwrap().to_owned());
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
        for (name, encode) in ENCODERS {
            let (fixed, before) = prefix(encode(&shorter));
            let (fixed_later, after) = prefix(encode(&longer));
            prop_assert_eq!(fixed, fixed_later);
            prop_assert!(after.starts_with(&before), "{}: {:#?}\n{:#?}", name, before, after);
            if name == "anthropic" {
                prop_assert_eq!(before.len(), shorter.messages.len(), "one message for one, so that markers hit");
            }
        }
    }

    #[test]
    fn no_message_and_no_text_is_empty(messages in conversation()) {
        let request = request(messages);
        for (name, encode) in ENCODERS {
            let body = encode(&request);
            let mut texts = Vec::new();
            all_text(&body, &mut texts);
            prop_assert!(texts.iter().all(|text| !text.trim().is_empty()), "{}: {:?}", name, texts);
            let items = body.get("messages").or_else(|| body.get("input")).unwrap().as_array().unwrap();
            for content in items.iter().filter_map(|items| items.get("content")?.as_array()) {
                prop_assert!(!content.is_empty(), "{}", name);
            }
        }
        for items in encode_openai_chat(&request)["messages"].as_array().unwrap() {
            let empty = items["content"].as_str().is_some_and(|text| text.trim().is_empty());
            prop_assert!(!empty || items.get("tool_calls").is_some(), "{}", items);
        }
    }

    #[test]
    fn markers_change_nothing_but_themselves(messages in conversation(), marks in proptest::collection::vec(0..10_usize, 0..5)) {
        let mut unmarked = request(messages);
        unmarked.cache = CachePlan::default();
        let mut with_markers = unmarked.clone();
        let messages = marks.into_iter().map(|index| (index, CacheLifetime::Hour)).collect();
        with_markers.cache = CachePlan { fixed: Some(CacheLifetime::Hour), messages, key: Some("k".to_owned()) };
        for (name, encode) in ENCODERS {
            let encoded = encode(&with_markers);
            let markers = ["\"cache_control\"", "\"prompt_cache_breakpoint\"", "\"cachePoint\""]
                .map(|marker| encoded.to_string().matches(marker).count());
            prop_assert!(markers.iter().sum::<usize>() <= 4, "{}", name);
            prop_assert_eq!(prefix(encoded), prefix(encode(&unmarked)), "{}", name);
        }
    }

    #[test]
    fn the_next_call_marks_what_the_previous_one_wrote(messages in conversation()) {
        // A call is made when the person's side was last; the model answers, then the person's side follows.
        let mut messages = messages;
        messages.push(user(vec![text("now")]));
        let last_marker = marked(&messages).messages.last().copied();
        messages.push(assistant(vec![text("well")]));
        messages.push(user(vec![result(1, "t", CallStatus::Done, "x", &[])]));
        messages.push(user(vec![text("queued")]));
        let markers = marked(&messages).messages;
        prop_assert!(markers.contains(&last_marker.unwrap()), "{:?} {:?}", last_marker, markers);
        prop_assert_eq!(markers.last().map(|marker| marker.0), Some(messages.len() - 1));
        prop_assert!(markers.len() <= 3 && markers.is_sorted_by(|one, other| one < other));
    }
}
