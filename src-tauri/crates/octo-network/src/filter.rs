//! The filter: it reads a client's request, has the gate decide on it, and copies the bytes of the connection.

use crate::{
    connection::{ConnectError, ConnectionRoute, connect, route},
    destination::Destination,
    gate::Gate,
    request::{self, MAX_HEAD_BYTES, ProxyRequest, RequestError},
    socks::{self, ParseProgress, ReplyCode},
};
use octo_protocol::CallId;
use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// The maximum number of connections of a session at a time; more wait.
const MAX_CONNECTIONS: usize = 512;

/// The time a client has to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The pause after a connection that could not be accepted, such as without a free descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A function that names the call of an address in the namespace.
pub type CallOfAddress = Arc<dyn Fn(Ipv4Addr) -> Option<CallId> + Send + Sync>;

/// The options of a filter.
#[derive(Clone)]
pub struct FilterOptions {
    /// Decides on connections.
    pub gate: Arc<dyn Gate>,
    /// Returns the call whose command uses this address of the loopback interface as its proxy's.
    pub call_of: CallOfAddress,
    /// Ends the filter and all its connections.
    pub cancel: CancellationToken,
}

impl fmt::Debug for FilterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterOptions").finish_non_exhaustive()
    }
}

/// Serves the connections of a listening socket until it is cancelled.
pub async fn serve(listener: TcpListener, options: FilterOptions) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let cancel = options.cancel.clone();
    let accepting = async {
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a command's connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let options = options.clone();
            tokio::spawn(async move {
                let cancel = options.cancel.clone();
                // An error ends one connection, as the client sees.
                let _ended = cancel.run_until_cancelled(ProxyClient { stream, options }.serve()).await;
                drop(permit);
            });
        }
    };
    let _ = cancel.run_until_cancelled(accepting).await;
}

/// A client's connection.
struct ProxyClient {
    stream: TcpStream,
    options: FilterOptions,
}

/// A client's request, and the bytes that followed it.
struct ClientRequest {
    content: ProxyRequest,
    is_socks: bool,
    rest: Vec<u8>,
}

impl ProxyClient {
    async fn serve(mut self) -> io::Result<()> {
        let Ok(request) = timeout(REQUEST_TIMEOUT, self.read_request()).await else {
            return Err(io::ErrorKind::TimedOut.into());
        };
        let Some(ClientRequest { content, is_socks, rest }) = request? else { return Ok(()) };
        let destination = match &content {
            ProxyRequest::Tunnel(destination) | ProxyRequest::Plain { destination, .. } => {
                destination.clone()
            }
        };
        let call = match self.stream.local_addr()?.ip() {
            IpAddr::V4(address) => (self.options.call_of)(address),
            IpAddr::V6(_) => None,
        };
        // While the person is asked, the client may give up: the question ends with its connection.
        let routed = tokio::select! {
            biased;
            routed = route(&*self.options.gate, call, &destination) => routed,
            () = gave_up(&self.stream) => return Ok(()),
        };
        let reached = match routed {
            Ok(route) => reach(route, &destination, content).await.map_err(ConnectError::Unreachable),
            Err(error) => Err(error),
        };
        let mut upstream = match reached {
            Ok(upstream) => upstream,
            Err(error) => return self.refuse(&error, &destination, is_socks).await,
        };
        match (is_socks, upstream.is_tunnel) {
            (true, _) => self.stream.write_all(&socks::reply(ReplyCode::Succeeded)).await?,
            (false, true) => self.stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
            (false, false) => {}
        }
        upstream.stream.write_all(&rest).await?;
        copy_bidirectional(&mut self.stream, &mut upstream.stream).await.map(drop)
    }

    /// Reads the client's request. Returns `None` if the filter has already answered it.
    async fn read_request(&mut self) -> io::Result<Option<ClientRequest>> {
        let mut received = vec![self.stream.read_u8().await?];
        if received == [socks::VERSION] {
            return self.read_socks(received).await;
        }
        let length = loop {
            if let Some(length) = request::head_length(&received) {
                break length;
            }
            if received.len() >= MAX_HEAD_BYTES {
                return self
                    .answer("431 Request Header Fields Too Large", "Octo: the request is too long.")
                    .await
                    .map(|()| None);
            }
            self.receive(&mut received).await?;
        };
        let rest = received.split_off(length);
        match request::parse(&received) {
            Ok(content) => Ok(Some(ClientRequest { content, is_socks: false, rest })),
            Err(RequestError::Malformed) => {
                self.answer("400 Bad Request", "Octo: this is not a request to a proxy.").await.map(|()| None)
            }
            Err(RequestError::UnsupportedScheme) => self
                .answer("501 Not Implemented", "Octo: the network allow list carries http and https only.")
                .await
                .map(|()| None),
        }
    }

