//! The corpus: command lines with the policy's verdicts, in a project folder with a repository.
//!
//! Each line has a verdict (`allow`, `rewrite`, `ask`, `deny`), a tab, and a command. `⏎` means a line end, and
//! `⟨XXXX⟩` the character with that hexadecimal number.
#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

use octo_policy::{
    Assessment, Language, LineContext, OpenPaths, PathRules, PathVerdict, Policy, PolicyContext, PolicyRules,
    StartupFiles, Verdict, assess, read_path,
};
use std::{collections::BTreeMap, fs, path::Path, process::Command};

/// The classes, each in its own file.
const CLASSES: &[(&str, &str)] = &[
    ("harmless", include_str!("corpus/harmless.txt")),
    ("risky", include_str!("corpus/risky.txt")),
    ("hostile", include_str!("corpus/hostile.txt")),
    ("obfuscated", include_str!("corpus/obfuscated.txt")),
];

struct CorpusFolder {
    _keep: tempfile::TempDir,
    context: LineContext,
}

/// Returns the assessment of a line under a policy and the rules of "always" answers.
fn assessment(line: &str, context: &LineContext, policy: &Policy, rules: &[Vec<String>]) -> Assessment {
    let startup = StartupFiles::default();
    let git = octo_testkit::git_answer;
    assess(line, &[], PolicyContext { context, policy, rules, startup: &startup, git })
}

fn fixture() -> CorpusFolder {
    let keep = tempfile::tempdir().expect("a folder");
    let home = keep.path().canonicalize().expect("a real path").join("home").join("ada");
    let folder = home.join("project");
    fs::create_dir_all(folder.join("src")).expect("folders");
    fs::create_dir_all(folder.join("docs")).expect("folders");
    for name in
        ["README.md", "src/main.rs", "src/lib.rs", "notes.txt", "data.json", "docs/a.md", "package.json"]
    {
        fs::write(folder.join(name), "x\n").expect("a file");
    }
    let git = Command::new("git").args(["init", "-q"]).current_dir(&folder).status().expect("git");
    assert!(git.success());
    let context = LineContext {
        folder,
        home: Some(home.clone()),
        octo_home: home.join(".octo"),
        octo_others: vec![home.join("octo-old")],
        processes: vec![4242, 4243],
        language: Language::Bash,
    };
    CorpusFolder { _keep: keep, context }
}

fn decoded(text: &str) -> String {
    let mut line = String::new();
    let mut rest = text.replace('⏎', "\n");
    while let Some((before, after)) = rest.split_once('⟨') {
        let (number, more) = after.split_once('⟩').expect("a closed number");
        line.push_str(before);
        line.push(char::from_u32(u32::from_str_radix(number, 16).expect("a number")).expect("a character"));
        rest = more.to_owned();
    }
    line + &rest
}

/// Returns whether a session may touch a path unasked: the part of the decision that is not the policy's.
fn is_open(folder: &Path, text: &str, removes: bool) -> bool {
    let Ok(path) = octo_workspace::resolve(text, folder) else { return false };
    octo_workspace::is_inside(folder, &path)
        && !octo_workspace::is_secret(&path)
        && (!removes || (path != folder))
}

fn verdict(line: &str, context: &LineContext, rules: &[Vec<String>]) -> &'static str {
    let assessment = assessment(line, context, &Policy::default(), rules);
    match assessment.verdict {
        Verdict::Deny { .. } => "deny",
        Verdict::Ask { .. } => "ask",
        Verdict::Ruled(_) => "ruled",
        Verdict::Known(known) => {
            let folder = &context.folder;
            let git = |path: &Path| path.components().any(|part| part.as_os_str() == ".git");
            let inside = known.reads.iter().all(|path| is_open(folder, path, false))
                && known.writes.iter().all(|path| {
                    is_open(folder, path, false)
                        && octo_workspace::resolve(path, folder).is_ok_and(|path| !git(&path))
                })
                && known.removes.iter().all(|path| {
                    is_open(folder, path, true)
                        && octo_workspace::resolve(path, folder).is_ok_and(|path| !git(&path))
                })
                && known.repositories.iter().all(|path| octo_workspace::is_inside(folder, path));
            match (inside, assessment.rewritten) {
                (false, _) => "ask",
                (true, Some(_)) => "rewrite",
                (true, None) => "allow",
            }
        }
    }
}

