//! Table-driven tests of expansion: the text, the arguments, and the result.

use super::*;
use crate::{Fields, format, skill::Skill};
use octo_protocol::SkillOrigin;
use std::path::PathBuf;

const FOLDER: &str = "/skills/demo";

fn invocation(arguments: &str) -> Invocation<'_> {
    Invocation {
        arguments,
        session: "s-1",
        from: InvokedFrom::Slash,
        home: Some(Path::new("/home/ada")),
        values: &[],
    }
}

fn expanded(body: &str, fields: &Fields, invocation: &Invocation<'_>, trust: Trust) -> Expanded {
    expand_body(body, fields, Path::new(FOLDER), trust, invocation)
}

fn text(body: &str, arguments: &str) -> String {
    expanded(body, &Fields::default(), &invocation(arguments), Trust::Trusted).finish(&[])
}

#[test]
fn arguments_replace_their_placeholders() {
    let table = [
        ("Fix $ARGUMENTS now", "issue 12", "Fix issue 12 now"),
        ("$ARGUMENTS[0]|$ARGUMENTS[1]|$ARGUMENTS[2]", "a 'b c'", "a|b c|"),
        ("$0 and $1", "a \"b c\"", "a and b c"),
        ("$0, $1", "it's one", "it's, one"),
        ("It costs $20, $5.", "a", "It costs $20, $5.\n\nARGUMENTS: a"),
        ("awk '{print $10x}'", "a", "awk '{print $10x}'\n\nARGUMENTS: a"),
        ("$ARGUMENTSX $ARGUMENTS_ $ARG", "a", "$ARGUMENTSX $ARGUMENTS_ $ARG\n\nARGUMENTS: a"),
        ("$ARGUMENTS[x] $ARGUMENTS[", "a", "a[x] a["),
        ("Nothing here", "do it", "Nothing here\n\nARGUMENTS: do it"),
        ("Nothing here", "  ", "Nothing here"),
        ("$ARGUMENTS", "", ""),
        ("$$0 $", "a", "$a $"),
        ("第一个：$0。", "壹 贰", "第一个：壹。"),
    ];
    for (body, arguments, expected) in table {
        assert_eq!(text(body, arguments), expected, "{body} with {arguments}");
    }
}

#[test]
fn named_arguments_and_those_of_a_tool() {
    let fields =
        Fields { arguments: vec!["issue".into(), "issue-kind".into(), String::new()], ..Fields::default() };
    let expand_from = |body: &str, source: InvokedFrom| {
        let invocation = Invocation { from: source, ..invocation("12 bug") };
        expanded(body, &fields, &invocation, Trust::Trusted).finish(&[])
    };
    assert_eq!(expand_from("$issue: $issues $ISSUE", InvokedFrom::Slash), "12: $issues $ISSUE");
    assert_eq!(expand_from("No place", InvokedFrom::Tool), "No place", "a tool's call says them itself");
    assert_eq!(expand_from("No place", InvokedFrom::Slash), "No place\n\nARGUMENTS: 12 bug");
}

#[test]
fn only_the_listed_variables_have_values_and_none_comes_from_the_environment() {
    let body = "${CLAUDE_SKILL_DIR} ${SKILL_DIR} ${CLAUDE_SESSION_ID} ${HOME} ${OCTO_PRODUCT_NAME}";
    assert_eq!(text(body, ""), "/skills/demo /skills/demo s-1 /home/ada Octo");
    // Each of these has a value in this process.
    for (name, _) in std::env::vars().filter(|(name, _)| name != "HOME") {
        let body = format!("${{{name}}}");
        assert_eq!(text(&body, ""), body);
    }
    for body in ["${ANTHROPIC_API_KEY}", "${PATH}", "$PATH", "${HOME", "${}", "${home}", "${HOME:-x}"] {
        assert_eq!(text(body, ""), body);
    }
    let nobody = Invocation { home: None, ..invocation("") };
    assert_eq!(expanded("${HOME}", &Fields::default(), &nobody, Trust::Trusted).finish(&[]), "${HOME}");
}

#[test]
fn a_template_key_is_a_key_and_nothing_is_executed() {
    let values = [("memories_meta", "two topics: <%= memories_meta %> $ARGUMENTS".to_owned())];
    let invocation = Invocation { values: &values, ..invocation("") };
    let expand = |body: &str| expanded(body, &Fields::default(), &invocation, Trust::Trusted).finish(&[]);
    assert_eq!(expand("[<%= memories_meta %>]"), "[two topics: <%= memories_meta %> $ARGUMENTS]");
    assert_eq!(
        expand("[<%=memories_meta%>|<%= unknown %>]"),
        "[two topics: <%= memories_meta %> $ARGUMENTS|]"
    );
    assert_eq!(expand("[<%= `rm -rf ~` %><%= system('id') %>]"), "[]");
    for literal in ["<% exit %>", "<%= never closed", "< %= a %>"] {
        assert_eq!(expand(literal), literal);
    }
    let long_key = format!("<%= {} %>", "a".repeat(300));
    assert_eq!(expand(&long_key), long_key);
}

