//! Data a server sealed into an answer is returned to that server, and to no other.

use super::*;

/// Returns the model's calls, with the data kept for them.
fn calling(sealed_data: Option<Value>) -> Message {
    let call = |id: &str| {
        Block::ToolCall(ToolCall {
            id: CallId::new(),
            provider_id: id.to_owned(),
            name: "glob".to_owned(),
            arguments: "{}".to_owned(),
        })
    };
    let blocks = sealed_data.map(|raw| reasoning(PROVIDER, raw)).into_iter();
    assistant(blocks.chain([call("a"), call("b")]).collect())
}

#[test]
fn sealed_reasoning_returns_only_to_its_own_server() {
    let signature = json!({ "google": { "thought_signature": "c2ln" } });
    let details = json!([{ "type": "reasoning.encrypted", "data": "RU5D", "index": 0 }]);
    let sealed_data = json!({ "reasoning_details": details, "tool_calls": [signature, null] });
    let message = calling(Some(sealed_data));
    let assistant_message = |provider: &str| {
        let messages = vec![user(vec![text("1")]), message.clone()];
        let body = openai_chat::encode(&request(messages), &ProviderId(provider.to_owned()), &COMMON);
        body["messages"].as_array().unwrap().last().unwrap().clone()
    };
    let own_message = assistant_message(PROVIDER);
    assert_eq!(own_message["tool_calls"][0]["extra_content"], signature);
    assert_eq!(own_message["tool_calls"][1].get("extra_content"), None);
    assert_eq!(own_message["reasoning_details"], details);
    let other_message = assistant_message("other@host");
    assert_eq!(other_message["tool_calls"][0].get("extra_content"), None);
    assert_eq!(other_message.get("reasoning_details"), None);
}

#[test]
fn missing_required_signatures_are_substituted() {
    let extras = |model: &str, signatures, sealed_data: Option<Value>| {
        let messages = vec![user(vec![text("1")]), calling(sealed_data)];
        let request = ModelRequest { model: model.to_owned(), ..request(messages) };
        let dialect = Dialect { signatures, ..Dialect::default() };
        let body = openai_chat::encode(&request, &ProviderId(PROVIDER.to_owned()), &dialect);
        let calls = body["messages"].as_array().unwrap().last().unwrap()["tool_calls"].clone();
        calls.as_array().unwrap().iter().map(|call| call.get("extra_content").cloned()).collect::<Vec<_>>()
    };
    let signature = json!({ "google": { "thought_signature": "c2ln" } });
    let stand_in = json!({ "google": { "thought_signature": "skip_thought_signature_validator" } });
    let dialect_rule = CallSignatures::Required;
    let signed = Some(json!({ "tool_calls": [signature, null] }));
    assert_eq!(extras("gemini-3.8-flash", dialect_rule, signed), [Some(signature), None]);
    assert_eq!(extras("gemini-3.8-flash", dialect_rule, None), [Some(stand_in), None]);
    assert_eq!(extras("gemini-2.5-pro", dialect_rule, None), [None, None]);
    assert_eq!(extras("gemini-3.8-flash", CallSignatures::Optional, None), [None, None]);
}
