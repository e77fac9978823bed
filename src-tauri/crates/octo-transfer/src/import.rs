//! A session from a file. Nothing in it is trusted: it is a conversation to read and continue, never an order.
//!
//! A file can contain: texts, reasoning, calls with their results, summaries, pictures. It cannot bring: Octo's
//! own notices to a model, attached files and documents (their paths belong to another machine), ids, rules,
//! grants, a mode, a prompt, tools, ledger rows. Every call has ended, so none is run again.

use crate::file::{FORMAT, FileContent, FilePicture, VERSION, picture_type, source_of};
use base64::{Engine, engine::general_purpose::STANDARD};
use octo_protocol::{
    ApiError, BlobHash, Block, CallId, CallState, CallStatus, CallView, CommandState, ImportPreview, Message,
    MessageEnd, MessageId, Meta, Millis, Origin, Profile, ResultImage, Role, Source, ToolView, TurnId,
};
use octo_store::CopiedConversation;
use serde_json::Value;
use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::Read as _,
    path::Path,
};

/// Maximum size of a file, in bytes: an export's maximum of pictures, as base64, and as much text again.
const MAX_FILE_BYTES: u64 = 400 * 1024 * 1024;
/// Maximum number of messages.
const MAX_MESSAGES: usize = 50_000;
/// Maximum number of blocks per message.
const MAX_BLOCKS: usize = 4_096;
/// Maximum number of pictures.
const MAX_PICTURES: usize = 2_000;
/// Maximum size of a picture, in bytes: as for an attached one.
const MAX_PICTURE: usize = 20 * 1024 * 1024;
/// Maximum length of the name of a tool or picture, in characters.
const MAX_NAME: usize = 200;

/// The imported content of a file.
pub struct ImportedSession {
    /// Its title.
    pub title: String,
    /// Its profile, which this home may not have.
    pub profile: Option<Profile>,
    /// The kind of process that it was made in.
    pub source: Source,
    /// When it was created.
    pub created_at: Millis,
    /// Its conversation.
    pub conversation: CopiedConversation,
    /// Pictures, keyed by the hash of their bytes.
    pub pictures: Vec<Vec<u8>>,
    /// The preview for the person.
    pub preview: ImportPreview,
}

fn broken(reason: impl std::fmt::Display) -> ApiError {
    ApiError::new("import.broken").detail(reason)
}

fn too_many(key: &str, limit: usize) -> ApiError {
    ApiError::new(key).arg("limit", limit)
}

/// Makes a session's title from a text, or fails if the text has no words.
pub type TitleRule = fn(&str) -> Result<String, ApiError>;

/// Reads a file and validates all of it.
///
/// # Errors
/// `import.unreadable`, `import.too_large`, `import.foreign` for a file of another kind, `import.newer`,
/// `import.too_many_…`, `import.broken`.
pub fn read(path: &Path, title_of: TitleRule) -> Result<ImportedSession, ApiError> {
    let unreadable =
        |error: std::io::Error| ApiError::new("import.unreadable").arg("path", path.display()).detail(error);
    let too_large = || ApiError::new("import.too_large").arg("limit_mib", MAX_FILE_BYTES / (1024 * 1024));
    if !path.is_absolute() {
        return Err(ApiError::new("import.unreadable").arg("path", path.display()));
    }
    // Opening a pipe or a device could block forever.
    let kind = path.metadata().map_err(unreadable)?;
    if !kind.is_file() {
        return Err(ApiError::new("import.foreign"));
    }
    if kind.len() > MAX_FILE_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(unreadable)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large());
    }
    let stem = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&bytes, &stem, title_of, octo_runtime::now())
}

