//! The question no person hears: a plain `GET /json/version` to this machine.

use super::PortFile;
use reqwest::{Client, StatusCode, Url, redirect};
use serde::Deserialize;
use std::{
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

/// How long a browser may take to accept, and then to answer. It is on this machine.
const CONNECT: Duration = Duration::from_millis(500);
/// A browser that starts, or whose computer is busy, answers late: more than two seconds were seen.
const ANSWER: Duration = Duration::from_secs(6);
/// What is read of an answer at most.
const LARGEST: usize = 64 * 1024;

/// What listens at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A browser that was started with a debugging port: it lets every program of this machine in, unasked.
    Flag {
        /// The address of its websocket.
        socket: String,
        /// Its name and version, as `Chrome/156.0.7340.0`.
        version: String,
    },
    /// A browser whose person switched debugging on: it will ask them.
    Approval {
        /// The address of its websocket. Dialling it raises the question.
        socket: String,
    },
    /// Something that is no browser.
    Stranger,
    /// Nothing.
    Off,
}

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "Browser")]
    browser: String,
    #[serde(rename = "webSocketDebuggerUrl")]
    socket: String,
}

/// Asks what listens at a port of this machine, without a proxy and without following redirects. It raises no
/// question: a browser that must ask its person says 404 to this.
pub async fn probe(port: u16, file: Option<&PortFile>) -> Probe {
    // A browser takes the newer address when it cannot have the older.
    for address in
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))]
    {
        match ask(address, file).await {
            Probe::Off => {}
            heard => return heard,
        }
    }
    Probe::Off
}

async fn ask(address: SocketAddr, file: Option<&PortFile>) -> Probe {
    let client = Client::builder()
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .build();
    let Ok(client) = client else { return Probe::Off };
    let mut answer = match client.get(format!("http://{address}/json/version")).send().await {
        Ok(answer) => answer,
        Err(error) if error.is_connect() => return Probe::Off,
        // It listens and speaks something else, or nothing.
        Err(_) => return Probe::Stranger,
    };
    // No browser names a server program; the many small ones that would say 404 as well do.
    let is_server = answer.headers().contains_key("server") || answer.headers().contains_key("date");
    match answer.status() {
        StatusCode::OK => {
            let mut body = Vec::new();
            while let Ok(Some(chunk)) = answer.chunk().await {
                body.extend_from_slice(&chunk);
                if body.len() > LARGEST {
                    return Probe::Stranger;
                }
            }
            let version: Option<Version> = serde_json::from_slice(&body).ok();
            let at = |version: Version| {
                // Its own words, but never another machine's address.
                let path = Url::parse(&version.socket).ok()?.path().to_owned();
                path.starts_with("/devtools/browser/").then(|| Probe::Flag {
                    socket: format!("ws://{address}{path}"),
                    version: version.browser,
                })
            };
            version.and_then(at).unwrap_or(Probe::Stranger)
        }
        StatusCode::NOT_FOUND if !is_server => {
            // Without the file the browser itself is meant: this mode takes a path without an id.
            let path = file.map_or("/devtools/browser", |file| file.path.as_str());
            Probe::Approval { socket: format!("ws://{address}{path}") }
        }
        _ => Probe::Stranger,
    }
}
