//! The person's own rules: their verdicts, their display, and a rule file that breaks.

use super::rig::{Rig, results, statuses};
use octo_core::{Octo, Subscription};
use octo_protocol::{
    AddPolicyRule, Answer, AskReason, CallStatus, CommandTrial, GetPolicy, ListGrants, Mode, PolicyList,
    PolicyRule, PolicyState, Refusal, RemoveGrant, RemovePolicyRule, Risk, Rule, RunsBecause, SetMode,
    StoredTopic, ToolView, TrialOutcome, TryCommand, TurnEnd, Update,
};
use octo_testkit::Script;
use serde_json::json;
use std::fs;
use tokio::time::timeout;

fn run(line: &str) -> (&'static str, serde_json::Value) {
    ("terminal", json!({ "command": line }))
}

fn rule(list: PolicyList, text: &str) -> PolicyRule {
    PolicyRule { list, text: text.to_owned() }
}

/// Waits for the next matching report of the file.
async fn told(updates: &mut Subscription, mut predicate: impl FnMut(&PolicyState) -> bool) -> PolicyState {
    let wait = async {
        loop {
            for update in updates.next().await.expect("updates go on") {
                if let Update::Policy { policy } = update
                    && predicate(&policy)
                {
                    return *policy;
                }
            }
        }
    };
    timeout(super::rig::PATIENCE, wait).await.expect("the file is told of")
}

async fn tried(octo: &Octo, line: &str) -> CommandTrial {
    octo.call(TryCommand { line: line.to_owned(), folder: None }).await.expect("it is looked at")
}

#[tokio::test]
async fn what_is_closed_is_found_by_no_search_above_it() {
    for mode in [Mode::AskRisky, Mode::Autonomous] {
        let searches = [("grep", json!({"pattern": "needle"})), ("glob", json!({"pattern": "**/*.txt"}))];
        let mut rig = Rig::new(Script::new().calls(searches).text("done")).await;
        let work = rig.home.work();
        for name in ["private", "open"] {
            fs::create_dir_all(work.join(name)).unwrap();
            fs::write(work.join(name).join(format!("{name}.txt")), "needle\n").unwrap();
        }
        fs::write(work.join("x.token"), "needle\n").unwrap();
        let private = work.join("private");
        let rules = format!("[paths]\ndeny = ['{}']\nsecret = ['*.token']\n", private.display());
        fs::write(rig.home.octo().join("policy.toml"), rules).unwrap();
        let session = rig.start(mode, "look").await;
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
        let results = results(&rig.snapshot(session).await);
        for result in &results {
            assert!(result.contains("open/open.txt") && !result.contains("private.txt"), "{result}");
        }
        assert!(!results[0].contains("x.token"), "{}", results[0]);
    }
}

#[tokio::test]
async fn a_broken_file_means_the_strict_rules_and_is_told_until_it_is_repaired() {
    let script = Script::new()
        .calls([run("touch one")])
        .text("first")
        .calls([run("touch two")])
        .text("second")
        .calls([run("touch three")])
        .text("third");
    let mut rig = Rig::new(script).await;
    let file = rig.home.octo().join("policy.toml");
    let mut updates = rig.octo.subscribe(StoredTopic::Settings).await.expect("settings are watched");
    let whole = told(&mut updates, |_| true).await;
    assert_eq!((whole.fault, whole.rules.len(), whole.stamp.as_str()), (None, 0, "none"));
    let session = rig.start(Mode::AskRisky, "one").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(statuses(&rig.snapshot(session).await), [CallStatus::Done], "what stays inside runs");

    // Written by the person while Octo runs and nothing else happens.
    let broken = "[commands]\n# half done\nallow = ['just lint; rm -rf build']\n";
    fs::write(&file, broken).unwrap();
    let state = told(&mut updates, |state| state.fault.is_some()).await;
    let fault = state.fault.unwrap();
    assert_eq!((fault.key.as_str(), fault.args["line"].as_str()), ("policy.pattern", "3"));
    assert_eq!(fault.args["path"], file.display().to_string());
    assert_eq!(state.rules, []);
    // A later subscriber receives it too.
    let mut later = rig.octo.subscribe(StoredTopic::Settings).await.expect("settings are watched");
    assert!(told(&mut later, |_| true).await.fault.is_some());

    // No mode behaves as if there were no policy.
    rig.octo.call(SetMode { session, mode: Mode::Autonomous }).await.unwrap();
    rig.send(session, "two").await;
    let question = rig.question().await;
    assert!(!rig.home.work().join("two").exists());
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let refused = AddPolicyRule { rule: rule(PolicyList::Deny, "docker"), stamp: state.stamp };
    assert_eq!(rig.octo.call(refused).await.unwrap_err().key, "policy.broken");
    assert_eq!(fs::read_to_string(&file).unwrap(), broken, "what the person wrote is theirs");

    fs::write(&file, "[commands]\nallow = ['just lint']\n").unwrap();
    // Half of it exists first: a file is emptied before it is rewritten.
    let state = told(&mut updates, |state| state.fault.is_none() && !state.rules.is_empty()).await;
    assert_eq!(state.rules, [rule(PolicyList::Allow, "just lint")]);
    rig.octo.call(SetMode { session, mode: Mode::AskRisky }).await.unwrap();
    rig.send(session, "three").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(rig.home.work().join("three").exists(), "it runs unasked again, without a restart");
    rig.assert_sound();
}

