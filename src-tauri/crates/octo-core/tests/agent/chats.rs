//! Chat services: whose messages are accepted, that each message reaches one session once, and the replies to a
//! chat.

use super::rig::{self, Rig, process};
use octo_core::Octo;
use octo_protocol::{
    ApiError, ChatConnection, ChatState, DeleteSession, Event, GetChats, GetSettings, ListSessions, Mode,
    ModelDraft, PairPerson, Protocol, RemoveTelegram, SaveModel, SaveTelegram, Secret, ServiceDraft,
    SessionInfo, Source, StoredTopic, Switch, SwitchTelegram, TestTelegram, UnpairPerson, Update,
};
use octo_testkit::{Gate, ModelServer, Reply, Script, TelegramPost, TelegramServer, TempHome};
use serde_json::json;
use std::time::{Duration, Instant};

const ADA: i64 = 7;
const EVE: i64 = 13;

fn draft(rig: &Rig, telegram: &TelegramServer, mode: Mode) -> ServiceDraft {
    ServiceDraft {
        token: Some(Secret::new(telegram.token())),
        server: Some(telegram.url()),
        folder: rig.home.work().display().to_string(),
        mode,
    }
}

async fn save(rig: &Rig, telegram: &TelegramServer, mode: Mode) {
    let draft = draft(rig, telegram, mode);
    let bot = rig.octo.call(TestTelegram { draft: draft.clone() }).await.expect("the token is known");
    assert_eq!(bot.name, "octo_test_bot");
    rig.octo.call(SaveTelegram { draft, bot: Some(bot) }).await.expect("it is saved");
}

