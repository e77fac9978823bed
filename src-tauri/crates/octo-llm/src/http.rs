//! Classifies HTTP answers that are not a stream.

use crate::{ErrorClass, ProviderError};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// Message that replaces a page meant for a browser.
const HTML_PAGE: &str = "The server sent a web page instead of an answer.";

/// Fields that only a complete answer has: Anthropic's, Chat Completions', and the one of Responses and
/// Bedrock.
const ANSWER_FIELDS: [&str; 3] = ["content", "choices", "output"];
/// Maximum characters shown of a body without a message of its own.
const MAX_EXCERPT: usize = 200;
/// Maximum characters of any message.
pub(crate) const MAX_MESSAGE: usize = 500;

/// Returns the error for an answer with `status`; `body` may be truncated.
pub(crate) fn status_error(status: u16, headers: &HeaderMap, body: &str, now: SystemTime) -> ProviderError {
    let message = message_of(body);
    let class = aws_class(headers, &message).unwrap_or_else(|| class_of(status, &message));
    let text =
        if message.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {message}") };
    let retry_after = retry_after(headers, now).or_else(|| retry_delay(body));
    ProviderError { class, message: text, retry_after }
}

/// Classifies an error by AWS's header with the exception's name: a wrong signature has the same status as a
/// missing permission.
fn aws_class(headers: &HeaderMap, message: &str) -> Option<ErrorClass> {
    exception_class(headers.get("x-amzn-errortype")?.to_str().ok()?, message)
}

/// Returns the error for an error object inside a successful answer: in a stream, or as a whole body with
/// status 200.
pub(crate) fn object_error(error: &Value) -> ProviderError {
    let message = message_in(error).unwrap_or_else(|| error.to_string());
    let name = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let error_class = named_class(name("type"), &message).or_else(|| named_class(name("code"), &message));
    let class = match (error_class, status) {
        (Some(class), _) => class,
        (None, Some(status)) if status >= 300 => class_of(status, &message),
        (None, _) if is_overflow(&message) => ErrorClass::ContextTooLong,
        // The server had accepted the call, so the fault is on its side.
        (None, _) => ErrorClass::Overloaded,
    };
    ProviderError::new(class, message)
}

/// Returns the error for an AWS exception inside a stream, an object with its `type` and `message`.
pub(crate) fn exception_error(body: &Value) -> ProviderError {
    let name = body.get("type").and_then(Value::as_str).unwrap_or_default();
    let message = body.get("message").and_then(Value::as_str).unwrap_or_default();
    let class = exception_class(name, message).unwrap_or(ErrorClass::Overloaded);
    ProviderError::new(class, if message.is_empty() { name } else { message })
}

/// Returns the class of an AWS exception by its name, ignoring the case of its first letter.
fn exception_class(name: &str, message: &str) -> Option<ErrorClass> {
    // A header may contain `Name:address`, a body `namespace#Name`.
    let name = name.split(':').next().unwrap_or_default();
    let name = name.rsplit('#').next().unwrap_or_default().to_ascii_lowercase();
    Some(match name.as_str() {
        "throttlingexception" | "toomanyrequestsexception" => ErrorClass::RateLimited,
        "servicequotaexceededexception" => ErrorClass::RateLimited,
        "internalserverexception"
        | "serviceunavailableexception"
        | "modeltimeoutexception"
        | "modelstreamerrorexception"
        | "modelerrorexception"
        | "modelnotreadyexception" => ErrorClass::Overloaded,
        "validationexception" if is_overflow(message) => ErrorClass::ContextTooLong,
        "validationexception" => ErrorClass::Invalid,
        "resourcenotfoundexception" => ErrorClass::NotFound,
        "accessdeniedexception" => ErrorClass::Forbidden,
        "unrecognizedclientexception"
        | "invalidsignatureexception"
        | "incompletesignatureexception"
        | "expiredtokenexception"
        | "missingauthenticationtokenexception"
        | "invalidclienttokenid" => ErrorClass::Auth,
        _ => return None,
    })
}

