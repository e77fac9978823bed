//! Requests about settings and the application.

use super::{Call, Request};
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
        /// Settings and models.
        GetSettings {} -> SettingsSnapshot;
        /// Change settings.
        ChangeSettings {
            /// What changes.
            patch: SettingsPatch,
        } -> SettingsSnapshot;
        /// Trust other certificates beside the system's where models are reached. They are read before they are kept.
        TrustCertificates {
            /// Where they come from.
            source: CertificateSource,
        } -> SettingsSnapshot;
        /// Try whether the world is reached this way: one server is asked for its first page, with the certificates that
        /// are trusted. Nothing is kept.
        TryProxy {
            /// The way.
            proxy: ProxyChoice,
        } -> ProxyTried;
        /// Use a provider of web searches, or change one in use; its key goes to the keychain.
        SaveSearchProvider {
            /// The provider.
            draft: SearchProviderDraft,
        } -> SettingsSnapshot;
        /// Use a provider of web searches no more, and forget its key.
        RemoveSearchProvider {
            /// Which.
            kind: SearchProviderKind,
        } -> SettingsSnapshot;
        /// In which order the providers in use are asked; those not named keep their order behind.
        OrderSearchProviders {
            /// The first is asked first.
            order: Vec<SearchProviderKind>,
        } -> SettingsSnapshot;
        /// What this Octo is.
        GetAbout {} -> About;
        /// The slash commands, for the composer's menu.
        ListCommands {
            /// The folder whose skills are commands too; none for the built-in ones and the skills that need none.
            folder: Option<String>,
        } -> Commands;
        /// The profiles a session can start with.
        ListProfiles {} -> Profiles;
        /// Keep a pasted or dropped picture.
        PutBlob {
            /// Its bytes, base64. At most 20 MiB decoded.
            base64: String,
            /// Its name.
            name: String,
        } -> BlobRef;
        /// Make blocks of files: pictures a model can be shown are kept and become pictures, everything else
        /// (folders too) is named by its path. The files themselves are only read.
        AttachFiles {
            /// Absolute paths, at most 200.
            paths: Vec<String>,
        } -> Attached;
    }
}

/// A way to the world that works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct ProxyTried {
    /// The server that answered.
    pub host: String,
}

/// What this Octo is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct About {
    /// The version.
    pub version: String,
    /// The home folder.
    pub home: String,
    /// The person's home folder, to show paths short.
    pub user_home: String,
    /// The language the system has, as `en` or `zh`.
    pub system_language: String,
}

/// The slash commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Commands {
    /// In the order they are shown.
    pub commands: Vec<CommandInfo>,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct CommandInfo {
    /// Its name without the slash.
    pub name: String,
    /// What it does: of a skill its own words, none for a built-in command, which has `command.<name>` in the
    /// word catalogue.
    pub description: Option<String>,
    /// A skill's own words in Chinese, where it has them.
    pub description_zh: Option<String>,
    /// What its argument is, as a hint; empty when it takes none. Of a built-in command the catalogue may have words
    /// for it, as `command.<name>.argument`.
    pub argument: String,
    /// A skill's hint in Chinese, where it has one.
    pub argument_zh: Option<String>,
}

/// The profiles a session can start with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Profiles {
    /// Octo's own first, then the person's, by name.
    pub profiles: Vec<ProfileInfo>,
}

/// What became of files that were to be attached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Attached {
    /// Pictures and files, in the order they were named.
    pub blocks: Vec<Block>,
    /// What could not be attached, and why.
    pub refused: Vec<ApiError>,
    /// What was attached in another way than could be expected: a picture that is too large, by its path.
    pub remarks: Vec<ApiError>,
}

/// A kept blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BlobRef {
    /// Its hash.
    pub blob: BlobHash,
    /// Its media type, found from its bytes.
    pub media_type: String,
    /// Its name.
    pub name: String,
}
