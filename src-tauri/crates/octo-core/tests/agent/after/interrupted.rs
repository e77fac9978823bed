//! Look backs that do not finish: the turn before them did not finish, or the person continues.

use super::*;

#[tokio::test]
async fn a_turn_that_was_stopped_or_failed_is_not_looked_at() {
    let broken = |at| {
        if at < 11 {
            Reply::call("glob", json!({ "pattern": format!("{at}*") }))
        } else {
            Reply::error(400, "invalid_request_error", "no")
        }
    };
    let mut rig = rig(turns_with(&[12, 1], broken, nothing)).await;
    let session = rig.start(Mode::Ask, "go").await;
    assert!(matches!(end_of(&mut rig, session).await, TurnEnd::Failed { .. }));
    settled(&mut rig, session).await;
    assert_eq!(aims(&rig), []);

    let hangs = |at| {
        if at < 11 { Reply::call("glob", json!({ "pattern": format!("{at}*") })) } else { Reply::hang() }
    };
    let mut rig = self::rig(turns_with(&[12, 1], hangs, nothing)).await;
    let session = rig.start(Mode::Ask, "go").await;
    rig.server.wait_received_async(11).await;
    rig.stop(session).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Stopped);
    settled(&mut rig, session).await;
    assert_eq!(aims(&rig), []);
}

#[tokio::test]
async fn the_persons_next_message_ends_it_and_the_memory_is_owed() {
    let gate = Gate::new();
    let held_reply = Reply::text("No memory updates needed.").in_chunks(3).hold_after(1, &gate);
    let mut next_reply = Some(held_reply);
    let child = move |_: SubAgentAim, _: &RecordedRequest| {
        next_reply.take().unwrap_or_else(|| Reply::text("No memory updates needed."))
    };
    let mut rig = rig(turns(&[10, 1, 1], child)).await;
    let session = rig.start(Mode::Ask, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    reached(&gate).await;
    rig.send(session, "Wait, one more thing.").await;
    // The end of that short turn starts another look back, because one is due.
    let mut ends = [child_end(&mut rig, session).await, child_end(&mut rig, session).await];
    gate.open();
    ends.sort_by_key(|(_, end)| *end != TurnEnd::Stopped);
    assert_eq!((&ends[0].1, &ends[1].1), (&TurnEnd::Stopped, &TurnEnd::Finished));
    assert_ne!(ends[0].0, ends[1].0);
    let billed = rig.seen.iter().filter(
        |event| matches!(&event.event, Event::CallBilled { call } if call.outcome == CallOutcome::Stopped),
    );
    assert_eq!(billed.count(), 1, "what was asked for is paid for");
    rig.assert_sound();
}

#[tokio::test]
async fn stop_ends_it_at_once_and_for_good() {
    let child = |_: SubAgentAim, _: &RecordedRequest| Reply::hang();
    let mut rig = rig(turns(&[10, 1, 10, 1], child)).await;
    let session = rig.start(Mode::Ask, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.server.wait_received_async(11).await;
    let started = std::time::Instant::now();
    rig.stop(session).await;
    let (_, end) = child_end(&mut rig, session).await;
    assert_eq!(end, TurnEnd::Stopped);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    rig.send(session, "and?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    settled(&mut rig, session).await;
    let request_count = rig.server.requests().iter().filter(|request| is_sub_agent(request)).count();
    assert_eq!(request_count, 1, "what the person stopped is not owed");
}

#[tokio::test]
async fn a_restart_ends_it() {
    let child = |_: SubAgentAim, _: &RecordedRequest| Reply::hang();
    let mut rig = rig(turns(&[10, 1, 1], child)).await;
    let session = rig.start(Mode::Ask, "go").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.server.wait_received_async(11).await;
    let child = rig
        .event("sub-agent", |event| match event {
            Event::SessionChanged { info } if info.source == Source::SubAgent => Some(info.id),
            _ => None,
        })
        .await;
    rig.restart().await;
    let ended = rig.snapshot(child).await;
    assert_eq!(ended.page.turns[0].end, Some(TurnEnd::Stopped));
    rig.send(session, "and?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    settled(&mut rig, session).await;
    let request_count = rig.server.requests().iter().filter(|request| is_sub_agent(request)).count();
    assert_eq!(request_count, 1);
}
