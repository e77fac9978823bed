//! The `serve` command: the protocol as NDJSON over standard input and output.

mod lines;
mod troubles;

use crate::{
    args::KEY_VARIABLE,
    exit::Exit,
    feed::{Feed, FeedItem},
    output::{OutputLines, OutputReader, print_error, print_error_line},
    signals::Signals,
};
use lines::{InputLine, read_lines};
use octo_core::{
    Clock, Config, HomeAtStart, KeyStorage, NoHost, Octo, OpenTurnPolicy, SystemClock, settle_home,
};
use octo_protocol::{ApiError, ClientLine, Envelope, Language, ServerLine, Source};
use serde_json::Value;
use std::{io, sync::Arc, task::Poll, thread, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

/// How long requests may continue after the client has closed its end.
const LAST_REPLIES_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum unprocessed lines before reading of standard input pauses.
const MAX_WAITING_LINES: usize = 64;

/// Timing of a server.
pub(crate) struct ServeTiming {
    /// Clock that decides when scheduled tasks run.
    pub(crate) clock: Arc<dyn Clock>,
    /// Time after the last activity at which a session counts as idle.
    pub(crate) idle_after: Duration,
}

impl Default for ServeTiming {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock::default()), idle_after: octo_core::IDLE_AFTER }
    }
}

/// Serves until standard input ends, standard output is closed, or a signal arrives.
pub(crate) async fn serve(timing: ServeTiming) -> Exit {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            print_error_line(&error.to_string());
            return Exit::Failed;
        }
    };
    let writer = OutputThread::start();
    let home = settle_home();
    let _logs = home.as_ref().ok().and_then(|home| octo_core::logging::start(&home.location.home));
    for warning in home.as_ref().map(|home| home.remarks.as_slice()).unwrap_or_default() {
        print_error(Language::System, warning);
    }
    let octo = tokio::select! {
        biased;
        () = signals.next() => return Exit::Finished,
        started = start(home, timing) => match started {
            Ok(octo) => octo,
            Err(error) => {
                print_error(Language::System, &error);
                writer.send(ServerLine::Error { id: None, error });
                writer.finish().await;
                return Exit::Failed;
            }
        },
    };
    let (feed, feed_end) = Feed::open(&octo);
    let forwarding = tokio::spawn(forward(feed, writer.sender()));
    let troubles =
        AbortOnDropHandle::new(tokio::spawn(troubles::report_troubles(octo.clone(), writer.sender())));
    let requests = listen(&octo, &writer, &mut signals).await;
    finish(requests, &mut signals).await;
    octo.shutdown().await;
    drop(feed_end);
    drop(troubles);
    // It fails only after a panic, which was reported already.
    let _ = forwarding.await;
    writer.finish().await;
    Exit::Finished
}

async fn start(home: Result<HomeAtStart, ApiError>, timing: ServeTiming) -> Result<Octo, ApiError> {
    let home = home?;
    let config = Config {
        home: home.location.home.clone(),
        home_at_start: home,
        source: Source::Headless,
        open_turns: OpenTurnPolicy::GoOnAtStart,
        keys: KeyStorage::System,
        host: Arc::new(NoHost),
        idle_after: timing.idle_after,
        remover: octo_core::Remover::ThisProgram,
        supervision: octo_core::Supervision::by_this_program(),
        budget: None,
        secret_variables: vec![KEY_VARIABLE.to_owned()],
    };
    Octo::start_by_clock(config, timing.clock).await
}

/// Handles requests until there are no more; returns those that still run.
async fn listen(octo: &Octo, writer: &OutputThread, signals: &mut Signals) -> JoinSet<()> {
    let mut requests = JoinSet::new();
    let mut incoming = stdin_lines();
    loop {
        let line = tokio::select! {
            biased;
            () = signals.next() => {
                requests.abort_all();
                return requests;
            }
            () = writer.wait_reader_closed() => return requests,
            line = incoming.recv() => line,
        };
        while requests.try_join_next().is_some() {}
        let Some(line) = line else { return requests };
        match line.and_then(|line| parse(&line)) {
            Ok(None) => {}
            Ok(Some(line)) => dispatch(octo, line, writer, &mut requests).await,
            Err(error) => writer.send(ServerLine::Error { id: None, error }),
        }
    }
}

