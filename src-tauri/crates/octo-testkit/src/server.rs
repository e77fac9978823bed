//! A scripted model server on loopback.

mod answer_plan;

use crate::{
    RecordedRequest, Reply, Script,
    board::Board,
    cache::{CachePolicy, CacheReadMiss, CacheSimulator, ServedRequest},
    openai_chat,
    prefix_check::Conversations,
    reply::{ReplyFrame, ReplyKind, StreamCut},
    server_format::{RenderedReply, server_format},
};
use answer_plan::{AnswerPlan, plan_answer};
use bytes::Bytes;
use futures::StreamExt;
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use hyper::{Request, Response, body::Incoming, header, service::service_fn};
use hyper_util::rt::TokioIo;
use octo_protocol::Protocol;
use serde_json::Value;
use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Timeout of blocking waits, after which the test fails.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A scripted model server on loopback that speaks all four protocols and, like a strict provider, refuses
/// requests that break their rules (see [`RequestFault`]). It runs on its own thread, so that async and blocking tests
/// use it alike; dropping it stops it.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<ServerShared>,
    address: SocketAddr,
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
}

/// Requirements a server enforces.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The key every request must carry; `None` accepts any.
    pub key: Option<String>,
    /// Whether earlier bytes of a conversation may change.
    pub prefix: PrefixRule,
    /// Policy of its prompt cache; `None` uses that of each protocol's vendor.
    pub cache: Option<CachePolicy>,
    /// Number of newest requests kept in full; `None` keeps all. Of older requests only the number is kept,
    /// because a campaign of hours would fill the memory.
    pub kept_requests: Option<usize>,
}

/// Whether earlier bytes of a conversation may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrefixRule {
    /// A change is a fault.
    #[default]
    Frozen,
    /// Changes are allowed, for tests that rewrite a conversation on purpose.
    Free,
}

/// A request that no strict provider would accept. It was answered with status 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFault {
    /// The request's number.
    pub request: usize,
    /// Reason why the server refused it.
    pub reason: String,
}

/// Outcome of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// The answer is still being sent.
    Open,
    /// All of it was sent.
    Sent,
    /// The client disconnected before the end.
    Dropped,
}

/// When a request arrived and its answer was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTiming {
    /// When its head was read.
    pub received_at: Instant,
    /// When the newest piece of a streamed answer was passed to the connection; once the answer is over, the
    /// last piece. `None` before the first piece and for an answer that does not stream.
    pub last_byte: Option<Instant>,
}

#[derive(Debug)]
struct ServerShared {
    board: Board<State>,
    options: ServerOptions,
}

#[derive(Debug)]
struct State {
    script: Script,
    requests: Vec<RecordedRequest>,
    outcomes: Vec<AnswerOutcome>,
    timings: Vec<RequestTiming>,
    faults: Vec<RequestFault>,
    conversations: Conversations,
    caches: Vec<(Protocol, CacheSimulator)>,
    misses: Vec<(usize, CacheReadMiss)>,
}

impl ModelServer {
    /// Starts a server; it is reachable when this returns.
    pub fn start(script: impl Into<Script>) -> Self {
        Self::start_with(script, ServerOptions::default())
    }

