//! The state passed from one command to the next.

use super::*;
use octo_policy::{Language, LineContext, Policy, PolicyContext, StartupFiles, Verdict, assess};

#[tokio::test]
async fn directory_variables_and_functions_are_carried() {
    let fixture = Fixture::new();
    fixture.output("mkdir -p 'a b/c' && cd 'a b' && export NAME='one\ntwo' && hello() { echo \"hello $1 from $NAME\"; }").await;
    assert_eq!(fixture.shell.current_dir(&fixture.folder()), fixture.folder().join("a b"));
    let report = fixture.run("pwd; hello you; cd c").await;
    assert_eq!(report.output_model, format!("{}/a b\nhello you from one\ntwo\n", fixture.folder().display()));
    assert_eq!(
        (report.cwd, report.cwd_after),
        (fixture.folder().join("a b"), fixture.folder().join("a b/c"))
    );
    assert_eq!(fixture.output("unset NAME HOME; unset -f hello; echo ${HOME-gone}").await, "gone\n");
    assert_eq!(
        fixture.output("echo ${NAME-gone} ${HOME-gone}; type -t hello || echo gone").await,
        "gone gone\ngone\n"
    );
    assert_eq!(fixture.output("f() { echo exported; }; export -f f").await, "");
    assert_eq!(fixture.output("bash -c f").await, "exported\n");
}

#[tokio::test]
async fn variables_of_one_call_are_not_carried() {
    let fixture = Fixture::new();
    let mut run = fixture.command("echo $MY_VAR");
    run.env = vec![("MY_VAR".to_owned(), "alpha".to_owned())];
    assert_eq!(fixture.shell.run(run).await.unwrap().output_model, "alpha\n");
    assert_eq!(fixture.output("echo \"[${MY_VAR:-unset}]\"").await, "[unset]\n");
    let mut run = fixture.command("export OTHER=$PATH");
    run.env = vec![("PATH".to_owned(), "/usr/bin:/bin:/once".to_owned())];
    fixture.shell.run(run).await.unwrap();
    assert_eq!(
        fixture.output("echo $PATH; echo $OTHER").await,
        "/usr/local/bin:/usr/bin:/bin\n/usr/bin:/bin:/once\n"
    );
}

#[tokio::test]
async fn a_folder_for_one_call_is_not_carried() {
    let fixture = Fixture::new();
    fixture.output("mkdir -p a/b").await;
    let mut run = fixture.command("pwd");
    run.cwd = Some(fixture.folder().join("a"));
    let report = fixture.shell.run(run.clone()).await.unwrap();
    assert_eq!(report.output_model, format!("{}/a\n", fixture.folder().display()));
    assert_eq!(fixture.shell.current_dir(&fixture.folder()), fixture.folder());
    run.command = "cd b".to_owned();
    fixture.shell.run(run).await.unwrap();
    assert_eq!(fixture.shell.current_dir(&fixture.folder()), fixture.folder().join("a/b"));
}

/// Runs a line in a folder `sub` of a project with a home whose trash takes what is removed, and returns the
/// report and the directory of the next command, relative to the project.
async fn leave_from(line: &str) -> (CommandReport, String) {
    let root = octo_testkit::test_folder();
    let path = root.path().canonicalize().unwrap();
    fs::create_dir_all(path.join("project/sub/deep")).unwrap();
    fs::create_dir_all(path.join("octo/trash/1")).unwrap();
    fs::create_dir(path.join("outside")).unwrap();
    let supervision = crate::testing::supervision();
    let shell = Shell::new(ShellConfig {
        closed_folders: crate::ClosedFolders { closed: vec![path.join("octo")], open: Vec::new() },
        ..config(&path, supervision.clone())
    });
    let fixture = Fixture { root, shell, supervision };
    let mut report = fixture.run(line).await;
    let next = fixture.run("pwd -P").await;
    assert_eq!(next.output_model.trim_end(), next.cwd.display().to_string(), "{line}");
    if report.lost_dir.is_none() {
        report.lost_dir = next.lost_dir;
    }
    assert_eq!(fixture.run("true").await.lost_dir, None, "it is said once: {line}");
    let stands = next.cwd.strip_prefix(fixture.folder()).unwrap_or(&next.cwd).display().to_string();
    (report, stands)
}

