//! Images for the page, read-only: `octo-blob://localhost/<hash>`, and
//! `octo-blob://localhost/live/<session>/<number>` for the browser page a session works in, which is kept in
//! memory only.

use crate::setup::Core;
use octo_core::BlobBytes;
use octo_protocol::{BlobHash, SessionId};
use std::borrow::Cow;
use tauri::{
    Manager, Runtime, UriSchemeContext, UriSchemeResponder,
    http::{Method, Request, Response, StatusCode, header},
};

/// The scheme. On Windows the page writes it `http://octo-blob.localhost/<hash>`.
pub(crate) const SCHEME: &str = "octo-blob";

/// Media types that may be displayed inline. SVG is excluded: opened directly, it could run scripts.
const INLINE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A blob never changes under its hash, so the webview may cache it permanently (a year is the customary
/// "permanent" of caches).
const CACHE_FOREVER: &str = "private, max-age=31536000, immutable";

/// Answers a request of the page.
pub(crate) fn serve<R: Runtime>(
    context: UriSchemeContext<'_, R>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let Some(core) = context.app_handle().try_state::<Core>().map(|core| core.inner().clone()) else {
        return responder.respond(error_response(StatusCode::SERVICE_UNAVAILABLE));
    };
    tauri::async_runtime::spawn(async move {
        let response = match parse_request(&request) {
            Err(status) => error_response(status),
            Ok(image) => match (core.octo().await, image) {
                (Err(_), _) => error_response(StatusCode::SERVICE_UNAVAILABLE),
                (Ok(octo), ImageRequest::Blob(hash)) => octo
                    .blob(&hash)
                    .await
                    .map_or_else(|_| error_response(StatusCode::NOT_FOUND), blob_response),
                (Ok(octo), ImageRequest::Live(session, number)) => octo
                    .live_picture(session, number)
                    .map_or_else(|| error_response(StatusCode::NOT_FOUND), |bytes| live_response(&bytes)),
            },
        };
        responder.respond(response);
    });
}

/// The target of a request.
#[derive(Debug, PartialEq, Eq)]
enum ImageRequest {
    /// A blob.
    Blob(BlobHash),
    /// The live image with this number of the page a session works in.
    Live(SessionId, u32),
}

/// Parses the target of a request: exactly one complete hash, or a session and a number.
fn parse_request(request: &Request<Vec<u8>>) -> Result<ImageRequest, StatusCode> {
    if request.method() != Method::GET {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let path = request.uri().path().trim_start_matches('/');
    if let Some((session, number)) = path.strip_prefix("live/").and_then(|path| path.split_once('/')) {
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number).ok_or(StatusCode::NOT_FOUND)?;
        let session = session.parse().map_err(|_| StatusCode::NOT_FOUND)?;
        return Ok(ImageRequest::Live(session, number));
    }
    let is_hash = path.len() == 64 && path.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_hash { Ok(ImageRequest::Blob(BlobHash(path.to_owned()))) } else { Err(StatusCode::NOT_FOUND) }
}

fn blob_response(blob: BlobBytes) -> Response<Cow<'static, [u8]>> {
    let inline = INLINE_TYPES.contains(&blob.media_type.as_str());
    let (media_type, disposition) = if inline {
        (blob.media_type.as_str(), "inline")
    } else {
        ("application/octet-stream", "attachment")
    };
    build_response(
        Response::builder()
            .header(header::CONTENT_TYPE, media_type)
            .header(header::CONTENT_DISPOSITION, disposition)
            .header(header::CACHE_CONTROL, CACHE_FOREVER),
        blob.bytes.into(),
    )
}

/// Responds with an image that is stale within seconds.
fn live_response(bytes: &[u8]) -> Response<Cow<'static, [u8]>> {
    build_response(
        Response::builder()
            .header(header::CONTENT_TYPE, "image/jpeg")
            .header(header::CONTENT_DISPOSITION, "inline")
            .header(header::CACHE_CONTROL, "no-store"),
        bytes.to_vec().into(),
    )
}

fn error_response(status: StatusCode) -> Response<Cow<'static, [u8]>> {
    build_response(
        Response::builder().status(status).header(header::CACHE_CONTROL, "no-store"),
        Cow::Borrowed(&[]),
    )
}

fn build_response(
    builder: tauri::http::response::Builder,
    body: Cow<'static, [u8]>,
) -> Response<Cow<'static, [u8]>> {
    builder
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox")
        .body(body)
        .unwrap_or_else(|error| {
            tracing::error!(%error, "the response with a blob could not be built");
            Response::new(Cow::Borrowed(&[]))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, path: &str) -> Request<Vec<u8>> {
        Request::builder()
            .method(method)
            .uri(format!("octo-blob://localhost/{path}"))
            .body(Vec::new())
            .unwrap()
    }

    #[test]
    fn a_blob_request_is_a_get_of_one_complete_hash() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(parse_request(&request("GET", &hash)), Ok(ImageRequest::Blob(BlobHash(hash.clone()))));
        let session = SessionId::new();
        assert_eq!(
            parse_request(&request("GET", &format!("live/{session}/12"))),
            Ok(ImageRequest::Live(session, 12))
        );
        for (method, path, status) in [
            ("PUT", hash.clone(), StatusCode::METHOD_NOT_ALLOWED),
            ("GET", String::new(), StatusCode::NOT_FOUND),
            ("GET", hash.to_uppercase(), StatusCode::NOT_FOUND),
            ("GET", format!("{hash}0"), StatusCode::NOT_FOUND),
            ("GET", format!("..%2f{hash}"), StatusCode::NOT_FOUND),
            ("GET", format!("../{hash}"), StatusCode::NOT_FOUND),
            ("GET", "octo.db".to_owned(), StatusCode::NOT_FOUND),
            ("GET", "live/x/1".to_owned(), StatusCode::NOT_FOUND),
            ("GET", format!("live/{}/", SessionId::new()), StatusCode::NOT_FOUND),
            ("GET", format!("live/{}/+1", SessionId::new()), StatusCode::NOT_FOUND),
            ("GET", format!("live/{}/1/2", SessionId::new()), StatusCode::NOT_FOUND),
        ] {
            assert_eq!(parse_request(&request(method, &path)), Err(status), "{method} {path}");
        }
    }

    #[test]
    fn only_pictures_are_served_inline() {
        for (media_type, sent_type, disposition) in [
            ("image/png", "image/png", "inline"),
            ("image/webp", "image/webp", "inline"),
            ("image/svg+xml", "application/octet-stream", "attachment"),
            ("text/html", "application/octet-stream", "attachment"),
        ] {
            let response = blob_response(BlobBytes { media_type: media_type.to_owned(), bytes: vec![1, 2] });
            assert_eq!(response.headers()[header::CONTENT_TYPE], sent_type, "{media_type}");
            assert_eq!(response.headers()[header::CONTENT_DISPOSITION], disposition, "{media_type}");
            assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            assert_eq!(response.headers()[header::CACHE_CONTROL], CACHE_FOREVER);
            assert_eq!(**response.body(), [1, 2]);
        }
    }

    #[test]
    fn an_error_response_is_not_cached() {
        let response = error_response(StatusCode::NOT_FOUND);
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
        assert!(response.body().is_empty());
    }
}