/// Returns the error for a browser page, whatever its status.
pub(crate) fn web_page_error() -> ProviderError {
    ProviderError::new(ErrorClass::Malformed, HTML_PAGE)
}

/// Returns the error for a complete answer with status 200 in place of a stream.
pub(crate) fn not_a_stream_error(body: &str) -> ProviderError {
    if is_html(body) {
        return web_page_error();
    }
    let body = serde_json::from_str::<Value>(body).unwrap_or_default();
    match body.get("error") {
        Some(error) if !error.is_null() => object_error(error),
        // A model did answer, and was paid; a retry would only repeat that.
        _ if ANSWER_FIELDS.iter().any(|field| body.get(field).is_some()) => ProviderError::new(
            ErrorClass::Invalid,
            "The server cannot stream: it sent its whole answer at once.",
        ),
        _ => ProviderError::new(ErrorClass::Malformed, "The server answered without streaming."),
    }
}

/// Returns the class of an error by its vendor's name (`error.type` of Anthropic, `error.type` or `error.code`
/// of OpenAI).
fn named_class(name: &str, message: &str) -> Option<ErrorClass> {
    Some(match name {
        "overloaded_error" | "api_error" | "server_error" | "timeout_error" | "service_unavailable" => {
            ErrorClass::Overloaded
        }
        "rate_limit_error" | "rate_limit_exceeded" | "too_many_requests" => ErrorClass::RateLimited,
        "authentication_error" | "invalid_api_key" => ErrorClass::Auth,
        "billing_error" | "insufficient_quota" => ErrorClass::Billing,
        "permission_error" => ErrorClass::Forbidden,
        "not_found_error" | "model_not_found" => ErrorClass::NotFound,
        "context_length_exceeded" => ErrorClass::ContextTooLong,
        "invalid_request_error" | "request_too_large" if is_overflow(message) => ErrorClass::ContextTooLong,
        "invalid_request_error" | "request_too_large" | "invalid_prompt" => ErrorClass::Invalid,
        _ => return None,
    })
}

fn class_of(status: u16, message: &str) -> ErrorClass {
    match status {
        401 => ErrorClass::Auth,
        402 => ErrorClass::Billing,
        403 if mentions_quota(message) => ErrorClass::Billing,
        403 => ErrorClass::Forbidden,
        // Redirects are not followed: the key was given for this address only.
        300..=399 | 404 | 405 | 410 => ErrorClass::NotFound,
        400 | 422 if is_overflow(message) => ErrorClass::ContextTooLong,
        // The body is larger than the server accepts, regardless of its message about tokens.
        413 => ErrorClass::ContextTooLong,
        // OpenAI also answers an empty account with 429; waiting does not fill it.
        429 if is_empty_account(message) => ErrorClass::Billing,
        429 => ErrorClass::RateLimited,
        // 408 and 409: the vendors' own clients retry these.
        408 | 409 | 425 | 500..=599 => ErrorClass::Overloaded,
        // Google's message for a wrong key.
        400 if message.to_lowercase().contains("api key not valid") => ErrorClass::Auth,
        // Some proxies wrap a vendor's throttling in a 400.
        400 if is_throttling(message) => ErrorClass::RateLimited,
        _ => ErrorClass::Invalid,
    }
}

fn mentions_quota(message: &str) -> bool {
    let message = message.to_lowercase();
    ["quota", "billing", "balance", "credit", "insufficient funds", "payment"]
        .iter()
        .any(|phrase| message.contains(phrase))
}

/// Returns whether the message reports an empty account. Google uses the same sentence for its per-minute
/// limits, but then adds a retry time.
fn is_empty_account(message: &str) -> bool {
    let message = message.to_lowercase();
    let mentions = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    mentions(&["insufficient_quota", "insufficient balance", "credit balance is too low"])
        || (mentions(&["exceeded your current quota"])
            && !mentions(&["please retry in", "retrydelay", "perminute"]))
}

fn is_throttling(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("throttlingexception") || message.contains("too many requests")
}

