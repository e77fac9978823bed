//! Commands that continue in the background, and their news.

use super::*;
use crate::BackgroundNews;
use octo_protocol::BackgroundCommand;
use std::collections::HashMap;
use tokio::sync::mpsc;

/// A session's shell and the news it reports.
struct Told {
    place: Place,
    news: mpsc::UnboundedReceiver<BackgroundNews>,
}

impl Told {
    fn new(time_limit: Duration) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        let (sender, news) = mpsc::unbounded_channel();
        let shell = Shell::new(ShellConfig {
            session: SessionId::new(),
            scratch: root.path().join("scratch"),
            login: login(root.path()),
            secret_variables: Vec::new(),
            news: Arc::new(move |news| sender.send(news).unwrap_or_default()),
            time_limit,
            removals: crate::Removals::System,
        });
        Self { place: Place { root, shell }, news }
    }

    /// Returns a command intended for the background.
    fn background(&self, command: &str) -> CommandRun {
        CommandRun {
            pace: RunMode::Background,
            wait: Duration::from_millis(100),
            ..self.place.command(command)
        }
    }

    /// Starts a command that continues; returns its handle.
    async fn start(&mut self, command: &str) -> String {
        let report = self.place.shell.run(self.background(command)).await.unwrap();
        assert_eq!(report.state, CommandState::Running, "{report:?}");
        let handle = report.handle.unwrap();
        match self.next().await {
            BackgroundNews::StateChanged(told) => {
                assert_eq!((&told.handle, told.state), (&handle, CommandState::Running))
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
async fn one_that_ends_at_once_is_reported_as_ended_and_makes_no_news() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    for (command, code) in [("true", 0), ("echo no >&2; exit 3", 3)] {
        let run = CommandRun { wait: crate::START_WINDOW, ..told.background(command) };
        let report = told.place.shell.run(run).await.unwrap();
        assert_eq!((report.state, report.handle), (CommandState::Exited { code }, None));
    }
    told.start("read -r x").await;
    assert!(told.news.try_recv().is_err(), "news of that one alone");
}

#[tokio::test]
async fn its_end_is_told_once_with_what_is_needed() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    told.place.output("mkfifo go").await;
    let line = "echo first; read -r x <go; printf 'last \\033[31mline\\033[0m\\n\\n'; exit 7";
    let handle = told.start(line).await;
    let before = octo_now();
    told.place.output("echo x >go").await;
    let ended = told.ended().await;
    assert_eq!((&ended.handle, ended.state), (&handle, CommandState::Exited { code: 7 }));
    assert_eq!((ended.command.as_str(), ended.last_line.as_str()), (line, "last line"));
    assert_eq!(ended.cwd, told.place.folder().display().to_string());
    assert!(ended.started_at <= before && before <= ended.ended_at.unwrap() + 1_000, "{ended:?}");
    let log = PathBuf::from(ended.log.unwrap());
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nlast line\n\n");
    assert!(matches!(told.place.input(&handle, "").await, Err(ShellError::UnknownHandle { .. })));
    assert!(told.news.try_recv().is_err());
    assert_eq!(told.place.shell.command_of(&handle), None);
}

fn octo_now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

#[tokio::test]
async fn long_last_lines_are_cut_and_partial_ones_count() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    told.start(&format!("read -r -t 0.3 x; printf '{}'", "é".repeat(300))).await;
    let last = told.ended().await.last_line;
    // The terminal wraps at 120 columns; the last line is the text after the wrap, or all of it.
    assert!(last.chars().count() <= 200 && last.starts_with('é'), "{last}");
}

#[tokio::test]
async fn a_slow_one_goes_to_the_background_whatever_its_name_and_is_told_of() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    let run = CommandRun { wait: Duration::from_millis(200), ..told.place.command("sleep 1; ls -d .") };
    let report = told.place.shell.run(run).await.unwrap();
    assert_eq!(report.state, CommandState::Running);
    assert!(matches!(told.next().await, BackgroundNews::StateChanged(_)));
    assert_eq!(told.ended().await.state, CommandState::Exited { code: 0 });
}

#[tokio::test]
async fn a_call_that_asks_after_it_reports_its_end_and_nobody_else_does() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    told.place.output("mkfifo go").await;
    let handle = told.start("read -r x <go; echo done").await;
    let shell = told.place.shell.clone();
    let (asked, by) = (handle.clone(), CallId::new());
    let asking = tokio::spawn(async move {
        let (live, cancel) = (Arc::new(|_: &str| {}), CancellationToken::new());
        shell
            .input(ProcessInput {
                call: by,
                handle: asked,
                text: String::new(),
                live,
                cancel,
                wait: Duration::from_secs(30),
            })
            .await
            .unwrap()
    });
    told.place.output("echo x >go").await;
    let report = asking.await.unwrap();
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Exited { code: 0 }, "done\n"));
    match told.next().await {
        BackgroundNews::Reported { command, by: call } => {
            assert_eq!((command.handle, command.state, call), (handle, CommandState::Exited { code: 0 }, by));
            assert_eq!(command.last_line, "done");
        }
        other => panic!("{other:?}"),
    }
    assert!(told.news.try_recv().is_err());
}

