//! Tests of the table and its overrides.

use super::*;
use crate::{CacheKind, CacheLifetime, Caching};
use octo_protocol::{Cost, Effort, Usage};
use proptest::prelude::*;

const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";

fn card(base_url: &str, model: &str) -> ModelCard {
    let presets = Presets::built_in();
    let protocol =
        presets.provider_of(base_url).map_or(Protocol::OpenaiChat, |preset| preset.protocol_of(model));
    presets.card(protocol, base_url, model)
}

#[test]
fn the_built_in_table_is_valid_and_complete() {
    let presets = Presets::built_in();
    assert_eq!(presets.warnings, [], "the compiled-in table was read");
    let ids: Vec<&str> = presets.providers().iter().map(|preset| preset.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "anthropic",
            "openai",
            "openrouter",
            "deepseek",
            "kimi",
            "kimi-coding",
            "glm",
            "minimax",
            "mimo",
            "qwen",
            "gemini",
            "xai",
            "mistral",
            "groq",
            "together",
            "bedrock",
            "ollama",
            "lmstudio",
            "llamacpp",
            "vllm",
            "custom",
        ]
    );
    for preset in presets.providers() {
        let offered: HashSet<&String> = preset.models.iter().collect();
        assert_eq!(offered.len(), preset.models.len(), "{} offers a model twice", preset.id);
        for (source, target) in preset.light.iter().chain(&preset.fallback) {
            assert!(
                offered.contains(source) && offered.contains(target) && source != target,
                "{}: {source} {target}",
                preset.id
            );
        }
        for (index, address) in preset.addresses.iter().enumerate() {
            assert_eq!(presets.provider_of(&address.url).map(|found| &found.id), Some(&preset.id));
            assert!(
                preset.addresses.len() == 1 || preset.id == "together" || address.label.is_some(),
                "{index}"
            );
        }
        for model in &preset.models {
            let card = presets.card(preset.protocol_of(model), &preset.addresses[0].url, model);
            assert!(card.known, "{}: nothing is known of {model}", preset.id);
            assert_eq!(card.preset.as_ref(), Some(&preset.id));
            assert!(card.tools, "{}: {model} is of no use to an agent", preset.id);
        }
        assert_eq!(
            preset.local.is_some() || preset.id == "custom",
            preset.key_page.is_none(),
            "{}",
            preset.id
        );
    }
}

/// Rows that Octo had before there were presets; the figures are LiteLLM's.
#[test]
fn model_names_match_exactly_with_a_date_and_behind_a_router() {
    for (name, window, vision) in [
        ("claude-sonnet-4-5", 200_000, true),
        ("claude-sonnet-4-5-20250929", 200_000, true),
        ("claude-sonnet-4-6", 1_000_000, true),
        ("anthropic/claude-sonnet-4.6", 1_000_000, true),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", 200_000, true),
        ("GPT-5.4-mini-2026-03-17", 272_000, true),
        ("gpt-5.4", 1_050_000, true),
        ("gpt-5-2025-08-07", 272_000, true),
        ("MiniMax-M2.5", 1_000_000, false),
        ("deepseek/deepseek-v4-pro", 1_000_000, false),
        ("o3-mini", 200_000, false),
        ("deepseek-v4-pro:free", 1_000_000, false),
        ("codestral-latest", 128_000, false),
        ("kimi-k3.1-pro", 1_048_576, true),
    ] {
        let found = card("https://host.example/v1", name);
        assert_eq!((found.known, found.context_window, found.vision), (true, window, vision), "{name}");
        assert_eq!(found.prices, None, "{name}: nobody knows what another server takes for it");
    }
}

#[test]
fn similar_model_names_are_unknown() {
    for name in [
        "",
        "claude",
        "my-claude-sonnet-4-5",
        "gpt-5.9",
        "gpt-55",
        "o30",
        "llama3.3:70b",
        "deepseek-v40",
        "claude-opus-5-9",
        "claude-opus-5-9-20270101",
        "claude-sonnet-5-12",
    ] {
        let found = card("https://host.example/v1", name);
        assert_eq!(found, ModelCard::unknown(Protocol::OpenaiChat), "{name:?}");
        assert_eq!(card(ANTHROPIC, name).prices, None, "{name:?}");
    }
    assert_eq!(ModelCard::unknown(Protocol::Anthropic).caching, Caching::anthropic());
}