/// A folder under the session that was removed, moved, renamed or replaced by a link.
#[tokio::test]
async fn the_session_does_not_follow_its_folder_to_where_it_may_not_stand() {
    for (line, stands, lost) in [
        ("cd sub && mv ../sub ../../octo/trash/1/content", "", Some("sub")),
        ("cd sub/deep && mv ../../sub ../../../octo/trash/1/content", "", Some("sub/deep")),
        ("cd sub/deep && mv ../deep ../../../octo/trash/1/content", "sub", Some("sub/deep")),
        ("cd sub && rm -r ../sub", "", Some("sub")),
        ("cd sub/deep && rmdir ../deep", "sub", Some("sub/deep")),
        ("cd sub && mv ../sub ../away && ln -s ../outside ../sub", "", Some("sub")),
        ("cd sub; mv ../sub ../away; mkdir ../sub", "sub", Some("sub")),
        ("cd ../octo/trash/1", "", Some("../octo/trash/1")),
        ("cd ../octo", "", Some("../octo")),
        ("cd sub && mv ../sub ../renamed", "renamed", None),
        ("cd sub; ln -s . link; cd link", "sub", None),
        ("cd ../outside", "../outside", None),
    ] {
        let (report, found) = leave_from(line).await;
        let project = report.cwd.clone();
        let clean = |path: PathBuf| path.display().to_string().replace("/project/..", "");
        assert_eq!(clean(project.join(&found)), clean(project.join(stands)), "{line}");
        assert_eq!(report.lost_dir.map(clean), lost.map(|lost| clean(project.join(lost))), "{line}");
    }
}

#[tokio::test]
async fn a_folder_that_is_gone_between_commands_is_left_and_named() {
    let fixture = Fixture::new();
    let (sub, away) = (fixture.folder().join("sub"), fixture.folder().join("away"));
    for replaced_by_link in [false, true] {
        fixture.output("mkdir sub; cd sub").await;
        fs::rename(&sub, &away).unwrap();
        if replaced_by_link {
            std::os::unix::fs::symlink("/", &sub).unwrap();
        }
        assert_eq!(fixture.shell.current_dir(&fixture.folder()), fixture.folder());
        let report = fixture.run("pwd").await;
        assert_eq!(report.output_model.trim_end(), fixture.folder().display().to_string());
        assert_eq!((report.cwd, report.lost_dir.as_ref()), (fixture.folder(), Some(&sub)));
        assert_eq!(fixture.run("pwd").await.lost_dir, None, "it is said once");
        let mut run = fixture.command("true");
        run.cwd = Some(sub.clone());
        let error = fixture.shell.run(run).await.unwrap_err();
        assert_eq!(matches!(error, ShellError::FolderReplaced { .. }), replaced_by_link, "{error}");
        fs::remove_dir(&away).unwrap();
    }
}

#[tokio::test]
async fn a_command_that_removes_the_folder_it_stands_in_says_so() {
    let fixture = Fixture::new();
    fixture.output("mkdir sub; cd sub").await;
    let sub = fixture.folder().join("sub");
    // The terminal names the folder that the decision was about.
    let run = CommandRun { cwd: Some(sub.clone()), ..fixture.command("rmdir ../sub") };
    let report = fixture.shell.run(run).await.unwrap();
    assert_eq!((report.cwd_after, report.lost_dir), (fixture.folder(), Some(sub)));
}

