//! Performs one call over HTTP: the request out, the stream in.

use crate::{
    AnswerProgress, AnswerReader, Endpoint, ErrorClass, KeyHeaders, ModelEvent, ModelRequest, ModelStream,
    Provider, ProviderError, ProviderId, bedrock,
    codec::{Credentials, codec},
    content_timeout::LastContent,
    endpoint, http,
    redact::Secrets,
};
use futures::stream;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};
use tokio_rustls::rustls;
use tokio_util::sync::CancellationToken;

/// Connection timeout, including TLS: long enough for a distant server over a slow line, short enough that an
/// unreachable one is retried soon.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum silence of the server, before its first byte and between any two. Long, since reasoning models may
/// think for minutes without a byte.
pub const READ_TIMEOUT: Duration = Duration::from_secs(300);
/// Timeout for the body of an error. Its status is informative enough.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes read of an error's body.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// Content type of requests.
const JSON: &str = "application/json";

/// A provider over HTTP.
pub(crate) struct Transport {
    call: Arc<CallContext>,
}

/// Data of a call, shared by all calls of a provider.
struct CallContext {
    id: ProviderId,
    endpoint: Endpoint,
    client: Client,
    base: Url,
    headers: HeaderMap,
}

impl Transport {
    pub(crate) fn new(endpoint: Endpoint, base: Url) -> Result<Self, ProviderError> {
        let headers = headers(&endpoint)?;
        let client = client(&endpoint, &base)?;
        let id = endpoint::provider_id(endpoint.protocol, &base);
        Ok(Self { call: Arc::new(CallContext { id, endpoint, client, base, headers }) })
    }
}

impl Provider for Transport {
    fn id(&self) -> &ProviderId {
        &self.call.id
    }

    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> ModelStream {
        let state = State::Start { call: self.call.clone(), request: Box::new(request) };
        let machine = CallStream {
            state,
            ready: VecDeque::new(),
            secrets: Secrets::from_endpoint(&self.call.endpoint),
        };
        Box::pin(stream::unfold((machine, cancel), |(mut machine, cancel)| async move {
            if matches!(machine.state, State::Over) && machine.ready.is_empty() {
                return None;
            }
            let event = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    Some(Err(ProviderError::new(ErrorClass::Cancelled, "The call was cancelled.")))
                }
                event = machine.next() => event,
            };
            if !matches!(event, Some(Ok(_))) {
                // Drops the connection before the caller sees the error.
                machine =
                    CallStream { state: State::Over, ready: VecDeque::new(), secrets: Secrets::default() };
            }
            event.map(|event| (event, (machine, cancel)))
        }))
    }
}