#[tokio::test]
async fn a_wait_that_is_cancelled_or_dropped_leaves_it_running_and_told_of() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    told.place.output("mkfifo go").await;
    let handle = told.start("read -r x <go; exit 4").await;
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
    let report = told.place.shell.input(input.clone()).await.unwrap();
    assert_eq!((report.state, report.handle), (CommandState::Running, Some(handle.clone())));
    let shell = told.place.shell.clone();
    let waiting = ProcessInput { cancel: CancellationToken::new(), ..input };
    let waiting = tokio::spawn(async move { shell.input(waiting).await });
    tokio::task::yield_now().await;
    waiting.abort();
    let _aborted = waiting.await;
    told.place.output("echo x >go").await;
    assert_eq!(told.ended().await.state, CommandState::Exited { code: 4 });
}

#[tokio::test]
async fn one_the_model_ends_makes_no_news_but_that_it_was_reported_and_one_the_person_stops_does() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    let handle = told.start("sleep 1000").await;
    assert_eq!(told.place.shell.kill(&handle, CallId::new()).await.unwrap().state, CommandState::Killed);
    assert!(
        matches!(told.next().await, BackgroundNews::Reported { command, .. } if command.handle == handle)
    );
    let handle = told.start("sleep 1000").await;
    told.place.shell.stop(&handle).await.unwrap();
    let ended = told.ended().await;
    assert_eq!((ended.handle, ended.state), (handle.clone(), CommandState::Killed));
    assert!(matches!(told.place.shell.stop(&handle).await, Err(ShellError::UnknownHandle { .. })));
    assert!(told.news.try_recv().is_err());
}

#[tokio::test]
async fn one_that_runs_too_long_timed_out_and_never_succeeded() {
    let mut told = Told::new(Duration::from_millis(400));
    // It catches the request to end and claims success.
    told.start("trap 'exit 0' TERM; echo $$ >pid; while :; do sleep 0.05; done").await;
    let ended = told.ended().await;
    assert_eq!(ended.state, CommandState::TimedOut);
    assert!(!is_alive(&fs::read_to_string(told.place.folder().join("pid")).unwrap()));
}

#[tokio::test]
async fn the_same_command_is_refused_before_it_is_started() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    let line = "echo $$ >>started; read -r x";
    let handle = told.start(line).await;
    for pace in [RunMode::Background, RunMode::Foreground] {
        match told.place.shell.run(CommandRun { pace, ..told.background(line) }).await {
            Err(ShellError::Duplicate { handle: named }) => assert_eq!(named, handle),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(fs::read_to_string(told.place.folder().join("started")).unwrap().lines().count(), 1);
    // Another line, folder or variable makes another command; and an ended one does not count.
    told.start("echo $$ >>started; read -r y").await;
    let elsewhere = CommandRun { cwd: Some(told.place.root.path().to_owned()), ..told.background(line) };
    assert_eq!(told.place.shell.run(elsewhere).await.unwrap().state, CommandState::Running);
    let other = CommandRun { env: vec![("PORT".to_owned(), "2".to_owned())], ..told.background(line) };
    assert_eq!(told.place.shell.run(other).await.unwrap().state, CommandState::Running);
    told.place.shell.kill(&handle, CallId::new()).await.unwrap();
    assert_eq!(told.place.shell.run(told.background(line)).await.unwrap().state, CommandState::Running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_same_ones_at_once_one_is_started() {
    let told = Told::new(crate::COMMAND_TIME_LIMIT);
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let (shell, run) = (told.place.shell.clone(), told.background("echo $$ >>started; read -r x"));
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
    assert_eq!(fs::read_to_string(told.place.folder().join("started")).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn a_shut_down_session_tells_of_no_ends() {
    let mut told = Told::new(crate::COMMAND_TIME_LIMIT);
    told.start("sleep 1000").await;
    told.place.shell.shutdown().await;
    let Told { place, mut news } = told;
    drop(place);
    assert!(news.recv().await.is_none(), "nothing more comes, and nobody is left to tell");
}

#[tokio::test]
async fn logs_of_a_week_ago_are_removed_in_all_sessions() {
    let shells = tempfile::tempdir().unwrap();
    let log = |session: &str, name: &str| shells.path().join(session).join("logs").join(name);
    for session in ["a", "b"] {
        fs::create_dir_all(shells.path().join(session).join("logs")).unwrap();
    }
    let write = |session: &str, day: u32| {
        let path = log(session, &format!("{day}.log"));
        fs::write(&path, "x").unwrap();
        let at = std::time::SystemTime::now() - Duration::from_secs(60 * 60) * (24 * day + 1);
        fs::File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
    };
    // Only one of them was used since: old logs in the other are removed all the same.
    (0..9).for_each(|day| write("a", day));
    write("b", 2);
    write("b", 8);
    crate::prune_logs(shells.path());
    for (session, day, left) in
        [("a", 6, true), ("a", 7, false), ("a", 8, false), ("b", 2, true), ("b", 8, false)]
    {
        assert_eq!(log(session, &format!("{day}.log")).exists(), left, "{session} {day}");
    }
    crate::prune_logs(Path::new("/no/such/folder"));
}
