use crate::{
    folder::FolderQueries,
    judge::{Judgement, LinePermission, MAX_PART, allowed_by, judge, judge_at},
};
use std::path::Path;

mod attacks;
mod bash;
mod everyday;
mod folders;
mod footprints;
mod languages;
mod lasting;
#[cfg(unix)]
mod sed;
#[cfg(unix)]
mod settings;
#[cfg(unix)]
mod startup;

fn is_read_only(line: &str) -> bool {
    matches!(judge(line, &[]), Judgement::ReadOnly { .. })
}

fn reads(line: &str) -> Vec<String> {
    match judge(line, &[]) {
        Judgement::ReadOnly { reads } => reads,
        other => panic!("{line:?} is not read-only: {other:?}"),
    }
}

fn rule(line: &str) -> Option<Vec<String>> {
    match judge(line, &[]) {
        Judgement::Ask { rule, .. } => rule,
        other => panic!("{line:?} does not ask: {other:?}"),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn permitted(line: &str, rules: &[&str]) -> bool {
    let rules: Vec<Vec<String>> = rules.iter().map(|rule| words(rule)).collect();
    matches!(allowed_by(line, &rules), LinePermission::Yes { .. })
}

#[test]
fn extra_variables_ask() {
    let env = [("LD_PRELOAD".to_owned(), "/tmp/x.so".to_owned())];
    assert_eq!(judge("ls", &env), Judgement::Ask { part: None, rule: None });
    assert_eq!(judge("cargo test", &env), Judgement::Ask { part: None, rule: None });
}

#[test]
fn paths_that_a_line_reads_are_relative_to_its_folder() {
    for (line, expected) in [
        ("cat a b", "a b"),
        ("cat <in", "in"),
        ("grep -n foo src/x", "src/x"),
        ("grep -n foo", "."),
        ("grep -e foo src/x", "src/x"),
        ("grep -f patterns src/x", "patterns src/x"),
        ("grep --file=patterns src/x", "patterns src/x"),
        ("head -n 5 a", "a"),
        ("head -5 a", "a"),
        ("echo a b", ""),
        ("echo a*", "a*"),
        ("find /etc -name x", "/etc"),
        ("find . -newer /etc/passwd", ". /etc/passwd"),
        ("git diff --no-color /etc/passwd", "/etc/passwd"),
        // These options take only an attached value, so the next word is a file.
        ("od -An -c -w /proc/1/environ", "/proc/1/environ"),
        ("od -cw .env", ".env"),
        ("od --width .env", ".env"),
        ("od -w8 -c -N 16 a", "a"),
        ("git diff -U /etc/passwd a", "/etc/passwd a"),
        ("git diff -pU /etc/passwd a", "/etc/passwd a"),
        ("git diff --unified /etc/passwd a", "/etc/passwd a"),
        ("git diff -U5 --unified=3 a", "a"),
        ("git log -p -U HEAD:.env", ".env HEAD:.env"),
        ("git show -U HEAD:.env", ".env HEAD:.env"),
        ("git show --pretty HEAD:.env", ".env HEAD:.env"),
        ("git show --pretty=oneline HEAD", "HEAD"),
        ("git log --max-parents .env", ".env"),
        ("git diff -S x -G y a", "a"),
        ("xxd -c 8 -l16 a", "a"),
        ("cd sub && cat a", "sub sub/a"),
        ("cd sub && cat /a", "/a sub"),
        ("cd a && cd b && cat c", "a a/b a/b/c"),
        // Both directories, because the `cd` may have failed.
        ("cd sub; cat a", "a sub sub/a"),
        ("cd a || cd b; cat c", "a a/c b b/c c"),
        ("ls && cd sub && cat a", "sub sub/a"),
        ("cd /etc && cat passwd", "/etc /etc/passwd"),
        ("cat a | head", "a"),
    ] {
        let mut expected: Vec<&str> = expected.split(' ').filter(|word| !word.is_empty()).collect();
        expected.sort_unstable();
        assert_eq!(reads(line), expected, "{line}");
    }
}

#[test]
fn a_question_names_the_part_that_asks() {
    for (line, expected) in [
        ("ls && rm -rf x", Some("rm -rf x")),
        ("cat a | tee b", Some("tee b")),
        ("echo $(rm x)", Some("echo $(rm x)")),
        ("ls & rm x", Some("rm x")),
        ("if true; then make; fi", Some("make")),
        ("cargo test", Some("cargo test")),
        ("x=1", None),
    ] {
        match judge(line, &[]) {
            Judgement::Ask { part, .. } => assert_eq!(part.as_deref(), expected, "{line}"),
            other => panic!("{line}: {other:?}"),
        }
    }
    let long = format!("rm {}", "é".repeat(1000));
    let Judgement::Ask { part: Some(part), .. } = judge(&long, &[]) else { panic!("it asks") };
    assert_eq!(part.chars().count(), MAX_PART + 1);
}

#[test]
fn a_rule_is_offered_only_if_the_first_words_suffice() {
    for (line, expected) in [
        ("cargo test", Some("cargo test")),
        ("cargo test --workspace | tail -5", Some("cargo test")),
        ("cd sub && cargo test -- --nocapture 2>&1", Some("cargo test")),
        ("npm run build", Some("npm run build")),
        ("npm test", Some("npm test")),
        ("pytest -x tests", Some("pytest")),
        ("git commit -m 'a message'", Some("git commit")),
        ("npm run", None),
        ("cargo build && cargo test", None),
        ("cargo test *", None),
        ("cargo", None),
        ("cargo +nightly test", None),
        ("bash -c 'ls'", None),
        ("sh x.sh", None),
        ("python3 x.py", None),
        ("node x.js", None),
        ("sudo cargo test", None),
        ("env cargo test", None),
        ("xargs cargo test", None),
        ("rm x", None),
        ("curl http://x", None),
        ("git push --receive-pack=x", None),
        ("git config core.pager x", None),
        ("./run.sh", None),
        ("'cargo' test > x", None),
        ("cargo test $(x)", None),
        ("FOO=1 cargo test", None),
    ] {
        assert_eq!(rule(line), expected.map(words), "{line}");
    }
}

#[test]
fn rules_cover_only_commands_that_begin_with_their_words() {
    let rules = &["cargo test", "npm run build", "pytest"];
    for line in [
        "cargo test",
        "cargo test --workspace",
        "cargo test 2>&1 | tail -20",
        "cd sub && cargo test",
        "cargo test && pytest -x && npm run build",
        "'cargo' \"test\"",
        "ls; cargo test; cat log",
    ] {
        assert!(permitted(line, rules), "{line}");
    }
    for line in [
        "cargo test && rm -rf x",
        "cargo test; rm x",
        "cargo test | sh",
        "cargo test & rm x",
        "cargo test\nrm x",
        "cargo test $(x)",
        "cargo test `x`",
        "cargo test > ~/.bashrc",
        "cargo test >x",
        "cargo test >> x",
        "cargo test < <(x)",
        "cargo test <<< x",
        "cargo test *",
        "cargo test ; cat *",
        "X=1 cargo test",
        "cargo testing",
        "cargo",
        "cargo build",
        "npm run build2",
        "npm run",
        "npm test",
        "pytest2",
        "\\cargo test\\",
        // A read-only line needs no rule, and must not count as allowed by one.
        "ls",
    ] {
        assert!(!permitted(line, rules), "{line}");
    }
    // Rules that Octo would not have offered are not honoured.
    for (line, rule) in
        [("rm x", "rm"), ("bash x", "bash"), ("cargo x", "cargo"), ("npm run x", "npm run"), ("ls", "")]
    {
        assert!(!permitted(line, &[rule]), "{line} by {rule:?}");
    }
    assert_eq!(allowed_by("cargo test", &[vec![]]), LinePermission::No);
    assert_eq!(
        allowed_by("cd sub && cat a && cargo test", &[words("cargo test")]),
        LinePermission::Yes { reads: vec!["sub".to_owned(), "sub/a".to_owned()] }
    );
}

#[test]
fn very_long_and_odd_lines_ask() {
    for line in [
        "",
        " ",
        "\n",
        "#",
        "\\",
        "'",
        "\"",
        "$",
        "(",
        "ls |",
        "ls &&",
        "| ls",
        "&& ls",
        ";",
        "ls ;; ls",
        "<x",
        "2>",
        "ls <",
        "((((((((((",
        "[[",
        "{",
        "}",
        "if",
        "case x in",
        "cat <<EOF",
        "cat <<'EOF'\nx",
        "\u{feff}ls",
        "ls\u{0}",
    ] {
        assert!(!is_read_only(line), "{line:?}");
    }
    assert_eq!(judge(&"ls;".repeat(30_000), &[]), Judgement::Unparsed);
    for open in ["(", "$(", "{ ", "`", "\"$(", "if true; then ", "${a:-", "$((", "<("] {
        assert!(!is_read_only(&open.repeat(4_000)), "{open}");
    }
}

#[test]
fn an_unreadable_folder_is_no_error() {
    let open = |_: &Path| octo_workspace::PathRestriction::No;
    let queries = FolderQueries {
        restriction: &open,
        git: octo_testkit::git_answer,
        has_role: &|_| false,
        begins_role: &|_| false,
    };
    let judgement = judge_at("ls a*", &[], Path::new("/no/such/folder"), queries);
    assert!(matches!(judgement, Judgement::ReadOnly { .. }));
    assert_eq!(judge_at("rm x", &[], Path::new("/"), queries), judge("rm x", &[]));
}
