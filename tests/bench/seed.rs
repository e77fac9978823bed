//! A home as after years of use: 10,000 sessions, one of them of 10,000 messages.

use anyhow::{Context as _, Result};
use octo_core::{Config, HomeAtStart, HomeLocation, KeyStorage, NoHost, Octo, OpenTurnPolicy};
use octo_protocol::{
    Block, CallId, CallState, CallStatus, CallView, Event, Message, MessageEnd, MessageId, Meta, Mode,
    ModelDraft, ModelId, Origin, Profile, Protocol, Role, SaveModel, SessionId, SessionInfo, Source,
    StoredTopic, ToolCall, ToolResult, ToolView, TurnEnd, TurnId, TurnView,
};
use octo_store::{NewSession, Store, StoreError, ToolsetRow, Tx};
use octo_testkit::TempHome;
use std::sync::Arc;

/// Sessions in the home.
pub const SESSIONS: usize = 10_000;
/// Messages in each session except the long one.
const SHORT: usize = 8;
/// Messages in the long one.
pub const LONG: usize = 10_000;
/// Number of its last turns that are in its context.
const SEEN: usize = 20;
/// Sessions stored per transaction.
const TOGETHER: usize = 100;

/// A word that occurs in one message only, followed by its Chinese counterpart.
pub const RARE: &str = "needle 针线";

/// The home with its long session.
pub struct SeededHome {
    /// The home.
    pub home: TempHome,
    /// The long session.
    pub long: SessionId,
}

/// Starts the core on a home as the window does, but without the keychain: the person's own is left alone.
///
/// # Errors
/// When it does not start.
pub async fn start(home: &TempHome) -> Result<Octo> {
    let config = Config {
        home: home.octo(),
        home_at_start: HomeAtStart::without_plan(HomeLocation::by_variable(home.octo())),
        source: Source::Window,
        open_turns: OpenTurnPolicy::GoOnAtStart,
        keys: KeyStorage::Memory,
        host: Arc::new(NoHost),
        idle_after: octo_core::IDLE_AFTER,
        remover: octo_core::Remover::System,
        supervision: octo_core::Supervision::Session,
        budget: None,
        secret_variables: Vec::new(),
    };
    Ok(Octo::start(config).await?)
}

/// Adds a model at this address.
///
/// # Errors
/// When it is not taken.
pub async fn add_model(octo: &Octo, base_url: String) -> Result<ModelId> {
    let model = "scripted-model".to_owned();
    let draft =
        ModelDraft { id: None, protocol: Protocol::Anthropic, base_url, model, key: None, headers: None };
    Ok(octo.call(SaveModel { draft }).await?.id)
}

/// Fills a home with fixed content.
///
/// # Errors
/// When it cannot be written.
pub async fn home() -> Result<SeededHome> {
    let home = TempHome::new();
    let octo = start(&home).await?;
    // Nothing listens there, and nothing sends requests.
    let model = add_model(&octo, "http://127.0.0.1:9/v1".to_owned()).await?;
    octo.shutdown().await;

    let folder = home.work().to_str().context("a path in Unicode")?.to_owned();
    let store = Store::open(&home.octo())?;
    let head = move |n: usize| SessionInfo {
        title: words(n, 6),
        profile: Profile::CODING,
        mode: Mode::AskRisky,
        model: Some(model),
        pinned: n.is_multiple_of(997),
        ..SessionInfo::new(SessionId::new(), folder.clone(), Source::Window, n as i64)
    };
    for chunk in 1..=SESSIONS / TOGETHER {
        let head = head.clone();
        store
            .write(move |tx| {
                // The long session is one of them.
                let last_index = if chunk * TOGETHER == SESSIONS { SESSIONS - 1 } else { chunk * TOGETHER };
                ((chunk - 1) * TOGETHER..last_index).try_for_each(|n| short(tx, head(n), n))
            })
            .await?;
    }
    let info = head(SESSIONS);
    let long = info.id;
    store.write(move |tx| long_session(tx, info, model)).await?;
    // Blocks until all is written.
    tokio::task::spawn_blocking(move || store.close()).await?;
    Ok(SeededHome { home, long })
}

fn create(tx: &mut Tx<'_>, info: SessionInfo) -> Result<(), StoreError> {
    let toolset = ToolsetRow { hash: "none".to_owned(), version: 1, tools_json: "[]".to_owned() };
    tx.create_session(&NewSession { info, system: "You are Octo.".to_owned(), toolset })
}