#[test]
fn providers_are_found_by_their_addresses() {
    let presets = Presets::built_in();
    for (address, id) in [
        ("https://api.anthropic.com/", Some("anthropic")),
        ("https://api.anthropic.com/v1", Some("anthropic")),
        ("https://API.anthropic.com", Some("anthropic")),
        ("https://api.anthropic.com.example", None),
        ("http://api.anthropic.com", None),
        ("https://api.z.ai/api/coding/paas/v4", Some("glm")),
        ("https://open.bigmodel.cn/api/paas/v4", Some("glm")),
        ("https://api.moonshot.cn/v1", Some("kimi")),
        ("https://api.kimi.com/coding", Some("kimi-coding")),
        ("https://bedrock-runtime.sa-east-1.amazonaws.com", Some("bedrock")),
        ("https://bedrock-runtime.evil.example.amazonaws.com", None),
        ("http://bedrock-runtime.sa-east-1.amazonaws.com", None),
        ("http://localhost:11434/v1", Some("ollama")),
        ("http://[::1]:11434", Some("ollama")),
        ("http://127.0.0.1:11434/v1/", Some("ollama")),
        ("http://127.0.0.1:11435/v1", None),
        ("http://localhost.example:11434", None),
        ("https://host.example", None),
        ("not an address", None),
    ] {
        assert_eq!(presets.provider_of(address).map(|preset| preset.id.as_str()), id, "{address}");
    }
}

#[test]
fn prices_are_those_of_exactly_this_model_at_exactly_this_provider() {
    let cost = |base_url, model| {
        let used = Usage { input: 1_000_000, cache_read: 0, cache_write: 0, output: 0 };
        card(base_url, model).prices?.cost(used).map(|cost| cost.as_dollars())
    };
    for (address, model, dollars) in [
        (ANTHROPIC, "claude-opus-4-5", Some(5.0)),
        (ANTHROPIC, "claude-opus-4-5-20251101", Some(5.0)),
        (ANTHROPIC, "claude-opus-4.5", Some(5.0)),
        (ANTHROPIC, "claude-opus-4-5-fast", None),
        (ANTHROPIC, "claude-opus-9", None),
        (OPENAI, "gpt-5.4-mini", Some(0.75)),
        // Above 272,000 tokens.
        (OPENAI, "gpt-5.4", Some(5.0)),
        (OPENAI, "gpt-5.4-pro", Some(60.0)),
        (OPENAI, "gpt-5.4-turbo", None),
        ("https://openrouter.ai/api/v1", "anthropic/claude-opus-4.5", None),
        ("https://api.moonshot.ai/v1", "kimi-k2.6", Some(0.95)),
        // Paid in another currency, or as a plan.
        ("https://api.moonshot.cn/v1", "kimi-k2.6", None),
        ("https://api.z.ai/api/paas/v4", "glm-5.3", Some(1.4)),
        ("https://api.z.ai/api/coding/paas/v4", "glm-5.3", None),
        ("https://api.z.ai/api/anthropic", "glm-5.3", None),
        ("https://bedrock-runtime.eu-west-3.amazonaws.com", "global.anthropic.claude-opus-4-7", Some(5.0)),
        ("https://bedrock-runtime.eu-west-3.amazonaws.com", "eu.anthropic.claude-opus-4-7", Some(5.5)),
        ("https://api.together.xyz/v1", "moonshotai/Kimi-K3", Some(3.0)),
        ("http://localhost:11434/v1", "qwen3:8b", Some(0.0)),
        ("http://localhost:11434/v1", "gpt-oss:120b-cloud", None),
        ("http://127.0.0.1:8000/v1", "anything", None),
    ] {
        assert_eq!(cost(address, model), dollars, "{model} at {address}");
    }
}

#[test]
fn caching_comes_from_the_provider_and_minimums_from_the_model() {
    let markers = |card: &ModelCard| match &card.caching.kind {
        CacheKind::Markers { lifetimes, .. } => lifetimes.contains(&CacheLifetime::Hour),
        _ => false,
    };
    for (address, model, minimum) in [
        (ANTHROPIC, "claude-opus-5", 512),
        (ANTHROPIC, "claude-sonnet-4-5-20250929", 1_024),
        (ANTHROPIC, "claude-opus-4-7", 2_048),
        (ANTHROPIC, "claude-haiku-4-5", 4_096),
        ("https://openrouter.ai/api/v1", "anthropic/claude-haiku-4.5", 4_096),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com",
            "us.anthropic.claude-haiku-4-5-20251001-v1:0",
            4_096,
        ),
    ] {
        let card = card(address, model);
        assert!(markers(&card), "{model} at {address}: {:?}", card.caching);
        assert_eq!(card.caching.minimum, minimum, "{model} at {address}");
    }
    let kind = |address, model| card(address, model).caching.kind;
    assert!(matches!(kind(OPENAI, "gpt-5.5"), CacheKind::Prefix { step: 128, keyed: true, .. }));
    assert!(matches!(
        kind(OPENAI, "gpt-5.6"),
        CacheKind::Breakpoints { limit: 3, lookback: 80, life_seconds: 1_800 }
    ));
    assert!(matches!(kind(OPENAI, "gpt-6.1-sol"), CacheKind::Breakpoints { .. }));
    assert!(matches!(kind("https://api.deepseek.com", "deepseek-v4-pro"), CacheKind::Units { .. }));
    let gemini = "https://generativelanguage.googleapis.com/v1beta/openai";
    assert!(matches!(kind(gemini, "gemini-2.5-pro"), CacheKind::Probabilistic { .. }));
    assert_eq!(card(gemini, "gemini-2.5-pro").caching.minimum, 2_048);
    assert_eq!(card(gemini, "gemini-3.8-flash").caching.minimum, 4_096);
    // Octo sends an unknown server no field it may not know.
    assert_eq!(card("https://host.example/v1", "claude-opus-5").caching, Caching::NONE);
}

