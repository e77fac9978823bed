//! [`Http`]: the capability to access the web, and the only way tools do.
//!
//! A page can name any address, and so can a model that believed one. So addresses of this machine, of private
//! networks and of a cloud's own services are refused unless the person allowed that very host. Octo resolves
//! each host here, including those of redirects, checks all its addresses, and connects to the checked
//! addresses: a name service that answers differently a moment later changes nothing.
//!
//! Behind a proxy, the proxy connects to the host: the checks here cover the address as written, and the answer
//! of this machine's name service. A proxy with other names of its own reaches its own hosts; a host whose name
//! is unknown here is reached only through a proxy.
//!
//! No cookies, no keys except those given for one request, TLS always verified, and limits on time and size.

mod address;
mod body;
mod resolver;

pub use address::{Site, SiteDistance};
pub(crate) use body::WebBody;
pub use resolver::{NameResolver, SystemResolver};

use octo_llm::Network;
use reqwest::{
    Client, Method, Response,
    header::{CONTENT_TYPE, HeaderMap, LOCATION},
    redirect,
};
use resolver::PinnedHost;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use url::{Host, Url};

/// Connection timeout, including TLS.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a whole request, including redirects and body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum bytes read of a body: a page of text is far smaller, and larger files are for the terminal.
pub(crate) const MAX_BODY: usize = 5 << 20;

/// Client for the web. Cheap to clone.
#[derive(Clone)]
pub struct Http {
    network: Arc<Network>,
    names: Arc<dyn NameResolver>,
    granted: Arc<[(Site, SiteGrant)]>,
}

/// How the person allowed a private address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteGrant {
    /// By a mode without questions. It does not cover a cloud's own services.
    ByMode,
    /// By its name: an answer, a rule, or a setting.
    ByName,
}

/// Request to a server.
pub(crate) struct WebRequest {
    pub method: Method,
    pub headers: HeaderMap,
    pub body: Option<String>,
    /// Maximum redirects followed.
    pub redirects: usize,
}

/// Answer of a server.
#[derive(Debug)]
pub(crate) struct WebReply {
    /// Address after redirects.
    pub url: Url,
    pub status: u16,
    /// Media type with its parameters, as the server sent it.
    pub content_type: String,
    pub body: WebBody,
}

/// Reason why a request failed. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("Invalid URL: {0}.")]
    Address(String),
    #[error("The URL must be HTTP or HTTPS, not {0}.")]
    Scheme(String),
    #[error("The URL holds a name or a password. Octo sends none; leave them out.")]
    Credentials,
    #[error(
        "{site} is an address of this machine, a private network or a cloud's own services, and {way}. Nothing \
         was fetched from it."
    )]
    Private { site: String, way: &'static str },
    #[error("{0} is not known to the name service.")]
    UnknownHost(String),
    #[error("More than {0} redirects.")]
    Redirects(usize),
    #[error("It redirects to something that is no address.")]
    BadRedirect,
    #[error("No answer within {0} seconds.")]
    TimeOut(u64),
    #[error("The request failed: {0}.")]
    Failed(String),
    #[error("What {0} sent cannot be read: {1}.")]
    Body(String, String),
    #[error("It was stopped.")]
    Stopped,
}

/// Error texts for a requested private address, and for the target of a redirect.
const NOT_ALLOWED: &str = "the person has not allowed it";
const BY_REDIRECT: &str = "a redirect leads there. If it is really wanted, call web_fetch with that address, so that the person is asked";

impl Http {
    /// Creates a client that uses the network settings of models: the same proxy, the same certificates. The
    /// network's headers are not sent.
    pub fn new(network: Network) -> Self {
        Self::with_resolver(network, Arc::new(SystemResolver))
    }

    /// Like [`Self::new`], with another name resolver.
    pub fn with_resolver(network: Network, names: Arc<dyn NameResolver>) -> Self {
        // They are for models' servers; this client must never be able to send them.
        let network = Network { headers: Vec::new(), ..network };
        Self { network: Arc::new(network), names, granted: Arc::from([]) }
    }

    /// Returns a client that may also access these sites, regardless of their network distance: the person
    /// allowed them.
    pub fn with_grants(&self, sites: impl IntoIterator<Item = (Site, SiteGrant)>) -> Self {
        let granted = self.granted.iter().cloned().chain(sites).collect();
        Self { granted, ..self.clone() }
    }

    /// Returns the site with its network distance, after resolving its name. An unresolvable name is judged by
    /// its text: nothing can be fetched from it either.
    pub async fn resolve_site(&self, site: Site) -> Site {
        let found = match self.addresses(&site).await {
            Ok(addresses) => addresses,
            Err(_) => return site,
        };
        let nearest = found.iter().map(|address| address::distance_of(address.ip())).max();
        Site { distance: nearest.unwrap_or(site.distance).max(site.distance), ..site }
    }

    /// Requests `url`, and follows its redirects.
    pub(crate) async fn send(
        &self,
        url: &Url,
        request: WebRequest,
        limit: usize,
    ) -> Result<WebReply, HttpError> {
        let reply = tokio::time::timeout(REQUEST_TIMEOUT, self.follow(url.clone(), request, limit)).await;
        reply.unwrap_or(Err(HttpError::TimeOut(REQUEST_TIMEOUT.as_secs())))
    }

