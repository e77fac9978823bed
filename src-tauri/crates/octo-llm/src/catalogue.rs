//! Lists a provider's models.

use crate::{Endpoint, ErrorClass, ProviderError, codec::codec, http, redact::Secrets, transport};
use reqwest::{Response, Url, header};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// Timeout for the list.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum bytes read from it; OpenRouter's list of all its models is one megabyte.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Maximum names read; routers have hundreds.
const MAX_NAMES: usize = 2_000;

/// Asks a provider for its models, with the endpoint's key. Bedrock keeps its list at another host, for which
/// the key was not given, so it is not asked.
///
/// # Errors
///
/// Returns the errors of [`crate::connect`] and of the network, [`ErrorClass::NotFound`] when there is no list,
/// and [`ErrorClass::Malformed`] when the answer is not one.
pub async fn list_models(endpoint: Endpoint) -> Result<Vec<String>, ProviderError> {
    // Checks the address, and that the key may be sent to it.
    crate::connect(endpoint.clone())?;
    let base = Url::parse(endpoint.base_url.trim())
        .map_err(|error| ProviderError::new(ErrorClass::Address, error.to_string()))?;
    let url = (codec(endpoint.protocol).models_url)(&base)?;
    let listing = async {
        let request = transport::client(&endpoint, &base)?.get(url).headers(transport::headers(&endpoint)?);
        let sent = request.header(header::ACCEPT, "application/json").send().await;
        let mut response = sent.map_err(transport::network_error)?;
        let status = response.status();
        let headers = response.headers().clone();
        let body = read_text(&mut response, MAX_BYTES).await.map_err(transport::network_error)?;
        if status.is_success() {
            parse_names(&body)
        } else {
            Err(http::status_error(
                status.as_u16(),
                &headers,
                &Secrets::from_endpoint(&endpoint).redact(body),
                SystemTime::now(),
            ))
        }
    };
    let slow = |_| ProviderError::new(ErrorClass::Network, "The list of models took too long.");
    tokio::time::timeout(LIST_TIMEOUT, listing).await.map_err(slow)?
}

/// Reads the names in a list in the format of OpenAI and Anthropic. Google's names include a path.
pub(crate) fn parse_names(body: &str) -> Result<Vec<String>, ProviderError> {
    if http::is_html(body) {
        return Err(http::web_page_error());
    }
    let no_list = || ProviderError::new(ErrorClass::Malformed, "The server did not send a list of models.");
    let body: Value = serde_json::from_str(body).map_err(|_| no_list())?;
    // Some servers (Together) send the list without an object around it.
    let rows = body.get("data").unwrap_or(&body).as_array().ok_or_else(no_list)?;
    let name = |row: &Value| {
        let id = row.get("id").and_then(Value::as_str)?;
        let id = id.strip_prefix("models/").unwrap_or(id);
        (!id.is_empty() && !id.chars().any(char::is_control)).then(|| id.to_owned())
    };
    Ok(rows.iter().filter_map(name).take(MAX_NAMES).collect())
}

/// Reads the body, up to a maximum size.
pub(crate) async fn read_text(response: &mut Response, limit: usize) -> reqwest::Result<String> {
    let mut body = Vec::new();
    while body.len() < limit
        && let Some(bytes) = response.chunk().await?
    {
        body.extend_from_slice(&bytes);
    }
    body.truncate(limit);
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_vendors_write_them() {
        for (body, names) in [
            (r#"{"object":"list","data":[{"id":"gpt-5.5"},{"id":"o3"}]}"#, vec!["gpt-5.5", "o3"]),
            (r#"{"data":[{"type":"model","id":"claude-opus-5"}],"has_more":false}"#, vec!["claude-opus-5"]),
            (r#"[{"id":"zai-org/GLM-5"}]"#, vec!["zai-org/GLM-5"]),
            (r#"{"data":[{"id":"models/gemini-3.5-flash"}]}"#, vec!["gemini-3.5-flash"]),
            (r#"{"data":[{"id":""},{"id":7},{},{"id":"a\u0000b"}]}"#, vec![]),
        ] {
            assert_eq!(parse_names(body).unwrap(), names, "{body}");
        }
    }

    #[test]
    fn a_malformed_list_is_an_error() {
        for body in ["", "no", "{}", r#"{"data":7}"#, r#"{"models":[]}"#, "<!doctype html><p>hi"] {
            assert_eq!(parse_names(body).unwrap_err().class, ErrorClass::Malformed, "{body}");
        }
    }
}