/// Handles a request concurrently with the others. It starts before the next line is read, so a client's
/// consecutive requests reach a session in order.
async fn dispatch(octo: &Octo, line: ClientLine, writer: &OutputThread, requests: &mut JoinSet<()>) {
    let (octo, lines) = (octo.clone(), writer.sender());
    let mut request = Box::pin(async move {
        let reply = octo.request(line.request).await;
        let _ = lines.send(reply_line(line.id, reply));
    });
    let first_poll = std::future::poll_fn(|context| Poll::Ready(request.as_mut().poll(context))).await;
    if first_poll.is_pending() {
        requests.spawn(request);
    }
}

fn reply_line(id: u64, reply: Result<Value, ApiError>) -> ServerLine {
    match reply {
        Ok(response) => ServerLine::Response { id, response },
        Err(error) => ServerLine::Error { id: Some(id), error },
    }
}

/// Parses a line; a blank one yields nothing.
fn parse(line: &[u8]) -> Result<Option<ClientLine>, ApiError> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    // serde's message quotes a wrong value's type and position, and names unknown variants, never a field's
    // text; even so, only the position is passed on, since a line may contain a key.
    serde_json::from_slice(line).map(Some).map_err(|error| {
        ApiError::new("serve.bad_line").arg("column", error.column()).detail(match error.classify() {
            serde_json::error::Category::Data => "JSON, but no request",
            _ => "not JSON",
        })
    })
}

/// Waits for the requests that still run, with a timeout.
async fn finish(mut requests: JoinSet<()>, signals: &mut Signals) {
    let finished = async { while requests.join_next().await.is_some() {} };
    tokio::select! {
        () = signals.next() => {}
        _ = tokio::time::timeout(LAST_REPLIES_TIMEOUT, finished) => {}
    }
}

/// Forwards every event.
async fn forward(mut feed: Feed, lines: mpsc::UnboundedSender<ServerLine>) {
    while let Some(item) = feed.next().await {
        let line = match item {
            FeedItem::Event(envelope) => ServerLine::Event { event: Envelope::clone(&envelope) },
            FeedItem::Lost(count) => {
                ServerLine::Error { id: None, error: ApiError::new("serve.lost").arg("count", count) }
            }
        };
        if lines.send(line).is_err() {
            break;
        }
    }
}

/// Returns the lines of standard input, read by a separate thread: a read cannot be cancelled.
fn stdin_lines() -> mpsc::Receiver<InputLine> {
    let (sender, lines) = mpsc::channel(MAX_WAITING_LINES);
    thread::spawn(move || read_lines(io::stdin().lock(), |line| sender.blocking_send(line).is_ok()));
    lines
}

/// Standard output, written by a separate thread, so a slow reader delays nothing.
struct OutputThread {
    lines: mpsc::UnboundedSender<ServerLine>,
    finished: oneshot::Receiver<()>,
}

impl OutputThread {
    fn start() -> Self {
        let (lines, mut queued) = mpsc::unbounded_channel::<ServerLine>();
        let (finished, finished_receiver) = oneshot::channel();
        thread::spawn(move || {
            let mut output = OutputLines::stdout();
            while let Some(line) = queued.blocking_recv() {
                if output.json(&line) == OutputReader::Closed {
                    break;
                }
            }
            drop(queued);
            let _ = finished.send(());
        });
        Self { lines, finished: finished_receiver }
    }

    fn sender(&self) -> mpsc::UnboundedSender<ServerLine> {
        self.lines.clone()
    }

    fn send(&self, line: ServerLine) {
        let _ = self.lines.send(line);
    }

    async fn wait_reader_closed(&self) {
        self.lines.closed().await;
    }

    /// Waits until everything is written.
    async fn finish(self) {
        drop(self.lines);
        let _ = tokio::time::timeout(Duration::from_secs(5), self.finished).await;
    }
}
