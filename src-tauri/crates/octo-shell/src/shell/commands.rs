//! The commands of a session: starting, waiting, ending.

#[cfg(unix)]
use super::temporary;
use super::{
    Removals, ShellConfig,
    background::{CommandIdentity, Observation, Registry, now},
    carry::{self, CarriedState, InitialState},
    persistent_state::PersistentState,
    place::{CommandFiles, interpreter},
    process::{ProcessStart, ShellProcess},
    tree::Survivors,
};
use crate::{
    CarryScope, CommandReport, CommandRun, MODEL_OUTPUT_BYTES, ProcessInput, ShellError, environment,
    network::SessionNetwork,
    output::{CommandStage, LogFile, Transcript},
};
use octo_protocol::{CallId, CommandState, SessionId};
use octo_workspace::is_real_folder;
use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// The maximum number of running commands of a session.
const MAX_RUNNING: usize = 16;

/// The maximum number of ended commands whose unreported ends are kept.
const MAX_ENDED: usize = 16;

/// Interval between two checks whether a command waits for input.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Interval between two checks whether the person has answered a question about a command's network, once the wait for
/// the command is over.
const QUESTION_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time to wait for the end of a killed command.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// The length of a handle, in characters; see [`new_handle`].
const HANDLE_LENGTH: usize = 9;

pub(super) struct Commands {
    config: ShellConfig,
    persistent_state: Arc<PersistentState>,
    registry: Arc<Registry>,
    network: Option<SessionNetwork>,
    started: AtomicU64,
    closed: AtomicBool,
}

/// The reason why a wait ended.
enum WaitEnd {
    Ended,
    WaitsForInput,
    TimedOut,
    Cancelled,
}

/// The effect of a cancelled wait on the command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CancelEffect {
    /// The command is ended.
    EndsCommand,
    /// The command continues.
    KeepsCommand,
}

