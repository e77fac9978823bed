//! Support for these tests: an application in a temporary home, connected to a scripted model.

use super::sub_agent_rig::TestSkills;
use octo_core::{Config, HomeAtStart, HomeLocation, KeyStorage, NoHost, Octo, OpenTurnPolicy};
use octo_protocol::{
    Answer, AnswerQuestion, Block, CallStatus, CallView, Envelope, Event, Mode, ModelDraft, OpenSession,
    Profile, Protocol, Question, SaveModel, Send, SendOutcome, SessionId, SessionSnapshot, Source,
    StartSession, Stop, StoredTopic, TurnEnd,
};
use octo_testkit::{ModelServer, Script, ServerOptions, TempHome};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{sync::broadcast, time::timeout};

/// Nothing here takes longer, even on a busy machine, unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Rig {
    pub home: TempHome,
    pub server: ModelServer,
    pub octo: Octo,
    events: broadcast::Receiver<Arc<Envelope>>,
    pub seen: Vec<Arc<Envelope>>,
    models: Vec<octo_protocol::ModelId>,
}

pub fn config(home: &TempHome) -> Config {
    Config {
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
        secret_variables: vec!["OCTO_API_KEY".into()],
    }
}

/// Runs the work of one process. Nothing of it remains at its end, as with a real process: its home is free.
pub fn process<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work)
}

pub async fn open(home: &TempHome) -> Octo {
    Octo::start(config(home)).await.expect("the application starts")
}

impl Rig {
    /// Creates a rig with skills, and a model whose prices are known.
    pub async fn skilled(script: impl Into<Script>, skills: TestSkills) -> Self {
        let (home, server) = (TempHome::new(), ModelServer::start(script));
        std::fs::create_dir_all(home.octo()).expect("a home");
        std::fs::write(home.octo().join("presets.json"), prices(&server.url(), &markers())).expect("presets");
        skills.write(&home.octo());
        let octo = open(&home).await;
        Self::connected(home, server, octo).await
    }

    pub async fn new(script: impl Into<Script>) -> Self {
        Self::in_home(TempHome::new(), script).await
    }

    pub async fn in_home(home: TempHome, script: impl Into<Script>) -> Self {
        let server = ModelServer::start(script);
        let octo = open(&home).await;
        Self::connected(home, server, octo).await
    }

    /// Creates a rig with an application that was started on this home.
    #[cfg(target_os = "linux")]
    pub async fn with_application(home: TempHome, script: impl Into<Script>, octo: Octo) -> Self {
        Self::connected(home, ModelServer::start(script), octo).await
    }

    /// Creates a rig with a model whose prices are known, and sessions that are idle after `idle_after`.
    pub async fn priced(script: impl Into<Script>, idle_after: Duration) -> Self {
        Self::priced_with(script, idle_after, &markers()).await
    }

    /// Like [`Rig::priced`], with its own cache.
    pub async fn priced_with(
        script: impl Into<Script>,
        idle_after: Duration,
        caching: &serde_json::Value,
    ) -> Self {
        let (home, server) = (TempHome::new(), ModelServer::start(script));
        std::fs::create_dir_all(home.octo()).expect("a home");
        std::fs::write(home.octo().join("presets.json"), prices(&server.url(), caching)).expect("presets");
        let octo = Octo::start(Config { idle_after, ..config(&home) }).await.expect("the application starts");
        Self::connected(home, server, octo).await
    }

    /// Like [`Rig::priced`], with a clock the test controls, which decides when tasks run.
    pub async fn by_clock(script: impl Into<Script>, clock: Arc<dyn octo_core::Clock>) -> Self {
        Self::by_clock_with(script, clock, ServerOptions::default()).await
    }

    /// Like [`Rig::by_clock`], with its own server.
    pub async fn by_clock_with(
        script: impl Into<Script>,
        clock: Arc<dyn octo_core::Clock>,
        options: ServerOptions,
    ) -> Self {
        let (home, server) = (TempHome::new(), ModelServer::start_with(script, options));
        std::fs::create_dir_all(home.octo()).expect("a home");
        std::fs::write(home.octo().join("presets.json"), prices(&server.url(), &markers())).expect("presets");
        let octo = Octo::start_by_clock(config(&home), clock).await.expect("the application starts");
        Self::connected(home, server, octo).await
    }

    /// Ends the application; [`Rig::begin_by_clock`] starts it again.
    pub async fn end(&mut self) {
        self.octo.shutdown().await;
    }

    /// Starts the application again on the same home.
    pub async fn begin_by_clock(&mut self, clock: Arc<dyn octo_core::Clock>) {
        self.octo = Octo::start_by_clock(config(&self.home), clock).await.expect("the application starts");
        self.events = self.octo.events();
        self.seen.clear();
    }

    async fn connected(home: TempHome, server: ModelServer, octo: Octo) -> Self {
        let draft = ModelDraft {
            id: None,
            protocol: Protocol::Anthropic,
            base_url: server.url(),
            model: "scripted".into(),
            key: Some(octo_protocol::Secret::new("sk-test-0123456789")),
            headers: None,
        };
        let model = octo.call(SaveModel { draft }).await.expect("the model is saved").id;
        let events = octo.events();
        Self { home, server, octo, events, seen: Vec::new(), models: vec![model] }
    }

    /// Returns the models in the settings, in the order they were added.
    pub fn seen_models(&self) -> Vec<octo_protocol::ModelId> {
        self.models.clone()
    }

