//! Commands that Octo ends.

use super::*;

/// Starts a command that writes the process ids of all its parts to `pids`, then blocks.
const FAMILY: &str = "trap '' TERM; (trap '' TERM HUP; sh -c 'trap \"\" TERM HUP; echo $$ >>pids; while :; do sleep 1; done' &
    setsid sh -c 'echo $$ >>pids; sleep 1000' & echo $BASHPID >>pids; while :; do sleep 1; done) & echo $$ >>pids; echo partial; wait";

fn pids(fixture: &Fixture) -> Vec<String> {
    fs::read_to_string(fixture.folder().join("pids")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_stop_ends_all_processes_within_three_seconds_and_keeps_the_output() {
    let fixture = Fixture::new();
    let run = fixture.command(FAMILY);
    let cancel = run.cancel.clone();
    let shell = fixture.shell.clone();
    let running = tokio::spawn(async move { shell.run(run).await.unwrap() });
    until("all parts run", || pids(&fixture).len() == 4).await;
    let stopped = Instant::now();
    cancel.cancel();
    let report = running.await.unwrap();
    assert!(stopped.elapsed() < Duration::from_secs(3), "{:?}", stopped.elapsed());
    assert_eq!((report.state, report.handle), (CommandState::Killed, None));
    assert_eq!(report.output_model, "partial\n");
    assert!(pids(&fixture).iter().all(|pid| !is_alive(pid)), "{:?}", pids(&fixture));
}

#[tokio::test]
async fn a_command_that_obeys_is_ended_at_once() {
    let fixture = Fixture::new();
    let run = fixture.command("echo $$; sleep 1000");
    let (cancel, shell) = (run.cancel.clone(), fixture.shell.clone());
    let (live, text) = recorder();
    let running = tokio::spawn(async move { shell.run(CommandRun { live, ..run }).await.unwrap() });
    until("it runs", || text.lock().unwrap().ends_with('\n')).await;
    let stopped = Instant::now();
    cancel.cancel();
    assert_eq!(running.await.unwrap().state, CommandState::Killed);
    assert!(stopped.elapsed() < Duration::from_millis(900), "{:?}", stopped.elapsed());
}

#[tokio::test]
async fn a_call_stopped_before_it_began_runs_nothing() {
    let fixture = Fixture::new();
    let run = fixture.command("touch ran");
    run.cancel.cancel();
    assert!(matches!(fixture.shell.run(run).await, Err(ShellError::Cancelled)));
    assert!(!fixture.folder().join("ran").exists());
}

#[tokio::test]
async fn kill_ends_a_command_that_waits() {
    let fixture = Fixture::new();
    let handle = fixture.run("echo before; read x").await.handle.unwrap();
    let report = fixture.shell.kill(&handle, CallId::new()).await.unwrap();
    assert_eq!(report.state, CommandState::Killed);
    assert!(fixture.shell.kill(&handle, CallId::new()).await.unwrap_err().to_string().contains("not found"));
}

#[tokio::test]
async fn a_dropped_run_and_a_dropped_shell_end_their_commands() {
    let fixture = Fixture::new();
    let run = fixture.command("echo $$ >>pids; sleep 1000");
    let shell = fixture.shell.clone();
    let running = tokio::spawn(async move { shell.run(run).await });
    until("it runs", || pids(&fixture).len() == 1).await;
    running.abort();
    until("it is gone", || !is_alive(&pids(&fixture)[0])).await;

    let mut run = fixture.command("echo $$ >>pids; sleep 1000");
    run.wait = Duration::ZERO;
    fixture.shell.run(run).await.unwrap();
    until("it runs", || pids(&fixture).len() == 2).await;
    let Fixture { root, shell, .. } = fixture;
    drop(shell);
    let pids = fs::read_to_string(root.path().join("project/pids")).unwrap();
    until("it is gone", || !is_alive(pids.lines().last().unwrap())).await;
}

#[tokio::test]
async fn shutdown_ends_what_commands_left_behind() {
    let fixture = Fixture::new();
    // It survives its terminal, as requested.
    fixture.output("nohup sh -c 'echo $$ >>pids; exec sleep 1000' >/dev/null 2>&1 & until [ -s pids ]; do sleep 0.01; done").await;
    assert!(is_alive(&pids(&fixture)[0]));
    fixture.shell.shutdown().await;
    until("it is gone", || !is_alive(&pids(&fixture)[0])).await;
}

#[tokio::test]
async fn a_background_process_does_not_block_its_command() {
    let fixture = Fixture::new();
    let report = fixture.run("(trap '' HUP; sleep 1000) & echo $! >pids; echo done").await;
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Exited { code: 0 }, "done\n"));
    assert!(report.duration < Duration::from_secs(5));
    fixture.shell.shutdown().await;
    until("it is gone", || !is_alive(&pids(&fixture)[0])).await;
}

