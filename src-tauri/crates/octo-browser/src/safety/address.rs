//! [`PageAddress`]: classifies addresses. Each kind has its own rule in [`super::SiteGrants`].

use super::site::Site;
use octo_network::Nearness;
use url::Url;

/// The kind of address that a tab is at or is sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageAddress {
    /// An `about:blank` that no page can write into, so it is empty.
    Blank,
    /// A public web page.
    Web(Site),
    /// A page of this machine, its network, or a cloud's metadata service.
    Near(Site),
    /// The browser's own pages: settings, extensions, flags, page source.
    Internal {
        /// The address without query and fragment, such as `chrome://settings/help`.
        page: String,
    },
    /// A password store: the browser's own pages, and known services and extensions.
    Passwords {
        /// The address without query and fragment, or the site.
        page: String,
    },
    /// A page of an extension.
    Extension {
        /// The extension's id.
        id: String,
    },
    /// A local file.
    File {
        /// Its address without query and fragment.
        page: String,
    },
    /// The browser's substitute for a page that failed to load, including certificate warnings.
    ErrorPage,
    /// An address that is never allowed.
    Forbidden(ForbiddenReason),
}

/// The reason why an address is never allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ForbiddenReason {
    /// `javascript:`, which would run code in the open page.
    #[error("it would run code in the page that is open")]
    Script,
    /// `data:` and other opaque pages, which have no origin to grant.
    #[error("a page without an origin cannot be granted")]
    NoOrigin,
    /// The browser's developer tools and its debugging switch, which would give control of the browser itself.
    #[error("it controls the browser itself")]
    BrowserControl,
    /// An address that would start another program (`mailto:`, `vscode:` and the like).
    #[error("it would start another program")]
    OtherProgram,
    /// The address contains a user name or password before the host.
    #[error("it holds a name or a password; addresses are opened without")]
    Credentials,
    /// The text is not an address.
    #[error("it is not an address; write it whole, with https://")]
    Unreadable,
}

/// Schemes of the browsers' own pages.
const INTERNAL_SCHEMES: [&str; 10] = [
    "chrome",
    "edge",
    "brave",
    "vivaldi",
    "opera",
    "about",
    "chrome-untrusted",
    "chrome-search",
    "chrome-native",
    "chrome-distiller",
];

/// Hosts of internal pages that contain passwords.
const PASSWORD_PAGES: [&str; 5] = ["password-manager", "passwords", "wallet", "passkeys", "autofill"];

/// Hosts of internal pages that control the browser or its debugging.
const CONTROL_PAGES: [&str; 14] = [
    "inspect",
    "devtools",
    "debug",
    "kill",
    "crash",
    "quit",
    "restart",
    "hang",
    "policy",
    "net-export",
    "tracing",
    "device-log",
    "extensions-internals",
    "serviceworker-internals",
];

/// Password-manager sites, including their subdomains.
const PASSWORD_SITES: [&str; 17] = [
    "passwords.google.com",
    "vault.bitwarden.com",
    "vault.bitwarden.eu",
    "1password.com",
    "1password.eu",
    "1password.ca",
    "lastpass.com",
    "dashlane.com",
    "keepersecurity.com",
    "keepersecurity.eu",
    "nordpass.com",
    "pass.proton.me",
    "roboform.com",
    "enpass.io",
    "zoho-vault.com",
    "vault.zoho.com",
    "passbolt.com",
];

/// Password-manager extensions of the web stores: 1Password, Bitwarden, LastPass, Dashlane, Keeper, NordPass,
/// Proton Pass, KeePassXC, RoboForm, Enpass, each by its id in Chrome's store (and Edge's if it differs).
const PASSWORD_EXTENSIONS: [&str; 14] = [
    "aeblfdkhhhdcdjpifhhbdiojplfjncoa",
    "dppgmdbiimibapkepcbdbmkaabgiofem",
    "nngceckbapebfimnlniiiahkandclblb",
    "jbkfoedolllekgbhcbcoahefnbanhhlh",
    "hdokiejnpimakedhajhdlcegeplioahd",
    "bbcinlkgjjkejfdpemiealijmmooekmp",
    "fdjamakpfbbddfjaooikfcpapjohcfmg",
    "bfogiafebfohielmmehodmfbbebbbpei",
    "eiaeiblijfjekdanodkjadfinkhbfgcd",
    "ghmbeldphafepmbegfdlkpapadhbakde",
    "oboonakemofpalcgghocfoadofidjkkk",
    "pdffhmdngciaglkoonimfcmckehcpafo",
    "pnlccmojcmeohlpggmfnbbiapkmbliob",
    "kmcfomidfpdkfieipokbalgegidffkal",
];

impl PageAddress {
    /// Classifies an address, parsed as browsers parse it.
    pub fn of(text: &str) -> Self {
        match Url::parse(text) {
            Ok(url) => Self::of_url(&url),
            Err(_) => Self::Forbidden(ForbiddenReason::Unreadable),
        }
    }

