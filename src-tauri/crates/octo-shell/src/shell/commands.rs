//! The commands of a session: starting them, waiting for them, ending them.

use super::{
    Removals, ShellConfig,
    carry::{self, Beginning, Carry},
    processes::{self, Process},
    task::{Start, Task, locked},
};
use crate::{
    Carried, Input, MODEL_OUTPUT_BYTES, Report, Run, ShellError, environment,
    output::{LogFile, Stage, Transcript},
};
use octo_protocol::{CommandState, SessionId};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// Commands of a session that may run at a time.
const MAX_RUNNING: usize = 16;

/// Commands that ended and were not asked after, whose ends are kept.
const MAX_ENDED: usize = 16;

/// How often a look is taken whether a command waits for input.
const LOOK: Duration = Duration::from_millis(250);

/// How long the end of a killed command is waited for.
const AFTER_KILL: Duration = Duration::from_secs(1);

/// Logs are kept for a week, as the reports that name them are read by then.
const KEEP_LOGS: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Length of a handle; see [`new_handle`].
const HANDLE_LENGTH: usize = 9;

pub(super) struct Commands {
    config: ShellConfig,
    kept: Arc<Kept>,
    tasks: Mutex<BTreeMap<String, Arc<Task>>>,
    started: AtomicU64,
    closed: AtomicBool,
}

/// What ends of commands change.
struct Kept {
    file: PathBuf,
    carry: Mutex<Newest>,
    /// Processes that outlived their command.
    left: Mutex<Vec<Process>>,
}

/// What is carried, and which command it is from: one that ends late does not undo what a later one did.
struct Newest {
    carry: Carry,
    command: u64,
}

/// Why a wait ended.
enum Seen {
    Ended,
    Waits,
    TimeOver,
    Cancelled,
}

