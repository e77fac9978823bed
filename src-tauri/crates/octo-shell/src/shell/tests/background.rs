//! Commands that continue in the background, and their news.

use super::*;
use crate::BackgroundNews;
use octo_protocol::BackgroundCommand;
use std::collections::HashMap;
use tokio::sync::mpsc;

/// A session's shell and the news it reports.
struct NewsWatcher {
    fixture: Fixture,
    news: mpsc::UnboundedReceiver<BackgroundNews>,
}

impl NewsWatcher {
    fn new(time_limit: Duration) -> Self {
        let root = octo_testkit::test_folder();
        fs::create_dir(root.path().join("project")).unwrap();
        let (sender, news) = mpsc::unbounded_channel();
        let supervision = crate::testing::supervision();
        let shell = Shell::new(ShellConfig {
            news: Arc::new(move |news| sender.send(news).unwrap_or_default()),
            time_limit,
            ..config(root.path(), supervision.clone())
        });
        Self { fixture: Fixture { root, shell, supervision }, news }
    }

    /// Returns a command intended for the background.
    fn background(&self, command: &str) -> CommandRun {
        CommandRun {
            mode: RunMode::Background,
            wait: Duration::from_millis(100),
            ..self.fixture.command(command)
        }
    }

    /// Starts a command that continues; returns its handle.
    async fn start(&mut self, command: &str) -> String {
        let report = self.fixture.shell.run(self.background(command)).await.unwrap();
        assert_eq!(report.state, CommandState::Running, "{report:?}");
        let handle = report.handle.unwrap();
        match self.next().await {
            BackgroundNews::StateChanged(change) => {
                assert_eq!((&change.handle, change.state), (&handle, CommandState::Running))
            }
            other => panic!("{other:?}"),
        }
        handle
    }

    async fn next(&mut self) -> BackgroundNews {
        tokio::time::timeout(Duration::from_secs(30), self.news.recv()).await.expect("news").unwrap()
    }

    async fn ended(&mut self) -> BackgroundCommand {
        match self.next().await {
            BackgroundNews::Ended(command) => command,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_command_that_ends_at_once_is_reported_in_its_call_only() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    for (command, code) in [("true", 0), ("echo no >&2; exit 3", 3)] {
        let run = CommandRun { wait: crate::START_WINDOW, ..watcher.background(command) };
        let report = watcher.fixture.shell.run(run).await.unwrap();
        assert_eq!((report.state, report.handle), (CommandState::Exited { code }, None));
    }
    watcher.start("read -r x").await;
    assert!(watcher.news.try_recv().is_err(), "news of that one alone");
}

#[tokio::test]
async fn an_end_is_reported_once_with_its_details() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    watcher.fixture.output("mkfifo go").await;
    let line = "echo first; read -r x <go; printf 'last \\033[31mline\\033[0m\\n\\n'; exit 7";
    let handle = watcher.start(line).await;
    let before = octo_now();
    watcher.fixture.output("echo x >go").await;
    let ended = watcher.ended().await;
    assert_eq!((&ended.handle, ended.state), (&handle, CommandState::Exited { code: 7 }));
    assert_eq!((ended.command.as_str(), ended.last_line.as_str()), (line, "last line"));
    assert_eq!(ended.cwd, watcher.fixture.folder().display().to_string());
    assert!(ended.started_at <= before && before <= ended.ended_at.unwrap() + 1_000, "{ended:?}");
    let log = PathBuf::from(ended.log.unwrap());
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nlast line\n\n");
    assert!(matches!(watcher.fixture.input(&handle, "").await, Err(ShellError::UnknownHandle { .. })));
    assert!(watcher.news.try_recv().is_err());
    assert_eq!(watcher.fixture.shell.command_of(&handle), None);
}

fn octo_now() -> i64 {
    let elapsed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(elapsed.as_millis()).unwrap()
}

#[tokio::test]
async fn long_last_lines_are_cut_and_partial_ones_count() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    watcher.start(&format!("read -r -t 0.3 x; printf '{}'", "é".repeat(300))).await;
    let last_line = watcher.ended().await.last_line;
    // The terminal wraps at 120 columns; the last line is the text after the wrap, or all of it.
    assert!(last_line.chars().count() <= 200 && last_line.starts_with('é'), "{last_line}");
}