#[tokio::test]
async fn a_flood_is_bounded_and_can_be_stopped() {
    let fixture = Fixture::new();
    let run = fixture.command("yes 'a line that comes again and again'");
    let (cancel, shell) = (run.cancel.clone(), fixture.shell.clone());
    let (live, text) = recorder();
    let running = tokio::spawn(async move { shell.run(CommandRun { live, ..run }).await.unwrap() });
    until("it writes", || text.lock().unwrap().len() > 50_000).await;
    let stopped = Instant::now();
    cancel.cancel();
    let report = running.await.unwrap();
    assert!(stopped.elapsed() < Duration::from_secs(3));
    assert_eq!(report.state, CommandState::Killed);
    assert!(report.truncated && report.output_model.len() < crate::MODEL_OUTPUT_BYTES + 300);
    assert!(report.output_view.len() < crate::VIEW_OUTPUT_BYTES + 300);
}

#[tokio::test]
async fn only_so_many_commands_run_at_a_time() {
    let fixture = Fixture::new();
    let mut run = fixture.command("");
    run.wait = Duration::ZERO;
    for number in 0..16 {
        run.command = format!("sleep {}", 1000 + number);
        fixture.shell.run(run.clone()).await.unwrap();
    }
    run.command = "sleep 2000".to_owned();
    assert!(matches!(fixture.shell.run(run).await, Err(ShellError::TooMany { limit: 16 })));
    fixture.shell.shutdown().await;
}

/// In its own process (nextest runs every test in one): other tests open files as well.
#[tokio::test]
async fn no_file_descriptors_threads_or_zombies_are_left() {
    let fixture = Fixture::new();
    let count = |folder: &str| fs::read_dir(format!("/proc/self/{folder}")).unwrap().count();
    for _ in 0..3 {
        fixture.run("true").await;
    }
    let (fds, threads) = (count("fd"), count("task"));
    for n in 0..40 {
        match n % 4 {
            0 => drop(fixture.run("echo x; exit 3").await),
            1 => drop(fixture.run("for n in {1..3000}; do echo $n; done").await),
            2 => drop(fixture.run("sleep 1000 & exit").await),
            _ => {
                let mut run = fixture.command("sleep 1000");
                run.wait = Duration::ZERO;
                let handle = fixture.shell.run(run).await.unwrap().handle.unwrap();
                fixture.shell.kill(&handle, CallId::new()).await.unwrap();
            }
        }
    }
    // A process that was not yet itself when its terminal hung up lives on, watched, until the session ends.
    fixture.shell.shutdown().await;
    until("descriptors are given back", || count("fd") <= fds).await;
    // The runtime's own blocking threads start and end.
    until("threads end", || count("task") <= threads + 8).await;
    let own_pid = std::process::id().to_string();
    let zombies = || {
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
            .any(|stat| {
                stat.rsplit_once(") ").is_some_and(|(_, fields)| {
                    fields.starts_with("Z ") && fields.split(' ').nth(1) == Some(&own_pid)
                })
            })
    };
    until("no zombies", || !zombies()).await;
}
