//! Model servers on this machine.

use crate::{ErrorClass, LocalKind, Preset, Presets, ProviderAddress, ProviderError, catalogue};
use futures::future::join_all;
use octo_protocol::LocalServer;
use reqwest::{Client, Url, redirect};
use serde_json::Value;
use std::time::Duration;

/// Timeout for a local server to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Timeout for its answer. A server that is loading a model answers nevertheless.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum bytes read of an answer. A list of a thousand models is smaller.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// Maximum names read.
const MAX_NAMES: usize = 500;

/// Looks for the presets' local servers at their addresses. Asks only this machine (the presets cannot name
/// another), without a proxy and without following redirects. A server must be of the preset's kind and have a
/// model; anything else is not reported.
///
/// # Errors
///
/// Returns [`ErrorClass::Network`] when the system prevents any request. A missing answer is not an error.
pub async fn find_local_servers(presets: &Presets) -> Result<Vec<LocalServer>, ProviderError> {
    let client = Client::builder()
        .user_agent(concat!("octo/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(ANSWER_TIMEOUT)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .build()
        .map_err(|error| ProviderError::new(ErrorClass::Network, error.without_url().to_string()))?;
    let candidates =
        presets.providers().iter().filter_map(|preset| Some((preset, preset.local.as_ref()?.kind)));
    let looks = candidates.flat_map(|(preset, kind)| {
        let client = &client;
        preset.addresses.iter().map(move |address| probe(client, preset, kind, address))
    });
    Ok(join_all(looks).await.into_iter().flatten().collect())
}

async fn probe(
    client: &Client,
    preset: &Preset,
    kind: LocalKind,
    address: &ProviderAddress,
) -> Option<LocalServer> {
    let base = Url::parse(&address.url).ok()?;
    let models = match kind {
        LocalKind::Ollama => ollama(&get_json(client, &base, "/api/tags").await?),
        LocalKind::LmStudio => {
            match get_json(client, &base, "/api/v1/models").await.as_ref().and_then(lm_studio) {
                Some(models) => Some(models),
                // Before LM Studio 0.4.
                None => lm_studio_v0(&get_json(client, &base, "/api/v0/models").await?),
            }
        }
        LocalKind::LlamaCpp => owned_by("llamacpp", &get_json(client, &base, "/v1/models").await?),
        LocalKind::Vllm => owned_by("vllm", &get_json(client, &base, "/v1/models").await?),
    };
    let mut models = models.filter(|models| !models.is_empty())?;
    models.truncate(MAX_NAMES);
    Some(LocalServer {
        preset: preset.id.clone(),
        base_url: address.url.clone(),
        protocol: preset.protocol,
        models,
    })
}

/// Returns the JSON at a path of the server, ignoring the path of its address.
async fn get_json(client: &Client, base: &Url, path: &str) -> Option<Value> {
    let mut url = base.clone();
    url.set_path(path);
    let mut response = client.get(url).send().await.ok()?.error_for_status().ok()?;
    let body = catalogue::read_text(&mut response, MAX_BYTES).await.ok()?;
    serde_json::from_str(&body).ok()
}

/// Reads the models from Ollama's `/api/tags`: each has a digest, which no other server's list has.
fn ollama(body: &Value) -> Option<Vec<String>> {
    names(body.get("models")?, "name", |row| row.get("digest").is_some_and(Value::is_string))
}

/// Reads the models from LM Studio's `/api/v1/models` that answer questions.
fn lm_studio(body: &Value) -> Option<Vec<String>> {
    let rows = body.get("models")?;
    let rows: Vec<Value> = rows.as_array()?.iter().filter(|row| answers_questions(row)).cloned().collect();
    names(&Value::Array(rows), "key", |row| row.get("loaded_instances").is_some_and(Value::is_array))
}

/// Reads the models from LM Studio's older `/api/v0/models` that answer questions.
fn lm_studio_v0(body: &Value) -> Option<Vec<String>> {
    let rows = body.get("data")?;
    let rows: Vec<Value> = rows.as_array()?.iter().filter(|row| answers_questions(row)).cloned().collect();
    names(&Value::Array(rows), "id", |row| row.get("compatibility_type").is_some_and(Value::is_string))
}

fn answers_questions(row: &Value) -> bool {
    matches!(row.get("type").and_then(Value::as_str), Some("llm" | "vlm"))
}

/// Reads the models from a `/v1/models` whose owner is one kind of server throughout.
fn owned_by(owner: &str, body: &Value) -> Option<Vec<String>> {
    let is_owned = |row: &Value| row.get("owned_by").and_then(Value::as_str) == Some(owner);
    names(body.get("data")?, "id", is_owned)
}

/// Returns the names in a list, if every row passes the check.
fn names(rows: &Value, field: &str, fits: impl Fn(&Value) -> bool) -> Option<Vec<String>> {
    let name = |row: &Value| {
        let name = row.get(field)?.as_str()?;
        (fits(row) && !name.is_empty() && !name.chars().any(char::is_control)).then(|| name.to_owned())
    };
    rows.as_array()?.iter().map(name).collect()
}

#[cfg(test)]
mod tests;
