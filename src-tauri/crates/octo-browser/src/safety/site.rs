//! [`Site`]: the unit that the person grants. The origin of a page, written so that one site never looks like
//! another.

use idna::uts46::{AsciiDenyList, Hyphens, Uts46};
use octo_network::{Nearness, nearness_of_host};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use unicode_security::{RestrictionLevel, RestrictionLevelDetection, skeleton};
use url::{Host, Url};

/// The scheme of a [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Unencrypted: anyone on the network path can read and change it.
    Http,
    /// Encrypted.
    Https,
}

impl Scheme {
    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Scheme, host and port. Two sites are the same only if all three match.
///
/// Written (and stored) in ASCII, as `https://xn--bcher-kva.example:8443`; displayed by [`Site::display_name`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Site {
    scheme: Scheme,
    host: String,
    port: u16,
}

/// Error for a text that names no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("that is not a site of the web: scheme, host and port of http or https")]
pub struct SiteParseError;

/// Ports where machines and networks are administered without authentication, or with keys within reach:
/// containers, clusters, debuggers, proxies, databases with a web page, printers, routers, local models.
const ADMIN_PORTS: [u16; 42] = [
    22, 631, 1880, 2019, 2375, 2376, 2379, 3389, 4040, 4646, 5000, 5001, 5601, 5984, 6443, 7474, 8001, 8006,
    8088, 8200, 8291, 8384, 8443, 8500, 8834, 8888, 9000, 9001, 9090, 9091, 9200, 9222, 9229, 9443, 9990,
    10000, 10250, 11434, 15672, 19999, 32400, 50070,
];

impl Site {
    /// Returns the site of an address, or `None` if it is neither http nor https.
    pub fn of(url: &Url) -> Option<Self> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let host = url.host()?.to_string().to_ascii_lowercase();
        let port = url.port().unwrap_or(scheme.default_port());
        (!host.is_empty()).then_some(Self { scheme, host, port })
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the host in ASCII: a name in lower case, or an address (IPv6 in brackets).
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the network distance of its host, by the text alone.
    pub fn nearness(&self) -> Nearness {
        // The host was produced by a URL, so it parses as one.
        match Host::parse(&self.host) {
            Ok(host) => nearness_of_host(&match &host {
                Host::Domain(name) => Host::Domain(name.as_str()),
                Host::Ipv4(address) => Host::Ipv4(*address),
                Host::Ipv6(address) => Host::Ipv6(*address),
            }),
            Err(_) => Nearness::Metadata,
        }
    }

    /// Returns whether it is near and on an administration port.
    pub fn is_administration(&self) -> bool {
        self.nearness() != Nearness::World && ADMIN_PORTS.contains(&self.port)
    }

    /// Returns whether traffic to it is safe from interception. Traffic within this machine is.
    pub fn is_transport_private(&self) -> bool {
        self.scheme == Scheme::Https || self.nearness() == Nearness::Machine
    }

    /// Returns the encrypted site that a plain one on the standard port usually redirects to.
    pub(crate) fn encrypted(&self) -> Option<Self> {
        (self.scheme == Scheme::Http && self.port == 80).then(|| Self {
            scheme: Scheme::Https,
            host: self.host.clone(),
            port: 443,
        })
    }

    /// Formats it for people: the host in its own letters if they cannot be confused with others, else in
    /// punycode; the scheme only if it is not https, the port only if it is not the default.
    pub fn display_name(&self) -> String {
        let (host, _) = Uts46::new().to_user_interface(
            self.host.as_bytes(),
            AsciiDenyList::URL,
            Hyphens::Allow,
            |label, _, _| is_plain(&label.iter().collect::<String>()),
        );
        let scheme = match self.scheme {
            Scheme::Https => "",
            Scheme::Http => "http://",
        };
        if self.port == self.scheme.default_port() {
            format!("{scheme}{host}")
        } else {
            format!("{scheme}{host}:{}", self.port)
        }
    }
}