#[tokio::test]
async fn without_the_sessions_folder_nothing_runs_anywhere() {
    let fixture = Fixture::new();
    let outside = fixture.root.path().canonicalize().unwrap();
    fixture.output("cd ..").await;
    let (run, folder) = (fixture.command("touch ran"), fixture.folder());
    let moved = folder.with_file_name("moved");
    fs::rename(&folder, &moved).unwrap();
    for link in [false, true] {
        if link {
            std::os::unix::fs::symlink(&moved, &folder).unwrap();
        }
        for cwd in [None, Some(outside.clone())] {
            let error = fixture.shell.run(CommandRun { cwd, ..run.clone() }).await.unwrap_err();
            assert!(matches!(error, ShellError::SessionFolderGone { .. }), "{error}");
            assert!(error.to_string().contains("trash_manager"), "{error}");
        }
    }
    assert!(!outside.join("ran").exists() && !moved.join("ran").exists());
    fs::remove_file(&folder).unwrap();
    fs::rename(&moved, &folder).unwrap();
    assert_eq!(fixture.shell.run(run).await.unwrap().cwd, outside, "it goes on where it stood");
}

#[tokio::test]
async fn a_command_that_ends_badly_changes_nothing_and_breaks_nothing() {
    let fixture = Fixture::new();
    fixture.output("mkdir d; export A=kept; cd d").await;
    for command in
        ["export A=lost; cd ..; kill -9 $$", "export A=lost; cd ..; exec true", "A=lost; exec false"]
    {
        fixture.run(command).await;
        assert_eq!(fixture.output("echo $A; basename \"$PWD\"").await, "kept\nd\n", "{command}");
    }
    // These end like every command.
    for command in [
        "export B=1; exit 5",
        "set -eu; export B=2; false",
        "set -x; export B=3",
        "IFS=,; set -C; export B=4",
        "trap 'echo mine' EXIT; unset B; exit 0",
    ] {
        fixture.run(command).await;
        let expected = match command.split_once("B=") {
            Some((_, value)) => value.get(..1).unwrap(),
            // The command's own trap replaced ours: nothing new is carried.
            None => "4",
        };
        assert_eq!(fixture.output("echo $B").await, format!("{expected}\n"), "{command}");
    }
}

#[tokio::test]
async fn the_carried_state_survives_a_restart_and_a_broken_file_is_ignored() {
    let fixture = Fixture::new();
    fixture.output("mkdir sub; cd sub; export KEPT=yes").await;
    let second_shell = Fixture::shell_in(fixture.root.path());
    let run = fixture.command("echo $KEPT; basename \"$PWD\"");
    assert_eq!(second_shell.run(run.clone()).await.unwrap().output_model, "yes\nsub\n");
    fs::write(fixture.root.path().join("scratch/carried.json"), "{\"version\":1,").unwrap();
    let second_shell = Fixture::shell_in(fixture.root.path());
    assert_eq!(second_shell.run(run).await.unwrap().output_model, "\nproject\n");
}

#[tokio::test]
async fn a_late_end_does_not_overwrite_newer_state() {
    let fixture = Fixture::new();
    fixture.output("mkdir early late").await;
    let mut run = fixture.command("cd early; export WHO=early; read -r x");
    run.wait = Duration::ZERO;
    let early = fixture.shell.run(run).await.unwrap().handle.unwrap();
    fixture.output("cd late; export WHO=late").await;
    let report = fixture.input(&early, "go\n").await.unwrap();
    assert_eq!(report.state, CommandState::Exited { code: 0 });
    assert_eq!(fixture.output("echo $WHO; basename \"$PWD\"").await, "late\nlate\n");
}

