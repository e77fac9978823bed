//! After a turn: the memories saved, the proposals made, and a conversation that stays unchanged to the byte.

mod interrupted;

use super::{
    rig::{Rig, reached, results, statuses},
    sub_agent_rig::{end_of, is_sub_agent, skill},
};
use octo_protocol::{
    AnswerSuggestion, Block, CallOutcome, CallStatus, ChangeSettings, Event, GetMemory, LibrarySettings,
    ListMemories, ListSuggestions, Mode, NoticeKind, PersonaKind, Purpose, RenameSession, SavePersona,
    SaveSkill, SessionId, SettingsPatch, SkillOrigin, SkillRef, SkillSuggestion, Source, StoredTopic,
    SuggestionAnswer, SuggestionKind, Switch, SwitchSkill, TurnEnd,
};
use octo_testkit::{Gate, RecordedRequest, Reply, Script};
use serde_json::{Value, json};
use std::time::Duration;

/// The aim of a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubAgentAim {
    Remember,
    Reflect,
    Propose,
    /// None: a skill's own.
    Skill,
}

fn aim(request: &RecordedRequest) -> SubAgentAim {
    let text = String::from_utf8_lossy(&request.raw);
    let asks = |content: &str| text.contains(content);
    match () {
        () if asks("is to be remembered in later sessions") => SubAgentAim::Remember,
        () if asks("whether that skill should be better") => SubAgentAim::Reflect,
        () if asks("whether a new skill should be proposed") => SubAgentAim::Propose,
        () => SubAgentAim::Skill,
    }
}

/// Returns a conversation whose turns have this many answers each, with sub-agents answered by `child`.
fn turns(
    answers: &[usize],
    child: impl FnMut(SubAgentAim, &RecordedRequest) -> Reply + Send + 'static,
) -> Script {
    turns_with(answers, |at| Reply::call("glob", json!({ "pattern": format!("{at}*") })), child)
}

fn turns_with(
    answers: &[usize],
    step: impl Fn(usize) -> Reply + Send + 'static,
    mut child: impl FnMut(SubAgentAim, &RecordedRequest) -> Reply + Send + 'static,
) -> Script {
    let mut last = answers
        .iter()
        .scan(0, |sum, answers| {
            *sum += answers;
            Some(*sum)
        })
        .collect::<Vec<_>>();
    last.reverse();
    let mut given = 0;
    Script::from_fn(move |request| {
        if is_sub_agent(request) {
            return child(aim(request), request);
        }
        given += 1;
        match last.last() {
            Some(end) if given < *end => step(given),
            _ => {
                last.pop();
                Reply::text("done")
            }
        }
    })
}

fn terminal(command: &str) -> Reply {
    Reply::call("terminal", json!({ "command": command }))
}

fn nothing(_: SubAgentAim, _: &RecordedRequest) -> Reply {
    Reply::text("No memory updates needed.")
}

/// Returns sub-agents that give these answers, whatever their aim.
fn steps(replies: Vec<Reply>) -> impl FnMut(SubAgentAim, &RecordedRequest) -> Reply {
    let mut replies = replies.into_iter();
    move |_, _| replies.next().unwrap_or_else(|| Reply::text("that was all"))
}

async fn rig(script: Script) -> Rig {
    Rig::priced(script, octo_core::IDLE_AFTER).await
}

/// Returns the end of the next turn of a sub-agent, with its session.
async fn child_end(rig: &mut Rig, parent: SessionId) -> (SessionId, TurnEnd) {
    loop {
        let end = rig.turn_end().await;
        match rig.seen.last().unwrap().topic {
            StoredTopic::Session { id } if id != parent => return (id, end),
            _ => {}
        }
    }
}

async fn note(rig: &mut Rig) -> octo_protocol::ApiError {
    rig.event("note", |event| match event {
        Event::CommandAnswered { note } => Some(note.clone()),
        _ => None,
    })
    .await
}

/// Waits until any work after a turn has started, and a look back has had the time of a complete other session
/// to send its first request.
async fn settled(rig: &mut Rig, session: SessionId) {
    for title in ["one", "two"] {
        rig.octo.call(RenameSession { session, title: title.into() }).await.unwrap();
    }
    let other = rig.start(Mode::Ask, "something else").await;
    assert_eq!(end_of(rig, other).await, TurnEnd::Finished);
}

