//! Sub-agents: their reads from the parent's cache, their permissions, and their results.

use super::{
    rig::{Rig, results, words},
    sub_agent_rig::{TestSkills, cards, end_of, is_sub_agent, skill, sub_agent_script},
};
use octo_core::SkillTask;
use octo_protocol::{
    CallState, ChangeSettings, Event, LibrarySettings, ListSessions, Mode, Origin, Purpose, Role,
    SearchSessions, SessionStatus, SettingsPatch, Source, SubAgentStatus, Switch, ToolView, TurnEnd, Usage,
};
use octo_testkit::{RecordedRequest, Reply, Script};
use serde_json::{Value, json};

/// Returns messages as they were sent, without cache markers.
fn without_cache_markers(messages: &[Value]) -> Vec<Value> {
    fn strip(value: &mut Value) {
        match value {
            Value::Array(all) => all.iter_mut().for_each(strip),
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.values_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let mut messages = messages.to_vec();
    messages.iter_mut().for_each(strip);
    messages
}

fn long_prompt(text: &str) -> String {
    format!("{text}{}", "Work with this long text. ".repeat(400))
}

#[tokio::test]
async fn a_sub_agent_reads_its_parents_cache_and_returns_a_summary() {
    let script =
        sub_agent_script(vec![skill("explore", "Find the heron.")], |_| Reply::text("It is in a.txt."));
    let mut rig = Rig::skilled(script, TestSkills::new()).await;
    let session = rig.start(Mode::Ask, &long_prompt("Where is the heron? ")).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);

    // The request begins with exactly what the parent's had, tools and system prompt included.
    let requests = rig.server.requests();
    assert_eq!(requests.len(), 3);
    let (parent, child) = (&requests[0], &requests[1]);
    for part in ["tools", "system"] {
        assert_eq!(child.body[part], parent.body[part], "{part}");
    }
    let (parent_messages, child_messages) =
        (without_cache_markers(parent.messages()), without_cache_markers(child.messages()));
    assert_eq!(child_messages[..parent_messages.len()], parent_messages[..]);
    let new = serde_json::to_string(&child_messages[parent_messages.len()..]).unwrap();
    assert_eq!(child_messages.len(), parent_messages.len() + 1, "one message is new: {new}");
    assert!(new.contains("Look around as explore does.") && new.contains("Find the heron."), "{new}");
    assert_eq!(rig.server.cache_misses(), []);

    // The ledger agrees: the read was expected, and only the skill and the task were paid for.
    let lines: Vec<_> = rig
        .seen
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::CallBilled { call } => Some(call.clone()),
            _ => None,
        })
        .collect();
    let purposes: Vec<_> = lines.iter().map(|line| line.purpose).collect();
    assert_eq!(purposes, [Purpose::Turn, Purpose::SubAgent, Purpose::Turn]);
    let (first, second) = (lines[0].usage.unwrap(), lines[1].usage.unwrap());
    assert!(first.cache_write > 2_000, "{first:?}");
    assert_eq!(second.cache_read, first.cache_read + first.cache_write);
    assert_eq!((lines[1].expected_read, lines[1].miss), (Some(second.cache_read), None));
    assert!(second.input + second.cache_write < 500, "only the skill and the task: {second:?}");
    assert_eq!(lines[2].miss, None, "the parent continues from its cache");

    // The summary is the call's result, limited in size and with its cost.
    let snapshot = rig.snapshot(session).await;
    let [result] = results(&snapshot).try_into().unwrap();
    assert!(result.starts_with("Sub-agent explore: finished. Steps: 1. Cost: $0.0"), "{result}");
    assert!(result.ends_with("\n\nIt is in a.txt."), "{result}");
    let [view] = cards(&rig, session).await.try_into().unwrap();
    assert_eq!(
        (view.status, view.steps, view.summary.as_deref()),
        (SubAgentStatus::Done, 1, Some("It is in a.txt."))
    );
    assert_eq!(
        (view.name.as_str(), view.label.as_str(), view.last_line.as_str()),
        ("explore", "yours", "It is in a.txt.")
    );
    assert_eq!(view.cost, lines[1].cost);

    // It is a separate session that can be opened, but it appears in no list and no search.
    let id = view.session.unwrap();
    assert!(result.contains(&id.to_string()));
    let child = rig.snapshot(id).await;
    assert_eq!((child.info.source, child.info.status), (Source::SubAgent, SessionStatus::Idle));
    assert_eq!(
        (child.info.mode, child.info.folder.clone()),
        (snapshot.info.mode, snapshot.info.folder.clone())
    );
    let origin = child.fork.unwrap();
    assert_eq!(
        (origin.session, origin.title, origin.turn),
        (session, snapshot.info.title.clone(), snapshot.page.turns[0].id)
    );
    let roles: Vec<_> =
        child.page.messages.iter().map(|message| (message.role, message.meta.origin)).collect();
    assert_eq!(
        roles,
        [(Role::User, Origin::Octo), (Role::Assistant, Origin::Model)],
        "only its own messages"
    );
    let list = rig
        .octo
        .call(ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 9 })
        .await
        .unwrap();
    assert_eq!((list.total, list.sessions.len(), list.sessions[0].id), (1, 1, session));
    let found = rig
        .octo
        .call(SearchSessions { query: "It is in a.txt".into(), filter: Default::default(), limit: 9 })
        .await
        .unwrap();
    assert_eq!(found.hits, []);
    assert!(!rig.seen.iter().any(|one| matches!(&one.event, Event::SessionListed { info } if info.id == id)));

    // Its cost is included in the parent's sums.
    assert_eq!(snapshot.spending.calls, 3);
    let usage = lines.iter().fold(Usage::default(), |mut sum, line| {
        sum += line.usage.unwrap();
        sum
    });
    assert_eq!(
        (snapshot.spending.usage, snapshot.info.usage, snapshot.page.turns[0].usage),
        (usage, usage, usage)
    );
    rig.assert_sound();
}