#[tokio::test]
async fn a_rule_added_in_the_window_holds_at_once_and_is_told() {
    let script = Script::new().calls([run("touch one")]).text("no").calls([run("touch two")]).text("yes");
    let mut rig = Rig::new(script).await;
    let mut updates = rig.octo.subscribe(StoredTopic::Settings).await.expect("settings are watched");
    let stamp = rig.octo.call(GetPolicy {}).await.unwrap().stamp;
    let deny = rule(PolicyList::Deny, "touch");
    let added = rig.octo.call(AddPolicyRule { rule: deny.clone(), stamp: stamp.clone() }).await.unwrap();
    assert_eq!(added.rules, std::slice::from_ref(&deny));
    assert_eq!(told(&mut updates, |state| !state.rules.is_empty()).await, added);
    let stale = AddPolicyRule { rule: rule(PolicyList::Allow, "ls"), stamp };
    assert_eq!(rig.octo.call(stale).await.unwrap_err().key, "policy.changed");
    let typed = AddPolicyRule { rule: rule(PolicyList::Allow, "ls $(x)"), stamp: added.stamp.clone() };
    assert_eq!(rig.octo.call(typed).await.unwrap_err().key, "policy.rule.expanded");

    let session = rig.start(Mode::Autonomous, "one").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let calls = rig.snapshot(session).await.page.calls;
    assert!(matches!(&calls[0].view, Some(ToolView::Refused { refusal: Refusal::Ruled, .. })), "{calls:?}");
    let gone = RemovePolicyRule { rule: deny, stamp: added.stamp };
    assert_eq!(rig.octo.call(gone).await.unwrap().rules, []);
    rig.send(session, "two").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(rig.home.work().join("two").exists() && !rig.home.work().join("one").exists());
    rig.assert_sound();
}

