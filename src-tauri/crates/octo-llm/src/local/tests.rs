//! Tests against a real server.

use super::*;
use octo_testkit::{PageServer, TempHome};

const OLLAMA: &str = r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":1,"digest":"sha256:1"},
                                    {"name":"gpt-oss:20b","digest":"sha256:2"}]}"#;
const STUDIO: &str = r#"{"models":[{"type":"llm","key":"google/gemma-4","loaded_instances":[]},
                                    {"type":"embedding","key":"nomic","loaded_instances":[]}]}"#;
const STUDIO_V0: &str = r#"{"object":"list","data":[{"id":"old-model","type":"vlm","compatibility_type":"gguf"},
                                    {"id":"nomic","type":"embeddings","compatibility_type":"gguf"}]}"#;
const LLAMA: &str =
    r#"{"object":"list","data":[{"id":"model.gguf","object":"model","owned_by":"llamacpp"}]}"#;
const VLLM: &str = r#"{"object":"list","data":[{"id":"zai-org/GLM-5","object":"model","owned_by":"vllm"}]}"#;

/// Returns the presets with a single local server of this kind at this address.
fn at(kind: &str, url: &str) -> Presets {
    let unavailable = |id: &str| format!(r#"{{ "id": "{id}", "name": "gone", "protocol": "openai-chat" }}"#);
    let others = ["ollama", "lmstudio", "llamacpp", "vllm"].map(unavailable).join(",");
    let text = format!(
        r#"{{ "version": 1, "providers": [{others}, {{ "id": "here", "name": "Here", "protocol": "openai-chat",
               "local": {{ "kind": "{kind}" }}, "addresses": [{{ "url": "{url}/v1" }}] }}] }}"#
    );
    let home = TempHome::new();
    let (presets, warnings) = Presets::load(&home.write("presets.json", text));
    assert_eq!(warnings, []);
    presets
}

#[tokio::test]
async fn a_server_is_found_if_its_answer_matches() {
    for (kind, path, body, models) in [
        ("ollama", "/api/tags", OLLAMA, &["qwen3:8b", "gpt-oss:20b"][..]),
        ("lm_studio", "/api/v1/models", STUDIO, &["google/gemma-4"]),
        ("lm_studio", "/api/v0/models", STUDIO_V0, &["old-model"]),
        ("llama_cpp", "/v1/models", LLAMA, &["model.gguf"]),
        ("vllm", "/v1/models", VLLM, &["zai-org/GLM-5"]),
    ] {
        let server = PageServer::start(&[(path, body)]);
        let found = find_local_servers(&at(kind, &server.url())).await.unwrap();
        let [found] = found.as_slice() else { panic!("{kind}: {found:?}") };
        assert_eq!(
            (found.preset.as_str(), found.models.as_slice()),
            ("here", &models.iter().map(|model| (*model).to_owned()).collect::<Vec<_>>()[..])
        );
        assert_eq!(found.base_url, format!("{}/v1", server.url()));
        for request in server.requests() {
            assert!(!request.headers.contains_key("authorization"), "no key goes to what is not known yet");
        }
    }
}

#[tokio::test]
async fn another_server_at_the_port_is_not_found() {
    for (kind, path, body) in [
        ("ollama", "/api/tags", r#"{"models":[{"name":"x"}]}"#),
        ("ollama", "/api/tags", r#"{"models":[]}"#),
        ("ollama", "/api/tags", "<html>a page</html>"),
        // Redirects are not followed: one could lead off this machine.
        ("ollama", "/api/tags", ""),
        ("lm_studio", "/api/v1/models", r#"{"models":[{"type":"llm","key":"x"}]}"#),
        ("llama_cpp", "/v1/models", VLLM),
        ("vllm", "/v1/models", LLAMA),
        ("vllm", "/v1/models", r#"{"data":[{"id":"a","owned_by":"vllm"},{"id":"b","owned_by":"openai"}]}"#),
        ("vllm", "/v1/models", r#"{"data":[{"id":"a\u0007","owned_by":"vllm"}]}"#),
        ("vllm", "/other", VLLM),
    ] {
        let server = PageServer::start(&[(path, body)]);
        assert_eq!(find_local_servers(&at(kind, &server.url())).await.unwrap(), [], "{kind} {body}");
        assert!(!server.requests().is_empty(), "it was asked");
        assert!(server.requests().len() <= 2, "{kind}: nothing was followed");
    }
}

#[tokio::test]
async fn a_closed_port_is_no_error() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(find_local_servers(&at("ollama", &format!("http://{closed}"))).await.unwrap(), []);
}

#[test]
fn the_built_in_presets_know_the_usual_ports() {
    let presets = Presets::built_in();
    let addresses: Vec<(&str, &str)> = presets
        .providers()
        .iter()
        .filter(|preset| preset.local.is_some())
        .flat_map(|preset| preset.addresses.iter().map(|address| (preset.id.as_str(), address.url.as_str())))
        .collect();
    assert_eq!(
        addresses,
        [
            ("ollama", "http://127.0.0.1:11434/v1"),
            ("lmstudio", "http://127.0.0.1:1234/v1"),
            ("llamacpp", "http://127.0.0.1:8080/v1"),
            ("vllm", "http://127.0.0.1:8000/v1"),
        ]
    );
}
