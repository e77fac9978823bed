//! Test support for the tools: a session's folder, and calls in the form a model makes them.

use crate::{
    BuiltinCommand, BuiltinCommands, CommandOrigin, Effects, Http, SearchEngine, SearchEngines, Site,
    SiteGrant, TodoList, ToolContext, ToolError, ToolOutput, Toolset, TrashFile, TrashListing, Trashcan,
    TurnHistory, WebSearch,
};
use futures::future::BoxFuture;
use octo_protocol::{
    CallId, RemovedBy, SessionId, ToolView, TrashEntry, TrashId, TrashKind, TrashTotals, TurnId,
};
use octo_shell::{LoginEnvironment, Shell, ShellConfig};
use octo_store::Store;
use octo_workspace::{
    Blobs, FileScope, Files, Outputs, PendingEntry, Removal, Scripts, TakenNamePolicy, TimeLimits,
    TimeMachine, Trash, TrashScan, TrashSlip,
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use tokio_util::sync::CancellationToken;

/// A session in a folder of its own, with a sibling folder `out`.
pub(crate) struct Bench {
    _keep: tempfile::TempDir,
    pub folder: PathBuf,
    pub out: PathBuf,
    pub context: ToolContext,
    pub trash: Trash,
    tools: Toolset,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let base = home.path().canonicalize().unwrap();
        let (folder, out) = (base.join("project"), base.join("out"));
        for folder in [&folder, &out] {
            fs::create_dir(folder).unwrap();
        }
        let session = SessionId::new();
        let (store, blobs) = (Store::open(&base.join("home")).unwrap(), Blobs::new(base.join("blobs")));
        let machine = TimeMachine::new(store, blobs.clone(), &base.join("home"), TimeLimits::default());
        let trash = Trash::in_home(&base.join("octo"));
        let context = ToolContext {
            session,
            call: CallId::new(),
            cwd: folder.clone(),
            files: Files::new(FileScope {
                folder: folder.clone(),
                readable: vec![base.join("outputs")],
                writable: vec![],
            }),
            blobs,
            shell: Shell::new(ShellConfig {
                session,
                scratch: base.join("scratch"),
                temporary: octo_workspace::TemporaryFolder::at(base.join("tmp")),
                login: LoginEnvironment::from_variables([]),
                secret_variables: vec![],
                news: Arc::new(|_| {}),
                time_limit: octo_shell::COMMAND_TIME_LIMIT,
                removals: octo_shell::Removals::System,
                supervision: octo_shell::Supervision::Session,
                closed_folders: octo_shell::ClosedFolders::default(),
                network: None,
            }),
            outputs: Outputs::new(base.join("outputs")),
            documents: octo_documents::DocumentReader::from_this_program(),
            scripts: Scripts::new(base.join("scripts")),
            http: Http::new(octo_llm::Network { proxy: octo_llm::Proxy::None, ..Default::default() }),
            search: WebSearch::new(Arc::new(FixedEngines(Vec::new()))),
            shell_folder: None,
            rewritten: None,
            confinement: None,
            running: None,
            trash: Arc::new(DiskTrash(trash.clone())),
            browser: Arc::new(crate::NoBrowser),
            browser_permission: None,
            builtin: Arc::new(crate::NoBuiltinCommands),
            skills: Arc::new(crate::NoSkills),
            todos: TodoList::default(),
            tasks: TurnHistory::new(machine, session, TurnId::new()),
            live: Arc::new(|_| {}),
            cancel: CancellationToken::new(),
            approved_by: crate::Approver::Person,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { _keep: home, folder, out, context, trash, tools: Toolset::standard(), runtime }
    }

    /// Runs a call, with its arguments as the model's text.
    pub(crate) fn call_text(&self, tool: &str, arguments: &str) -> Result<ToolOutput, String> {
        let call = self.tools.prepare(tool, arguments).map_err(words)?;
        self.runtime.block_on(call.call.run(self.context.clone())).map_err(words)
    }

    /// Allows a local site in the same way as a rule of the person.
    pub(crate) fn allow(&mut self, site: Site) {
        self.context.http = self.context.http.with_grants([(site, SiteGrant::ByName)]);
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, String> {
        self.call_text(tool, &arguments.to_string())
    }

    /// Returns the text for the model.
    pub(crate) fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).unwrap().text
    }

    pub(crate) fn error(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).unwrap_err()
    }

    pub(crate) fn preview(&self, tool: &str, arguments: Value) -> Result<ToolView, String> {
        let call = self.tools.prepare(tool, &arguments.to_string()).map_err(words)?;
        self.runtime.block_on(call.call.preview(&self.context)).map_err(words)
    }

    pub(crate) fn effects(&self, tool: &str, arguments: Value) -> Effects {
        self.tools.prepare(tool, &arguments.to_string()).unwrap().call.effects(&self.folder)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Removes a file of another project.
    pub(crate) fn remove_in_other_project(&self, name: &str) {
        let path = self.out.join(name);
        fs::write(&path, "elsewhere").unwrap();
        let project = Some(self.out.display().to_string());
        let removal = Removal { remover: RemovedBy::Agent, session: None, project, command: None };
        self.trash.move_in(&path, &removal).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name)).unwrap()
    }
}

/// A trash without a store: it uses only the trash's own records.
struct DiskTrash(Trash);

impl DiskTrash {
    fn all(&self) -> Vec<TrashFile> {
        let in_trash = |entry| match entry {
            PendingEntry::InTrash(slip) => Some(*slip),
            PendingEntry::NotInTrash(_) => None,
        };
        let mut slips: Vec<TrashSlip> =
            self.0.pending_entries(TrashScan::All).unwrap().into_iter().filter_map(in_trash).collect();
        slips.reverse();
        slips.into_iter().map(|slip| self.file_of(slip)).collect()
    }

