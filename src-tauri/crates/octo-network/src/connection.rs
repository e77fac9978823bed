//! Connections to destinations that were decided on.

use crate::{
    destination::Destination,
    gate::{AccessRequest, AccessVerdict, Gate},
    nearness::{Nearness, nearness_of},
    upstream::UpstreamRoute,
};
use futures::future::BoxFuture;
use octo_protocol::{CallId, NetworkScope};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use tokio::{net::TcpStream, time::timeout};
use url::Host;

/// How long one address may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Finds the addresses of a name.
pub trait Resolver: Send + Sync + 'static {
    /// Returns all addresses.
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum ConnectError {
    /// The allow list does not have the destination, and the person did not allow it.
    Refused,
    /// It could not be reached.
    Unreachable(io::Error),
}

/// How a destination is reached.
pub(crate) enum ConnectionRoute {
    /// At one of these addresses, which were checked.
    Direct(Vec<SocketAddr>),
    /// Through the proxy of the settings.
    Upstream(UpstreamRoute),
}

/// Decides on a destination and returns how it is reached.
///
/// Behind a proxy, this machine may be unable to resolve the names of the internet; the proxy resolves them then.
/// A name that this machine resolves to a nearer address is never left to the proxy.
pub(crate) async fn route(
    gate: &dyn Gate,
    call: Option<CallId>,
    destination: &Destination,
) -> Result<ConnectionRoute, ConnectError> {
    let scope = scope_of(destination.nearness()).ok_or(ConnectError::Refused)?;
    decide(gate, call, destination, scope).await?;
    let upstream = match scope {
        NetworkScope::Internet => gate.upstream().route(destination),
        NetworkScope::Private => None,
    };
    let addresses = match destination.host() {
        Host::Ipv4(address) => vec![IpAddr::V4(address)],
        Host::Ipv6(address) => vec![IpAddr::V6(address)],
        Host::Domain(name) => match (gate.resolver().resolve(name.to_owned()).await, upstream.is_some()) {
            (Ok(addresses), _) => addresses,
            (Err(_), true) => Vec::new(),
            (Err(error), false) => return Err(ConnectError::Unreachable(error)),
        },
    };
    let nearest = addresses.iter().map(|address| nearness_of(*address)).max();
    let resolved_scope = match nearest {
        Some(nearness) => scope_of(nearness).ok_or(ConnectError::Refused)?,
        None => scope,
    };
    if (scope, resolved_scope) == (NetworkScope::Internet, NetworkScope::Private) {
        decide(gate, call, destination, NetworkScope::Private).await?;
    }
    match upstream {
        Some(upstream) if resolved_scope == NetworkScope::Internet => Ok(ConnectionRoute::Upstream(upstream)),
        _ => {
            let at_port = |address| SocketAddr::new(address, destination.port());
            Ok(ConnectionRoute::Direct(addresses.into_iter().map(at_port).collect()))
        }
    }
}

async fn decide(
    gate: &dyn Gate,
    call: Option<CallId>,
    destination: &Destination,
    scope: NetworkScope,
) -> Result<(), ConnectError> {
    let request = AccessRequest { call, destination: destination.clone(), scope };
    match gate.decide(request).await {
        AccessVerdict::Allowed => Ok(()),
        AccessVerdict::Refused => Err(ConnectError::Refused),
    }
}

/// Returns the scope of a nearness, or `None` for what is never reached.
fn scope_of(nearness: Nearness) -> Option<NetworkScope> {
    match nearness {
        Nearness::World => Some(NetworkScope::Internet),
        Nearness::Network | Nearness::Machine => Some(NetworkScope::Private),
        Nearness::Metadata => None,
    }
}

/// Connects to the first of the addresses that accepts.
pub(crate) async fn connect(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last_error = io::Error::from(io::ErrorKind::NotFound);
    for address in addresses {
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last_error = error,
            Err(_) => last_error = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last_error)
}