fn aims(rig: &Rig) -> Vec<SubAgentAim> {
    let mut aims: Vec<SubAgentAim> =
        rig.server.requests().iter().filter(|request| is_sub_agent(request)).map(aim).collect();
    aims.dedup();
    aims
}

/// Returns messages as they were sent, without cache markers.
fn bare(messages: &[Value]) -> String {
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
    let mut messages = Value::Array(messages.to_vec());
    strip(&mut messages);
    let text = messages.to_string();
    text.strip_suffix(']').unwrap().to_owned()
}

/// Checks that every request of the conversation begins with the one before it, whatever sub-agents requested
/// in between.
fn assert_prefix(rig: &Rig) {
    rig.assert_sound();
    assert_eq!(rig.server.cache_misses(), []);
    let requests = rig.server.requests();
    let start = |request: &RecordedRequest| bare(&request.messages()[..1]);
    let first = start(&requests[0]);
    let own: Vec<_> =
        requests.iter().filter(|request| !is_sub_agent(request) && start(request) == first).collect();
    assert!(own.len() > 2);
    for pair in own.windows(2) {
        for part in ["tools", "system"] {
            assert_eq!(pair[1].body[part], pair[0].body[part], "{part}");
        }
        assert!(bare(pair[1].messages()).starts_with(&bare(pair[0].messages())), "the history is the same");
    }
}

const SAVE: &str = "octo memory save --topic 'Line width' --description 'How wide code is' --body 'The person wants lines of 100.'";

