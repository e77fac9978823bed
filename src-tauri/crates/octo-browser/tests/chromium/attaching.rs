//! Finding a browser and connecting to it.

use crate::kit::{
    DebuggingMode, PERSON_PAGE, PersonTab, RealChromium, Recording, Site, TEST_TIMEOUT, TestDisplay,
    WindowFrames, chromium, tab, until,
};
use octo_browser::{
    AccessMode, AttachmentState, Browser, BrowserTarget, CallError, ConnectError, Freshness, LaunchOptions,
    LinkEnd, Page, PageError, cdp::js_protocol::runtime::EvaluateParams,
};
use octo_testkit::CHROMIUM_SWITCHES;
use std::{
    fs,
    time::{Duration, Instant},
};

#[tokio::test]
async fn a_browser_with_a_port_is_found_and_its_tabs_are_only_listed() {
    if chromium().is_none() {
        return;
    }
    let site =
        Site::start(&[("/", "<title>First</title>one"), ("/two", "<title>Second</title>two"), PERSON_PAGE])
            .await;
    let display = TestDisplay::start(WindowFrames::None).await;
    let urls = [site.url("/"), site.url("/two"), PersonTab::url(&site)];
    let _chromium =
        RealChromium::start(&display, DebuggingMode::Flag, &urls.each_ref().map(String::as_str)).await;
    let recording = Recording::default();
    let browser = RealChromium::recorded(&display, recording.wrap());
    let connection = browser.connect().await.expect("connected");
    assert_eq!(connection.freshness, Freshness::New);
    let state = browser.state().borrow().clone();
    assert!(
        matches!(&state, AttachmentState::Connected { mode: AccessMode::Flag, version, .. } if version.starts_with("Chrome/")),
        "{state:?}"
    );
    let tabs = until("all pages", async || {
        let tabs = connection.tabs.list().await.expect("tabs");
        let mut titles: Vec<&str> = tabs.iter().map(|tab| tab.title.as_str()).collect();
        titles.sort_unstable();
        (titles == ["First", "Own 1", "Second"]).then_some(tabs)
    })
    .await;
    assert_eq!(
        tabs.iter().filter(|tab| tab.position.is_some_and(|position| position.is_active)).count(),
        1,
        "{tabs:?}"
    );
    assert!(recording.sent().iter().all(|(session, _, _)| session.is_none()), "no command to any tab");
    let person_tab = PersonTab::find(&connection.tabs).await;
    assert_eq!(browser.connect().await.expect("connected").freshness, Freshness::Existing);
    person_tab.assert_unchanged(&connection.tabs).await;
}

/// Waits for the browser's question, presses `first_key` once unless it is empty, and then presses `repeated_key`
/// until the question is answered.
async fn answer(display: &TestDisplay, browser: &Browser, first_key: &str, repeated_key: &str) {
    until("the question", async || display.is_darkened().then_some(())).await;
    if !first_key.is_empty() {
        display.run_xdotool(&["key", first_key]);
    }
    // A browser takes no answer in its question's first moments.
    until("its answer", async || {
        if !matches!(*browser.state().borrow(), AttachmentState::WaitingForAllow { .. }) {
            return Some(());
        }
        display.run_xdotool(&["key", repeated_key, "sleep", "0.3"]);
        None
    })
    .await;
}

#[tokio::test]
async fn the_browser_asks_again_only_after_a_restart() {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(&[("/", "<title>First</title>one"), PERSON_PAGE]).await;
    let display = TestDisplay::start(WindowFrames::Managed).await;
    let chromium =
        RealChromium::start(&display, DebuggingMode::Approval, &[&site.url("/"), &PersonTab::url(&site)])
            .await;
    until("its page", async || display.is_white().then_some(())).await;
    let browser = RealChromium::browser(&display);
    let found = browser.find_browsers().await;
    assert!(matches!(found[0].probe, octo_browser::Probe::Approval { .. }), "{found:?}");
    assert_eq!(*browser.state().borrow(), AttachmentState::Off, "a search for browsers connects to nothing");
    assert!(!display.is_darkened(), "and asks nothing");

    let (first, second) = (browser.clone(), browser.clone());
    let (first, second) = (
        tokio::spawn(async move { first.connect().await }),
        tokio::spawn(async move { second.connect().await }),
    );
    answer(&display, &browser, "Tab", "Return").await;
    let (first, second) = (
        first.await.expect("the task ends").expect("allowed"),
        second.await.expect("the task ends").expect("allowed"),
    );
    assert!(matches!(
        *browser.state().borrow(),
        AttachmentState::Connected { mode: AccessMode::Approval, .. }
    ));
    until("the page without a question over it", async || (!display.is_darkened()).then_some(())).await;
    assert_eq!(second.tabs.list().await.expect("tabs").len(), 2);
    let person_tab = PersonTab::find(&second.tabs).await;
    assert_eq!(browser.connect().await.expect("connected").freshness, Freshness::Existing);
    person_tab.assert_unchanged(&second.tabs).await;

    chromium.kill();
    assert_eq!(first.link.wait_ended().await, LinkEnd::ByBrowser);
    until("the loss", async || {
        matches!(*browser.state().borrow(), AttachmentState::Lost { .. }).then_some(())
    })
    .await;
    let _again =
        RealChromium::start(&display, DebuggingMode::Approval, &[&site.url("/"), &PersonTab::url(&site)])
            .await;
    until("its page", async || display.is_white().then_some(())).await;
    assert!(
        matches!(*browser.state().borrow(), AttachmentState::Lost { .. }),
        "Octo does not reconnect by itself"
    );
    let connect_task = {
        let browser = browser.clone();
        tokio::spawn(async move { browser.connect().await })
    };
    answer(&display, &browser, "Tab", "Return").await;
    let reconnected = connect_task.await.expect("the task ends").expect("allowed");
    assert_eq!(reconnected.freshness, Freshness::New);
    PersonTab::find(&reconnected.tabs).await.assert_unchanged(&reconnected.tabs).await;
}