    /// Classifies a page by its address and origin. An empty page that another page opened belongs to its
    /// opener, which can write into it; only one with the origin `null` is certainly empty.
    pub fn of_frame(address: &str, origin: &str) -> Self {
        match (Self::of(address), origin) {
            (Self::Blank, "null") => Self::Blank,
            (Self::Blank, opener) => match Self::of(opener) {
                Self::Blank | Self::Forbidden(_) => Self::Forbidden(ForbiddenReason::NoOrigin),
                opener => opener,
            },
            (address, _) => address,
        }
    }

    fn of_url(url: &Url) -> Self {
        match url.scheme() {
            "http" | "https" => Self::of_web(url),
            "about" if matches!(url.path(), "blank" | "") => Self::Blank,
            "chrome-error" => Self::ErrorPage,
            "devtools" | "chrome-devtools" => Self::Forbidden(ForbiddenReason::BrowserControl),
            "view-source" => match Self::of(url.path()) {
                Self::Forbidden(reason) => Self::Forbidden(reason),
                _ => Self::Internal { page: without_query_and_fragment(url) },
            },
            "file" => Self::File { page: without_query_and_fragment(url) },
            "javascript" | "vbscript" => Self::Forbidden(ForbiddenReason::Script),
            "data" | "filesystem" => Self::Forbidden(ForbiddenReason::NoOrigin),
            // A blob belongs to the site that made it and is granted with it.
            "blob" => match Url::parse(url.path()) {
                Ok(creator) if matches!(creator.scheme(), "http" | "https") => Self::of_web(&creator),
                _ => Self::Forbidden(ForbiddenReason::NoOrigin),
            },
            scheme if scheme.ends_with("-extension") => {
                let id = url.host_str().unwrap_or_default().to_ascii_lowercase();
                if PASSWORD_EXTENSIONS.contains(&id.as_str()) {
                    Self::Passwords { page: without_query_and_fragment(url) }
                } else if id.is_empty() {
                    Self::Forbidden(ForbiddenReason::Unreadable)
                } else {
                    Self::Extension { id }
                }
            }
            scheme if INTERNAL_SCHEMES.contains(&scheme) => Self::of_internal(url),
            _ => Self::Forbidden(ForbiddenReason::OtherProgram),
        }
    }

    fn of_web(url: &Url) -> Self {
        if !url.username().is_empty() || url.password().is_some() {
            return Self::Forbidden(ForbiddenReason::Credentials);
        }
        let Some(site) = Site::of(url) else { return Self::Forbidden(ForbiddenReason::Unreadable) };
        let host = site.host().trim_end_matches('.');
        let is_password_site = PASSWORD_SITES.iter().any(|domain| {
            host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        });
        if is_password_site {
            Self::Passwords { page: site.to_string() }
        } else if site.nearness() == Nearness::World {
            Self::Web(site)
        } else {
            Self::Near(site)
        }
    }

    fn of_internal(url: &Url) -> Self {
        // Browsers treat `about:settings` and `chrome:settings` as `chrome://settings`.
        let address = format!("{}{}", url.host_str().unwrap_or_default(), url.path()).to_ascii_lowercase();
        let mut parts = address.split('/').filter(|part| !part.is_empty());
        let (page, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_one_of =
            |names: &[&str]| names.contains(&page) || (page == "settings" && names.contains(&second));
        if is_one_of(&PASSWORD_PAGES) {
            Self::Passwords { page: without_query_and_fragment(url) }
        } else if is_one_of(&CONTROL_PAGES) {
            Self::Forbidden(ForbiddenReason::BrowserControl)
        } else {
            Self::Internal { page: without_query_and_fragment(url) }
        }
    }

    /// Returns its site, if it has one.
    pub fn site(&self) -> Option<&Site> {
        match self {
            Self::Web(site) | Self::Near(site) => Some(site),
            Self::Blank
            | Self::Internal { .. }
            | Self::Passwords { .. }
            | Self::Extension { .. }
            | Self::File { .. }
            | Self::ErrorPage
            | Self::Forbidden(_) => None,
        }
    }
}

/// Returns an address without its query and fragment, which are data and do not belong to a grant's scope.
fn without_query_and_fragment(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(text: &str) -> &'static str {
        match PageAddress::of(text) {
            PageAddress::Blank => "blank",
            PageAddress::Web(_) => "web",
            PageAddress::Near(_) => "near",
            PageAddress::Internal { .. } => "internal",
            PageAddress::Passwords { .. } => "passwords",
            PageAddress::Extension { .. } => "extension",
            PageAddress::File { .. } => "file",
            PageAddress::ErrorPage => "error",
            PageAddress::Forbidden(ForbiddenReason::Script) => "never: script",
            PageAddress::Forbidden(ForbiddenReason::NoOrigin) => "never: no origin",
            PageAddress::Forbidden(ForbiddenReason::BrowserControl) => "never: control",
            PageAddress::Forbidden(ForbiddenReason::OtherProgram) => "never: program",
            PageAddress::Forbidden(ForbiddenReason::Credentials) => "never: credentials",
            PageAddress::Forbidden(ForbiddenReason::Unreadable) => "never: unreadable",
        }
    }

