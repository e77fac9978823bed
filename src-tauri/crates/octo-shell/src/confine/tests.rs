use super::*;
use std::{fs, path::Path, process::Command, thread};

struct Fixture {
    _keep: tempfile::TempDir,
    home: PathBuf,
    confinement: Confinement,
}

/// Creates a separate home.
fn fixture() -> Option<Fixture> {
    if !is_available() {
        println!("left out: this kernel has no Landlock");
        return None;
    }
    let keep = octo_testkit::test_folder();
    let home = keep.path().canonicalize().unwrap();
    for folder in [
        "work",
        ".ssh",
        ".config/app",
        ".config/google-chrome",
        "docs",
        ".octo/skills",
        ".octo-before-2026-01-02-030405",
        "deep/er/and/deeper/moved",
        "deep/er/and/deeper/moved-before-2026-01-02-030405",
    ] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in [
        "work/a",
        ".ssh/id_rsa",
        ".config/app/rc",
        ".config/google-chrome/Cookies",
        "docs/b",
        ".octo/octo.db",
        ".octo/skills/c",
        ".octo-before-2026-01-02-030405/octo.db",
        "deep/er/and/deeper/moved/octo.db",
        "deep/er/and/deeper/moved-before-2026-01-02-030405/octo.db",
        "deep/er/and/deeper/d",
        ".profile",
        ".netrc",
    ] {
        fs::write(home.join(file), "content\n").unwrap();
    }
    let confinement = Confinement {
        writable: vec![home.join("work")],
        enterable: Vec::new(),
        secrets: Vec::new(),
        home: Some(home.clone()),
        octo: home.join(".octo"),
        octo_others: vec![home.join("deep/er/and/deeper/moved")],
        octo_readable: vec![home.join(".octo/skills")],
    };
    Some(Fixture { _keep: keep, home, confinement })
}

impl Fixture {
    /// Whether a bash line succeeds under the confinement.
    fn runs(&self, line: &str) -> bool {
        let (confinement, home, line) = (self.confinement.clone(), self.home.clone(), line.to_owned());
        let run = move || {
            assert_eq!(confinement.enforce().unwrap(), Enforcement::Yes);
            let mut command = Command::new("bash");
            command
                .args(["--noprofile", "--norc", "-c", &line])
                .current_dir(home.join("work"))
                .env("HOME", home);
            command.output().unwrap().status.success()
        };
        thread::spawn(run).join().unwrap()
    }
}

#[test]
fn commands_write_only_where_they_may_and_read_no_secrets() {
    let Some(fixture) = fixture() else { return };
    for (line, runs) in [
        ("cat a && echo x > a && echo y > new && mkdir -p d/e && mv new d/e/new && rm -r d", true),
        ("echo x > /dev/null && cat /etc/hostname /proc/self/stat > /dev/null && ls / ~ ~/.ssh", true),
        ("python3 -c 'print(1)' || true", true),
        ("cat ~/docs/b ~/.profile ~/.config/app/rc ~/.octo/skills/c", true),
        ("echo x >> ~/docs/b", false),
        ("echo x > ~/new", false),
        ("mv a ~/docs/a", false),
        ("ln ~/docs/b b", false),
        ("rm -f ~/docs/b", false),
        ("chmod 600 a", true),
        ("cat ~/.ssh/id_rsa", false),
        ("cat ~/.netrc", false),
        ("cat ~/.config/google-chrome/Cookies", false),
        ("cat ~/.octo/octo.db", false),
        ("echo x > ~/.octo/skills/c", false),
        ("cp ~/.ssh/id_rsa .", false),
        ("ln -s ~/.ssh s && cat s/id_rsa", false),
        ("cat /proc/self/root\"$HOME\"/.ssh/id_rsa", false),
        ("bash -c 'bash -c \"echo x > ~/docs/b\"'", false),
        ("truncate -s 0 ~/docs/b", false),
    ] {
        assert_eq!(fixture.runs(line), runs, "{line}");
    }
    assert_eq!(fs::read_to_string(fixture.home.join("docs/b")).unwrap(), "content\n");
}

#[test]
fn former_homes_are_as_closed_as_the_home() {
    let Some(mut fixture) = fixture() else { return };
    let aside_home = fixture.home.join(".octo-before-2026-01-02-030405");
    fixture.confinement.writable.push(aside_home.clone());
    fixture.confinement.enterable.push(aside_home.clone());
    fixture.confinement.secrets.push(aside_home.join("octo.db"));
    let moved_home = fixture.home.join("deep/er/and/deeper/moved");
    let former_of_moved = fixture.home.join("deep/er/and/deeper/moved-before-2026-01-02-030405");
    let grants = fixture.confinement.grants();
    for granted in grants.read.iter().chain(&grants.enter).chain(&grants.write) {
        for home in [&aside_home, &moved_home, &former_of_moved, &fixture.home.join(".octo")] {
            let is_readable = fixture.confinement.octo_readable.contains(granted);
            assert!(
                is_readable || !granted.starts_with(home) && !home.starts_with(granted),
                "{}",
                granted.display()
            );
        }
    }
    assert!(grants.read.contains(&fixture.home.join("deep/er/and/deeper/d")));
    for line in [
        "cat ~/.octo-before-2026-01-02-030405/octo.db",
        "echo x > ~/.octo-before-2026-01-02-030405/new",
        "rm ~/.octo-before-2026-01-02-030405/octo.db",
        "cat ~/deep/er/and/deeper/moved/octo.db",
        "cat ~/deep/er/and/deeper/moved-before-2026-01-02-030405/octo.db",
    ] {
        assert!(!fixture.runs(line), "{line}");
    }
    assert!(fixture.runs("cat ~/deep/er/and/deeper/d"));
}

#[test]
fn a_commands_grants_apply_to_exactly_their_paths() {
    let Some(mut fixture) = fixture() else { return };
    let file = fixture.home.join("docs/b");
    fixture.confinement.writable.push(file.clone());
    fixture.confinement.secrets.push(fixture.home.join(".ssh"));
    assert!(fixture.runs("echo more >> ~/docs/b && cat ~/.ssh/id_rsa"));
    assert!(!fixture.runs("echo x > ~/docs/other"));
    assert!(!fixture.runs("echo x >> ~/.ssh/id_rsa"));
    assert_eq!(fs::read_to_string(file).unwrap(), "content\nmore\n");
}

#[test]
fn new_files_in_a_granted_folder_are_accessible_and_secrets_are_not() {
    let Some(mut fixture) = fixture() else { return };
    fixture.confinement.enterable.push(fixture.home.join("docs"));
    assert!(fixture.runs("mv a ~/docs/moved && mkdir ~/docs/new && echo x > ~/docs/new/y && rm ~/docs/b"));
    assert!(!fixture.runs("echo x > ~/other"));
    fixture.confinement.enterable.push(fixture.home.clone());
    assert!(fixture.runs("echo x > ~/other"));
    assert!(!fixture.runs("cat ~/.ssh/id_rsa") && !fixture.runs("cat ~/.octo/octo.db"));
}

#[test]
fn this_process_is_not_confined() {
    let Some(fixture) = fixture() else { return };
    assert!(!fixture.runs("echo x > ~/new"));
    let free: &Path = &fixture.home.join("new");
    fs::write(free, "x").unwrap();
    assert!(free.exists());
}
