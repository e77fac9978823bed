//! Table of the known browsers.

/// A browser brand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BrowserFamily {
    /// Google Chrome.
    Chrome,
    /// Microsoft Edge.
    Edge,
    /// Brave.
    Brave,
    /// Chromium.
    Chromium,
}

/// A release channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReleaseChannel {
    /// Stable.
    Stable,
    /// Beta, the next version.
    Beta,
    /// Dev, the version after beta. Brave calls it Nightly.
    Dev,
    /// Canary, built daily.
    Canary,
}

/// A known browser and its data folders. Paths use `/` as the separator on every system.
#[derive(Debug, PartialEq, Eq)]
pub struct BrowserProduct {
    /// The brand.
    pub family: BrowserFamily,
    /// The release channel.
    pub channel: ReleaseChannel,
    /// Data folder below `%LOCALAPPDATA%`.
    pub(crate) windows: Option<&'static str>,
    /// Data folder below `~/Library/Application Support`.
    pub(crate) mac: Option<&'static str>,
    /// Data folder below the configuration folder.
    pub(crate) linux: Option<&'static str>,
    /// Flatpak id; a Flatpak has its own configuration folder.
    pub(crate) flatpak: Option<&'static str>,
    /// Data folder of the Snap, below the home folder.
    pub(crate) snap: Option<&'static str>,
    /// Program names on Linux, searched in `PATH`.
    pub(crate) commands: &'static [&'static str],
    /// Program on macOS, below `/Applications`.
    pub(crate) mac_program: Option<&'static str>,
    /// Program on Windows, below a program folder.
    pub(crate) windows_program: Option<&'static str>,
}

impl BrowserProduct {
    /// Returns the name as its maker writes it.
    pub fn name(&self) -> &'static str {
        match (self.family, self.channel) {
            (BrowserFamily::Chrome, ReleaseChannel::Stable) => "Google Chrome",
            (BrowserFamily::Chrome, ReleaseChannel::Beta) => "Google Chrome Beta",
            (BrowserFamily::Chrome, ReleaseChannel::Dev) => "Google Chrome Dev",
            (BrowserFamily::Chrome, ReleaseChannel::Canary) => "Google Chrome Canary",
            (BrowserFamily::Edge, ReleaseChannel::Stable) => "Microsoft Edge",
            (BrowserFamily::Edge, ReleaseChannel::Beta) => "Microsoft Edge Beta",
            (BrowserFamily::Edge, ReleaseChannel::Dev) => "Microsoft Edge Dev",
            (BrowserFamily::Edge, ReleaseChannel::Canary) => "Microsoft Edge Canary",
            (BrowserFamily::Brave, ReleaseChannel::Stable) => "Brave",
            (BrowserFamily::Brave, ReleaseChannel::Beta) => "Brave Beta",
            (BrowserFamily::Brave, ReleaseChannel::Dev | ReleaseChannel::Canary) => "Brave Nightly",
            (BrowserFamily::Chromium, _) => "Chromium",
        }
    }

    /// Returns the address of the page where the person allows other programs to attach.
    pub fn remote_debugging_page(&self) -> &'static str {
        match self.family {
            BrowserFamily::Edge => "edge://inspect/#remote-debugging",
            BrowserFamily::Brave => "brave://inspect/#remote-debugging",
            BrowserFamily::Chrome | BrowserFamily::Chromium => "chrome://inspect/#remote-debugging",
        }
    }
}