impl Commands {
    pub(super) fn new(config: ShellConfig) -> Self {
        let file = config.scratch.join("carried.json");
        Self {
            persistent_state: Arc::new(PersistentState::load(file)),
            registry: Arc::new(Registry::new(Arc::clone(&config.news))),
            network: config.network.clone().map(SessionNetwork::new),
            config,
            started: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    pub(super) fn session(&self) -> SessionId {
        self.config.session
    }

    pub(super) fn current_dir(&self, folder: &Path) -> PathBuf {
        self.persistent_state.carry.lock().carry.directory(folder, &self.config.closed_folders).path
    }

    pub(super) fn command_of(&self, handle: &str) -> Option<(String, PathBuf)> {
        let processes = self.registry.lock();
        let identity = &processes.by_handle.get(handle)?.identity;
        Some((identity.command.clone(), identity.cwd.clone()))
    }

    pub(super) async fn run(&self, run: CommandRun) -> Result<CommandReport, ShellError> {
        let (call, wait, cancel) = (run.call, run.wait, run.cancel.clone());
        let observed = self.start(run).await?;
        let mut abandon_guard = AbandonGuard(Some(Arc::clone(&observed.process)));
        let report = self.observe(&observed, call, wait, &cancel, CancelEffect::EndsCommand).await;
        abandon_guard.0 = None;
        Ok(report)
    }

    pub(super) async fn input(&self, input: ProcessInput) -> Result<CommandReport, ShellError> {
        let observed = self.registry.observe(&input.handle)?;
        let process = &observed.process;
        process.watch(Some(input.live));
        if !input.text.is_empty() && process.end().borrow().is_none() {
            let typing = Arc::clone(process);
            let typed = tokio::task::spawn_blocking(move || typing.write_input(&input.text)).await;
            typed.map_err(|error| ShellError::Input(io::Error::other(error)))??;
        }
        Ok(self.observe(&observed, input.call, input.wait, &input.cancel, CancelEffect::KeepsCommand).await)
    }

    pub(super) async fn kill(&self, handle: &str, call: CallId) -> Result<CommandReport, ShellError> {
        let observed = self.registry.observe(handle)?;
        end(&observed.process, CommandState::Killed).await;
        Ok(self.report(&observed.process, call, &WaitEnd::Cancelled))
    }

    pub(super) async fn stop(&self, handle: &str) -> Result<(), ShellError> {
        let process = Arc::clone(&self.registry.observe(handle)?.process);
        end(&process, CommandState::Killed).await;
        Ok(())
    }

    pub(super) async fn shutdown(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let processes = std::mem::take(&mut self.registry.lock().by_handle);
        let ends: Vec<_> = processes
            .into_values()
            .map(|process| tokio::spawn(async move { end(&process, CommandState::Killed).await }))
            .collect();
        for end in ends {
            // A task that panicked ends nothing more.
            let _ = end.await;
        }
        let persistent_state = Arc::clone(&self.persistent_state);
        // A thread that panicked ends nothing more.
        let _ = tokio::task::spawn_blocking(move || {
            persistent_state.request_kill_of_survivors().into_iter().for_each(Survivors::finish);
        })
        .await;
    }

    async fn start(&self, run: CommandRun) -> Result<Observation, ShellError> {
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
        self.require_capacity()?;
        // The first query of the login shell may take longer than a cancellation may.
        let mut login = tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Err(ShellError::Cancelled),
            login = self.config.login.variables(&self.config.secret_variables) => login,
        };
        if !is_real_folder(&run.folder) {
            return Err(ShellError::SessionFolderGone { path: run.folder });
        }
        #[cfg(unix)]
        let temporary = self.config.temporary.create().map_err(ShellError::Start)?;
        // Set before the command, so that it does not count as the command's change.
        #[cfg(unix)]
        temporary::set_variables(&mut login, &temporary);
        let (carry, current_dir) = self.begin_in(&run.folder);
        let cwd = run.cwd.clone().unwrap_or(current_dir);
        if !cwd.is_dir() {
            return Err(ShellError::NoFolder { path: cwd });
        }
        // The policy judged the folder of this name, not the target of a link that replaced it.
        if !is_real_folder(&cwd) {
            return Err(ShellError::FolderReplaced { path: cwd });
        }
        let mut variables = match run.carry_scope {
            CarryScope::All => carry.variables(&login),
            CarryScope::FolderOnly => self.config.login.of_unattended(login.clone(), &run.folder),
        };
        variables.extend(run.env.iter().cloned());
        variables.retain(|name, _| !environment::is_hidden(name, &self.config.secret_variables));
        if let Removals::Trash { home } = &self.config.removals {
            variables.extend(octo_workspace::rm::environment(home, self.config.session, &run.folder));
            environment::prepend_to_path(&mut variables, &home.join("bin"));
            // Set before the command, so it does not count as the command's change.
            environment::prepend_to_path(&mut login, &home.join("bin"));
        }
        let network = match &self.network {
            Some(network) => network.enter(&self.config.supervision, run.call).await?,
            None => None,
        };
        if let Some(network) = &network {
            // In both, so it does not count as the command's change.
            variables.extend(network.variables.iter().cloned());
            login.extend(network.variables.iter().cloned());
        }

        let handle = new_handle();
        let identity = CommandIdentity {
            command: run.command.clone(),
            cwd: cwd.clone(),
            env: run.env.clone(),
            mode: run.mode,
        };
        let claim = self.registry.claim(&handle, &identity)?;
        let functions = match run.carry_scope {
            CarryScope::All => carry.functions(),
            CarryScope::FolderOnly => "",
        };
        let files = CommandFiles::write(&self.config.scratch, &handle, &run.command, functions)
            .map_err(ShellError::Start)?;
        let confinement = run.confinement.clone().map(|mut confinement| {
            // The command writes its state for the next one and temporary files, and its `rm` moves files to the trash.
            confinement.writable.push(self.config.scratch.clone());
            #[cfg(unix)]
            {
                confinement.writable.push(temporary);
                confinement.grant_tmux(&variables);
            }
            if let Removals::Trash { home } = &self.config.removals {
                confinement.writable.push(trash_folder(home));
            }
            confinement.create_caches(variables.get("PATH").map(String::as_str));
            confinement
        });
        let interpreter = interpreter(variables.get("PATH").map(String::as_str)).ok_or(ShellError::NoBash)?;
        let log = LogFile::new(
            self.config.scratch.join("logs").join(format!("{handle}.log")),
            MODEL_OUTPUT_BYTES - 8,
        );
        let mut transcript = Transcript::new(log);
        transcript.watch(Some(Arc::clone(&run.live)));

        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let arguments = files.arguments(&interpreter, run.carry_scope);
        let persistent_state = Arc::clone(&self.persistent_state);
        let secret = self.config.secret_variables.clone();
        let closed = self.config.closed_folders.clone();
        let process = ShellProcess::start(ProcessStart {
            handle,
            call: run.call,
            identity,
            folder: run.folder.clone(),
            started_at: now(),
            program: &interpreter.program,
            arguments: &arguments,
            variables: &variables,
            confinement,
            transcript,
            supervision: &self.config.supervision,
            network: network.map(|network| network.namespace),
            on_end: Box::new(move |survivors| {
                if let Some(state) = files.state().as_deref().and_then(carry::read) {
                    let initial_state = InitialState {
                        folder: &run.folder,
                        call_folder: run.cwd.as_deref(),
                        login: &login,
                        overrides: &run.env,
                        secret: &secret,
                        closed: &closed,
                    };
                    persistent_state.take(number, &state, &initial_state, run.carry_scope);
                }
                persistent_state.record_survivors(survivors);
                drop(run.guard);
            }),
        })?;
        let observed = Observation::new(Arc::clone(&process));
        self.registry.lock().by_handle.insert(process.handle.clone(), Arc::clone(&process));
        drop(claim);
        // The session was shut down meanwhile, and no other code would end the command.
        if self.closed.load(Ordering::SeqCst) {
            end(&process, CommandState::Killed).await;
            return Err(ShellError::Closed);
        }
        Ok(observed)
    }

    /// Returns the carried state and the directory of the next command. If the former directory is gone, the
    /// session leaves it, and the next report names it.
    fn begin_in(&self, folder: &Path) -> (CarriedState, PathBuf) {
        let mut newest = self.persistent_state.carry.lock();
        let current = newest.carry.directory(folder, &self.config.closed_folders);
        if let Some(lost) = current.lost {
            newest.carry.enter(folder, current.path.clone());
            newest.lost = Some(lost);
        }
        (newest.carry.clone(), current.path)
    }

    /// Checks that another command may start. Removes the oldest unreported ends.
    fn require_capacity(&self) -> Result<(), ShellError> {
        let processes = &mut self.registry.lock().by_handle;
        let (ended, running): (Vec<_>, Vec<_>) =
            processes.values().cloned().partition(|process| process.end().borrow().is_some());
        if running.len() >= MAX_RUNNING {
            return Err(ShellError::TooMany { limit: MAX_RUNNING });
        }
        let mut ended = ended;
        ended.sort_by_key(|process| process.age());
        for process in ended.into_iter().skip(MAX_ENDED) {
            processes.remove(&process.handle);
        }
        Ok(())
    }

    /// Waits for a reportable event.
    async fn observe(
        &self,
        observed: &Observation,
        call: CallId,
        wait: Duration,
        cancel: &CancellationToken,
        cancel_effect: CancelEffect,
    ) -> CommandReport {
        let process = &observed.process;
        let mut ended = process.end();
        let mut deadline = Instant::now() + wait;
        let mut poll = interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let wait_end = loop {
            tokio::select! {
                biased;
                // A separate block, because its borrow must not last while another branch waits.
                () = async { drop(ended.wait_for(Option::is_some).await) } => break WaitEnd::Ended,
                () = cancel.cancelled() => {
                    if cancel_effect == CancelEffect::KeepsCommand {
                        break WaitEnd::TimedOut;
                    }
                    end(process, CommandState::Killed).await;
                    break WaitEnd::Cancelled;
                }
                () = sleep_until(deadline) => {
                    // The call that started it waits for the person, as long as they are asked.
                    if !self.network.as_ref().is_some_and(|network| network.is_asking(process.call)) {
                        break WaitEnd::TimedOut;
                    }
                    deadline = Instant::now() + QUESTION_INTERVAL;
                }
                _ = poll.tick() => {
                    let polled = Arc::clone(process);
                    // The check reads system files and blocks.
                    if tokio::task::spawn_blocking(move || polled.waits_for_input()).await.unwrap_or(false) {
                        break WaitEnd::WaitsForInput;
                    }
                }
            }
        };
        self.report(process, call, &wait_end)
    }

    fn report(&self, process: &Arc<ShellProcess>, call: CallId, wait_end: &WaitEnd) -> CommandReport {
        process.send_live();
        process.watch(None);
        let end = *process.end().borrow();
        let state = match (end, wait_end) {
            (Some(end), _) => process.ended_as(end),
            (None, WaitEnd::Cancelled) => CommandState::Killed,
            (None, WaitEnd::WaitsForInput) => CommandState::Waiting,
            (None, WaitEnd::Ended | WaitEnd::TimedOut) => CommandState::Running,
        };
        let finished = state.is_over();
        let output = process.report(if finished { CommandStage::Ended } else { CommandStage::Running });
        if finished {
            self.registry.note_reported(process, state, output.log.clone(), call);
        } else {
            self.registry.note_background(process, state, self.config.time_limit);
        }
        CommandReport {
            state,
            output_model: output.model,
            output_view: output.view,
            truncated: output.truncated,
            output_bytes: output.bytes,
            duration: end.map_or_else(|| process.age(), |end| end.after),
            command: process.identity.command.clone(),
            log: output.log,
            handle: (!finished).then(|| process.handle.clone()),
            cwd: process.identity.cwd.clone(),
            cwd_after: self.current_dir(&process.folder),
            lost_dir: self.persistent_state.carry.lock().lost.take(),
        }
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // Removes the commands, so that no code reports their ends as news.
        for process in std::mem::take(&mut self.registry.lock().by_handle).into_values() {
            process.kill();
        }
        drop(self.persistent_state.request_kill_of_survivors());
    }
}

/// Ends a command when the future that runs it is dropped.
struct AbandonGuard(Option<Arc<ShellProcess>>);

impl Drop for AbandonGuard {
    fn drop(&mut self) {
        if let Some(process) = self.0.take() {
            process.kill();
        }
    }
}

/// Ends a command within three seconds, whatever its behaviour.
pub(super) async fn end(process: &Arc<ShellProcess>, final_state: CommandState) {
    let terminating = Arc::clone(process);
    // A thread that panicked ends nothing more.
    let _ = tokio::task::spawn_blocking(move || terminating.terminate(final_state)).await;
    let mut ended = process.end();
    let _ = timeout(KILL_TIMEOUT, ended.wait_for(Option::is_some)).await;
}

/// Returns the trash folder of a home. Creates it if it is missing, because a missing folder cannot be granted.
fn trash_folder(home: &Path) -> PathBuf {
    let folder = home.join("trash");
    octo_workspace::private_folder(&folder).unwrap_or_else(|error| {
        tracing::warn!(%error, "the trash could not be made; a command's `rm` will say so");
        folder
    })
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns nine random letters and digits: short enough to repeat without a mistake, and too many to guess.
fn new_handle() -> String {
    const HANDLE_ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut number = uuid::Uuid::new_v4().as_u128();
    (0..HANDLE_LENGTH)
        .map(|_| {
            let index = usize::try_from(number % 36).unwrap_or(0);
            number /= 36;
            char::from(HANDLE_ALPHABET.get(index).copied().unwrap_or(b'0'))
        })
        .collect()
}
