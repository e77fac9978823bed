//! Temporary files of commands: what programs do with them under confinement, and what is protected from them.

use super::*;
use crate::{Confinement, confines};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// Lines that succeed in a confined command, with the programs they need.
const WORKING: &[(&[&str], &str)] = &[
    (
        &[],
        r#"[ -d "$TMPDIR" ] && [ "$TMP" = "$TMPDIR" ] && [ "$TEMP" = "$TMPDIR" ] && echo x > "$TMPDIR/file""#,
    ),
    (&[], r#"f=$(mktemp) && d=$(mktemp -d) && [[ $f = "$TMPDIR"/* && $d = "$TMPDIR"/* ]]"#),
    (&[], r#"seq 100000 > lines && [ "$(cat <<< "$(cat lines)" | wc -l)" = 100000 ]"#),
    (&[], r#"[ "$(seq 300000 | sort -S 64k -n | tail -1)" = 300000 ]"#),
    (&["gcc"], "echo 'int main(void) { return 0; }' > m.c && gcc m.c -o m && ./m"),
    (
        &["cargo"],
        "cargo init --quiet --vcs none --name it it && cargo build --quiet --offline --manifest-path it/Cargo.toml",
    ),
    (
        &["python3"],
        r#"python3 -c '
import multiprocessing, os, tempfile
assert tempfile.gettempdir() == os.environ["TMPDIR"]
tempfile.NamedTemporaryFile()
multiprocessing.Queue().put(1)'"#,
    ),
    (
        &["node"],
        r#"node -e '
const os = require("os");
if (os.tmpdir() !== process.env.TMPDIR) process.exit(1);
require("fs").mkdtempSync(os.tmpdir() + "/x");'"#,
    ),
    (
        &["java"],
        r#"echo 'class T { public static void main(String[] a) throws Exception { java.io.File.createTempFile("abc", ""); } }' > T.java && java T.java"#,
    ),
    (
        &["git"],
        "git init --quiet r && git -C r -c user.name=a -c user.email=a@b.example -c commit.gpgSign=false commit --quiet --allow-empty -m x",
    ),
    (
        &["ssh-agent", "ssh-add"],
        r#"eval "$(ssh-agent -s)"; ssh-add -l; [ $? = 1 ]; found=$?; kill "$SSH_AGENT_PID"; exit $found"#,
    ),
    (
        &["tmux"],
        r#"name=octo-test-$$; tmux -L $name new-session -d 'sleep 60' && tmux -L $name list-sessions; found=$?
tmux -L $name kill-server; rm -f "/tmp/tmux-$(id -u)/$name"; exit $found"#,
    ),
];

/// Lines that fail in a confined command. `FOREIGN` is a folder below `/tmp` with a home and another project.
const REFUSED: &[&str] = &[
    "echo x > FOREIGN/project/a",
    "rm -f FOREIGN/project/a",
    "touch FOREIGN/project/new",
    "mkdir FOREIGN/new",
    "ln -s /etc FOREIGN/new",
    "echo x > own && mv own FOREIGN/project/own",
    "cat FOREIGN/home/.ssh/id",
    "echo x >> FOREIGN/home/.profile",
    "cat FOREIGN/home/.octo/octo.db",
    "touch /tmp/octo-test-$$",
    "touch /var/tmp/octo-test-$$",
    "mkdir \"$TMPDIR/../beside\"",
];

struct ConfinedFixture {
    fixture: Fixture,
    foreign: tempfile::TempDir,
    confinement: Confinement,
}

impl ConfinedFixture {
    fn new() -> Option<Self> {
        if !confines() {
            println!("left out: this kernel has no Landlock");
            return None;
        }
        let fixture = Fixture::new();
        let foreign = tempfile::Builder::new().prefix("octo-test-").tempdir_in("/tmp").unwrap();
        for (path, text) in [
            ("project/a", "content\n"),
            ("home/.ssh/id", "key"),
            ("home/.profile", ""),
            ("home/.octo/octo.db", ""),
        ] {
            let path = foreign.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let home = foreign.path().canonicalize().unwrap().join("home");
        let confinement = Confinement {
            writable: vec![fixture.folder()],
            enterable: Vec::new(),
            secrets: Vec::new(),
            octo: home.join(".octo"),
            home: Some(home),
            octo_others: Vec::new(),
            octo_readable: Vec::new(),
        };
        Some(Self { fixture, foreign, confinement })
    }

    async fn run(&self, line: &str, env: Vec<(String, String)>) -> CommandReport {
        let line = line.replace("FOREIGN", self.foreign.path().to_str().unwrap());
        let confinement = Some(self.confinement.clone());
        self.fixture.shell.run(CommandRun { env, confinement, ..self.fixture.command(&line) }).await.unwrap()
    }

    async fn succeeds(&self, line: &str, env: Vec<(String, String)>) {
        let report = self.run(line, env).await;
        assert_eq!(report.state, CommandState::Exited { code: 0 }, "{line}: {}", report.output_model);
    }
}

/// Returns the `PATH` of this test's commands: that of a command in its fixture, and the compiler's folder.
fn path() -> String {
    let cargo = Path::new(env!("CARGO")).parent().unwrap().display();
    format!("/usr/local/bin:/usr/bin:/bin:{cargo}")
}

fn installed(program: &str) -> bool {
    let found = std::env::split_paths(&path()).any(|folder| folder.join(program).is_file());
    if !found {
        println!("left out: {program} is not installed");
    }
    found
}

#[tokio::test]
async fn programs_keep_their_temporary_files_in_the_sessions_folder() {
    let Some(confined) = ConfinedFixture::new() else { return };
    let home = confined.fixture.root.path().display().to_string();
    for (programs, line) in WORKING {
        if programs.iter().all(|program| installed(program)) {
            let env = vec![("PATH".to_owned(), path()), ("HOME".to_owned(), home.clone())];
            confined.succeeds(&format!("export CARGO_HOME=$PWD/cargo\n{line}"), env).await;
        }
    }
}

#[tokio::test]
async fn temporary_folders_are_protected_like_others() {
    let Some(confined) = ConfinedFixture::new() else { return };
    for line in REFUSED {
        let report = confined.run(line, Vec::new()).await;
        assert!(matches!(report.state, CommandState::Exited { code: 1.. }), "{line}: {report:?}");
    }
    assert_eq!(fs::read_to_string(confined.foreign.path().join("project/a")).unwrap(), "content\n");
    for line in [
        "cat FOREIGN/project/a && ls FOREIGN/home/.ssh /tmp",
        "touch /dev/shm/octo-test-$$ && rm /dev/shm/octo-test-$$",
    ] {
        confined.succeeds(line, Vec::new()).await;
    }
    // A folder below a temporary one that is the session's is its own.
    let mut inside = confined;
    inside.confinement.writable.push(inside.foreign.path().join("project"));
    inside.succeeds("echo x > FOREIGN/project/a && rm FOREIGN/project/a", Vec::new()).await;
    assert!(!inside.foreign.path().join("project/a").exists());
}

#[tokio::test]
async fn sockets_in_temporary_folders_stay_reachable() {
    let Some(confined) = ConfinedFixture::new() else { return };
    if installed("ssh-agent") && installed("ssh-add") {
        let socket = confined.foreign.path().join("agent");
        let agent = Command::new("ssh-agent").arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).spawn();
        let _agent = ChildGuard(agent.unwrap());
        until("the agent listens", || socket.exists()).await;
        let env = vec![("SSH_AUTH_SOCK".to_owned(), socket.display().to_string())];
        confined.succeeds("ssh-add -l; [ $? = 1 ]", env).await;
    }
    if installed("Xvfb") && installed("xdpyinfo") {
        let display = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "64x64x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut display = ChildGuard(display.unwrap());
        let mut number = String::new();
        BufReader::new(display.0.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let env = vec![("DISPLAY".to_owned(), format!(":{}", number.trim()))];
        confined.succeeds("xdpyinfo > /dev/null", env).await;
    }
}

#[tokio::test]
async fn a_browser_without_a_window_starts() {
    let Some(confined) = ConfinedFixture::new() else { return };
    let Some(chromium) = octo_testkit::chromium_program() else {
        println!("left out: Chromium is not installed");
        return;
    };
    let chromium = chromium.display();
    let line = format!(
        "'{chromium}' --headless --no-sandbox --disable-gpu --user-data-dir=\"$TMPDIR/chromium\" \
         --dump-dom 'data:text/html,<p>here</p>' 2> errors | grep '<p>here</p>' || {{ cat errors; exit 1; }}"
    );
    confined.succeeds(&line, Vec::new()).await;
}