/// The browsers in search order: by popularity, stable channels first.
pub(crate) const PRODUCTS: &[BrowserProduct] = &[
    BrowserProduct {
        family: BrowserFamily::Chrome,
        channel: ReleaseChannel::Stable,
        windows: Some("Google/Chrome/User Data"),
        mac: Some("Google/Chrome"),
        linux: Some("google-chrome"),
        flatpak: Some("com.google.Chrome"),
        snap: None,
        commands: &["google-chrome-stable", "google-chrome"],
        mac_program: Some("Google Chrome.app/Contents/MacOS/Google Chrome"),
        windows_program: Some("Google/Chrome/Application/chrome.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Edge,
        channel: ReleaseChannel::Stable,
        windows: Some("Microsoft/Edge/User Data"),
        mac: Some("Microsoft Edge"),
        linux: Some("microsoft-edge"),
        flatpak: Some("com.microsoft.Edge"),
        snap: None,
        commands: &["microsoft-edge-stable", "microsoft-edge"],
        mac_program: Some("Microsoft Edge.app/Contents/MacOS/Microsoft Edge"),
        windows_program: Some("Microsoft/Edge/Application/msedge.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Brave,
        channel: ReleaseChannel::Stable,
        windows: Some("BraveSoftware/Brave-Browser/User Data"),
        mac: Some("BraveSoftware/Brave-Browser"),
        linux: Some("BraveSoftware/Brave-Browser"),
        flatpak: Some("com.brave.Browser"),
        snap: Some("snap/brave/current/.config/BraveSoftware/Brave-Browser"),
        commands: &["brave-browser-stable", "brave-browser", "brave"],
        mac_program: Some("Brave Browser.app/Contents/MacOS/Brave Browser"),
        windows_program: Some("BraveSoftware/Brave-Browser/Application/brave.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Chromium,
        channel: ReleaseChannel::Stable,
        windows: Some("Chromium/User Data"),
        mac: Some("Chromium"),
        linux: Some("chromium"),
        flatpak: Some("org.chromium.Chromium"),
        snap: Some("snap/chromium/common/chromium"),
        commands: &["chromium", "chromium-browser"],
        mac_program: Some("Chromium.app/Contents/MacOS/Chromium"),
        windows_program: Some("Chromium/Application/chrome.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Chrome,
        channel: ReleaseChannel::Beta,
        windows: Some("Google/Chrome Beta/User Data"),
        mac: Some("Google/Chrome Beta"),
        linux: Some("google-chrome-beta"),
        flatpak: None,
        snap: None,
        commands: &["google-chrome-beta"],
        mac_program: Some("Google Chrome Beta.app/Contents/MacOS/Google Chrome Beta"),
        windows_program: Some("Google/Chrome Beta/Application/chrome.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Chrome,
        channel: ReleaseChannel::Dev,
        windows: Some("Google/Chrome Dev/User Data"),
        mac: Some("Google/Chrome Dev"),
        linux: Some("google-chrome-unstable"),
        flatpak: Some("com.google.ChromeDev"),
        snap: None,
        commands: &["google-chrome-unstable"],
        mac_program: Some("Google Chrome Dev.app/Contents/MacOS/Google Chrome Dev"),
        windows_program: Some("Google/Chrome Dev/Application/chrome.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Chrome,
        channel: ReleaseChannel::Canary,
        windows: Some("Google/Chrome SxS/User Data"),
        mac: Some("Google/Chrome Canary"),
        linux: Some("google-chrome-canary"),
        flatpak: None,
        snap: None,
        commands: &["google-chrome-canary"],
        mac_program: Some("Google Chrome Canary.app/Contents/MacOS/Google Chrome Canary"),
        windows_program: Some("Google/Chrome SxS/Application/chrome.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Edge,
        channel: ReleaseChannel::Beta,
        windows: Some("Microsoft/Edge Beta/User Data"),
        mac: Some("Microsoft Edge Beta"),
        linux: Some("microsoft-edge-beta"),
        flatpak: None,
        snap: None,
        commands: &["microsoft-edge-beta"],
        mac_program: Some("Microsoft Edge Beta.app/Contents/MacOS/Microsoft Edge Beta"),
        windows_program: Some("Microsoft/Edge Beta/Application/msedge.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Edge,
        channel: ReleaseChannel::Dev,
        windows: Some("Microsoft/Edge Dev/User Data"),
        mac: Some("Microsoft Edge Dev"),
        linux: Some("microsoft-edge-dev"),
        flatpak: None,
        snap: None,
        commands: &["microsoft-edge-dev"],
        mac_program: Some("Microsoft Edge Dev.app/Contents/MacOS/Microsoft Edge Dev"),
        windows_program: Some("Microsoft/Edge Dev/Application/msedge.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Edge,
        channel: ReleaseChannel::Canary,
        windows: Some("Microsoft/Edge SxS/User Data"),
        mac: Some("Microsoft Edge Canary"),
        linux: None,
        flatpak: None,
        snap: None,
        commands: &[],
        mac_program: Some("Microsoft Edge Canary.app/Contents/MacOS/Microsoft Edge Canary"),
        windows_program: Some("Microsoft/Edge SxS/Application/msedge.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Brave,
        channel: ReleaseChannel::Beta,
        windows: Some("BraveSoftware/Brave-Browser-Beta/User Data"),
        mac: Some("BraveSoftware/Brave-Browser-Beta"),
        linux: Some("BraveSoftware/Brave-Browser-Beta"),
        flatpak: None,
        snap: None,
        commands: &["brave-browser-beta"],
        mac_program: Some("Brave Browser Beta.app/Contents/MacOS/Brave Browser Beta"),
        windows_program: Some("BraveSoftware/Brave-Browser-Beta/Application/brave.exe"),
    },
    BrowserProduct {
        family: BrowserFamily::Brave,
        channel: ReleaseChannel::Canary,
        windows: Some("BraveSoftware/Brave-Browser-Nightly/User Data"),
        mac: Some("BraveSoftware/Brave-Browser-Nightly"),
        linux: Some("BraveSoftware/Brave-Browser-Nightly"),
        flatpak: None,
        snap: None,
        commands: &["brave-browser-nightly"],
        mac_program: Some("Brave Browser Nightly.app/Contents/MacOS/Brave Browser Nightly"),
        windows_program: Some("BraveSoftware/Brave-Browser-Nightly/Application/brave.exe"),
    },
];
