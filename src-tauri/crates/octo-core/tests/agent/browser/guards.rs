//! Without a question nothing is done, and without a grant nothing is read, however a page or a call is built.

use super::{
    Chromium, FORM, PlanStep, Site, click, last, number, open, plan, reason, rig_with, snapshot, step,
};
use crate::agent::rig::{Rig, results};
use octo_protocol::{
    Answer, AskReason, Mode, PageFile, PageRisk, Question, QuestionContent, SessionId, ToolView, TurnEnd,
};
use serde_json::json;

/// Returns the risks in a question, including side effects.
fn risks(question: &Question) -> Vec<PageRisk> {
    match reason(question) {
        AskReason::Page { risk, besides, .. } => {
            std::iter::once(*risk).chain(besides.iter().copied()).collect()
        }
        other => panic!("a risk: {other:?}"),
    }
}

/// Returns the paths requested from the site, except those a browser requests automatically.
fn visited(site: &Site) -> Vec<String> {
    site.asked().into_iter().filter(|path| path != "/favicon.ico" && path != "/tick").collect()
}

async fn on_page(page: &str, then: Vec<PlanStep>) -> Option<(Chromium, Site, Rig, SessionId)> {
    let browser = Chromium::start()?;
    let site = Site::start(&[("/", page), ("/next", "<title>Next</title><p>there")]);
    let mut steps = vec![open(site.url("/"))];
    steps.extend(then);
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::AskRisky, "go").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    Some((browser, site, rig, session))
}

fn press(name: &'static str, key: &'static str) -> PlanStep {
    step(move |read| json!({ "action": "act", "kind": "press", "ref": number(read, name), "key": key }))
}

fn drag(from: &'static str, to: &'static str) -> PlanStep {
    step(
        move |read| json!({ "action": "act", "kind": "drag", "ref": number(read, from), "to_ref": number(read, to) }),
    )
}

const PAY: &str = "<!doctype html><title>Pay</title><form action=/next><label>Card number <input autocomplete=cc-number></label>\
    <button type=submit>Continue</button></form><div onclick=\"fetch('/deleted')\" style='cursor:pointer;width:200px'>Delete account</div>";

#[tokio::test]
async fn a_key_and_a_drag_never_press_what_a_click_would_ask_for() {
    let steps =
        vec![press("Delete account", "ArrowDown"), drag("button \"Continue\"", "button \"Continue\"")];
    let Some((_browser, site, mut rig, session)) = on_page(PAY, steps).await else { return };
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Pays], "a drag on it is asked about as a press");
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results[1].contains("cannot have the focus"), "{}", tool_results[1]);
    assert!(tool_results[2].contains("same control"), "{}", tool_results[2]);
    let requested = site.asked();
    assert!(!requested.iter().any(|path| path.starts_with("/next") || path == "/deleted"), "{requested:?}");
    rig.assert_sound();
}