impl Commands {
    pub(super) fn new(config: ShellConfig) -> Self {
        let file = config.scratch.join("carried.json");
        let carry = Carry::load(&file);
        Self {
            kept: Arc::new(Kept {
                file,
                carry: Mutex::new(Newest { carry, command: 0 }),
                left: Mutex::default(),
            }),
            config,
            tasks: Mutex::default(),
            started: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    pub(super) fn session(&self) -> SessionId {
        self.config.session
    }

    pub(super) fn current_dir(&self, folder: &Path) -> PathBuf {
        locked(&self.kept.carry).carry.directory(folder)
    }

    pub(super) fn command_of(&self, handle: &str) -> Option<(String, PathBuf)> {
        locked(&self.tasks).get(handle).map(|task| (task.command.clone(), task.cwd.clone()))
    }

    pub(super) async fn run(&self, run: Run) -> Result<Report, ShellError> {
        let (wait, cancel) = (run.wait, run.cancel.clone());
        let task = self.start(run).await?;
        let mut abandoned = Abandoned(Some(Arc::clone(&task)));
        let report = self.observe(&task, wait, &cancel).await;
        abandoned.0 = None;
        Ok(report)
    }

    pub(super) async fn input(&self, input: Input) -> Result<Report, ShellError> {
        let task = self.task(&input.handle)?;
        task.watch(Some(input.live));
        if !input.text.is_empty() && task.end().borrow().is_none() {
            let typing = Arc::clone(&task);
            let typed = tokio::task::spawn_blocking(move || typing.type_in(&input.text)).await;
            typed.map_err(|error| ShellError::Input(io::Error::other(error)))??;
        }
        Ok(self.observe(&task, input.wait, &input.cancel).await)
    }

    pub(super) async fn kill(&self, handle: &str) -> Result<Report, ShellError> {
        let task = self.task(handle)?;
        end(&task).await;
        Ok(self.report(&task, &Seen::Cancelled))
    }

    pub(super) async fn shutdown(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let tasks = std::mem::take(&mut *locked(&self.tasks));
        let ends: Vec<_> =
            tasks.into_values().map(|task| tokio::spawn(async move { end(&task).await })).collect();
        for end in ends {
            // One that panicked has nothing more to end.
            let _ = end.await;
        }
        processes::kill_left(&std::mem::take(&mut *locked(&self.kept.left)));
    }

    fn task(&self, handle: &str) -> Result<Arc<Task>, ShellError> {
        let found = locked(&self.tasks).get(handle).cloned();
        found.ok_or_else(|| ShellError::UnknownHandle { handle: handle.to_owned() })
    }

    async fn start(&self, run: Run) -> Result<Arc<Task>, ShellError> {
        if self.closed.load(Ordering::SeqCst) {
            return Err(ShellError::Closed);
        }
        if run.command.contains('\0') {
            return Err(ShellError::NulByte);
        }
        if let Some((name, _)) =
            run.env.iter().find(|(name, value)| !is_variable(name) || value.contains('\0'))
        {
            return Err(ShellError::BadVariable { name: name.clone() });
        }
        self.make_room()?;
        // Asking the login shell, the first time, may take longer than a stop may.
        let mut login = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(ShellError::Cancelled),
            login = self.config.login.variables(&self.config.secret_variables) => login,
        };
        let carry = locked(&self.kept.carry).carry.clone();
        let cwd = run.cwd.clone().unwrap_or_else(|| carry.directory(&run.folder));
        if !cwd.is_dir() {
            return Err(ShellError::NoFolder { path: cwd });
        }
        let mut variables = match run.carried {
            Carried::All => carry.variables(&login),
            Carried::FolderOnly => environment::vetted(login.clone(), &run.folder),
        };
        variables.extend(run.env.iter().cloned());
        variables.retain(|name, _| !environment::is_hidden(name, &self.config.secret_variables));
        if let Removals::Trash { home } = &self.config.removals {
            variables.extend(octo_workspace::rm::environment(home, self.config.session, &run.folder));
            environment::put_first(&mut variables, &home.join("bin"));
            // So that it is no change of the command's.
            environment::put_first(&mut login, &home.join("bin"));
        }

        let handle = new_handle();
        let functions = match run.carried {
            Carried::All => carry.functions(),
            Carried::FolderOnly => "",
        };
        let files = Files::write(&self.config.scratch, &handle, &run.command, functions)
            .map_err(ShellError::Start)?;
        let program = bash(variables.get("PATH").map(String::as_str)).ok_or(ShellError::NoBash)?;
        let log = LogFile::new(
            self.config.scratch.join("logs").join(format!("{handle}.log")),
            MODEL_OUTPUT_BYTES - 8,
        );
        let mut transcript = Transcript::new(log);
        transcript.watch(Some(Arc::clone(&run.live)));

        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let script = files.script(run.carried);
        let kept = Arc::clone(&self.kept);
        let secret = self.config.secret_variables.clone();
        let task = Task::start(Start {
            handle,
            command: run.command,
            folder: run.folder.clone(),
            cwd,
            program: &program,
            script: &script,
            variables: &variables,
            transcript,
            ended: Box::new(move |left| {
                if let Some(state) = files.state().as_deref().and_then(carry::read) {
                    let beginning = Beginning {
                        folder: &run.folder,
                        named: run.cwd.as_deref(),
                        login: &login,
                        own: &run.env,
                        secret: &secret,
                    };
                    kept.take(number, &state, &beginning, run.carried);
                }
                kept.remember(left);
            }),
        })?;
        locked(&self.tasks).insert(task.handle.clone(), Arc::clone(&task));
        // Shut down meanwhile: nobody would end it any more.
        if self.closed.load(Ordering::SeqCst) {
            end(&task).await;
            return Err(ShellError::Closed);
        }
        Ok(task)
    }

    /// Makes sure another command may be started; ends nobody asked after are forgotten first.
    fn make_room(&self) -> Result<(), ShellError> {
        let mut tasks = locked(&self.tasks);
        let (ended, running): (Vec<_>, Vec<_>) =
            tasks.values().cloned().partition(|task| task.end().borrow().is_some());
        if running.len() >= MAX_RUNNING {
            return Err(ShellError::TooMany { limit: MAX_RUNNING });
        }
        let mut ended = ended;
        ended.sort_by_key(|task| task.age());
        for task in ended.into_iter().skip(MAX_ENDED) {
            tasks.remove(&task.handle);
        }
        Ok(())
    }

    /// Waits for what there is to report.
    async fn observe(&self, task: &Arc<Task>, wait: Duration, cancel: &CancellationToken) -> Report {
        let mut ended = task.end();
        let deadline = Instant::now() + wait;
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let seen = loop {
            tokio::select! {
                biased;
                // In a block of its own: what it borrows must not be held while another branch waits.
                () = async { drop(ended.wait_for(Option::is_some).await) } => break Seen::Ended,
                () = cancel.cancelled() => {
                    end(task).await;
                    break Seen::Cancelled;
                }
                () = sleep_until(deadline) => break Seen::TimeOver,
                _ = look.tick() => {
                    let looked_at = Arc::clone(task);
                    // It reads files of the system, and blocks.
                    if tokio::task::spawn_blocking(move || looked_at.waits_for_input()).await.unwrap_or(false) {
                        break Seen::Waits;
                    }
                }
            }
        };
        self.report(task, &seen)
    }

    fn report(&self, task: &Arc<Task>, seen: &Seen) -> Report {
        task.hand_on();
        task.watch(None);
        let end = *task.end().borrow();
        let state = match (end, seen) {
            (_, Seen::Cancelled) => CommandState::Killed,
            (Some(_), _) if task.was_killed() => CommandState::Killed,
            (Some(end), _) => end.state,
            (None, Seen::Waits) => CommandState::Waiting,
            (None, Seen::Ended | Seen::TimeOver) => CommandState::Running,
        };
        let over = !matches!(state, CommandState::Waiting | CommandState::Running);
        let output = task.report(if over { Stage::Ended } else { Stage::Running });
        if over {
            locked(&self.tasks).remove(&task.handle);
        }
        Report {
            state,
            output_model: output.model,
            output_view: output.view,
            truncated: output.truncated,
            output_bytes: output.bytes,
            duration: end.map_or_else(|| task.age(), |end| end.after),
            command: task.command.clone(),
            log: output.log,
            handle: (!over).then(|| task.handle.clone()),
            cwd: task.cwd.clone(),
            cwd_after: self.current_dir(&task.folder),
        }
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        for task in locked(&self.tasks).values() {
            task.kill();
        }
        processes::kill_left(&locked(&self.kept.left));
    }
}

impl Kept {
    fn take(&self, number: u64, left: &carry::Left, beginning: &Beginning<'_>, carried: Carried) {
        let mut newest = locked(&self.carry);
        if number < newest.command {
            return;
        }
        newest.command = number;
        match carried {
            Carried::All => newest.carry.take(left, beginning),
            Carried::FolderOnly => newest.carry.take_directory(left, beginning),
        }
        if let Err(error) = newest.carry.save(&self.file) {
            tracing::warn!(%error, "what a command left is carried in this run only");
        }
    }