#[test]
fn inserted_text_is_not_expanded_again() {
    let hostile = "$ARGUMENTS ${HOME} <%= memories_meta %> !`id` $0";
    assert_eq!(text("> $ARGUMENTS <", hostile), format!("> {hostile} <"));
    let expansion = expanded("!`cat notes`", &Fields::default(), &invocation(""), Trust::Trusted);
    assert_eq!(expansion.placeholders(), [Placeholder { command: "cat notes".into() }]);
    assert_eq!(expansion.finish(&[hostile.to_owned()]), hostile);
}

#[test]
fn commands_are_found_for_the_caller_to_run() {
    let body = "Status:\n!`git status`\nand !`git log -n $0` but not x!`no` nor !`` nor !`two\nlines`";
    let expansion = expanded(body, &Fields::default(), &invocation("3"), Trust::Trusted);
    let commands: Vec<&str> = expansion.placeholders().iter().map(|it| it.command.as_str()).collect();
    assert_eq!(commands, ["git status", "git log -n 3"]);
    let text = expansion.clone().finish(&["clean\n".to_owned(), "a\nb\n".to_owned()]);
    assert_eq!(text, "Status:\nclean\nand a\nb but not x!`no` nor !`` nor !`two\nlines`");
    let partial = expansion.finish(&["clean".to_owned()]);
    assert!(partial.contains("and !`git log -n 3` but"), "one without an output stays: {partial}");

    let long_output = expanded("!`yes`", &Fields::default(), &invocation(""), Trust::Trusted);
    let text = long_output.finish(&["é".repeat(MAX_OUTPUT)]);
    assert!(text.len() < MAX_OUTPUT + 100 && text.ends_with("more bytes)"), "{}", text.len());
}

#[test]
fn an_untrusted_skill_runs_nothing() {
    let body = "!`curl https://example.com` $ARGUMENTS";
    let expansion = expanded(body, &Fields::default(), &invocation("x"), Trust::Untrusted);
    assert_eq!(expansion.placeholders(), []);
    assert_eq!(
        expansion.finish(&["never".to_owned()]),
        format!("!`curl https://example.com` x\n\n{NOT_RUN}")
    );
}

#[test]
fn an_argument_never_becomes_a_command() {
    for harmless in ["12", "src/main.rs", "v1.2-rc+3", "a b", "müller@example.com", ""] {
        let expansion =
            expanded("!`gh pr view $ARGUMENTS`", &Fields::default(), &invocation(harmless), Trust::Trusted);
        assert_eq!(expansion.placeholders().len(), 1, "{harmless}");
    }
    for hostile in [
        "1; rm -rf ~",
        "$(id)",
        "`id`",
        "a|b",
        "a && b",
        "> f",
        "--exec=x",
        "1 -x",
        "a\nb",
        "'a'",
        "\"",
        "~",
        "*",
        "{a,b}",
        "\\",
        "#",
    ] {
        let body = "!`gh pr view $ARGUMENTS`";
        let expansion = expanded(body, &Fields::default(), &invocation(hostile), Trust::Trusted);
        assert_eq!(expansion.placeholders(), [], "{hostile}");
        let text = expansion.finish(&[]);
        assert!(text.starts_with(body) && text.contains(NOT_FILLED), "{text}");
    }
    // Another person may have named the folder, so its name can be anything.
    let folder = PathBuf::from("/tmp/$(id)");
    let expansion =
        expand_body("!`ls ${SKILL_DIR}`", &Fields::default(), &folder, Trust::Trusted, &invocation(""));
    assert_eq!(expansion.placeholders(), []);
}

#[test]
fn the_expansion_is_bounded() {
    let arguments = "x".repeat(100_000);
    let body = "$ARGUMENTS ".repeat(1_000);
    let text = text(&body, &arguments);
    assert!(text.len() < MAX_EXPANDED + body.len() + 1_000, "{}", text.len());
    let body = "!`true`\n".repeat(MAX_COMMANDS + 5);
    let expansion = expanded(&body, &Fields::default(), &invocation(""), Trust::Trusted);
    assert_eq!(expansion.placeholders().len(), MAX_COMMANDS);
    assert!(expansion.finish(&[]).contains(TOO_MANY));
}

#[test]
fn the_skills_other_files_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    };
    let skill = || {
        let document = format::read(b"Do it.", "demo");
        Skill::new(document, SkillOrigin::User, folder.path().to_owned())
    };
    put("SKILL.md");
    assert_eq!(expand(&skill(), &invocation("")).finish(&[]), "Do it.", "no files, no block");
    for path in [
        "scripts/b.py",
        "scripts/a.py",
        ".env",
        ".git/config",
        "node_modules/x/i.js",
        "tmp/t",
        "run.log",
        "z.md",
    ] {
        put(path);
    }
    let display_path = folder.path().display();
    assert_eq!(
        expand(&skill(), &invocation("")).finish(&[]),
        format!(
            "Do it.\n\n## Files of this skill\n\nSKILL_DIR is {display_path}. Paths are relative to it; read a file when you \
             need it.\n\n- scripts/a.py\n- scripts/b.py\n- z.md"
        )
    );
    for number in 0..30 {
        put(&format!("data/{number:02}.csv"));
    }
    let text = expand(&skill(), &invocation("")).finish(&[]);
    assert_eq!(text.lines().filter(|line| line.starts_with("- ")).count(), 20);
    assert!(text.ends_with("_(13 more files not shown)_"), "{text}");
}
