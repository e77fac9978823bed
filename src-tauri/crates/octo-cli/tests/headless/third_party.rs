//! A third-party server: the LiteLLM proxy, with one of our models behind it, in every wire format it serves.
//! Its format code is independent of ours, and so is its idea of a stream, which is the point of this test.
//!
//! The model behind it (`witness/house.py`) is LiteLLM's "custom provider", because its built-in mock
//! (`mock_response`) never streams on two of its routes: `/v1/messages` answers with one JSON body,
//! `/v1/responses` with status 500. It has no Bedrock of its own: those routes pass everything on to AWS.
//!
//! The proxy is installed from PyPI into the build folder, once for each list of versions. That downloads some
//! 200 MB, so `cargo xtask soak` runs this and the gate does not.
#![expect(clippy::print_stderr, reason = "what was left out must be seen")]

use crate::support::{ExecResult, exec};
use octo_protocol::{CallState, CallStatus, Event, Usage};
use octo_testkit::TempHome;
use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const REQUIREMENTS: &str = include_str!("third_party/requirements.txt");
const PROXY: &str = include_str!("third_party/proxy.yaml");
const HOUSE: &str = include_str!("third_party/house.py");
/// The key of `proxy.yaml`.
const KEY: &str = "sk-witness-0123456789";

/// Timeout of the installation.
const INSTALLING: Duration = Duration::from_secs(15 * 60);
/// Timeout of the proxy's start, which takes ten seconds on an idle machine.
const STARTING: Duration = Duration::from_secs(180);

/// The formats, each with the path after the server's address.
const FORMATS: [(&str, &str); 3] = [("anthropic", ""), ("openai-chat", "/v1"), ("openai-responses", "/v1")];

#[test]
#[ignore = "installs a third party's server: cargo xtask soak runs it"]
fn litellm_is_understood_in_every_format_it_serves() {
    let python = match installed() {
        Ok(python) => python,
        Err(error) => return eprintln!("left out: the LiteLLM proxy as a witness: {error}"),
    };
    let proxy = LiteLlmProxy::start(&python);
    for (format, path) in FORMATS {
        let home = TempHome::new();
        home.write("a.txt", "the first file\n");
        home.write("b.txt", "第二个文件\n");
        let exec_result = proxy.ask(&home, format, path, "house", &["--json", "read them"]).expect(0);
        assert!(!exec_result.err.contains("Trying again"), "{format}: {}", exec_result.err);
        let (mut texts, mut statuses, mut usages) = (Vec::new(), Vec::new(), Vec::new());
        for envelope in exec_result.events() {
            match envelope.event {
                Event::BlockAdded { block: octo_protocol::Block::Text { text }, .. } => texts.push(text),
                Event::CallChanged { call } => {
                    if let CallState::Ended { status, .. } = call.state {
                        statuses.push((call.tool, status));
                    }
                }
                Event::CallBilled { call } => usages.push(call.usage),
                _ => {}
            }
        }
        assert_eq!(texts[0], "I look first. 先看。", "{format}");
        let reader = ("file_reader".to_owned(), CallStatus::Done);
        assert_eq!(statuses, [reader.clone(), reader], "{format}");
        let said = texts.last().unwrap();
        assert!(said.contains("the first file") && said.contains("第二个文件"), "{format}: {said}");
        assert!(said.starts_with("It says «") && said.ends_with("». 完。"), "{format}: {said}");
        let usage = Usage { input: 1100, output: 70, ..Usage::default() };
        assert_eq!(usages, [Some(usage), Some(usage)], "{format}");

        // Its errors are reported in its own words, at once.
        let exec_result = proxy.ask(&home, format, path, "nobody-knows-it", &["hi"]).expect(1);
        assert!(
            exec_result.err.contains("nobody-knows-it") && !exec_result.err.contains("Trying again"),
            "{format}: {}",
            exec_result.err
        );
        assert!(!exec_result.err.contains(KEY), "{format}: {}", exec_result.err);
    }
    // An answer that arrived completely was paid for: it is not requested again.
    let exec_result = proxy.ask(&TempHome::new(), "anthropic", "", "whole", &["hi"]).expect(1);
    assert!(
        exec_result.err.contains("cannot stream") && !exec_result.err.contains("Trying again"),
        "{}",
        exec_result.err
    );
}