#[tokio::test]
async fn a_person_may_decline_or_not_answer_at_all() {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(&[("/", "<title>First</title>one"), PERSON_PAGE]).await;
    let display = TestDisplay::start(WindowFrames::Managed).await;
    let _chromium =
        RealChromium::start(&display, DebuggingMode::Approval, &[&site.url("/"), &PersonTab::url(&site)])
            .await;
    until("its page", async || display.is_white().then_some(())).await;
    let browser = RealChromium::browser(&display);
    let connect_task = {
        let browser = browser.clone();
        tokio::spawn(async move { browser.connect().await })
    };
    answer(&display, &browser, "", "Escape").await;
    assert_eq!(connect_task.await.expect("the task ends").map(drop), Err(ConnectError::Declined));
    assert_eq!(*browser.state().borrow(), AttachmentState::Off);
    until("the end of the question", async || (!display.is_darkened()).then_some(())).await;

    // A caller that disappears does not withdraw the question, and the next caller waits for the same one.
    let dropped_task = {
        let browser = browser.clone();
        tokio::spawn(async move { browser.connect().await })
    };
    until("the question", async || display.is_darkened().then_some(())).await;
    dropped_task.abort();
    let AttachmentState::WaitingForAllow { since, .. } = browser.state().borrow().clone() else {
        panic!("it waits")
    };
    let connect_task = {
        let browser = browser.clone();
        tokio::spawn(async move { browser.connect().await })
    };
    tokio::task::yield_now().await;
    assert!(
        matches!(*browser.state().borrow(), AttachmentState::WaitingForAllow { since: still, .. } if still == since)
    );
    browser.cancel();
    assert_eq!(connect_task.await.expect("the task ends").map(drop), Err(ConnectError::Cancelled));
    assert_eq!(*browser.state().borrow(), AttachmentState::Off);

    // Its question stays until the person closes it, and the next caller gets another one. The person's own tab
    // is unchanged.
    assert!(display.is_darkened(), "the browser still asks");
    until("the end of the question", async || {
        display.run_xdotool(&["key", "Escape", "sleep", "0.3"]);
        display.is_white().then_some(())
    })
    .await;
    assert_eq!(*browser.state().borrow(), AttachmentState::Off, "its answer has no effect");
    let connect_task = {
        let browser = browser.clone();
        tokio::spawn(async move { browser.connect().await })
    };
    answer(&display, &browser, "Tab", "Return").await;
    let connection = connect_task.await.expect("the task ends").expect("allowed");
    PersonTab::find(&connection.tabs).await.assert_unchanged(&connection.tabs).await;
}

#[tokio::test]
async fn a_killed_browser_is_noticed_at_once_and_its_port_file_ignored() {
    if chromium().is_none() {
        return;
    }
    let site = Site::start(&[("/", "<title>First</title>one"), PERSON_PAGE]).await;
    let display = TestDisplay::start(WindowFrames::None).await;
    let chromium =
        RealChromium::start(&display, DebuggingMode::Flag, &[&site.url("/"), &PersonTab::url(&site)]).await;
    let browser = RealChromium::browser(&display);
    let connection = browser.connect().await.expect("connected");
    let page =
        Page::attach(&connection.link, &tab(&connection.tabs, "First").await.target).await.expect("attached");
    let person_tab = PersonTab::find(&connection.tabs).await;
    let never = EvaluateParams { await_promise: Some(true), ..EvaluateParams::new("new Promise(() => {})") };
    let waiting = tokio::spawn(async move { page.call(never, TEST_TIMEOUT).await.map(drop) });
    // Its answer also shows that the call before it was sent.
    person_tab.assert_unchanged(&connection.tabs).await;
    chromium.kill();
    let end = tokio::time::timeout(std::time::Duration::from_secs(5), waiting)
        .await
        .expect("at once")
        .expect("the task ends");
    assert!(
        matches!(end, Err(PageError::Detached | PageError::Call(CallError::Closed(LinkEnd::ByBrowser)))),
        "{end:?}"
    );
    assert!(matches!(connection.tabs.list().await, Err(CallError::Closed(LinkEnd::ByBrowser))));

    let file = display.profile().join("DevToolsActivePort");
    let former_port = fs::read_to_string(&file).expect("it is still there");
    assert_eq!(browser.connect().await.map(drop), Err(ConnectError::NoBrowser));
    assert_eq!(fs::read_to_string(&file).expect("and is never removed"), former_port);

    let _again =
        RealChromium::start(&display, DebuggingMode::Flag, &[&site.url("/"), &PersonTab::url(&site)]).await;
    let connection = browser.connect().await.expect("connected again");
    assert_eq!(connection.freshness, Freshness::New);
    tab(&connection.tabs, "First").await;
    PersonTab::find(&connection.tabs).await.assert_unchanged(&connection.tabs).await;
}

