//! Two windows on the same sessions: each shows the other's actions, and read marks apply to both.

use super::rig::{PATIENCE, Rig};
use octo_core::Subscription;
use octo_protocol::{
    Answer, AnswerQuestion, DeleteSession, ErrorCode, Event, ListSessions, MarkRead, Mode, PinSession,
    RenameSession, RestoreSession, SessionFilter, SessionInfo, SessionMark, SessionSnapshot, Snapshot,
    StoredTopic, TranscriptPlace, TurnEnd, Update,
};
use octo_testkit::Script;
use serde_json::json;
use std::collections::VecDeque;
use tokio::time::timeout;

/// A window: the updates it received, and the list it shows.
struct WindowReplica {
    updates: Subscription,
    seen: Vec<Update>,
    /// Updates that arrived with or after the awaited one.
    coming: VecDeque<Update>,
}

impl WindowReplica {
    async fn open(rig: &Rig, topic: StoredTopic) -> Self {
        let mut updates = rig.octo.subscribe(topic).await.expect("it opens");
        let seen = updates.next().await.expect("a snapshot");
        Self { updates, seen, coming: VecDeque::new() }
    }

    /// Reads up to the first update that matches, and no more: the ends of batches do not matter.
    async fn until(&mut self, description: &str, predicate: impl Fn(&Update) -> bool) {
        let wait = async {
            loop {
                while let Some(update) = self.coming.pop_front() {
                    let found = predicate(&update);
                    self.seen.push(update);
                    if found {
                        return;
                    }
                }
                self.coming.extend(self.updates.next().await.expect("updates go on"));
            }
        };
        let in_time = timeout(PATIENCE, wait).await.is_ok();
        assert!(in_time, "no {description} came: {:#?}", self.seen);
    }

    async fn event(&mut self, description: &str, predicate: impl Fn(&Event) -> bool) {
        self.until(
            description,
            |update| matches!(update, Update::Event { envelope } if predicate(&envelope.event)),
        )
        .await;
    }

    /// Returns the updates received, without streamed text, whose pieces differ.
    fn told(&self) -> Vec<Update> {
        self.seen.iter().filter(|update| !matches!(update, Update::Delta { .. })).cloned().collect()
    }
}