#[test]
fn protocols_light_models_and_efforts() {
    let presets = Presets::built_in();
    let router = presets.provider("openrouter").unwrap();
    assert_eq!(router.protocol_of("anthropic/claude-sonnet-4.6"), Protocol::Anthropic);
    assert_eq!(router.protocol_of("openai/gpt-5.5"), Protocol::OpenaiResponses);
    assert_eq!(
        presets.provider("bedrock").unwrap().protocol_of("us.amazon.nova-pro-v1:0"),
        Protocol::Bedrock
    );
    assert_eq!(router.light_of("openai/gpt-5.5"), Some("openai/gpt-5.4-mini"));
    assert_eq!(router.light_of("anthropic/claude-haiku-4.5"), None, "it is light itself");
    assert_eq!(card(OPENAI, "gpt-5").efforts, [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High]);
    assert!(card(ANTHROPIC, "claude-opus-5").efforts.contains(&Effort::Off));
    assert!(!card(ANTHROPIC, "claude-opus-5-5").efforts.contains(&Effort::Off), "it always thinks");
    assert_eq!(card(ANTHROPIC, "claude-haiku-4-5").efforts, []);
}

#[test]
fn the_list_agrees_with_the_cards() {
    let list = Presets::built_in().list();
    assert_eq!(list.warnings, []);
    let anthropic = &list.presets[0];
    assert_eq!(anthropic.id, "anthropic");
    let model = anthropic.models.iter().find(|model| model.name == "claude-opus-5").unwrap();
    assert_eq!(model.facts, card(ANTHROPIC, "claude-opus-5").facts());
    let price = model.facts.price.as_ref().unwrap();
    assert_eq!((price.input, price.output), (Cost::from_dollars(5.0), Cost::from_dollars(25.0)));
    assert_eq!(price.cache_read, Cost::from_dollars(0.5));
}

/// Overrides the table with a file.
fn over(text: &str) -> (Presets, Vec<PresetsError>) {
    let folder = octo_testkit::TempHome::new();
    let path = folder.write("presets.json", text);
    Presets::load(&path)
}

#[test]
fn a_file_in_the_home_replaces_and_adds_rows() {
    let (presets, warnings) = over(
        r#"{ "version": 1,
             "providers": [
               { "id": "deepseek", "name": "Ours", "protocol": "openai-chat",
                 "addresses": [{ "url": "https://api.deepseek.com" }],
                 "rows": [{ "name": "deepseek-v4-pro", "prices": {
                   "rates": { "input": 1 }, "date": "2027-01-02", "source": "our contract" } }] },
               { "id": "house", "name": "House", "protocol": "anthropic",
                 "addresses": [{ "url": "http://192.168.1.4:9000" }] }
             ],
             "models": [
               { "name": "house-model", "window": 32000, "output": 4000, "vision": false },
               { "name": "gpt-5.5", "window": 400000, "output": 4000, "vision": true }
             ] }"#,
    );
    assert_eq!(warnings, []);
    let cost = |usage| {
        let card = presets.card(Protocol::OpenaiChat, "https://api.deepseek.com", "deepseek-v4-pro");
        card.prices.unwrap().cost(usage)
    };
    assert_eq!(cost(Usage { input: 1_000_000, ..Usage::default() }), Some(Cost::DOLLAR));
    assert_eq!(cost(Usage { output: 1, ..Usage::default() }), None, "the file has a hole there");
    let card = presets.card(Protocol::Anthropic, "http://192.168.1.4:9000", "house-model");
    assert_eq!((card.preset.as_deref(), card.context_window), (Some("house"), 32_000));
    assert_eq!(presets.card(Protocol::OpenaiResponses, OPENAI, "gpt-5.5").context_window, 400_000);
    let ids =
        |presets: &Presets| presets.providers().iter().map(|preset| preset.id.clone()).collect::<Vec<_>>();
    let mut expected = ids(&Presets::built_in());
    expected.push("house".to_owned());
    assert_eq!(ids(&presets), expected, "a replaced row keeps its place");
}

