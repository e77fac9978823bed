//! Commands under a network allow list: what a running command wants to reach is asked about, and never reached
//! without a yes.

use super::rig::{Rig, config, results};
use octo_core::Octo;
use octo_keeper::{Keeper, KeeperProgram};
use octo_protocol::{
    Answer, AskReason, ChangeSettings, CommandNetwork, GetSettings, Mode, NetworkScope, QuestionContent,
    Rule, SettingsPatch, TurnEnd,
};
use octo_testkit::{Script, TempHome};
use serde_json::json;
use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Runs before the test harness: it has threads, and the keeper must have one.
#[used]
#[expect(unsafe_code, reason = "nothing else runs before the test harness")]
// SAFETY: the section holds pointers to functions of this type.
#[unsafe(link_section = ".init_array")]
static KEEP: extern "C" fn() = {
    extern "C" fn keep() {
        if octo_keeper::run_as_keeper(std::env::args_os()).is_some() {
            std::process::exit(0);
        }
    }
    keep
};

/// A server of this machine that counts its requests.
struct CountingServer {
    port: u16,
    requests: Arc<AtomicUsize>,
}

impl CountingServer {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                if lines.take_while(|line| !line.is_empty()).count() > 0 {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nserved\n");
            }
        });
        Self { port, requests }
    }

    fn count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns a call that fetches from it through the command's proxy.
    fn fetch(&self) -> (&'static str, serde_json::Value) {
        let line = format!("curl -sS --max-time 50 --noproxy '' http://{}/", self.host());
        ("terminal", json!({ "command": line }))
    }
}

/// Returns an application whose commands are limited, or `None` where the system forbids it, which it must say.
async fn limited(script: Script) -> Option<Rig> {
    let home = TempHome::new();
    let program = KeeperProgram { program: "/proc/self/exe".into(), arguments: vec!["keep".into()] };
    let supervision = octo_core::Supervision::Keeper(Keeper::new(program));
    let octo = Octo::start(octo_core::Config { supervision, ..config(&home) }).await.unwrap();
    let rig = Rig::with_application(home, script, octo).await;
    let patch =
        SettingsPatch { command_network: Some(CommandNetwork::AllowList), ..SettingsPatch::default() };
    match rig.octo.call(ChangeSettings { patch }).await {
        Ok(_) => Some(rig),
        Err(error) => {
            assert_eq!(error.key, "settings.no_command_network");
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_asked_about_once_and_then_listed_for_the_folder() {
    let service = CountingServer::start();
    let script = Script::new()
        .calls([service.fetch()])
        .calls([service.fetch()])
        .text("first")
        .calls([service.fetch()])
        .text("second");
    let Some(mut rig) = limited(script).await else { return };
    let session = rig.start(Mode::Autonomous, "fetch twice").await;
    let question = rig.question().await;
    assert_eq!(service.count(), 0, "nothing is reached before the answer");
    let QuestionContent::Permission { reason, rule, .. } = &question.ask else { panic!("{question:?}") };
    let (host, scope) = (service.host(), NetworkScope::Private);
    assert_eq!(*reason, AskReason::Network { host: host.clone(), scope });
    assert_eq!(*rule, Some(Rule::Network { host, scope }));
    rig.answer(session, &question, Answer::Always).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(results(&rig.snapshot(session).await).iter().all(|text| text.contains("served")));
    let other = rig.start(Mode::Autonomous, "fetch again").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(results(&rig.snapshot(other).await).iter().all(|text| text.contains("served")));
    assert_eq!(service.count(), 3);
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_is_no_also_when_the_command_tries_again() {
    let service = CountingServer::start();
    let (tool, mut call) = service.fetch();
    let line = call["command"].as_str().unwrap().to_owned();
    call["command"] = json!(format!("{line}; {line}"));
    let Some(mut rig) = limited(Script::new().calls([(tool, call)]).text("done")).await else { return };
    let session = rig.start(Mode::Autonomous, "fetch").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let texts = results(&rig.snapshot(session).await);
    assert_eq!(texts[0].matches("is not on this folder's network allow list").count(), 2, "{texts:?}");
    assert_eq!(service.count(), 0);
    rig.assert_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_withdraws_the_question_and_nothing_is_reached() {
    let service = CountingServer::start();
    let Some(mut rig) = limited(Script::new().calls([service.fetch()])).await else { return };
    let session = rig.start(Mode::Autonomous, "fetch").await;
    let question = rig.question().await;
    rig.stop(session).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Stopped);
    let answer = octo_protocol::AnswerQuestion { session, question: question.id, answer: Answer::Once };
    assert_eq!(rig.octo.call(answer).await.unwrap_err().key, "question.gone");
    assert_eq!(service.count(), 0);
    rig.assert_sound();
}

#[tokio::test]
async fn a_system_that_cannot_limit_commands_says_so_and_changes_nothing() {
    // Without a keeper nothing makes a namespace.
    let rig = Rig::new(Script::new()).await;
    let patch =
        SettingsPatch { command_network: Some(CommandNetwork::AllowList), ..SettingsPatch::default() };
    let error = rig.octo.call(ChangeSettings { patch }).await.unwrap_err();
    assert_eq!(error.key, "settings.no_command_network");
    let settings = rig.octo.call(GetSettings {}).await.unwrap().settings;
    assert_eq!(settings.command_network, CommandNetwork::Open);
}