/// The proxy, until it is dropped.
struct LiteLlmProxy {
    process: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl LiteLlmProxy {
    fn start(python: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        for (name, text) in [("proxy.yaml", PROXY), ("house.py", HOUSE)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let output = fs::File::create(&log).unwrap();
        let process = Command::new(python.with_file_name("litellm"))
            .args(["--config", "proxy.yaml", "--host", "127.0.0.1", "--port", &port.to_string()])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.path())
            // Without it the start waits for a price list from the internet.
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .env("LITELLM_TELEMETRY", "False")
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let mut proxy = Self { process, address: format!("127.0.0.1:{port}"), _folder: folder };
        let deadline = Instant::now() + STARTING;
        while !proxy.is_alive() {
            let ended = proxy.process.try_wait().unwrap();
            let said = || fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "the proxy ended: {ended:?}\n{}", said());
            assert!(Instant::now() < deadline, "the proxy does not answer\n{}", said());
            thread::sleep(Duration::from_millis(100));
        }
        proxy
    }

    fn is_alive(&self) -> bool {
        let asked = TcpStream::connect(&self.address).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            write!(stream, "GET /health/liveliness HTTP/1.0\r\nHost: {}\r\n\r\n", self.address)?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).map(|_| answer)
        });
        asked.is_ok_and(|answer| answer.lines().next().is_some_and(|line| line.contains(" 200 ")))
    }

    fn ask(&self, home: &TempHome, format: &str, path: &str, model: &str, arguments: &[&str]) -> ExecResult {
        let url = format!("http://{}{path}", self.address);
        let options = ["--protocol", format, "--base-url", &url, "--model", model, "--mode", "autonomous"];
        let mut command = exec(home, &[&options, arguments].concat());
        ExecResult::of(command.env("OCTO_API_KEY", KEY).output().unwrap())
    }
}

impl Drop for LiteLlmProxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a Python with the proxy installed, or the reason why there is none.
fn installed() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("witness");
    let python = folder.join("bin").join("python");
    // Written last: an interrupted installation is repeated.
    let whole = folder.join("installed");
    if fs::read_to_string(&whole).is_ok_and(|list| list == REQUIREMENTS) {
        return Ok(python);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    }
    eprintln!("installing the LiteLLM proxy into {}", folder.display());
    let deadline = Instant::now() + INSTALLING;
    work(Command::new("python3").args(["-m", "venv"]).arg(&folder), deadline)?;
    let list = folder.join("requirements.txt");
    fs::write(&list, REQUIREMENTS).map_err(|error| error.to_string())?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
    // Only packages that need no build, so that none of their code runs during the installation.
    pip.args(["--only-binary", ":all:", "--no-deps", "--requirement"]).arg(&list);
    work(&mut pip, deadline)?;
    fs::write(&whole, REQUIREMENTS).map_err(|error| error.to_string())?;
    Ok(python)
}

/// Runs a command to its end, or returns why it failed.
fn work(command: &mut Command, deadline: Instant) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let said = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let output = said.reopen().map_err(|error| error.to_string())?;
    let errors = output.try_clone().map_err(|error| error.to_string())?;
    let mut running = command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let status = loop {
        match running.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                let _ = running.kill();
                let _ = running.wait();
                return Err(format!("{name} took longer than {} minutes", INSTALLING.as_secs() / 60));
            }
            None => thread::sleep(Duration::from_millis(200)),
        }
    };
    if status.success() {
        return Ok(());
    }
    let said = fs::read_to_string(said.path()).unwrap_or_default();
    let last = said.trim_end().lines().last().unwrap_or_default();
    Err(format!("{name} ended with {status}: {last}"))
}