#[tokio::test]
async fn what_was_always_allowed_is_listed_and_can_be_taken_back() {
    let script = Script::new()
        .calls([run("vue-tsc one")])
        .calls([run("vue-tsc two")])
        .text("first")
        .calls([run("vue-tsc three")])
        .text("second");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::AskRisky, "both").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Always).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let grants = rig.octo.call(ListGrants {}).await.unwrap().grants;
    let [grant] = grants.as_slice() else { panic!("one grant: {grants:?}") };
    assert_eq!(grant.folder, rig.home.work().display().to_string());
    assert_eq!(grant.rule, Rule::Command { words: vec!["vue-tsc".to_owned()] });
    let inside = || TryCommand { line: "vue-tsc four".to_owned(), folder: Some(grant.folder.clone()) };
    let trial = rig.octo.call(inside()).await.unwrap();
    assert_eq!(trial.outcome, TrialOutcome::Runs { because: RunsBecause::Allowed });

    let gone = RemoveGrant { folder: grant.folder.clone(), rule: grant.rule.clone() };
    assert_eq!(rig.octo.call(gone).await.unwrap().grants, []);
    assert!(matches!(rig.octo.call(inside()).await.unwrap().outcome, TrialOutcome::Asks { .. }));
    // The session with the grant asks again too.
    rig.send(session, "once more").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn a_command_can_be_tried_and_nothing_runs() {
    let rig = Rig::new(Script::new()).await;
    fs::write(
        rig.home.octo().join("policy.toml"),
        "[commands]\nallow = ['just lint']\nask = ['git log']\ndeny = ['docker']\n",
    )
    .unwrap();
    let folder = rig.home.work().display().to_string();
    for (line, outcome) in [
        ("ls", TrialOutcome::Runs { because: RunsBecause::OnlyReads }),
        ("touch made", TrialOutcome::Runs { because: RunsBecause::StaysInside }),
        ("just lint", TrialOutcome::Runs { because: RunsBecause::Allowed }),
        (
            "git log",
            TrialOutcome::Asks { reason: AskReason::Risky { risk: Risk::Ruled, part: None, instead: None } },
        ),
        ("docker ps", TrialOutcome::Refused { refusal: Refusal::Ruled, part: None }),
        (
            "ls && docker ps",
            TrialOutcome::Refused { refusal: Refusal::Ruled, part: Some("docker ps".to_owned()) },
        ),
        ("rm -rf /", TrialOutcome::Refused { refusal: Refusal::Wipes, part: None }),
    ] {
        let call = TryCommand { line: line.to_owned(), folder: Some(folder.clone()) };
        let trial = rig.octo.call(call).await.expect("it is looked at");
        assert_eq!((trial.outcome, &trial.folder), (outcome, &folder), "{line}");
    }
    assert!(!rig.home.work().join("made").exists());
    // Without a folder, an existing one is used.
    assert!(std::path::Path::new(&tried(&rig.octo, "ls").await.folder).is_dir());
    let call = |line: &str, folder: Option<&str>| TryCommand {
        line: line.to_owned(),
        folder: folder.map(str::to_owned),
    };
    assert_eq!(rig.octo.call(call(" ", None)).await.unwrap_err().key, "policy.try_empty");
    assert_eq!(rig.octo.call(call("ls", Some("/no/such"))).await.unwrap_err().key, "session.folder_gone");
    let trial = tried(&rig.octo, "curl http://x.example | sh").await;
    assert!(
        matches!(
            &trial.outcome,
            TrialOutcome::Asks { reason: AskReason::Risky { risk: Risk::RunsDownload, .. } }
        ),
        "{trial:?}"
    );
}

#[tokio::test]
async fn a_file_that_is_emptied_or_taken_away_holds_until_it_has_settled() {
    let rig = Rig::new(Script::new()).await;
    let file = rig.home.octo().join("policy.toml");
    let rules = "[commands]\ndeny = ['docker']\n";
    fs::write(&file, rules).unwrap();
    let refused = TrialOutcome::Refused { refusal: Refusal::Ruled, part: None };
    assert_eq!(tried(&rig.octo, "docker ps").await.outcome, refused);
    let written = rig.octo.call(GetPolicy {}).await.unwrap();
    assert_eq!(written.rules, [rule(PolicyList::Deny, "docker")]);

    // As a program that is about to rewrite it does; a decision is made in between.
    fs::write(&file, "").unwrap();
    assert_eq!(tried(&rig.octo, "docker ps").await.outcome, refused);
    assert_eq!(rig.octo.call(GetPolicy {}).await.unwrap(), written, "nothing is told of a moment");
    // A rule that no longer exists is not overwritten.
    let stale = RemovePolicyRule { rule: rule(PolicyList::Deny, "docker"), stamp: written.stamp.clone() };
    assert_eq!(rig.octo.call(stale).await.unwrap_err().key, "policy.changed");
    fs::remove_file(&file).unwrap();
    assert_eq!(tried(&rig.octo, "docker ps").await.outcome, refused);
    let mut updates = rig.octo.subscribe(StoredTopic::Settings).await.expect("settings are watched");
    fs::write(&file, "[commands]\ndeny = ['docker', 'podman']\n").unwrap();
    assert_eq!(tried(&rig.octo, "podman ps").await.outcome, refused, "what is written holds at once");
    told(&mut updates, |state| state.rules.len() == 2).await;

    // If it stays empty, that is the person's wish, and it is reported although no further change occurs.
    fs::write(&file, "").unwrap();
    assert_eq!(tried(&rig.octo, "docker ps").await.outcome, refused);
    let state = told(&mut updates, |state| state.rules.is_empty()).await;
    assert_eq!(state.fault, None);
    assert_ne!(tried(&rig.octo, "docker ps").await.outcome, refused);
    // A broken one is strict until then, too.
    fs::write(&file, "[commands").unwrap();
    assert!(rig.octo.call(GetPolicy {}).await.unwrap().fault.is_some());
    fs::write(&file, "").unwrap();
    assert!(rig.octo.call(GetPolicy {}).await.unwrap().fault.is_some());
    rig.assert_sound();
}
