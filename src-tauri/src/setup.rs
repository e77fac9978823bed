//! Connects the window and the core.

use crate::{
    appearance::{self, Appearance},
    attention, autostart, blobs,
    exit::ExitState,
    host::DesktopHost,
    ipc, links, notifications,
    shell_state::ShellState,
    subscriptions::Subscriptions,
    tray, updates,
    windows::{self, WindowDataFolder},
};
use octo_core::{Clock, Config, HomeAtStart, KeyStorage, Octo, OpenTurnPolicy, SystemClock};
use octo_protocol::{ApiError, HomeRequest, OpenRequest, Source};
use serde_json::Value;
use std::{process::ExitCode, sync::Arc, time::Duration};
use tauri::{AppHandle, Manager};
use tokio::sync::OnceCell;

/// The core: started at once, and again with each request while no start has succeeded.
///
/// The window opens even when the start fails: requests are answered with the reason, and a person who has
/// fixed the problem can try again.
#[derive(Clone)]
pub(crate) struct Core {
    app: AppHandle,
    host: Arc<DesktopHost>,
    /// The home found at the start; after an error it is looked up again.
    home: Result<HomeAtStart, ApiError>,
    timing: CoreTiming,
    octo: Arc<OnceCell<Octo>>,
}

/// Timing of the core.
#[derive(Clone)]
struct CoreTiming {
    clock: Arc<dyn Clock>,
    /// Time after its last activity until a session counts as idle.
    idle_after: Duration,
}

impl Core {
    /// Starts the core in the background.
    fn start(
        app: AppHandle,
        host: Arc<DesktopHost>,
        home: Result<HomeAtStart, ApiError>,
        timing: CoreTiming,
    ) -> Self {
        let core = Self { app, host, home, timing, octo: Arc::default() };
        let starting = core.clone();
        // Each later request reports the outcome.
        tauri::async_runtime::spawn(async move { starting.octo().await.is_ok() });
        core
    }

    /// Waits for the core's start and returns the core, or the reason why it did not start.
    pub(crate) async fn octo(&self) -> Result<Octo, ApiError> {
        let start = async || {
            let home = self.home().await?;
            let CoreTiming { clock, idle_after } = self.timing.clone();
            let config = configuration(home, self.host.clone(), idle_after);
            let outcome = Octo::start_by_clock(config, clock).await;
            let octo = outcome.inspect_err(|error| tracing::error!(%error, "the core did not start"))?;
            appearance::follow(self.app.clone(), octo.clone());
            attention::follow(&self.app, &octo);
            updates::follow(&self.app, &octo);
            for error in octo.remarks() {
                self.app.state::<ShellState>().push(OpenRequest::Refused { error: error.clone() });
            }
            Ok(octo)
        };
        self.octo.get_or_try_init(start).await.cloned()
    }

    /// Returns the home; looks it up again if the start did not find it.
    async fn home(&self) -> Result<HomeAtStart, ApiError> {
        match &self.home {
            Ok(home) => Ok(home.clone()),
            Err(_) => tauri::async_runtime::spawn_blocking(octo_core::settle_home)
                .await
                .map_err(|error| ApiError::new("internal").detail(error))?,
        }
    }

    /// Answers a request about a home while the core does not run in it because of `error`.
    pub(crate) async fn request_without_core(
        &self,
        request: HomeRequest,
        error: ApiError,
    ) -> Result<Value, ApiError> {
        let home = self.home().await?.location.home;
        octo_core::request_of_damaged(home, request, error).await
    }

    /// Returns the core if it runs.
    pub(crate) fn running(&self) -> Option<Octo> {
        self.octo.get().cloned()
    }
}

/// Opens the window and serves it until it is closed.
pub fn run() -> ExitCode {
    AppBuilder::default().run()
}

/// Options of a window's start. They exist for tests; the regular start is [`run`].
pub struct AppBuilder {
    timing: CoreTiming,
    updates: Option<Value>,
}

impl Default for AppBuilder {
    fn default() -> Self {
        let timing =
            CoreTiming { clock: Arc::new(SystemClock::default()), idle_after: octo_core::IDLE_AFTER };
        Self { timing, updates: None }
    }
}

