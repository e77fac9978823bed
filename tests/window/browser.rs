//! The agent in a real Chromium that the person sees: a form of three pages, stopped half-way and resumed, a
//! site without a grant, and a button that pays.

use crate::{
    chromium::{AccessMethod, Chromium},
    first_task::connect,
};
use anyhow::{Context as _, Result};
use octo_testkit::{Gate, ModelServer, Reply, Script, ServerOptions};
use octo_tests::{Application, Desktop, Theme};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

pub(crate) const KEY: &str = "sk-test-5f2c7d81e9a04b36";

/// Number of the request during which the person stops the work.
const HALF_WAY: usize = 4;
/// Number of the request during which they take over the page.
const TAKEN: usize = 6;

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_form_is_filled_in_the_persons_browser_in_light() -> Result<()> {
    filled(Theme::Light, "light").await
}

#[tokio::test]
#[ignore = "needs a private desktop: cargo xtask test runs it"]
async fn a_form_is_filled_in_the_persons_browser_in_dark() -> Result<()> {
    filled(Theme::Dark, "dark").await
}

/// Returns three pages of a form, and a page that takes money. To a browser `127.0.0.1` and `localhost` are two
/// sites.
fn page(path: &str) -> Option<String> {
    let head = |title: &str| {
        format!(
            "<!doctype html><meta charset=utf-8><title>{title}</title><style>body{{font:18px sans-serif;margin:40px}}\
             label{{display:block;margin:20px 0}}input,select,button{{font:inherit;padding:6px}}</style><h1>{title}</h1>"
        )
    };
    Some(match path {
        "/" => {
            head("Registration, 1 of 3")
                + "<form action=/two><label>Name <input name=name></label><button>Next</button></form>"
        }
        "/two" => {
            head("Registration, 2 of 3")
                + "<form action=/three><label>City <input name=city></label><label>Meal <select name=meal>\
                   <option>Fish<option>Lentils</select></label><button>Next</button></form>"
        }
        "/three" => {
            head("Registration, 3 of 3")
                + "<form action=/done><label>Remarks <input name=remarks></label><button>Finish</button></form>"
        }
        "/done" => head("You are registered") + "<p>See you there.</p>",
        "/fee" => head("The fee") + "<button onclick=\"fetch('/paid')\">Pay 40 euros now</button>",
        _ => return None,
    })
}

/// Serves the pages, and records the requests.
pub(crate) fn serve() -> Result<(u16, Arc<Mutex<Vec<String>>>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let list = Arc::clone(&requests);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let list = Arc::clone(&list);
            thread::spawn(move || respond(&stream, &list));
        }
    });
    Ok((port, requests))
}

fn respond(mut stream: &TcpStream, requests: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let Some(path) = lines.next().and_then(|line| line.split(' ').nth(1).map(str::to_owned)) else { return };
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let body = page(path.split('?').next().unwrap_or_default()).unwrap_or_default();
    requests.lock().expect("the list").push(path);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length:";
    // A client that disconnected needs no answer.
    let _gone = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
}