/// Returns whether an error's message says that the conversation is too long. Vendors have no common code for
/// it.
pub(crate) fn is_overflow(message: &str) -> bool {
    const ERROR_PHRASES: &[&str] = &[
        "context length",
        "context_length_exceeded",
        "context window",
        "maximum context",
        "maximum input length",
        "prompt is too long",
        "input is too long",
        "exceeds the model's context",
        "exceeds the model's maximum",
        "exceeds the maximum context",
        "exceed context limit",
        "reduce the length of the input",
        "reduce the length of the messages",
        "reduce the length of your",
        "reduce the length of the prompt",
        "range of input length",
        "parameter=input_tokens",
        // Gemini: "The input token count (…) exceeds the maximum number of tokens allowed".
        "exceeds the maximum number of tokens",
        // llama.cpp
        "exceeds the available context size",
        "exceed_context_size_error",
        // xAI
        "maximum prompt length is",
        // Moonshot
        "exceeded model token limit",
        // Z.ai
        "prompt exceeds max length",
    ];
    let message = message.to_lowercase();
    ERROR_PHRASES.iter().any(|phrase| message.contains(phrase)) || compares_tokens(&message)
}

/// Returns whether the message contains "«number» tokens > «number»".
fn compares_tokens(message: &str) -> bool {
    let words: Vec<&str> = message.split_whitespace().collect();
    let is_number = |word: &str| word.starts_with(|character: char| character.is_ascii_digit());
    words.windows(4).any(|window| match window {
        [count, "token" | "tokens", ">", limit] => {
            count.ends_with(|character: char| character.is_ascii_digit()) && is_number(limit)
        }
        _ => false,
    })
}

/// Extracts the message from a body: `error.message`, `message`, `error` as text, otherwise the start of the
/// body.
fn message_of(body: &str) -> String {
    if is_html(body) {
        return HTML_PAGE.to_owned();
    }
    let parsed = serde_json::from_str::<Value>(body.trim()).ok();
    let found = parsed.as_ref().map(unwrap_single).and_then(|body| {
        let error = body.get("error").filter(|error| !error.is_null());
        error
            .filter(|error| error.is_object())
            .and_then(message_in)
            .or_else(|| message_in(body))
            .or_else(|| error.and_then(Value::as_str).map(str::to_owned))
    });
    found.unwrap_or_else(|| shorten(body.trim(), MAX_EXCERPT))
}

/// Unwraps a list of one: Google's compatible endpoint wraps its errors like this.
fn unwrap_single(body: &Value) -> &Value {
    match body.as_array().map(Vec::as_slice) {
        Some([only]) => only,
        _ => body,
    }
}

/// Returns the wait Google requests in the body: a detail with `retryDelay`, as in `26s`.
fn retry_delay(body: &str) -> Option<Duration> {
    let body = serde_json::from_str::<Value>(body.trim()).ok()?;
    let details = unwrap_single(&body).pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let number = delay.strip_suffix('s')?.parse::<f64>().ok()?;
    (number.is_finite() && number >= 0.0).then(|| duration_of_seconds(number))
}

/// Returns the `message` of an error object, or the object itself if it is text. OpenAI's `code` is appended if
/// the message lacks it, since some messages mean nothing without it.
fn message_in(error: &Value) -> Option<String> {
    if let Some(text) = error.as_str() {
        return Some(text.to_owned());
    }
    let message = error.get("message").and_then(Value::as_str).filter(|message| !message.is_empty())?;
    match error.get("code").and_then(Value::as_str) {
        Some(code) if !code.is_empty() && !message.contains(code) => Some(format!("{message} ({code})")),
        _ => Some(message.to_owned()),
    }
}

pub(crate) fn is_html(body: &str) -> bool {
    let start: String = body.trim_start_matches('\u{feff}').trim_start().chars().take(16).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")
}

/// Returns the first `limit` characters.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    text.chars().take(limit).collect()
}

/// Converts seconds; a time too long for a `Duration` becomes the longest one.
fn duration_of_seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX)
}