    /// Starts a server with these options.
    pub fn start_with(script: impl Into<Script>, options: ServerOptions) -> Self {
        let state = State {
            script: script.into(),
            requests: Vec::new(),
            outcomes: Vec::new(),
            timings: Vec::new(),
            faults: Vec::new(),
            conversations: Conversations::default(),
            caches: caches(&options),
            misses: Vec::new(),
        };
        let shared = Arc::new(ServerShared { board: Board::new(state), options });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on loopback");
        listener.set_nonblocking(true).expect("a socket without blocking");
        let address = listener.local_addr().expect("the address of a bound socket");
        let stop = CancellationToken::new();
        let thread = thread::spawn({
            let (shared, stop) = (shared.clone(), stop.clone());
            move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(async {
                    let listener = tokio::net::TcpListener::from_std(listener).expect("the bound socket");
                    tokio::select! { () = stop.cancelled() => {} () = serve(listener, shared) => {} }
                });
            }
        });
        Self { shared, address, stop, thread: Some(thread) }
    }

    /// Returns the base address, valid for all protocols: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds a reply to the end of the script's queue.
    pub fn push(&self, reply: Reply) {
        self.shared.board.update(|state| state.script.push(reply));
    }

    /// From now on, allows conversations to continue from an earlier point than their end, for tests that go
    /// back or start over. The part they keep must still be unchanged.
    pub fn allow_steps_back(&self) {
        self.shared.board.update(|state| state.conversations.allow_steps_back());
    }

    /// Returns the number of replies still queued.
    pub fn replies_left(&self) -> usize {
        self.shared.board.lock().script.remaining()
    }

    /// Returns all requests so far, including refused ones.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.board.lock().requests.clone()
    }

    /// Waits until `count` requests have arrived in total.
    pub async fn wait_received_async(&self, count: usize) {
        self.shared.board.until(|state| (state.requests.len() >= count).then_some(())).await;
    }

    /// Blocks until `count` requests have arrived in total.
    ///
    /// # Panics
    ///
    /// When they do not arrive.
    pub fn wait_received(&self, count: usize) {
        let arrived =
            self.shared.board.wait(WAIT_TIMEOUT, |state| (state.requests.len() >= count).then_some(()));
        assert!(arrived.is_some(), "only {} of {count} requests came", self.requests().len());
    }

    /// Waits until the answer to a request is over.
    pub async fn wait_outcome_async(&self, request: usize) -> AnswerOutcome {
        self.shared.board.until(|state| ended(state, request)).await
    }

    /// Blocks until the answer to a request is over.
    ///
    /// # Panics
    ///
    /// When it does not end.
    pub fn wait_outcome(&self, request: usize) -> AnswerOutcome {
        self.shared.board.wait(WAIT_TIMEOUT, |state| ended(state, request)).expect("the answer did not end")
    }

    /// Returns the timing of each request so far.
    pub fn timings(&self) -> Vec<RequestTiming> {
        self.shared.board.lock().timings.clone()
    }

    /// Returns the faults found so far.
    pub fn faults(&self) -> Vec<RequestFault> {
        self.shared.board.lock().faults.clone()
    }

    /// Fails the test if any request broke a rule.
    ///
    /// # Panics
    ///
    /// With the faults.
    pub fn assert_clean(&self) {
        let problems = self.faults();
        assert!(problems.is_empty(), "requests no provider would take: {problems:#?}");
    }

    /// Moves the caches' clock, which never moves otherwise.
    pub fn advance(&self, time: Duration) {
        self.shared.board.update(|state| state.caches.iter_mut().for_each(|(_, cache)| cache.advance(time)));
    }

    /// Returns the requests (by number) that read less than the cache held of their conversation, with the
    /// reason.
    pub fn cache_misses(&self) -> Vec<(usize, CacheReadMiss)> {
        self.shared.board.lock().misses.clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the model server panicked");
        }
    }
}

/// Creates a cache for each protocol.
fn caches(options: &ServerOptions) -> Vec<(Protocol, CacheSimulator)> {
    let policy = |protocol| options.cache.clone().unwrap_or_else(|| CachePolicy::for_protocol(protocol));
    Protocol::ALL.map(|protocol| (protocol, CacheSimulator::new(policy(protocol)))).into()
}

fn cache_of(state: &mut State, protocol: Protocol) -> &mut CacheSimulator {
    let found = state.caches.iter_mut().find(|(cached_protocol, _)| *cached_protocol == protocol);
    &mut found.expect("there is a cache for each protocol").1
}

fn ended(state: &State, request: usize) -> Option<AnswerOutcome> {
    state.outcomes.get(request).copied().filter(|outcome| *outcome != AnswerOutcome::Open)
}

type Body = BoxBody<Bytes, io::Error>;

async fn serve(listener: tokio::net::TcpListener, shared: Arc<ServerShared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        // Pieces must be sent as they are written.
        let _ = stream.set_nodelay(true);
        let shared = shared.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let shared = shared.clone();
                async move { Ok::<_, Infallible>(answer(request, shared).await) }
            });
            // An aborted body ends the connection with an error, as the script asked.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

/// Sets an answer's outcome when dropped: `Dropped`, because the client disconnected, unless another was set
/// before.
struct OutcomeGuard {
    shared: Arc<ServerShared>,
    request: usize,
    outcome: AnswerOutcome,
}

impl Drop for OutcomeGuard {
    fn drop(&mut self) {
        self.shared.board.update(|state| {
            if let Some(outcome) = state.outcomes.get_mut(self.request) {
                *outcome = self.outcome;
            }
        });
    }
}

async fn answer(request: Request<Incoming>, shared: Arc<ServerShared>) -> Response<Body> {
    let arrival = Instant::now();
    let (head, body) = request.into_parts();
    let Ok(raw) = body.collect().await.map(|body| body.to_bytes().to_vec()) else {
        return plain(400, "text/plain", b"no body".to_vec(), &[]);
    };
    let path = head.uri.path().to_owned();
    let called = Protocol::ALL
        .into_iter()
        .find_map(|candidate| Some((candidate, (server_format(candidate).model_in_path)(&path)?)));
    let Some((protocol, model_in_path)) = called else {
        return plain(
            404,
            "application/json",
            openai_chat::error("not_found_error", "no such path").to_string().into(),
            &[],
        );
    };
    let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let body = serde_json::from_slice(&raw).unwrap_or(Value::Null);
    let (plan, watch) = shared.board.update(|state| {
        let number = state.requests.len();
        let request = RecordedRequest { number, protocol, path, model_in_path, headers, raw, body };
        state.requests.push(request.clone());
        state.outcomes.push(AnswerOutcome::Open);
        state.timings.push(RequestTiming { received_at: arrival, last_byte: None });
        let forgotten = shared.options.kept_requests.and_then(|recalls| number.checked_sub(recalls));
        if let Some(forgotten_request) = forgotten.and_then(|number| state.requests.get_mut(number)) {
            (forgotten_request.headers, forgotten_request.raw, forgotten_request.body) = Default::default();
        }
        let plan = plan_answer(state, &shared.options, &request);
        (plan, OutcomeGuard { shared: shared.clone(), request: number, outcome: AnswerOutcome::Dropped })
    });
    let AnswerPlan { reply, served, model, number } = plan;
    perform(reply, protocol, number, &model, served, watch).await
}

