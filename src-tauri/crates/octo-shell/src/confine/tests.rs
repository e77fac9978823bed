use super::*;
use std::{fs, path::Path, process::Command, thread};

struct Place {
    _keep: tempfile::TempDir,
    home: PathBuf,
    confinement: Confinement,
}

/// Creates a separate home.
fn place() -> Option<Place> {
    if !is_available() {
        println!("left out: this kernel has no Landlock");
        return None;
    }
    let keep = tempfile::tempdir().unwrap();
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
    Some(Place { _keep: keep, home, confinement })
}

impl Place {
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
    let Some(place) = place() else { return };
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
        assert_eq!(place.runs(line), runs, "{line}");
    }
    assert_eq!(fs::read_to_string(place.home.join("docs/b")).unwrap(), "content\n");
}

#[test]
fn homes_that_were_put_aside_are_no_more_open_than_the_home() {
    let Some(mut place) = place() else { return };
    let kept = place.home.join(".octo-before-2026-01-02-030405");
    place.confinement.writable.push(kept.clone());
    place.confinement.enterable.push(kept.clone());
    place.confinement.secrets.push(kept.join("octo.db"));
    let moved = place.home.join("deep/er/and/deeper/moved");
    let beside = place.home.join("deep/er/and/deeper/moved-before-2026-01-02-030405");
    let grants = place.confinement.grants();
    for granted in grants.read.iter().chain(&grants.enter).chain(&grants.write) {
        for home in [&kept, &moved, &beside, &place.home.join(".octo")] {
            let shared = place.confinement.octo_readable.contains(granted);
            assert!(
                shared || !granted.starts_with(home) && !home.starts_with(granted),
                "{}",
                granted.display()
            );
        }
    }
    assert!(grants.read.contains(&place.home.join("deep/er/and/deeper/d")));
    for line in [
        "cat ~/.octo-before-2026-01-02-030405/octo.db",
        "echo x > ~/.octo-before-2026-01-02-030405/new",
        "rm ~/.octo-before-2026-01-02-030405/octo.db",
        "cat ~/deep/er/and/deeper/moved/octo.db",
        "cat ~/deep/er/and/deeper/moved-before-2026-01-02-030405/octo.db",
    ] {
        assert!(!place.runs(line), "{line}");
    }
    assert!(place.runs("cat ~/deep/er/and/deeper/d"));
}

#[test]
fn what_was_allowed_for_a_command_is_granted_and_nothing_beside_it() {
    let Some(mut place) = place() else { return };
    let file = place.home.join("docs/b");
    place.confinement.writable.push(file.clone());
    place.confinement.secrets.push(place.home.join(".ssh"));
    assert!(place.runs("echo more >> ~/docs/b && cat ~/.ssh/id_rsa"));
    assert!(!place.runs("echo x > ~/docs/other"));
    assert!(!place.runs("echo x >> ~/.ssh/id_rsa"));
    assert_eq!(fs::read_to_string(file).unwrap(), "content\nmore\n");
}

#[test]
fn in_an_entered_folder_things_come_and_go_and_secrets_stay_unread() {
    let Some(mut place) = place() else { return };
    place.confinement.enterable.push(place.home.join("docs"));
    assert!(place.runs("mv a ~/docs/moved && mkdir ~/docs/new && echo x > ~/docs/new/y && rm ~/docs/b"));
    assert!(!place.runs("echo x > ~/other"));
    place.confinement.enterable.push(place.home.clone());
    assert!(place.runs("echo x > ~/other"));
    assert!(!place.runs("cat ~/.ssh/id_rsa") && !place.runs("cat ~/.octo/octo.db"));
}

#[test]
fn this_process_stays_free() {
    let Some(place) = place() else { return };
    assert!(!place.runs("echo x > ~/new"));
    let free: &Path = &place.home.join("new");
    fs::write(free, "x").unwrap();
    assert!(free.exists());
}
