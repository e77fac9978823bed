//! The other tools, driven as a model's harness drives them: over the Model Context Protocol, on standard input
//! and output. They attach to the browser started for them.

use super::{
    PageResult, RUNS, ServedPage, ToolResults,
    chromium::{Chromium, PATIENCE, attach, input_time, targets, wall_clock},
    numbers_of,
};
use crate::{memory, table::Figures};
use anyhow::{Context as _, Result, bail};
use octo_browser::snapshot::estimate_tokens;
use serde_json::{Value, json};
use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// One of the other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// `@playwright/mcp`.
    Playwright,
    /// `chrome-devtools-mcp`.
    DevTools,
}

impl Peer {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Playwright, Self::DevTools];

    /// Its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Playwright => "Playwright MCP",
            Self::DevTools => "chrome-devtools-mcp",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::Playwright => "@playwright/mcp",
            Self::DevTools => "chrome-devtools-mcp",
        }
    }

    /// Returns its program with the options that make it attach. Neither may start or download its own browser.
    fn command(self, modules: &Path, port: u16) -> Command {
        let mut command = Command::new("node");
        let address = format!("http://127.0.0.1:{port}");
        match self {
            Self::Playwright => {
                command.arg(modules.join("@playwright/mcp/cli.js")).arg(format!("--cdp-endpoint={address}"))
            }
            Self::DevTools => command
                .arg(modules.join("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"))
                .arg(format!("--browserUrl={address}"))
                .args(["--no-usage-statistics", "--no-performance-crux"]),
        };
        command.env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1").env("CI", "1");
        command
    }

    /// Returns its installed version.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn version(self, modules: &Path) -> Result<String> {
        let path = modules.join(self.package()).join("package.json");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let package: Value = serde_json::from_str(&text)?;
        Ok(package["version"].as_str().unwrap_or_default().to_owned())
    }

    fn navigate(self, url: &str) -> (&'static str, Value) {
        match self {
            Self::Playwright => ("browser_navigate", json!({ "url": url })),
            Self::DevTools => ("navigate_page", json!({ "pageId": 1, "type": "url", "url": url })),
        }
    }

    fn snapshot(self) -> (&'static str, Value) {
        match self {
            Self::Playwright => ("browser_snapshot", json!({})),
            Self::DevTools => ("take_snapshot", json!({ "pageId": 1 })),
        }
    }

    fn click(self, handle: &str) -> (&'static str, Value) {
        match self {
            Self::Playwright => ("browser_click", json!({ "element": "it", "target": handle })),
            Self::DevTools => ("click", json!({ "pageId": 1, "uid": handle })),
        }
    }

    fn fill(self, handle: &str, text: &str) -> (&'static str, Value) {
        match self {
            Self::Playwright => ("browser_type", json!({ "element": "it", "target": handle, "text": text })),
            Self::DevTools => ("fill", json!({ "pageId": 1, "uid": handle, "value": text })),
        }
    }

    /// The handle in a line of its snapshot.
    fn handle(self, line: &str) -> Option<String> {
        let (before, after) = match self {
            Self::Playwright => ("[ref=", ']'),
            Self::DevTools => ("uid=", ' '),
        };
        let remaining = line.split_once(before)?.1;
        Some(remaining.split(after).next()?.to_owned())
    }

    fn handle_of(self, snapshot: &str, label: &str) -> Result<String> {
        let line = snapshot.lines().find(|line| line.contains(label)).with_context(|| {
            let begin: String = snapshot.chars().take(3_000).collect();
            format!("{label} is not in the snapshot:\n{begin}")
        })?;
        self.handle(line).with_context(|| format!("no handle in {line}"))
    }
}

/// A running server of another tool.
struct Server {
    peer: Peer,
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    calls: u64,
    _folder: tempfile::TempDir,
}

