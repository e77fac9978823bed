//! The corpus: command lines and what the policy says to each, in a project's folder with a repository.
//!
//! One command a line: its verdict (`allow`, `rewrite`, `ask`, `deny`), a tab, the command. `⏎` stands for a line
//! end, `⟨XXXX⟩` for the character with that number.
#![expect(clippy::expect_used, clippy::panic, reason = "a test")]

use octo_shell::{Around, Policy, Standing, Verdict, assess};
use std::{collections::BTreeMap, fs, path::Path, process::Command};

/// The classes, each a file.
const CLASSES: &[(&str, &str)] = &[
    ("harmless", include_str!("corpus/harmless.txt")),
    ("risky", include_str!("corpus/risky.txt")),
    ("hostile", include_str!("corpus/hostile.txt")),
    ("obfuscated", include_str!("corpus/obfuscated.txt")),
];

struct Place {
    _keep: tempfile::TempDir,
    around: Around,
}

fn place() -> Place {
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
    let around = Around {
        folder,
        home: Some(home.clone()),
        octo_home: home.join(".octo"),
        octo_others: vec![home.join("octo-old")],
        processes: vec![4242, 4243],
        language: octo_shell::Language::Bash,
    };
    Place { _keep: keep, around }
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

/// Whether a path lies in the folder and is none that asks: what the session's permission adds to the policy.
fn is_open(folder: &Path, text: &str, takes_away: bool) -> bool {
    let Ok(path) = octo_workspace::resolve(text, folder) else { return false };
    octo_workspace::is_inside(folder, &path)
        && !octo_workspace::is_secret(&path)
        && (!takes_away || (path != folder))
}

fn verdict(line: &str, around: &Around) -> &'static str {
    let policy = Policy::default();
    let assessment = assess(line, &[], Standing { around, policy: &policy, rules: &[] });
    match assessment.verdict {
        Verdict::Deny { .. } => "deny",
        Verdict::Ask { .. } | Verdict::Ruled(_) => "ask",
        Verdict::Known(known) => {
            let folder = &around.folder;
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
    let place = place();
    let (mut wrong, mut count) = (Vec::new(), 0);
    let mut shares: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (class, text) in CLASSES {
        for (expected, line) in entries(text) {
            let began = std::time::Instant::now();
            let given = verdict(&line, &place.around);
            let took = began.elapsed();
            if took > std::time::Duration::from_millis(100) {
                println!("{took:?} {line:?}");
            }
            *shares.entry((class, given)).or_default() += 1;
            count += 1;
            if given != expected {
                wrong.push(format!("{class}: {given} instead of {expected}: {line:?}"));
            }
        }
    }
    for ((class, verdict), count) in &shares {
        println!("{class}: {count} {verdict}");
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 400, "only {count}");
    let of = |class: &str, verdict: &str| {
        shares
            .iter()
            .filter(|((c, v), _)| *c == class && (verdict == "*" || *v == verdict))
            .map(|(_, n)| n)
            .sum::<usize>()
    };
    for class in ["hostile", "obfuscated", "risky"] {
        assert_eq!(of(class, "allow") + of(class, "rewrite"), 0, "{class}");
    }
    let (asked, all) = (of("harmless", "ask") + of("harmless", "deny"), of("harmless", "*"));
    println!("harmless asked about: {asked} of {all}");
    assert!(asked * 100 <= all * 3, "{asked} of {all}");
}

#[test]
fn removals_are_sent_through_the_trash() {
    let place = place();
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
        let standing = Standing { around: &place.around, policy: &policy, rules: &[] };
        assert_eq!(assess(line, &[], standing).rewritten.as_deref(), Some(expected), "{line}");
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
        let standing = Standing { around: &place.around, policy: &policy, rules: &[] };
        assert_eq!(assess(line, &[], standing).rewritten, None, "{line}");
    }
}
