//! Decisions and their reasons, as a table.

mod pages;

mod above;
mod desk;
mod redirects;
mod roles;

use super::*;
use octo_policy::{CommandRules, PathRules, Policy, PolicyRules, RunningCalls, StartupFiles};
use octo_protocol::{LibraryChange, Refusal, SessionId};
use octo_tools::{BuiltinCommandEffect, BuiltinGrant, CallConcurrency};
use std::{path::PathBuf, sync::Arc};

fn ground(mode: Mode, folder: &Path) -> PermissionContext {
    PermissionContext {
        mode,
        folder: folder.to_owned(),
        shell_folder: folder.to_owned(),
        readable: vec![PathBuf::from("/octo-home/logs")],
        writable: vec![PathBuf::from("/octo-home/scratch/s")],
        rules: Vec::new(),
        granted_to_turn: Vec::new(),
        home: PathBuf::from("/octo-home"),
        other_home_paths: Vec::new(),
        policy: Arc::default(),
        builtin: BuiltinGrant::Ask,
        startup_files: StartupFiles::default(),
        running: RunningCalls::default(),
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

/// Returns `None` if the call runs, otherwise the reason for asking.
fn reason(context: &PermissionContext, effects: &Effects) -> Option<AskReason> {
    match decide(context, effects).decision {
        Decision::Run(_) => None,
        Decision::Ask { reason, .. } => Some(reason),
        Decision::Feedback | Decision::Deny { .. } => {
            panic!("no question of the model's own, and no refusal")
        }
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
    let context = ground(Mode::Autonomous, &folder);
    for effects in
        [command("rm -rf x"), command("sudo ls"), writes("/etc/passwd"), reads("/root/.ssh/id_rsa")]
    {
        assert_eq!(decide(&context, &effects).decision, Decision::Run(RunBasis::Person));
    }
}

#[test]
fn always_for_a_line_that_reads_outside_is_about_that_line() {
    let (_keep, folder) = work();
    let line = "cat /etc/hosts";
    let offered = |mode| match decide(&ground(mode, &folder), &command(line)).decision {
        Decision::Ask { reason, rule } => (reason, rule),
        other => panic!("{other:?}"),
    };
    let exact = Rule::Line { line: line.into() };
    let why = AskReason::ReadsOutside { path: "/etc/hosts".into() };
    for mode in [Mode::Ask, Mode::AskRisky] {
        assert_eq!(offered(mode), (why.clone(), Some(exact.clone())), "{mode:?}");
    }
    let ruled = PermissionContext { rules: vec![exact], ..ground(Mode::AskRisky, &folder) };
    assert_eq!(reason(&ruled, &command(line)), None);
    assert!(reason(&ruled, &command("cat /etc/hosts /etc/passwd")).is_some());
    assert!(reason(&ruled, &reads("/etc/hosts")).is_some(), "and no other tool's");
}

#[test]
fn the_models_own_question_is_put_in_every_mode() {
    let (_keep, folder) = work();
    let effects = Effects { asks_person: AsksPerson::Yes, ..Effects::none() };
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        assert_eq!(decide(&ground(mode, &folder), &effects).decision, Decision::Feedback);
    }
}

#[test]
fn ask_asks_for_every_write_and_command() {
    let (_keep, folder) = work();
    let context = ground(Mode::Ask, &folder);
    assert_eq!(reason(&context, &writes(folder.join("a").to_str().unwrap())), Some(AskReason::Mode));
    assert_eq!(reason(&context, &command("ls")), Some(AskReason::Mode));
    assert_eq!(reason(&context, &reads(folder.join("a").to_str().unwrap())), None, "reading inside runs");
}

#[test]
fn ask_risky_table() {
    let (_keep, folder) = work();
    let context = ground(Mode::AskRisky, &folder);
    let path_in_folder = |name: &str| folder.join(name).display().to_string();
    let runs: Vec<Effects> = vec![
        Effects::none(),
        writes(&path_in_folder("src/a.rs")),
        reads(&path_in_folder("src/a.rs")),
        reads("/octo-home/logs/octo.log"),
        writes("/octo-home/scratch/s/tmp"),
        command("ls -la"),
        command("cat src/a.rs | head -5"),
        Effects { command: Some(CommandEffect::Control), ..Effects::none() },
        Effects { order: CallConcurrency::Parallel, ..Effects::none() },
    ];
    for effects in &runs {
        assert_eq!(decide(&context, effects).decision, Decision::Run(RunBasis::Policy), "{effects:?}");
    }
    let outside_reason = |path: &str| AskReason::WritesOutside { path: path.into() };
    let cases: Vec<(Effects, AskReason)> = vec![
        (writes("/etc/hosts"), outside_reason("/etc/hosts")),
        (
            writes("/octo-home/logs/octo.log"),
            AskReason::RunsLater { path: "/octo-home/logs/octo.log".into() },
        ),
        (writes(&path_in_folder(".env")), AskReason::Secret { path: path_in_folder(".env") }),
        (
            writes(&path_in_folder(".git/hooks/pre-commit")),
            AskReason::RunsLater { path: path_in_folder(".git/hooks/pre-commit") },
        ),
        (
            writes(&path_in_folder(".GIT/config")),
            AskReason::RunsLater { path: path_in_folder(".GIT/config") },
        ),
        (writes(&path_in_folder(".git/index")), AskReason::Protected { path: path_in_folder(".git/index") }),
        (writes(&path_in_folder("AGENTS.md")), AskReason::ProjectRules { path: path_in_folder("AGENTS.md") }),
        (command("echo x > AGENTS.md"), AskReason::ProjectRules { path: path_in_folder("AGENTS.md") }),
        (reads("/etc/hosts"), AskReason::ReadsOutside { path: "/etc/hosts".into() }),
        (reads(&path_in_folder(".env")), AskReason::Secret { path: path_in_folder(".env") }),
        (command("cat /etc/hosts"), AskReason::ReadsOutside { path: "/etc/hosts".into() }),
        (command("cat .env"), AskReason::Secret { path: path_in_folder(".env") }),
    ];
    for (effects, expected) in &cases {
        assert_eq!(reason(&context, effects).as_ref(), Some(expected), "{effects:?}");
    }
    for line in ["cargo test", "echo $(make a)", "echo \"`make a`\"", "ls; make a", "FOO=1 ls"] {
        assert!(
            matches!(reason(&context, &command(line)), Some(AskReason::Command { .. } | AskReason::Unparsed)),
            "{line}"
        );
    }
    let typed = Effects {
        command: Some(CommandEffect::Input { handle: "h".into(), input: "y\n".into() }),
        ..Effects::none()
    };
    assert_eq!(reason(&context, &typed), Some(AskReason::Command { part: None }));
}

#[test]
fn a_rule_allows_what_it_says_and_nothing_else() {
    let (_keep, folder) = work();
    let mut context = ground(Mode::AskRisky, &folder);
    context.rules = vec![
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
        assert_eq!(decide(&context, &effects).decision, Decision::Run(RunBasis::Person), "{effects:?}");
    }
    for effects in [
        command("cargo testify"),
        command("cargo test && rm -rf /etc/x"),
        command("cargo test $(make x)"),
        command("cargo test > /etc/out"),
        command("cargo test > .git/config"),
        command("make all && ./run && rm x"),
        writes("/etc/motd2"),
        reads("/usr/share/docs"),
    ] {
        assert!(matches!(decide(&context, &effects).decision, Decision::Ask { .. }), "{effects:?}");
    }
    // In another folder, or with its own variables, it is not the command that was allowed.
    let elsewhere =
        CommandEffect::Start { line: "cargo test".into(), cwd: Some("/tmp".into()), env: Vec::new() };
    let with_env = CommandEffect::Start {
        line: "cargo test".into(),
        cwd: None,
        env: vec![("RUSTC_WRAPPER".into(), "/tmp/x".into())],
    };
    for effect in [elsewhere, with_env] {
        let effects = Effects { command: Some(effect), ..Effects::none() };
        assert!(matches!(decide(&context, &effects).decision, Decision::Ask { .. }), "{effects:?}");
    }
}

#[test]
fn always_for_a_folder_does_not_open_the_secrets_in_it() {
    let (_keep, folder) = work();
    let mut context = ground(Mode::AskRisky, &folder);
    context.rules = vec![Rule::Read { path: "/srv/app".into() }];
    assert_eq!(reason(&context, &reads("/srv/app/readme")), None);
    assert_eq!(
        reason(&context, &reads("/srv/app/.env")),
        Some(AskReason::Secret { path: "/srv/app/.env".into() })
    );
}

#[test]
fn the_world_is_read_unasked_and_near_places_ask() {
    let (_keep, folder) = work();
    let site = |reach| octo_tools::Site { host: "localhost".into(), port: 3000, distance: reach };
    let fetches =
        |reach| Effects { sites: vec![site(reach)], order: CallConcurrency::Parallel, ..Effects::none() };
    for mode in [Mode::Ask, Mode::AskRisky] {
        let mut context = ground(mode, &folder);
        assert_eq!(
            decide(&context, &fetches(SiteDistance::Internet)).decision,
            Decision::Run(RunBasis::Policy)
        );
        assert!(
            granted_sites(&context, &fetches(SiteDistance::Internet), &Decision::Run(RunBasis::Policy))
                .is_empty()
        );
        let rule = Rule::Host { host: "localhost:3000".into() };
        for reach in [SiteDistance::Private, SiteDistance::Metadata] {
            let expected = Decision::Ask {
                reason: AskReason::PrivateAddress { host: "localhost:3000".into() },
                rule: Some(rule.clone()),
            };
            assert_eq!(decide(&context, &fetches(reach)).decision, expected);
            let granted = granted_sites(&context, &fetches(reach), &expected);
            assert_eq!(granted, [(site(reach), SiteGrant::ByName)], "a yes is for the place that was named");
        }
        // A rule for another port, or a rule to read files, allows nothing here.
        context.rules = vec![Rule::Host { host: "localhost:3001".into() }, Rule::Read { path: "/".into() }];
        assert!(reason(&context, &fetches(SiteDistance::Private)).is_some());
        context.rules.push(rule);
        assert_eq!(
            decide(&context, &fetches(SiteDistance::Private)).decision,
            Decision::Run(RunBasis::Person)
        );
        let granted =
            granted_sites(&context, &fetches(SiteDistance::Private), &Decision::Run(RunBasis::Person));
        assert_eq!(granted, [(site(SiteDistance::Private), SiteGrant::ByName)]);
    }
    let autonomous = ground(Mode::Autonomous, &folder);
    let decision = decide(&autonomous, &fetches(SiteDistance::Metadata)).decision;
    assert_eq!(decision, Decision::Run(RunBasis::Person));
    let granted = granted_sites(&autonomous, &fetches(SiteDistance::Metadata), &decision);
    assert_eq!(
        granted,
        [(site(SiteDistance::Metadata), SiteGrant::ByMode)],
        "which does not open a cloud's services"
    );
    let now = ground(Mode::Ask, &folder);
    assert!(
        is_forbidden_now(&now, &fetches(SiteDistance::Private)),
        "a stricter mode stops what an earlier one let through"
    );
}

fn refusal(context: &PermissionContext, effects: &Effects) -> Option<Refusal> {
    match decide(context, effects).decision {
        Decision::Deny { refusal, .. } => Some(refusal),
        _ => None,
    }
}

#[test]
fn what_is_refused_is_refused_in_every_mode_and_by_every_rule() {
    let (_keep, folder) = work();
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        let mut context = ground(mode, &folder);
        context.rules = vec![
            Rule::Line { line: "rm -rf /".into() },
            Rule::Write { path: "/octo-home/policy.toml".into() },
            Rule::Read { path: "/octo-home".into() },
        ];
        let kill = format!("kill {}", std::process::id());
        for (effects, expected) in [
            (command("rm -rf /"), Refusal::Wipes),
            (command("dd if=x of=/dev/sda"), Refusal::Device),
            (command(":(){ :|:& };:"), Refusal::ForkBomb),
            (command("pkill octo"), Refusal::EndsOcto),
            (command(&kill), Refusal::EndsOcto),
            (command("cat /octo-home/octo.db"), Refusal::OctoOwn),
            (writes("/octo-home/policy.toml"), Refusal::OctoOwn),
            (reads("/octo-home/octo.db"), Refusal::OctoOwn),
        ] {
            assert_eq!(refusal(&context, &effects), Some(expected), "{mode:?} {effects:?}");
        }
    }
}

#[test]
fn changes_inside_the_folder_run_and_others_ask() {
    let (_keep, folder) = work();
    std::fs::write(folder.join("a"), "a").unwrap();
    let context = ground(Mode::AskRisky, &folder);
    for line in [
        "rm a",
        "mkdir -p x/y && touch x/y/z",
        "cat a > b",
        "sed -i s/a/b/ a",
        "for f in a b; do cp a \"$f.bak\"; done",
    ] {
        assert_eq!(decide(&context, &command(line)).decision, Decision::Run(RunBasis::Policy), "{line}");
    }
    for line in [
        "touch /etc/x",
        "cp a /etc/x",
        "cat a > ../b",
        "rm -rf ../x",
        "echo x > .env",
        "echo x > .git/config",
        "cd /tmp && touch x",
    ] {
        assert!(matches!(decide(&context, &command(line)).decision, Decision::Ask { .. }), "{line}");
    }
    let whole = format!("rm -rf {}", folder.display());
    assert_eq!(
        reason(&context, &command(&whole)),
        Some(AskReason::Risky { risk: Risk::Deletes, part: None, instead: None })
    );
    for mode in [Mode::AskRisky, Mode::Autonomous] {
        let rules = vec![Rule::Write { path: folder.join("a").display().to_string() }];
        let strict = PermissionContext { policy: Arc::new(Policy::strict()), mode, rules, ..context.clone() };
        assert_eq!(decide(&strict, &command("cat a")).decision, Decision::Run(RunBasis::Policy));
        for effects in [command("rm a"), command("cat a > b"), writes(folder.join("a").to_str().unwrap())] {
            assert!(matches!(decide(&strict, &effects).decision, Decision::Ask { .. }), "{effects:?}");
        }
    }
}

#[test]
fn a_removal_past_the_trash_is_rewritten_in_every_mode() {
    let (_keep, folder) = work();
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        let decided = decide(&ground(mode, &folder), &command("/bin/rm a"));
        assert_eq!(decided.rewritten.as_deref(), Some("rm a"), "{mode:?}");
    }
}

