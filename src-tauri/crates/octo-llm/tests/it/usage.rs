//! Nonsense usage reported by a provider: never a panic, never a wrapped number, always consistent sums.

use octo_llm::{
    Decode as _, ModelEvent, ProviderId, UnsignedReasoning, anthropic, bedrock, openai_chat,
    openai_responses, sse::SseEvent,
};
use octo_protocol::Usage;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Reads a protocol's usage object from its input, cached, written and output fields.
type UsageReader = fn([Option<Value>; 4]) -> Option<Usage>;

fn last(events: impl IntoIterator<Item = ModelEvent>) -> Option<Usage> {
    events.into_iter().fold(None, |latest, event| match event {
        ModelEvent::Usage(billed) => Some(billed.usage),
        _ => latest,
    })
}

fn event(name: &str, data: &Value) -> SseEvent {
    SseEvent { event: name.to_owned(), data: data.to_string() }
}

/// Returns an object of the present fields; a path names a nested field.
fn object(names: [&str; 4], values: [Option<Value>; 4]) -> Value {
    let mut usage_object = json!({});
    for (name, value) in names.into_iter().zip(values) {
        if let Some(value) = value {
            match name.split_once('/') {
                Some((outer, inner)) => usage_object[outer][inner] = value,
                None => usage_object[name] = value,
            }
        }
    }
    usage_object
}

fn provider() -> ProviderId {
    ProviderId("test@host".to_owned())
}

const PROTOCOLS: [(&str, UsageReader); 4] = [
    ("anthropic", |values| {
        let names =
            ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];
        let usage = object(names, values);
        let mut decoder = anthropic::Decoder::new(provider(), UnsignedReasoning::Keep);
        let start = json!({ "type": "message_start", "message": { "usage": usage } });
        last(decoder.push(event("", &start)).unwrap())
    }),
    ("chat", |values| {
        let names = [
            "prompt_tokens",
            "prompt_tokens_details/cached_tokens",
            "prompt_tokens_details/cache_write_tokens",
            "completion_tokens",
        ];
        let usage = object(names, values);
        let mut decoder = openai_chat::Decoder::new(provider());
        last(decoder.push(event("", &json!({ "choices": [], "usage": usage }))).unwrap())
    }),
    ("responses", |values| {
        let names = [
            "input_tokens",
            "input_tokens_details/cached_tokens",
            "input_tokens_details/cache_write_tokens",
            "output_tokens",
        ];
        let usage = object(names, values);
        let mut decoder = openai_responses::Decoder::new(provider());
        let end = json!({ "type": "response.completed", "response": { "usage": usage } });
        last(decoder.push(event("", &end)).unwrap())
    }),
    ("bedrock", |values| {
        let names = ["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens", "outputTokens"];
        let usage = object(names, values);
        let mut decoder = bedrock::Decoder::new(provider());
        last(decoder.push(event("metadata", &json!({ "usage": usage }))).unwrap())
    }),
];

/// Returns whether a protocol includes cached tokens in the input count.
fn counts_within(name: &str) -> bool {
    matches!(name, "chat" | "responses")
}

#[test]
fn consistent_counts_become_disjoint() {
    for (name, read) in PROTOCOLS {
        let total = if counts_within(name) { 1000 } else { 300 };
        let usage = read([total, 600, 100, 7].map(|count: u64| Some(json!(count)))).unwrap();
        assert_eq!(usage, Usage { input: 300, cache_read: 600, cache_write: 100, output: 7 }, "{name}");
    }
}

/// Returns the split of written tokens by lifetime.
fn for_an_hour(events: Vec<ModelEvent>) -> Option<(u64, u64)> {
    events.into_iter().rev().find_map(|event| match event {
        ModelEvent::Usage(billed) => Some((billed.usage.cache_write, billed.written_for_an_hour)),
        _ => None,
    })
}

#[test]
fn hour_writes_are_separate_and_at_most_the_writes() {
    for (write, hour, expected) in [
        (json!(100), json!(60), (100, 60)),
        (json!(100), json!(0), (100, 0)),
        (json!(100), json!(null), (100, 0)),
        (json!(100), json!(-3), (100, 0)),
        (json!(100), json!(101), (100, 100)),
        (json!(0), json!(5), (0, 0)),
    ] {
        let mut decoder = anthropic::Decoder::new(provider(), UnsignedReasoning::Keep);
        let split = json!({ "ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": hour });
        let usage = json!({ "cache_creation_input_tokens": write, "cache_creation": split });
        let start = json!({ "type": "message_start", "message": { "usage": usage } });
        assert_eq!(for_an_hour(decoder.push(event("", &start)).unwrap()), Some(expected), "{hour}");
        // A later event without the split does not erase it.
        let end = json!({ "type": "message_delta", "usage": { "output_tokens": 3 } });
        assert_eq!(for_an_hour(decoder.push(event("", &end)).unwrap()), Some(expected), "{hour}");

        let mut decoder = bedrock::Decoder::new(provider());
        let details = json!([{ "inputTokens": hour, "ttl": "1h" }, { "inputTokens": 1, "ttl": "5m" }, 7]);
        let usage = json!({ "cacheWriteInputTokens": write, "cacheDetails": details });
        let events = decoder.push(event("metadata", &json!({ "usage": usage }))).unwrap();
        assert_eq!(for_an_hour(events), Some(expected), "{hour}");
    }
    for details in [json!(null), json!("1h"), json!({ "1h": 5 }), json!([])] {
        let mut decoder = bedrock::Decoder::new(provider());
        let usage = json!({ "cacheWriteInputTokens": 9, "cacheDetails": details });
        let events = decoder.push(event("metadata", &json!({ "usage": usage }))).unwrap();
        assert_eq!(for_an_hour(events), Some((9, 0)));
    }
}

