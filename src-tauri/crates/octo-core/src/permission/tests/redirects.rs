//! Calls that could make a running call touch another path.

use super::*;
use octo_policy::RunningCallEntry;
use std::{fs, os::unix::fs::symlink, process::Command};

/// Runs git in the folder, without the person's settings.
fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with a branch `evil` on which `swap.txt` and `swap2.txt` are links.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let (keep, folder) = work();
    for name in ["README.md", "notes.txt", "swap.txt", "swap2.txt"] {
        fs::write(folder.join(name), "text\n").unwrap();
    }
    fs::create_dir(folder.join("sub")).unwrap();
    fs::write(folder.join("sub/file"), "text\n").unwrap();
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "one"]);
    git(&folder, &["checkout", "-qb", "evil"]);
    for (name, target) in [("swap.txt", ".env"), ("swap2.txt", ".git/hooks/post-commit")] {
        fs::remove_file(folder.join(name)).unwrap();
        symlink(target, folder.join(name)).unwrap();
    }
    git(&folder, &["commit", "-qam", "two"]);
    git(&folder, &["checkout", "-q", "main"]);
    (keep, folder)
}

/// Decides on a call and enters it among the running ones.
fn start(context: &PermissionContext, effects: &Effects) -> RunningCallEntry {
    let decided = decide(context, effects);
    assert_eq!(decided.decision, Decision::Run(RunBasis::Policy), "{effects:?}");
    context.running.enter(context.running_call(effects, &decided.facts)).unwrap()
}

fn restores(folder: &Path) -> Effects {
    Effects::restores(vec![folder.join("sub")])
}

#[test]
fn what_would_redirect_a_running_call_asks() {
    let (_keep, folder) = repository();
    let write = || writes(folder.join("new.txt").to_str().unwrap());
    let attack = "sleep 3; cat swap.txt; tee swap2.txt < README.md";
    let table: Vec<(Effects, Effects, bool)> = vec![
        (command(attack), command("git checkout evil"), true),
        (command(attack), command("git stash"), true),
        (command(attack), command("mv notes.txt swap.txt"), true),
        (command(attack), command("mv sub other"), true),
        (command(attack), command("cp -a sub other"), true),
        (command(attack), command("ln -s README.md link"), true),
        (command(attack), restores(&folder), true),
        (command("git checkout evil"), command(attack), true),
        (command("sleep 3; tee out.txt < README.md"), command("git switch evil"), true),
        (command("cd sub && sleep 3 && cat file"), command("mv sub other"), true),
        (command("find . -name '*.txt' | xargs wc"), write(), true),
        (command("find . -name '*.txt' | xargs wc"), command("touch new.txt"), true),
        (command(attack), write(), false),
        (command(attack), command("touch new.txt"), false),
        (command(attack), command("cp README.md copy.md"), false),
        (command(attack), command("cat notes.txt"), false),
        (command(attack), command("git status"), false),
        (command("sleep 60"), command("git checkout evil"), false),
        (write(), command("git checkout evil"), false),
    ];
    for (running, next, asks) in &table {
        let context = ground(Mode::AskRisky, &folder);
        assert_eq!(reason(&context, next), None, "alone it runs: {next:?}");
        let entry = start(&context, running);
        let question = reason(&context, next);
        assert_eq!(
            matches!(&question, Some(AskReason::Redirects { command }) if !command.is_empty()),
            *asks,
            "{running:?} beside {next:?}: {question:?}"
        );
        let elsewhere = work();
        let other = PermissionContext { writable: Vec::new(), ..ground(Mode::AskRisky, &elsewhere.1) };
        let other = PermissionContext { running: context.running.clone(), ..other };
        assert_eq!(reason(&other, &command("mv a b")), None, "in another folder it runs");
        let inner = PermissionContext { folder: folder.join("sub"), ..context.clone() };
        let decided = decide(&context, next);
        let late = inner.running.enter(inner.running_call(next, &decided.facts));
        assert_eq!(late.is_err(), *asks, "a call decided on earlier is held back at its start: {next:?}");
        drop((entry, late));
        assert_eq!(reason(&context, next), None, "afterwards it runs: {next:?}");
    }
}

#[test]
fn the_question_names_the_running_command_and_the_mode_may_ask_none() {
    let (_keep, folder) = repository();
    let context = ground(Mode::AskRisky, &folder);
    let attack = "sleep 3; cat swap.txt";
    let _running = start(&context, &command(attack));
    let expected = AskReason::Redirects { command: attack.to_owned() };
    assert_eq!(reason(&context, &command("git checkout evil")), Some(expected));
    let autonomous = PermissionContext { mode: Mode::Autonomous, ..context };
    assert_eq!(reason(&autonomous, &command("git checkout evil")), None);
}