#[tokio::test]
async fn a_download_and_an_upload_ask_for_the_press_they_are() {
    let get = step(|read| json!({ "action": "download", "ref": number(read, "button \"Continue\"") }));
    let give = step(
        |read| json!({ "action": "act", "kind": "upload", "ref": number(read, "Delete account"), "values": ["a.txt"] }),
    );
    let Some((_browser, site, mut rig, session)) = on_page(PAY, vec![get, give]).await else { return };
    let folder = rig.snapshot(session).await.info.folder;
    std::fs::write(std::path::Path::new(&folder).join("a.txt"), "a").expect("a file");
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Pays, PageRisk::Downloads]);
    rig.answer(session, &question, Answer::No { reason: None }).await;
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Uploads, PageRisk::Deletes]);
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(visited(&site), ["/"]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_file_from_elsewhere_is_asked_about_with_the_site_that_gets_it() {
    let other = tempfile::tempdir().expect("a folder");
    let folder = other.path().canonicalize().expect("its path");
    let [letter, env] = ["letter.pdf", ".env"].map(|name| {
        std::fs::write(folder.join(name), "KEY=1").expect("a file");
        folder.join(name).display().to_string()
    });
    let given = [letter.clone(), env.clone()];
    let give = step(
        move |read| json!({ "action": "act", "kind": "upload", "ref": number(read, "Delete account"), "values": given }),
    );
    let Some((_browser, site, mut rig, session)) = on_page(PAY, vec![give]).await else { return };
    let question = rig.question().await;
    let AskReason::Page { risk: PageRisk::Uploads, besides, site: at, target, files } = reason(&question)
    else {
        panic!("one question about all that is done: {question:?}")
    };
    assert_eq!((besides.as_slice(), at), (&[PageRisk::Deletes][..], &site.origin()));
    assert_eq!(target.as_ref().map(|target| target.name.as_str()), Some("Delete account"));
    let expected = [PageFile::Outside { path: letter.clone() }, PageFile::Secret { path: env.clone() }];
    assert_eq!(files.as_slice(), expected);
    let QuestionContent::Permission { preview: ToolView::Browser(view), rule: None, .. } = &question.ask
    else {
        panic!("a view, and nothing for always: {question:?}")
    };
    assert_eq!(view.text.as_deref(), Some(format!("{letter}\n{env}").as_str()));
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(visited(&site), ["/"]);
    rig.assert_sound();
}

#[tokio::test]
async fn whether_a_file_is_there_is_told_only_once_it_may_be_read() {
    let other = tempfile::tempdir().expect("a folder");
    let missing = other.path().join("none.pdf").display().to_string();
    let give = || {
        let missing = missing.clone();
        step(
            move |read| json!({ "action": "act", "kind": "upload", "ref": number(read, "Delete account"), "values": [missing] }),
        )
    };
    let Some((_browser, site, mut rig, session)) = on_page(PAY, vec![give(), give()]).await else { return };
    let question = rig.question().await;
    rig.answer(session, &question, Answer::No { reason: None }).await;
    let question = rig.question().await;
    assert!(!results(&rig.snapshot(session).await).join("\n").contains("is no file"));
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last_result = last(&rig, session).await;
    assert!(last_result.contains("is no file. Nothing was uploaded."), "{last_result}");
    assert_eq!(visited(&site), ["/"]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_point_is_judged_by_what_a_press_there_goes_on_to() {
    let page = "<!doctype html><title>Points</title><style>body{margin:0}div,pay-now{position:absolute;left:0;width:200px;height:40px}\
        i{position:absolute;inset:0}</style>\
        <div style='top:0' aria-label='Delete all' onclick=\"fetch('/deleted')\"><i></i></div>\
        <pay-now style='top:50px'>Pay now</pay-now>\
        <div style='top:100px' onclick=\"fetch('/mute')\"><i></i></div>\
        <div style='top:150px'><form action=/next><input type=password style='width:20px'><button type=submit style='width:150px;height:30px'><label style='display:block;height:20px'>Go on</label></button></form></div>\
        <div style='top:200px' onclick=\"fetch('/plain')\">Show more</div>\
        <script>customElements.define('pay-now', class extends HTMLElement { constructor() { super();\
        this.attachShadow({ mode: 'open' }).innerHTML = '<button style=\"width:200px;height:40px;padding:0 0 0 120px\"><slot></slot></button>'; } });</script>";
    let at = |y: f64| step(move |_| json!({ "action": "act", "kind": "click_at", "x": 60.0, "y": y }));
    let steps = vec![at(20.0), at(70.0), at(120.0), at(165.0), at(220.0)];
    let Some((_browser, site, mut rig, session)) = on_page(page, steps).await else { return };
    for (risk, name) in [
        (PageRisk::Deletes, "the words of the element around it"),
        (PageRisk::Pays, "the words in a slot of its button"),
        (PageRisk::Sends, "something that says nothing"),
        (PageRisk::Password, "the button that a label is in"),
    ] {
        let question = rig.question().await;
        assert_eq!(risks(&question), [risk], "{name}: {question:?}");
        rig.answer(session, &question, Answer::No { reason: None }).await;
    }
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    site.asked_for("/plain").await;
    assert_eq!(visited(&site), ["/", "/plain"], "what says that it is harmless is pressed unasked");
    rig.assert_sound();
}

#[tokio::test]
async fn the_question_shows_all_that_is_approved() {
    let script = format!("'harmless'; {} fetch('/stolen')", "/* so long */ ".repeat(60));
    let wanted = script.clone();
    let run = step(move |_| json!({ "action": "evaluate", "text": script }));
    let much = step(|_| json!({ "action": "evaluate", "text": "x".repeat(40_000) }));
    let Some((_browser, _site, mut rig, session)) = on_page(FORM, vec![run, much]).await else { return };
    let question = rig.question().await;
    let QuestionContent::Permission { preview: ToolView::Browser(view), .. } = &question.ask else {
        panic!("a view")
    };
    assert_eq!(view.text.as_deref(), Some(wanted.as_str()));
    rig.answer(session, &question, Answer::No { reason: None }).await;
    // Text that is too long to be shown in full is not even asked about.
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last_result = last(&rig, session).await;
    assert!(
        last_result.contains("40000 characters") && last_result.contains("Nothing was done"),
        "{last_result}"
    );
    rig.assert_sound();
}

#[tokio::test]
async fn what_is_granted_every_single_time_is_granted_once() {
    let Some(browser) = Chromium::start_with(&["--host-resolver-rules=MAP vault.bitwarden.com 127.0.0.1"])
    else {
        return;
    };
    let site = Site::start(&[
        ("/", "<title>Shop</title><a href=http://vault.bitwarden.com:PORT/vault>Onward</a>"),
        ("/vault", "<title>Vault</title><p>all the passwords"),
    ]);
    let vault = format!("http://vault.bitwarden.com:{}/vault", site.port);
    let steps = vec![open(vault), open(site.url("/")), click("link \"Onward\"")];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::AskRisky, "look").await;
    for _ in 0..2 {
        let question = rig.question().await;
        assert!(matches!(reason(&question), AskReason::Site { .. }), "{question:?}");
        rig.answer(session, &question, Answer::Once).await;
    }
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    assert!(
        tool_results[0].contains("all the passwords"),
        "what was granted once is read once: {}",
        tool_results[0]
    );
    assert!(
        tool_results[2].contains("has not granted") && !tool_results[2].contains("all the passwords"),
        "{}",
        tool_results[2]
    );
    rig.assert_sound();
}

#[tokio::test]
async fn back_leaves_a_page_that_was_not_granted_without_asking_for_it() {
    let page = "<title>Here</title><p>home again</p><a href=http://localhost:PORT/next>Onward</a>";
    let back = step(|_| json!({ "action": "back" }));
    let too_far = step(|_| json!({ "action": "back" }));
    let steps = vec![click("link \"Onward\""), back, too_far];
    let Some((_browser, _site, mut rig, session)) = on_page(page, steps).await else { return };
    assert_eq!(rig.turn_end().await, TurnEnd::Finished, "nothing is asked");
    let tool_results = results(&rig.snapshot(session).await);
    assert!(tool_results[1].contains("has not granted"), "{}", tool_results[1]);
    assert!(tool_results[2].contains("home again"), "{}", tool_results[2]);
    rig.assert_sound();
}

#[tokio::test]
async fn a_key_goes_to_what_has_the_focus_however_deep_that_is() {
    let page = "<!doctype html><title>Chat</title><div id=host></div><script>\
        const root = host.attachShadow({ mode: 'closed' });\
        root.innerHTML = '<textarea aria-label=Message></textarea>';\
        root.firstChild.onkeydown = (event) => { if (event.key === 'Enter') fetch('/sent'); };</script>";
    let write = step(
        |read| json!({ "action": "act", "kind": "type", "ref": number(read, "textbox \"Message\""), "text": "hello" }),
    );
    let enter = || step(|_| json!({ "action": "act", "kind": "press", "key": "Enter" }));
    let Some((_browser, site, mut rig, session)) = on_page(page, vec![write, enter(), enter()]).await else {
        return;
    };
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Sends]);
    rig.answer(session, &question, Answer::No { reason: None }).await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(visited(&site), ["/", "/sent"], "once, after the yes: {}", last(&rig, session).await);
    rig.assert_sound();
}