/// Builds the client: verified TLS (the builder's default, never switched off); no redirects, since the key was
/// given for this address only.
pub(crate) fn client(endpoint: &Endpoint, base: &Url) -> Result<Client, ProviderError> {
    let builder = Client::builder()
        .user_agent(concat!("octo/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(READ_TIMEOUT)
        .redirect(redirect::Policy::none());
    let builder = endpoint.network.apply(builder, base)?;
    // Only building the client parses the certificates completely.
    let class = match endpoint.network.extra_ca {
        Some(_) => ErrorClass::Certificate,
        None => ErrorClass::Network,
    };
    builder.build().map_err(|error| ProviderError::new(class, causes(error)))
}

pub(crate) fn headers(endpoint: &Endpoint) -> Result<HeaderMap, ProviderError> {
    // Octo's own are inserted afterwards and override any of the same name.
    let mut headers = endpoint.network.header_map()?;
    let codec = codec(endpoint.protocol);
    headers.insert(ACCEPT, HeaderValue::from_static(codec.framing.media_type()));
    for (name, value) in codec.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let Some(key) = &endpoint.key else { return Ok(headers) };
    let bearer = || Ok((AUTHORIZATION, secret(&format!("Bearer {}", key.expose_secret()))?));
    match codec.credentials {
        Credentials::ApiKey => {
            headers.insert(HeaderName::from_static("x-api-key"), secret(key.expose_secret())?);
            if endpoint.dialect.key_headers == KeyHeaders::ApiKeyAndBearer {
                headers.extend([bearer()?]);
            }
        }
        Credentials::Bearer | Credentials::BearerOrAws => headers.extend([bearer()?]),
    }
    Ok(headers)
}

fn secret(text: &str) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| ProviderError::new(ErrorClass::Auth, "The key holds characters no key can have."))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A call in progress. Ready events are returned before the state advances.
struct CallStream {
    state: State,
    ready: VecDeque<Result<ModelEvent, ProviderError>>,
    /// Values that must not appear in an error.
    secrets: Secrets,
}

enum State {
    Start { call: Arc<CallContext>, request: Box<ModelRequest> },
    Reading(Box<OpenResponse>),
    Over,
}

struct OpenResponse {
    response: Response,
    reader: AnswerReader,
    /// Whether the body was checked to begin like a stream.
    start_checked: bool,
    /// Time of the last content.
    last_content: LastContent,
}

impl CallStream {
    /// Returns the next event. Dropping the future only ends the wait.
    async fn next(&mut self) -> Option<Result<ModelEvent, ProviderError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match &mut self.state {
                State::Start { call, request } => match call.start(request, &mut self.secrets).await {
                    Ok(response) => {
                        let reader =
                            AnswerReader::new(call.endpoint.protocol, &call.id, &call.endpoint.dialect);
                        let last_content = LastContent::starting_at(Instant::now());
                        let reading = OpenResponse { response, reader, start_checked: false, last_content };
                        self.state = State::Reading(Box::new(reading));
                    }
                    Err(error) => {
                        self.ready.push_back(Err(redacted(error, &self.secrets)));
                        self.state = State::Over;
                    }
                },
                State::Reading(reading) => {
                    let mut events = Vec::new();
                    let read = reading.read(&mut events).await;
                    self.ready.extend(events.into_iter().map(Ok));
                    match read {
                        Ok(AnswerProgress::More) => {}
                        Ok(AnswerProgress::Whole) => {
                            if let State::Reading(reading) = std::mem::replace(&mut self.state, State::Over) {
                                drain(reading.response);
                            }
                        }
                        Err(error) => {
                            self.ready.push_back(Err(redacted(error, &self.secrets)));
                            self.state = State::Over;
                        }
                    }
                }
                State::Over => return None,
            }
        }
    }
}

impl OpenResponse {
    /// Reads one piece of the body. `events` receives the decoded events, including those before an error.
    async fn read(&mut self, events: &mut Vec<ModelEvent>) -> Result<AnswerProgress, ProviderError> {
        let Some(bytes) = self.response.chunk().await.map_err(network_error)? else {
            return self.reader.finish(events).map(|()| AnswerProgress::Whole);
        };
        if !self.start_checked
            && let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace())
        {
            self.start_checked = true;
            // No event begins like a page or like JSON.
            if matches!(first, b'<' | b'{' | b'[') {
                return Err(http::not_a_stream_error(&read_body(&mut self.response, bytes.to_vec()).await));
            }
        }
        let before = events.len();
        let progress = self.reader.push(&bytes, events)?;
        self.last_content.record(events.len() - before, Instant::now())?;
        Ok(progress)
    }
}