#[tokio::test]
async fn a_port_of_another_program_is_not_dialled() {
    let display = tempfile::tempdir().expect("a folder");
    let profile = display.path().join("profile");
    fs::create_dir(&profile).expect("a profile");
    let site = Site::start(&[(
        "/json/version",
        r#"{"Browser":"Chrome/1","webSocketDebuggerUrl":"ws://evil.example/x"}"#,
    )])
    .await;
    let port = site.url("").rsplit_once(':').expect("a port").1.to_owned();
    fs::write(profile.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/a")).expect("written");
    let mut environment = octo_browser::BrowserEnvironment::from_process();
    environment.home = display.path().to_owned();
    let browser = Browser::new(environment, BrowserTarget::Folder(profile.clone()));
    let expected = ConnectError::PortTaken { port: port.parse().expect("a number") };
    assert_eq!(browser.connect().await.map(drop), Err(expected.clone()));
    drop(site);
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = silent.local_addr().expect("its address").port();
    fs::write(profile.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/a")).expect("written");
    assert_eq!(browser.connect().await.map(drop), Err(ConnectError::PortTaken { port }));
    drop(silent);
    assert_eq!(browser.connect().await.map(drop), Err(ConnectError::NoBrowser));
    assert_eq!(*browser.state().borrow(), AttachmentState::Off);
}

#[tokio::test]
async fn a_launched_browser_uses_a_pipe_and_exits_with_the_last_handle() {
    let Some(program) = chromium() else { return };
    let site = Site::start(&[("/", "<title>First</title>one")]).await;
    let screen = TestDisplay::start(WindowFrames::None).await;
    // Octo starts the program with its own environment, so this script sets the display.
    let script = screen.home().join("browser");
    let display = screen
        .command("env")
        .get_envs()
        .find(|(name, _)| *name == "DISPLAY")
        .expect("a display")
        .1
        .expect("its name")
        .to_owned();
    let (display, program, home) = (
        display.to_string_lossy().into_owned(),
        program.display().to_string(),
        screen.home().display().to_string(),
    );
    fs::write(&script, format!("#!/bin/sh\nHOME='{home}' DISPLAY='{display}' exec '{program}' \"$@\"\n"))
        .expect("written");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("runnable");
    let launch = LaunchOptions {
        program: script,
        profile: screen.profile(),
        arguments: CHROMIUM_SWITCHES.iter().map(Into::into).collect(),
    };
    let browser = Browser::new(RealChromium::environment(&screen), BrowserTarget::OwnProfile(launch));
    let connection = browser.connect().await.expect("started");
    assert!(matches!(
        *browser.state().borrow(),
        AttachmentState::Connected { mode: AccessMode::OwnProfile, .. }
    ));
    let opened = connection.tabs.open(&site.url("/")).await.expect("opened");
    let page = Page::attach(&connection.link, &opened.target).await.expect("attached");
    until("the page", async || {
        (crate::kit::script_result(&page, "document.title").await == "First").then_some(())
    })
    .await;
    assert!(!screen.profile().join("DevToolsActivePort").exists(), "no port was opened");
    let background_tab = connection.tabs.open_behind("about:blank").await.expect("opened");
    let listed = connection.tabs.find(background_tab.number).await.expect("it is there");
    assert!(listed.position.is_none_or(|position| !position.is_active), "nobody is disturbed: {listed:?}");
    // Data set a moment before its end is still there after it.
    crate::kit::script_result(
        &page,
        "document.cookie = 'told=once; max-age=9999'; localStorage.told = 'yes'; true",
    )
    .await;
    let before = Instant::now();
    drop((page, connection));
    browser.disconnect();
    let restarted = browser.connect().await.expect("started again, once the first one had ended");
    assert!(before.elapsed() < Duration::from_secs(30));
    let opened = restarted.tabs.open(&site.url("/")).await.expect("opened");
    let page = Page::attach(&restarted.link, &opened.target).await.expect("attached");
    until("the stored data", async || {
        let cookies = crate::kit::script_result(&page, "document.cookie + ' ' + localStorage.told").await;
        (cookies == "told=once yes").then_some(())
    })
    .await;
    let connection = restarted;
    let profile = screen.profile().display().to_string();
    assert!(!processes_with_argument(&profile).is_empty());
    drop((page, connection, browser));
    until("the end of the browser", async || processes_with_argument(&profile).is_empty().then_some(()))
        .await;
}

/// Returns the processes that were started with this in their arguments.
fn processes_with_argument(argument: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).into_owned())
        .filter(|line| line.contains(argument))
        .collect()
}
