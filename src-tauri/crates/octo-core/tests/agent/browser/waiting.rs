//! A browser that asks the person, who does not answer.

use super::*;
use octo_protocol::{AttachBrowser, BrowserCheck, BrowserCheckKind, BrowserRepair, ExamineBrowser};

/// Starts a server that behaves like such a browser: it reports no version, and holds a connection until an
/// answer is given.
fn asks_for_ever(profile: &std::path::Path) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    std::fs::write(profile.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/a"))
        .expect("written");
    thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            let _head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            if first.contains("/json/version") {
                let _gone = (&stream).write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
            } else {
                held.push(stream);
            }
        }
    });
}

fn tabs() -> PlanStep {
    step(|_| json!({ "action": "tabs" }))
}

#[tokio::test]
async fn while_it_asks_the_check_up_says_so_and_who_gives_up_is_told_of_its_question() {
    let profile = tempfile::tempdir().expect("a folder");
    asks_for_ever(profile.path());
    let mut rig = Rig::new(plan(vec![tabs(), tabs()])).await;
    let choice = BrowserChoice::Folder { path: profile.path().display().to_string() };
    rig.octo.call(ChooseBrowser { choice }).await.unwrap();
    let mut watch = rig.octo.subscribe(LiveTopic::Browser).await.unwrap();
    let session = rig.start(Mode::Autonomous, "look").await;
    next(&mut watch, |update| match update {
        Update::Browser { state: BrowserState::WaitingForAllow { .. } } => Some(()),
        _ => None,
    })
    .await;
    let line = async |about| -> BrowserCheck {
        let checks = rig.octo.call(ExamineBrowser {}).await.unwrap().checks;
        checks.into_iter().find(|check| check.about == about).expect("a line for it")
    };
    let attachments = line(BrowserCheckKind::Attached).await;
    assert_eq!(
        (attachments.note.key.as_str(), attachments.repair),
        ("browser.check.waiting", Some(BrowserRepair::StopWaiting))
    );
    assert_eq!(line(BrowserCheckKind::Works).await.note.key, "browser.check.once_allowed");

    rig.octo.call(DetachBrowser {}).await.unwrap();
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last_result = last(&rig, session).await;
    assert!(last_result.contains("gave up waiting") && !last_result.contains("let go of"), "{last_result}");
    let error = next(&mut watch, |update| match update {
        Update::Browser { state: BrowserState::Lost { error } } => Some(error),
        _ => None,
    })
    .await;
    assert_eq!(error.key, "browser.given_up");

    // The second call asked no one and got the same error at once; a new message of the person allows another
    // question.
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results.len() == 2 && tool_results[0] == tool_results[1], "{tool_results:?}");
    let mut wait = async |rig: &Rig| {
        next(&mut watch, |update| match update {
            Update::Browser { state: BrowserState::WaitingForAllow { .. } } => Some(()),
            _ => None,
        })
        .await;
        rig.octo.call(DetachBrowser {}).await.unwrap();
    };
    rig.octo.call(AttachBrowser {}).await.unwrap();
    wait(&rig).await;
    rig.start(Mode::Autonomous, "look again").await;
    wait(&rig).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

/// The person's answer, or the browser's end.
#[derive(Clone, Copy)]
enum PromptEnd {
    /// They press Cancel.
    Declined,
    /// They press Allow, and the browser disappears before it replies.
    Silent,
}

/// A browser that asks the person, who answers when the test says so. Its questions are counted.
struct PromptingBrowser {
    _profile: tempfile::TempDir,
    choice: BrowserChoice,
    answer: std::sync::mpsc::Sender<PromptEnd>,
    questions: Arc<Mutex<usize>>,
}

impl PromptingBrowser {
    fn start() -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        std::fs::write(profile.path().join("DevToolsActivePort"), format!("{port}\n/devtools/browser/a"))
            .expect("written");
        let (answer, answers) = std::sync::mpsc::channel();
        let questions: Arc<Mutex<usize>> = Arc::default();
        let count = Arc::clone(&questions);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut first = [0; 17];
                while stream.peek(&mut first).is_ok_and(|read| read < first.len()) {}
                if first == *b"GET /json/version" {
                    let _head: Vec<String> = head(&stream);
                    let _gone = (&stream).write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
                    continue;
                }
                *count.lock().expect("the count") += 1;
                match answers.recv() {
                    Ok(PromptEnd::Declined) => {
                        let _head: Vec<String> = head(&stream);
                        let _gone =
                            (&stream).write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
                    }
                    Ok(PromptEnd::Silent) => drop(async_tungstenite::tungstenite::accept(stream)),
                    Err(_) => return,
                }
            }
        });
        let choice = BrowserChoice::Folder { path: profile.path().display().to_string() };
        Self { _profile: profile, choice, answer, questions }
    }
}

fn head(stream: &TcpStream) -> Vec<String> {
    BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect()
}

/// The model asks for the browser twice; the person sends a message while the first question is open, which
/// then ends this way.
async fn asked_twice(ends: PromptEnd) -> (Vec<String>, usize) {
    let asking = PromptingBrowser::start();
    let mut rig = Rig::new(plan(vec![tabs(), tabs()])).await;
    rig.octo.call(ChooseBrowser { choice: asking.choice.clone() }).await.unwrap();
    let mut watch = rig.octo.subscribe(LiveTopic::Browser).await.unwrap();
    let session = rig.start(Mode::Autonomous, "look").await;
    next(&mut watch, |update| match update {
        Update::Browser { state: BrowserState::WaitingForAllow { .. } } => Some(()),
        _ => None,
    })
    .await;
    rig.send(session, "and be quick").await;
    asking.answer.send(ends).expect("it asks");
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
    let tool_results = results(&rig.snapshot(session).await);
    let questions = *asking.questions.lock().expect("the count");
    (tool_results, questions)
}

#[tokio::test]
async fn a_decline_in_the_browser_holds_whatever_the_person_said_meanwhile() {
    let (tool_results, questions) = asked_twice(PromptEnd::Declined).await;
    assert!(
        tool_results.len() == 2
            && tool_results.iter().all(|tool_results| tool_results.contains("declined in the browser")),
        "{tool_results:?}"
    );
    assert_eq!(questions, 1, "they are not asked again");
}

#[tokio::test]
async fn a_browser_that_fell_silent_after_its_question_is_not_made_to_ask_another() {
    let (tool_results, questions) = asked_twice(PromptEnd::Silent).await;
    assert!(
        tool_results.len() == 2
            && tool_results.iter().all(|tool_results| tool_results.contains("could not be reached")),
        "{tool_results:?}"
    );
    assert_eq!(questions, 1);
}