    fn remember(&self, left: Vec<Process>) {
        let mut all = locked(&self.left);
        all.extend(left);
        let surplus = all.len().saturating_sub(1_000);
        all.drain(..surplus);
    }
}

/// Ends a command whose run nobody waits for any more.
struct Abandoned(Option<Arc<Task>>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.kill();
        }
    }
}

/// Ends a command, within three seconds whatever it does.
async fn end(task: &Arc<Task>) {
    let ending = Arc::clone(task);
    // A thread that panicked ended nothing more than it did.
    let _ = tokio::task::spawn_blocking(move || ending.terminate()).await;
    let mut ended = task.end();
    let _ = timeout(AFTER_KILL, ended.wait_for(Option::is_some)).await;
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Nine random letters and digits: short enough to be repeated without a mistake, too many to be guessed.
fn new_handle() -> String {
    const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut number = uuid::Uuid::new_v4().as_u128();
    (0..HANDLE_LENGTH)
        .map(|_| {
            let at = usize::try_from(number % 36).unwrap_or(0);
            number /= 36;
            char::from(ALPHABET.get(at).copied().unwrap_or(b'0'))
        })
        .collect()
}

/// The first `bash` on the path, or where it usually is.
fn bash(path: Option<&str>) -> Option<PathBuf> {
    std::env::split_paths(path.unwrap_or_default())
        .filter(|folder| folder.is_absolute())
        .chain(["/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from))
        .map(|folder| folder.join("bash"))
        .find(|bash| {
            bash.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}

/// A command's own files; they go when it is over.
struct Files {
    line: PathBuf,
    functions: PathBuf,
    state: PathBuf,
}

impl Files {
    fn write(scratch: &Path, handle: &str, line: &str, functions: &str) -> io::Result<Self> {
        for folder in ["commands", "logs"] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(scratch.join(folder))?;
        }
        prune(&scratch.join("logs"));
        prune(&scratch.join("commands"));
        let file = |kind: &str| scratch.join("commands").join(format!("{handle}.{kind}"));
        let files = Self { line: file("line"), functions: file("functions"), state: file("state") };
        for (path, text) in [(&files.line, line), (&files.functions, functions), (&files.state, "")] {
            fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(path)?
                .write_all(text.as_bytes())?;
        }
        Ok(files)
    }

    /// What `bash` runs. The line is read from a file and given to `eval` whole, so that a quote or a
    /// here-document without an end is an error `bash` reports, and not a wait for the rest.
    fn script(&self, carried: Carried) -> String {
        let begin = match carried {
            Carried::All => format!("builtin source {} 2>/dev/null\n", quoted(&self.functions)),
            // Patterns match neither hidden files nor names that could pass for options; the policy counts on it.
            Carried::FolderOnly => "GLOBIGNORE='-*:.[!/]*:*/.*'\n".to_owned(),
        };
        let keep = carry::SCRIPT.replace("@STATE@", &quoted(&self.state));
        format!("{begin}{keep}builtin eval -- \"$(<{})\"", quoted(&self.line))
    }

    /// What the command wrote when it ended.
    fn state(&self) -> Option<Vec<u8>> {
        fs::read(&self.state).ok().filter(|state| !state.is_empty())
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in [&self.line, &self.functions, &self.state] {
            let _ = fs::remove_file(path);
        }
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// Removes files nobody asks for any more.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .map(|time| SystemTime::now().duration_since(time));
        if matches!(age, Ok(Ok(age)) if age > KEEP_LOGS) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
