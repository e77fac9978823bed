//! Connecting models: known models, the storage of their keys, and tests of a connection.

use super::rig::{self, PATIENCE, Rig};
use octo_core::Octo;
use octo_protocol::{
    CachingFacts, ChangeSettings, ChooseFallback, ChooseLightModel, Cost, FindLocalServers, GetSettings,
    KeyState, ListPresets, ListRemoteModels, MeasureModel, ModelCheck, ModelDraft, ModelEntry, Protocol,
    ProxyChoice, RemoveModel, SaveModel, Secret, SettingsPatch, SettingsSnapshot, StopMeasuring, TestModel,
    TryProxy,
};
use octo_testkit::{Gate, ModelServer, PageServer, Reply, Script, TempHome};
use tokio::time::timeout;

const KEY: &str = "sk-test-0123456789abcdef";

fn draft(protocol: Protocol, base_url: &str, model: &str, key: Option<&str>) -> ModelDraft {
    ModelDraft {
        id: None,
        protocol,
        base_url: base_url.to_owned(),
        model: model.to_owned(),
        key: key.map(Secret::new),
        headers: None,
    }
}

async fn save(octo: &Octo, draft: ModelDraft) -> ModelEntry {
    octo.call(SaveModel { draft }).await.expect("the model is saved")
}

async fn settings(octo: &Octo) -> SettingsSnapshot {
    octo.call(GetSettings {}).await.expect("there are settings")
}

#[tokio::test]
async fn an_entry_says_what_is_known_of_its_model() {
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let known =
        save(&octo, draft(Protocol::Anthropic, "https://api.anthropic.com/", "claude-opus-4-8", None)).await;
    let facts = &known.facts;
    assert_eq!(
        (facts.preset.as_deref(), facts.known, facts.vision, facts.tools),
        (Some("anthropic"), true, true, true)
    );
    assert_eq!(
        (known.context_window, known.max_output, known.vision),
        (facts.context_window, facts.max_output, true)
    );
    assert_eq!(facts.caching, CachingFacts::MarkedLong);
    let price = facts.price.as_ref().expect("it has a price");
    assert_eq!((price.input, price.output), (Cost::from_dollars(5.0), Cost::from_dollars(25.0)));

    let unknown = save(&octo, draft(Protocol::OpenaiChat, "https://host.example/v1", "mystery", None)).await;
    assert_eq!(
        (unknown.facts.preset.as_deref(), unknown.facts.known, &unknown.facts.price),
        (None, false, &None)
    );
    assert!(unknown.context_window > 0 && unknown.max_output > 0);
    assert_eq!(settings(&octo).await.models, [known.clone(), unknown]);

    // The data of this run counts, whatever an earlier one stored.
    octo.shutdown().await;
    let own = r#"{ "version": 1, "models": [
        { "name": "claude-opus-4-8", "window": 300000, "output": 1000, "vision": false }] }"#;
    std::fs::write(home.octo().join("presets.json"), own).expect("the file is written");
    let octo = rig::open(&home).await;
    let entry = &settings(&octo).await.models[0];
    assert_eq!(
        (entry.id, entry.context_window, entry.max_output, entry.vision),
        (known.id, 300_000, 1_000, false)
    );
    assert_eq!(entry.facts.price, known.facts.price);
    octo.shutdown().await;
}

#[tokio::test]
async fn a_broken_table_of_the_persons_own_is_said_and_octo_runs_on() {
    let home = TempHome::new();
    std::fs::create_dir_all(home.octo()).expect("the home is there");
    std::fs::write(home.octo().join("presets.json"), "{ not json").expect("the file is written");
    let octo = rig::open(&home).await;
    let list = octo.call(ListPresets {}).await.expect("there are presets");
    assert_eq!(
        list.warnings.iter().map(|warning| warning.key.as_str()).collect::<Vec<_>>(),
        ["presets.malformed"]
    );
    let anthropic =
        list.presets.iter().find(|preset| preset.id == "anthropic").expect("the built-in is there");
    assert!(anthropic.models.iter().all(|model| model.facts.price.is_some()));
    octo.shutdown().await;
}

#[tokio::test]
async fn a_key_is_sent_to_the_host_it_was_saved_for_and_nowhere_else() {
    let (here, there) =
        (ModelServer::start(Script::new().text("OK")), ModelServer::start(Script::new().text("OK")));
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let entry = save(&octo, draft(Protocol::Anthropic, &here.url(), "scripted", Some(KEY))).await;
    assert_eq!(entry.key, KeyState::ThisRun { last4: "cdef".into() });
    let asked =
        |url: &str| ModelDraft { id: Some(entry.id), ..draft(Protocol::Anthropic, url, "scripted", None) };

    let check = octo.call(TestModel { draft: asked(&here.url()) }).await.expect("the test is made");
    assert!(matches!(check, ModelCheck::Works { .. }), "{check:?}");
    assert_eq!(here.requests()[0].header("x-api-key"), Some(KEY));

    // The same entry with another address: its key is not sent there.
    octo.call(TestModel { draft: asked(&there.url()) }).await.expect("the test is made");
    assert_eq!(there.requests()[0].header("x-api-key"), None);
    assert_eq!(there.requests()[0].header("authorization"), None);

    // Saved there without a key, it has none; going back does not restore the old one.
    let moved = octo.call(SaveModel { draft: asked(&there.url()) }).await.expect("it is saved");
    assert_eq!(moved.key, KeyState::Missing);
    let back = octo.call(SaveModel { draft: asked(&here.url()) }).await.expect("it is saved");
    assert_eq!(back.key, KeyState::Missing);
    octo.shutdown().await;
}

