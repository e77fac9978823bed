//! Commands that wait for input.

use super::*;

#[tokio::test]
async fn a_prompt_is_noticed_and_answered() {
    let fixture = Fixture::new();
    let started = Instant::now();
    let report = fixture.run("read -p 'Name: ' name; echo \"hi $name\"").await;
    assert_eq!(report.state, CommandState::Waiting);
    assert!(started.elapsed() < Duration::from_secs(8), "noticed, not timed out");
    assert!(report.output_model.ends_with("Name: "), "{}", report.output_model);
    let handle = report.handle.unwrap();
    assert_eq!(handle.len(), 9);
    assert!(handle.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
    assert_eq!(fixture.shell.command_of(&handle).unwrap().1, fixture.folder());
    let report = fixture.input(&handle, "Alice\n").await.unwrap();
    assert_eq!((report.state, report.handle), (CommandState::Exited { code: 0 }, None));
    assert!(report.output_model.contains("hi Alice\n"), "{}", report.output_model);
    assert!(matches!(fixture.input(&handle, "").await, Err(ShellError::UnknownHandle { .. })));
}

#[tokio::test]
async fn two_prompts_are_kept_apart() {
    let fixture = Fixture::new();
    let (a, b) =
        tokio::join!(fixture.run("read -p 'A: ' x; echo A=$x"), fixture.run("read -p 'B: ' x; echo B=$x"));
    let (a, b) = (a.handle.unwrap(), b.handle.unwrap());
    assert_ne!(a, b);
    assert!(fixture.input(&a, "one\n").await.unwrap().output_model.contains("A=one\n"));
    assert!(fixture.input(&b, "two\\n").await.unwrap().output_model.contains("B=two\n"));
}

#[tokio::test]
async fn a_program_that_reads_without_asking_waits_too() {
    let fixture = Fixture::new();
    let report = fixture.run("cat").await;
    assert_eq!(report.state, CommandState::Waiting);
    let handle = report.handle.unwrap();
    let report = fixture.input(&handle, "line\n").await.unwrap();
    assert_eq!(report.state, CommandState::Waiting);
    assert_eq!(report.output_model, "line\nline\n");
    // End of file, as a key.
    let report = fixture.input(&handle, "\\x04").await.unwrap();
    assert_eq!(report.state, CommandState::Exited { code: 0 });
}

#[tokio::test]
async fn hidden_input_and_interruption_work() {
    let fixture = Fixture::new();
    let handle = fixture.run("read -s -p 'Password: ' x; echo; echo ${#x}").await.handle.unwrap();
    let report = fixture.input(&handle, "secret\n").await.unwrap();
    assert!(
        report.output_model.ends_with("\n6\n") && !report.output_model.contains("secret"),
        "{}",
        report.output_model
    );
    let handle = fixture.run("read -p 'go? ' x; echo no").await.handle.unwrap();
    let report = fixture.input(&handle, "\\x03").await.unwrap();
    assert!(
        matches!(report.state, CommandState::Signalled { signal: 2 } | CommandState::Exited { code: 130 }),
        "{report:?}"
    );
}

#[tokio::test]
async fn working_in_silence_is_not_waiting() {
    let fixture = Fixture::new();
    let report = fixture.run("sleep 2 && echo done").await;
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Exited { code: 0 }, "done\n"));
    assert!(report.duration >= Duration::from_millis(1_900));
    let report = fixture.run("echo started; sleep 2").await;
    assert_eq!(report.state, CommandState::Exited { code: 0 });
}

#[tokio::test]
async fn a_long_command_continues_and_can_be_observed() {
    let fixture = Fixture::new();
    let mut run = fixture.command("echo first; read -r go < pipe; echo second");
    fixture.output("mkfifo pipe").await;
    run.wait = Duration::from_millis(300);
    let report = fixture.shell.run(run).await.unwrap();
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Running, "first\n"));
    let log = report.log.unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\n");
    let handle = report.handle.unwrap();
    let (report, _) = tokio::join!(fixture.input(&handle, ""), fixture.output("echo go > pipe"));
    let report = report.unwrap();
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Exited { code: 0 }, "second\n"));
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nsecond\n");
}

#[tokio::test]
async fn handles_are_the_sessions_own() {
    let (first, second) = (Fixture::new(), Fixture::new());
    let handle = first.run("read x").await.handle.unwrap();
    assert!(matches!(second.input(&handle, "\n").await, Err(ShellError::UnknownHandle { .. })));
    assert!(matches!(second.shell.kill(&handle, CallId::new()).await, Err(ShellError::UnknownHandle { .. })));
    assert_eq!(first.shell.kill(&handle, CallId::new()).await.unwrap().state, CommandState::Killed);
}

#[tokio::test]
async fn input_to_a_program_that_reads_none_fails_without_blocking() {
    let fixture = Fixture::new();
    let mut run = fixture.command("stty raw -echo; sleep 60");
    run.wait = Duration::from_millis(300);
    let handle = fixture.shell.run(run).await.unwrap().handle.unwrap();
    let started = Instant::now();
    let error = fixture.input(&handle, &"x".repeat(1_000_000)).await.unwrap_err();
    assert!(matches!(error, ShellError::Input(_)));
    assert!(started.elapsed() < Duration::from_secs(10));
}
