//! Model servers on this machine.

use crate::{Address, ErrorClass, LocalKind, Preset, Presets, ProviderError, catalogue};
use futures::future::join_all;
use octo_protocol::LocalServer;
use reqwest::{Client, Url, redirect};
use serde_json::Value;
use std::time::Duration;

/// How long a server on this machine may take to accept a connection.
const CONNECT: Duration = Duration::from_millis(500);
/// How long it may take to answer. One that loads a model answers all the same.
const ANSWER: Duration = Duration::from_secs(2);
/// How much of an answer is read. A list of a thousand models has less.
const LARGEST: usize = 2 * 1024 * 1024;
/// How many names are taken.
const MOST: usize = 500;

/// Looks for the presets' local servers at their addresses. Only this machine is asked (the presets cannot name
/// another), without a proxy and without following redirects. What answers must be what the preset says it is,
/// and have a model; anything else is not reported.
///
/// # Errors
///
/// [`ErrorClass::Network`] when the system lets nothing be asked at all. That no server answers is no error.
pub async fn find_local_servers(presets: &Presets) -> Result<Vec<LocalServer>, ProviderError> {
    let client = Client::builder()
        .user_agent(concat!("octo/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .build()
        .map_err(|error| ProviderError::new(ErrorClass::Network, error.without_url().to_string()))?;
    let places = presets.providers().iter().filter_map(|preset| Some((preset, preset.local.as_ref()?.kind)));
    let looks = places.flat_map(|(preset, kind)| {
        let client = &client;
        preset.addresses.iter().map(move |address| look(client, preset, kind, address))
    });
    Ok(join_all(looks).await.into_iter().flatten().collect())
}

async fn look(client: &Client, preset: &Preset, kind: LocalKind, address: &Address) -> Option<LocalServer> {
    let base = Url::parse(&address.url).ok()?;
    let models = match kind {
        LocalKind::Ollama => ollama(&ask(client, &base, "/api/tags").await?),
        LocalKind::LmStudio => {
            match ask(client, &base, "/api/v1/models").await.as_ref().and_then(lm_studio) {
                Some(models) => Some(models),
                // Before LM Studio 0.4.
                None => lm_studio_v0(&ask(client, &base, "/api/v0/models").await?),
            }
        }
        LocalKind::LlamaCpp => owned_by("llamacpp", &ask(client, &base, "/v1/models").await?),
        LocalKind::Vllm => owned_by("vllm", &ask(client, &base, "/v1/models").await?),
    };
    let mut models = models.filter(|models| !models.is_empty())?;
    models.truncate(MOST);
    Some(LocalServer {
        preset: preset.id.clone(),
        base_url: address.url.clone(),
        protocol: preset.protocol,
        models,
    })
}

/// The JSON at a path of the server, whatever path its address has.
async fn ask(client: &Client, base: &Url, path: &str) -> Option<Value> {
    let mut url = base.clone();
    url.set_path(path);
    let mut response = client.get(url).send().await.ok()?.error_for_status().ok()?;
    let body = catalogue::text(&mut response, LARGEST).await.ok()?;
    serde_json::from_str(&body).ok()
}

/// The models of Ollama's `/api/tags`: each has a digest, which no other server's list has.
fn ollama(answer: &Value) -> Option<Vec<String>> {
    names(answer.get("models")?, "name", |row| row.get("digest").is_some_and(Value::is_string))
}

/// The models of LM Studio's `/api/v1/models` that answer questions.
fn lm_studio(answer: &Value) -> Option<Vec<String>> {
    let rows = answer.get("models")?;
    let rows: Vec<Value> = rows.as_array()?.iter().filter(|row| answers_questions(row)).cloned().collect();
    names(&Value::Array(rows), "key", |row| row.get("loaded_instances").is_some_and(Value::is_array))
}

/// The models of LM Studio's older `/api/v0/models` that answer questions.
fn lm_studio_v0(answer: &Value) -> Option<Vec<String>> {
    let rows = answer.get("data")?;
    let rows: Vec<Value> = rows.as_array()?.iter().filter(|row| answers_questions(row)).cloned().collect();
    names(&Value::Array(rows), "id", |row| row.get("compatibility_type").is_some_and(Value::is_string))
}

fn answers_questions(row: &Value) -> bool {
    matches!(row.get("type").and_then(Value::as_str), Some("llm" | "vlm"))
}

/// The models of a `/v1/models` that all belong to one kind of server.
fn owned_by(owner: &str, answer: &Value) -> Option<Vec<String>> {
    let is_owned = |row: &Value| row.get("owned_by").and_then(Value::as_str) == Some(owner);
    names(answer.get("data")?, "id", is_owned)
}

/// The names in a list whose every row is what it should be.
fn names(rows: &Value, field: &str, fits: impl Fn(&Value) -> bool) -> Option<Vec<String>> {
    let name = |row: &Value| {
        let name = row.get(field)?.as_str()?;
        (fits(row) && !name.is_empty() && !name.chars().any(char::is_control)).then(|| name.to_owned())
    };
    rows.as_array()?.iter().map(name).collect()
}

#[cfg(test)]
mod tests;