#[tokio::test]
async fn the_element_that_was_asked_about_still_says_what_it_said() {
    // It changes its price while the question is open: only the text of the node differs.
    let page = "<!doctype html><title>Price</title><button onclick=\"fetch('/paid')\">Pay 5</button>\
        <script>let n = 5; setInterval(() => { n++; document.querySelector('button').textContent = 'Pay ' + n; fetch('/tick'); }, 50)</script>";
    let pay = step(|read| json!({ "action": "act", "ref": number(read, "button \"Pay") }));
    let Some((_browser, site, mut rig, session)) = on_page(page, vec![pay]).await else { return };
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Pays]);
    let AskReason::Page { target: Some(shown), .. } = reason(&question) else { panic!("a target") };
    assert!(shown.name.starts_with("Pay "));
    let ticks = || site.asked().iter().filter(|path| *path == "/tick").count();
    let before = ticks();
    while ticks() < before + 2 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let last_result = last(&rig, session).await;
    assert!(last_result.contains("the page changed since this call was allowed"), "{last_result}");
    assert_eq!(visited(&site), ["/"]);
    rig.assert_sound();
}

#[tokio::test]
async fn card_fields_of_another_site_count_for_the_buttons_beside_them() {
    let browser = Chromium::start();
    let Some(browser) = browser else { return };
    let site = Site::start(&[
        (
            "/",
            "<!doctype html><title>Checkout</title><iframe src=http://localhost:PORT/card width=300 height=80></iframe>\
             <button type=button onclick=\"fetch('/continued')\">Continue</button>",
        ),
        ("/card", "<!doctype html><label>Card number <input autocomplete=cc-number></label>"),
    ]);
    let steps = vec![open(site.url("/")), snapshot(), click("button \"Continue\"")];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "buy").await;
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Pays]);
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert!(!site.asked().contains(&"/continued".to_owned()));
    rig.assert_sound();
}