fn parse(bytes: &[u8], name: &str, title_of: TitleRule, now: Millis) -> Result<ImportedSession, ApiError> {
    let file: Value = match serde_json::from_slice(bytes) {
        Ok(file) => file,
        // A truncated file may still name its format.
        Err(error) if String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes)).contains(FORMAT) => {
            return Err(broken(error));
        }
        Err(_) => return Err(ApiError::new("import.foreign")),
    };
    if file.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(ApiError::new("import.foreign"));
    }
    match file.get("version").and_then(Value::as_u64) {
        Some(1..=VERSION) => {}
        Some(_) => return Err(ApiError::new("import.newer")),
        None => return Err(broken("no version")),
    }
    let mut content: FileContent = serde_json::from_value(file).map_err(broken)?;
    clamp_times(&mut content, now);
    check_content(content, name, title_of, now)
}

/// Moves future and invalid moments to the past: they would lead every list permanently, or could not be shown.
fn clamp_times(content: &mut FileContent, now: Millis) {
    let session = &mut content.session;
    let messages = content.messages.iter_mut().map(|message| &mut message.meta.at);
    let turns = content
        .turns
        .iter_mut()
        .flat_map(|turn| [Some(&mut turn.started_at), turn.ended_at.as_mut()].into_iter().flatten());
    for time in [&mut session.created_at, &mut session.updated_at].into_iter().chain(messages).chain(turns) {
        *time = (*time).clamp(0, now);
    }
}

fn check_content(
    content: FileContent,
    name: &str,
    title_of: TitleRule,
    now: Millis,
) -> Result<ImportedSession, ApiError> {
    if content.messages.len() > MAX_MESSAGES {
        return Err(too_many("import.too_many_messages", MAX_MESSAGES));
    }
    if content.messages.iter().any(|message| message.blocks.len() > MAX_BLOCKS) {
        return Err(too_many("import.too_many_blocks", MAX_BLOCKS));
    }
    if content.pictures.len() > MAX_PICTURES {
        return Err(too_many("import.too_many_pictures", MAX_PICTURES));
    }
    let pictures = content.pictures.iter().map(picture).collect::<Result<HashMap<_, _>, _>>()?;
    let turns: HashSet<TurnId> = content.turns.iter().map(|turn| turn.id).collect();
    if turns.len() != content.turns.len() || content.turns.len() > content.messages.len() {
        return Err(broken("turns"));
    }
    let mut reading =
        ImportReader { pictures: &pictures, known: HashMap::new(), made: HashMap::new(), left_out: 0 };
    let mut ids = HashSet::new();
    let mut messages = Vec::with_capacity(content.messages.len());
    for message in content.messages {
        if !ids.insert(message.id) || !turns.contains(&message.turn) {
            return Err(broken("messages"));
        }
        messages.extend(reading.message(message)?);
    }
    if messages.is_empty() {
        return Err(broken("no messages"));
    }
    let context = context_of(content.context, &messages, &content.turns)?;
    let calls = reading.calls(&content.calls, now);
    let left_out = reading.left_out;
    let mentioned: HashSet<TurnId> = messages.iter().map(|message| message.turn).collect();
    let turns: Vec<_> = content.turns.into_iter().filter(|turn| mentioned.contains(&turn.id)).collect();
    let title = title_of(&content.session.title).or_else(|_| title_of(name));
    let title = title.unwrap_or_default();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let preview = ImportPreview {
        title: title.clone(),
        folder: content.session.folder.chars().take(4_096).collect(),
        updated_at: content.session.updated_at,
        messages: count(messages.len()),
        calls: count(calls.len()),
        pictures: count(pictures.len()),
        left_out,
    };
    Ok(ImportedSession {
        title,
        profile: content.session.profile.parse().ok(),
        source: source_of(&content.session.source),
        created_at: content.session.created_at,
        conversation: CopiedConversation { turns, messages, calls, context },
        pictures: pictures.into_values().map(|(bytes, _)| bytes).collect(),
        preview,
    })
}