#[test]
fn nonsensical_counts_are_ignored() {
    let limit = 1_000_000_000;
    for (nonsense, counted) in [
        (json!(-5), 0),
        (json!("12"), 0),
        (json!(null), 0),
        (json!({}), 0),
        (json!([1]), 0),
        (json!(true), 0),
        (json!(12.0), 12),
        (json!(12.9), 12),
        (json!(-0.5), 0),
        (json!(1e300), limit),
        (json!(u64::MAX), limit),
    ] {
        for (name, read) in PROTOCOLS {
            let usage = read([Some(nonsense.clone()), None, None, Some(nonsense.clone())]).unwrap();
            let expected = Usage { input: counted, output: counted, ..Usage::default() };
            assert_eq!(usage, expected, "{name}: {nonsense}");
        }
    }
}

#[test]
fn cached_tokens_are_capped_at_the_input() {
    for (name, read) in PROTOCOLS.into_iter().filter(|(name, _)| counts_within(name)) {
        for (input, read_from, write, expected) in [
            (Some(100), Some(900), None, (0, 100, 0)),
            (Some(100), Some(60), Some(70), (0, 60, 40)),
            (Some(0), Some(60), Some(70), (0, 0, 0)),
            // If the total is missing, the parts are used.
            (None, Some(60), Some(70), (0, 60, 70)),
        ] {
            let usage =
                read([input, read_from, write, None].map(|count| count.map(|count: u64| json!(count))));
            let usage = usage.unwrap();
            assert_eq!((usage.input, usage.cache_read, usage.cache_write), expected, "{name} {input:?}");
        }
    }
}

#[test]
fn a_usage_that_is_not_an_object_is_ignored() {
    for usage in [json!(null), json!("1"), json!([]), json!(5)] {
        let mut chat = openai_chat::Decoder::new(provider());
        let events = chat.push(event("", &json!({ "choices": [], "usage": usage }))).unwrap();
        assert_eq!(last(events), None);
        let mut bedrock = bedrock::Decoder::new(provider());
        assert_eq!(last(bedrock.push(event("metadata", &json!({ "usage": usage }))).unwrap()), None);
        let mut responses = openai_responses::Decoder::new(provider());
        let end = json!({ "type": "response.completed", "response": { "usage": usage } });
        assert_eq!(last(responses.push(event("", &end)).unwrap()), None);
        let mut anthropic = anthropic::Decoder::new(provider(), UnsignedReasoning::Keep);
        let start = json!({ "type": "message_start", "message": { "usage": usage } });
        assert_eq!(last(anthropic.push(event("", &start)).unwrap()), None);
    }
}

fn any_figure() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        any::<i64>().prop_map(|number| Some(json!(number))),
        any::<u64>().prop_map(|number| Some(json!(number))),
        any::<f64>().prop_map(|number| Some(json!(number))),
        "[0-9x]{0,4}".prop_map(|text| Some(json!(text))),
    ]
}

proptest! {
    #[test]
    fn sums_of_many_calls_stay_sums(values in proptest::array::uniform4(any_figure())) {
        for (name, read) in PROTOCOLS {
            // `object` cannot put a figure into a value that is no object: neither could a provider.
            let usage = read(values.clone()).unwrap_or_default();
            let mut total = Usage::default();
            for _ in 0..100 {
                total += usage;
            }
            prop_assert_eq!(total.total_input(), 100 * usage.total_input(), "{}", name);
            prop_assert!(usage.total_input() <= 3_000_000_000 && usage.output <= 1_000_000_000);
        }
    }
}

#[test]
fn reasoning_that_only_the_total_counts_is_counted_as_output() {
    let output = |usage: Value| {
        let mut decoder = openai_chat::Decoder::new(provider());
        last(decoder.push(event("", &json!({ "choices": [], "usage": usage }))).unwrap()).unwrap().output
    };
    let reasoned = json!({ "reasoning_tokens": 386 });
    for (usage, expected) in [
        (json!({ "prompt_tokens": 12, "completion_tokens": 20, "total_tokens": 32 }), 20),
        (json!({ "prompt_tokens": 12, "completion_tokens": 20 }), 20),
        // OpenAI: within the answer.
        (
            json!({ "prompt_tokens": 12, "completion_tokens": 400, "total_tokens": 412, "completion_tokens_details": reasoned }),
            400,
        ),
        // xAI: in addition to the answer.
        (
            json!({ "prompt_tokens": 12, "completion_tokens": 1, "total_tokens": 399, "completion_tokens_details": reasoned }),
            387,
        ),
        // Gemini: not reported at all.
        (json!({ "prompt_tokens": 120, "completion_tokens": 20, "total_tokens": 200 }), 80),
        // Tokens written to a cache may be in the total too.
        (
            json!({ "prompt_tokens": 12, "completion_tokens": 20, "total_tokens": 532, "cache_creation_input_tokens": 500 }),
            20,
        ),
    ] {
        assert_eq!(output(usage.clone()), expected, "{usage}");
    }
}
