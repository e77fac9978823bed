//! A secret is typed by its name, at its own site and into a field for it, and is not readable anywhere.

use super::{Chromium, Site, click, fill, last, open, plan, reason, rig_with, says, snapshot, step};
use crate::agent::rig::results;
use octo_protocol::{
    Answer, AskReason, ForgetSiteSecret, ListSiteSecrets, Mode, PageRisk, SaveSiteSecret, Secret, TurnEnd,
};
use serde_json::json;

const VALUE: &str = "s3cret-Horse 9%";

/// A page that repeats the typed text wherever it can.
const LOGIN: &str = "<!doctype html><title>Log in</title><form action=/in>\
    <label>Name <input name=user></label><label>Password <input type=password name=pw></label>\
    <button>Log in</button></form><p id=echo>nothing yet</p><script>\
    document.querySelector('[name=pw]').addEventListener('input', (event) => { const it = event.target.value; \
    document.title = 'Typed ' + it; document.querySelector('#echo').textContent = it.split('').join(' '); \
    document.querySelector('[name=user]').setAttribute('aria-label', 'Name ' + it); });</script>";

fn kept(name: &str, site: &str) -> SaveSiteSecret {
    SaveSiteSecret { name: name.to_owned(), site: site.to_owned(), value: Secret::new(VALUE) }
}

#[tokio::test]
async fn a_picture_for_the_model_covers_the_field_and_numbers_the_rest() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[("/", LOGIN)]);
    let steps = vec![
        open(site.url("/")),
        step(|_| json!({ "action": "screenshot" })),
        step(|_| json!({ "action": "screenshot_refs" })),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "look").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    assert!(
        tool_results[1].contains("Grey boxes cover") && !tool_results[1].contains("have their number"),
        "{}",
        tool_results[1]
    );
    assert!(
        tool_results[2].contains("Grey boxes cover") && tool_results[2].contains("have their number"),
        "{}",
        tool_results[2]
    );
    rig.assert_sound();
}

#[tokio::test]
async fn a_secret_is_typed_by_name_and_read_nowhere() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[("/", LOGIN), ("/in", "<title>In</title><p>welcome")]);
    let steps = vec![
        open(site.url("/")),
        fill("textbox \"Name\"", "{{secret:shop}}"),
        fill("Password", "{{secret:other}}"),
        fill("Password", "{{secret:none}}"),
        fill("Password", "{{secret:shop}}"),
        snapshot(),
        step(|_| json!({ "action": "tabs" })),
        click("button \"Log in\""),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let shop = rig.octo.call(kept("shop", &site.url("/some/page"))).await.expect("it is kept");
    assert_eq!(shop.site, site.origin());
    rig.octo.call(kept("other", &site.elsewhere())).await.expect("it is kept");
    let secrets = rig.octo.call(ListSiteSecrets {}).await.expect("a list");
    assert_eq!(secrets.secrets.len(), 2);
    assert!(!format!("{secrets:?}").contains(VALUE));

    let session = rig.start(Mode::Autonomous, "log me in").await;
    let question = rig.question().await;
    assert!(
        matches!(reason(&question), AskReason::Page { risk: PageRisk::Password, .. }),
        "asked about in every mode: {question:?}"
    );
    assert!(!format!("{question:?}").contains(VALUE));
    rig.answer(session, &question, Answer::Once).await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);

    let snapshot = rig.snapshot(session).await;
    let tool_results = results(&snapshot);
    assert!(
        tool_results[0].contains("{{secret:shop}}") && !tool_results[0].contains("{{secret:other}}"),
        "{}",
        tool_results[0]
    );
    assert!(tool_results[1].contains("not one for a password"), "{}", tool_results[1]);
    assert!(tool_results[2].contains("belongs to another site"), "{}", tool_results[2]);
    assert!(tool_results[3].contains("no secret is called none"), "{}", tool_results[3]);
    assert!(
        tool_results[5].contains("{{secret:shop}}"),
        "what the page repeats has the name: {}",
        tool_results[5]
    );
    assert!(last(&rig, session).await.contains("welcome"));
    let sent = site.asked().into_iter().find(|path| path.starts_with("/in")).expect("the form was sent");
    assert!(sent.ends_with("pw=s3cret-Horse+9%25"), "the page got the value: {sent}");

    let everything = serde_json::to_string(&snapshot).expect("JSON");
    for written in [VALUE, "s3cret-Horse", "s 3 c r e t"] {
        assert!(!everything.contains(written), "{written} is in {everything}");
    }
    let requests = rig.server.requests();
    for request in &requests {
        assert!(!request.body.to_string().contains("s3cret"), "the model was sent it");
    }
    rig.octo.call(ForgetSiteSecret { name: "shop".to_owned() }).await.expect("it is forgotten");
    let secrets = rig.octo.call(ListSiteSecrets {}).await.expect("a list");
    assert_eq!(secrets.secrets.iter().map(|secret| secret.name.as_str()).collect::<Vec<_>>(), ["other"]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_value_that_was_typed_before_a_restart_is_read_nowhere_after_it() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[
        ("/", LOGIN),
        ("/elsewhere", "<title>Elsewhere</title><p>You came with s3cret-Horse 9% from there."),
    ]);
    let steps = vec![
        open(site.url("/")),
        fill("Password", "{{secret:shop}}"),
        says("typed"),
        open(format!("{}/elsewhere", site.elsewhere())),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    rig.octo.call(kept("shop", &site.url("/"))).await.expect("it is kept");
    let session = rig.start(Mode::Autonomous, "log me in").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.restart().await;
    // Test secrets are kept for one run, as in a keychain.
    rig.octo.call(kept("shop", &site.url("/"))).await.expect("it is kept");
    rig.send(session, "and now look").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last_result = last(&rig, session).await;
    assert!(last_result.contains("You came with {{secret:shop}} from there."), "{last_result}");
    rig.assert_sound();
}

