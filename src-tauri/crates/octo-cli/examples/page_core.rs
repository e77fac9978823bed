//! The core for the page in a browser: `npm run dev` and the Chromium tests of the page start it.
//!
//! It speaks NDJSON over standard input and output, like `octo-cli serve`, and adds what the window's shell adds
//! for its page: subscriptions with snapshots and streamed text, and blobs. One process runs many cores, each
//! with its own home and its own scripted model server. Keys stay in memory, so that no keychain is touched.

use octo_core::{
    Config, HomeAtStart, HomeLocation, IDLE_AFTER, KeyStorage, NoHost, Octo, OpenTurnPolicy, Remover,
    Supervision,
};
use octo_protocol::{ApiError, Request, SessionId, Source, Topic, Update};
use octo_testkit::{Gate, ModelServer, PrefixRule, Reply, Script, ServerOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    env, fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::{sync::mpsc, task::JoinHandle};

fn main() -> ExitCode {
    if let Some(exit) = octo_cli::run_as_other_program(env::args_os()) {
        return exit;
    }
    if env::args_os().nth(1).is_some_and(|word| word == octo_cli::READ_DOCUMENT) {
        return octo_cli::run(env::args_os());
    }
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return ExitCode::FAILURE };
    runtime.block_on(run());
    // The thread that reads standard input may still block.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

/// A line of the client.
#[derive(Deserialize)]
struct InputLine {
    id: u64,
    /// Number of the core, chosen by the client.
    core: u32,
    #[serde(flatten)]
    call: CoreCall,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CoreCall {
    /// Starts the core on this home.
    Start(PathBuf),
    /// Ends the core; everything is stored.
    Stop {},
    /// Ends the core and starts it on the same home, with the same model.
    Restart {},
    Request(Box<Request>),
    Subscribe(Topic),
    /// Ends a subscription, by the id of its line.
    Unsubscribe(u64),
    /// Copies a blob (`<hash>`) or a live picture (`live/<session>/<number>`) into a file.
    Blob {
        path: String,
        to: PathBuf,
    },
    /// Queues replies of the scripted model.
    Script(Vec<ReplyPlan>),
    /// Opens a gate, named by a reply.
    Open(String),
}

/// A reply of the scripted model.
#[derive(Deserialize)]
struct ReplyPlan {
    #[serde(default)]
    parts: Vec<PartPlan>,
    #[serde(default)]
    error: Option<ErrorPlan>,
    /// Number of pieces of each part.
    #[serde(default)]
    chunks: Option<usize>,
    /// Milliseconds between pieces.
    #[serde(default)]
    pace: Option<u64>,
    /// Gates, each with the number of pieces sent before it.
    #[serde(default)]
    holds: Vec<(usize, String)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartPlan {
    Text(String),
    Reasoning(String),
    Call { tool: String, arguments: Value },
}

#[derive(Deserialize)]
struct ErrorPlan {
    status: u16,
    name: String,
    message: String,
}

/// A line for the client: a reply to the line `id`, or updates of the subscription that line `id` began.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum OutputBody {
    Response(Value),
    Error(ApiError),
    Updates(Vec<Update>),
}

#[derive(Serialize)]
struct OutputLine {
    id: u64,
    #[serde(flatten)]
    body: OutputBody,
}

type Output = mpsc::UnboundedSender<OutputLine>;

/// A core, the model it talks to, and its subscriptions.
struct PageCore {
    octo: Octo,
    home: PathBuf,
    model: ModelServer,
    gates: HashMap<String, Gate>,
    subscriptions: HashMap<u64, JoinHandle<()>>,
}

async fn run() {
    let (output, mut lines) = mpsc::unbounded_channel::<OutputLine>();
    let writing = thread::spawn(move || {
        let mut out = io::stdout().lock();
        while let Some(line) = lines.blocking_recv() {
            let Ok(mut text) = serde_json::to_vec(&line) else { continue };
            text.push(b'\n');
            if out.write_all(&text).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    });
    let (sender, mut input) = mpsc::channel(64);
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let mut cores = HashMap::new();
    while let Some(line) = input.recv().await {
        match serde_json::from_str::<InputLine>(&line) {
            Ok(line) => handle(&mut cores, line, &output).await,
            Err(error) => {
                let id = serde_json::from_str::<Value>(&line).ok().and_then(|line| line["id"].as_u64());
                let error = ApiError::new("request.unreadable").detail(error);
                let _gone = output.send(OutputLine { id: id.unwrap_or(0), body: OutputBody::Error(error) });
            }
        }
    }
    for (_, core) in cores.drain() {
        core.end().await;
    }
    drop(output);
    let _panicked = writing.join();
}

async fn handle(cores: &mut HashMap<u32, PageCore>, line: InputLine, output: &Output) {
    let InputLine { id, core, call } = line;
    if let CoreCall::Start(home) = call {
        let reply = PageCore::start(home).await.map(|started| {
            let url = started.model.url();
            cores.insert(core, started);
            json!({ "model_url": url })
        });
        return answer(output, id, reply);
    }
    if matches!(call, CoreCall::Stop {})
        && let Some(core) = cores.remove(&core)
    {
        let output = output.clone();
        tokio::spawn(async move {
            core.end().await;
            answer(&output, id, Ok(Value::Null));
        });
        return;
    }
    if matches!(call, CoreCall::Restart {})
        && let Some(ended) = cores.remove(&core)
    {
        let reply = ended.restart().await.map(|started| {
            cores.insert(core, started);
            Value::Null
        });
        return answer(output, id, reply);
    }
    let Some(core) = cores.get_mut(&core) else {
        return answer(output, id, Err(ApiError::new("internal").detail("no such core")));
    };
    core.handle(id, call, output).await;
}

async fn open(home: &Path) -> Result<Octo, ApiError> {
    let home = home.to_owned();
    let config = Config {
        home_at_start: HomeAtStart::without_plan(HomeLocation::by_variable(home.clone())),
        home,
        source: Source::Window,
        open_turns: OpenTurnPolicy::GoOnAtStart,
        keys: KeyStorage::Memory,
        host: Arc::new(NoHost),
        idle_after: IDLE_AFTER,
        remover: Remover::ThisProgram,
        supervision: Supervision::by_this_program(),
        budget: None,
        secret_variables: Vec::new(),
    };
    Octo::start(config).await
}

fn answer(output: &Output, id: u64, reply: Result<Value, ApiError>) {
    let body = reply.map_or_else(OutputBody::Error, OutputBody::Response);
    // A client that is gone needs no reply.
    let _gone = output.send(OutputLine { id, body });
}

impl PageCore {
    async fn start(home: PathBuf) -> Result<Self, ApiError> {
        let options = ServerOptions { prefix: PrefixRule::Free, ..ServerOptions::default() };
        let script = Script::from_fn(|_| Reply::text("The scripted model has no further reply."));
        let model = ModelServer::start_with(script, options);
        let octo = open(&home).await?;
        Ok(Self { octo, home, model, gates: HashMap::new(), subscriptions: HashMap::new() })
    }

    async fn restart(mut self) -> Result<Self, ApiError> {
        self.release().await;
        self.octo = open(&self.home).await?;
        Ok(self)
    }

    async fn end(mut self) {
        self.release().await;
        // Dropping it joins its thread.
        let _panicked = tokio::task::spawn_blocking(move || drop(self.model)).await;
    }

    /// Ends the subscriptions, and releases the home.
    async fn release(&mut self) {
        for (_, forwarding) in self.subscriptions.drain() {
            forwarding.abort();
        }
        self.octo.shutdown().await;
    }

    async fn handle(&mut self, id: u64, call: CoreCall, output: &Output) {
        let (octo, output) = (self.octo.clone(), output.clone());
        match call {
            CoreCall::Start(_) | CoreCall::Stop {} | CoreCall::Restart {} => {}
            CoreCall::Request(request) => self.request(id, *request, output).await,
            CoreCall::Subscribe(topic) => {
                let forwarding = tokio::spawn(async move {
                    let mut subscription = match octo.subscribe(topic).await {
                        Ok(subscription) => subscription,
                        Err(error) => return answer(&output, id, Err(error)),
                    };
                    answer(&output, id, Ok(Value::Null));
                    while let Some(updates) = subscription.next().await {
                        if output.send(OutputLine { id, body: OutputBody::Updates(updates) }).is_err() {
                            return;
                        }
                    }
                });
                self.subscriptions.insert(id, forwarding);
            }
            CoreCall::Unsubscribe(subscription) => {
                if let Some(forwarding) = self.subscriptions.remove(&subscription) {
                    forwarding.abort();
                }
                answer(&output, id, Ok(Value::Null));
            }
            CoreCall::Blob { path, to } => {
                tokio::spawn(async move { answer(&output, id, blob(&octo, &path, to).await) });
            }
            CoreCall::Script(replies) => {
                for plan in replies {
                    let reply = self.reply(plan);
                    self.model.push(reply);
                }
                answer(&output, id, Ok(Value::Null));
            }
            CoreCall::Open(gate) => {
                self.gate(gate).open();
                answer(&output, id, Ok(Value::Null));
            }
        }
    }

    /// Begins the request before the next line is read, so that consecutive requests reach a session in order.
    async fn request(&self, id: u64, request: Request, output: Output) {
        let octo = self.octo.clone();
        let mut work = Box::pin(async move { answer(&output, id, octo.request(request).await) });
        let begun = std::future::poll_fn(|context| std::task::Poll::Ready(work.as_mut().poll(context))).await;
        if begun.is_pending() {
            tokio::spawn(work);
        }
    }

    fn gate(&mut self, name: String) -> Gate {
        self.gates.entry(name).or_default().clone()
    }

    fn reply(&mut self, plan: ReplyPlan) -> Reply {
        let mut reply = match plan.error {
            Some(ErrorPlan { status, name, message }) => Reply::error(status, name, message),
            None => plan.parts.into_iter().fold(Reply::nothing(), with_part),
        };
        if let Some(chunks) = plan.chunks {
            reply = reply.in_chunks(chunks);
        }
        if let Some(pace) = plan.pace {
            reply = reply.paced(Duration::from_millis(pace));
        }
        for (pieces, gate) in plan.holds {
            reply = reply.hold_after(pieces, &self.gate(gate));
        }
        reply
    }
}

/// Reasoning can only begin a reply.
fn with_part(reply: Reply, part: PartPlan) -> Reply {
    match part {
        PartPlan::Text(text) => reply.and_text(text),
        PartPlan::Reasoning(text) => Reply::reasoning(text, "signature"),
        PartPlan::Call { tool, arguments } => reply.and_call(tool, arguments),
    }
}

async fn blob(octo: &Octo, path: &str, target: PathBuf) -> Result<Value, ApiError> {
    let missing = || ApiError::new("blob.missing");
    let (media_type, bytes) = match path.strip_prefix("live/") {
        Some(rest) => {
            let (session, number) = rest.split_once('/').ok_or_else(missing)?;
            let session: SessionId = session.parse().map_err(|_| missing())?;
            let picture = octo.live_picture(session, number.parse().map_err(|_| missing())?);
            ("image/jpeg".to_owned(), picture.ok_or_else(missing)?.to_vec())
        }
        None => {
            let hash = serde_json::from_value(json!(path)).map_err(|_| missing())?;
            let blob = octo.blob(&hash).await?;
            (blob.media_type, blob.bytes)
        }
    };
    fs::write(target, bytes).map_err(|error| missing().detail(error))?;
    Ok(json!({ "media_type": media_type }))
}
