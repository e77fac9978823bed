//! The real core at work, and the requests it sends.

use super::workloads::{Act, Step, Workload};
use crate::seed;
use anyhow::{Context as _, Result, bail, ensure};
use octo_core::Octo;
use octo_llm::Caching;
use octo_protocol::{
    Block, ChangeSettings, Envelope, Event, LibrarySettings, Mode, ModelDraft, ModelId, OpenSession, Profile,
    Protocol, RetryTurn, SaveModel, Secret, Send, SessionId, SetModel, SettingsPatch, StartSession, Stop,
    Switch, TurnEnd,
};
use octo_testkit::{
    CachePolicy, Gate, ModelServer, PrefixRule, RecordedRequest, Reply, Script, ServerOptions, TempHome,
};
use parking_lot::Mutex;
use serde_json::json;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::sync::broadcast;

/// A longer turn counts as hung.
const PATIENCE: Duration = Duration::from_secs(300);
/// The models a session may switch between; they differ in name only.
const MODELS: [&str; 2] = ["bench-one", "bench-two"];
/// Text that only a compaction's instruction contains.
const ASKS_FOR_SUMMARY: &str = "<summary>";

/// A kind of cache.
pub struct BenchCacheKind {
    /// Its name.
    pub name: &'static str,
    /// Its wire format.
    pub protocol: Protocol,
    /// The caching settings the planner receives.
    pub caching: Caching,
    /// The policy of its simulated cache.
    pub policy: CachePolicy,
}

/// The requests sent.
pub struct WorkloadTrace {
    /// In order.
    pub requests: Vec<TracedRequest>,
}

/// One request.
pub struct TracedRequest {
    /// The request as it was sent.
    pub request: RecordedRequest,
    /// Tokens of its answer.
    pub output: u64,
    /// Whether the person was away before it.
    pub pause_before: bool,
    /// Whether it asked for a summary.
    pub compacts: bool,
}

/// The remaining steps of the scripted model, and the tokens of its answers.
#[derive(Default)]
struct ScriptedModel {
    steps: VecDeque<Step>,
    outputs: Vec<u64>,
    calls: usize,
}

/// Runs a workload.
///
/// # Errors
/// When the core deviates from the script, or sends a request a provider refuses.
pub async fn record(workload: &Workload, kind: &BenchCacheKind) -> Result<WorkloadTrace> {
    let home = TempHome::new();
    let model = Arc::new(Mutex::new(ScriptedModel::default()));
    let gate = Gate::new();
    let script = Script::from_fn({
        let (model, gate) = (model.clone(), gate.clone());
        move |request| model.lock().answer(request, &gate)
    });
    // A compaction rewrites the conversation on purpose.
    let prefix = if workload.compacts { PrefixRule::Free } else { PrefixRule::Frozen };
    let options = ServerOptions { cache: Some(kind.policy.clone()), prefix, ..ServerOptions::default() };
    let server = ModelServer::start_with(script, options);
    presets(&home, &server, kind)?;
    let octo = seed::start(&home).await?;
    let library = LibrarySettings {
        propose: workload.looks_back,
        remember: workload.looks_back,
        ..LibrarySettings::default()
    };
    let patch =
        SettingsPatch { suggestions: Some(Switch::Off), library: Some(library), ..SettingsPatch::default() };
    octo.call(ChangeSettings { patch }).await?;
    let models = [add(&octo, &server, kind, MODELS[0]).await?, add(&octo, &server, kind, MODELS[1]).await?];
    let mut rig = Rig { home, octo, server, model, gate, models, session: None };
    let mut pauses = Vec::new();
    for act in (workload.acts)() {
        rig.perform(act, &mut pauses).await?;
    }
    rig.finish(&pauses).await
}

/// Configures the core for the servers' cache, as a person's own preset table would.
fn presets(home: &TempHome, server: &ModelServer, kind: &BenchCacheKind) -> Result<()> {
    let rows = MODELS.map(|name| json!({ "name": name, "window": 1_000_000, "output": 32_000 }));
    let table = json!({ "version": 1, "providers": [{
        "id": "bench", "name": "Bench", "protocol": "anthropic",
        "addresses": [{ "url": server.url() }], "caching": kind.caching, "rows": rows,
    }] });
    std::fs::create_dir_all(home.octo())?;
    Ok(std::fs::write(home.octo().join("presets.json"), table.to_string())?)
}

async fn add(octo: &Octo, server: &ModelServer, kind: &BenchCacheKind, name: &str) -> Result<ModelId> {
    let key = Some(Secret::new("sk-bench-0123456789"));
    let (protocol, base_url) = (kind.protocol, server.url());
    let (model, headers) = (name.to_owned(), Default::default());
    let draft = ModelDraft { id: None, protocol, base_url, model, key, headers };
    Ok(octo.call(SaveModel { draft }).await?.id)
}