#[tokio::test]
async fn a_value_that_its_own_site_shows_is_read_by_its_name_also_where_it_was_never_typed() {
    let Some(browser) = Chromium::start() else { return };
    let page = "<title>Keys</title><button onclick=\"confirm('Copy s3cret-Horse 9%?')\">Copy</button><p>Yours is s3cret-Horse 9%.";
    let site = Site::start(&[("/", page)]);
    let steps = vec![open(site.url("/")), click("button \"Copy\"")];
    let mut rig = rig_with(&browser, plan(steps)).await;
    rig.octo.call(kept("shop", &site.url("/"))).await.expect("it is kept");
    let session = rig.start(Mode::Autonomous, "look").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results[0].contains("Yours is {{secret:shop}}."), "{}", tool_results[0]);
    assert!(tool_results[1].contains("Copy {{secret:shop}}?"), "{}", tool_results[1]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_question_about_a_dialog_or_a_focused_element_that_repeats_a_secret_has_its_name() {
    // The value follows so much other text that a line is cut within it.
    let page = "<!doctype html><title>Log in</title><form action=/in><label>Password <input type=password name=pw></label></form>\
        <button onclick=\"confirm('Delete all of ' + document.querySelector('input').value + '?')\">Ask</button>\
        <script>document.querySelector('input').addEventListener('input', (event) => { const one = document.createElement('button');\
        one.textContent = 'Delete ' + 'all '.repeat(44) + event.target.value; one.id = 'last'; document.body.append(one);\
        setTimeout(() => one.focus(), 0); });</script>";
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[("/", page)]);
    let steps = vec![
        open(site.url("/")),
        fill("Password", "{{secret:shop}}"),
        step(|_| json!({ "action": "act", "kind": "press", "key": "Enter" })),
        click("button \"Ask\""),
        step(|_| json!({ "action": "dialog", "accept": true })),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    rig.octo.call(kept("shop", &site.url("/"))).await.expect("it is kept");
    let session = rig.start(Mode::Autonomous, "log me in").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    for what in ["the focus", "the dialog"] {
        let question = rig.question().await;
        let AskReason::Page { target: Some(target), .. } = reason(&question) else {
            panic!("{what}: {question:?}")
        };
        assert!(target.name.contains("{{secret:shop}}") || what == "the focus", "{what}: {}", target.name);
        assert!(!target.name.contains("s3cret"), "{what}: {}", target.name);
        rig.answer(session, &question, Answer::No { reason: None }).await;
    }
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let everything = serde_json::to_string(&rig.snapshot(session).await).expect("JSON");
    assert!(!everything.contains("s3cret"), "{everything}");
    rig.assert_sound();
}

#[tokio::test]
async fn what_cannot_be_kept_safe_is_not_kept() {
    let rig = crate::agent::rig::Rig::new(octo_testkit::Script::new().text("hello")).await;
    for (name, site, value, key) in [
        ("two words", "https://shop.example", "long enough", "browser.secret_name"),
        ("shop", "shop.example", "long enough", "browser.secret_site"),
        ("shop", "http://shop.example", "long enough", "browser.secret_open_site"),
        ("shop", "https://shop.example", "abc", "browser.secret_value"),
    ] {
        let call = SaveSiteSecret { name: name.to_owned(), site: site.to_owned(), value: Secret::new(value) };
        let error = rig.octo.call(call).await.expect_err("it is refused");
        assert_eq!(error.key, key);
        assert!(!format!("{error:?}").contains("long enough"));
    }
    assert!(rig.octo.call(ListSiteSecrets {}).await.expect("a list").secrets.is_empty());
}
