use super::*;
use std::time::Instant;

async fn run(line: &str, timeout: Duration) -> io::Result<HookProgramEnd> {
    let login = LoginEnvironment::from_variables([
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ("KEY".to_owned(), "secret".to_owned()),
    ]);
    let secret_variables = ["KEY".to_owned()];
    let folder = octo_testkit::test_folder();
    let input = b"{\"a\":1}".to_vec();
    let supervision = crate::testing::supervision();
    let (login, secret_variables) = (&login, &secret_variables);
    HookProgram {
        line,
        folder: folder.path(),
        input,
        timeout,
        login,
        secret_variables,
        supervision: &supervision,
    }
    .run()
    .await
}

#[tokio::test]
async fn a_hook_gets_its_input_and_no_secret() {
    let end = run("cat; echo \" [$KEY]\"; echo oh >&2; exit 3", Duration::from_secs(30)).await.unwrap();
    assert_eq!(end, HookProgramEnd { code: Some(3), output: "{\"a\":1} []\n".into(), errors: "oh\n".into() });
    let end = run("head -c 1000000 /dev/zero | tr '\\0' x", Duration::from_secs(30)).await.unwrap();
    assert_eq!((end.code, end.output.len()), (Some(0), MAX_KEPT_BYTES));
}

#[tokio::test]
async fn a_process_left_by_a_hook_does_not_block() {
    let started = Instant::now();
    let end = run("sleep 300 & echo said; echo oh >&2", Duration::from_secs(120)).await.unwrap();
    assert_eq!(end, HookProgramEnd { code: Some(0), output: "said\n".into(), errors: "oh\n".into() });
    assert!(started.elapsed() < Duration::from_secs(60), "it was not waited for: {:?}", started.elapsed());
}

/// Returns a line that starts a loop in a session of its own, where a keeper ends it.
fn leaving(alive: &std::path::Path) -> String {
    if cfg!(target_os = "linux") {
        format!("setsid -f sh -c 'while :; do echo > {}; sleep 0.02; done' >/dev/null 2>&1;", alive.display())
    } else {
        String::new()
    }
}

#[tokio::test]
async fn a_hook_that_times_out_is_killed_with_its_processes() {
    let folder = octo_testkit::test_folder();
    let file = folder.path().join("alive");
    // Two loops: one stays in the program's group, one leaves it.
    let line =
        format!("(while :; do echo > '{}'; sleep 0.02; done) & {} sleep 60", file.display(), leaving(&file));
    let started = Instant::now();
    let error = run(&line, Duration::from_millis(300)).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(20));
    // Its child processes have ended by now or never will; after this nothing writes any more.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let _ = std::fs::remove_file(&file);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!file.exists());
}
