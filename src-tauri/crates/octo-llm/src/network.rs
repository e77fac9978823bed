//! How a server is reached: the proxy, the person's headers, and the certificates trusted in addition to the
//! system's. TLS is always verified.

use crate::{
    Endpoint, ErrorClass, ProviderError, connect,
    endpoint::{NetworkDistance, network_distance},
    redact::Secrets,
};
use octo_protocol::Protocol;
use reqwest::{
    Certificate, ClientBuilder, NoProxy, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use secrecy::{ExposeSecret, SecretString};

/// How a server is reached.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The proxy.
    pub proxy: Proxy,
    /// Headers sent with every request, in addition to Octo's own. Their values are secrets.
    pub headers: Vec<(String, SecretString)>,
    /// Certificates of authorities trusted in addition to the system's, as PEM.
    pub extra_ca: Option<Vec<u8>>,
}

/// Proxy for requests. This machine is never reached through one, nor is plain http to the private network:
/// such a conversation was allowed because it stays local.
#[derive(Clone, Debug, Default)]
pub enum Proxy {
    /// The system's proxy, if it has one. Only for public addresses.
    #[default]
    System,
    /// No proxy.
    None,
    /// This proxy, as [`proxy_address`] reads it; it may contain a name and a password.
    Manual(SecretString),
}

/// Names that the person's headers may not use, since the request's meaning, framing or key depend on them.
const RESERVED_HEADERS: &[&str] = &[
    "accept",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
];
/// This machine, in the form of a proxy's exception list.
const LOOPBACK_HOSTS: &str = "localhost,127.0.0.0/8,::1";
/// Name prefix of the headers signed for AWS.
const RESERVED_PREFIX: &str = "x-amz-";

impl Network {
    /// Checks that the settings can be used, before anything is sent.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorClass::Header`], [`ErrorClass::Proxy`] and [`ErrorClass::Certificate`], as
    /// [`crate::connect`] does.
    pub fn check(&self) -> Result<(), ProviderError> {
        // Only building a client parses certificates completely. Nothing is sent to this host, which does not
        // exist.
        let nowhere = Endpoint::new(Protocol::OpenaiChat, "https://models.invalid", None);
        connect(Endpoint { network: self.clone(), ..nowhere }).map(drop)
    }