/// Number of sessions with random use of sub-agents; ten times as many in a soak test.
const SESSIONS: u64 = 3;
const TURNS: usize = 4;

/// Returns a number that depends only on the request and its session, not on the order in which sub-agents send
/// requests.
fn random_number(seed: u64, request: &RecordedRequest) -> u64 {
    let said =
        json!([seed, is_sub_agent(request), request.messages().len(), request.user_text()]).to_string();
    let hash = said.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 17
}

/// Returns a model that acts at random: it reads, invokes skills in any mixture, or finishes.
fn random_script(seed: u64) -> Script {
    Script::from_fn(move |request| {
        let random = random_number(seed, request);
        let steps = request.messages().len();
        match (is_sub_agent(request), random % 6) {
            (true, 0..=2) if steps < 60 => Reply::call("glob", json!({ "pattern": format!("*{random}") })),
            (true, _) => Reply::text(format!("A sub-agent found {random}.")),
            (false, 0) => Reply::text(format!("The answer is {random}.")),
            (false, 1) if steps < 60 => Reply::call("glob", json!({ "pattern": format!("*{random}") })),
            (false, kind) if steps < 60 => {
                let count = (kind % 4) + 1;
                (0..count).fold(Reply::text("I let others look."), |reply, number| {
                    let name = ["explore", "style", "other", "nothing"][((random >> number) % 4) as usize];
                    let (tool, arguments) = skill(name, &format!("{name} for {random}, number {number}"));
                    reply.and_call(tool, arguments)
                })
            }
            (false, _) => Reply::text("enough"),
        }
    })
}

#[tokio::test]
async fn random_skill_calls_never_change_the_prefix_or_miss_the_cache() {
    let sessions = if std::env::var_os("OCTO_SOAK").is_some() { SESSIONS * 10 } else { SESSIONS };
    let (mut sub_agents, mut inline_skills, mut unknown) = (0, 0, 0);
    for seed in 0..sessions {
        let skills = TestSkills::new()
            .with_sub_agent_skill("other", "inherit", &["terminal"])
            .with_inline_skill("style", "Write short lines.");
        let mut rig = Rig::skilled(random_script(seed), skills).await;
        // A review of a turn branches off while the next one starts: the order of their requests is random.
        let library =
            LibrarySettings { propose: Switch::Off, remember: Switch::Off, ..LibrarySettings::default() };
        let patch = SettingsPatch { library: Some(library), ..SettingsPatch::default() };
        rig.octo.call(ChangeSettings { patch }).await.unwrap();
        let session = rig.start(Mode::Autonomous, &long_prompt(&format!("Session {seed}. "))).await;
        assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
        for turn in 1..TURNS {
            if turn % 2 == 0 {
                let skill_task = SkillTask { name: "explore".into(), task: format!("slash {seed} {turn}") };
                let typed = words(&format!("/explore {turn}"));
                rig.octo.invoke_skill(session, typed, skill_task).await.unwrap();
            } else {
                rig.send(session, &format!("and now turn {turn} of {seed}")).await;
            }
            assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
        }
        // The server refuses any changed byte; the ledger knows how much each call should have read.
        rig.assert_sound();
        assert_eq!(rig.server.cache_misses(), [], "seed {seed}");
        let requests = rig.server.requests();
        for request in &requests {
            assert_eq!(request.system(), requests[0].system());
            assert_eq!(request.body["tools"], requests[0].body["tools"]);
        }
        for event in &rig.seen {
            match &event.event {
                Event::CallBilled { call } => assert_eq!(call.miss, None, "seed {seed}: {call:?}"),
                Event::CallChanged { call } if matches!(call.state, CallState::Ended { .. }) => {
                    match &call.view {
                        Some(ToolView::SubAgent(_)) => sub_agents += 1,
                        Some(ToolView::Skill(_)) => inline_skills += 1,
                        Some(ToolView::Plain { text }) if text.contains("There is no skill") => unknown += 1,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
    assert!(
        sub_agents > 5 && inline_skills > 0 && unknown > 0,
        "{sub_agents} {inline_skills} {unknown}: nothing was tried"
    );
}