    async fn follow(&self, mut url: Url, request: WebRequest, limit: usize) -> Result<WebReply, HttpError> {
        for hop in 0..=request.redirects {
            let mut response = self.send_once(&url, &request, hop).await?;
            let status = response.status();
            let location = response.headers().get(LOCATION).filter(|_| status.is_redirection());
            if let Some(location) = location {
                let location = location.to_str().map_err(|_| HttpError::BadRedirect)?;
                url = url.join(location).map_err(|_| HttpError::BadRedirect)?;
                continue;
            }
            let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
            let content_type = content_type.unwrap_or_default().to_owned();
            let host = url.host_str().unwrap_or_default().to_owned();
            let body =
                body::read(&mut response, limit).await.map_err(|reason| HttpError::Body(host, reason))?;
            return Ok(WebReply { url, status: status.as_u16(), content_type, body });
        }
        Err(HttpError::Redirects(request.redirects))
    }

    /// Sends one request, to checked addresses.
    async fn send_once(
        &self,
        url: &Url,
        web_request: &WebRequest,
        hop: usize,
    ) -> Result<Response, HttpError> {
        let site = check(url)?;
        let private_error = |site: &Site| HttpError::Private {
            site: site.to_string(),
            way: if hop == 0 { NOT_ALLOWED } else { BY_REDIRECT },
        };
        if !self.may_reach(&site, site.distance) {
            return Err(private_error(&site));
        }
        let addresses = match self.addresses(&site).await {
            Ok(addresses) => addresses,
            // Only a proxy can know it; without one the connection fails for lack of an address.
            Err(_) if !matches!(self.network.proxy, octo_llm::Proxy::None) => Vec::new(),
            Err(_) => return Err(HttpError::UnknownHost(site.host)),
        };
        // One bad address is enough: this code does not control which of them a connection uses.
        let distance = addresses.iter().map(|address| address::distance_of(address.ip())).max();
        if distance.is_some_and(|reach| !self.may_reach(&site, reach)) {
            return Err(private_error(&site));
        }
        let is_known = !addresses.is_empty();
        let client = self.client(url, PinnedHost { host: site.host.clone(), addresses })?;
        let mut request =
            client.request(web_request.method.clone(), url.clone()).headers(web_request.headers.clone());
        if let Some(body) = &web_request.body {
            request = request.body(body.clone());
        }
        request.send().await.map_err(|error| match error {
            _ if !is_known && error.is_connect() => HttpError::UnknownHost(site.host),
            error if error.is_timeout() => HttpError::TimeOut(CONNECT_TIMEOUT.as_secs()),
            error => HttpError::Failed(causes(&error.without_url())),
        })
    }

    fn may_reach(&self, site: &Site, reach: SiteDistance) -> bool {
        let granted = || self.granted.iter().filter(|(granted, _)| granted.is_same_site(site));
        match reach {
            SiteDistance::Internet => true,
            SiteDistance::Private => granted().next().is_some(),
            SiteDistance::Metadata => granted().any(|(_, grant)| *grant == SiteGrant::ByName),
        }
    }

    /// Returns the addresses of a site.
    async fn addresses(&self, site: &Site) -> std::io::Result<Vec<SocketAddr>> {
        if let Ok(address) = site.host.trim_start_matches('[').trim_end_matches(']').parse() {
            return Ok(vec![SocketAddr::new(address, site.port)]);
        }
        let found = tokio::time::timeout(CONNECT_TIMEOUT, self.names.resolve_host(&site.host)).await;
        let found = found.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))??;
        Ok(found.into_iter().map(|address| SocketAddr::new(address, site.port)).collect())
    }

    fn client(&self, url: &Url, pinned: PinnedHost) -> Result<Client, HttpError> {
        let builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(redirect::Policy::none())
            .referer(false)
            // Bodies are unpacked here, with a limit on the unpacked size.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .dns_resolver(Arc::new(pinned));
        let failed = |reason: String| HttpError::Failed(reason);
        let builder = self.network.apply(builder, url).map_err(|error| failed(error.message))?;
        builder.build().map_err(|error| failed(causes(&error)))
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("granted", &self.granted).finish_non_exhaustive()
    }
}

/// Parses an address given by a model.
pub(crate) fn parse(text: &str) -> Result<Url, HttpError> {
    let url = Url::parse(text.trim()).map_err(|error| HttpError::Address(error.to_string()))?;
    check(&url)?;
    Ok(url)
}

fn check(url: &Url) -> Result<Site, HttpError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(HttpError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(HttpError::Credentials);
    }
    match url.host() {
        Some(Host::Domain(name)) if name.trim_end_matches('.').is_empty() => {
            Err(HttpError::Address("it names no host".to_owned()))
        }
        _ => Site::from_url(url).ok_or_else(|| HttpError::Address("it names no host".to_owned())),
    }
}

/// Returns an error with its causes: alone it says little more than that sending failed.
fn causes(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !message.contains(&more) {
            message = format!("{message}: {more}");
        }
        cause = error.source();
    }
    message
}

#[cfg(test)]
mod tests;
