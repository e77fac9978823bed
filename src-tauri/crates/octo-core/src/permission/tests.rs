//! What runs, what asks and why, as a table.

use super::*;
use octo_tools::Order;

fn ground(mode: Mode, folder: &Path) -> Ground {
    Ground {
        mode,
        folder: folder.to_owned(),
        shell_folder: folder.to_owned(),
        readable: vec![PathBuf::from("/octo-home/logs")],
        writable: vec![PathBuf::from("/octo-home/scratch/s")],
        rules: Vec::new(),
    }
}

fn command(line: &str) -> Effects {
    let effect = CommandEffect::Start { line: line.into(), cwd: None, env: Vec::new() };
    Effects { command: Some(effect), ..Effects::none() }
}

fn writes(path: &str) -> Effects {
    Effects::writes(vec![PathBuf::from(path)])
}

fn reads(path: &str) -> Effects {
    Effects::reads(vec![PathBuf::from(path)])
}

/// `None` runs, `Some` names the reason for asking.
fn reason(ground: &Ground, effects: &Effects) -> Option<AskReason> {
    match decide(ground, effects) {
        Decision::Run(_) => None,
        Decision::Ask { reason, .. } => Some(reason),
        Decision::Feedback => panic!("no question of the model's own"),
    }
}

fn work() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    (folder, real)
}

#[test]
fn autonomous_asks_for_nothing() {
    let (_keep, folder) = work();
    let ground = ground(Mode::Autonomous, &folder);
    for effects in [command("rm -rf /"), writes("/etc/passwd"), reads("/root/.ssh/id_rsa")] {
        assert_eq!(decide(&ground, &effects), Decision::Run(Basis::Person));
    }
}

#[test]
fn the_models_own_question_is_put_in_every_mode() {
    let (_keep, folder) = work();
    let effects = Effects { asks_person: AsksPerson::Yes, ..Effects::none() };
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        assert_eq!(decide(&ground(mode, &folder), &effects), Decision::Feedback);
    }
}

#[test]
fn ask_asks_for_every_write_and_command() {
    let (_keep, folder) = work();
    let ground = ground(Mode::Ask, &folder);
    assert_eq!(reason(&ground, &writes(folder.join("a").to_str().unwrap())), Some(AskReason::Mode));
    assert_eq!(reason(&ground, &command("ls")), Some(AskReason::Mode));
    assert_eq!(reason(&ground, &reads(folder.join("a").to_str().unwrap())), None, "reading inside runs");
}

#[test]
fn ask_risky_table() {
    let (_keep, folder) = work();
    let ground = ground(Mode::AskRisky, &folder);
    let inside = |name: &str| folder.join(name).display().to_string();
    let runs: Vec<Effects> = vec![
        Effects::none(),
        writes(&inside("src/a.rs")),
        reads(&inside("src/a.rs")),
        reads("/octo-home/logs/octo.log"),
        writes("/octo-home/scratch/s/tmp"),
        command("ls -la"),
        command("cat src/a.rs | head -5"),
        Effects { command: Some(CommandEffect::Control), ..Effects::none() },
        Effects { order: Order::Parallel, ..Effects::none() },
    ];
    for effects in &runs {
        assert_eq!(decide(&ground, effects), Decision::Run(Basis::Policy), "{effects:?}");
    }
    let outside = |path: &str| AskReason::WritesOutside { path: path.into() };
    let asks: Vec<(Effects, AskReason)> = vec![
        (writes("/etc/hosts"), outside("/etc/hosts")),
        (writes("/octo-home/logs/octo.log"), outside("/octo-home/logs/octo.log")),
        (writes(&inside(".env")), AskReason::Secret { path: inside(".env") }),
        (
            writes(&inside(".git/hooks/pre-commit")),
            AskReason::Protected { path: inside(".git/hooks/pre-commit") },
        ),
        (writes(&inside(".GIT/config")), AskReason::Protected { path: inside(".GIT/config") }),
        (reads("/etc/hosts"), AskReason::ReadsOutside { path: "/etc/hosts".into() }),
        (reads(&inside(".env")), AskReason::Secret { path: inside(".env") }),
        (command("cat /etc/hosts"), AskReason::ReadsOutside { path: "/etc/hosts".into() }),
        (command("cat .env"), AskReason::Secret { path: inside(".env") }),
    ];
    for (effects, expected) in &asks {
        assert_eq!(reason(&ground, effects).as_ref(), Some(expected), "{effects:?}");
    }
    for line in ["rm a", "cargo test", "echo $(rm a)", "echo \"`rm a`\"", "cat a > b", "ls; rm a", "FOO=1 ls"]
    {
        assert!(
            matches!(reason(&ground, &command(line)), Some(AskReason::Command { .. } | AskReason::Unparsed)),
            "{line}"
        );
    }
    let typed = Effects {
        command: Some(CommandEffect::Input { handle: "h".into(), input: "y\n".into() }),
        ..Effects::none()
    };
    assert_eq!(reason(&ground, &typed), Some(AskReason::Command { part: None }));
}