    /// Ends the application and starts it again on the same home.
    pub async fn restart(&mut self) {
        self.octo.shutdown().await;
        self.octo = open(&self.home).await;
        self.events = self.octo.events();
        // Events between the two were not received.
        self.seen.clear();
    }

    pub async fn start(&self, mode: Mode, text: &str) -> SessionId {
        self.start_with(mode, words(text)).await
    }

    pub async fn start_with(&self, mode: Mode, blocks: Vec<Block>) -> SessionId {
        let call = StartSession {
            folder: self.home.work().display().to_string(),
            profile: Profile::GENERAL,
            mode,
            model: None,
            effort: None,
            title: None,
            blocks,
        };
        self.octo.call(call).await.expect("the session starts").id
    }

    pub async fn send(&self, session: SessionId, text: &str) -> SendOutcome {
        self.octo.call(Send { session, blocks: words(text) }).await.expect("the message is taken")
    }

    pub async fn stop(&self, session: SessionId) {
        self.octo.call(Stop { session }).await.expect("stop is taken");
    }

    pub async fn snapshot(&self, session: SessionId) -> SessionSnapshot {
        self.octo.call(OpenSession { session }).await.expect("the session opens")
    }

    pub async fn answer(&self, session: SessionId, question: &Question, answer: Answer) {
        let call = AnswerQuestion { session, question: question.id, answer };
        self.octo.call(call).await.expect("the answer is taken");
    }

    /// Returns the next event that matches; everything before it is kept in `seen`.
    pub async fn event<T>(&mut self, description: &str, mut predicate: impl FnMut(&Event) -> Option<T>) -> T {
        let wait = async {
            loop {
                let envelope = self.events.recv().await.expect("events go on");
                self.seen.push(envelope.clone());
                if let Some(value) = predicate(&envelope.event) {
                    return value;
                }
            }
        };
        match timeout(PATIENCE, wait).await {
            Ok(value) => value,
            Err(_) => panic!(
                "no {description} came; seen: {:#?}",
                self.seen.iter().map(|one| &one.event).collect::<Vec<_>>()
            ),
        }
    }

    pub async fn question(&mut self) -> Question {
        self.event("question", |event| match event {
            Event::QuestionAsked { question } => Some(question.clone()),
            _ => None,
        })
        .await
    }

    pub async fn turn_end(&mut self) -> TurnEnd {
        self.event("end of the turn", |event| match event {
            Event::TurnEnded { turn } => turn.end.clone(),
            _ => None,
        })
        .await
    }

    pub async fn call_started(&mut self, tool: &str) -> CallView {
        self.event("start of the call", |event| match event {
            Event::CallChanged { call }
                if call.tool == tool && matches!(call.state, octo_protocol::CallState::Started { .. }) =>
            {
                Some(call.clone())
            }
            _ => None,
        })
        .await
    }

    /// Checks that every topic's events are numbered without gaps, and that the server found no fault.
    pub fn assert_sound(&self) {
        self.server.assert_clean();
        let mut last: HashMap<StoredTopic, u64> = HashMap::new();
        for envelope in &self.seen {
            if let Some(before) = last.insert(envelope.topic, envelope.seq) {
                assert_eq!(envelope.seq, before + 1, "a gap in {}", envelope.topic);
            }
        }
    }
}

/// Waits until an answer was held at the gate.
pub async fn reached(gate: &octo_testkit::Gate) {
    timeout(PATIENCE, gate.reached()).await.expect("the answer is held");
}

pub fn words(text: &str) -> Vec<Block> {
    vec![Block::Text { text: text.into() }]
}

/// The statuses of a session's calls, in order.
pub fn statuses(snapshot: &SessionSnapshot) -> Vec<CallStatus> {
    snapshot
        .page
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.status),
            _ => None,
        })
        .collect()
}

/// Returns the results of a session's calls as the model received them, in order.
pub fn results(snapshot: &SessionSnapshot) -> Vec<String> {
    let blocks = snapshot.page.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.text.clone()),
            _ => None,
        })
        .collect()
}

/// All the model's text in a session.
pub fn answers(snapshot: &SessionSnapshot) -> String {
    let texts: Vec<String> = snapshot
        .page
        .messages
        .iter()
        .filter(|message| message.role == octo_protocol::Role::Assistant)
        .map(octo_protocol::Message::text)
        .collect();
    texts.join("\n")
}

/// Returns the cache settings of the scripted model's vendor.
fn markers() -> serde_json::Value {
    let markers = serde_json::json!({ "limit": 4, "lookback": 20, "lives": ["five_minutes", "hour"] });
    serde_json::json!({ "kind": { "markers": markers }, "minimum": 1024 })
}

/// Returns a preset table in which the scripted model has the usual prices.
fn prices(url: &str, caching: &serde_json::Value) -> String {
    let rates = serde_json::json!({ "input": 3, "output": 15, "read": 0.3, "write": 3.75, "write_hour": 6 });
    let prices = serde_json::json!({ "rates": rates, "date": "2026-11-22", "source": "a test" });
    serde_json::json!({
        "version": 1,
        "providers": [{
            "id": "scripted",
            "name": "Scripted",
            "addresses": [{ "url": url }],
            "protocol": "anthropic",
            "caching": caching,
            "rows": [{ "name": "scripted", "prices": prices }],
        }],
    })
    .to_string()
}