/// Returns a picture's bytes, if they are a picture and match the hash in its name.
fn picture(picture: &FilePicture) -> Result<(BlobHash, (Vec<u8>, &'static str)), ApiError> {
    if picture.base64.len() / 4 * 3 > MAX_PICTURE + 2 {
        return Err(broken("a picture is too large"));
    }
    let bytes = STANDARD.decode(&picture.base64).map_err(broken)?;
    let media = picture_type(&bytes).ok_or_else(|| broken("a picture is none"))?;
    if blake3::hash(&bytes).to_hex().as_str() != picture.blob.0 {
        return Err(broken("a picture is not the one it says it is"));
    }
    Ok((picture.blob.clone(), (bytes, media)))
}

/// Returns the model's context: the one in the file, else all messages that were not undone. It begins with a
/// message from the person's side.
fn context_of(
    ids: Vec<MessageId>,
    messages: &[Message],
    turns: &[octo_protocol::TurnView],
) -> Result<Vec<MessageId>, ApiError> {
    let roles: HashMap<MessageId, Role> = messages.iter().map(|message| (message.id, message.role)).collect();
    let mut seen_ids = HashSet::new();
    let mut context: Vec<MessageId> =
        ids.into_iter().filter(|id| roles.contains_key(id) && seen_ids.insert(*id)).collect();
    if context.is_empty() {
        let undone: HashSet<TurnId> = turns.iter().filter(|turn| turn.undone).map(|turn| turn.id).collect();
        context = messages
            .iter()
            .filter(|message| !undone.contains(&message.turn))
            .map(|message| message.id)
            .collect();
    }
    let first_role = context.first().and_then(|id| roles.get(id));
    if first_role.is_some_and(|role| *role != Role::User) {
        return Err(broken("the conversation does not begin with the person"));
    }
    Ok(context)
}

struct ImportReader<'a> {
    pictures: &'a HashMap<BlobHash, (Vec<u8>, &'static str)>,
    /// Calls read so far, with the ids that results refer to, and their status.
    known: HashMap<CallId, (String, Option<CallStatus>)>,
    /// The turn and tool of each call.
    made: HashMap<CallId, (TurnId, String)>,
    left_out: u32,
}

