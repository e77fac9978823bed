//! Sub-agents: what they read of their parent's cache, what they may do, and what comes back of them.

use super::{
    rig::{Rig, results},
    shelf::{Shelf, cards, end_of, forking, skill},
};
use octo_protocol::{
    Event, ListSessions, Mode, Origin, Purpose, Role, SearchSessions, SessionStatus, Source, SubAgentStatus,
    TurnEnd, Usage,
};
use octo_testkit::Reply;
use serde_json::Value;

/// Messages as they were sent, without the markers of the cache.
fn bare(messages: &[Value]) -> Vec<Value> {
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

fn long(text: &str) -> String {
    format!("{text}{}", "Work with this long text. ".repeat(400))
}

#[tokio::test]
async fn a_sub_agent_reads_all_its_parent_had_cached_and_gives_back_a_summary() {
    let script = forking(vec![skill("explore", "Find the heron.")], |_| Reply::text("It is in a.txt."));
    let mut rig = Rig::skilled(script, Shelf::new().shared()).await;
    let session = rig.start(Mode::Ask, &long("Where is the heron? ")).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);

    // The request begins with exactly what the parent's had, tools and system prompt included.
    let requests = rig.server.requests();
    assert_eq!(requests.len(), 3);
    let (parent, child) = (&requests[0], &requests[1]);
    for part in ["tools", "system"] {
        assert_eq!(child.body[part], parent.body[part], "{part}");
    }
    let (before, now) = (bare(parent.messages()), bare(child.messages()));
    assert_eq!(now[..before.len()], before[..]);
    let new = serde_json::to_string(&now[before.len()..]).unwrap();
    assert_eq!(now.len(), before.len() + 1, "one message is new: {new}");
    assert!(new.contains("Look around as explore does.") && new.contains("Find the heron."), "{new}");
    assert_eq!(rig.server.cache_misses(), []);

    // The ledger says so too: it was expected, and only skill and task were paid for.
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
    assert!(second.input + second.cache_write < 500, "skill and task alone: {second:?}");
    assert_eq!(lines[2].miss, None, "and the parent goes on where it was");

    // The summary is the call's result, bounded and with what it took.
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
        ("explore", "a shelf", "It is in a.txt.")
    );
    assert_eq!(view.cost, lines[1].cost);

    // It is a session of its own that can be opened, and stands in no list and no search.
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
    assert_eq!(roles, [(Role::User, Origin::Octo), (Role::Assistant, Origin::Model)], "only what is its own");
    let list = rig.octo.call(ListSessions { query: String::new(), offset: 0, limit: 9 }).await.unwrap();
    assert_eq!((list.total, list.sessions.len(), list.sessions[0].id), (1, 1, session));
    let found = rig.octo.call(SearchSessions { query: "It is in a.txt".into(), limit: 9 }).await.unwrap();
    assert_eq!(found.hits, []);
    assert!(!rig.seen.iter().any(|one| matches!(&one.event, Event::SessionListed { info } if info.id == id)));

    // What it cost is in the parent's sums.
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