/// Returns the number after a name, where the model last read it.
fn number(read: &str, name: &str) -> u64 {
    let remaining = read.rfind(name).and_then(|index| read.get(index..)).unwrap_or_default();
    let digits = remaining.split('[').nth(1).and_then(|remaining| remaining.split(']').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// Returns the model's step at its n-th request, from all text read so far.
fn step(at: usize, read: &str, port: u16) -> Option<Value> {
    let act = |kind: &str, name: &str, text: Option<&str>| {
        let mut call = json!({ "action": "act", "kind": kind, "ref": number(read, name) });
        if let Some(text) = text {
            call["text"] = text.into();
        }
        call
    };
    Some(match at {
        1 => json!({ "action": "open", "url": format!("http://127.0.0.1:{port}/") }),
        2 => act("fill", "textbox \"Name\"", Some("Ada Lovelace")),
        3 => act("click", "button \"Next\"", None),
        // In between, the person stops it and resumes it.
        5 => json!({ "action": "snapshot" }),
        6 => act("fill", "textbox \"City\"", Some("London")),
        7 => act("click", "button \"Next\"", None),
        8 => act("click", "button \"Finish\"", None),
        9 => json!({ "action": "open", "url": format!("http://localhost:{port}/fee") }),
        10 => act("click", "button \"Pay 40 euros now\"", None),
        _ => return None,
    })
}

/// Presses a button of a question. The card may still be moving, and the driver clicks at positions.
pub(crate) async fn press(app: &Application, id: &str) -> Result<()> {
    app.find(id).await?;
    app.script(&format!("document.querySelector('[data-testid={id}]').click()")).await?;
    Ok(())
}

async fn filled(theme: Theme, theme_name: &str) -> Result<()> {
    let mut desktop = Desktop::start()?;
    let (home, work) = (desktop.folder().join("octo"), desktop.home().join("trip"));
    fs::create_dir(&work)?;
    let (port, page_requests) = serve()?;
    let own_url = format!("http://127.0.0.1:{port}/done?own");
    let (half_way, taken_over) = (Gate::new(), Gate::new());
    let (held_gate, held_again) = (half_way.clone(), taken_over.clone());
    let mut requests = 0;
    let script = Script::from_fn(move |request| {
        let index = requests;
        requests += 1;
        let read: String = request.all_results().iter().map(|result| format!("{}\n", result.text)).collect();
        match (index, step(index, &read, port)) {
            // The model test asks for one word.
            (0, _) => Reply::text("ok"),
            (HALF_WAY, _) => Reply::text("Now I look at the second page of the form.")
                .in_chunks(6)
                .hold_after(2, &held_gate),
            (TAKEN, Some(call)) => Reply::call("browser", call).hold_after(0, &held_again),
            (_, Some(call)) => Reply::call("browser", call),
            (_, None) => Reply::text("You are registered. I did not pay the fee."),
        }
    });
    let server = ModelServer::start_with(
        script,
        ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() },
    );
    let app = Application::open(&desktop, &home, theme).await?;
    let screen = desktop.another_screen()?;
    let chromium = Chromium::start(&desktop, &app, screen, AccessMethod::Port, &own_url).await?;
    connect(&app, &server.url(), &format!("browser-{theme_name}")).await?;
    app.fill("new-folder", work.to_str().context("a path in Unicode")?).await?;
    app.fill("composer", "Register me, please").await?;
    app.click("send").await?;

    // The question about the site precedes any opening.
    app.text_where("question", "the site", |text| text.contains(&format!("127.0.0.1:{port}"))).await?;
    assert!(
        !page_requests.lock().expect("the list").iter().any(|path| path == "/"),
        "nothing is opened before the answer"
    );
    app.picture(&format!("browser-site-{theme_name}")).await?;
    press(&app, "question-once").await?;

    // The card follows, until the person stops it half-way.
    half_way.reached().await;
    // The driver's text omits text cut off at the element's width.
    let title = "return document.querySelector('[data-testid=live]')?.textContent";
    app.until("the second page in the card", async || {
        Ok(app.script(title).await?.as_str().is_some_and(|text| text.contains("2 of 3")).then_some(()))
    })
    .await?;
    app.find("live-picture").await?;
    app.picture(&format!("browser-live-{theme_name}")).await?;
    let second_url = format!("http://127.0.0.1:{port}/two");
    assert!(chromium.attached().await?.iter().any(|url| url.starts_with(&second_url)), "it works there");
    press(&app, "live-stop").await?;
    app.find("turn-end[data-end=stopped]").await?;
    app.until("the card to go", async || Ok(app.all("live").await?.is_empty().then_some(()))).await?;
    app.until("nobody in the page", async || Ok(chromium.attached().await?.is_empty().then_some(()))).await?;

    // When it is resumed, it asks again, because the grant belonged to the other turn.
    app.fill("composer", "Go on").await?;
    app.click("send").await?;
    press(&app, "question-once").await?;

    // The person takes the page over and hands it back with the card: the agent's pending act waits for that.
    taken_over.reached().await;
    app.find("live[data-hand=agent]").await?;
    press(&app, "live-handover").await?;
    app.find("live[data-hand=person]").await?;
    let made = server.requests().len();
    taken_over.open();
    // Its target element is not known yet: nothing of the page is read while the person has it.
    app.until("the step that waits", async || {
        Ok(app.texts("step-row").await?.iter().any(|step| step.contains("browser")).then_some(()))
    })
    .await?;
    assert!(!app.texts("live-step").await?.iter().any(|step| step.contains("London")));
    app.picture(&format!("browser-taken-{theme_name}")).await?;
    assert_eq!(server.requests().len(), made, "the step waits for the page");
    press(&app, "live-handover").await?;
    app.text_where("question", "the other site", |text| text.contains(&format!("localhost:{port}"))).await?;
    let sent = page_requests.lock().expect("the list").clone();
    let page_text = app.script("return document.body.innerText").await?;
    assert!(
        sent.iter().any(|path| path.starts_with("/done?remarks")),
        "the form was sent: {sent:?} {page_text}"
    );
    press(&app, "question-once").await?;
    app.text_where("question-page", "the button by its real name", |text| text.contains("Pay 40 euros now"))
        .await?;
    app.picture(&format!("browser-pay-{theme_name}")).await?;
    app.type_into("composer", "\u{e007}").await?;
    assert!(!app.all("question-page").await?.is_empty(), "Enter is no yes to paying");
    press(&app, "question-no").await?;
    app.until("the end", async || {
        Ok(app.texts("answer").await?.iter().any(|text| text.contains("did not pay")).then_some(()))
    })
    .await?;
    app.picture(&format!("browser-done-{theme_name}")).await?;
    app.close().await?;
    let results = server.requests().last().context("requests")?.all_results();
    assert!(
        results.iter().any(|result| result.text.contains("handed it back")),
        "the model knows of it: {results:?}"
    );
    let page_requests = page_requests.lock().expect("the list").clone();
    assert!(page_requests.iter().any(|path| path.starts_with("/three?city=London")), "{page_requests:?}");
    assert!(!page_requests.contains(&"/paid".to_owned()), "{page_requests:?}");
    assert_eq!(
        page_requests.iter().filter(|path| path.ends_with("?own")).count(),
        1,
        "the person's own tab was left alone"
    );
    Ok(())
}