    async fn read_socks(&mut self, mut received: Vec<u8>) -> io::Result<Option<ClientRequest>> {
        let malformed = || io::Error::from(io::ErrorKind::InvalidData);
        let greeting_length = loop {
            match socks::parse_greeting(&received) {
                ParseProgress::Complete(true, length) => break length,
                ParseProgress::Complete(false, _) => {
                    return self.stream.write_all(&socks::NO_METHOD).await.map(|()| None);
                }
                ParseProgress::Incomplete => self.receive(&mut received).await?,
                ParseProgress::Malformed => return Err(malformed()),
            }
        };
        self.stream.write_all(&socks::NO_AUTHENTICATION).await?;
        let mut received = received.split_off(greeting_length);
        loop {
            match socks::parse_request(&received) {
                ParseProgress::Complete(Some(destination), length) => {
                    let rest = received.split_off(length);
                    let content = ProxyRequest::Tunnel(destination);
                    return Ok(Some(ClientRequest { content, is_socks: true, rest }));
                }
                ParseProgress::Complete(None, _) => {
                    let reply = socks::reply(ReplyCode::UnsupportedCommand);
                    return self.stream.write_all(&reply).await.map(|()| None);
                }
                ParseProgress::Incomplete => self.receive(&mut received).await?,
                ParseProgress::Malformed => return Err(malformed()),
            }
        }
    }

    /// Receives some bytes more.
    async fn receive(&mut self, received: &mut Vec<u8>) -> io::Result<()> {
        match self.stream.read_buf(received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Tells the client why there is no connection.
    async fn refuse(&mut self, error: &ConnectError, to: &Destination, is_socks: bool) -> io::Result<()> {
        let (code, status, text) = match error {
            ConnectError::Refused => (
                ReplyCode::NotAllowed,
                "403 Forbidden",
                format!(
                    "Octo: {to} is not on this folder's network allow list, and the person did not allow it."
                ),
            ),
            ConnectError::Unreachable(error) => (
                ReplyCode::Unreachable,
                "502 Bad Gateway",
                format!("Octo: {to} could not be reached: {error}"),
            ),
        };
        if is_socks {
            self.stream.write_all(&socks::reply(code)).await
        } else {
            self.answer(status, &text).await
        }
    }

    async fn answer(&mut self, status: &str, text: &str) -> io::Result<()> {
        let length = text.len() + 1;
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{text}\n"
        );
        self.stream.write_all(answer.as_bytes()).await?;
        self.stream.shutdown().await
    }
}

/// A connection to the destination, or to a proxy that carries one request to it.
struct OutboundConnection {
    stream: TcpStream,
    is_tunnel: bool,
}

/// Connects, and sends the request of a client that speaks plain HTTP.
async fn reach(
    route: ConnectionRoute,
    destination: &Destination,
    content: ProxyRequest,
) -> io::Result<OutboundConnection> {
    let (head, proxied_head) = match content {
        ProxyRequest::Tunnel(_) => (None, None),
        ProxyRequest::Plain { head, proxied_head, .. } => (Some(head), Some(proxied_head)),
    };
    let is_tunnel = head.is_none();
    let mut stream = match (route, proxied_head) {
        (ConnectionRoute::Direct(addresses), _) => connect(&addresses).await?,
        (ConnectionRoute::Upstream(upstream), Some(proxied_head)) => {
            match upstream.forward(proxied_head).await? {
                Some(stream) => return Ok(OutboundConnection { stream, is_tunnel }),
                None => upstream.tunnel(destination).await?,
            }
        }
        (ConnectionRoute::Upstream(upstream), None) => upstream.tunnel(destination).await?,
    };
    if let Some(head) = head {
        stream.write_all(&head).await?;
    }
    Ok(OutboundConnection { stream, is_tunnel })
}

/// Waits until the client has closed its connection.
async fn gave_up(stream: &TcpStream) {
    // One that has sent more, such as the body of its request, is still there.
    if let Ok(1..) = stream.peek(&mut [0]).await {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests;