    #[test]
    fn every_address_has_its_kind() {
        for (text, expected) in [
            ("https://example.com/a?b", "web"),
            ("  https://example.com/a", "web"),
            ("HTTPS://EXAMPLE.COM", "web"),
            ("blob:https://example.com/0f-1", "web"),
            ("http://localhost:3000/", "near"),
            ("http://127.1/", "near"),
            ("http://2130706433/", "near"),
            ("http://[::1]/", "near"),
            ("http://router/", "near"),
            ("http://169.254.169.254/latest/meta-data", "near"),
            ("blob:http://localhost/0f", "near"),
            ("about:blank", "blank"),
            ("about:blank#x", "blank"),
            ("about:settings", "internal"),
            ("about:flags", "internal"),
            ("chrome://settings", "internal"),
            ("CHROME://version", "internal"),
            ("edge://settings/privacy", "internal"),
            ("view-source:https://example.com", "internal"),
            ("view-source:javascript:alert(1)", "never: script"),
            ("chrome-untrusted://terminal", "internal"),
            ("chrome://inspect/#remote-debugging", "never: control"),
            ("about:inspect", "never: control"),
            ("edge://inspect", "never: control"),
            ("devtools://devtools/bundled/inspector.html", "never: control"),
            ("chrome://kill", "never: control"),
            ("chrome://password-manager/passwords", "passwords"),
            ("chrome://settings/passwords", "passwords"),
            ("edge://wallet/passwords", "passwords"),
            ("edge://settings/autofill", "passwords"),
            ("https://passwords.google.com/", "passwords"),
            ("https://my.1password.com/vaults", "passwords"),
            ("https://vault.bitwarden.com./", "passwords"),
            ("https://not1password.com/", "web"),
            ("chrome-extension://nngceckbapebfimnlniiiahkandclblb/popup.html", "passwords"),
            ("chrome-extension://AEBLFDKHHHDCDJPIFHHBDIOJPLFJNCOA/x", "passwords"),
            ("chrome-extension://abcdefghijklmnopabcdefghijklmnop/x.html", "extension"),
            ("moz-extension://0f/x.html", "extension"),
            ("chrome-extension:x", "never: unreadable"),
            ("file:///etc/passwd", "file"),
            ("FILE://server/share", "file"),
            ("chrome-error://chromewebdata/", "error"),
            ("javascript:alert(1)", "never: script"),
            ("java\nscript:alert(1)", "never: script"),
            ("\u{1}javascript:alert(1)", "never: script"),
            ("JaVaScRiPt:alert(1)", "never: script"),
            ("data:text/html,<b>", "never: no origin"),
            ("blob:null/0f", "never: no origin"),
            ("blob:file:///0f", "never: no origin"),
            ("filesystem:https://a.example/temporary/x", "never: no origin"),
            ("mailto:a@b.example?body=x", "never: program"),
            ("vscode://file/x", "never: program"),
            ("ms-msdt:/id", "never: program"),
            ("ftp://a.example", "never: program"),
            ("ws://a.example", "never: program"),
            ("https://me:secret@a.example", "never: credentials"),
            ("https://www.bank.example@evil.example/", "never: credentials"),
            ("example.com", "never: unreadable"),
            ("", "never: unreadable"),
            ("https://", "never: unreadable"),
            ("/etc/passwd", "never: unreadable"),
        ] {
            assert_eq!(kind_of(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_blank_page_belongs_to_its_opener() {
        let opener = PageAddress::of("https://a.example");
        assert_eq!(PageAddress::of_frame("about:blank", "https://a.example"), opener);
        assert_eq!(PageAddress::of_frame("about:blank#x", "https://a.example"), opener);
        assert_eq!(PageAddress::of_frame("about:blank", "file://"), PageAddress::of("file://"));
        assert_eq!(
            PageAddress::of_frame("about:blank", "chrome-extension://abcdef"),
            PageAddress::Extension { id: "abcdef".to_owned() }
        );
        // The browser does not disclose the origin: it may be any page's.
        for origin in ["://", "", "about:blank", "data:text/html,x"] {
            assert_eq!(
                PageAddress::of_frame("about:blank", origin),
                PageAddress::Forbidden(ForbiddenReason::NoOrigin),
                "{origin}"
            );
        }
        assert_eq!(PageAddress::of_frame("about:blank", "null"), PageAddress::Blank);
        assert_eq!(
            PageAddress::of_frame("https://b.example", "https://a.example"),
            PageAddress::of("https://b.example")
        );
    }

    #[test]
    fn scopes_exclude_data() {
        assert_eq!(
            PageAddress::of("file:///home/a/x.html?q=1#f"),
            PageAddress::File { page: "file:///home/a/x.html".to_owned() }
        );
    }
}
