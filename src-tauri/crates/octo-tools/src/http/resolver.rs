//! Resolves host names once: the connection uses the checked addresses.

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    io,
    net::{IpAddr, SocketAddr},
};

/// Resolver of host names.
pub trait NameResolver: Send + Sync {
    /// Returns the addresses of a host. An empty result is an error.
    fn resolve_host<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's name service.
#[derive(Debug)]
pub struct SystemResolver;

impl NameResolver for SystemResolver {
    fn resolve_host<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found: Vec<IpAddr> =
                tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect();
            if found.is_empty() { Err(io::Error::from(io::ErrorKind::NotFound)) } else { Ok(found) }
        })
    }
}

/// One host with its checked addresses. Other names (a proxy's) are resolved as usual; this one is never
/// resolved again, so a second answer of its name service changes nothing.
pub(super) struct PinnedHost {
    pub(super) host: String,
    /// Empty if the name could not be resolved here: then only a proxy can reach it.
    pub(super) addresses: Vec<SocketAddr>,
}

impl Resolve for PinnedHost {
    fn resolve(&self, name: Name) -> Resolving {
        if name.as_str().trim_end_matches('.').eq_ignore_ascii_case(&self.host) {
            let addresses = self.addresses.clone();
            return Box::pin(async move {
                if addresses.is_empty() {
                    return Err("the name is not known".into());
                }
                Ok(Box::new(addresses.into_iter()) as Addrs)
            });
        }
        let name = name.as_str().to_owned();
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name, 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
