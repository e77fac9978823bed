//! Commands that wait for input.

use super::*;

#[tokio::test]
async fn a_prompt_is_noticed_and_answered() {
    let place = Place::new();
    let started = Instant::now();
    let report = place.run("read -p 'Name: ' name; echo \"hi $name\"").await;
    assert_eq!(report.state, CommandState::Waiting);
    assert!(started.elapsed() < Duration::from_secs(8), "noticed, not timed out");
    assert!(report.output_model.ends_with("Name: "), "{}", report.output_model);
    let handle = report.handle.unwrap();
    assert_eq!(handle.len(), 9);
    assert!(handle.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
    assert_eq!(place.shell.command_of(&handle).unwrap().1, place.folder());
    let report = place.input(&handle, "Alice\n").await.unwrap();
    assert_eq!((report.state, report.handle), (CommandState::Exited { code: 0 }, None));
    assert!(report.output_model.contains("hi Alice\n"), "{}", report.output_model);
    assert!(matches!(place.input(&handle, "").await, Err(ShellError::UnknownHandle { .. })));
}

#[tokio::test]
async fn two_prompts_are_kept_apart() {
    let place = Place::new();
    let (a, b) =
        tokio::join!(place.run("read -p 'A: ' x; echo A=$x"), place.run("read -p 'B: ' x; echo B=$x"));
    let (a, b) = (a.handle.unwrap(), b.handle.unwrap());
    assert_ne!(a, b);
    assert!(place.input(&a, "one\n").await.unwrap().output_model.contains("A=one\n"));
    assert!(place.input(&b, "two\\n").await.unwrap().output_model.contains("B=two\n"));
}

#[tokio::test]
async fn a_program_that_reads_without_asking_waits_too() {
    let place = Place::new();
    let report = place.run("cat").await;
    assert_eq!(report.state, CommandState::Waiting);
    let handle = report.handle.unwrap();
    let report = place.input(&handle, "line\n").await.unwrap();
    assert_eq!(report.state, CommandState::Waiting);
    assert_eq!(report.output_model, "line\nline\n");
    // End of file, as a key.
    let report = place.input(&handle, "\\x04").await.unwrap();
    assert_eq!(report.state, CommandState::Exited { code: 0 });
}

#[tokio::test]
async fn hidden_input_and_interruption_work() {
    let place = Place::new();
    let handle = place.run("read -s -p 'Password: ' x; echo; echo ${#x}").await.handle.unwrap();
    let report = place.input(&handle, "secret\n").await.unwrap();
    assert!(
        report.output_model.ends_with("\n6\n") && !report.output_model.contains("secret"),
        "{}",
        report.output_model
    );
    let handle = place.run("read -p 'go? ' x; echo no").await.handle.unwrap();
    let report = place.input(&handle, "\\x03").await.unwrap();
    assert!(
        matches!(report.state, CommandState::Signalled { signal: 2 } | CommandState::Exited { code: 130 }),
        "{report:?}"
    );
}

#[tokio::test]
async fn working_in_silence_is_not_waiting() {
    let place = Place::new();
    let report = place.run("sleep 2 && echo done").await;
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Exited { code: 0 }, "done\n"));
    assert!(report.duration >= Duration::from_millis(1_900));
    let report = place.run("echo started; sleep 2").await;
    assert_eq!(report.state, CommandState::Exited { code: 0 });
}

#[tokio::test]
async fn a_long_command_goes_on_and_is_asked_after() {
    let place = Place::new();
    let mut run = place.command("echo first; read -r go < pipe; echo second");
    place.output("mkfifo pipe").await;
    run.wait = Duration::from_millis(300);
    let report = place.shell.run(run).await.unwrap();
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Running, "first\n"));
    let log = report.log.unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\n");
    let handle = report.handle.unwrap();
    let (report, _) = tokio::join!(place.input(&handle, ""), place.output("echo go > pipe"));
    let report = report.unwrap();
    assert_eq!((report.state, report.output_model.as_str()), (CommandState::Exited { code: 0 }, "second\n"));
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nsecond\n");
}

#[tokio::test]
async fn handles_are_the_sessions_own() {
    let (one, other) = (Place::new(), Place::new());
    let handle = one.run("read x").await.handle.unwrap();
    assert!(matches!(other.input(&handle, "\n").await, Err(ShellError::UnknownHandle { .. })));
    assert!(matches!(other.shell.kill(&handle, CallId::new()).await, Err(ShellError::UnknownHandle { .. })));
    assert_eq!(one.shell.kill(&handle, CallId::new()).await.unwrap().state, CommandState::Killed);
}

#[tokio::test]
async fn a_program_that_takes_no_input_is_an_error_and_holds_nobody_up() {
    let place = Place::new();
    let mut run = place.command("stty raw -echo; sleep 60");
    run.wait = Duration::from_millis(300);
    let handle = place.shell.run(run).await.unwrap().handle.unwrap();
    let started = Instant::now();
    let error = place.input(&handle, &"x".repeat(1_000_000)).await.unwrap_err();
    assert!(matches!(error, ShellError::Input(_)));
    assert!(started.elapsed() < Duration::from_secs(10));
}
