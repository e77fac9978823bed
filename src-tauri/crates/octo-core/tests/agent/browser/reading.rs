//! Reading a long page.

use super::*;

#[tokio::test]
async fn a_long_page_is_an_overview_with_its_whole_in_parts_in_a_file_and_by_what_of_it_is_wanted() {
    let Some(browser) = Chromium::start() else { return };
    let mut page = "<!doctype html><title>Long</title><h1>Long</h1><button>First of all</button>".to_owned();
    for at in 0..900 {
        page.push_str(&format!("<p>Line {at} of many that say {} and more.</p>", at * 7919 % 1009));
    }
    page.push_str("<h2>The end</h2><button>Last of all</button>");
    let site = Site::start(&[("/", &page)]);
    let ask = |arguments: Value| step(move |_| arguments.clone());
    let steps = vec![
        open(site.url("/")),
        snapshot(),
        ask(json!({ "action": "snapshot", "page": 2 })),
        ask(json!({ "action": "snapshot", "text": "targets" })),
        ask(json!({ "action": "snapshot", "text": "screen" })),
        ask(json!({ "action": "find", "text": "Line 899 of" })),
        ask(json!({ "action": "read" })),
        ask(json!({ "action": "snapshot", "text": "prices" })),
    ];
    let mut rig = rig_with(&browser, plan(steps)).await;
    let session = rig.start(Mode::AskRisky, "read it").await;
    let question = rig.question().await;
    rig.answer(session, &question, Answer::Once).await;
    assert_eq!(rig.turn_end().await, TurnEnd::Finished);
    let tool_results = results(&rig.snapshot(session).await);
    let [_, overview, second, targets, screen, found, read, wrong] = tool_results.as_slice() else {
        panic!("{tool_results:?}")
    };
    let all = [overview, second, targets, screen, found, read];
    for (name, text) in ["overview", "second", "targets", "screen", "found", "read"].iter().zip(all) {
        let tokens = octo_browser::snapshot::estimate_tokens(text);
        assert!(tokens < 4_500, "{name}: {tokens}");
    }
    assert!(overview.contains("(Part 1 of ") && overview.contains("Line 0 of"), "{overview}");
    assert!(!overview.contains("Line 600 of"), "{overview}");
    assert!(second.contains("(Part 2 of ") && second.contains("Line 100 of"), "{second}");
    let file = overview.split("The whole snapshot is in ").nth(1).and_then(|tail| tail.split(';').next());
    let whole = std::fs::read_to_string(file.expect("a file")).expect("it is there");
    assert!(["Line 0 of", "Line 600 of", "Last of all"].iter().all(|line| whole.contains(line)));
    assert!(
        whole.lines().all(|line| line.starts_with("[page of http")),
        "read by lines it says whose they are"
    );
    let (first, last) = ("button \"First of all\" [", "button \"Last of all\" [");
    assert!(targets.contains(first) && targets.contains(last) && !targets.contains("Line 0 of"), "{targets}");
    assert!(screen.contains(first) && screen.contains("Line 0 of") && !screen.contains(last), "{screen}");
    assert!(found.contains("Line 899 of") && !found.contains("Line 898 of"), "{found}");
    assert!(read.contains("# Long") && read.contains("(There is more: page 2.)"), "{read}");
    assert!(wrong.contains("use action find"), "{wrong}");
    rig.assert_sound();
}