fn session_of(window: &WindowReplica) -> &SessionSnapshot {
    match &window.seen[0] {
        Update::Snapshot { snapshot: Snapshot::Session(session) } => session,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn two_windows_on_one_session_are_told_the_same() {
    let script = Script::new().call("terminal", json!({ "command": "touch x" })).text("Done.");
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "Make x").await;
    let question = rig.question().await;
    let topic = StoredTopic::Session { id: session };
    let (mut left, mut right) =
        (WindowReplica::open(&rig, topic).await, WindowReplica::open(&rig, topic).await);
    assert_eq!(session_of(&left), session_of(&right));
    assert_eq!(session_of(&left).questions, std::slice::from_ref(&question));

    // Answered in one window, it closes in both; a second answer is too late and changes nothing.
    rig.answer(session, &question, Answer::No { reason: Some("not now".into()) }).await;
    for window in [&mut left, &mut right] {
        window.event("end of the question", |event| matches!(event, Event::QuestionClosed { .. })).await;
    }
    let late = AnswerQuestion { session, question: question.id, answer: Answer::Once };
    assert_eq!(rig.octo.call(late).await.unwrap_err().code, Some(ErrorCode::Gone));
    for window in [&mut left, &mut right] {
        window.event("end of the turn", |event| matches!(event, Event::TurnEnded { .. })).await;
    }
    rig.octo.call(RenameSession { session, title: "Another name".into() }).await.unwrap();
    let renamed =
        |event: &Event| matches!(event, Event::SessionChanged { info } if info.title == "Another name");
    left.event("new title", renamed).await;
    right.event("new title", renamed).await;
    assert_eq!(left.told(), right.told());
    assert!(!rig.home.work().join("x").exists());

    rig.octo.call(DeleteSession { session }).await.unwrap();
    left.until("end", |update| matches!(update, Update::Ended)).await;
    right.until("end", |update| matches!(update, Update::Ended)).await;
}

#[tokio::test]
async fn two_windows_show_the_same_list_and_what_is_read_in_one_is_read_in_both() {
    let mut rig = Rig::new(Script::new().text("Done.").text("Done again.")).await;
    let (mut left, mut right) = (
        WindowReplica::open(&rig, StoredTopic::Sessions).await,
        WindowReplica::open(&rig, StoredTopic::Sessions).await,
    );
    let session = rig.start(Mode::Ask, "Say something").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let idle = |event: &Event| matches!(event, Event::SessionListed { info } if info.status == octo_protocol::SessionStatus::Idle);
    left.event("end", idle).await;
    right.event("end", idle).await;
    assert!(unread(&rig).await == [session], "nobody looked at it yet");

    rig.octo.call(MarkRead { session }).await.unwrap();
    let is_read_event = |event: &Event| matches!(event, Event::SessionListed { info } if info.read_at.is_some_and(|at| at >= info.updated_at));
    left.event("read", is_read_event).await;
    right.event("read", is_read_event).await;
    assert!(unread(&rig).await.is_empty());
    // A second time reports nothing: there is nothing new to mark as read.
    let count = left.seen.len();
    rig.octo.call(MarkRead { session }).await.unwrap();
    rig.octo.call(PinSession { session, pinned: true }).await.unwrap();
    let pinned = |event: &Event| matches!(event, Event::SessionListed { info } if info.pinned);
    left.event("pin", pinned).await;
    right.event("pin", pinned).await;
    assert_eq!(left.seen.len(), count + 1);

    // A turn later it is unread again, also after a restart.
    rig.send(session, "Once more").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    left.event("end", |event| idle(event) && !is_read_event(event)).await;
    right.event("end", |event| idle(event) && !is_read_event(event)).await;
    rig.octo.call(DeleteSession { session }).await.unwrap();
    rig.octo.call(RestoreSession { session }).await.unwrap();
    for window in [&mut left, &mut right] {
        window.event("end", |event| matches!(event, Event::SessionRemoved { .. })).await;
        window.event("return", |event| matches!(event, Event::SessionListed { .. })).await;
    }
    assert_eq!(left.told(), right.told());
    rig.restart().await;
    assert!(unread(&rig).await == [session]);
}

async fn unread(rig: &Rig) -> Vec<octo_protocol::SessionId> {
    let filter = SessionFilter { status: Some(SessionMark::Unread), ..SessionFilter::default() };
    let list = ListSessions { query: String::new(), filter, offset: 0, limit: 10 };
    let sessions: Vec<SessionInfo> = rig.octo.call(list).await.unwrap().sessions;
    sessions.into_iter().map(|info| info.id).collect()
}

#[tokio::test]
async fn a_part_of_a_conversation_is_read_around_a_message_and_onwards() {
    let answers = (1..=12).map(|n| format!("Answer {n}."));
    let script = answers.fold(Script::new(), |script, answer| script.text(answer));
    let mut rig = Rig::new(script).await;
    let session = rig.start(Mode::Ask, "Question 1").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    for n in 2..=12 {
        rig.send(session, &format!("Question {n}")).await;
        assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    }
    let all = rig.snapshot(session).await.page.messages;
    assert_eq!(all.len(), 24);
    let read_page = |range, limit| octo_protocol::ReadTranscript { session, place: range, limit };
    for (at, expected, earlier, later) in
        [(0, 0..6, false, true), (2, 0..6, false, true), (10, 7..13, true, true), (23, 20..24, true, false)]
    {
        let range = TranscriptPlace::Around { message: all[at].id };
        let part = rig.octo.call(read_page(range, 6)).await.unwrap();
        assert_eq!(part.page.messages, all[expected], "{at}");
        assert_eq!((part.page.earlier, part.later), (earlier, later), "{at}");
        assert!(
            part.page
                .messages
                .iter()
                .all(|message| { part.page.turns.iter().any(|turn| turn.id == message.turn) })
        );
    }
    for (at, expected, later) in [(5, 6..12, true), (17, 18..24, false), (23, 24..24, false)] {
        let range = TranscriptPlace::After { message: all[at].id };
        let part = rig.octo.call(read_page(range, 6)).await.unwrap();
        assert_eq!((part.page.messages.as_slice(), part.later), (&all[expected], later), "{at}");
    }
    let unknown = TranscriptPlace::Around { message: octo_protocol::MessageId::new() };
    assert_eq!(rig.octo.call(read_page(unknown, 6)).await.unwrap_err().key, "session.unknown_message");
}
