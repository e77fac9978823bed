//! Starts a run: selects the session and sends the message that begins the turn.

use crate::{
    args::{ExecArguments, SessionChoice},
    exit::Failure,
    model::ModelChoice,
    output::{catalogue_text, print_error_line},
};
use octo_core::Octo;
use octo_protocol::{
    ApiError, Block, Effort, ListSessions, Mode, ModelId, OpenSession, Send, SendOutcome, SessionId,
    SessionInfo, SetFolder, SetMode, SetModel, Settings, Source, StartDemo, StartSession,
};
use std::path::PathBuf;

/// Input of a run.
#[derive(Clone, Debug)]
pub(super) struct RunInput {
    /// Absolute folder.
    pub folder: PathBuf,
    /// Text of the message.
    pub prompt: String,
}

/// A started turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StartedTurn {
    /// The session.
    pub session: SessionId,
    /// Sequence number of the session's last event before this run; 0 for a new session.
    pub last_seq: u64,
    /// Effect of the message.
    pub effect: MessageEffect,
}

/// Effect of a sent message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageEffect {
    /// It started a turn.
    Turn,
    /// It was a slash command, which was answered; only `/retry` starts a turn.
    Command,
    /// It was `/new`, which has no effect without a window.
    New,
}

impl From<SendOutcome> for MessageEffect {
    fn from(outcome: SendOutcome) -> Self {
        match outcome {
            SendOutcome::Started | SendOutcome::Queued { .. } => Self::Turn,
            SendOutcome::Command => Self::Command,
            SendOutcome::New => Self::New,
        }
    }
}

/// Starts the turn.
pub(super) async fn begin(
    octo: &Octo,
    arguments: &ExecArguments,
    choice: &ModelChoice,
    settings: &Settings,
    task: RunInput,
) -> Result<StartedTurn, Failure> {
    let folder = task.folder.to_str().map(str::to_owned).ok_or_else(|| {
        ApiError::new("exec.folder").arg("path", task.folder.display()).detail("the path is not UTF-8")
    })?;
    let blocks = vec![Block::Text { text: task.prompt }];
    if *choice == ModelChoice::Demo {
        return begin_demo(octo, arguments, settings, blocks).await;
    }
    let model = choice.register(octo).await?;
    let session = match arguments.session {
        None => {
            let profile = arguments.profile.clone().unwrap_or(settings.default_profile.clone());
            let mode = arguments.mode.map_or(settings.default_mode, Mode::from);
            let effort = arguments.effort.map(Effort::from);
            let start = StartSession { folder, profile, mode, model, effort, title: None, blocks };
            let started = octo.call(start).await?;
            return Ok(StartedTurn { session: started.id, last_seq: 0, effect: MessageEffect::Turn });
        }
        Some(SessionChoice::Id(id)) => id,
        Some(SessionChoice::Last) => newest_session(octo, &folder).await?,
    };
    let snapshot = octo.call(OpenSession { session }).await?;
    let last_seq = snapshot.seq;
    apply_options(octo, arguments, snapshot.info, model, folder).await?;
    let effect = octo.call(Send { session, blocks }).await?.into();
    Ok(StartedTurn { session, last_seq, effect })
}

/// Prepares the demo, which uses its own folder and session.
async fn begin_demo(
    octo: &Octo,
    arguments: &ExecArguments,
    settings: &Settings,
    blocks: Vec<Block>,
) -> Result<StartedTurn, Failure> {
    let started = octo.call(StartDemo {}).await?;
    let session = started.id;
    if arguments.cwd.is_some() {
        print_error_line(&format!(
            "{} {}",
            catalogue_text(settings.language, "exec.demo_folder"),
            started.folder
        ));
    }
    if let Some(mode) = arguments.mode {
        octo.call(SetMode { session, mode: mode.into() }).await?;
    }
    let effect = octo.call(Send { session, blocks }).await?.into();
    Ok(StartedTurn { session, last_seq: 0, effect })
}

/// Applies the options of the command line to a session.
async fn apply_options(
    octo: &Octo,
    arguments: &ExecArguments,
    info: SessionInfo,
    model: Option<ModelId>,
    folder: String,
) -> Result<(), Failure> {
    let session = info.id;
    if arguments.effort.is_some_and(|effort| Some(Effort::from(effort)) != info.effort) {
        return Err(Failure::Usage("--effort is for a new session: leave --session out".to_owned()));
    }
    if info.source == Source::Demo && model.is_some() {
        return Err(Failure::Usage("this session is the demo: it speaks to no model".to_owned()));
    }
    if arguments.profile.as_ref().is_some_and(|profile| *profile != info.profile) {
        return Err(Failure::Usage("a session keeps its profile: leave --profile out".to_owned()));
    }
    if arguments.cwd.is_some() && folder != info.folder {
        octo.call(SetFolder { session, folder }).await?;
    }
    if let Some(mode) = arguments.mode.map(Mode::from).filter(|&mode| mode != info.mode) {
        octo.call(SetMode { session, mode }).await?;
    }
    if let Some(model) = model.filter(|&model| Some(model) != info.model) {
        octo.call(SetModel { session, model }).await?;
    }
    Ok(())
}

/// Number of sessions requested at a time; the protocol's own maximum.
const PAGE: u32 = 200;

/// Returns the folder's most recently used session. Excludes the demo's and those of scheduled tasks.
async fn newest_session(octo: &Octo, folder: &str) -> Result<SessionId, ApiError> {
    let mut newest: Option<SessionInfo> = None;
    let mut offset = 0;
    loop {
        let page = octo
            .call(ListSessions { query: String::new(), filter: Default::default(), offset, limit: PAGE })
            .await?
            .sessions;
        let length = u32::try_from(page.len()).unwrap_or(PAGE);
        let is_meant = |info: &SessionInfo| {
            info.folder == folder && !matches!(info.source, Source::Demo | Source::Task | Source::Chat)
        };
        for info in page.into_iter().filter(is_meant) {
            if newest
                .as_ref()
                .is_none_or(|newest| (newest.updated_at, newest.id) < (info.updated_at, info.id))
            {
                newest = Some(info);
            }
        }
        offset += length;
        if length < PAGE {
            break;
        }
    }
    newest.map(|info| info.id).ok_or_else(|| ApiError::new("exec.no_last").arg("path", folder))
}
