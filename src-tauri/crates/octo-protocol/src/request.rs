//! What a client may ask. One enum per domain under [`Request`], and a type per request that knows its
//! reply, so that Rust and TypeScript callers are both checked.

use crate::{
    AboveIdeal, Answer, ApiError, BilledCall, BlobHash, Block, BudgetAnswer, CertificateSource, CommandTrial,
    CompanionRole, CompareWith, Draft, Effort, EmptyReport, FileComparison, FileSelection, Grants, HostReply,
    HostRequest, LocalServers, MessageId, Millis, MissLine, MissedCall, Mode, ModelCheck, ModelDraft,
    ModelEntry, ModelId, ModelSpeed, OnConflict, PolicyRule, PolicyState, PresetList, Profile, QuestionId,
    QueuedId, RemoteModels, RestorePreview, RestoreReport, RestoreScope, Rule, SearchProviderDraft,
    SearchProviderKind, SessionHit, SessionId, SessionInfo, SessionSnapshot, SettingsPatch, SettingsSnapshot,
    SpendingLine, SwitchCost, TaskChanges, TaskNumber, TaskTree, TaskView, TimeCollected, TimeSpace,
    TranscriptPage, TrashChoice, TrashId, TrashKind, TrashOverview, TrashPage, TrashPreview, TrashRestored,
    TrashTotals, TurnId,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use ts_rs::TS;

/// Ties a request to its reply.
pub trait Call: Into<Request> {
    /// What comes back.
    type Reply: Serialize + DeserializeOwned;
}

/// Declares a domain's requests: one struct each, the domain enum over them, `Call` for each and the
/// TypeScript map from request to reply.
macro_rules! domain {
    (
        $(#[$meta:meta])*
        $domain:ident in $slot:ident, $map:ident {
            $( $(#[$doc:meta])* $name:ident { $( $(#[$fdoc:meta])* $field:ident : $ty:ty ),* $(,)? } -> $reply:ty; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
        #[serde(tag = "type", rename_all = "snake_case")]
        #[ts(export)]
        pub enum $domain {
            $( $(#[$doc])* $name($name), )*
        }
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
            #[ts(export)]
            pub struct $name { $( $(#[$fdoc])* pub $field: $ty, )* }

            impl From<$name> for Request {
                fn from(call: $name) -> Request {
                    Request::$slot($domain::$name(call))
                }
            }
            impl Call for $name {
                type Reply = $reply;
            }
        )*

        /// The reply of each request of the domain; only its TypeScript form is used.
        #[derive(TS)]
        #[ts(export, rename_all = "snake_case")]
        #[allow(non_snake_case, dead_code, reason = "field names are the request names the map is keyed by")]
        pub struct $map { $( $name: $reply, )* }
    };
}
use domain;

mod browser;

pub use browser::*;

/// Everything a client may ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "domain", content = "call", rename_all = "snake_case")]
#[ts(export)]
pub enum Request {
    /// Sessions.
    Sessions(SessionRequest),
    /// Models.
    Models(ModelRequest),
    /// What model calls used and cost.
    Ledger(LedgerRequest),
    /// Settings and the application.
    App(AppRequest),
    /// The time machine.
    Time(TimeRequest),
    /// The trash.
    Trash(TrashRequest),
    /// The person's own rules.
    Policy(PolicyRequest),
    /// The person's browser.
    Browser(BrowserRequest),
    /// What only a desktop can do.
    Host(HostRequest),
}

impl From<HostRequest> for Request {
    fn from(request: HostRequest) -> Request {
        Request::Host(request)
    }
}

impl Call for HostRequest {
    type Reply = HostReply;
}

/// A reply that says only that it was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct Done {}

domain! {
    /// Requests about sessions.
    SessionRequest in Sessions, SessionReplies {
        /// A page of the list: pinned first, then newest first.
        ListSessions {
            /// Only sessions whose title contains this; empty for all.
            query: String,
            /// How many to skip.
            offset: u32,
            /// How many at most (capped at 200).
            limit: u32,
        } -> SessionList;
        /// Search titles and texts.
        SearchSessions {
            /// What to look for.
            query: String,
            /// How many hits at most (capped at 100).
            limit: u32,
        } -> SessionHits;
        /// A new session and its first message, in one step: both happen or neither.
        StartSession {
            /// The absolute folder to work in.
            folder: String,
            /// The profile.
            profile: Profile,
            /// The mode.
            mode: Mode,
            /// The model; none for the default one.
            model: Option<ModelId>,
            /// How much the model is asked to reason; none for what it does by itself.
            #[serde(default)]
            #[ts(optional)]
            effort: Option<Effort>,
            /// The first message.
            blocks: Vec<Block>,
        } -> SessionInfo;
        /// Start the built-in demo in a throw-away folder. No model, no key.
        StartDemo {} -> SessionInfo;
        /// The session as of now.
        OpenSession {
            /// Which.
            session: SessionId,
        } -> SessionSnapshot;
        /// A page of messages before one.
        Messages {
            /// Which session.
            session: SessionId,
            /// Messages before this one.
            before: MessageId,
            /// How many at most (capped at 500).
            limit: u32,
        } -> TranscriptPage;
        /// Send a message: it starts a turn, or waits in the queue while one runs. A message that is a
        /// slash command is carried out instead.
        Send {
            /// Which session.
            session: SessionId,
            /// The message.
            blocks: Vec<Block>,
        } -> Sent;
        /// Stop the running turn. Partial work stays.
        Stop {
            /// Which session.
            session: SessionId,
        } -> Done;
        /// End a command that runs in the background. The model is told with its next turn.
        StopCommand {
            /// Which session.
            session: SessionId,
            /// The command's handle.
            handle: String,
        } -> Done;
        /// Answer a turn that waits because a budget is used up.
        AnswerBudget {
            /// Which session.
            session: SessionId,
            /// The answer.
            answer: BudgetAnswer,
        } -> Done;
        /// How much the model is asked to reason from the next call on; none for what it does by itself.
        SetEffort {
            /// Which session.
            session: SessionId,
            /// How much.
            effort: Option<Effort>,
        } -> Done;
        /// What a change of the model would cost at the next call.
        EstimateSwitch {
            /// Which session.
            session: SessionId,
            /// The other model.
            model: ModelId,
        } -> SwitchCost;
        /// Run the failed or stopped turn's last step again, without a new message.
        RetryTurn {
            /// Which session.
            session: SessionId,
        } -> Done;
        /// Answer a question.
        AnswerQuestion {
            /// Which session.
            session: SessionId,
            /// Which question.
            question: QuestionId,
            /// What the person says.
            answer: Answer,
        } -> Done;
        /// Change a waiting message.
        EditQueued {
            /// Which session.
            session: SessionId,
            /// Which message.
            queued: QueuedId,
            /// Its new content.
            blocks: Vec<Block>,
        } -> Done;
        /// Remove a waiting message.
        RemoveQueued {
            /// Which session.
            session: SessionId,
            /// Which message.
            queued: QueuedId,
        } -> Done;
        /// Change the mode, also while a turn runs.
        SetMode {
            /// Which session.
            session: SessionId,
            /// The new mode.
            mode: Mode,
        } -> Done;
        /// Change the model; takes effect at the next step.
        SetModel {
            /// Which session.
            session: SessionId,
            /// The new model.
            model: ModelId,
        } -> Done;
        /// Change the folder; takes effect at the next step.
        SetFolder {
            /// Which session.
            session: SessionId,
            /// The absolute folder.
            folder: String,
        } -> Done;
        /// Keep what was typed but not sent.
        SetDraft {
            /// Which session.
            session: SessionId,
            /// What was typed and attached; empty to forget it.
            draft: Draft,
        } -> Done;
        /// Keep what was typed but not sent for a session that is not started yet.
        SetNewDraft {
            /// What was typed and attached; empty to forget it.
            draft: Draft,
        } -> Done;
        /// What [`SetNewDraft`] kept.
        GetNewDraft {} -> Draft;
        /// Rename.
        RenameSession {
            /// Which session.
            session: SessionId,
            /// The new title.
            title: String,
        } -> Done;
        /// Pin or unpin.
        PinSession {
            /// Which session.
            session: SessionId,
            /// Whether it is to be pinned.
            pinned: bool,
        } -> Done;
        /// Delete to the trash. A running turn is stopped first.
        DeleteSession {
            /// Which session.
            session: SessionId,
        } -> Done;
        /// Bring a deleted session back.
        RestoreSession {
            /// Which session.
            session: SessionId,
        } -> SessionInfo;
    }
}

domain! {
    /// Requests about models.
    ModelRequest in Models, ModelReplies {
        /// Add or change a model; the key goes to the keychain.
        SaveModel {
            /// The model.
            draft: ModelDraft,
        } -> ModelEntry;
        /// Ask the model for one word, without saving anything.
        TestModel {
            /// The model.
            draft: ModelDraft,
        } -> ModelCheck;
        /// Remove a model and its key.
        RemoveModel {
            /// Which.
            model: ModelId,
        } -> Done;
        /// The providers that can be picked, with what is known of their models. Nothing is sent anywhere.
        ListPresets {} -> PresetList;
        /// Look for model servers on this machine. Only this machine is asked, at the ports the presets name.
        FindLocalServers {} -> LocalServers;
        /// Ask the drafted provider which models it has. The draft's model may be empty.
        ListRemoteModels {
            /// The provider, as in a model's draft.
            draft: ModelDraft,
        } -> RemoteModels;
        /// Let a connected model answer a short question and time it. Only one is timed at a time: a second
        /// request waits for the first.
        MeasureModel {
            /// Which.
            model: ModelId,
        } -> ModelSpeed;
        /// Stop timing models: those being timed, and those waiting for it, end with an error.
        StopMeasuring {} -> Done;
        /// The model for small side tasks; none to use the session's own.
        ChooseLightModel {
            /// Which.
            model: Option<ModelId>,
        } -> Done;
        /// Connect the model the presets name beside another, at the same address with the same key and headers, and
        /// choose it. Where it is connected there already, it is only chosen.
        AddCompanion {
            /// Beside which.
            model: ModelId,
            /// What for.
            role: CompanionRole,
        } -> ModelEntry;
        /// The model that takes over while another's service fails; none for none.
        ChooseFallback {
            /// Whose.
            model: ModelId,
            /// Which takes over.
            fallback: Option<ModelId>,
        } -> Done;
    }
}

domain! {
    /// Requests about what model calls used and cost.
    LedgerRequest in Ledger, LedgerReplies {
        /// The model calls of a turn, oldest first.
        CallsOfTurn {
            /// Which session.
            session: SessionId,
            /// Which turn.
            turn: TurnId,
        } -> BilledCalls;
        /// What was spent between two moments, in all sessions.
        ReportSpending {
            /// From when on.
            #[ts(type = "number")]
            from: Millis,
            /// Up to when; not included.
            #[ts(type = "number")]
            to: Millis,
        } -> SpendingReport;
    }
}

domain! {
    /// Requests about the trash.
    TrashRequest in Trash, TrashReplies {
        /// How much there is, and of which projects.
        GetTrash {} -> TrashOverview;
        /// A page of what is in the trash, newest first.
        ListTrash {
            /// Only things whose name or old folder contains this; empty for all.
            query: String,
            /// Only things of this kind.
            kind: Option<TrashKind>,
            /// Only things of this project.
            project: Option<String>,
            /// How many to skip.
            offset: u32,
            /// How many at most (capped at 500).
            limit: u32,
        } -> TrashPage;
        /// Look at one thing.
        PreviewTrash {
            /// Which.
            id: TrashId,
        } -> TrashPreview;
        /// Bring things back. Each is restored or not, on its own.
        RestoreTrash {
            /// Which.
            ids: Vec<TrashId>,
            /// The absolute folder to put files into; none for where they were.
            to: Option<String>,
            /// What to do where a name is taken.
            #[serde(default)]
            on_conflict: OnConflict,
        } -> TrashRestored;
        /// How much would go.
        CountTrash {
            /// What.
            which: TrashChoice,
        } -> TrashTotals;
        /// Delete for good. The client has asked the person.
        EmptyTrash {
            /// What.
            which: TrashChoice,
        } -> EmptyReport;
    }
}

domain! {
    /// Requests about the person's own rules.
    PolicyRequest in Policy, PolicyReplies {
        /// `policy.toml` as it stands.
        GetPolicy {} -> PolicyState;
        /// Add a rule to `policy.toml`. The file's comments and layout stay; one that is broken is never written to.
        AddPolicyRule {
            /// The rule.
            rule: PolicyRule,
            /// What the file held when the person decided, as [`PolicyState::stamp`].
            stamp: String,
        } -> PolicyState;
        /// Take a rule out of `policy.toml`, in the same way.
        RemovePolicyRule {
            /// The rule.
            rule: PolicyRule,
            /// As in [`AddPolicyRule`].
            stamp: String,
        } -> PolicyState;
        /// What was allowed with "always", in all folders.
        ListGrants {} -> Grants;
        /// Allow something no more. Holds for calls decided on from now on.
        RemoveGrant {
            /// The folder it was allowed in.
            folder: String,
            /// What was allowed.
            rule: Rule,
        } -> Grants;
        /// What would be done with a command. Nothing is run.
        TryCommand {
            /// The command line.
            line: String,
            /// The folder it would run in; none for the one used last.
            folder: Option<String>,
        } -> CommandTrial;
    }
}

domain! {
    /// Requests to the time machine.
    TimeRequest in Time, TimeReplies {
        /// The tasks of a session.
        GetTaskTree {
            /// Which session.
            session: SessionId,
        } -> TaskTree;
        /// What a task did to files.
        GetTaskChanges {
            /// Which session.
            session: SessionId,
            /// Which task.
            task: TaskNumber,
        } -> TaskChanges;
        /// A file at the end of a task beside another state of it.
        CompareFile {
            /// Which session.
            session: SessionId,
            /// Which task.
            task: TaskNumber,
            /// The path, as [`GetTaskChanges`] writes it.
            path: String,
            /// The other state.
            with: CompareWith,
        } -> FileComparison;
        /// What going to a task would do to files. Nothing is done.
        PreviewRestore {
            /// Which session.
            session: SessionId,
            /// The task.
            task: TaskNumber,
            /// Which files.
            selection: FileSelection,
        } -> RestorePreview;
        /// Go to a task, or bring chosen files of it back.
        RestoreTask {
            /// Which session.
            session: SessionId,
            /// The task.
            task: TaskNumber,
            /// What of it.
            scope: RestoreScope,
            /// Which files.
            selection: FileSelection,
            /// Paths in conflict that may be overwritten, as the preview writes them.
            overwrite: Vec<String>,
        } -> RestoreReport;
        /// Give the present state a name.
        AddCheckpoint {
            /// Which session.
            session: SessionId,
            /// The name.
            name: String,
        } -> TaskView;
        /// What the time machine takes on the disk.
        GetTimeSpace {} -> TimeSpace;
        /// Remove what nothing refers to, and the oldest beyond this many bytes.
        CollectTime {
            /// The budget in bytes.
            #[ts(type = "number")]
            budget: u64,
        } -> TimeCollected;
    }
}

domain! {
    /// Requests about settings and the application.
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
        ListCommands {} -> Commands;
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

/// A page of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionList {
    /// The page.
    pub sessions: Vec<SessionInfo>,
    /// How many match in all.
    #[ts(type = "number")]
    pub total: u64,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SessionHits {
    /// Best first.
    pub hits: Vec<SessionHit>,
}

/// What became of a sent message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(export)]
pub enum Sent {
    /// It started a turn.
    Started,
    /// It waits in the queue.
    Queued {
        /// Its id there.
        id: QueuedId,
    },
    /// It was a slash command and was carried out or answered; see [`crate::Event::CommandAnswered`].
    Command,
    /// It was `/new`: the client goes to the new-session screen.
    New,
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
    /// Its name without the slash; `command.<name>` is its description in the word catalogue.
    pub name: String,
    /// What its argument is, as a hint; empty when it takes none.
    pub argument: String,
}

/// Lines of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct BilledCalls {
    /// Oldest first.
    pub calls: Vec<BilledCall>,
}

/// What was spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export)]
pub struct SpendingReport {
    /// By day, model and purpose, oldest day first.
    pub lines: Vec<SpendingLine>,
    /// Why calls read less from the cache than they should have, the dearest reason first.
    pub misses: Vec<MissLine>,
    /// The calls that paid most for it, the dearest first; at most twelve.
    pub dearest: Vec<MissedCall>,
    /// What was spent beyond the ideal.
    pub above: AboveIdeal,
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
