//! The probe, a plain `GET /json/version` to this machine, which shows the person no prompt.

use super::PortFile;
use reqwest::{Client, StatusCode, Url, redirect};
use serde::Deserialize;
use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

/// Connect timeout. The browser is on this machine.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Answer timeout. A browser that is starting, or whose computer is busy, answers late: more than two seconds
/// were measured.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(6);
/// Maximum size of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// The result of a probe: the kind of listener at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A browser started with a debugging port; it admits every program on this machine without asking.
    Flag {
        /// The address of its websocket.
        socket: String,
        /// Its name and version, such as `Chrome/156.0.7340.0`.
        version: String,
    },
    /// A browser in which the person enabled debugging; it will ask them.
    Approval {
        /// The address of its websocket. Connecting to it shows the prompt.
        socket: String,
    },
    /// A program other than a browser.
    OtherProgram,
    /// No listener.
    Off,
}

#[derive(Deserialize)]
struct VersionReply {
    #[serde(rename = "Browser")]
    browser: String,
    #[serde(rename = "webSocketDebuggerUrl")]
    socket: String,
}

/// Probes a port of this machine, without a proxy and without following redirects. Shows no prompt: a
/// browser that must ask the person answers 404 to this.
pub async fn probe(port: u16, file: Option<&PortFile>) -> Probe {
    // A browser listens on IPv6 if it cannot have the IPv4 address.
    for address in
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))]
    {
        match query_version(address, file).await {
            Probe::Off => {}
            probe => return probe,
        }
    }
    Probe::Off
}

async fn query_version(address: SocketAddr, file: Option<&PortFile>) -> Probe {
    let client = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(ANSWER_TIMEOUT)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .build();
    let Ok(client) = client else { return Probe::Off };
    let mut response = match client.get(format!("http://{address}/json/version")).send().await {
        Ok(response) => response,
        Err(error) if error.is_connect() => return Probe::Off,
        // The listener speaks another protocol or none.
        Err(_) => return Probe::OtherProgram,
    };
    // Browsers send neither a `server` nor a `date` header. The many small servers that also answer 404 do.
    let is_web_server = response.headers().contains_key("server") || response.headers().contains_key("date");
    match response.status() {
        StatusCode::OK => {
            let mut body = Vec::new();
            while let Ok(Some(chunk)) = response.chunk().await {
                body.extend_from_slice(&chunk);
                if body.len() > MAX_ANSWER {
                    return Probe::OtherProgram;
                }
            }
            let version: Option<VersionReply> = serde_json::from_slice(&body).ok();
            let probe_of = |version: VersionReply| {
                // Take the path from the answer, but never another machine's address.
                let path = Url::parse(&version.socket).ok()?.path().to_owned();
                path.starts_with("/devtools/browser/").then(|| Probe::Flag {
                    socket: format!("ws://{address}{path}"),
                    version: version.browser,
                })
            };
            version.and_then(probe_of).unwrap_or(Probe::OtherProgram)
        }
        StatusCode::NOT_FOUND if !is_web_server => {
            // Without the file, use the browser-level path: this mode accepts it without an id.
            let path = file.map_or("/devtools/browser", |file| file.path.as_str());
            Probe::Approval { socket: format!("ws://{address}{path}") }
        }
        _ => Probe::OtherProgram,
    }
}