#[tokio::test]
async fn a_command_without_a_question_inherits_the_directory_only() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.folder().join("evil")).unwrap();
    fs::write(fixture.folder().join("evil/ls"), "#!/bin/sh\necho evil\n").unwrap();
    fixture
        .output(
            "chmod +x evil/ls; mkdir sub; cd sub; export PATH=\"$PWD/../evil:.:$PATH\" BASH_ENV=/tmp/x GIT_EXTERNAL_DIFF=evil CDPATH=/
             cat() { echo evil; }; grep() { echo evil; }; export -f grep; export GREP_OPTIONS=-v LS_COLORS=x; touch ./-l .hidden shown",
        )
        .await;
    let mut run = fixture.command("ls; cat /dev/null; basename \"$PWD\"; echo $PATH; env");
    assert!(fixture.shell.run(run.clone()).await.unwrap().output_model.contains("evil\n"));
    run.carry_scope = CarryScope::FolderOnly;
    run.command = "basename \"$PWD\"; echo $PATH; cat /dev/null; type -t grep; ls *; ls .*; env".to_owned();
    let output = fixture.shell.run(run.clone()).await.unwrap().output_model;
    assert!(output.starts_with("sub\n/usr/local/bin:/usr/bin:/bin\nfile\nshown\n.hidden\n"), "{output}");
    assert!(!output.contains("evil") && !output.contains("BASH_ENV"), "{output}");
    assert!(
        output.contains("GIT_OPTIONAL_LOCKS=0\n") && output.contains("GIT_CONFIG_KEY_0=core.fsmonitor\n"),
        "{output}"
    );
    // It carries its directory, and leaves the rest unchanged.
    run.command = "cd ..; export NEW=1; f() { :; }".to_owned();
    fixture.shell.run(run).await.unwrap();
    assert_eq!(
        fixture.output("basename \"$PWD\"; echo \"[$NEW]\"; type -t f; cat").await,
        "project\n[]\nevil\n"
    );
}

#[tokio::test]
async fn a_command_without_a_question_matches_names_as_bash_does() {
    let fixture = Fixture::new();
    fixture
        .output("mkdir -p .github/workflows sub; touch .github/workflows/ci.yml sub/.env sub/a -- -l")
        .await;
    let mut run =
        fixture.command("echo .github/workflows/*; echo .g*; echo sub/*; echo *; echo */*; echo sub/.e*");
    run.carry_scope = CarryScope::FolderOnly;
    let output = fixture.shell.run(run).await.unwrap().output_model;
    let lines: Vec<&str> = output.lines().take(6).collect();
    assert_eq!(
        lines,
        [".github/workflows/ci.yml", ".github", "sub/a", "sub", "sub/a", "sub/.env"],
        "{output}"
    );
}

/// Returns whether the words of a line alone tell the policy that it only reads.
fn is_read_only(line: &str) -> bool {
    let folder = octo_testkit::test_folder();
    let around = LineContext {
        folder: folder.path().to_owned(),
        home: None,
        octo_home: "/octo-home".into(),
        octo_others: Vec::new(),
        processes: Vec::new(),
        language: Language::Bash,
    };
    let (policy, startup) = (Policy::default(), StartupFiles::default());
    let context = PolicyContext {
        context: &around,
        policy: &policy,
        rules: &[],
        startup: &startup,
        git: octo_workspace::git_answer,
    };
    let verdict = assess(line, &[], context).verdict;
    matches!(verdict, Verdict::Known(touched) if touched.writes.is_empty() && touched.removes.is_empty())
}

/// A repository whose settings start programs, queried in every way the policy permits.
#[tokio::test]
async fn a_hostile_repository_starts_nothing() {
    let fixture = Fixture::new();
    fixture
        .output(
            "printf '#!/bin/sh\\ntouch %s/ran\\n[ -t 0 ] || cat\\n' \"$PWD\" >evil; chmod +x evil; E=$PWD/evil; export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
             git init -q repo; cd repo; echo a >a; git add a; git commit -qm one; echo b >>a
             git config core.fsmonitor $E; git config core.pager $E; git config core.hooksPath ..; git config core.sshCommand $E
             git config log.showSignature true; git config gpg.program $E; git config core.editor $E; git config interactive.diffFilter $E",
        )
        .await;
    let ran = fixture.folder().join("ran");
    assert!(!ran.exists());
    for command in [
        "git status",
        "git diff",
        "git log -p",
        "git show HEAD",
        "git blame a",
        "git branch -v",
        "git ls-files -m",
    ] {
        assert!(is_read_only(command), "{command}");
        let mut run = fixture.command(command);
        run.carry_scope = CarryScope::FolderOnly;
        let report = fixture.shell.run(run).await.unwrap();
        assert_eq!(report.state, CommandState::Exited { code: 0 }, "{command}: {}", report.output_model);
        assert!(!ran.exists(), "{command}");
    }
    // The same without that environment, to prove that this test can fail.
    fixture.output("git status").await;
    assert!(ran.exists());
}