#[tokio::test]
async fn a_long_turn_may_be_remembered_unasked_from_the_parents_cache_and_the_person_is_told() {
    let child =
        steps(vec![terminal("octo memory list"), terminal(SAVE), Reply::text("line-width.md: the width.")]);
    let mut rig = rig(turns(&[10, 1], child)).await;
    let session = rig.start(Mode::Ask, "Lines of 100, always.").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let note = note(&mut rig).await;
    assert_eq!(note.key, "memory.remembered");
    let file = note.args["file"].clone();
    let memories = rig.octo.call(ListMemories { query: String::new() }).await.unwrap().memories;
    assert_eq!((memories.len(), &memories[0].file, memories[0].session), (1, &file, Some(session)));
    let sheet = rig.octo.call(GetMemory { file }).await.unwrap();
    assert_eq!(sheet.body.trim(), "The person wants lines of 100.");
    assert!(!rig.seen.iter().any(|one| matches!(one.event, Event::QuestionAsked { .. })), "nobody is asked");

    // Its first request is the parent's last one with the answer and one more message, read from the cache.
    let requests = rig.server.requests();
    let (parent, child) = (&requests[9], &requests[10]);
    assert!(!is_sub_agent(parent) && aim(child) == SubAgentAim::Remember);
    for part in ["tools", "system"] {
        assert_eq!(child.body[part], parent.body[part], "{part}");
    }
    assert!(bare(child.messages()).starts_with(&bare(parent.messages())));
    assert_eq!(child.messages().len(), parent.messages().len() + 2);
    let billed = rig.seen.iter().find_map(|event| match &event.event {
        Event::CallBilled { call } if call.purpose == Purpose::SubAgent => Some(call.clone()),
        _ => None,
    });
    let usage = billed.unwrap().usage.unwrap();
    assert!(
        usage.cache_read > 1_000 && usage.cache_read > 2 * (usage.input + usage.cache_write),
        "{usage:?}"
    );

    // The conversation continues as if nothing had happened.
    rig.send(session, "And now?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    assert!(snapshot.spending.calls >= 14, "its cost is the session's: {:?}", snapshot.spending);
    assert!(!format!("{:?}", snapshot.page.messages).contains("Line width"));
    assert_prefix(&rig);
}

#[tokio::test]
async fn where_nothing_is_worth_it_nothing_is_said() {
    let mut rig = rig(turns(&[10, 1, 1], nothing)).await;
    let session = rig.start(Mode::Ask, "go").await;
    let (_, end) = child_end(&mut rig, session).await;
    assert_eq!(end, TurnEnd::Finished);
    settled(&mut rig, session).await;
    rig.send(session, "and?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    assert!(!rig.seen.iter().any(|one| matches!(one.event, Event::CommandAnswered { .. })));
    assert!(rig.octo.call(ListMemories { query: String::new() }).await.unwrap().memories.is_empty());
    assert_eq!(aims(&rig), [SubAgentAim::Remember], "a short turn adds nothing");
    assert_prefix(&rig);
}

#[tokio::test]
async fn what_is_looked_for_depends_on_the_turn_and_the_switches() {
    let library = |propose, remember| LibrarySettings { propose, remember, other_agents: Switch::Off };
    let (on, off) = (Switch::On, Switch::Off);
    for (answers, settings, expected) in [
        (3, library(on, on), vec![]),
        (9, library(on, on), vec![]),
        (10, library(on, on), vec![SubAgentAim::Remember]),
        (10, library(on, off), vec![]),
        (12, library(on, on), vec![SubAgentAim::Propose, SubAgentAim::Remember]),
        (12, library(on, off), vec![SubAgentAim::Propose]),
        (12, library(off, on), vec![SubAgentAim::Remember]),
        (12, library(off, off), vec![]),
    ] {
        let mut rig = rig(turns(&[answers, 1], nothing)).await;
        let patch = SettingsPatch { library: Some(settings), ..SettingsPatch::default() };
        rig.octo.call(ChangeSettings { patch }).await.unwrap();
        let session = rig.start(Mode::Ask, "go").await;
        assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
        for _ in &expected {
            child_end(&mut rig, session).await;
        }
        settled(&mut rig, session).await;
        assert_eq!(aims(&rig), expected, "{answers} answers, {settings:?}");
        rig.assert_sound();
    }
}

#[tokio::test]
async fn it_may_do_nothing_else_whatever_its_parent_may() {
    let outside = "x\n";
    let replies = vec![
        terminal("touch never"),
        Reply::call("write", json!({ "path": "never", "content": outside })),
        terminal("octo memory delete a.md"),
        terminal("octo skill propose draft --reason 'because'"),
        terminal("ls"),
        Reply::call("glob", json!({ "pattern": "*" })),
        Reply::text("No memory updates needed."),
    ];
    let mut rig = rig(turns(&[10], steps(replies))).await;
    let session = rig.start(Mode::Autonomous, "go").await;
    let (child, end) = child_end(&mut rig, session).await;
    assert_eq!(end, TurnEnd::Finished);
    let child = rig.snapshot(child).await;
    assert_eq!(statuses(&child).len(), 6);
    for (at, status) in statuses(&child).into_iter().enumerate() {
        assert!(status != CallStatus::Done, "{at}: {:?}", results(&child));
    }
    assert!(!rig.home.work().join("never").exists());
    assert!(!rig.seen.iter().any(|one| matches!(one.event, Event::QuestionAsked { .. })));
    rig.assert_sound();
}

fn folder_of_drafts(request: &RecordedRequest) -> String {
    let text = String::from_utf8_lossy(&request.raw);
    let (before, _) = text.rsplit_once("/drafts/").unwrap();
    let (_, folder) = before.rsplit_once('`').unwrap();
    format!("{folder}/drafts").rsplit(' ').next().unwrap().to_owned()
}

/// A sub-agent that writes a skill down and proposes it.
fn proposing(
    name: &'static str,
    text: &'static str,
    wanted: SubAgentAim,
) -> impl FnMut(SubAgentAim, &RecordedRequest) -> Reply {
    let mut step = 0;
    move |aim, request| {
        if aim != wanted {
            return Reply::text("No memory updates needed.");
        }
        step += 1;
        let draft = format!("{}/{name}", folder_of_drafts(request));
        match step {
            1 => Reply::call("write", json!({ "path": format!("{draft}/SKILL.md"), "content": text })),
            2 => terminal(&format!("octo skill validate {draft}")),
            3 => terminal(&format!("octo skill propose {draft} --reason 'It took a detour.'")),
            _ => Reply::text("proposed"),
        }
    }
}

async fn only_suggestion(rig: &Rig) -> SkillSuggestion {
    let all = rig.octo.call(ListSuggestions {}).await.unwrap().suggestions;
    let [one] = all.try_into().unwrap();
    one
}

const TIDY: &str = "---\nname: tidy\ndescription: 'Tidies up.'\n---\n\n1. Look.\n2. Tidy.\n";
const TIDIER: &str = "---\nname: tidy\ndescription: 'Tidies up.'\n---\n\n1. Look twice.\n2. Tidy.\n";

fn write_skill(rig: &Rig, name: &str, text: &str) {
    let folder = rig.home.octo().join("skills").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn of(name: &str) -> SkillRef {
    SkillRef { name: name.into(), origin: SkillOrigin::User, project: None }
}

#[tokio::test]
async fn a_skill_the_person_called_may_be_proposed_better_with_task_and_cost() {
    let mut rig = rig(turns(&[1, 5, 1, 1], proposing("tidy", TIDIER, SubAgentAim::Reflect))).await;
    write_skill(&rig, "tidy", TIDY);
    let session = rig.start(Mode::Ask, "hello").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.send(session, "/tidy all of it").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let turn = rig.snapshot(session).await.page.turns.last().unwrap().id;
    let (child, end) = child_end(&mut rig, session).await;
    assert_eq!(end, TurnEnd::Finished);
    let statuses = statuses(&rig.snapshot(child).await);
    assert_eq!(statuses, [CallStatus::Done; 3], "{:?}", results(&rig.snapshot(child).await));
    settled(&mut rig, session).await;
    let made = only_suggestion(&rig).await;
    assert_eq!((made.name.as_str(), made.kind, made.text.as_str()), ("tidy", SuggestionKind::Better, TIDIER));
    assert_eq!((made.session, made.turn), (Some(session), Some(turn)));
    assert!(made.cost_nanos.is_some_and(|cost| cost > 0), "{:?}", made.cost_nanos);
    let path = rig.home.octo().join("skills/tidy/SKILL.md");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), TIDY, "nothing before the person's yes");
    let answer = SuggestionAnswer::Accept { text: None };
    rig.octo.call(AnswerSuggestion { id: made.id, answer }).await.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), TIDIER);
    assert_eq!(aims(&rig), [SubAgentAim::Reflect]);

    // The next turn starts afresh: a skill of an earlier turn is no reason.
    rig.send(session, "thanks").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    settled(&mut rig, session).await;
    assert_eq!(aims(&rig), [SubAgentAim::Reflect]);
    assert_prefix(&rig);
}