    fn file_of(&self, slip: TrashSlip) -> TrashFile {
        let measure = self.0.measure(slip.id, &slip.path).unwrap();
        let entry = TrashEntry {
            id: slip.id,
            kind: TrashKind::File,
            form: measure.form,
            name: slip.name().to_string_lossy().into_owned(),
            folder: slip.path.parent().unwrap().display().to_string(),
            size: measure.size,
            files: measure.files,
            link: measure.link,
            at: slip.at,
            who: slip.removal.remover,
            session: slip.removal.session,
            turn: None,
            project: slip.removal.project,
            command: slip.removal.command,
        };
        TrashFile { entry, path: slip.path }
    }

    fn old(&self, days: u32) -> Vec<TrashFile> {
        self.all().into_iter().filter(|_| days == 0).collect()
    }
}

fn totals(files: &[TrashFile]) -> TrashTotals {
    TrashTotals { things: files.len() as u64, bytes: files.iter().map(|file| file.entry.size).sum() }
}

fn ready_future<T: Send + 'static>(value: T) -> BoxFuture<'static, Result<T, ToolError>> {
    Box::pin(async { Ok(value) })
}

impl Trashcan for DiskTrash {
    fn files(&self, project: &Path, limit: u32) -> BoxFuture<'static, Result<TrashListing, ToolError>> {
        let all_files = self.all();
        let totals = totals(&all_files);
        let project = Some(project.display().to_string());
        let (mut files, others): (Vec<_>, Vec<_>) =
            all_files.into_iter().partition(|file| file.entry.project == project);
        let of_project = files.len();
        files.extend(others);
        files.truncate(limit as usize);
        ready_future(TrashListing { files, of_project, totals })
    }

    fn at_path(&self, path: &Path) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>> {
        ready_future(self.all().into_iter().filter(|file| file.path == path).collect())
    }

    fn file(&self, id: TrashId) -> BoxFuture<'static, Result<Option<TrashFile>, ToolError>> {
        ready_future(self.all().into_iter().find(|file| file.entry.id == id))
    }

    fn find_named(&self, name: &str, limit: u32) -> BoxFuture<'static, Result<Vec<TrashFile>, ToolError>> {
        let similar = self.all().into_iter().filter(|file| file.entry.name.contains(name));
        ready_future(similar.take(limit as usize).collect())
    }

    fn restore(&self, id: TrashId, target: &Path) -> BoxFuture<'static, Result<(), ToolError>> {
        let result = self
            .0
            .restore(id, target, &TakenNamePolicy::Refuse)
            .map(|_| ())
            .map_err(|error| crate::restore_error(&error));
        Box::pin(async { result })
    }

    fn count(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>> {
        ready_future(totals(&self.old(days)))
    }

    fn empty(&self, days: u32) -> BoxFuture<'static, Result<TrashTotals, ToolError>> {
        let expired = self.old(days);
        for file in &expired {
            self.0.purge(file.entry.id).unwrap();
        }
        ready_future(totals(&expired))
    }
}

/// A handler of builtin commands that records requests and gives a short answer.
#[derive(Clone, Default)]
pub(crate) struct RecordingCommands {
    pub shown: Arc<Mutex<Vec<BuiltinCommand>>>,
    pub done: Arc<Mutex<Vec<(BuiltinCommand, CommandOrigin)>>>,
}

impl BuiltinCommands for RecordingCommands {
    fn preview(
        &self,
        command: &BuiltinCommand,
        _asker: &CommandOrigin,
    ) -> BoxFuture<'static, Result<ToolView, ToolError>> {
        self.shown.lock().unwrap().push(command.clone());
        ready_future(ToolView::Plain { text: "what would change".to_owned() })
    }

    fn execute(
        &self,
        command: BuiltinCommand,
        asker: CommandOrigin,
        _cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<String, ToolError>> {
        self.done.lock().unwrap().push((command, asker));
        ready_future("answered in process".to_owned())
    }
}

/// Fixed search providers.
pub(crate) struct FixedEngines(pub Vec<SearchEngine>);

impl SearchEngines for FixedEngines {
    fn engines(&self) -> BoxFuture<'_, Vec<SearchEngine>> {
        Box::pin(async { self.0.clone() })
    }
}

fn words(error: ToolError) -> String {
    error.text
}

/// A web server on this machine with answers of the test, one connection at a time.
pub(crate) struct WebServer {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl WebServer {
    /// Starts the server. `respond` receives a request's head and body as text and returns the bytes of the
    /// whole answer.
    pub(crate) fn new(respond: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let received = requests.clone();
        // Ends with the test process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let Some(request) = request(&mut stream) else { continue };
                let bytes = respond(&request);
                received.lock().unwrap().push(request);
                // A client that has read enough closes the connection.
                let _ = stream.write_all(&bytes);
            }
        });
        Self { port, requests }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn site(&self) -> Site {
        Site::from_url(&self.url("/").parse().unwrap()).unwrap()
    }

    /// Returns the received requests, heads and bodies.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn request(stream: &mut TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        head.push_str(&line);
        let line = line.trim_end();
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).unwrap())
}

/// Returns an answer with status 200 and a body.
pub(crate) fn answer(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    respond("200 OK", &format!("content-type: {content_type}\r\n"), body)
}

/// Returns an answer.
pub(crate) fn respond(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head =
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Returns the path of a request.
pub(crate) fn path_of(request: &str) -> &str {
    request.split(' ').nth(1).unwrap()
}
