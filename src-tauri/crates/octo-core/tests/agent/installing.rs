//! Skills the agent installs: the installed instructions are exactly those the person saw.

use super::rig::{Rig, results};
use octo_protocol::{Answer, AskReason, LibraryChange, Mode, QuestionContent, ToolView, TurnEnd};
use octo_testkit::Script;
use serde_json::json;
use std::fs;

fn skill(body: &str) -> String {
    format!("---\nname: notes\ndescription: Writes notes.\n---\n\n{body}\n")
}

/// Returns a session whose agent asks to install a skill of its folder, in the mode that asks least.
async fn asked() -> (Rig, octo_protocol::SessionId, octo_protocol::Question) {
    let script =
        Script::new().call("terminal", json!({ "command": "octo skill install draft" })).text("so it is");
    let mut rig = Rig::new(script).await;
    fs::create_dir_all(rig.home.work().join("draft")).unwrap();
    fs::write(rig.home.work().join("draft/SKILL.md"), skill("Write kindly.")).unwrap();
    let session = rig.start(Mode::Autonomous, "install it").await;
    let question = rig.question().await;
    (rig, session, question)
}

#[tokio::test]
async fn what_the_person_saw_is_installed() {
    let (mut rig, session, question) = asked().await;
    let QuestionContent::Permission { preview: ToolView::LibraryOffer(offer), reason, rule } = &question.ask
    else {
        panic!("{question:?}")
    };
    assert_eq!(*reason, AskReason::Library { change: LibraryChange::InstallSkills });
    assert_eq!((offer.skills.len(), offer.skills[0].name.as_str(), rule), (1, "notes", &None));
    let path = rig.home.octo().join("skills/notes/SKILL.md");
    assert!(!path.exists(), "nothing before the answer");
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(
        fs::read_to_string(path).unwrap().contains("Write kindly."),
        "{:?}",
        results(&rig.snapshot(session).await)
    );
}

#[tokio::test]
async fn what_took_its_place_meanwhile_is_not() {
    let (mut rig, session, question) = asked().await;
    // The same length as the text shown, so that nothing visible on the card differs.
    fs::write(rig.home.work().join("draft/SKILL.md"), skill("Write rudely.")).unwrap();
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!rig.home.octo().join("skills/notes").exists(), "{:?}", results(&rig.snapshot(session).await));
}