#[tokio::test]
async fn reflection_is_for_the_persons_own_skills_alone() {
    // A bundled skill, a skill the person does not want suggestions for, and a turn that is too short.
    let mut rig = rig(turns(&[1, 6, 6, 4], nothing)).await;
    write_skill(&rig, "tidy", TIDY);
    write_skill(&rig, "quiet", &TIDY.replace("tidy", "quiet"));
    let session = rig.start(Mode::Ask, "hello").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    for typed in ["/skill-creator a skill", "/skill-add somewhere", "/tidy"] {
        rig.send(session, typed).await;
        assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished, "{typed}");
    }
    settled(&mut rig, session).await;
    assert_eq!(aims(&rig), []);
    rig.assert_sound();
}

#[tokio::test]
async fn a_long_turn_without_a_skill_may_become_one_that_is_used_at_once() {
    const NEW: &str = "---\nname: sort-photos\ndescription: 'Sorts photos by year.'\ndisable-model-invocation: false\nuser-invocable: true\n---\n\n1. Sort by year.\n";
    let mut rig = rig(turns(&[12, 1, 2], proposing("sort-photos", NEW, SubAgentAim::Propose))).await;
    let session = rig.start(Mode::Ask, "sort my photos").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let turn = rig.snapshot(session).await.page.turns[0].id;
    // The proposal, then the memory.
    child_end(&mut rig, session).await;
    child_end(&mut rig, session).await;
    assert_eq!(aims(&rig), [SubAgentAim::Propose, SubAgentAim::Remember]);
    let made = only_suggestion(&rig).await;
    assert_eq!((made.name.as_str(), made.kind), ("sort-photos", SuggestionKind::New));
    assert_eq!((made.session, made.turn), (Some(session), Some(turn)));
    assert!(made.cost_nanos.is_some_and(|cost| cost > 0));
    rig.send(session, "nothing yet").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let last = rig.server.requests().last().unwrap().clone();
    assert!(!bare(last.messages()).contains("sort-photos"), "not before it is accepted");
    let answer = SuggestionAnswer::Accept { text: None };
    rig.octo.call(AnswerSuggestion { id: made.id, answer }).await.unwrap();
    rig.send(session, "/sort-photos of May").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let last = rig.server.requests().last().unwrap().clone();
    assert!(bare(last.messages()).contains("1. Sort by year."));
    assert_prefix(&rig);
}