    /// Returns the headers, checked.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorClass::Header`] for a name or a value that cannot be sent, for a name that Octo uses
    /// itself, and for a duplicate name. Values and invalid names are never in the message.
    pub(crate) fn header_map(&self) -> Result<HeaderMap, ProviderError> {
        let invalid = |reason: String| ProviderError::new(ErrorClass::Header, reason);
        let mut headers = HeaderMap::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let name: HeaderName = name
                .trim()
                .parse()
                .map_err(|_| invalid("A header's name holds characters no name can have.".to_owned()))?;
            if RESERVED_HEADERS.contains(&name.as_str()) || name.as_str().starts_with(RESERVED_PREFIX) {
                return Err(invalid(format!("The header {name} is Octo's own.")));
            }
            let mut value = HeaderValue::from_str(value.expose_secret().trim())
                .map_err(|_| invalid(format!("The header {name} holds characters no header can have.")))?;
            value.set_sensitive(true);
            if headers.insert(&name, value).is_some() {
                return Err(invalid(format!("The header {name} is given twice.")));
            }
        }
        Ok(headers)
    }

    /// Adds the values that must not appear in an error.
    pub(crate) fn collect_secrets(&self, secrets: &mut Secrets) {
        for (_, value) in &self.headers {
            secrets.add(&SecretString::from(value.expose_secret().trim()), "[header]");
        }
        if let Proxy::Manual(address) = &self.proxy {
            secrets.add(address, "[proxy]");
            if let Some(password) = Url::parse(address.expose_secret()).ok().as_ref().and_then(Url::password)
            {
                secrets.add(&SecretString::from(password), "[proxy]");
            }
        }
    }

    /// Configures a client for a server at `base`: the proxy (or none) and the certificates trusted in addition
    /// to the system's. The headers are not included: they are for a model's server only.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorClass::Proxy`] when the proxy's address is invalid, and [`ErrorClass::Certificate`] when
    /// the certificates cannot be read, or there are none.
    pub fn apply(&self, builder: ClientBuilder, base: &Url) -> Result<ClientBuilder, ProviderError> {
        let proxy = self.proxy()?;
        let builder = match (self.route(base), proxy) {
            (ProxyRoute::System, _) => builder,
            (ProxyRoute::Manual, Some(proxy)) => builder.no_proxy().proxy(proxy),
            (ProxyRoute::Direct, _) | (ProxyRoute::Manual, None) => builder.no_proxy(),
        };
        match &self.extra_ca {
            None => Ok(builder),
            Some(pem) => Ok(builder.tls_certs_merge(certificates(pem)?)),
        }
    }

    /// Configures clients for public addresses, for code that builds its own clients: the proxy (or none) and
    /// the certificates trusted in addition to the system's. Everything is checked first, so building a client
    /// does not fail.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::apply`].
    pub fn configure(
        &self,
    ) -> Result<impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + use<>, ProviderError> {
        self.check()?;
        let manual = self.proxy()?.map(|proxy| proxy.no_proxy(NoProxy::from_string(LOOPBACK_HOSTS)));
        let trusted = self.extra_ca.as_deref().map(certificates).transpose()?.unwrap_or_default();
        let is_direct = matches!(self.proxy, Proxy::None);
        Ok(move |builder: ClientBuilder| {
            let builder = match &manual {
                Some(proxy) => builder.no_proxy().proxy(proxy.clone()),
                None if is_direct => builder.no_proxy(),
                None => builder,
            };
            if trusted.is_empty() { builder } else { builder.tls_certs_merge(trusted.clone()) }
        })
    }

    fn route(&self, base: &Url) -> ProxyRoute {
        match (network_distance(base), &self.proxy) {
            (NetworkDistance::Machine, _) | (_, Proxy::None) => ProxyRoute::Direct,
            (NetworkDistance::World, Proxy::System) => ProxyRoute::System,
            (NetworkDistance::PrivateNetwork, Proxy::System) => ProxyRoute::Direct,
            (NetworkDistance::PrivateNetwork, Proxy::Manual(_)) if base.scheme() == "http" => {
                ProxyRoute::Direct
            }
            (NetworkDistance::PrivateNetwork | NetworkDistance::World, Proxy::Manual(_)) => {
                ProxyRoute::Manual
            }
        }
    }

    /// Returns the manual proxy, which is also checked when it is not used.
    fn proxy(&self) -> Result<Option<reqwest::Proxy>, ProviderError> {
        let Proxy::Manual(address) = &self.proxy else { return Ok(None) };
        let url = proxy_address(address.expose_secret())?;
        reqwest::Proxy::all(url)
            .map(Some)
            .map_err(|_| ProviderError::new(ErrorClass::Proxy, "The proxy's address cannot be used."))
    }
}

/// Supported kinds of proxies. `socks5` resolves names on this machine, `socks5h` at the proxy.
const PROXY_SCHEMES: [&str; 4] = ["http", "https", "socks5", "socks5h"];

/// Parses a proxy's address.
///
/// # Errors
///
/// Returns [`ErrorClass::Proxy`] when it is invalid; the address is not in the message, since it may contain a
/// password.
pub fn proxy_address(address: &str) -> Result<Url, ProviderError> {
    let invalid = |reason: &str| ProviderError::new(ErrorClass::Proxy, reason);
    let url = Url::parse(address.trim()).map_err(|_| invalid("The proxy's address is not an address."))?;
    if !PROXY_SCHEMES.contains(&url.scheme()) || url.host_str().is_none_or(str::is_empty) {
        return Err(invalid(
            "The proxy's address must begin with http://, https://, socks5:// or socks5h:// and name a host.",
        ));
    }
    Ok(url)
}

/// Route of requests to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyRoute {
    Direct,
    System,
    Manual,
}