#[tokio::test]
async fn a_button_in_a_frame_of_another_site_is_shown_where_it_is_asked_about() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[
        (
            "/",
            "<!doctype html><title>Checkout</title><div style='height:900px'>Basket</div>\
             <iframe src=http://localhost:PORT/card width=300 height=200></iframe>",
        ),
        (
            "/card",
            "<!doctype html><style>body{margin:0}</style><div style='height:60px'></div>\
             <button style='border:0;width:130px;height:45px'>Pay now</button>",
        ),
    ]);
    let steps = vec![open(site.url("/")), snapshot(), click("button \"Pay now\"")];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "buy").await;
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Pays]);
    let QuestionContent::Permission { preview: ToolView::Browser(view), .. } = &question.ask else {
        panic!("a view")
    };
    let picture = view.picture.clone().expect("a crop of the button");
    let picture = rig.octo.blob(&picture).await.expect("it is kept").bytes;
    // The size of a PNG follows its first words.
    let size =
        |at: usize| picture.get(at..at + 4).map(|four| u32::from_be_bytes(four.try_into().expect("four")));
    assert_eq!((size(16), size(20)), (Some(130), Some(45)));
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}

#[tokio::test]
async fn of_an_element_that_is_gone_the_page_as_it_is_now_is_told() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[(
        "/",
        "<!doctype html><title>List</title><h1>Fruit</h1><div id=list><button>Pear</button></div>\
         <button onclick=\"setTimeout(() => { list.innerHTML = '<button>Pear</button><button>Pear</button><p>two of them now'; fetch('/changed'); }, 600)\">Twice</button>",
    )]);
    let changed = site.wait_for("/changed");
    let gone = step(move |read| {
        changed();
        json!({ "action": "act", "ref": number(read, "button \"Pear\"") })
    });
    // With the reported information the next call is right.
    let again = step(|read| json!({ "action": "act", "ref": number(read, "+ button \"Pear\"") }));
    let steps = vec![open(site.url("/")), click("button \"Twice\""), gone, again];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Autonomous, "press").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    assert!(
        tool_results[2].contains("is gone") && tool_results[2].contains("What changed"),
        "{}",
        tool_results[2]
    );
    let (before, block) = tool_results[2].split_once("<browser_page ").expect("a block");
    assert!(block.contains("two of them now") && !before.contains("two of them now"), "{}", tool_results[2]);
    assert!(block.contains(&site.origin()) && block.contains("</browser_page>"), "{}", tool_results[2]);
    assert!(tool_results[3].starts_with("Done."), "{}", tool_results[3]);
    rig.assert_sound();
}

#[tokio::test]
async fn in_the_asking_mode_every_change_in_a_page_asks() {
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[(
        "/",
        "<!doctype html><title>Plain</title><button onclick=\"fetch('/more')\">Show more</button>",
    )]);
    let scroll = step(|_| json!({ "action": "act", "kind": "scroll" }));
    let steps = vec![open(site.url("/")), scroll, click("button \"Show more\"")];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::Ask, "look").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    let question = rig.question().await;
    assert_eq!(reason(&question), &AskReason::Mode, "looking and scrolling are no changes, a click is one");
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    site.asked_for("/more").await;
    assert_eq!(visited(&site), ["/", "/more"]);
    rig.assert_sound();
}

#[tokio::test]
async fn nothing_of_a_page_is_looked_at_before_its_site_is_granted() {
    // The question about the button follows the question about the site, which does not mention it.
    let Some(browser) = Chromium::start() else { return };
    let site = Site::start(&[(
        "/",
        "<!doctype html><title>Pay</title><button onclick=\"fetch('/paid')\">Pay now</button>",
    )]);
    let url = site.url("/");
    let script = octo_testkit::Script::from_fn(move |request| match request.answers() {
        0 => octo_testkit::Reply::call("browser", json!({ "action": "open", "url": url })),
        1 => octo_testkit::Reply::text("seen"),
        2 | 3 => {
            let read: String = request.all_results().iter().map(|result| result.text.clone()).collect();
            octo_testkit::Reply::call(
                "browser",
                json!({ "action": "act", "ref": number(&read, "button \"Pay now\"") }),
            )
        }
        _ => octo_testkit::Reply::text("done"),
    });
    let mut rig = rig_with(&browser, script).await;
    let session = rig.start(Mode::AskRisky, "look").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.send(session, "and now pay").await;
    let question = rig.question().await;
    assert_eq!(reason(&question), &AskReason::Site { site: site.origin() });
    let QuestionContent::Permission { preview: ToolView::Browser(view), .. } = &question.ask else {
        panic!("a view")
    };
    assert_eq!((&view.target, &view.picture), (&None, &None));
    rig.answer(session, &question, Answer::Once).await;
    let question = rig.question().await;
    assert_eq!(risks(&question), [PageRisk::Pays], "the same call again is asked about as what it is");
    assert!(last(&rig, session).await.contains("Make the same call again"));
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    assert_eq!(visited(&site), ["/"]);
    rig.assert_sound();
}