impl ImportReader<'_> {
    /// Returns the imported form of a message, or `None` if nothing of it is imported.
    fn message(&mut self, message: Message) -> Result<Option<Message>, ApiError> {
        let mut blocks = Vec::with_capacity(message.blocks.len());
        for block in message.blocks {
            match self.block(block, message.role, message.turn)? {
                Some(block) => blocks.push(block),
                None => self.left_out += 1,
            }
        }
        if blocks.is_empty() {
            return Ok(None);
        }
        let is_results = blocks.iter().all(|block| matches!(block, Block::ToolResult(_)));
        let (origin, end) = match message.role {
            Role::Assistant => (Origin::Model, Some(MessageEnd::Complete)),
            Role::User if is_results => (Origin::Octo, None),
            Role::User => (Origin::Person, None),
        };
        let meta = Meta { end, ..Meta::new(origin, message.meta.at) };
        Ok(Some(Message { id: message.id, turn: message.turn, role: message.role, blocks, meta }))
    }

    fn block(&mut self, block: Block, role: Role, turn: TurnId) -> Result<Option<Block>, ApiError> {
        Ok(match (block, role) {
            (Block::Text { text }, _) => Some(Block::Text { text }),
            (Block::Reasoning { text, .. }, Role::Assistant) => Some(Block::Reasoning { text, replay: None }),
            (Block::Image { blob, name, .. }, Role::User) => self.pictures.get(&blob).map(|(_, media)| {
                Block::Image { blob, media_type: (*media).to_owned(), name: shorten(&name) }
            }),
            (Block::Summary { text, covers, .. }, Role::User) => {
                Some(Block::Summary { text, covers, archive: None })
            }
            (Block::ToolCall(mut call), Role::Assistant) => {
                // Providers have rules for their ids; a file follows none.
                call.provider_id = format!("imported_{}", self.known.len() + 1);
                call.name = shorten(&call.name);
                if self.known.insert(call.id, (call.provider_id.clone(), None)).is_some() {
                    return Err(broken("a call stands twice"));
                }
                self.made.insert(call.id, (turn, call.name.clone()));
                Some(Block::ToolCall(call))
            }
            (Block::ToolResult(mut result), Role::User) => {
                let Some((provider_id, ended)) = self.known.get_mut(&result.call) else {
                    return Err(broken("a result of no call"));
                };
                if ended.replace(result.status).is_some() {
                    return Err(broken("a call has two results"));
                }
                result.provider_id.clone_from(provider_id);
                result.images = result.images.into_iter().filter_map(|image| self.image(image)).collect();
                Some(Block::ToolResult(result))
            }
            // From the wrong side, from an Octo, or about another machine.
            (
                Block::Reasoning { .. }
                | Block::Image { .. }
                | Block::Document { .. }
                | Block::File { .. }
                | Block::ToolCall(_)
                | Block::ToolResult(_)
                | Block::Summary { .. }
                | Block::Notice { .. }
                | Block::CommandsEnded { .. },
                _,
            ) => None,
        })
    }

    fn image(&self, image: ResultImage) -> Option<ResultImage> {
        let (_, media) = self.pictures.get(&image.blob)?;
        Some(ResultImage { media_type: (*media).to_owned(), name: shorten(&image.name), ..image })
    }

    /// Returns the calls read so far, each ended, with the part that can be shown.
    fn calls(&self, entries: &[Value], now: Millis) -> Vec<CallView> {
        let mut views: HashMap<CallId, (Option<ToolView>, Millis)> = HashMap::new();
        for call in entries {
            let Ok(call) = serde_json::from_value::<CallView>(call.clone()) else { continue };
            let time = match call.state {
                CallState::Started { at: time } | CallState::Ended { at: time, .. } => time,
                CallState::Planned | CallState::Asking => 0,
            };
            views.insert(call.id, (call.view.and_then(to_read_only), time.clamp(0, now)));
        }
        let mut calls: Vec<CallView> = self
            .made
            .iter()
            .map(|(id, (turn, tool))| {
                let (view, time) = views.remove(id).unwrap_or_default();
                let status = self.known.get(id).and_then(|(_, status)| *status);
                let status = status.unwrap_or(CallStatus::Interrupted);
                let state = CallState::Ended { status, at: time, duration_ms: 0 };
                CallView { id: *id, turn: *turn, tool: tool.clone(), state, view }
            })
            .collect();
        calls.sort_by_key(|call| call.id);
        calls
    }
}

/// Returns the view of an imported call if it is read-only: nothing to press, nothing still running.
fn to_read_only(view: ToolView) -> Option<ToolView> {
    match view {
        ToolView::Text { .. }
        | ToolView::Folder { .. }
        | ToolView::Diff(_)
        | ToolView::Paths { .. }
        | ToolView::Matches { .. }
        | ToolView::Todos { .. }
        | ToolView::Feedback { .. }
        | ToolView::WebResults { .. }
        | ToolView::Plain { .. } => Some(view),
        ToolView::Command(mut command) => {
            (command.log, command.handle) = (None, None);
            command.state = command.state.map(|state| match state {
                CommandState::Waiting | CommandState::Running => CommandState::EndedWithOcto,
                other => other,
            });
            Some(ToolView::Command(command))
        }
        ToolView::WebPage(mut page) => {
            page.file = None;
            Some(ToolView::WebPage(page))
        }
        ToolView::Picture { .. }
        | ToolView::Browser(_)
        | ToolView::Skill(_)
        | ToolView::SubAgent(_)
        | ToolView::LibraryOffer(_)
        | ToolView::Refused { .. } => None,
    }
}

fn shorten(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}