/// Returns whether a label can be displayed in its own letters: of one script or a common mix (Japanese,
/// Korean, Chinese with Latin), and not entirely look-alikes of ASCII letters.
fn is_plain(label: &str) -> bool {
    let level = label.detect_restriction_level();
    let appearance: String = skeleton(label).collect();
    level <= RestrictionLevel::HighlyRestrictive && (label.is_ascii() || !appearance.is_ascii())
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        if self.port == self.scheme.default_port() {
            write!(f, "{scheme}://{}", self.host)
        } else {
            write!(f, "{scheme}://{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for Site {
    type Err = SiteParseError;

    /// Parses a site, or the site of a full address.
    fn from_str(text: &str) -> Result<Self, SiteParseError> {
        Url::parse(text).ok().and_then(|url| Self::of(&url)).ok_or(SiteParseError)
    }
}

impl From<Site> for String {
    fn from(site: Site) -> Self {
        site.to_string()
    }
}

impl TryFrom<String> for Site {
    type Error = SiteParseError;

    fn try_from(text: String) -> Result<Self, SiteParseError> {
        text.parse()
    }
}

/// The origin of a frame or a form's target.
///
/// Two opaque origins are never equal, so this type has no `==`.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The origin of a site.
    Site(Site),
    /// Opaque: a sandboxed frame, a `data:` page, a file.
    Opaque,
}

impl Origin {
    /// Parses an origin from the browser (including `null` and `://`) or an address.
    pub fn parse(text: &str) -> Self {
        text.parse().map_or(Self::Opaque, Self::Site)
    }

    /// Returns whether this is the origin of that site.
    pub fn is(&self, site: &Site) -> bool {
        matches!(self, Self::Site(own) if own == site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_parsed_as_browsers_parse_them() {
        for (address, expected) in [
            ("https://Example.com/a?b#c", "https://example.com"),
            ("https://example.com:443", "https://example.com"),
            ("http://example.com:443", "http://example.com:443"),
            ("https://EXAMPLE.com:8443/", "https://example.com:8443"),
            ("http://127.1/", "http://127.0.0.1"),
            ("http://0x7f000001:81", "http://127.0.0.1:81"),
            ("http://０.０.０.０/", "http://0.0.0.0"),
            ("https://[::FFFF:7f00:1]/", "https://[::ffff:7f00:1]"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("https:\\\\a.example\\b", "https://a.example"),
            ("https://user@b.example/", "https://b.example"),
            ("https://a.example@b.example/", "https://b.example"),
            ("ht\ntps://a.example", "https://a.example"),
        ] {
            let site: Site = address.parse().unwrap();
            assert_eq!(site.to_string(), expected, "{address}");
            assert_eq!(
                site.to_string().parse::<Site>().unwrap(),
                site,
                "the written form parses to the same site"
            );
        }
        for invalid in
            ["", "example.com", "null", "://", "file:///etc/passwd", "data:text/html,x", "https://"]
        {
            assert_eq!(invalid.parse::<Site>(), Err(SiteParseError), "{invalid}");
        }
    }

    #[test]
    fn display_names_of_sites_are_distinct() {
        for (address, expected) in [
            ("https://bücher.example", "bücher.example"),
            ("https://яндекс.рф", "яндекс.рф"),
            ("https://例え.jp", "例え.jp"),
            ("https://한국.kr", "한국.kr"),
            // All Cyrillic, drawn like apple; one Cyrillic letter among Latin ones; Greek omicron.
            ("https://аррӏе.com", "xn--80ak6aa92e.com"),
            ("https://раypal.com", "xn--ypal-43d9g.com"),
            ("https://gοοgle.com", "xn--ggle-0nda.com"),
            ("http://shop.example:8080", "http://shop.example:8080"),
            ("https://shop.example", "shop.example"),
        ] {
            assert_eq!(address.parse::<Site>().unwrap().display_name(), expected, "{address}");
        }
    }

    #[test]
    fn opaque_origins_equal_nothing() {
        let site: Site = "https://a.example".parse().unwrap();
        for text in ["null", "://", "", "data:text/html,x", "file:///x", "about:blank", "https://b.example"] {
            assert!(!Origin::parse(text).is(&site), "{text}");
        }
        assert!(Origin::parse("https://a.example/path").is(&site));
    }

    #[test]
    fn administration_sites_are_recognised() {
        for (address, expected) in [
            ("http://127.0.0.1:9222", true),
            ("http://localhost:2375", true),
            ("http://192.168.1.1:8443", true),
            ("http://localhost:3000", false),
            ("https://shop.example:8443", false),
        ] {
            assert_eq!(address.parse::<Site>().unwrap().is_administration(), expected, "{address}");
        }
    }
}