fn short(tx: &mut Tx<'_>, info: SessionInfo, n: usize) -> Result<(), StoreError> {
    let id = info.id;
    create(tx, info)?;
    for m in 0..SHORT {
        let text = if (n, m) == (137, 0) { format!("a {RARE}") } else { words(n * 31 + m, 60) };
        let message = message(TurnId::new(), Role::User, Origin::Person, vec![Block::Text { text }]);
        tx.emit(StoredTopic::Session { id }, Event::MessageAdded { message })?;
    }
    Ok(())
}

/// Stores turns of four messages: the person asks, the model calls a tool, it answers, the model reports. The
/// model still sees the last [`SEEN`], as after compactions.
fn long_session(tx: &mut Tx<'_>, info: SessionInfo, model: ModelId) -> Result<(), StoreError> {
    let id = info.id;
    create(tx, info)?;
    for n in 0..LONG / 4 {
        let mut turn = TurnView::new(TurnId::new(), n as i64);
        let mut emit = |event: Event| -> Result<(), StoreError> {
            let added = match &event {
                Event::MessageAdded { message } | Event::MessageStarted { message } => Some(message.id),
                _ => None,
            };
            tx.emit(StoredTopic::Session { id }, event)?;
            let seen = added.filter(|_| n >= LONG / 4 - SEEN);
            seen.map_or(Ok(()), |message| tx.append_context(id, message))
        };
        let of_model = || {
            let mut message = message(turn.id, Role::Assistant, Origin::Model, Vec::new());
            message.meta.model = Some(model);
            message
        };
        let text = |seed, count| Block::Text { text: words(seed, count) };
        emit(Event::TurnStarted { turn: turn.clone() })?;
        let asked = message(turn.id, Role::User, Origin::Person, vec![text(n, 30)]);
        emit(Event::MessageAdded { message: asked })?;

        let (calling, call, provider_id) = (of_model(), CallId::new(), format!("toolu_{n}"));
        let block = Block::ToolCall(ToolCall {
            id: call,
            provider_id: provider_id.clone(),
            name: "terminal".to_owned(),
            arguments: r#"{"command":"ls"}"#.to_owned(),
        });
        emit(Event::MessageStarted { message: calling.clone() })?;
        emit(Event::BlockAdded { message: calling.id, index: 0, block: text(n + 7, 120) })?;
        emit(Event::BlockAdded { message: calling.id, index: 1, block })?;
        emit(Event::MessageEnded { message: calling.id, end: MessageEnd::Complete, usage: None })?;
        let ended = CallState::Ended { status: CallStatus::Done, at: n as i64, duration_ms: 5 };
        let view = Some(ToolView::Plain { text: "ls".to_owned() });
        let tool = "terminal".to_owned();
        emit(Event::CallChanged { call: CallView { id: call, turn: turn.id, tool, state: ended, view } })?;
        let result = Block::ToolResult(ToolResult {
            call,
            provider_id,
            status: CallStatus::Done,
            text: words(n, 400),
            images: Vec::new(),
        });
        let answered = message(turn.id, Role::User, Origin::Octo, vec![result]);
        emit(Event::MessageAdded { message: answered })?;

        let saying = of_model();
        emit(Event::MessageStarted { message: saying.clone() })?;
        emit(Event::BlockAdded { message: saying.id, index: 0, block: text(n + 9, 60) })?;
        emit(Event::MessageEnded { message: saying.id, end: MessageEnd::Complete, usage: None })?;
        turn.ended_at = Some(n as i64);
        turn.end = Some(TurnEnd::Finished);
        emit(Event::TurnEnded { turn })?;
    }
    Ok(())
}

fn message(turn: TurnId, role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
    let meta = Meta::new(origin, 0);
    Message { id: MessageId::new(), turn, role, blocks, meta }
}

/// Returns words in a fixed pseudorandom order.
pub fn words(seed: usize, count: usize) -> String {
    const WORDS: [&str; 24] = [
        "build",
        "parser",
        "fails",
        "when",
        "the",
        "file",
        "is",
        "empty",
        "because",
        "window",
        "never",
        "closes",
        "写一个",
        "解析器",
        "测试",
        "代码",
        "文件",
        "运行",
        "please",
        "check",
        "again",
        "after",
        "update",
        "error",
    ];
    let mut disorder = SeedRandom::new(seed as u64);
    let chosen: Vec<&str> = (0..count).map(|_| WORDS[disorder.below(WORDS.len())]).collect();
    chosen.join(" ")
}

/// Numbers that look random and are the same each time (a linear congruential generator, Knuth's constants).
pub struct SeedRandom(u64);

impl SeedRandom {
    /// Creates a different series for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2_654_435_761).wrapping_add(12_345))
    }

    /// The next number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The upper bits are the better ones.
        (self.0 >> 33) as usize % limit
    }
}