fn entries(text: &str) -> impl Iterator<Item = (&str, String)> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("##")).map(|line| {
        let (verdict, command) = line.split_once('\t').unwrap_or_else(|| panic!("no tab in {line:?}"));
        (verdict, decoded(command))
    })
}

#[test]
fn every_command_of_the_corpus_gets_its_verdict() {
    let fixture = fixture();
    let (mut wrong, mut count) = (Vec::new(), 0);
    let mut shares: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (class, text) in CLASSES {
        for (expected, line) in entries(text) {
            let began = std::time::Instant::now();
            let actual = verdict(&line, &fixture.context, &[]);
            let duration = began.elapsed();
            // The `sed` of macOS gives the next word another meaning.
            if cfg!(target_os = "macos") && expected == "allow" && line.contains("sed -i") {
                assert_eq!(actual, "ask", "{line:?}");
                continue;
            }
            if duration > std::time::Duration::from_millis(100) {
                println!("{duration:?} {line:?}");
            }
            *shares.entry((class, actual)).or_default() += 1;
            count += 1;
            if actual != expected {
                wrong.push(format!("{class}: {actual} instead of {expected}: {line:?}"));
            }
        }
    }
    for ((class, verdict), count) in &shares {
        println!("{class}: {count} {verdict}");
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 400, "only {count}");
    let count_of = |class: &str, verdict: &str| {
        shares
            .iter()
            .filter(|((c, v), _)| *c == class && (verdict == "*" || *v == verdict))
            .map(|(_, n)| n)
            .sum::<usize>()
    };
    for class in ["hostile", "obfuscated", "risky"] {
        assert_eq!(count_of(class, "allow") + count_of(class, "rewrite"), 0, "{class}");
    }
    let (asked, all) =
        (count_of("harmless", "ask") + count_of("harmless", "deny"), count_of("harmless", "*"));
    println!("harmless asked about: {asked} of {all}");
    assert!(asked * 100 <= all * 3, "{asked} of {all}");
}

/// Returns the lines that do not get their expected verdict.
fn wrong(text: &str, fixture: &CorpusFolder, rules: &[Vec<String>]) -> Vec<String> {
    entries(text)
        .filter_map(|(expected, line)| {
            let actual = verdict(&line, &fixture.context, rules);
            (actual != expected).then(|| format!("{actual} instead of {expected}: {line:?}"))
        })
        .collect()
}

#[test]
fn a_search_that_encounters_a_secret_asks_with_any_option() {
    let fixture = fixture();
    let folder = &fixture.context.folder;
    fs::create_dir(folder.join("deep")).expect("a folder");
    for name in [".env", "deep/id_rsa"] {
        fs::write(folder.join(name), "x\n").expect("a file");
    }
    assert_eq!(wrong(include_str!("corpus/secrets.txt"), &fixture, &[]), [""; 0]);
    // `diff` would compare the target of a link too.
    std::fs::write(folder.join("docs/b.md"), "x\n").expect("a file");
    assert_eq!(verdict("diff -r src docs", &fixture.context, &[]), "allow");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../deep/id_rsa", folder.join("docs/link")).expect("a link");
        assert_eq!(verdict("diff -r src docs", &fixture.context, &[]), "ask");
        assert_eq!(verdict("diff -r --no-dereference src docs", &fixture.context, &[]), "allow");
    }
}

