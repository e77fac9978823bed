//! Pictures for the person: no call waits for them, and none delays a call.

use super::{
    Chromium, Site, between::BrowserProxy, between::CommandFate, click, number, open, plan, reason, snapshot,
    step,
};
use crate::agent::rig::Rig;
use octo_protocol::{Answer, AskReason, CallState, Mode, PageRisk, QuestionContent, ToolView, TurnEnd};
use serde_json::json;

const PICTURE: &str = "Page.captureScreenshot";

#[tokio::test]
async fn no_call_waits_for_a_picture_and_pictures_that_do_not_come_do_not_pile_up() {
    let Some(browser) = Chromium::start() else { return };
    let buttons: String =
        (0..8).map(|n| format!("<button onclick=said.textContent++>Add {n}</button>")).collect();
    let page = format!("<!doctype html><title>Counter</title>{buttons}<p id=said>0");
    let site = Site::start(&[("/", &page)]);
    let between =
        BrowserProxy::start(
            &browser,
            |name| if name == PICTURE { CommandFate::Lost } else { CommandFate::On },
        );
    let add =
        |n| step(move |read| json!({ "action": "act", "ref": number(read, &format!("button \"Add {n}\"")) }));
    let steps = std::iter::once(open(site.url("/"))).chain((0..8).map(add));
    let mut rig = Rig::new(plan(steps.collect())).await;
    between.chosen_by(&rig).await;
    let started = std::time::Instant::now();
    let session = rig.start(Mode::Autonomous, "press").await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let took = started.elapsed();
    let calls = rig.snapshot(session).await.page.calls;
    let quickest = calls.iter().filter_map(|call| match call.state {
        CallState::Ended { duration_ms, .. } => Some(duration_ms),
        _ => None,
    });
    // A picture is abandoned after two seconds.
    assert!(quickest.clone().min().expect("calls") < 2_000, "{:?}", quickest.collect::<Vec<_>>());
    let taken = between.times_sent(PICTURE);
    assert!(taken >= 1, "the person is shown something");
    // A picture in progress at the end of a call is replaced by the picture of its end: at most two in the time
    // of one.
    assert!(taken as u64 <= 2 * (1 + took.as_secs() / 2), "one at a time: {taken} in {took:?}");
    assert!(taken < 2 * 9, "not two for each call: {taken}");
    rig.assert_sound();
}

#[tokio::test]
async fn the_browser_stays_behind_octos_window_while_a_question_is_put() {
    let Some(browser) = Chromium::start() else { return };
    let page = "<!doctype html><title>Shop</title><button onclick=\"window.open('/other')\">More</button>\
        <button style='border:0;width:130px;height:45px'>Pay now</button>";
    let site = Site::start(&[("/", page), ("/other", "<!doctype html><title>Other</title><p>before it")]);
    let between = BrowserProxy::start(&browser, |_| CommandFate::On);
    let steps = vec![open(site.url("/")), snapshot(), click("button \"More\""), click("button \"Pay now\"")];
    let mut rig = Rig::new(plan(steps)).await;
    between.chosen_by(&rig).await;
    let session = rig.start(Mode::Autonomous, "pay").await;
    let question = rig.question().await;
    assert!(matches!(reason(&question), AskReason::Page { risk: PageRisk::Pays, .. }), "{question:?}");
    let QuestionContent::Permission { preview: ToolView::Browser(view), .. } = &question.ask else {
        panic!("a view")
    };
    let picture = view.picture.clone().expect("a crop of the button, though another tab is before its own");
    let picture = rig.octo.blob(&picture).await.expect("it is kept").bytes;
    let size =
        |at: usize| picture.get(at..at + 4).map(|four| u32::from_be_bytes(four.try_into().expect("four")));
    assert_eq!((size(16), size(20)), (Some(130), Some(45)));
    // It was brought to the front for the task; for the question only if no picture was possible in the
    // background, as on a busy machine.
    let commands = between.recorded_commands();
    let acted = commands.iter().rposition(|name| name.starts_with("Input.")).expect("an act");
    let first = |expected: &str| commands.iter().skip(acted).position(|name| name == expected);
    let (picture, front) = (first(PICTURE).expect("a picture"), first("Page.bringToFront"));
    assert!(front.is_none_or(|front| picture < front), "not for the question: {commands:?}");
    assert!(
        commands.iter().take(acted).any(|name| name == "Page.bringToFront"),
        "for the task: {commands:?}"
    );
    rig.answer(session, &question, Answer::No { reason: None }).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    rig.assert_sound();
}