impl Server {
    async fn start(peer: Peer, modules: &Path, port: u16) -> Result<Self> {
        // They write only to a folder that is deleted with them.
        let folder = tempfile::tempdir()?;
        let mut process = peer
            .command(modules, port)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("node")?;
        let input = process.stdin.take().context("its input")?;
        let output = BufReader::new(process.stdout.take().context("its output")?).lines();
        let mut server = Self { peer, process, input, output, calls: 0, _folder: folder };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "octo-bench", "version": "1" },
        });
        server.ask("initialize", hello).await?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(server)
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(self.input.flush().await?)
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await?;
        let reply = async {
            loop {
                let line = self.output.next_line().await?.context("it ended")?;
                let message: Value = serde_json::from_str(&line).context("its answer")?;
                if message["id"] == json!(id) {
                    return anyhow::Ok(message);
                }
            }
        };
        let mut message = tokio::time::timeout(PATIENCE, reply)
            .await
            .with_context(|| format!("{} does not answer {method}", self.peer.name()))??;
        if let Some(error) = message.get("error") {
            bail!("{} says to {method}: {error}", self.peer.name());
        }
        Ok(message["result"].take())
    }

    /// Calls a tool; returns the text a model would read, and the duration.
    async fn call(&mut self, (tool, arguments): (&str, Value)) -> Result<(String, Duration)> {
        let started = Instant::now();
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        let elapsed = started.elapsed();
        let parts = result["content"].as_array().into_iter().flatten();
        let text: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
        let text = text.join("\n");
        if result["isError"] == json!(true) {
            bail!("{}: {tool}: {text}", self.peer.name());
        }
        Ok((text, elapsed))
    }

    /// Marks for the page's observer every element that has a handle in a snapshot.
    async fn mark(&mut self, snapshot: &str) -> Result<()> {
        const TELL: &str = "one.dispatchEvent(new CustomEvent('witness-mark', { composed: true }))";
        let handles: Vec<String> = snapshot.lines().filter_map(|line| self.peer.handle(line)).collect();
        match self.peer {
            Peer::Playwright => {
                for some in handles.chunks(500) {
                    let code = format!(
                        "async (page) => {{ for (const ref of {}) {{ try {{ await page.locator('aria-ref=' + ref).evaluate((one) => {TELL}, undefined, {{ timeout: 5000 }}); }} catch {{}} }} }}",
                        json!(some)
                    );
                    self.call(("browser_run_code_unsafe", json!({ "code": code }))).await?;
                }
            }
            Peer::DevTools => {
                let function = format!("(...all) => {{ for (const one of all) {TELL}; return 1; }}");
                let script_for = |some: &[String]| {
                    ("evaluate_script", json!({ "pageId": 1, "function": function, "args": some }))
                };
                for some in handles.chunks(50) {
                    // Elements of two frames cannot be passed together, and nodes without an element cannot be
                    // passed at all.
                    if self.call(script_for(some)).await.is_err() {
                        for handle in some.chunks(1) {
                            let _untold = self.call(script_for(handle)).await;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Runs one of the tools through all pages, in one browser.
///
/// # Errors
/// When it does not do its part.
pub async fn measure(
    peer: Peer,
    modules: &Path,
    pages: &[ServedPage],
    form: &ServedPage,
) -> Result<ToolResults> {
    let mut results = Vec::new();
    let first_time = first(peer, modules, form).await?;
    let chromium = Chromium::start("about:blank").await?;
    let mut server = Server::start(peer, modules, chromium.port).await?;
    for page in pages {
        results.push(one(&mut server, &chromium, page).await.with_context(|| page.page.name.to_owned())?);
    }
    let process = server.process.id().context("it ended")?;
    let memory = memory::proportional(process)?.values().sum();
    Ok(ToolResults { seen: results, first: first_time, memory })
}

/// The acts in a page so far.
#[derive(Default)]
struct ActTimes {
    clicks: Vec<Duration>,
    fills: Vec<Duration>,
    /// Durations of a click plus the snapshot that shows its changes.
    told: Vec<Duration>,
    replies: Vec<usize>,
    with_change: Vec<usize>,
}

async fn one(server: &mut Server, chromium: &Chromium, page: &ServedPage) -> Result<PageResult> {
    let peer = server.peer;
    server.call(peer.navigate(&page.url)).await?;
    page.come_to_rest().await;
    let (snapshot, elapsed) = server.call(peer.snapshot()).await?;
    let (button, field) = (page.page.button, page.page.field);
    let mut handles = (peer.handle_of(&snapshot, button)?, peer.handle_of(&snapshot, field)?);
    let mut acts = ActTimes::default();
    for run in 0..RUNS {
        let (reply, elapsed) = server.call(peer.click(&handles.0)).await?;
        let (visible, looked) = server.call(peer.snapshot()).await?;
        acts.clicks.push(elapsed);
        acts.told.push(elapsed + looked);
        acts.replies.push(estimate_tokens(&reply));
        acts.with_change.push(estimate_tokens(&reply) + estimate_tokens(&visible));
        // Some tools number everything again each time.
        handles = (peer.handle_of(&visible, button)?, peer.handle_of(&visible, field)?);
        let (reply, elapsed) = server.call(peer.fill(&handles.1, &page.page.text.of(run))).await?;
        let (visible, _) = server.call(peer.snapshot()).await?;
        acts.fills.push(elapsed);
        acts.replies.push(estimate_tokens(&reply));
        acts.with_change.push(estimate_tokens(&reply) + estimate_tokens(&visible));
        handles = (peer.handle_of(&visible, button)?, peer.handle_of(&visible, field)?);
    }
    server.call(peer.navigate("about:blank")).await?;
    server.call(peer.navigate(&page.url)).await?;
    page.come_to_rest().await;
    let (next_snapshot, _) = server.call(peer.snapshot()).await?;
    server.mark(&next_snapshot).await?;
    let connected = chromium.browser().connect().await?;
    let watched = attach(&connected, page.page.title).await?;
    let targets = targets(&watched).await?;
    Ok(PageResult {
        snapshot: estimate_tokens(&snapshot),
        // Neither lists only targets, nor is there more to read.
        listed: estimate_tokens(&snapshot),
        whole: estimate_tokens(&snapshot),
        look: elapsed,
        reply: numbers_of(&acts.replies)?.median,
        with_change: numbers_of(&acts.with_change)?.median,
        click: Figures::of_times(&acts.clicks)?,
        fill: Figures::of_times(&acts.fills)?,
        told: Figures::of_times(&acts.told)?,
        shown: targets.clone(),
        targets,
    })
}

/// Measures from the first call to a click the page received: the server is already running, and attaches now.
async fn first(peer: Peer, modules: &Path, form: &ServedPage) -> Result<f64> {
    let chromium = Chromium::start(&form.url).await?;
    // It is loaded before anything attaches.
    drop(attach(&chromium.browser().connect().await?, form.page.title).await?);
    let mut server = Server::start(peer, modules, chromium.port).await?;
    let started = wall_clock();
    let (snapshot, _) = server.call(peer.snapshot()).await?;
    server.call(peer.click(&peer.handle_of(&snapshot, form.page.button)?)).await?;
    let connected = chromium.browser().connect().await?;
    let page = attach(&connected, form.page.title).await?;
    let felt = input_time(&page, "click").await?.context("the click was felt")?;
    Ok(felt - started)
}