fn certificates(pem: &[u8]) -> Result<Vec<Certificate>, ProviderError> {
    let invalid = |reason: &str| ProviderError::new(ErrorClass::Certificate, reason);
    match Certificate::from_pem_bundle(pem) {
        Ok(found) if found.is_empty() => Err(invalid("The file holds no certificate in PEM form.")),
        Ok(found) => Ok(found),
        Err(_) => Err(invalid("The certificates cannot be read.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(network: Network) -> Option<ProviderError> {
        let endpoint =
            Endpoint { network, ..Endpoint::new(Protocol::OpenaiChat, "https://host.example", None) };
        connect(endpoint).err()
    }

    fn headers(pairs: &[(&str, &str)]) -> Network {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)));
        Network { headers: pairs.collect(), ..Network::default() }
    }

    #[test]
    fn invalid_and_reserved_headers_are_refused_without_being_shown() {
        for header in [
            &[("x-secret", "va lue\nx-evil: 1")][..],
            &[("x-secret", "value\r\n")][..0],
            &[("x-secret", "a\0value")],
            &[("x-name\nx-evil", "value")],
            &[("", "value")],
            &[("na me", "value")],
            &[("Authorization", "value")],
            &[("X-API-Key", "value")],
            &[("content-type", "value")],
            &[("HOST", "value")],
            &[("transfer-encoding", "value")],
            &[("x-amz-date", "value")],
            &[("x-a", "value"), ("X-A", "value")],
        ] {
            let error = with(headers(header));
            if header.is_empty() {
                assert_eq!(error, None);
                continue;
            }
            let error = error.unwrap();
            assert_eq!(error.class, ErrorClass::Header, "{header:?}");
            assert!(!error.message.contains("value") && !error.message.contains("evil"), "{error}");
        }
        assert_eq!(with(headers(&[("anthropic-beta", "a"), ("user-agent", "b"), ("x-b", "  é \n")])), None);
    }

    #[test]
    fn loopback_bypasses_proxies_and_plain_http_stays_local() {
        let manual = Proxy::Manual(SecretString::from("http://name:pass@proxy.example:3128"));
        for (address, system, by_hand) in [
            ("http://127.0.0.1:1", ProxyRoute::Direct, ProxyRoute::Direct),
            ("https://localhost", ProxyRoute::Direct, ProxyRoute::Direct),
            ("http://[::1]:1", ProxyRoute::Direct, ProxyRoute::Direct),
            ("http://192.168.1.4", ProxyRoute::Direct, ProxyRoute::Direct),
            ("https://192.168.1.4", ProxyRoute::Direct, ProxyRoute::Manual),
            ("https://api.example.com", ProxyRoute::System, ProxyRoute::Manual),
        ] {
            let base = Url::parse(address).unwrap();
            let road = |proxy: Proxy| Network { proxy, ..Network::default() }.route(&base);
            assert_eq!(road(Proxy::System), system, "{address}");
            assert_eq!(road(manual.clone()), by_hand, "{address}");
            assert_eq!(road(Proxy::None), ProxyRoute::Direct, "{address}");
        }
    }

    #[test]
    fn invalid_proxies_and_certificates_are_named() {
        for address in
            ["", "proxy", "ftp://s3cret@proxy.example", "socks4://proxy.example", "socks5://", "http://"]
        {
            let proxy = Proxy::Manual(SecretString::from(address));
            let error = with(Network { proxy, ..Network::default() }).unwrap();
            assert_eq!(error.class, ErrorClass::Proxy, "{address}");
            assert!(!error.message.contains("s3cret"));
        }
        for pem in
            [&b""[..], b"no certificate", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
        {
            let error = with(Network { extra_ca: Some(pem.to_vec()), ..Network::default() }).unwrap();
            assert_eq!(error.class, ErrorClass::Certificate, "{pem:?}");
        }
    }

    #[test]
    fn values_do_not_show_in_debug_output() {
        let mut network = headers(&[("x-a", "s3cret")]);
        network.proxy = Proxy::Manual(SecretString::from("http://me:s3cret@proxy.example"));
        assert!(!format!("{network:?}").contains("s3cret"));
    }
}
