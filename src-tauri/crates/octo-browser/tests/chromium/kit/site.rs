//! A server on this machine. `127.0.0.1` and `localhost` are two sites to a browser.

use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{collections::HashMap, convert::Infallible, sync::Arc};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_rustls::{
    TlsAcceptor, rustls,
    rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};

/// Delay of pages whose path begins with `/late`.
const LATE_DELAY: std::time::Duration = std::time::Duration::from_millis(700);

/// A server of pages, each under its path.
pub(crate) struct Site {
    port: u16,
    task: JoinHandle<()>,
}

impl Site {
    /// Serves these pages; `PORT` in a page is replaced by the port.
    pub(crate) async fn start(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let pages: Arc<HashMap<String, String>> = Arc::new(
            pages
                .iter()
                .map(|(path, html)| ((*path).to_owned(), html.replace("PORT", &port.to_string())))
                .collect(),
        );
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let pages = Arc::clone(&pages);
                let respond_to = move |request: Request<Incoming>| {
                    let path = request.uri().path().to_owned();
                    let page = pages.get(&path).cloned();
                    async move {
                        if path.starts_with("/late") {
                            tokio::time::sleep(LATE_DELAY).await;
                        }
                        Ok::<_, Infallible>(respond(page))
                    }
                };
                tokio::spawn(
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(respond_to)),
                );
            }
        });
        Self { port, task }
    }

    /// Serves one page over TLS, with a certificate of an untrusted authority.
    pub(crate) async fn start_with_tls(page: &'static str) -> Self {
        let pem = include_bytes!("../../../../octo-llm/tests/tls/server.pem");
        let certificates: Vec<_> =
            CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().expect("certificates");
        let key =
            PrivateKeyDer::from_pem_slice(include_bytes!("../../../../octo-llm/tests/tls/server.key.pem"));
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(
            rustls::crypto::aws_lc_rs::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .expect("versions of the protocol")
        .with_no_client_auth()
        .with_single_cert(certificates, key.expect("a key"))
        .expect("a configuration");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A browser hangs up on a certificate that it does not trust.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let handler = move |_| async move { Ok::<_, Infallible>(respond(Some(page.to_owned()))) };
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service_fn(handler))
                        .await;
                });
            }
        });
        Self { port, task }
    }

    pub(crate) fn secure_url(&self) -> String {
        format!("https://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn respond(page: Option<String>) -> Response<Full<Bytes>> {
    let (status, body) = page.map_or((404, "nothing here".to_owned()), |page| (200, page));
    Response::builder()
        .status(status)
        .header("content-type", "text/html; charset=utf-8")
        .body(Full::new(Bytes::from(body)))
        .expect("an answer")
}