#[tokio::test]
async fn a_slow_command_moves_to_the_background_and_is_reported() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    let run = CommandRun { wait: Duration::from_millis(200), ..watcher.fixture.command("sleep 1; ls -d .") };
    let report = watcher.fixture.shell.run(run).await.unwrap();
    assert_eq!(report.state, CommandState::Running);
    assert!(matches!(watcher.next().await, BackgroundNews::StateChanged(_)));
    assert_eq!(watcher.ended().await.state, CommandState::Exited { code: 0 });
}

#[tokio::test]
async fn a_call_that_observes_the_end_is_its_only_report() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    watcher.fixture.output("mkfifo go").await;
    let handle = watcher.start("read -r x <go; echo done").await;
    let shell = watcher.fixture.shell.clone();
    let (observed, by) = (handle.clone(), CallId::new());
    let asking = tokio::spawn(async move {
        let (live, cancel) = (Arc::new(|_: &str| {}), CancellationToken::new());
        shell
            .input(ProcessInput {
                call: by,
                handle: observed,
                text: String::new(),
                live,
                cancel,
                wait: Duration::from_secs(30),
            })
            .await
            .unwrap()
    });
    watcher.fixture.output("echo x >go").await;
    let report = asking.await.unwrap();
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Exited { code: 0 }, "done\n"));
    match watcher.next().await {
        BackgroundNews::Reported { command, call } => {
            assert_eq!((command.handle, command.state, call), (handle, CommandState::Exited { code: 0 }, by));
            assert_eq!(command.last_line, "done");
        }
        other => panic!("{other:?}"),
    }
    assert!(watcher.news.try_recv().is_err());
}

#[tokio::test]
async fn a_cancelled_wait_leaves_the_command_running_and_reported() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    watcher.fixture.output("mkfifo go").await;
    let handle = watcher.start("read -r x <go; exit 4").await;
    let cancel = CancellationToken::new();
    let input = ProcessInput {
        call: CallId::new(),
        handle: handle.clone(),
        text: String::new(),
        live: Arc::new(|_| {}),
        cancel: cancel.clone(),
        wait: Duration::from_secs(30),
    };
    cancel.cancel();
    let report = watcher.fixture.shell.input(input.clone()).await.unwrap();
    assert_eq!((report.state, report.handle), (CommandState::Running, Some(handle.clone())));
    let shell = watcher.fixture.shell.clone();
    let waiting = ProcessInput { cancel: CancellationToken::new(), ..input };
    let waiting = tokio::spawn(async move { shell.input(waiting).await });
    tokio::task::yield_now().await;
    waiting.abort();
    let _aborted = waiting.await;
    watcher.fixture.output("echo x >go").await;
    assert_eq!(watcher.ended().await.state, CommandState::Exited { code: 4 });
}

#[tokio::test]
async fn only_a_command_stopped_by_the_person_is_reported() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    let handle = watcher.start("sleep 1000").await;
    assert_eq!(watcher.fixture.shell.kill(&handle, CallId::new()).await.unwrap().state, CommandState::Killed);
    assert!(
        matches!(watcher.next().await, BackgroundNews::Reported { command, .. } if command.handle == handle)
    );
    let handle = watcher.start("sleep 1000").await;
    watcher.fixture.shell.stop(&handle).await.unwrap();
    let ended = watcher.ended().await;
    assert_eq!((ended.handle, ended.state), (handle.clone(), CommandState::Killed));
    assert!(matches!(watcher.fixture.shell.stop(&handle).await, Err(ShellError::UnknownHandle { .. })));
    assert!(watcher.news.try_recv().is_err());
}