async fn perform(
    reply: Reply,
    protocol: Protocol,
    number: usize,
    model: &str,
    mut served: ServedRequest,
    mut watch: OutcomeGuard,
) -> Response<Body> {
    let format = server_format(protocol);
    match reply.kind {
        // A client that disconnects drops this future, and the watch with it.
        ReplyKind::Hang => std::future::pending().await,
        ReplyKind::Error { status, name, message } => {
            let body = (format.error)(&name, &message);
            let mut headers = reply.headers;
            headers.extend(format.error_header.map(|header| (header.to_owned(), name)));
            watch.outcome = AnswerOutcome::Sent;
            plain(status, "application/json", body.to_string().into_bytes(), &headers)
        }
        ReplyKind::Raw { status, content_type, body } => {
            watch.outcome = AnswerOutcome::Sent;
            plain(status, &content_type, body, &reply.headers)
        }
        ReplyKind::Message { parts, end } => {
            let (parts, end, chunks) = (&parts, &end, reply.chunks);
            let frames =
                (format.render)(&RenderedReply { number, model, parts, end, chunks, served: &served });
            let shared = watch.shared.clone();
            shared.board.update(|state| cache_of(state, protocol).stream(&mut served));
            let (sender, receiver) = mpsc::channel(1);
            let options = SendOptions { holds: reply.holds, pace: reply.pace, cut: reply.cut };
            tokio::spawn(send(frames, options, sender, watch));
            let chunk_stream =
                futures::stream::unfold((receiver, shared), move |(mut receiver, shared)| async move {
                    let chunk = receiver.recv().await?;
                    // Each time replaces the one before; the last remains. Nothing waits for it.
                    if let Some(timing) = shared.board.lock().timings.get_mut(number) {
                        timing.last_byte = Some(Instant::now());
                    }
                    Some((chunk, (receiver, shared)))
                });
            let body = StreamBody::new(
                chunk_stream.map(|chunk: io::Result<Bytes>| chunk.map(hyper::body::Frame::data)),
            );
            respond(200, format.content_type, BodyExt::boxed(body), &reply.headers)
        }
    }
}

/// Options for sending a stream.
struct SendOptions {
    holds: Vec<(usize, crate::Gate)>,
    pace: Option<Duration>,
    cut: Option<(usize, StreamCut)>,
}

async fn send(
    frames: Vec<ReplyFrame>,
    SendOptions { holds, pace: interval, cut }: SendOptions,
    sender: mpsc::Sender<io::Result<Bytes>>,
    mut watch: OutcomeGuard,
) {
    let mut interval = interval.map(tokio::time::interval);
    let last = frames.len().saturating_sub(terminal_frames(&frames));
    let mut sent_chunks = 0;
    let mut sent = 0;
    for (index, ReplyFrame { bytes, is_piece }) in frames.into_iter().enumerate() {
        for (after, gate) in &holds {
            let due = (is_piece && *after == sent_chunks) || (index == last && *after >= sent_chunks);
            if due {
                tokio::select! { () = gate.pass() => {} () = sender.closed() => return }
            }
        }
        if let Some(interval) = interval.as_mut().filter(|_| is_piece) {
            interval.tick().await;
        }
        sent_chunks += usize::from(is_piece);
        if let Some((position, cut)) = cut
            && sent + bytes.len() >= position
        {
            let head = bytes.get(..position - sent).unwrap_or_default().to_vec();
            if !head.is_empty() && sender.send(Ok(head.into())).await.is_err() {
                return;
            }
            if cut == StreamCut::Abort {
                // The head must be sent before the connection is dropped.
                let _ = sender.reserve().await;
                let _ = sender.send(Err(io::Error::other("the script cuts here"))).await;
            }
            watch.outcome = AnswerOutcome::Sent;
            return;
        }
        sent += bytes.len();
        if sender.send(Ok(bytes.into())).await.is_err() {
            return;
        }
    }
    watch.outcome = AnswerOutcome::Sent;
}

/// Returns the number of frames after the last piece of content.
fn terminal_frames(frames: &[ReplyFrame]) -> usize {
    frames.iter().rev().take_while(|frame| !frame.is_piece).count()
}

fn plain(status: u16, content_type: &str, body: Vec<u8>, headers: &[(String, String)]) -> Response<Body> {
    let body = http_body_util::Full::new(Bytes::from(body)).map_err(|never| match never {});
    respond(status, content_type, BodyExt::boxed(body), headers)
}

fn respond(status: u16, content_type: &str, body: Body, headers: &[(String, String)]) -> Response<Body> {
    let mut response = Response::builder().status(status).header(header::CONTENT_TYPE, content_type);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(body).expect("a header the script gave is no header")
}