#[tokio::test]
async fn a_providers_list_is_asked_with_the_key_of_its_host_only() {
    let list = r#"{"data":[{"type":"model","id":"claude-opus-5"},{"type":"model","id":"claude-next"}]}"#;
    let (here, there) =
        (PageServer::start(&[("/v1/models", list)]), PageServer::start(&[("/v1/models", list)]));
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let entry = save(&octo, draft(Protocol::Anthropic, &here.url(), "x", Some(KEY))).await;
    for server in [&here, &there] {
        let draft = ModelDraft { id: Some(entry.id), ..draft(Protocol::Anthropic, &server.url(), "", None) };
        let found = octo.call(ListRemoteModels { draft }).await.expect("the list comes");
        assert_eq!(found.models, ["claude-opus-5", "claude-next"]);
    }
    let key = |server: &PageServer| server.requests()[0].headers.get("x-api-key").cloned();
    assert_eq!((key(&here).as_deref(), key(&there)), (Some(KEY), None));

    let no_list = draft(Protocol::OpenaiChat, &here.url(), "", Some(KEY));
    let error = octo.call(ListRemoteModels { draft: no_list }).await.expect_err("there is none at this path");
    assert_eq!(error.key, "provider.not_found");
    assert!(!error.to_string().contains(KEY));
    octo.shutdown().await;
}

#[tokio::test]
async fn servers_of_this_machine_are_found_when_asked_for() {
    let tags = r#"{"models":[{"name":"qwen3:8b","digest":"sha256:1"}]}"#;
    let server = PageServer::start(&[("/api/tags", tags)]);
    let home = TempHome::new();
    let gone = |id: &str| format!(r#"{{ "id": "{id}", "name": "gone", "protocol": "openai-chat" }}"#);
    let others = ["lmstudio", "llamacpp", "vllm"].map(gone).join(",");
    let own = format!(
        r#"{{ "version": 1, "providers": [{others}, {{ "id": "ollama", "name": "Ollama", "protocol": "openai-chat",
            "local": {{ "kind": "ollama" }}, "addresses": [{{ "url": "{}/v1" }}] }}] }}"#,
        server.url()
    );
    std::fs::create_dir_all(home.octo()).expect("the home is there");
    std::fs::write(home.octo().join("presets.json"), own).expect("the file is written");
    let octo = rig::open(&home).await;
    octo.call(ListPresets {}).await.expect("there are presets");
    assert_eq!(server.requests().len(), 0, "nothing is asked before the person asks");
    let found = octo.call(FindLocalServers {}).await.expect("it is looked for").servers;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].preset.as_str(), found[0].models.as_slice()),
        ("ollama", &["qwen3:8b".to_owned()][..])
    );
    assert_eq!(found[0].base_url, format!("{}/v1", server.url()));
    octo.shutdown().await;
}

#[tokio::test]
async fn models_are_timed_one_by_one_and_the_timing_can_be_stopped() {
    let gate = Gate::new();
    let script =
        Script::new().text("The sea is wide.").reply(Reply::text("It never ends.").hold_after(1, &gate));
    let rig = Rig::new(script).await;
    let model = settings(&rig.octo).await.models[0].id;
    let speed = rig.octo.call(MeasureModel { model }).await.expect("it answers");
    assert!(speed.first_byte_ms <= speed.total_ms);
    assert!(speed.output_tokens.is_some_and(|tokens| tokens > 0), "{speed:?}");

    // One measurement runs and one waits: both end, and only one was ever sent.
    let measure = || {
        tokio::spawn({
            let octo = rig.octo.clone();
            async move { octo.call(MeasureModel { model }).await }
        })
    };
    let first = measure();
    gate.reached().await;
    let second = measure();
    tokio::task::yield_now().await;
    let stopped = async {
        // The second may not wait yet: it is stopped too, once it does.
        while !second.is_finished() {
            rig.octo.call(StopMeasuring {}).await.expect("stop is taken");
            tokio::task::yield_now().await;
        }
        [first.await, second.await]
    };
    for ended in timeout(PATIENCE, stopped).await.expect("both end") {
        assert_eq!(ended.expect("it ran").expect_err("it was stopped").key, "model.measure_stopped");
    }
    assert_eq!(rig.server.requests().len(), 2);
    gate.open();

    let unknown = rig.octo.call(MeasureModel { model: octo_protocol::ModelId::new() }).await;
    assert!(unknown.is_err());
    rig.octo.shutdown().await;
}