impl AppBuilder {
    /// Uses another clock, which decides when tasks run, and another idle time of sessions: the effects of
    /// hours then show within minutes.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>, idle_after: Duration) -> Self {
        Self { timing: CoreTiming { clock, idle_after }, ..self }
    }

    /// Uses another update source and key, which a release has in its configuration as `plugins.updater`.
    #[must_use]
    pub fn with_updates(self, updates: Value) -> Self {
        Self { updates: Some(updates), ..self }
    }

    /// Opens the window and serves it until it is closed.
    pub fn run(self) -> ExitCode {
        open(self)
    }
}

fn open(options: AppBuilder) -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Err(error) = crate::graphics::avoid_dmabuf_on_nvidia() {
        return report_failure("Octo could not restart itself", &error);
    }
    // Before anything is opened in the home: this start may exchange or move it.
    let home = octo_core::settle_home();
    let path = home.as_ref().ok().map(|home| home.location.home.clone());
    // Dropped last, so that buffered logs are written.
    let _logs = path.as_deref().and_then(octo_core::logging::start);
    let mut context = tauri::generate_context!();
    let AppBuilder { timing, updates } = options;
    if let Some(updates) = updates {
        updates::set_source(context.config_mut(), updates);
    }
    let mut builder = tauri::Builder::default()
        // First, so that a second start exits before anything else is set up.
        .plugin(windows::single_instance(path.as_deref(), context.config()))
        .plugin(windows::window_state(path.as_deref()))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_opener::init())
        .plugin(autostart::plugin())
        .manage(Subscriptions::default())
        .manage(ShellState::default())
        .manage(WindowDataFolder(path.clone()))
        .manage(updates::UpdateState::default())
        .register_asynchronous_uri_scheme_protocol(blobs::SCHEME, blobs::serve)
        .invoke_handler(tauri::generate_handler![ipc::request, ipc::subscribe, ipc::unsubscribe])
        .setup(move |app| {
            let host = Arc::new(DesktopHost::new(app.handle().clone()));
            app.manage(Arc::clone(&host));
            app.manage(Appearance::default());
            app.manage(Core::start(app.handle().clone(), host, home, timing));
            notifications::start(app.handle());
            tray::start(app.handle());
            #[cfg(target_os = "macos")]
            crate::menu::install(app.handle());
            windows::open(app.handle(), links::queue_own_arguments(app.handle()))?;
            exit_on_signals(app.handle());
            Ok(())
        });
    if let Some(updates) = updates::plugin(context.config()) {
        builder = builder.plugin(updates);
    }
    match builder.build(context) {
        Ok(app) => {
            let mut exit_state = ExitState::default();
            let code = app.run_return(move |app, event| exit_state.handle(app, &event));
            // The parent process only receives the low byte.
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
        Err(error) => report_failure("Octo could not open its window", &error),
    }
}

fn configuration(home: HomeAtStart, host: Arc<DesktopHost>, idle_after: Duration) -> Config {
    Config {
        home: home.location.home.clone(),
        home_at_start: home,
        source: Source::Window,
        open_turns: OpenTurnPolicy::GoOnAtStart,
        keys: KeyStorage::System,
        host,
        idle_after,
        remover: octo_core::Remover::ThisProgram,
        supervision: octo_core::Supervision::by_this_program(),
        budget: None,
        secret_variables: Vec::new(),
    }
}

/// Reports a failed start on standard error: there is no window to show it.
#[expect(clippy::print_stderr, reason = "there is no window to say it in")]
fn report_failure(subject: &str, error: &dyn std::error::Error) -> ExitCode {
    tracing::error!(%error, subject);
    eprintln!("{subject}: {error}");
    ExitCode::FAILURE
}

/// When the system or a terminal asks Octo to end, exits as if its window had been closed.
#[cfg(unix)]
fn exit_on_signals(app: &AppHandle) {
    use tokio::signal::unix::{SignalKind, signal};

    /// The exit code a shell reports for a process ended by the signal: 128 plus its number.
    const SIGNALS: [(SignalKind, i32); 3] =
        [(SignalKind::hangup(), 129), (SignalKind::interrupt(), 130), (SignalKind::terminate(), 143)];
    for (kind, code) in SIGNALS {
        let app = app.clone();
        tauri::async_runtime::spawn(async move {
            match signal(kind) {
                Ok(mut signal) => {
                    if signal.recv().await.is_some() {
                        app.exit(code);
                    }
                }
                Err(error) => tracing::warn!(%error, ?kind, "the signal cannot be listened for"),
            }
        });
    }
}

/// Windows has no such signals; the console's are only for console programs.
#[cfg(not(unix))]
fn exit_on_signals(_app: &AppHandle) {}