#[tokio::test]
async fn the_library_changes_in_mid_session_and_the_prefix_does_not() {
    let step = |_| skill_call("late", "now");
    let mut rig = rig(turns_with(&[1, 2, 1, 1, 1, 1], step, nothing)).await;
    write_skill(&rig, "tidy", TIDY);
    let session = rig.start(Mode::Ask, "hello").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);

    // Written to the disk by another program, it is announced with the next message and can be invoked in that
    // turn.
    write_skill(&rig, "late", "---\nname: late\ndescription: 'Came late.'\n---\n\nSay that it is late.\n");
    rig.send(session, "anything new?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    let snapshot = rig.snapshot(session).await;
    let news =
        snapshot.page.messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
            Block::Notice { kind: NoticeKind::NewSkills, text } => Some(text.clone()),
            _ => None,
        });
    let news: Vec<_> = news.collect();
    assert!(
        news.len() == 1 && news[0].contains("- late: Came late.") && !news[0].contains("tidy"),
        "{news:?}"
    );
    assert!(results(&snapshot)[0].contains("Say that it is late."), "{:?}", results(&snapshot));

    rig.octo.call(SwitchSkill { skill: of("tidy"), on: Some(Switch::Off), automatic: None }).await.unwrap();
    rig.send(session, "and now?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    rig.octo.call(SavePersona { kind: PersonaKind::Soul, text: "Be brief.".into() }).await.unwrap();
    rig.octo.call(SwitchSkill { skill: of("late"), on: None, automatic: Some(Switch::Off) }).await.unwrap();
    rig.send(session, "and then?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    // When one is edited on its page, it is read again and not reported again.
    let edited = SaveSkill { skill: of("tidy"), from: TIDY.into(), text: TIDIER.into() };
    rig.octo.call(edited).await.unwrap();
    rig.send(session, "and at last?").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    assert_prefix(&rig);

    // Only a session that starts afterwards has it in its prompt.
    let other = rig.start(Mode::Ask, "hello again").await;
    assert_eq!(end_of(&mut rig, other).await, TurnEnd::Finished);
    let last = rig.server.requests().last().unwrap().clone();
    assert!(last.system().contains("Be brief.") && !last.system().contains("- tidy: "));
}

fn skill_call(name: &str, task: &str) -> Reply {
    let (tool, arguments) = skill(name, task);
    Reply::call(tool, arguments)
}

#[tokio::test]
async fn the_bundled_memory_skill_writes_unasked_and_one_of_its_name_does_not() {
    let child = || steps(vec![terminal(SAVE), Reply::text("written")]);
    let step = |_| skill_call("persist-memory", "Lines of 100.");
    let mut rig = rig(turns_with(&[2], step, child())).await;
    let session = rig.start(Mode::Ask, "remember that").await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    assert!(!rig.seen.iter().any(|one| matches!(one.event, Event::QuestionAsked { .. })));
    assert_eq!(rig.octo.call(ListMemories { query: String::new() }).await.unwrap().memories.len(), 1);

    let mut rig = self::rig(turns_with(&[2], step, child())).await;
    write_skill(
        &rig,
        "persist-memory",
        "---\nname: persist-memory\ndescription: 'Mine.'\ncontext: fork\n---\n\nWrite.\n",
    );
    let session = rig.start(Mode::Ask, "remember that").await;
    let question = rig.question().await;
    let StoredTopic::Session { id: child } = rig.seen.last().unwrap().topic else { panic!("of a session") };
    assert_ne!(child, session);
    rig.answer(child, &question, octo_protocol::Answer::No { reason: None }).await;
    assert_eq!(end_of(&mut rig, session).await, TurnEnd::Finished);
    assert!(rig.octo.call(ListMemories { query: String::new() }).await.unwrap().memories.is_empty());
}
