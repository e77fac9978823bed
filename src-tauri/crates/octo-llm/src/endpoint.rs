//! A model's endpoint, and the rules for connecting to it.

use crate::{
    Dialect, ErrorClass, Network, Provider, ProviderError, ProviderId,
    bedrock::AwsEnvironment,
    codec::{Credentials, codec},
    transport::Transport,
};
use octo_protocol::Protocol;
use reqwest::Url;
use secrecy::SecretString;
use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

/// A server, its protocol, and the key for it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address, for example `https://api.anthropic.com` or `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// The key, if one is needed.
    pub key: Option<SecretString>,
    /// How this server differs from the protocol's common form.
    pub dialect: Dialect,
    /// How the server is reached.
    pub network: Network,
    /// Source of the credentials when there is no key (Bedrock).
    pub aws: AwsEnvironment,
}

impl Endpoint {
    /// Creates an endpoint with the dialect of its host and the system's network settings; for Bedrock with
    /// this process's AWS environment.
    pub fn new(protocol: Protocol, base_url: impl Into<String>, key: Option<SecretString>) -> Self {
        let base_url = base_url.into();
        let dialect = Url::parse(&base_url).ok().and_then(|url| url.host_str().map(Dialect::of_host));
        let aws = match codec(protocol).credentials {
            Credentials::BearerOrAws => AwsEnvironment::from_process(),
            Credentials::ApiKey | Credentials::Bearer => AwsEnvironment::default(),
        };
        let (dialect, network) = (dialect.unwrap_or_default(), Network::default());
        Self { protocol, base_url, key, dialect, network, aws }
    }
}

impl Endpoint {
    /// Returns whether requests carry a key. A header set by the person may be one, and AWS credentials may
    /// contain a token that is one.
    fn sensitivity(&self) -> Sensitivity {
        let secret = self.key.is_some() || !self.network.headers.is_empty();
        if secret || codec(self.protocol).credentials == Credentials::BearerOrAws {
            Sensitivity::Key
        } else {
            Sensitivity::Conversation
        }
    }
}

/// Creates the endpoint's provider. Sends nothing.
///
/// # Errors
///
/// Returns [`ErrorClass::Address`] when the address is not an http(s) address of a host, or contains a query, a
/// fragment or credentials. Returns [`ErrorClass::Insecure`] when plain http would leave this machine with a
/// key, or leave the private network at all, and [`ErrorClass::Auth`] when the key is not a valid header value.
/// Returns [`ErrorClass::Header`], [`ErrorClass::Proxy`] and [`ErrorClass::Certificate`] when the network
/// settings cannot be used.
pub fn connect(endpoint: Endpoint) -> Result<Arc<dyn Provider>, ProviderError> {
    let url = parse(&endpoint.base_url)?;
    check_transport(&url, endpoint.sensitivity())?;
    Ok(Arc::new(Transport::new(endpoint, url)?))
}

/// Returns the scheme, host and port that a key is bound to, for example `https://api.anthropic.com` or
/// `http://127.0.0.1:8080`; a scheme's default port is omitted.
///
/// # Errors
///
/// Returns [`ErrorClass::Address`], as [`connect`] does.
pub fn host_of(base_url: &str) -> Result<String, ProviderError> {
    Ok(parse(base_url)?.origin().ascii_serialization())
}

/// Like [`host_of`], for a server that may be sent a key: over https, or on this machine.
///
/// # Errors
///
/// Returns [`ErrorClass::Address`] or [`ErrorClass::Insecure`], as [`connect`] does.
pub fn keyed_host(base_url: &str) -> Result<String, ProviderError> {
    let url = parse(base_url)?;
    check_transport(&url, Sensitivity::Key)?;
    Ok(url.origin().ascii_serialization())
}

/// Returns the name of a protocol at a host, as in `anthropic@api.anthropic.com`.
pub(crate) fn provider_id(protocol: Protocol, url: &Url) -> ProviderId {
    let name = codec(protocol).name;
    let host = url.host_str().unwrap_or_default();
    ProviderId(match url.port() {
        Some(port) => format!("{name}@{host}:{port}"),
        None => format!("{name}@{host}"),
    })
}

