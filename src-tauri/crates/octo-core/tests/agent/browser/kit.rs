//! A browser, a site and a model that follows a plan.

use super::*;
use octo_testkit::{CHROMIUM_HEADLESS_SWITCHES, CHROMIUM_SWITCHES, chromium_or_skip};

/// Chromium with its own profile. It ends with the test.
pub struct Chromium {
    process: Child,
    profile: tempfile::TempDir,
}

impl Chromium {
    pub fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Returns `None` if Chromium is missing and was not promised.
    pub fn start_with(arguments: &[&str]) -> Option<Self> {
        let program = chromium_or_skip()?;
        let profile = tempfile::tempdir().expect("a profile");
        let process = Command::new(program)
            .args(CHROMIUM_SWITCHES)
            .args(CHROMIUM_HEADLESS_SWITCHES)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(arguments)
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium starts");
        let browser = Self { process, profile };
        let port = browser.profile.path().join("DevToolsActivePort");
        let started = std::time::Instant::now();
        while !std::fs::read_to_string(&port).is_ok_and(|text| text.lines().count() == 2) {
            assert!(started.elapsed() < PATIENCE, "Chromium never listened");
            thread::sleep(Duration::from_millis(20));
        }
        Some(browser)
    }

    pub async fn chosen_by(&self, rig: &Rig) {
        let choice = BrowserChoice::Folder { path: self.profile.path().display().to_string() };
        rig.octo.call(ChooseBrowser { choice }).await.expect("the browser is chosen");
    }
}

impl Chromium {
    /// Returns its debugging port and the path there.
    pub fn debugging_port(&self) -> (u16, String) {
        let reported =
            std::fs::read_to_string(self.profile.path().join("DevToolsActivePort")).expect("its port");
        let (port, path) = reported.split_once('\n').expect("two lines");
        (port.parse().expect("a port"), path.trim().to_owned())
    }

    /// The files in the person's downloads folder, by name.
    pub fn downloads(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.profile.path().join("Downloads"));
        let mut names: Vec<String> = folder
            .into_iter()
            .flatten()
            .flatten()
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Pages on this machine: `127.0.0.1` and `localhost` are two sites to a browser.
#[derive(Clone)]
pub struct Site {
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub fn start(pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let pages: HashMap<String, String> = pages
            .iter()
            .map(|(path, html)| ((*path).to_owned(), html.replace("PORT", &port.to_string())))
            .collect();
        let requested: Arc<Mutex<Vec<String>>> = Arc::default();
        let site = Self { port, asked: requested.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pages, requested) = (pages.clone(), requested.clone());
                thread::spawn(move || respond(stream, &pages, &requested));
            }
        });
        site
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn elsewhere(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("the list").clone()
    }

    /// Returns a step that blocks until a path was requested.
    pub fn wait_for(&self, path: &'static str) -> impl Fn() + Send + 'static {
        let requested = self.asked.clone();
        move || {
            let started = std::time::Instant::now();
            while !requested.lock().expect("the list").iter().any(|asked| asked == path) {
                assert!(started.elapsed() < PATIENCE, "nobody asked for {path}");
                thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Waits until a page or a script has requested a path.
    pub async fn asked_for(&self, path: &str) {
        let started = std::time::Instant::now();
        while !self.asked().iter().any(|asked| asked == path) {
            assert!(started.elapsed() < PATIENCE, "nobody asked for {path}: {:?}", self.asked());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

pub fn respond(stream: TcpStream, pages: &HashMap<String, String>, requested: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(path) = lines.next().and_then(|line| line.split(' ').nth(1).map(str::to_owned)) else { return };
    let _head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    requested.lock().expect("the list").push(path.clone());
    let page = pages.get(path.split('?').next().unwrap_or_default());
    let (status, body) = page.map_or(("404 Not Found", "nothing"), |page| ("200 OK", page.as_str()));
    // A path that begins with `/file` is a download, whatever requested it.
    let kept = path.strip_prefix('/').filter(|name| name.starts_with("file"));
    let kept = kept.map(|name| format!("content-disposition: attachment; filename={name}.txt\r\n"));
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n{}content-length: {}\r\nconnection: close\r\n\r\n",
        kept.unwrap_or_default(),
        body.len()
    );
    let _gone = (&stream).write_all(format!("{head}{body}").as_bytes());
}

pub type PlanStep = Box<dyn Fn(&str) -> Value + Send>;

/// Returns a model that makes these calls of `browser`, each built from all text read so far.
pub fn plan(steps: Vec<PlanStep>) -> Script {
    Script::from_fn(move |request| {
        let read: String = request.all_results().iter().map(|result| format!("{}\n", result.text)).collect();
        match steps.get(request.answers()) {
            Some(step) => match step(&read) {
                Value::String(words) => Reply::text(words),
                call => Reply::call("browser", call),
            },
            None => Reply::text("done"),
        }
    })
}

pub fn step(step: impl Fn(&str) -> Value + Send + 'static) -> PlanStep {
    Box::new(step)
}

/// Returns the number after a name, where it was last read.
pub fn number(read: &str, name: &str) -> u32 {
    let at = read.rfind(name).unwrap_or_else(|| panic!("{name} was read: {read}"));
    let rest = read.get(at..).unwrap_or_default();
    let digits: String =
        rest.split('[').nth(1).unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("a number behind {name}: {read}"))
}

/// Ends the turn with these words; later steps belong to the next turn.
pub fn says(words: &'static str) -> PlanStep {
    step(move |_| json!(words))
}

pub fn open(url: String) -> PlanStep {
    step(move |_| json!({ "action": "open", "url": url }))
}

pub fn click(name: &'static str) -> PlanStep {
    step(move |read| json!({ "action": "act", "kind": "click", "ref": number(read, name) }))
}

pub fn fill(name: &'static str, text: &'static str) -> PlanStep {
    step(move |read| json!({ "action": "act", "kind": "fill", "ref": number(read, name), "text": text }))
}

pub fn snapshot() -> PlanStep {
    step(|_| json!({ "action": "snapshot" }))
}

pub async fn rig_with(browser: &Chromium, script: Script) -> Rig {
    let rig = Rig::new(script).await;
    browser.chosen_by(&rig).await;
    rig
}

/// Returns the reason for a call's question.
pub fn reason(question: &Question) -> &AskReason {
    match &question.ask {
        QuestionContent::Permission { reason, .. } => reason,
        QuestionContent::Feedback { .. } => panic!("a permission: {question:?}"),
    }
}

pub async fn last(rig: &Rig, session: SessionId) -> String {
    results(&rig.snapshot(session).await).pop().expect("a result")
}