#[test]
fn a_broken_file_is_named_and_changes_nothing() {
    let built_in = Presets::built_in().list();
    let row = |row: &str| format!(r#"{{ "version": 1, "providers": [{row}] }}"#);
    for (text, key) in [
        (String::new(), "presets.malformed"),
        ("{".to_owned(), "presets.malformed"),
        (r#"{ "providers": [] }"#.to_owned(), "presets.malformed"),
        (r#"{ "version": 9, "anything": true }"#.to_owned(), "presets.version"),
        (r#"{ "version": 1, "provider": [] }"#.to_owned(), "presets.malformed"),
        (row(r#"{ "id": "x", "name": "X", "protocol": "smoke-signals" }"#), "presets.malformed"),
        (row(r#"{ "id": "", "name": "X", "protocol": "anthropic" }"#), "presets.unsound"),
        (
            row(r#"{ "id": "x", "name": "X", "protocol": "anthropic", "addresses": [{ "url": "x" }] }"#),
            "presets.unsound",
        ),
        (
            row(r#"{ "id": "x", "name": "X", "protocol": "anthropic", "key_page": "javascript:1" }"#),
            "presets.unsound",
        ),
        (row(r#"{ "id": "x", "name": "X", "protocol": "anthropic", "default": "y" }"#), "presets.unsound"),
        // The search for local servers must not be directed at another machine.
        (
            row(r#"{ "id": "x", "name": "X", "protocol": "openai-chat", "local": { "kind": "ollama" },
                     "addresses": [{ "url": "http://192.168.1.1:11434/v1" }] }"#),
            "presets.unsound",
        ),
        (
            row(r#"{ "id": "x", "name": "X", "protocol": "anthropic", "rows": [{ "name": "m", "prices": {
                     "rates": { "input": -3 }, "date": "2027-01-02", "source": "" } }] }"#),
            "presets.malformed",
        ),
        (
            row(r#"{ "id": "x", "name": "X", "protocol": "anthropic", "rows": [{ "name": "m", "prices": {
                     "rates": { "input": 3 }, "date": "yesterday", "source": "" } }] }"#),
            "presets.unsound",
        ),
        (
            row(r#"{ "id": "x", "name": "X", "protocol": "anthropic", "rows": [{ "name": "m", "prices": {
                     "rates": { "input": 3 }, "long": [{ "above": 9, "rates": { "input": 2 } }],
                     "date": "2027-01-02", "source": "" } }] }"#),
            "presets.unsound",
        ),
        (
            r#"{ "version": 1, "models": [{ "name": "m", "window": 9, "output": 10, "vision": true }] }"#
                .to_owned(),
            "presets.unsound",
        ),
        (
            r#"{ "version": 1, "models": [
                 { "name": "m", "window": 9, "output": 1, "vision": true },
                 { "name": "n", "aliases": ["m"], "window": 9, "output": 1, "vision": true }] }"#
                .to_owned(),
            "presets.unsound",
        ),
    ] {
        let (presets, warnings) = over(&text);
        let errors: Vec<ApiError> = warnings.iter().map(ApiError::from).collect();
        assert_eq!(errors.iter().map(|error| error.key.as_str()).collect::<Vec<_>>(), [key], "{text}");
        assert!(errors[0].args["path"].ends_with("presets.json"), "{text}");
        let list = presets.list();
        assert_eq!(list.presets, built_in.presets, "{text}");
        assert_eq!(list.warnings, errors);
    }
}

#[test]
fn a_missing_file_is_no_warning_and_a_folder_in_its_place_is_one() {
    let folder = octo_testkit::TempHome::new();
    let (presets, warnings) = Presets::load(&folder.octo().join("presets.json"));
    assert_eq!((presets.providers().len(), warnings), (21, vec![]));
    let (_, warnings) = Presets::load(&folder.home());
    assert!(matches!(warnings.as_slice(), [PresetsError::Unreadable { .. }]), "{warnings:?}");
}

proptest! {
    /// For any typed name there is a usable card: an answer fits its window.
    #[test]
    fn every_name_has_a_usable_card(
        address in prop_oneof![
            Just(ANTHROPIC.to_owned()), Just(OPENAI.to_owned()), "https://[a-z.]{1,20}/[a-z/]{0,9}", ".{0,20}"
        ],
        model in prop_oneof![".{0,30}", "(anthropic/|us\\.)?(claude|gpt|glm)-[a-z0-9.:@-]{0,20}"],
    ) {
        let found = card(&address, &model);
        prop_assert!(found.max_output > 0 && found.max_output <= found.context_window);
        prop_assert!(found.efforts.is_sorted());
        prop_assert_eq!(&found.facts().efforts, &found.efforts);
    }
}
