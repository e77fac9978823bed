use super::*;
use octo_shell::LoginEnvironment;
use serde_json::{Map, Value, json};
use std::fs;

struct Bench {
    keep: tempfile::TempDir,
    hooks: Hooks,
}

impl Bench {
    fn new(file: &str) -> Self {
        let keep = tempfile::tempdir().unwrap();
        fs::write(keep.path().join("hooks.toml"), file).unwrap();
        let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        let hooks = Hooks {
            file: keep.path().join("hooks.toml"),
            folder: keep.path().to_owned(),
            tools: vec!["terminal", "write"],
            login: LoginEnvironment::from_variables([path]),
            secret_variables: Vec::new(),
            supervision: octo_shell::Supervision::Session,
        };
        Self { keep, hooks }
    }

    async fn hear(&self, on: HookMoment, tool: Option<&str>) -> HookVerdict {
        let facts: Map<String, Value> =
            [("session".to_owned(), json!("s")), ("tool".to_owned(), json!(tool))].into_iter().collect();
        self.hooks.run_all(on, tool, facts).await
    }
}

fn hook(on: &str, command: &str) -> String {
    format!("[[hook]]\non = '{on}'\ncommand = '''{command}'''\n")
}

#[tokio::test]
async fn one_no_is_enough_and_whatever_goes_wrong_before_a_tool_is_one() {
    let before = |command: &str| hook("before_tool", command);
    let yes = before("true");
    for (file, denied) in [
        (String::new(), None),
        (yes.clone(), None),
        (before("echo '{}'"), None),
        (before("echo '{\"deny\": \"not on Sundays\"}'") + &yes, Some("not on Sundays")),
        (yes.clone() + &before("echo 'look first' >&2; exit 2"), Some("look first")),
        (yes.clone() + &before("exit 1"), Some("exit status 1")),
        (before("no-such-program"), Some("exit status 127")),
        (before("echo yes"), Some("not understood")),
        (before("echo '{\"allow\": true}'"), Some("not understood")),
        (before("kill -9 $$"), Some("signal")),
        (before("sleep 30") + "seconds = 1\n", Some("timed out")),
        ("[[hook".to_owned(), Some("cannot be read")),
        (hook("after_tool", "exit 2"), None),
        (before("exit 2") + "tools = ['write']\n", None),
    ] {
        let verdict = Bench::new(&file).hear(HookMoment::BeforeTool, Some("terminal")).await;
        match (&verdict.deny, denied) {
            (None, None) => {}
            (Some(reason), Some(words)) if reason.contains(words) => {}
            other => panic!("{file}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn hooks_are_told_what_happens_and_add_words_in_order() {
    let file = hook("after_tool", "cat > told.json; echo '{\"context\": \"first\"}'")
        + &hook("after_tool", "echo '{\"context\": \"second\", \"deny\": \"too late\"}'")
        + &hook("after_tool", "exit 9")
        + &hook("finish", "touch finished");
    let bench = Bench::new(&file);
    let verdict = bench.hear(HookMoment::AfterTool, Some("write")).await;
    assert_eq!(verdict, HookVerdict { deny: None, context: Some("first\nsecond".to_owned()) });
    let reported: Value =
        serde_json::from_str(&fs::read_to_string(bench.keep.path().join("told.json")).unwrap()).unwrap();
    assert_eq!(reported, json!({ "event": "after_tool", "session": "s", "tool": "write" }));
    assert_eq!(bench.hear(HookMoment::Finish, None).await, HookVerdict::default());
    assert!(bench.keep.path().join("finished").exists());
    // A broken file blocks only tools.
    fs::write(&bench.hooks.file, "[[").unwrap();
    assert_eq!(bench.hear(HookMoment::Finish, None).await, HookVerdict::default());
}
