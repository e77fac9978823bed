//! Settings the person can change.

use crate::{
    Appearance, BrowserChoice, Budgets, ChatSettings, DesktopSettings, LibrarySettings, LiveTurnLimit, Mode,
    ModelEntry, ModelId, Onboarding, Profile, SearchProviders, ShortcutKeys, SiteSecret, SubAgentLimit,
    TaskSettings, TrashLimits,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The languages the words exist in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
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
#[ts(export)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The settings. Every field has a default, so that an older or a newer file can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export)]
pub struct Settings {
    /// The language of the words.
    pub language: Language,
    /// Light or dark.
    pub theme: Theme,
    /// The model new sessions use.
    pub default_model: Option<ModelId>,
    /// The model for small side tasks (titles, suggestions); none to use the session's own.
    pub light_model: Option<ModelId>,
    /// The mode new sessions start in.
    pub default_mode: Mode,
    /// The profile new sessions start with.
    pub default_profile: Profile,
    /// From which size on a conversation is compacted.
    pub compact_at: CompactionLimit,
    /// Whether the provider's cache is kept alive through pauses, where that saves money.
    pub keep_warm: Switch,
    /// Whether the next message is guessed.
    pub suggestions: Switch,
    /// Whether the system holds commands to the session's folder, where it can.
    pub confinement: Switch,
    /// How much may be spent before Octo pauses and asks.
    pub budgets: Budgets,
    /// Folders used lately, newest first, at most ten.
    pub recent_folders: Vec<String>,
    /// The proxy models are reached through, and the web.
    pub proxy: ProxyChoice,
    /// Certificates trusted beside the system's where models are reached.
    pub certificates: Option<Box<TrustedCertificates>>,
    /// Who is asked when the web is searched, in this order.
    pub search: SearchProviders,
    /// How long and how much the trash keeps.
    pub trash: TrashLimits,
    /// The browser the agent works in.
    pub browser: BrowserChoice,
    /// The secrets that may be typed by name in the browser; their values are in the keychain.
    pub site_secrets: Vec<SiteSecret>,
    /// The chat services a person can write to Octo through.
    pub chats: ChatSettings,
    /// What is done with skills and memories.
    pub library: LibrarySettings,
    /// How many sub-agents may work at once.
    pub sub_agents: SubAgentLimit,
    /// How many turns may work at once; see [`LiveTurnLimit`] for what counts.
    pub live_turns: LiveTurnLimit,
    /// Octo's place in the system.
    pub desktop: DesktopSettings,
    /// Whether the first-run screen was completed or skipped.
    pub welcomed: bool,
    /// How far the first run got.
    pub onboarding: Onboarding,
    /// How the window looks, beside light and dark.
    pub appearance: Appearance,
    /// Keys the person chose in place of the usual ones.
    pub shortcuts: ShortcutKeys,
    /// Whether tasks run at their times, and what new ones begin with.
    pub tasks: TaskSettings,
}

/// A change of settings: what is set changes, the rest stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
#[ts(export, optional_fields)]
pub struct SettingsPatch {
    /// See [`Settings::language`].
    pub language: Option<Language>,
    /// See [`Settings::theme`].
    pub theme: Option<Theme>,
    /// See [`Settings::default_model`].
    pub default_model: Option<ModelId>,
    /// See [`Settings::default_mode`].
    pub default_mode: Option<Mode>,
    /// See [`Settings::default_profile`].
    pub default_profile: Option<Profile>,
    /// See [`Settings::compact_at`].
    pub compact_at: Option<CompactionLimit>,
    /// See [`Settings::keep_warm`].
    pub keep_warm: Option<Switch>,
    /// See [`Settings::suggestions`].
    pub suggestions: Option<Switch>,
    /// See [`Settings::confinement`].
    pub confinement: Option<Switch>,
    /// See [`Settings::budgets`].
    pub budgets: Option<Budgets>,
    /// See [`Settings::proxy`].
    pub proxy: Option<ProxyChoice>,
    /// See [`Settings::trash`].
    pub trash: Option<TrashLimits>,
    /// See [`Settings::library`].
    pub library: Option<LibrarySettings>,
    /// See [`Settings::sub_agents`].
    pub sub_agents: Option<SubAgentLimit>,
    /// See [`Settings::live_turns`].
    pub live_turns: Option<LiveTurnLimit>,
    /// See [`Settings::desktop`].
    pub desktop: Option<DesktopSettings>,
    /// See [`Settings::welcomed`].
    pub welcomed: Option<bool>,
    /// See [`Settings::onboarding`].
    pub onboarding: Option<Onboarding>,
    /// See [`Settings::appearance`].
    pub appearance: Option<Appearance>,
    /// See [`Settings::shortcuts`]; all of them.
    pub shortcuts: Option<ShortcutKeys>,
    /// See [`Settings::tasks`].
    pub tasks: Option<TaskSettings>,
}

/// Whether something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum Switch {
    /// It is.
    #[default]
    On,
    /// It is not.
    Off,
}

/// From which size on a conversation is compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum CompactionLimit {
    /// The smaller of 200,000 tokens and four fifths of the model's window.
    #[default]
    Usual,
    /// So many tokens, or four fifths of the model's window if that is less.
    Tokens {
        /// How many.
        #[ts(type = "number")]
        tokens: u64,
    },
}

/// The proxy models are reached through. This machine itself is never reached through one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum ProxyChoice {
    /// The system's, where it names one.
    #[default]
    System,
    /// None.
    None,
    /// This one.
    Manual {
        /// An address of http, https, socks5 (names are looked up here) or socks5h (at the proxy), without a name or a
        /// password: settings hold no secrets.
        url: String,
    },
}

/// Certificates of authorities the person trusts beside the system's: a company's gateway or proxy often has its own.
/// They are no secret. What was in the file is kept, not its place: whoever may write there later changes nothing here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct TrustedCertificates {
    /// The certificates as PEM, and nothing else.
    pub pem: String,
    /// How many they are.
    pub count: u32,
    /// The file they were read from; none where they were pasted.
    pub file: Option<String>,
}

/// Where certificates to trust come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
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
    /// Nowhere: only the system's are trusted again.
    Nothing,
}

/// Settings, models and what is true of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SettingsSnapshot {
    /// The settings.
    pub settings: Settings,
    /// The connected models, in the order they were added.
    pub models: Vec<ModelEntry>,
    /// Whether keys can be kept.
    pub keychain: KeychainState,
}

/// Whether keys can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(export)]
pub enum KeychainState {
    /// The system's keychain works.
    Available,
    /// There is none: keys are kept for this run only.
    Unavailable,
}
