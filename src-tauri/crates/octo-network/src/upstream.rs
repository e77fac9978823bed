//! The proxy through which Octo itself reaches the internet.

use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use octo_protocol::ProxyChoice;
use std::sync::Arc;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{destination::Destination, request};
use std::io;

/// The proxy of the settings.
#[derive(Clone, Debug)]
pub struct UpstreamProxy(Option<Arc<Matcher>>);

/// A proxy for one destination.
pub(crate) struct UpstreamRoute(Intercept);

impl UpstreamProxy {
    /// Reads the setting, and the system's proxy if it says so.
    pub fn new(choice: &ProxyChoice) -> Self {
        Self(match choice {
            ProxyChoice::System => Some(Arc::new(Matcher::from_system())),
            ProxyChoice::None => None,
            ProxyChoice::Manual { url } => Some(Arc::new(Matcher::builder().all(url.as_str()).build())),
        })
    }

    /// Returns the proxy for a destination, or `None` if it is reached directly.
    pub(crate) fn route(&self, destination: &Destination) -> Option<UpstreamRoute> {
        let scheme = if destination.port() == 80 { "http" } else { "https" };
        let uri: Uri = format!("{scheme}://{destination}").parse().ok()?;
        self.0.as_ref()?.intercept(&uri).map(UpstreamRoute)
    }
}

impl UpstreamRoute {
    /// Connects to the proxy.
    async fn connect(&self) -> io::Result<TcpStream> {
        let uri = self.0.uri();
        let default_port = if is_socks(uri) { 1080 } else { 80 };
        let host = uri.host().ok_or(io::ErrorKind::InvalidInput)?;
        TcpStream::connect((host.trim_matches(['[', ']']), uri.port_u16().unwrap_or(default_port))).await
    }

    /// Returns a connection to the destination through the proxy.
    pub(crate) async fn tunnel(&self, destination: &Destination) -> io::Result<TcpStream> {
        let uri = self.0.uri();
        if is_socks(uri) {
            let mut stream = self.connect().await?;
            self.open_socks(&mut stream, destination).await?;
            return Ok(stream);
        }
        // TLS to a proxy is not supported here.
        if uri.scheme_str() != Some("http") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut stream = self.connect().await?;
        let mut head = format!("CONNECT {destination} HTTP/1.1\r\nHost: {destination}\r\n").into_bytes();
        self.finish_head(&mut head);
        stream.write_all(&head).await?;
        let answer = read_head(&mut stream).await?;
        let is_success = answer.split(|byte| *byte == b' ').nth(1).is_some_and(|code| code.starts_with(b"2"));
        if is_success { Ok(stream) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
    }

    /// Returns a connection to the proxy over which this plain request was sent, if the proxy speaks HTTP.
    pub(crate) async fn forward(&self, mut head: Vec<u8>) -> io::Result<Option<TcpStream>> {
        if self.0.uri().scheme_str() != Some("http") {
            return Ok(None);
        }
        let mut stream = self.connect().await?;
        self.finish_head(&mut head);
        stream.write_all(&head).await?;
        Ok(Some(stream))
    }

    fn finish_head(&self, head: &mut Vec<u8>) {
        if let Some(credentials) = self.0.basic_auth() {
            head.extend(b"Proxy-Authorization: ");
            head.extend(credentials.as_bytes());
            head.extend(b"\r\n");
        }
        head.extend(b"\r\n");
    }

    /// Asks a SOCKS5 proxy for a connection.
    async fn open_socks(&self, stream: &mut TcpStream, destination: &Destination) -> io::Result<()> {
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let credentials = self.0.raw_auth();
        let methods: &[u8] = if credentials.is_some() { &[5, 2, 0, 2] } else { &[5, 1, 0] };
        stream.write_all(methods).await?;
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).await?;
        match (answer, credentials) {
            ([5, 0], _) => {}
            ([5, 2], Some((user, password))) => {
                let mut message = vec![1];
                for text in [user, password] {
                    message.push(u8::try_from(text.len()).map_err(|_| refused())?);
                    message.extend(text.as_bytes());
                }
                stream.write_all(&message).await?;
                stream.read_exact(&mut answer).await?;
                if answer != [1, 0] {
                    return Err(refused());
                }
            }
            _ => return Err(refused()),
        }
        let mut message = vec![5, 1, 0];
        match destination.host() {
            url::Host::Domain(name) => {
                message.extend([3, u8::try_from(name.len()).map_err(|_| refused())?]);
                message.extend(name.as_bytes());
            }
            url::Host::Ipv4(address) => {
                message.push(1);
                message.extend(address.octets());
            }
            url::Host::Ipv6(address) => {
                message.push(4);
                message.extend(address.octets());
            }
        }
        message.extend(destination.port().to_be_bytes());
        stream.write_all(&message).await?;
        let mut head = [0; 4];
        stream.read_exact(&mut head).await?;
        let length = match head {
            [5, 0, _, 1] => 4,
            [5, 0, _, 4] => 16,
            [5, 0, _, 3] => usize::from(stream.read_u8().await?),
            _ => return Err(refused()),
        };
        let mut address = vec![0; length + 2];
        stream.read_exact(&mut address).await?;
        Ok(())
    }
}

fn is_socks(uri: &Uri) -> bool {
    matches!(uri.scheme_str(), Some("socks5" | "socks5h"))
}

/// Reads the line and headers of an answer, byte by byte: what follows them belongs to the destination.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while request::head_length(&head).is_none() {
        if head.len() >= request::MAX_HEAD_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}