fn parse(base_url: &str) -> Result<Url, ProviderError> {
    let invalid = |reason: &str| ProviderError::new(ErrorClass::Address, reason);
    let url = Url::parse(base_url.trim()).map_err(|error| invalid(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("the address must begin with https:// or http://"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(invalid("the address names no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("the address must not hold a name or a password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("the address must not hold a query or a fragment"));
    }
    Ok(url)
}

enum Sensitivity {
    Key,
    Conversation,
}

/// Rejects insecure addresses. Plain http may reach this machine; without a key also the private network (a
/// model on another computer in the house); nothing else.
fn check_transport(url: &Url, carries: Sensitivity) -> Result<(), ProviderError> {
    if url.scheme() == "https" {
        return Ok(());
    }
    let allowed = match (network_distance(url), carries) {
        (NetworkDistance::Machine, _) | (NetworkDistance::PrivateNetwork, Sensitivity::Conversation) => true,
        (NetworkDistance::PrivateNetwork, Sensitivity::Key) | (NetworkDistance::World, _) => false,
    };
    if allowed {
        Ok(())
    } else {
        Err(ProviderError::new(
            ErrorClass::Insecure,
            format!("{} is not encrypted", url.origin().ascii_serialization()),
        ))
    }
}

/// Network distance of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkDistance {
    Machine,
    PrivateNetwork,
    World,
}

/// Returns the network distance of `url`, judged from its text. Names are not resolved: a DNS answer is no
/// basis for trust.
pub(crate) fn network_distance(url: &Url) -> NetworkDistance {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(v4) = host.parse::<Ipv4Addr>() {
        return distance_v4(v4);
    }
    if let Ok(v6) = host.parse::<Ipv6Addr>() {
        return match v6.to_ipv4_mapped() {
            Some(v4) => distance_v4(v4),
            None if v6.is_loopback() => NetworkDistance::Machine,
            None if v6.is_unique_local() || v6.is_unicast_link_local() => NetworkDistance::PrivateNetwork,
            None => NetworkDistance::World,
        };
    }
    if host == "localhost" {
        NetworkDistance::Machine
    } else if host.ends_with(".local") || host.ends_with(".home.arpa") || host.ends_with(".internal") {
        NetworkDistance::PrivateNetwork
    } else {
        NetworkDistance::World
    }
}

fn distance_v4(address: Ipv4Addr) -> NetworkDistance {
    if address.is_loopback() {
        NetworkDistance::Machine
    } else if address.is_private() || address.is_link_local() {
        NetworkDistance::PrivateNetwork
    } else {
        NetworkDistance::World
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(base_url: &str, key: Option<&str>) -> Option<ErrorClass> {
        let key = key.map(SecretString::from);
        connect(Endpoint::new(Protocol::Anthropic, base_url, key)).err().map(|error| error.class)
    }

    #[test]
    fn plain_http_stays_on_this_machine_when_a_key_is_sent() {
        for (address, with_key, without) in [
            ("https://api.anthropic.com", None, None),
            ("http://127.0.0.1:8080", None, None),
            ("http://127.8.8.8/v1", None, None),
            ("http://localhost:11434/v1", None, None),
            ("http://[::1]:9", None, None),
            ("http://192.168.1.4:8000", Some(ErrorClass::Insecure), None),
            ("http://10.0.0.1", Some(ErrorClass::Insecure), None),
            ("http://box.local:1", Some(ErrorClass::Insecure), None),
            ("http://[fd00::1]:1", Some(ErrorClass::Insecure), None),
            ("http://[::ffff:8.8.8.8]", Some(ErrorClass::Insecure), Some(ErrorClass::Insecure)),
            ("http://api.anthropic.com", Some(ErrorClass::Insecure), Some(ErrorClass::Insecure)),
            ("http://localhost.evil.example", Some(ErrorClass::Insecure), Some(ErrorClass::Insecure)),
            ("http://8.8.8.8", Some(ErrorClass::Insecure), Some(ErrorClass::Insecure)),
        ] {
            assert_eq!(class(address, Some("sk-test")), with_key, "{address} with a key");
            assert_eq!(class(address, None), without, "{address} without a key");
        }
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for address in [
            "",
            "api.anthropic.com",
            "ftp://api.anthropic.com",
            "file:///etc/passwd",
            "https://",
            "https://me:secret@host.example",
            "https://host.example/v1?key=1",
            "https://host.example/#x",
        ] {
            assert_eq!(class(address, None), Some(ErrorClass::Address), "{address:?}");
            assert_eq!(
                host_of(address).map_err(|error| error.class),
                Err(ErrorClass::Address),
                "{address:?}"
            );
        }
    }

    #[test]
    fn a_key_that_breaks_a_header_is_refused_without_being_shown() {
        let key = Some(SecretString::from("sk-secret\nx-evil: 1"));
        let error = connect(Endpoint::new(Protocol::OpenaiChat, "https://host.example", key)).err().unwrap();
        assert_eq!(error.class, ErrorClass::Auth);
        assert!(!error.message.contains("secret"), "{error}");
    }

    #[test]
    fn keys_are_bound_to_scheme_host_and_port() {
        assert_eq!(host_of("https://API.Anthropic.com/v1/").unwrap(), "https://api.anthropic.com");
        assert_eq!(host_of("https://api.anthropic.com:443").unwrap(), "https://api.anthropic.com");
        assert_eq!(host_of("https://api.anthropic.com:8443/x").unwrap(), "https://api.anthropic.com:8443");
        assert_eq!(host_of("http://127.0.0.1:80").unwrap(), "http://127.0.0.1");
        assert_ne!(host_of("http://host.example").unwrap(), host_of("https://host.example").unwrap());
    }

    #[test]
    fn providers_are_named_by_protocol_and_host() {
        let name =
            |protocol, address| connect(Endpoint::new(protocol, address, None)).unwrap().id().0.clone();
        assert_eq!(name(Protocol::Anthropic, "https://api.anthropic.com"), "anthropic@api.anthropic.com");
        assert_eq!(name(Protocol::OpenaiChat, "http://127.0.0.1:99/v1"), "openai-chat@127.0.0.1:99");
    }
}