/// Returns the wait the server requests: `retry-after-ms`, or `retry-after` as seconds or as a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(duration_of_seconds(milliseconds / 1000.0));
    }
    let seconds = text(RETRY_AFTER.as_str())?;
    match number(seconds) {
        Some(seconds) => Some(duration_of_seconds(seconds)),
        // A past date means now.
        None => {
            httpdate::parse_http_date(seconds).ok().map(|date| date.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| ((*name).parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn plain(status: u16, body: &str) -> ProviderError {
        status_error(status, &HeaderMap::new(), body, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn wordings_of_a_too_long_conversation() {
        for (message, expected) in [
            ("prompt is too long: 218849 tokens > 200000 maximum", true),
            ("Range of input length should be [1, 229376]", true),
            ("parameter=input_tokens", true),
            ("42  tokens   >   40 maximum", true),
            ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000", true),
            ("This model's maximum context length is 128000 tokens. However, you requested 130000.", true),
            ("Your input exceeds the context window of this model.", true),
            ("Please reduce the length of the messages or completion.", true),
            ("Requested token count exceeds the model's maximum context length", true),
            ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", true),
            ("the request exceeds the available context size, try increasing it", true),
            ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.", true),
            ("Invalid request: Your request exceeded model token limit: 131072", true),
            ("Prompt exceeds max length", true),
            ("invalid auth token", false),
            ("the file path is too long", false),
            ("tokens > maximum", false),
            ("", false),
        ] {
            assert_eq!(is_overflow(message), expected, "{message:?}");
            let body = serde_json::json!({ "error": { "message": message } }).to_string();
            let class = if expected { ErrorClass::ContextTooLong } else { ErrorClass::Invalid };
            assert_eq!(plain(400, &body).class, class, "{message:?}");
            // With another status, the same message means whatever that status says.
            assert_eq!(plain(503, &body).class, ErrorClass::Overloaded, "{message:?}");
        }
    }

    #[test]
    fn http_statuses_map_to_error_classes() {
        for (status, message, class) in [
            (301, "", ErrorClass::NotFound),
            (400, "bad tool schema", ErrorClass::Invalid),
            (400, "ThrottlingException: slow down", ErrorClass::RateLimited),
            (400, "API key not valid. Please pass a valid API key.", ErrorClass::Auth),
            (401, "no key", ErrorClass::Auth),
            (402, "", ErrorClass::Billing),
            (403, "not for you", ErrorClass::Forbidden),
            (403, "Your quota is used up", ErrorClass::Billing),
            (404, "model: nope", ErrorClass::NotFound),
            (405, "", ErrorClass::NotFound),
            (408, "", ErrorClass::Overloaded),
            (409, "", ErrorClass::Overloaded),
            (413, "request_too_large", ErrorClass::ContextTooLong),
            (418, "", ErrorClass::Invalid),
            (422, "no such field", ErrorClass::Invalid),
            (429, "slow down", ErrorClass::RateLimited),
            (429, "You exceeded your current quota, please check your plan", ErrorClass::Billing),
            (429, "You exceeded your current quota. Please retry in 26.2s.", ErrorClass::RateLimited),
            (500, "", ErrorClass::Overloaded),
            (503, "", ErrorClass::Overloaded),
            (529, "Overloaded", ErrorClass::Overloaded),
        ] {
            assert_eq!(plain(status, message).class, class, "{status} {message:?}");
        }
    }

    #[test]
    fn the_message_is_found_in_every_vendors_place() {
        let (long_text, excerpt) = ("x".repeat(900), "x".repeat(MAX_EXCERPT));
        for (body, expected) in [
            (
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"first"},"message":"second"}"#,
                "first",
            ),
            (r#"{"message":"second","error":{}}"#, "second"),
            (r#"{"error":"third"}"#, "third"),
            (r#"{"error":{"message":"quota","code":"insufficient_quota"}}"#, "quota (insufficient_quota)"),
            (r#"{"detail":"fourth"}"#, r#"{"detail":"fourth"}"#),
            ("plain words", "plain words"),
            ("  <!DOCTYPE html><p>503", HTML_PAGE),
            ("\u{feff}<HTML lang=en>", HTML_PAGE),
            (&long_text, &excerpt),
        ] {
            assert_eq!(plain(400, body).message, format!("HTTP 400: {expected}"), "{body}");
        }
        assert_eq!(plain(500, "").message, "HTTP 500");
    }

    #[test]
    fn the_requested_retry_delay_is_read() {
        let now = httpdate::parse_http_date("Sat, 21 Nov 2026 10:00:00 GMT").unwrap();
        let delay_ms = |pairs: &[(&'static str, &str)]| {
            retry_after(&headers(pairs), now).map(|delay_ms| delay_ms.as_millis())
        };
        for (pairs, expected) in [
            (&[("retry-after", "7")][..], Some(7000)),
            (&[("retry-after", "1.5")], Some(1500)),
            (&[("retry-after", "Sat, 21 Nov 2026 10:00:30 GMT")], Some(30_000)),
            (&[("retry-after", "Sat, 21 Nov 2026 09:00:00 GMT")], Some(0)),
            (&[("retry-after-ms", "250"), ("retry-after", "9")], Some(250)),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "NaN")], None),
            (&[], None),
        ] {
            assert_eq!(delay_ms(pairs), expected, "{pairs:?}");
        }
        assert_eq!(retry_after(&headers(&[("retry-after", "1e300")]), now), Some(Duration::MAX));
    }

    #[test]
    fn googles_minute_limit_gives_the_delay_in_its_body() {
        let body = r#"[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 26.2s.",
            "status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26s"}]}}]"#;
        let error = plain(429, body);
        assert_eq!(error.class, ErrorClass::RateLimited);
        assert_eq!(error.retry_after, Some(Duration::from_secs(26)));
        assert_eq!(error.message, "HTTP 429: You exceeded your current quota. Please retry in 26.2s.");
        for malformed in
            [r#"[{"error":{"details":[{"retryDelay":"soon"}]}}]"#, r#"{"error":{"details":{}}}"#, "[]"]
        {
            assert_eq!(plain(429, malformed).retry_after, None, "{malformed}");
        }
    }

    #[test]
    fn errors_inside_good_answers() {
        let class = |error: Value| object_error(&error).class;
        use serde_json::json;
        assert_eq!(
            class(json!({ "type": "overloaded_error", "message": "Overloaded" })),
            ErrorClass::Overloaded
        );
        assert_eq!(class(json!({ "type": "rate_limit_error", "message": "x" })), ErrorClass::RateLimited);
        assert_eq!(class(json!({ "type": "authentication_error", "message": "x" })), ErrorClass::Auth);
        assert_eq!(class(json!({ "code": 402, "message": "Insufficient credits" })), ErrorClass::Billing);
        assert_eq!(class(json!({ "code": "model_not_found", "message": "x" })), ErrorClass::NotFound);
        let too_long =
            json!({ "type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum" });
        assert_eq!(class(too_long), ErrorClass::ContextTooLong);
        assert_eq!(class(json!({ "type": "invalid_request_error", "message": "no" })), ErrorClass::Invalid);
        assert_eq!(class(json!("it broke")), ErrorClass::Overloaded);
        for body in [
            r#"{"type":"message","content":[{"type":"text","text":"hi"}]}"#,
            r#"{"id":"x","choices":[{"message":{"content":"hi"}}]}"#,
            r#"{"object":"response","error":null,"output":[]}"#,
            r#"{"output":{"message":{}},"stopReason":"end_turn"}"#,
        ] {
            let class = not_a_stream_error(body).class;
            assert_eq!(class, ErrorClass::Invalid, "{body}");
            assert!(!class.is_retryable(), "each try would be paid for");
        }
        for other in ["", "no", "{}", "[]", r#"{"message":"try later"}"#] {
            assert_eq!(not_a_stream_error(other).class, ErrorClass::Malformed, "{other}");
        }
        assert_eq!(
            not_a_stream_error(r#"{"error":{"type":"rate_limit_error","message":"x"}}"#).class,
            ErrorClass::RateLimited
        );
        assert_eq!(not_a_stream_error("<html>").class, ErrorClass::Malformed);
    }
}