#[test]
fn the_persons_own_policy_denies_asks_and_allows() {
    let (_keep, folder) = work();
    let rules = PolicyRules {
        commands: CommandRules {
            allow: vec!["just lint".into(), "docker ps".into()],
            ask: vec!["git commit".into()],
            deny: vec!["docker".into(), "npm * --global".into()],
        },
        paths: PathRules {
            secret: vec!["*.token".into()],
            deny: vec![folder.join("private").display().to_string()],
        },
        ..PolicyRules::default()
    };
    let policy = Arc::new(Policy::new(rules, None));
    for mode in [Mode::AskRisky, Mode::Autonomous] {
        let context = PermissionContext { policy: policy.clone(), ..ground(mode, &folder) };
        for line in [
            "docker ps",
            "sudo docker run x",
            "ls; /usr/bin/docker ps",
            "bash -c 'docker ps'",
            "npm install --global x",
            "cat private/x",
        ] {
            assert_eq!(refusal(&context, &command(line)), Some(Refusal::Ruled), "{line}");
        }
        assert_eq!(
            refusal(&context, &writes(folder.join("private/x").to_str().unwrap())),
            Some(Refusal::Ruled)
        );
    }
    let context = PermissionContext { policy, ..ground(Mode::AskRisky, &folder) };
    assert_eq!(decide(&context, &command("just lint --all")).decision, Decision::Run(RunBasis::Person));
    for line in [
        "just lint; make",
        "just lint $(make)",
        "just lint > /etc/x",
        "X=1 just lint",
        "just",
        "/tmp/just lint",
    ] {
        assert!(matches!(decide(&context, &command(line)).decision, Decision::Ask { .. }), "{line}");
    }
    let ruled = AskReason::Risky { risk: Risk::Ruled, part: None, instead: None };
    assert_eq!(reason(&context, &command("git commit -m x")), Some(ruled));
    let secret = folder.join("a.token").display().to_string();
    assert_eq!(reason(&context, &reads(&secret)), Some(AskReason::Secret { path: secret.clone() }));
}

#[test]
fn everything_but_a_plain_leave_to_run_is_logged_with_its_reason() {
    let (_keep, folder) = work();
    let context = ground(Mode::AskRisky, &folder);
    let inside = folder.join(".env").display().to_string();
    for (effects, expected) in [
        (command("rm -rf /"), Some(("deny", "wipes"))),
        (command("git push"), Some(("ask", "pushes"))),
        (command("make"), Some(("ask", "command"))),
        (command("echo ${x@P}"), Some(("ask", "unparsed"))),
        (command("/bin/rm x"), Some(("rewrite", "trash"))),
        (writes(&inside), Some(("ask", "secret"))),
        (command("rm x"), None),
        (command("ls"), None),
    ] {
        let entry = decide(&context, &effects).log_entry(&effects, SessionId::new(), 1);
        let entry = entry.map(|entry| serde_json::to_value(entry).unwrap());
        let seen = entry
            .as_ref()
            .map(|entry| (entry["verdict"].as_str().unwrap(), entry["reason"].as_str().unwrap()));
        assert_eq!(seen, expected, "{effects:?}");
    }
}