/// Waits until the chat services have the wanted state.
async fn until(octo: &Octo, description: &str, predicate: impl Fn(&ChatState) -> bool) -> ChatState {
    let deadline = Instant::now() + rig::PATIENCE;
    loop {
        let state = octo.call(GetChats {}).await.expect("chats can be asked about");
        if predicate(&state) {
            return state;
        }
        assert!(Instant::now() < deadline, "never {description}: {state:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits on another thread, so that the runtime continues meanwhile.
async fn post(
    telegram: &TelegramServer,
    awaited: &'static str,
    predicate: fn(&TelegramPost) -> bool,
) -> TelegramPost {
    let telegram = telegram.clone();
    tokio::task::spawn_blocking(move || telegram.wait_for_post(awaited, predicate)).await.expect("it came")
}

async fn fetched(telegram: &TelegramServer) {
    let telegram = telegram.clone();
    tokio::task::spawn_blocking(move || telegram.wait_until_fetched()).await.expect("it was fetched");
}

fn code_in(post: &TelegramPost) -> String {
    let code = post.text.split_whitespace().find(|word| word.len() == 9 && word.as_bytes()[4] == b'-');
    code.expect("a code").to_owned()
}

async fn pair(rig: &Rig, telegram: &TelegramServer) {
    telegram.send_text(ADA, "hello?");
    let code = post(telegram, "code", |post| post.person == "7" && post.text.contains("code")).await;
    let person = rig.octo.call(PairPerson { code: code_in(&code).to_lowercase() }).await.expect("let in");
    assert_eq!(person.name, "Person 7");
}

async fn paired(script: impl Into<Script>, mode: Mode) -> (Rig, TelegramServer) {
    let (rig, telegram) = (Rig::new(script).await, TelegramServer::start());
    save(&rig, &telegram, mode).await;
    pair(&rig, &telegram).await;
    (rig, telegram)
}

async fn sessions(rig: &Rig) -> Vec<SessionInfo> {
    rig.octo.call(all()).await.expect("a list").sessions
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_heard_before_the_person_at_the_computer_typed_their_code() {
    let script = Script::new().text("Hello **Ada**.");
    let (mut rig, telegram) = (Rig::new(script).await, TelegramServer::start());
    save(&rig, &telegram, Mode::AskRisky).await;
    until(&rig.octo, "connected", |state| state.telegram == ChatConnection::Connected).await;

    telegram.send_text(EVE, "run rm -rf");
    telegram.send_text(ADA, "hello?");
    let (eve, ada) = (
        post(&telegram, "code for Eve", |post| post.person == "13").await,
        post(&telegram, "code for Ada", |post| post.person == "7").await,
    );
    assert_ne!(code_in(&eve), code_in(&ada));
    assert!(sessions(&rig).await.is_empty(), "nothing began");
    let error = rig.octo.call(PairPerson { code: "AAAA-AAAA".into() }).await.unwrap_err();
    assert_eq!(error.key, "chat.code_unknown");
    rig.octo.call(PairPerson { code: code_in(&ada) }).await.expect("Ada is let in");

    telegram.send_text(EVE, "and now?");
    telegram.send_text(ADA, "Say hello");
    assert_eq!(rig.turn_end().await, octo_protocol::TurnEnd::Finished);
    let answer = post(&telegram, "answer", |post| post.text.contains("Hello")).await;
    assert_eq!((answer.person.as_str(), answer.text.as_str()), ("7", "Hello <b>Ada</b>."));
    assert!(!answer.silent);
    let begun = sessions(&rig).await;
    assert_eq!(begun.len(), 1);
    assert_eq!(
        (begun[0].source, begun[0].mode, begun[0].title.as_str()),
        (Source::Chat, Mode::AskRisky, "Say hello")
    );
    assert_eq!(rig.server.requests().len(), 1, "what strangers wrote reached no model");

    let people = until(&rig.octo, "one", |state| state.people.len() == 1).await.people;
    rig.octo.call(UnpairPerson { person: people[0].key }).await.expect("Ada is shut out");
    telegram.send_text(ADA, "still there?");
    post(&telegram, "another code", |post| post.person == "7" && post.text.contains("code")).await;
    fetched(&telegram).await;
    assert_eq!(rig.server.requests().len(), 1);
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_goes_on_with_its_session_and_what_is_written_meanwhile_waits() {
    let gate = Gate::new();
    let script =
        Script::new().reply(Reply::text("First answer.").hold_after(1, &gate)).text("Second answer.");
    let (mut rig, telegram) = paired(script, Mode::AskRisky).await;
    telegram.send_text(ADA, "one");
    rig::reached(&gate).await;
    telegram.send_text(ADA, "two");
    rig.event("queue", |event| match event {
        Event::QueueChanged { queue } if queue.len() == 1 => Some(()),
        _ => None,
    })
    .await;
    gate.open();
    post(&telegram, "second answer", |post| post.text.contains("Second")).await;
    post(&telegram, "first answer", |post| post.text.contains("First")).await;
    assert_eq!(sessions(&rig).await.len(), 1);

    // The window shows both, with their origin.
    let session = sessions(&rig).await[0].id;
    let snapshot = rig.snapshot(session).await;
    let vias: Vec<_> = snapshot
        .page
        .messages
        .iter()
        .filter(|message| message.meta.origin == octo_protocol::Origin::Person)
        .map(|message| message.meta.via)
        .collect();
    assert_eq!(vias, [Some(octo_protocol::ChatService::Telegram); 2]);

    // A deleted session is not continued.
    rig.octo.call(DeleteSession { session }).await.expect("deleted");
    telegram.send_text(ADA, "/status");
    post(&telegram, "status", |post| post.text.contains("no session")).await;
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_buttons_and_approvals_are_given_at_the_computer() {
    let script = Script::new()
        .call("request_user_feedback", json!({ "question": "Which colour?", "context": "It is of the wall.", "options": ["red", "blue"] }))
        .call("write", json!({ "path": "colour.txt", "content": "blue" }))
        .text("Written.");
    let (mut rig, telegram) = paired(script, Mode::Ask).await;
    telegram.send_text(ADA, "choose");
    let question_post = post(&telegram, "question", |post| !post.buttons.is_empty()).await;
    assert_eq!(question_post.text, "Which colour?");
    let context = post(&telegram, "context", |post| post.text.contains("of the wall")).await;
    assert!(context.silent && context.buttons.is_empty(), "what is answered stands right above the buttons");
    let labels: Vec<&str> = question_post.buttons.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["red", "blue"]);
    telegram.press_button(EVE, &question_post.buttons[0].1);
    telegram.press_button(ADA, &question_post.buttons[1].1);
    telegram.press_button(ADA, &question_post.buttons[0].1);
    let notice = post(&telegram, "notice", |post| post.text.contains("at the computer")).await;
    assert!(notice.buttons.is_empty(), "nothing is approved from a chat");
    fetched(&telegram).await;
    let session = sessions(&rig).await[0].id;
    // "yes" is not an approval either: it waits like any message.
    telegram.send_text(ADA, "yes, do it");
    rig.event("queue", |event| match event {
        Event::QueueChanged { queue } if queue.len() == 1 => Some(()),
        _ => None,
    })
    .await;
    assert!(!rig.home.work().join("colour.txt").exists());
    let question = rig.snapshot(session).await.questions.remove(0);
    rig.answer(session, &question, octo_protocol::Answer::Once).await;
    post(&telegram, "end", |post| post.text.contains("Written")).await;
    assert_eq!(rig.home.read("colour.txt"), "blue");
    assert_eq!(telegram.acknowledged(), ["blue", "This question is no longer open."]);
    assert!(rig::results(&rig.snapshot(session).await)[0].contains("blue"));
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_carried_out_and_a_chat_cannot_change_its_mode_or_folder() {
    let gate = Gate::new();
    let script = Script::new()
        .text("First answer.")
        .reply(Reply::text("Never ends").hold_after(1, &gate))
        .text("Third answer.");
    let (rig, telegram) = paired(script, Mode::AskRisky).await;
    telegram.send_text(ADA, "one");
    post(&telegram, "first", |post| post.text.contains("First")).await;
    telegram.send_text(ADA, "/mode autonomous");
    post(&telegram, "refusal", |post| post.text.starts_with("You can change /mode only")).await;
    telegram.send_text(ADA, "／folder /");
    post(&telegram, "refusal", |post| post.text.starts_with("You can change /folder only")).await;
    let first = sessions(&rig).await.remove(0);
    assert_eq!(first.mode, Mode::AskRisky);
    telegram.send_text(ADA, "/nothing-like-it");
    post(&telegram, "no such skill", |post| post.text.contains("nothing-like-it")).await;

    telegram.send_text(ADA, "/new");
    post(&telegram, "anew", |post| post.text.contains("starts a new session")).await;
    telegram.send_text(ADA, "two");
    rig::reached(&gate).await;
    telegram.send_text(ADA, "/status");
    post(&telegram, "status", |post| post.text.starts_with("“two”: working")).await;
    telegram.send_text(ADA, "/stop");
    post(&telegram, "stopped", |post| post.text.starts_with("Stopped.")).await;
    telegram.send_text(ADA, "/stop");
    post(&telegram, "nothing", |post| post.text == "Nothing is running.").await;
    telegram.send_text(ADA, "/list");
    let list = post(&telegram, "list", |post| post.text.contains("1. two ←")).await;
    assert!(list.text.contains("\n2. one"), "{}", list.text);
    telegram.send_text(ADA, "/open 2");
    post(&telegram, "opened", |post| post.text.contains("“one”")).await;
    telegram.send_text(ADA, "/last");
    fetched(&telegram).await;
    telegram.send_text(ADA, "three");
    post(&telegram, "third", |post| post.text.contains("Third")).await;
    let firsts = telegram.posts().into_iter().filter(|post| post.text == "First answer.").count();
    assert_eq!(firsts, 2, "once as it came, once by /last");
    let all = sessions(&rig).await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].id, first.id, "it was gone on with");
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_along_and_a_name_leads_nowhere() {
    let script = Script::new().call("file_reader", json!({ "path": "?" })).text("Read.");
    let (mut rig, telegram) = paired(script, Mode::AskRisky).await;
    telegram.send_file(ADA, "../../plan.txt", b"buy milk", "Read this");
    rig.turn_end().await;
    let session = sessions(&rig).await.remove(0).id;
    let snapshot = rig.snapshot(session).await;
    let path = snapshot.page.messages[0].blocks.iter().find_map(|block| match block {
        octo_protocol::Block::File { path } => Some(path.clone()),
        _ => None,
    });
    let path = std::path::PathBuf::from(path.expect("a file"));
    assert!(path.starts_with(rig.home.octo().join("received")), "{path:?}");
    assert_eq!(path.file_name().unwrap(), "_.._plan.txt");
    assert_eq!(std::fs::read(&path).unwrap(), b"buy milk");
    telegram.push_update(json!({ "message": {
        "message_id": 1, "date": 1, "chat": { "id": ADA, "type": "private" },
        "from": { "id": ADA, "is_bot": false, "first_name": "Ada" }, "voice": { "file_id": "v" } } }));
    post(&telegram, "refusal", |post| post.text.contains("had none of them")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_shown_and_nothing_is_answered_twice() {
    let script = Script::new().text("First answer.").text("Second answer.").text("Third answer.");
    let (rig, telegram) = paired(script, Mode::AskRisky).await;
    let mut settings = rig.octo.subscribe(StoredTopic::Settings).await.expect("a subscription");
    telegram.send_text(ADA, "one");
    post(&telegram, "first", |post| post.text.contains("First")).await;
    telegram.stop_service();
    let lost = async {
        loop {
            for update in settings.next().await.expect("updates go on") {
                if let Update::Chats { state } = update
                    && let ChatConnection::Reconnecting { error, .. } = state.telegram
                {
                    return error;
                }
            }
        }
    };
    let error: ApiError = tokio::time::timeout(rig::PATIENCE, lost).await.expect("it is shown");
    assert_eq!(error.key, "chat.unreachable");
    telegram.send_text(ADA, "two");
    telegram.resume_service();
    post(&telegram, "second", |post| post.text.contains("Second")).await;
    until(&rig.octo, "connected", |state| state.telegram == ChatConnection::Connected).await;

    // It arrives, but Octo gets no confirmation: it is not sent again, and Octo says that it may be missing.
    telegram.drop_next_answer();
    telegram.send_text(ADA, "three");
    post(&telegram, "doubt", |post| post.text.contains("/last")).await;
    for (answer, times) in [("First answer.", 1), ("Second answer.", 1), ("Third answer.", 1)] {
        let count = telegram.posts().iter().filter(|post| post.text == answer).count();
        assert_eq!(count, times, "{answer}");
    }
    assert_eq!(rig.server.requests().len(), 3);
    assert_eq!(sessions(&rig).await.len(), 1);
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_asks_to_wait_or_refuses_one_answer_is_heard_again() {
    let script = Script::new().text("First answer.").text("Second answer.").text("Third answer.");
    let (rig, telegram) = paired(script, Mode::AskRisky).await;
    telegram.refuse_next(429, Some(1));
    telegram.send_text(ADA, "one");
    post(&telegram, "first", |post| post.text.contains("First")).await;
    telegram.refuse_next(403, None);
    telegram.send_text(ADA, "two");
    let deadline = Instant::now() + rig::PATIENCE;
    while rig.server.requests().len() < 2 {
        assert!(Instant::now() < deadline, "the second message is answered");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    telegram.send_text(ADA, "three");
    post(&telegram, "third", |post| post.text.contains("Third")).await;
    let answers: Vec<String> =
        telegram.posts().into_iter().map(|post| post.text).filter(|text| text.ends_with("answer.")).collect();
    assert_eq!(answers, ["First answer.", "Third answer."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_one_home_know_one_anothers_codes_and_choices() {
    let (rig, telegram) = (Rig::new(Script::new().text("First answer.")).await, TelegramServer::start());
    save(&rig, &telegram, Mode::AskRisky).await;
    until(&rig.octo, "connected", |state| state.telegram == ChatConnection::Connected).await;
    let beside = rig::open(&rig.home).await;
    telegram.send_text(ADA, "hello?");
    let code = post(&telegram, "code", |post| post.text.contains("code")).await;
    beside.call(PairPerson { code: code_in(&code) }).await.expect("typed in the other window");
    telegram.send_text(ADA, "one");
    post(&telegram, "first", |post| post.text == "First answer.").await;
    beside.call(SwitchTelegram { on: Switch::Off }).await.expect("off");
    until(&rig.octo, "off", |state| state.telegram == ChatConnection::Off).await;
    beside.shutdown().await;
    rig.octo.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_use_elsewhere_holds_up_its_own_chat_alone() {
    let script = Script::new().text("First answer.").text("Eve's answer.").text("Second answer.");
    let (rig, telegram) = paired(script, Mode::AskRisky).await;
    telegram.send_text(ADA, "one");
    post(&telegram, "first", |post| post.text == "First answer.").await;
    telegram.send_text(EVE, "me too");
    let code = post(&telegram, "code", |post| post.person == "13").await;
    rig.octo.call(PairPerson { code: code_in(&code) }).await.expect("Eve is let in");
    let session = sessions(&rig).await[0].id;
    // As a headless run does: it owns the session until it ends.
    rig.octo.shutdown().await;
    let (home, server) = (&rig.home, &rig.server);
    let run = Octo::start(octo_core::Config {
        source: Source::Headless,
        open_turns: octo_core::OpenTurnPolicy::WaitForUse,
        ..rig::config(home)
    });
    let run = run.await.expect("a run");
    connect(&run, server).await;
    let _held = run.subscribe(StoredTopic::Session { id: session }).await.expect("it has the session");
    let octo = rig::open(home).await;
    connect(&octo, server).await;
    reconnect(&octo, home, &telegram).await;
    telegram.send_text(ADA, "two");
    post(&telegram, "notice", |post| post.text.contains("in use elsewhere")).await;
    telegram.send_text(EVE, "hello");
    post(&telegram, "Eve's", |post| post.text == "Eve's answer." && post.person == "13").await;
    run.shutdown().await;
    post(&telegram, "second", |post| post.text == "Second answer.").await;
    let notices = telegram.posts().into_iter().filter(|post| post.text.contains("in use elsewhere")).count();
    assert_eq!(notices, 1, "it is said once");
    octo.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_waits_out_an_outage_and_what_is_left_out_is_said() {
    let script = Script::new().text("Read.").text("Seen.");
    let (mut rig, telegram) = paired(script, Mode::AskRisky).await;
    telegram.cut_next_file();
    telegram.send_file(ADA, "plan.txt", b"buy milk", "Read this");
    rig.turn_end().await;
    post(&telegram, "answer", |post| post.text == "Read.").await;
    telegram.push_update(json!({ "message": {
        "message_id": 1, "date": 1, "chat": { "id": ADA, "type": "private" },
        "from": { "id": ADA, "is_bot": false, "first_name": "Ada" },
        "video": { "file_id": "v" }, "caption": "What is said?" } }));
    post(&telegram, "what was left out", |post| post.text.contains("left out")).await;
    post(&telegram, "answer", |post| post.text == "Seen.").await;
    assert_eq!(rig.server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_taken_back_is_said_and_a_switch_stops_it() {
    let (rig, telegram) = paired(Script::new(), Mode::AskRisky).await;
    rig.octo.call(SwitchTelegram { on: Switch::Off }).await.expect("off");
    until(&rig.octo, "off", |state| state.telegram == ChatConnection::Off).await;
    rig.octo.call(SwitchTelegram { on: Switch::On }).await.expect("on");
    until(&rig.octo, "connected", |state| state.telegram == ChatConnection::Connected).await;
    telegram.revoke();
    let state =
        until(&rig.octo, "refused", |state| matches!(state.telegram, ChatConnection::Refused { .. })).await;
    let ChatConnection::Refused { error } = state.telegram else { panic!("refused") };
    assert_eq!(error.key, "chat.token_wrong");
    let draft = ServiceDraft { token: None, ..draft(&rig, &telegram, Mode::Ask) };
    let error = rig.octo.call(TestTelegram { draft: draft.clone() }).await.unwrap_err();
    assert_eq!(error.key, "chat.token_wrong");
    let snapshot = rig.octo.call(RemoveTelegram {}).await.expect("removed");
    assert_eq!(snapshot.settings.chats.telegram, None);
    let error = rig.octo.call(SaveTelegram { draft, bot: None }).await.unwrap_err();
    assert_eq!(error.key, "chat.token_missing");
    let state = until(&rig.octo, "off", |state| state.telegram == ChatConnection::Off).await;
    assert!(state.people.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_in_no_file_no_answer_and_no_export() {
    let (rig, telegram) = paired(Script::new().text("Hello."), Mode::AskRisky).await;
    telegram.send_text(ADA, &format!("my token is {}", telegram.token()));
    post(&telegram, "answer", |post| post.text == "Hello.").await;
    let session = sessions(&rig).await.remove(0).id;
    let export = octo_protocol::PreviewExport { session, form: octo_protocol::ExportForm::Markdown };
    let preview = rig.octo.call(export).await.expect("a preview");
    assert!(preview.secrets > 0, "it is left out of what is carried away");
    let settings = rig.octo.call(GetSettings {}).await.expect("settings");
    let text = serde_json::to_string(&settings).unwrap();
    assert!(text.contains("octo_test_bot") && !text.contains(telegram.token()));
}

/// The next process passes on and reports whatever the last one did not, and repeats nothing.
#[test]
fn after_a_restart_a_chat_keeps_its_session_and_no_message_is_answered_twice() {
    let (telegram, home) = (TelegramServer::start(), TempHome::new());
    let server = ModelServer::start(Script::new().text("First answer.").text("Second answer."));
    let begun = process(async {
        let octo = rig::open(&home).await;
        connect(&octo, &server).await;
        reconnect(&octo, &home, &telegram).await;
        telegram.send_text(ADA, "hello?");
        let code = post(&telegram, "code", |post| post.text.contains("code")).await;
        octo.call(PairPerson { code: code_in(&code) }).await.expect("let in");
        telegram.send_text(ADA, "one");
        post(&telegram, "first", |post| post.text == "First answer.").await;
        let session = octo.call(all()).await.expect("a list").sessions.remove(0).id;
        octo.shutdown().await;
        session
    });
    telegram.send_text(ADA, "two");
    for _ in 0..2 {
        process(async {
            let octo = rig::open(&home).await;
            connect(&octo, &server).await;
            reconnect(&octo, &home, &telegram).await;
            post(&telegram, "second", |post| post.text == "Second answer.").await;
            fetched(&telegram).await;
            let sessions = octo.call(all()).await.expect("a list").sessions;
            assert_eq!(sessions.iter().map(|info| info.id).collect::<Vec<_>>(), [begun]);
            octo.shutdown().await;
        });
    }
    let answers: Vec<String> =
        telegram.posts().into_iter().map(|post| post.text).filter(|text| text.ends_with("answer.")).collect();
    assert_eq!(answers, ["First answer.", "Second answer."]);
    assert_eq!(server.requests().len(), 2);
}

/// Connects the model, or gives it its key again.
async fn connect(octo: &Octo, server: &ModelServer) {
    let known = octo.call(GetSettings {}).await.expect("settings").models.first().map(|model| model.id);
    let draft = ModelDraft {
        id: known,
        protocol: Protocol::Anthropic,
        base_url: server.url(),
        model: "scripted".into(),
        key: Some(Secret::new("sk-test-0123456789")),
        headers: None,
    };
    octo.call(SaveModel { draft }).await.expect("a model");
}

/// The keychain of these tests lasts as long as a process, so each process gets the token again.
async fn reconnect(octo: &Octo, home: &TempHome, telegram: &TelegramServer) {
    let draft = ServiceDraft {
        token: Some(Secret::new(telegram.token())),
        server: Some(telegram.url()),
        folder: home.work().display().to_string(),
        mode: Mode::AskRisky,
    };
    octo.call(SaveTelegram { draft, bot: None }).await.expect("saved");
}

fn all() -> ListSessions {
    ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 50 }
}