#[test]
fn a_rule_allows_what_it_says_and_nothing_else() {
    let (_keep, folder) = work();
    let mut ground = ground(Mode::AskRisky, &folder);
    ground.rules = vec![
        Rule::Command { words: vec!["cargo".into(), "test".into()] },
        Rule::Write { path: "/etc/motd".into() },
        Rule::Read { path: "/usr/share/doc".into() },
        Rule::Line { line: "make all && ./run".into() },
    ];
    for effects in [
        command("cargo test -p x"),
        command("make all && ./run"),
        writes("/etc/motd"),
        reads("/usr/share/doc/bash/README"),
    ] {
        assert_eq!(decide(&ground, &effects), Decision::Run(Basis::Person), "{effects:?}");
    }
    for effects in [
        command("cargo testify"),
        command("cargo test && rm -rf x"),
        command("cargo test $(rm x)"),
        command("cargo test > out"),
        command("make all && ./run && rm x"),
        writes("/etc/motd2"),
        reads("/usr/share/docs"),
    ] {
        assert!(matches!(decide(&ground, &effects), Decision::Ask { .. }), "{effects:?}");
    }
    // Elsewhere, or with variables of its own, a command is not the one that was allowed.
    let elsewhere =
        CommandEffect::Start { line: "cargo test".into(), cwd: Some("/tmp".into()), env: Vec::new() };
    let with_env = CommandEffect::Start {
        line: "cargo test".into(),
        cwd: None,
        env: vec![("RUSTC_WRAPPER".into(), "/tmp/x".into())],
    };
    for effect in [elsewhere, with_env] {
        let effects = Effects { command: Some(effect), ..Effects::none() };
        assert!(matches!(decide(&ground, &effects), Decision::Ask { .. }), "{effects:?}");
    }
}

#[test]
fn always_for_a_folder_does_not_open_the_secrets_in_it() {
    let (_keep, folder) = work();
    let mut ground = ground(Mode::AskRisky, &folder);
    ground.rules = vec![Rule::Read { path: "/srv/app".into() }];
    assert_eq!(reason(&ground, &reads("/srv/app/readme")), None);
    assert_eq!(
        reason(&ground, &reads("/srv/app/.env")),
        Some(AskReason::Secret { path: "/srv/app/.env".into() })
    );
}

#[test]
fn the_world_is_read_unasked_and_near_places_ask() {
    let (_keep, folder) = work();
    let site = |reach| octo_tools::Site { host: "localhost".into(), port: 3000, reach };
    let fetches = |reach| Effects { sites: vec![site(reach)], order: Order::Parallel, ..Effects::none() };
    for mode in [Mode::Ask, Mode::AskRisky] {
        let mut ground = ground(mode, &folder);
        assert_eq!(decide(&ground, &fetches(Reach::World)), Decision::Run(Basis::Policy));
        assert!(granted_sites(&ground, &fetches(Reach::World), &Decision::Run(Basis::Policy)).is_empty());
        let rule = Rule::Host { host: "localhost:3000".into() };
        for reach in [Reach::Private, Reach::Metadata] {
            let asks = Decision::Ask {
                reason: AskReason::PrivateAddress { host: "localhost:3000".into() },
                rule: Some(rule.clone()),
            };
            assert_eq!(decide(&ground, &fetches(reach)), asks);
            let granted = granted_sites(&ground, &fetches(reach), &asks);
            assert_eq!(granted, [(site(reach), Granted::ByName)], "a yes is for the place that was named");
        }
        // A rule for another port, or one that reads files, opens nothing.
        ground.rules = vec![Rule::Host { host: "localhost:3001".into() }, Rule::Read { path: "/".into() }];
        assert!(reason(&ground, &fetches(Reach::Private)).is_some());
        ground.rules.push(rule);
        assert_eq!(decide(&ground, &fetches(Reach::Private)), Decision::Run(Basis::Person));
        let granted = granted_sites(&ground, &fetches(Reach::Private), &Decision::Run(Basis::Person));
        assert_eq!(granted, [(site(Reach::Private), Granted::ByName)]);
    }
    let autonomous = ground(Mode::Autonomous, &folder);
    let decision = decide(&autonomous, &fetches(Reach::Metadata));
    assert_eq!(decision, Decision::Run(Basis::Person));
    let granted = granted_sites(&autonomous, &fetches(Reach::Metadata), &decision);
    assert_eq!(granted, [(site(Reach::Metadata), Granted::ByMode)], "which does not open a cloud's services");
    let now = ground(Mode::Ask, &folder);
    assert!(
        forbids_by_now(&now, &fetches(Reach::Private)),
        "a stricter mode stops what an earlier one let through"
    );
}
