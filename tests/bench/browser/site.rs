//! The pages, served on this machine. `127.0.0.1` and `localhost` are two sites to a browser.

use anyhow::{Context as _, Result};
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{
    collections::HashMap,
    convert::Infallible,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::{net::TcpListener, task::JoinHandle};

/// The served pages, by path.
pub struct Site {
    port: u16,
    task: JoinHandle<()>,
}

/// Files with their content types.
type ServedFiles = HashMap<String, (&'static str, Bytes)>;

impl Site {
    /// Serves the project's pages, and Swagger UI's files as npm has them. Every page begins with the observer
    /// script.
    ///
    /// # Errors
    /// When a file or a port is not available.
    pub async fn start(pages: &Path, swagger: &Path) -> Result<Self> {
        let mut served = ServedFiles::new();
        for path in files(pages)? {
            let name = path.file_name().and_then(|name| name.to_str()).context("a name")?;
            let mut bytes = fs::read(&path)?;
            if name.ends_with(".html") {
                let html = String::from_utf8(bytes)?;
                let script = "<!doctype html><script src=\"/witness.js\"></script>";
                bytes = html.replacen("<!doctype html>", script, 1).into_bytes();
            }
            served.insert(format!("/{name}"), (kind(name), bytes.into()));
        }
        for name in ["swagger-ui.css", "swagger-ui-bundle.js"] {
            let bytes = fs::read(swagger.join(name)).with_context(|| format!("{name} of swagger-ui-dist"))?;
            served.insert(format!("/swagger/{name}"), (kind(name), bytes.into()));
        }
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let served = Arc::new(served);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = Arc::clone(&served);
                let respond_to = move |request: Request<Incoming>| {
                    let respond_to = respond(served.get(request.uri().path()));
                    async move { Ok::<_, Infallible>(respond_to) }
                };
                tokio::spawn(
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(respond_to)),
                );
            }
        });
        Ok(Self { port, task })
    }

    /// A page's address.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => "application/json",
    }
}

fn respond(file: Option<&(&'static str, Bytes)>) -> Response<Full<Bytes>> {
    let (status, kind, body) = match file {
        Some((kind, body)) => (200, *kind, body.clone()),
        None => (404, "text/plain", Bytes::from_static(b"nothing here")),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static(kind));
    response
}