#[test]
fn a_search_that_includes_a_hidden_secret_asks() {
    let fixture = fixture();
    let folder = &fixture.context.folder;
    for name in [".env.json", "docs/.env.json"] {
        fs::write(folder.join(name), "x\n").expect("a file");
    }
    assert_eq!(verdict("rg x", &fixture.context, &[]), "allow");
    assert_eq!(verdict("rg -tjson x", &fixture.context, &[]), "ask");
    assert_eq!(verdict("rg --type json x", &fixture.context, &[]), "ask");
    // A list applies to its folder and everything below, so one in a parent folder counts too.
    for list in [".ignore", "docs/.rgignore", "../.gitignore"] {
        let list = folder.join(list);
        fs::write(&list, "build\n !.env*\n").expect("a file");
        assert_eq!(verdict("rg x", &fixture.context, &[]), "ask", "{}", list.display());
        fs::remove_file(list).expect("it goes");
    }
}

#[test]
fn a_repository_that_names_a_program_asks() {
    for (name, value) in [
        ("merge.x.driver", "touch x"),
        ("lfs.extension.x.clean", "touch x"),
        ("lfs.customtransfer.x.path", "touch"),
        // Settings written by `git lfs install --local`.
        ("filter.lfs.clean", "git-lfs clean -- %f"),
        ("gc.recentObjectsHook", "touch x"),
        ("init.templateDir", "/tmp/x"),
        ("pack.packObjectsHook", "touch x"),
    ] {
        let fixture = fixture();
        let folder = &fixture.context.folder;
        fs::write(folder.join(".gitattributes"), "* merge=x filter=lfs\n").expect("a file");
        let set =
            Command::new("git").args(["config", name, value]).current_dir(folder).status().expect("git");
        assert!(set.success());
        assert_eq!(wrong(include_str!("corpus/repository.txt"), &fixture, &[]), [""; 0], "{name}");
    }
    let fixture = fixture();
    for (name, value) in [
        ("merge.conflictStyle", "zdiff3"),
        ("merge.ff", "only"),
        ("gc.auto", "0"),
        ("lfs.repositoryFormatVersion", "0"),
        ("lfs.https://example.com/x.git/info/lfs.access", "basic"),
        ("pack.threads", "2"),
    ] {
        let mut git = Command::new("git");
        assert!(
            git.args(["config", name, value])
                .current_dir(&fixture.context.folder)
                .status()
                .expect("git")
                .success()
        );
    }
    assert_eq!(verdict("git stash pop", &fixture.context, &[]), "allow");
}

#[test]
fn an_always_rule_covers_nothing_that_loses_work() {
    let rules = ["stash", "switch", "tag", "commit"].map(|verb| vec!["git".to_owned(), verb.to_owned()]);
    let fixture = fixture();
    assert_eq!(wrong(include_str!("corpus/ruled.txt"), &fixture, &rules), [""; 0]);
    // Octo offers no such rule either.
    let policy = Policy::default();
    for (line, offered) in [("git stash clear", false), ("git stash push -p", true)] {
        let Verdict::Ask { rule, .. } = assessment(line, &fixture.context, &policy, &[]).verdict else {
            panic!("{line} asks")
        };
        assert_eq!(rule.is_some(), offered, "{line}");
    }
}

#[test]
fn every_search_finds_the_closed_paths_below_it() {
    let fixture = fixture();
    let folder = &fixture.context.folder;
    for name in ["private", "src/keys"] {
        fs::create_dir(folder.join(name)).expect("a folder");
    }
    for name in ["private/a", "src/keys/a.token", "src/keys/b.token", "src/keys/c.token", "src/keys/d.token"]
    {
        fs::write(folder.join(name), "x\n").expect("a file");
    }
    let deny = vec![folder.join("private").display().to_string()];
    let paths = PathRules { secret: vec!["*.token".to_owned()], deny };
    let policy = Policy::new(PolicyRules { paths, ..PolicyRules::default() }, None);
    let open = OpenPaths { folder, readable: &[], writable: &[] };
    let verdicts = |line: &str| {
        let Verdict::Known(known) = assessment(line, &fixture.context, &policy, &[]).verdict else {
            panic!("{line} is known")
        };
        let paths = known.reads.iter().map(|text| octo_workspace::resolve(text, folder).expect("a path"));
        paths.map(|path| read_path(&path, open, &fixture.context, &policy)).collect::<Vec<_>>()
    };
    for line in ["grep -rn x .", "rg x", "diff -r . docs", "f=x; grep -rn \"$f\" . | head"] {
        let verdicts = verdicts(line);
        assert!(
            verdicts.contains(&PathVerdict::Denied(octo_protocol::Refusal::Ruled)),
            "{line}: {verdicts:?}"
        );
    }
    for line in ["grep -rn x src", "rg x src"] {
        assert!(verdicts(line).contains(&PathVerdict::Secret), "{line}");
    }
    for line in ["grep -rn x docs", "grep -rn x --include='*.rs' src"] {
        assert!(verdicts(line).iter().all(|verdict| *verdict == PathVerdict::Open), "{line}");
    }
}