#[tokio::test]
async fn a_proxy_is_used_once_chosen_and_holds_no_secret() {
    let proxy = PageServer::start(&[]);
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let choose = async |proxy| {
        let patch = SettingsPatch { proxy: Some(proxy), ..SettingsPatch::default() };
        octo.call(ChangeSettings { patch }).await
    };
    for invalid in [
        "",
        "proxy.example:3128",
        "socks4://proxy.example",
        "http://me:secret@proxy.example:3128",
        "socks5://me:secret@proxy.example:1080",
        "http://proxy.example:3128/?key=secret",
    ] {
        let error = choose(ProxyChoice::Manual { url: invalid.to_owned() }).await.expect_err("not a proxy");
        assert_eq!(error.key, "settings.proxy_wrong", "{invalid}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let socks = ProxyChoice::Manual { url: "socks5h://127.0.0.1:1080".to_owned() };
    assert_eq!(choose(socks.clone()).await.expect("it is kept").settings.proxy, socks);
    let changed = choose(ProxyChoice::Manual { url: proxy.url() }).await.expect("it is kept");
    assert_eq!(changed.settings.proxy, ProxyChoice::Manual { url: proxy.url() });
    let asked = || draft(Protocol::Anthropic, "https://models.example", "m", None);
    let check = octo.call(TestModel { draft: asked() }).await.expect("the test is made");
    assert!(matches!(check, ModelCheck::Fails { .. }), "the proxy knows no such host: {check:?}");
    let seen: Vec<String> = proxy.requests().into_iter().map(|request| request.path).collect();
    assert!(!seen.is_empty() && seen.iter().all(|path| path == "models.example:443"), "{seen:?}");

    // This machine is never reached through the proxy.
    let server = ModelServer::start(Script::new().text("OK"));
    let here = draft(Protocol::Anthropic, &server.url(), "m", None);
    let check = octo.call(TestModel { draft: here }).await.expect("the test is made");
    assert!(matches!(check, ModelCheck::Works { .. }), "{check:?}");
    assert_eq!(proxy.requests().len(), seen.len());
    octo.shutdown().await;
}

#[tokio::test]
async fn a_proxy_is_tried_before_it_is_kept() {
    let proxy = PageServer::start(&[]);
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let attempt = async |url: &str| {
        let tried = octo.call(TryProxy { proxy: ProxyChoice::Manual { url: url.to_owned() } }).await;
        tried.expect_err("the proxy knows no such host")
    };
    assert_eq!(attempt("ftp://proxy.example").await.key, "settings.proxy_wrong");
    let error = attempt(&proxy.url()).await;
    assert_eq!((error.key.as_str(), error.args["host"].as_str()), ("settings.proxy_not_tried", "github.com"));
    save(&octo, draft(Protocol::Anthropic, "http://127.0.0.1:9", "near", None)).await;
    save(&octo, draft(Protocol::Anthropic, "https://models.example/v1", "far", None)).await;
    assert_eq!(attempt(&proxy.url()).await.args["host"], "models.example");
    let seen: Vec<String> = proxy.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(seen, ["github.com:443", "models.example:443"]);
    let kept = octo.call(GetSettings {}).await.expect("they are read").settings.proxy;
    assert_eq!(kept, ProxyChoice::System, "nothing was changed");
    octo.shutdown().await;
}

#[tokio::test]
async fn the_light_model_and_fallbacks_are_kept_and_go_with_their_models() {
    let home = TempHome::new();
    let octo = rig::open(&home).await;
    let add = async |name: &str| {
        save(&octo, draft(Protocol::Anthropic, "https://api.anthropic.com", name, None)).await.id
    };
    let (large, small) = (add("claude-opus-5").await, add("claude-haiku-4-5").await);
    octo.call(ChooseLightModel { model: Some(small) }).await.expect("it is kept");
    octo.call(ChooseFallback { model: large, fallback: Some(small) }).await.expect("it is kept");
    let error =
        octo.call(ChooseFallback { model: small, fallback: Some(small) }).await.expect_err("not itself");
    assert_eq!(error.key, "model.fallback_itself");
    let stranger = octo_protocol::ModelId::new();
    let error =
        octo.call(ChooseFallback { model: large, fallback: Some(stranger) }).await.expect_err("not there");
    assert_eq!(error.key, "model.unknown");
    let error = octo.call(ChooseLightModel { model: Some(stranger) }).await.expect_err("not there");
    assert_eq!(error.key, "model.unknown");

    // Saving an entry again keeps its fallback; so does a restart.
    let again = ModelDraft {
        id: Some(large),
        ..draft(Protocol::Anthropic, "https://api.anthropic.com", "claude-opus-5-5", None)
    };
    assert_eq!(save(&octo, again).await.fallback, Some(small));
    octo.shutdown().await;
    let octo = rig::open(&home).await;
    let kept = settings(&octo).await;
    assert_eq!((kept.settings.light_model, kept.models[0].fallback), (Some(small), Some(small)));

    octo.call(RemoveModel { model: small }).await.expect("it is removed");
    let left = settings(&octo).await;
    assert_eq!((left.settings.light_model, left.models.len(), left.models[0].fallback), (None, 1, None));
    octo.call(ChooseFallback { model: large, fallback: None }).await.expect("none is fine");
    octo.shutdown().await;
}