#[tokio::test]
async fn a_command_over_its_time_limit_is_timed_out() {
    let mut watcher = NewsWatcher::new(Duration::from_millis(400));
    // It catches the request to end and claims success.
    watcher.start("trap 'exit 0' TERM; echo $$ >pid; while :; do sleep 0.05; done").await;
    let ended = watcher.ended().await;
    assert_eq!(ended.state, CommandState::TimedOut);
    assert!(!is_alive(&fs::read_to_string(watcher.fixture.folder().join("pid")).unwrap()));
}

#[tokio::test]
async fn the_same_command_is_refused_before_it_is_started() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    let line = "echo $$ >>started; read -r x";
    let handle = watcher.start(line).await;
    for mode in [RunMode::Background, RunMode::Foreground] {
        match watcher.fixture.shell.run(CommandRun { mode, ..watcher.background(line) }).await {
            Err(ShellError::Duplicate { handle: named_handle }) => assert_eq!(named_handle, handle),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(fs::read_to_string(watcher.fixture.folder().join("started")).unwrap().lines().count(), 1);
    // Another line, folder or variable makes another command; and an ended one does not count.
    watcher.start("echo $$ >>started; read -r y").await;
    let in_other_folder =
        CommandRun { cwd: Some(watcher.fixture.root.path().to_owned()), ..watcher.background(line) };
    assert_eq!(watcher.fixture.shell.run(in_other_folder).await.unwrap().state, CommandState::Running);
    let other = CommandRun { env: vec![("PORT".to_owned(), "2".to_owned())], ..watcher.background(line) };
    assert_eq!(watcher.fixture.shell.run(other).await.unwrap().state, CommandState::Running);
    watcher.fixture.shell.kill(&handle, CallId::new()).await.unwrap();
    assert_eq!(
        watcher.fixture.shell.run(watcher.background(line)).await.unwrap().state,
        CommandState::Running
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_identical_starts_succeeds() {
    let watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let (shell, run) =
                (watcher.fixture.shell.clone(), watcher.background("echo $$ >>started; read -r x"));
            tokio::spawn(async move { shell.run(run).await })
        })
        .collect();
    let mut handles: HashMap<String, usize> = HashMap::new();
    for run in runs {
        let handle = match run.await.unwrap() {
            Ok(report) => report.handle.unwrap(),
            Err(ShellError::Duplicate { handle }) => handle,
            Err(error) => panic!("{error}"),
        };
        *handles.entry(handle).or_default() += 1;
    }
    assert_eq!(handles.into_values().collect::<Vec<_>>(), [8], "all name the one that runs");
    assert_eq!(fs::read_to_string(watcher.fixture.folder().join("started")).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn a_shut_down_session_reports_no_ends() {
    let mut watcher = NewsWatcher::new(crate::COMMAND_TIME_LIMIT);
    watcher.start("sleep 1000").await;
    watcher.fixture.shell.shutdown().await;
    let NewsWatcher { fixture, mut news } = watcher;
    drop(fixture);
    assert!(news.recv().await.is_none(), "nothing more comes, and nobody is left to tell");
}

#[tokio::test]
async fn logs_of_a_week_ago_are_removed_in_all_sessions() {
    let shells = octo_testkit::test_folder();
    let log = |session: &str, name: &str| shells.path().join(session).join("logs").join(name);
    for session in ["a", "b"] {
        fs::create_dir_all(shells.path().join(session).join("logs")).unwrap();
    }
    let write = |session: &str, day: u32| {
        let path = log(session, &format!("{day}.log"));
        fs::write(&path, "x").unwrap();
        let modified = std::time::SystemTime::now() - Duration::from_secs(60 * 60) * (24 * day + 1);
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    };
    // Only one of them was used since: old logs in the other are removed all the same.
    (0..9).for_each(|day| write("a", day));
    write("b", 2);
    write("b", 8);
    crate::prune_logs(shells.path());
    for (session, day, exists) in
        [("a", 6, true), ("a", 7, false), ("a", 8, false), ("b", 2, true), ("b", 8, false)]
    {
        assert_eq!(log(session, &format!("{day}.log")).exists(), exists, "{session} {day}");
    }
    crate::prune_logs(Path::new("/no/such/folder"));
}