impl CallContext {
    /// Sends the request and checks the status and the content type of the answer.
    async fn start(&self, request: &ModelRequest, secrets: &mut Secrets) -> Result<Response, ProviderError> {
        let (url, encoded) = self.encode(request);
        let body = encoded.to_string().into_bytes();
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let credentials = codec(self.endpoint.protocol).credentials;
        if credentials == Credentials::BearerOrAws && self.endpoint.key.is_none() {
            headers.extend(self.auth_headers(&url, &body, secrets).await?);
        }
        let sent = self.client.post(&url).headers(headers).body(body).send().await;
        let mut response = sent.map_err(network_error)?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let error_body = secrets.redact(read_body(&mut response, Vec::new()).await);
            return Err(http::status_error(status.as_u16(), &headers, &error_body, SystemTime::now()));
        }
        let is_page = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html"));
        if is_page { Err(http::web_page_error()) } else { Ok(response) }
    }

    /// Returns the address and the body of the request.
    fn encode(&self, request: &ModelRequest) -> (String, Value) {
        let codec = codec(self.endpoint.protocol);
        let body = (codec.encode)(request, &self.id, &self.endpoint.dialect);
        ((codec.url)(&self.base, &request.model), body)
    }

    /// Returns the headers that authenticate a request without a key, from the current AWS environment.
    async fn auth_headers(
        &self,
        url: &str,
        body: &[u8],
        secrets: &mut Secrets,
    ) -> Result<HeaderMap, ProviderError> {
        let (environment, base) = (self.endpoint.aws.clone(), self.base.clone());
        let found = tokio::task::spawn_blocking(move || bedrock::find_auth(&environment, &base)).await;
        let unreadable = |_| ProviderError::new(ErrorClass::Auth, "The AWS credentials could not be read.");
        let access = found.map_err(unreadable)??;
        access.collect_secrets(secrets);
        let headers = [(CONTENT_TYPE.as_str(), JSON)];
        let request = bedrock::UnsignedRequest { method: "POST", url, headers: &headers, body };
        let header = |(name, value): (String, String)| {
            let unsendable = |_| ProviderError::new(ErrorClass::Auth, "The request cannot be signed.");
            Ok((HeaderName::try_from(name).map_err(unsendable)?, secret(&value)?))
        };
        access.headers(&request, SystemTime::now())?.into_iter().map(header).collect()
    }
}

/// Redacts an error: servers repeat keys in their messages, and no part of a key may leave with an error. The
/// text is shortened afterwards, so no truncated key remains.
fn redacted(mut error: ProviderError, secrets: &Secrets) -> ProviderError {
    error.message = http::shorten(&secrets.redact(error.message), http::MAX_MESSAGE);
    error
}

/// Reads the rest after the terminal event (normally just the end of the body), so the connection can serve the
/// next call.
fn drain(mut response: Response) {
    const MAX_DRAIN_TIME: Duration = Duration::from_secs(2);
    tokio::spawn(async move {
        let read_all = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = tokio::time::timeout(MAX_DRAIN_TIME, read_all).await;
    });
}

/// Reads the rest of the body, after the already read `prefix`, within limits of time and size.
async fn read_body(response: &mut Response, mut prefix: Vec<u8>) -> String {
    let read_all = async {
        while prefix.len() < MAX_ERROR_BODY
            && let Ok(Some(bytes)) = response.chunk().await
        {
            prefix.extend_from_slice(&bytes);
        }
    };
    let _ = tokio::time::timeout(ERROR_BODY_TIMEOUT, read_all).await;
    prefix.truncate(MAX_ERROR_BODY);
    String::from_utf8_lossy(&prefix).into_owned()
}

/// Converts an error of the network with its causes, without the address (it is known, and may be private).
pub(crate) fn network_error(error: reqwest::Error) -> ProviderError {
    let message = if error.is_connect() && error.is_timeout() {
        format!("No connection within {} seconds.", CONNECT_TIMEOUT.as_secs())
    } else if error.is_timeout() {
        format!("The server was silent for {} seconds.", READ_TIMEOUT.as_secs())
    } else {
        let class = if is_untrusted(&error) { ErrorClass::Untrusted } else { ErrorClass::Network };
        return ProviderError::new(class, causes(error));
    };
    ProviderError::new(ErrorClass::Network, message)
}

/// Returns whether the server's certificate could not be verified.
fn is_untrusted(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return matches!(error, rustls::Error::InvalidCertificate(_));
    }
    // The error inside an input/output error is not among its causes.
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    wrapped.is_some_and(|wrapped| is_untrusted(wrapped)) || error.source().is_some_and(is_untrusted)
}

fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    message
}
