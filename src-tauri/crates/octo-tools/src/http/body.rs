//! Reads a server's body, compressed or not, up to a limit.

use flate2::read::MultiGzDecoder;
use reqwest::{Response, header::CONTENT_ENCODING};
use std::io::Read;

/// A body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebBody {
    /// Its bytes, decompressed.
    pub bytes: Vec<u8>,
    /// Whether they are complete.
    pub is_complete: bool,
}

/// Reads at most `limit` bytes, and at most `limit` decompressed bytes.
pub(super) async fn read(response: &mut Response, limit: usize) -> Result<WebBody, String> {
    let content_encoding = response
        .headers()
        .get(CONTENT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .map(|value| value.trim().to_ascii_lowercase())
        .unwrap_or_default();
    let mut body = WebBody { bytes: Vec::new(), is_complete: true };
    while let Some(chunk) = response.chunk().await.map_err(|error| error.without_url().to_string())? {
        let room = limit - body.bytes.len();
        body.bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            body.is_complete = false;
            break;
        }
    }
    match content_encoding.as_str() {
        "" | "identity" => Ok(body),
        // The request asked for no compression; some servers compress nevertheless.
        "gzip" | "x-gzip" => unpack(&body, limit),
        other => Err(format!("it is packed in a way that was not asked for ({other})")),
    }
}

fn unpack(packed: &WebBody, limit: usize) -> Result<WebBody, String> {
    let mut bytes = Vec::new();
    let mut decoder = MultiGzDecoder::new(packed.bytes.as_slice()).take(limit as u64 + 1);
    match decoder.read_to_end(&mut bytes) {
        Ok(_) => {}
        // A truncated body still has a valid beginning.
        Err(_) if !packed.is_complete => {}
        Err(error) => return Err(format!("it is packed wrongly ({error})")),
    }
    let is_complete = packed.is_complete && bytes.len() <= limit;
    bytes.truncate(limit);
    Ok(WebBody { bytes, is_complete })
}