impl ScriptedModel {
    fn answer(&mut self, request: &RecordedRequest, gate: &Gate) -> Reply {
        let text = request.user_text();
        if text.contains(ASKS_FOR_SUMMARY) {
            let summary = seed::words(request.number, 1_000);
            return self
                .say(format!("<topics>parser; window; tests</topics>\n<summary>\n{summary}\n</summary>"));
        }
        match self.steps.pop_front() {
            Some(Step::Read { files, words }) => {
                let reply_text = seed::words(self.calls, words);
                let mut output = reply_text.len();
                let mut reply = Reply::text(reply_text);
                for _ in 0..files {
                    let arguments = json!({ "path": format!("notes/{:04}.txt", self.calls) });
                    output += "file_reader".len() + arguments.to_string().len();
                    reply = reply.and_call("file_reader", arguments);
                    self.calls += 1;
                }
                self.outputs.push(output.div_ceil(4) as u64);
                reply
            }
            Some(Step::Say { words }) => self.say(seed::words(request.number, words)),
            Some(Step::Hold { words }) => {
                self.say(seed::words(request.number, words)).in_chunks(8).hold_after(4, gate)
            }
            None => self.say("There is nothing more to say.".to_owned()),
        }
    }

    fn say(&mut self, text: String) -> Reply {
        self.outputs.push(text.len().div_ceil(4) as u64);
        Reply::text(text)
    }
}

struct Rig {
    home: TempHome,
    octo: Octo,
    server: ModelServer,
    model: Arc<Mutex<ScriptedModel>>,
    gate: Gate,
    models: [ModelId; 2],
    session: Option<SessionId>,
}

impl Rig {
    async fn perform(&mut self, act: Act, pauses: &mut Vec<usize>) -> Result<()> {
        match act {
            Act::Files { bytes } => self.files(&bytes)?,
            Act::Say { words, steps } => {
                let mut events = self.begin(words, steps).await?;
                let end = turn_end(&mut events).await?;
                ensure!(end == TurnEnd::Finished, "the turn ended so: {end:?}");
            }
            Act::SayAndStop { words, steps, again } => {
                let mut events = self.begin(words, steps).await?;
                self.gate.reached().await;
                let session = self.session()?;
                while self.octo.call(OpenSession { session }).await?.streaming.is_empty() {
                    tokio::task::yield_now().await;
                }
                self.octo.call(Stop { session }).await?;
                ensure!(turn_end(&mut events).await? == TurnEnd::Stopped, "the turn did not stop");
                self.script(again);
                self.octo.call(RetryTurn { session }).await?;
                ensure!(turn_end(&mut events).await? == TurnEnd::Finished, "the turn did not finish");
            }
            Act::Pause => pauses.push(self.server.requests().len()),
            Act::Model(index) => {
                let (session, model) = (self.session()?, self.models[index]);
                self.octo.call(SetModel { session, model }).await?;
            }
        }
        Ok(())
    }

    fn session(&self) -> Result<SessionId> {
        self.session.context("the session began")
    }

    fn files(&self, bytes: &[usize]) -> Result<()> {
        let folder = self.home.work().join("notes");
        std::fs::create_dir_all(&folder)?;
        for (number, bytes) in bytes.iter().enumerate() {
            // Lines of a dozen words, as in real files.
            let mut text = String::new();
            for line in 0.. {
                if text.len() >= *bytes {
                    break;
                }
                text.push_str(&seed::words(number * 1_000 + line, 12));
                text.push('\n');
            }
            std::fs::write(folder.join(format!("{number:04}.txt")), text)?;
        }
        Ok(())
    }

    fn script(&self, steps: Vec<Step>) {
        self.model.lock().steps.extend(steps);
    }

    async fn begin(
        &mut self,
        word_count: usize,
        steps: Vec<Step>,
    ) -> Result<broadcast::Receiver<Arc<Envelope>>> {
        self.script(steps);
        let events = self.octo.events();
        let blocks = vec![Block::Text { text: seed::words(self.server.requests().len(), word_count) }];
        match self.session {
            Some(session) => {
                self.octo.call(Send { session, blocks }).await?;
            }
            None => {
                let folder = self.home.work().to_str().context("a path in Unicode")?.to_owned();
                let (profile, mode, model) = (Profile::CODING, Mode::AskRisky, Some(self.models[0]));
                let start = StartSession { folder, profile, mode, model, effort: None, title: None, blocks };
                self.session = Some(self.octo.call(start).await?.id);
            }
        }
        Ok(events)
    }

    async fn finish(self, pauses: &[usize]) -> Result<WorkloadTrace> {
        self.octo.shutdown().await;
        let faults = self.server.faults();
        ensure!(faults.is_empty(), "requests no provider would take: {faults:?}");
        let model = self.model.lock();
        ensure!(model.steps.is_empty(), "{} answers were not asked for", model.steps.len());
        let requests = self.server.requests();
        ensure!(requests.len() == model.outputs.len(), "every request was answered once");
        let first_request = requests.first().context("a request")?;
        ensure!(
            first_request.system().contains("\n# Skills\n")
                && first_request.tools().iter().any(|tool| tool == "invoke_skill"),
            "the figures are of requests that list skills"
        );
        let sent = requests.into_iter().zip(&model.outputs).enumerate().map(|(index, (request, output))| {
            TracedRequest {
                compacts: request.user_text().contains(ASKS_FOR_SUMMARY),
                request,
                output: *output,
                pause_before: pauses.contains(&index),
            }
        });
        Ok(WorkloadTrace { requests: sent.collect() })
    }
}

async fn turn_end(events: &mut broadcast::Receiver<Arc<Envelope>>) -> Result<TurnEnd> {
    let ended = tokio::time::timeout(PATIENCE, async {
        loop {
            match events.recv().await {
                Ok(envelope) => {
                    if let Event::TurnEnded { turn } = &envelope.event
                        && let Some(end) = &turn.end
                    {
                        return Ok(end.clone());
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(error) => bail!(error),
            }
        }
    });
    ended.await.context("the turn hangs")?
}
