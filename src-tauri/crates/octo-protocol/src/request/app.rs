//! Requests about settings and the application.

use super::{Request, TypedRequest};
use crate::{
    ApiError, BlobHash, Block, CertificateSource, ProfileInfo, ProxyChoice, SearchProviderDraft,
    SearchProviderKind, SettingsPatch, SettingsSnapshot,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

super::domain! {
    /// Requests about settings and the application.
    #[expect(clippy::large_enum_variant, reason = "a request is moved a few times; settings seldom change")]
    AppRequest in App, AppReplies {
        /// Returns settings and models.
        GetSettings {} -> SettingsSnapshot;
        /// Changes settings.
        ChangeSettings {
            /// The changes.
            patch: SettingsPatch,
        } -> SettingsSnapshot;
        /// Trusts further certificates, in addition to the system's, when connecting to models. Octo parses
        /// them before it stores them.
        TrustCertificates {
            /// Their source.
            source: CertificateSource,
        } -> SettingsSnapshot;
        /// Tests a proxy: requests the first page of one server, with the trusted certificates. Stores nothing.
        TryProxy {
            /// The proxy.
            proxy: ProxyChoice,
        } -> ProxyTestResult;
        /// Adds a web search provider, or changes an existing one; its key is stored in the keychain.
        SaveSearchProvider {
            /// The provider.
            draft: SearchProviderDraft,
        } -> SettingsSnapshot;
        /// Removes a web search provider and its key.
        RemoveSearchProvider {
            /// The provider.
            kind: SearchProviderKind,
        } -> SettingsSnapshot;
        /// Sets the order in which search providers are tried; unnamed ones follow in their current order.
        OrderSearchProviders {
            /// The providers, first to last.
            order: Vec<SearchProviderKind>,
        } -> SettingsSnapshot;
        /// Returns information about this Octo.
        GetAbout {} -> About;
        /// Returns the slash commands for the composer's menu.
        ListCommands {
            /// The folder whose skills count as commands; `None` for the built-in commands and the skills that
            /// need no folder.
            folder: Option<String>,
        } -> Commands;
        /// Returns the profiles a session can start with.
        ListProfiles {} -> Profiles;
        /// Stores a pasted or dropped picture.
        PutBlob {
            /// Its bytes, base64. At most 20 MiB decoded.
            base64: String,
            /// Its name.
            name: String,
        } -> BlobRef;
        /// Turns files into blocks: pictures a model accepts are stored and become pictures, everything else
        /// (folders too) is named by its path. The files themselves are only read.
        AttachFiles {
            /// Absolute paths, at most 200.
            paths: Vec<String>,
        } -> AttachmentResult;
    }
}

/// A working proxy configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct ProxyTestResult {
    /// The server that answered.
    pub host: String,
}

/// Information about this Octo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct About {
    /// The version.
    pub version: String,
    /// The home folder.
    pub home: String,
    /// The person's home folder, for abbreviating paths.
    pub user_home: String,
    /// The system's language, as `en` or `zh`.
    pub system_language: String,
}

/// The slash commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Commands {
    /// The commands, in display order.
    pub commands: Vec<CommandInfo>,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct CommandInfo {
    /// Its name without the slash.
    pub name: String,
    /// Its description: a skill's own text, or `None` for a built-in command, which `command.<name>` of the
    /// word catalogue describes.
    pub description: Option<String>,
    /// A skill's own description in Chinese, if it has one.
    pub description_zh: Option<String>,
    /// A hint for its argument; empty if it takes none. For a built-in command the word catalogue may have
    /// text, as `command.<name>.argument`.
    pub argument: String,
    /// A skill's hint in Chinese, if it has one.
    pub argument_zh: Option<String>,
}

/// The profiles a session can start with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct Profiles {
    /// Octo's own first, then the person's, by name.
    pub profiles: Vec<ProfileInfo>,
}

/// The result of attaching files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct AttachmentResult {
    /// Pictures and files, in the order of the request.
    pub blocks: Vec<Block>,
    /// The errors of files that could not be attached.
    pub refused: Vec<ApiError>,
    /// Notes on files attached in an unexpected way: a picture that is too large, by its path.
    pub remarks: Vec<ApiError>,
}

/// A stored blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct BlobRef {
    /// Its hash.
    pub blob: BlobHash,
    /// Its media type, detected from its bytes.
    pub media_type: String,
    /// Its name.
    pub name: String,
}