/// The variable with the path of the child process's project.
#[cfg(unix)]
const PROJECT: &str = "OCTO_TEST_PROJECT";

/// `~` is the process's home, so the test runs in a child process with another home.
#[cfg(unix)]
#[test]
fn a_home_is_inspected_at_its_real_path() {
    let Some(folder) = std::env::var_os(PROJECT) else {
        let fixture = fixture();
        let mut child = Command::new(std::env::current_exe().expect("this test"));
        child.args(["--exact", "a_home_is_inspected_at_its_real_path"]).env(PROJECT, &fixture.context.folder);
        let status =
            child.envs(fixture.context.home.as_ref().map(|home| ("HOME", home))).status().expect("a child");
        assert!(status.success());
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let home = std::env::home_dir();
    let context = LineContext { folder: folder.clone(), home, ..fixture().context };
    assert_eq!(verdict("grep -rh . ~/project", &context, &[]), "allow");
    assert_eq!(verdict("cd ~/project/src && git status", &context, &[]), "allow");
    fs::write(folder.join("id_rsa"), "x\n").expect("a file");
    for line in ["grep -rh . ~/project", "rg x ~/project", "cat ~/project/id_r*", "diff -N ~/project src"] {
        assert_eq!(verdict(line, &context, &[]), "ask", "{line}");
    }
    for arguments in [["init", "-q", "src"].as_slice(), &["-C", "src", "config", "filter.x.clean", "touch x"]]
    {
        assert!(Command::new("git").args(arguments).current_dir(&folder).status().expect("git").success());
    }
    assert_eq!(verdict("cd ~/project/src && git status", &context, &[]), "ask");
}

#[test]
fn removals_are_rewritten_to_use_the_trash() {
    let fixture = fixture();
    for (line, expected) in [
        ("/bin/rm -rf docs", "rm -rf docs"),
        ("/usr/bin/rm notes.txt && ls", "rm notes.txt && ls"),
        ("\\rm -f notes.txt", "rm -f notes.txt"),
        ("command -p rm notes.txt", "rm notes.txt"),
        ("env -i rm notes.txt", "rm notes.txt"),
        ("unlink notes.txt", "rm -- notes.txt"),
        ("find . -name '*.o' -delete", "find . -depth -name '*.o' -exec rm -d -f -- {} +"),
        ("find docs -delete", "find docs -depth -exec rm -d -f -- {} +"),
        ("find . -name '*.o' -exec /bin/rm {} \\;", "find . -name '*.o' -exec rm {} \\;"),
        ("ls; cd docs && /bin/rm a.md", "ls; cd docs && rm a.md"),
        ("git ls-files | xargs /bin/rm", "git ls-files | xargs rm"),
    ] {
        let policy = Policy::default();
        assert_eq!(
            assessment(line, &fixture.context, &policy, &[]).rewritten.as_deref(),
            Some(expected),
            "{line}"
        );
    }
    for line in [
        "rm notes.txt",
        "./rm x",
        "bash -c '/bin/rm x'",
        "echo /bin/rm",
        "find . -delete -print",
        "grep -r /bin/rm .",
    ] {
        let policy = Policy::default();
        assert_eq!(assessment(line, &fixture.context, &policy, &[]).rewritten, None, "{line}");
    }
}
