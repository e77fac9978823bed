//! Settings the person can change.

use crate::{
    Appearance, BrowserChoice, Budgets, ChatSettings, CommandNetwork, DesktopSettings, LibrarySettings,
    LiveTurnLimit, Mode, ModelEntry, ModelId, Onboarding, Profile, SearchProviders, ShortcutKeys, SiteSecret,
    SubAgentLimit, TaskSettings, TrashLimits,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The languages of the word catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Language {
    /// The system's language.
    #[default]
    System,
    /// English.
    En,
    /// Chinese.
    Zh,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Theme {
    /// Follows the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Declares [`Settings`] and [`SettingsPatch`]. A field with `=> T` is also one of the patch, and `T` is the type
/// of its new value.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $type:ty $(=> $new:ty)?,)*) => {
        /// The settings. Every field has a default, which keeps older and newer files readable.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(default)]
        #[ts(export, export_to = "protocol.ts")]
        pub struct Settings {
            $($(#[$doc])* pub $name: $type,)*
        }

        /// A change of settings: only fields that are set change, each as a whole.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(default)]
        #[ts(export, export_to = "protocol.ts", optional_fields)]
        pub struct SettingsPatch {
            $($(
                #[doc = concat!(" See [`Settings::", stringify!($name), "`].")]
                pub $name: Option<$new>,
            )?)*
        }

        impl SettingsPatch {
            /// Applies the change.
            pub fn apply(self, settings: &mut Settings) {
                $($(
                    if let Some(value) = self.$name {
                        let value: $new = value;
                        settings.$name = value.into();
                    }
                )?)*
            }
        }
    };
}

settings! {
    /// The display language.
    language: Language => Language,
    /// Light or dark.
    theme: Theme => Theme,
    /// The model new sessions use.
    default_model: Option<ModelId> => ModelId,
    /// The model for small side tasks (titles, suggestions); `None` to use the session's own.
    light_model: Option<ModelId>,
    /// The mode new sessions start in.
    default_mode: Mode => Mode,
    /// The profile new sessions start with.
    default_profile: Profile => Profile,
    /// The size above which Octo compacts a conversation.
    compact_at: CompactionLimit => CompactionLimit,
    /// Whether Octo keeps the provider's cache alive through pauses, if that saves money.
    keep_warm: Switch => Switch,
    /// Whether Octo guesses the person's next message.
    suggestions: Switch => Switch,
    /// Whether the system confines commands to the session's folder, if it can.
    confinement: Switch => Switch,
    /// The network of commands. Settings without it are stored and sent as before there was one.
    #[serde(skip_serializing_if = "CommandNetwork::is_open")]
    #[ts(optional, as = "Option<CommandNetwork>")]
    command_network: CommandNetwork => CommandNetwork,
    /// The spending limits at which Octo pauses and asks.
    budgets: Budgets => Budgets,
    /// Recently used folders, newest first, at most ten.
    recent_folders: Vec<String>,
    /// The proxy for connections to models and the web.
    proxy: ProxyChoice => ProxyChoice,
    /// Certificates trusted in addition to the system's for connections to models.
    certificates: Option<Box<TrustedCertificates>>,
    /// The providers of web searches, in the order in which they are tried.
    search: SearchProviders,
    /// The limits of the trash.
    trash: TrashLimits => TrashLimits,
    /// The browser the agent works in.
    browser: BrowserChoice,
    /// The secrets that the agent can type by name in the browser; their values are in the keychain.
    site_secrets: Vec<SiteSecret>,
    /// The chat services through which a person can write to Octo.
    chats: ChatSettings,
    /// The handling of skills and memories.
    library: LibrarySettings => LibrarySettings,
    /// The maximum number of sub-agents that work at once.
    sub_agents: SubAgentLimit => SubAgentLimit,
    /// The maximum number of turns that run at once; see [`LiveTurnLimit`] for the counting.
    live_turns: LiveTurnLimit => LiveTurnLimit,
    /// System integration.
    desktop: DesktopSettings => DesktopSettings,
    /// Whether the person completed or skipped the first-run screen.
    welcomed: bool => bool,
    /// The progress of the first run.
    onboarding: Onboarding => Onboarding,
    /// The look of the window, apart from light and dark.
    appearance: Appearance => Appearance,
    /// Shortcuts the person chose in place of the defaults.
    shortcuts: ShortcutKeys => ShortcutKeys,
    /// Whether tasks run on schedule, and the defaults of new ones.
    tasks: TaskSettings => TaskSettings,
}

/// Whether a feature is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum Switch {
    /// It is on.
    #[default]
    On,
    /// It is off.
    Off,
}

/// The size above which Octo compacts a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CompactionLimit {
    /// The smaller of 200,000 tokens and four fifths of the model's window.
    #[default]
    Usual,
    /// This many tokens, or four fifths of the model's window if that is less.
    Tokens {
        /// The number of tokens.
        #[ts(type = "number")]
        tokens: u64,
    },
}

/// The proxy for connections to models. This machine itself is never reached through one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum ProxyChoice {
    /// The system's proxy, if it names one.
    #[default]
    System,
    /// No proxy.
    None,
    /// A given proxy.
    Manual {
        /// An http, https, socks5 (names are resolved locally) or socks5h (names are resolved by the proxy)
        /// address, without a user name or password: settings contain no secrets.
        url: String,
    },
}

/// Certificates of authorities the person trusts in addition to the system's: a company's gateway or proxy
/// often has its own. They are not secret. Octo stores the file's content, not its path: a later change of the
/// file has no effect here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct TrustedCertificates {
    /// The certificates as PEM, and nothing else.
    pub pem: String,
    /// The number of certificates.
    pub count: u32,
    /// The file they were read from; `None` if the person pasted them.
    pub file: Option<String>,
}

/// The source of certificates to trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum CertificateSource {
    /// A file in PEM form, read once.
    File {
        /// Its absolute path.
        path: String,
    },
    /// Pasted text in PEM form.
    Text {
        /// The text.
        pem: String,
    },
    /// No certificates: only the system's are trusted again.
    Nothing,
}

/// Settings, models and facts about this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "protocol.ts")]
pub struct SettingsSnapshot {
    /// The settings.
    pub settings: Settings,
    /// The connected models, in the order they were added.
    pub models: Vec<ModelEntry>,
    /// Whether Octo can store keys.
    pub keychain: KeychainState,
}

/// Whether Octo can store keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export, export_to = "protocol.ts")]
pub enum KeychainState {
    /// The system's keychain works.
    Available,
    /// There is no keychain: keys are kept until Octo ends.
    Unavailable,
}
