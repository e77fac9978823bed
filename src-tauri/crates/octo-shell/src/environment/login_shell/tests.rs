use super::*;
use crate::testing::supervision;
use octo_keeper::Supervision;
use std::{fs, time::Instant};

/// Returns a sandbox with a home of Octo's of its own.
fn sandbox(octo: &Path, supervision: Supervision) -> LoginSandbox {
    LoginSandbox { octo: octo.canonicalize().unwrap(), octo_others: Vec::new(), supervision }
}

/// Queries a shell under a keeper, if there is one, and without.
fn answers(shell: &Path, home: &Path) -> Vec<Option<Variables>> {
    let octo = octo_testkit::test_folder();
    [supervision(), Supervision::Session]
        .into_iter()
        .map(|supervision| query_shell(shell, &own_variables(home), &sandbox(octo.path(), supervision)))
        .inspect(|_| assert_eq!(fs::read_dir(octo.path()).unwrap().count(), 0, "nothing is left"))
        .collect()
}

fn own_variables(home: &Path) -> Variables {
    Variables::from([
        ("HOME".to_owned(), home.display().to_string()),
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
    ])
}

/// Returns the shell; prints a message if it is not installed, and the test has nothing to check.
fn installed(name: &str) -> Option<PathBuf> {
    let found = ["/bin", "/usr/bin", "/usr/local/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: {name} is not installed");
    }
    found
}

#[test]
fn each_shells_own_start_up_files_are_watched() {
    for (shell, file, text) in [
        ("bash", ".bashrc", "echo noise\nexport FROM_RC='one\ntwo'\nexport PATH=\"/opt/tools:$PATH\"\n"),
        ("zsh", ".zshrc", "echo noise\nexport FROM_RC='one\ntwo'\nexport PATH=\"/opt/tools:$PATH\"\n"),
        (
            "fish",
            ".config/fish/config.fish",
            "echo noise\nset -gx FROM_RC 'one\ntwo'\nset -gx PATH /opt/tools $PATH\n",
        ),
    ] {
        let Some(path) = installed(shell) else { continue };
        let home = octo_testkit::test_folder();
        let file = home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        // bash reads .bashrc only through the profile.
        fs::write(home.path().join(".bash_profile"), ". ~/.bashrc\n").unwrap();
        for variables in answers(&path, home.path()) {
            let variables = variables.unwrap_or_else(|| panic!("{shell} answers"));
            assert_eq!(variables.get("FROM_RC").map(String::as_str), Some("one\ntwo"), "{shell}");
            assert!(variables["PATH"].starts_with("/opt/tools:"), "{shell}: {}", variables["PATH"]);
        }
    }
}

#[test]
fn a_start_up_file_that_asks_does_not_block_the_query() {
    let Some(bash) = installed("bash") else { return };
    let home = octo_testkit::test_folder();
    fs::write(home.path().join(".bash_profile"), "read -p 'update? ' answer\nexport ANSWER=\"[$answer]\"\n")
        .unwrap();
    let started = Instant::now();
    for variables in answers(&bash, home.path()) {
        assert_eq!(variables.unwrap()["ANSWER"], "[]");
    }
    assert!(started.elapsed() < QUERY_TIMEOUT);
}

#[test]
fn an_incompatible_shell_yields_nothing() {
    let home = octo_testkit::test_folder();
    for program in ["/bin/true", "/bin/false"] {
        assert_eq!(answers(Path::new(program), home.path()), [None, None]);
    }
}

/// The lines of a hostile start-up file. A line that succeeds adds its number to
/// `DID`; what it writes is compared afterwards.
const HOSTILE: &[(&str, bool)] = &[
    ("echo x > ~/written", false),
    ("echo x > OUTSIDE/written", false),
    ("echo x > /tmp/octo-login-test-$$", false),
    ("mkdir -p ~/.cache/x", false),
    ("echo x >> ~/.bash_profile", false),
    ("rm ~/kept", false),
    ("mv ~/kept ~/moved", false),
    ("cat ~/.ssh/id_rsa", false),
    ("cat OCTO/octo.db", false),
    ("touch OCTO/policy.toml", false),
    ("(setsid -f sh -c 'echo x > OUTSIDE/later'; sleep 0.2; cat OUTSIDE/later)", false),
    // What start-up files need.
    ("cat ~/kept", true),
    ("echo x > $TMPDIR/x && cat $TMPDIR/x", true),
    ("cat /dev/null <<<x && cat <<E\nx\nE", true),
    ("f=$(mktemp) && echo x > $f", true),
];

#[test]
fn a_start_up_file_changes_nothing_and_reads_no_secret() {
    let Some(bash) = installed("bash") else { return };
    let place = octo_testkit::test_folder();
    let root = place.path().canonicalize().unwrap();
    let (home, outside, octo) = (root.join("home"), root.join("outside"), root.join("octo"));
    for folder in [&home.join(".ssh"), &outside, &octo] {
        fs::create_dir_all(folder).unwrap();
    }
    for file in [home.join("kept"), home.join(".ssh/id_rsa"), octo.join("octo.db")] {
        fs::write(file, "kept\n").unwrap();
    }
    let mut profile = "export DID=\n".to_owned();
    for (number, (line, _)) in HOSTILE.iter().enumerate() {
        let line = line.replace("OUTSIDE", &outside.display().to_string());
        let line = line.replace("OCTO", &octo.display().to_string());
        profile.push_str(&format!("if {{ {line}\n}} >/dev/null 2>&1; then DID=\"$DID {number}\"; fi\n"));
    }
    profile.push_str("export LEFT=$TMPDIR/x\n");
    // The home's own file is a link, as with a repository of settings.
    fs::write(home.join("profile"), profile).unwrap();
    std::os::unix::fs::symlink(home.join("profile"), home.join(".bash_profile")).unwrap();
    let expected: String =
        HOSTILE.iter().enumerate().filter(|(_, (_, works))| *works).map(|(at, _)| format!(" {at}")).collect();
    let variables = query_shell(&bash, &own_variables(&home), &sandbox(&octo, supervision())).unwrap();
    assert_eq!(variables["DID"], expected);
    for name in ["LEFT", "TMPDIR", "TMPPREFIX"] {
        assert!(!variables.contains_key(name), "{name} would name a folder that is gone");
    }
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&home), [".bash_profile", ".ssh", "kept", "profile"]);
    assert_eq!(names(&outside), [""; 0]);
    assert_eq!(names(&octo), ["octo.db"]);
}

#[test]
fn what_a_start_up_file_leaves_running_ends_with_the_query() {
    let Some(bash) = installed("bash") else { return };
    let home = octo_testkit::test_folder();
    // It has the pipe of the answer open, and its own session.
    fs::write(home.path().join(".bash_profile"), "setsid -f sleep 86400.25\nexport LEFT=yes\n").unwrap();
    let octo = octo_testkit::test_folder();
    let variables =
        query_shell(&bash, &own_variables(home.path()), &sandbox(octo.path(), supervision())).unwrap();
    assert_eq!(variables["LEFT"], "yes");
    let runs = octo_keeper::process_table::list().into_iter().any(|process| {
        let line = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("86400.25")
    });
    assert!(!runs);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_home_of_octos_no_shell_is_started() {
    let home = octo_testkit::test_folder();
    let sandbox =
        LoginSandbox { octo: home.path().join("none"), octo_others: Vec::new(), supervision: supervision() };
    assert_eq!(query_shell(Path::new("/bin/bash"), &own_variables(home.path()), &sandbox), None);
}
