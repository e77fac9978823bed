//! The tab in use.

use crate::kit::{
    DebuggingMode, PERSON_PAGE, PersonTab, RealChromium, Recording, Site, TEST_TIMEOUT, TestDisplay,
    WindowFrames, chromium, other_tabs, script_result, tab, until,
};
use octo_browser::{
    CallError, DialogKind, DialogReply, DocumentChange, HistoryDirection, Liveness, NavigateError,
    NavigationOutcome, Page, PageError, PageEvent, PictureArea, PictureFormat,
    cdp::{
        browser_protocol::{
            browser::{Bounds, GetWindowForTargetParams, SetWindowBoundsParams, WindowState},
            target::CreateTargetParams,
        },
        js_protocol::runtime::EvaluateParams,
    },
};
use std::time::{Duration, Instant};

const PAGES: &[(&str, &str)] = &[
    ("/", "<title>Start</title><h1>Start</h1><a id=a href='/next'>next</a>"),
    ("/next", "<title>Next</title><h1>Next</h1><p id=end>the end"),
    (
        "/frames",
        "<title>Frames</title><iframe src='http://localhost:PORT/inner'></iframe><iframe src='/near'></iframe>",
    ),
    ("/inner", "<title>Inner</title><iframe src='http://127.0.0.1:PORT/deep'></iframe>"),
    ("/deep", "deep"),
    ("/near", "near"),
    (
        "/leave",
        "<title>Leave</title><script>onbeforeunload = event => { event.preventDefault(); return 'x' }</script><button id=b>b</button>",
    ),
    ("/loop", "<title>Loop</title><script>onload = () => setTimeout(() => { for (;;); }, 300)</script>"),
    ("/alert", "<title>Alert</title><script>onload = () => setTimeout(() => alert('Before'), 300)</script>"),
    ("/other", "<title>Other</title>the person's own"),
    PERSON_PAGE,
];

struct Scene {
    site: Site,
    display: TestDisplay,
    _chromium: RealChromium,
    recording: Recording,
    connection: octo_browser::BrowserConnection,
    person_tab: PersonTab,
}

impl Scene {
    async fn start(frame: WindowFrames, paths: &[&str], arguments: &[&str]) -> Self {
        let site = Site::start(PAGES).await;
        let display = TestDisplay::start(frame).await;
        let urls = paths.iter().map(|path| site.url(path)).chain([PersonTab::url(&site)]);
        let urls: Vec<String> = urls.collect();
        let all_arguments: Vec<&str> =
            arguments.iter().copied().chain(urls.iter().map(String::as_str)).collect();
        let chromium = RealChromium::start(&display, DebuggingMode::Flag, &all_arguments).await;
        let recording = Recording::default();
        let connection =
            RealChromium::recorded(&display, recording.wrap()).connect().await.expect("connected");
        let person_tab = PersonTab::find(&connection.tabs).await;
        Self { site, display, _chromium: chromium, recording, connection, person_tab }
    }

    /// Checks that the person's other tab is unchanged at the end of every case.
    async fn assert_other_tabs_unchanged(self) {
        self.person_tab.assert_unchanged(&self.connection.tabs).await;
        self.recording.assert_nothing_forbidden();
    }

    async fn page(&self, title: &str) -> Page {
        let tab = tab(&self.connection.tabs, title).await;
        Page::attach(&self.connection.link, &tab.target).await.expect("attached")
    }
}

#[tokio::test]
async fn a_page_navigates_and_reports_its_document() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/", "/other"], &[]).await;
    let start = tab(&scene.connection.tabs, "Start").await;
    tab(&scene.connection.tabs, "Other").await;
    let before = other_tabs(&scene.connection.tabs, &start).await;
    let page = scene.page("Start").await;
    assert_eq!(page.origin(), scene.site.origin());
    let mut events = page.events();
    let previous_document = page.document();

    assert_eq!(page.navigate(&scene.site.url("/next")).await, Ok(NavigationOutcome::Loaded));
    let Ok(PageEvent::Committed(committed)) = events.recv().await else {
        panic!("the commit is reported first")
    };
    assert_eq!((committed.url, committed.origin), (scene.site.url("/next"), scene.site.origin()));
    assert!(matches!(committed.document, DocumentChange::New(_)) && page.document() != previous_document);

    let started = Instant::now();
    assert_eq!(page.navigate(&scene.site.url("/next#end")).await, Ok(NavigationOutcome::SameDocument));
    assert!(started.elapsed() < Duration::from_secs(3), "it waits for no event that never comes");
    assert_eq!(page.committed().url, scene.site.url("/next#end"));

    assert_eq!(page.travel_history(HistoryDirection::Back).await, Ok(NavigationOutcome::SameDocument));
    page.travel_history(HistoryDirection::Back).await.expect("back");
    assert_eq!(script_result(&page, "document.title").await, "Start");
    page.travel_history(HistoryDirection::Forward).await.expect("forward");
    assert_eq!(page.travel_history(HistoryDirection::Forward).await, Ok(NavigationOutcome::SameDocument));
    assert_eq!(
        page.travel_history(HistoryDirection::Forward).await,
        Err(NavigateError::NoSuchPage(HistoryDirection::Forward))
    );

    // `.invalid` never resolves.
    let failed = page.navigate("http://nowhere.invalid/").await;
    assert!(matches!(&failed, Err(NavigateError::Failed { name }) if name.starts_with("ERR_")), "{failed:?}");
    until("the error page", async || (page.origin() == "null").then_some(())).await;
    assert_eq!(
        page.navigate("http://127.0.0.1:1/").await,
        Err(NavigateError::Failed { name: "ERR_UNSAFE_PORT".to_owned() })
    );
    assert_eq!(page.navigate(&scene.site.url("/")).await, Ok(NavigationOutcome::Loaded));

    // The closing of a tab is reported at once, and pending requests to it fail.
    let mut events = page.events();
    let never = EvaluateParams { await_promise: Some(true), ..EvaluateParams::new("new Promise(() => {})") };
    let waiting = {
        let page = page.clone();
        tokio::spawn(async move { page.call(never, TEST_TIMEOUT).await })
    };
    assert_eq!(
        scene.connection.tabs.close(&start, octo_browser::CloseScope::OwnTabs).await,
        Err(octo_browser::TabError::OwnedByPerson(start.number)),
    );
    assert_eq!(other_tabs(&scene.connection.tabs, &start).await, before);
    scene.connection.tabs.close(&start, octo_browser::CloseScope::AnyTab).await.expect("closed");
    assert_eq!(waiting.await.expect("the task ends"), Err(PageError::Detached));
    while !matches!(events.recv().await.expect("an event"), PageEvent::Detached) {}

    let closed: Vec<_> = scene
        .recording
        .sent()
        .into_iter()
        .filter(|(_, name, _)| name == "Target.closeTarget")
        .map(|(_, _, params)| params["targetId"].clone())
        .collect();
    assert_eq!(closed, [start.target.inner().as_str()], "once, and no other tab");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_dialog_ends_the_wait_and_is_answered() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/leave"], &[]).await;
    let page = scene.page("Leave").await;
    let started = Instant::now();
    let prompt = page.call(EvaluateParams::new("window.said = prompt('Who?', 'me')"), TEST_TIMEOUT).await;
    let Err(PageError::Dialog(dialog)) = prompt else { panic!("{prompt:?}") };
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(
        (dialog.kind, dialog.message.as_str(), dialog.default.as_str()),
        (DialogKind::Prompt, "Who?", "me")
    );
    assert_eq!(page.liveness().await, Ok(Liveness::DialogOpen));
    let response = page.call(EvaluateParams::new("1"), TEST_TIMEOUT).await;
    assert!(matches!(response, Err(PageError::Dialog(_))), "at once: {response:?}");
    page.answer(DialogReply::AcceptWith("you".to_owned())).await.expect("answered");
    until("the end of the dialog", async || page.dialog().is_none().then_some(())).await;
    assert_eq!(script_result(&page, "said").await, "you");
    assert_eq!(page.answer(DialogReply::Dismiss).await, Err(PageError::NoDialog));

    // A page asks before it closes only if the person interacted with it.
    let mouse = |kind| octo_browser::cdp::browser_protocol::input::DispatchMouseEventParams {
        button: Some(octo_browser::cdp::browser_protocol::input::MouseButton::Left),
        click_count: Some(1),
        ..octo_browser::cdp::browser_protocol::input::DispatchMouseEventParams::new(kind, 20.0, 20.0)
    };
    use octo_browser::cdp::browser_protocol::input::DispatchMouseEventType::{MousePressed, MouseReleased};
    page.call(mouse(MousePressed), TEST_TIMEOUT).await.expect("pressed");
    page.call(mouse(MouseReleased), TEST_TIMEOUT).await.expect("released");
    let stay = page.navigate(&scene.site.url("/next")).await;
    assert!(
        matches!(&stay, Err(NavigateError::Page(PageError::Dialog(dialog))) if dialog.kind == DialogKind::BeforeUnload),
        "{stay:?}"
    );
    page.answer(DialogReply::Dismiss).await.expect("stayed");
    until("the end of the dialog", async || page.dialog().is_none().then_some(())).await;
    assert_eq!(script_result(&page, "document.title").await, "Leave");
    let mut events = page.events();
    assert!(page.navigate(&scene.site.url("/next")).await.is_err());
    page.answer(DialogReply::Accept).await.expect("left");
    page.wait_for_navigation(&mut events).await.expect_err("the question itself is the first event");
    page.wait_for_navigation(&mut events).await.expect("arrived");
    assert_eq!(script_result(&page, "document.title").await, "Next");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn frames_of_other_sites_have_sessions_and_are_listed() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/frames"], &["--site-per-process"]).await;
    let page = scene.page("Frames").await;
    let frames = until("four frames", async || {
        let frames = page.frames().await.expect("frames");
        (frames.len() == 4 && frames.iter().all(|frame| frame.url.starts_with("http"))).then_some(frames)
    })
    .await;
    let path = |url: &str| url.rsplit_once('/').expect("a path").1.to_owned();
    let inner = frames.iter().find(|frame| path(&frame.url) == "inner").expect("inner");
    let deep_frame = frames.iter().find(|frame| path(&frame.url) == "deep").expect("deep");
    let near_frame = frames.iter().find(|frame| path(&frame.url) == "near").expect("near");
    assert_eq!(frames[0].id, *page.main_frame());
    assert_eq!((&near_frame.session, near_frame.parent.as_ref()), (page.session(), Some(page.main_frame())));
    assert_ne!(inner.session, *page.session());
    assert_eq!(inner.parent.as_ref(), Some(page.main_frame()));
    assert_eq!(deep_frame.parent.as_ref(), Some(&inner.id));
    assert!(inner.origin.starts_with("http://localhost:"), "{inner:?}");
    let pathname = page
        .call_in(&inner.session, EvaluateParams::new("location.pathname"), TEST_TIMEOUT)
        .await
        .expect("said");
    assert_eq!(pathname.result.value, Some("/inner".into()));
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn an_unresponsive_tab_is_left_alone_with_a_reason() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/alert", "/other"], &[]).await;
    // A foreground page keeps its alert open; this one was open before anyone attached.
    let alert_tab = tab(&scene.connection.tabs, "Alert").await;
    // While the browser still starts, its other pages use the CPU and look like an endless script.
    until("the alert", async || match Page::attach(&scene.connection.link, &alert_tab.target).await {
        Err(PageError::Silent(Liveness::DialogOpen)) => Some(()),
        Ok(_) | Err(PageError::Silent(Liveness::Hung)) => None,
        Err(other) => panic!("{other:?}"),
    })
    .await;

    let other = tab(&scene.connection.tabs, "Other").await;
    let page = Page::attach(&scene.connection.link, &other.target).await.expect("the other tab is free");
    drop(page);

    let hung = scene
        .connection
        .link
        .call(
            None,
            CreateTargetParams { background: Some(true), ..CreateTargetParams::new(scene.site.url("/loop")) },
            TEST_TIMEOUT,
        )
        .await
        .expect("opened")
        .target_id;
    // On a busy machine, a page that is only starting is silent too, without computing anything.
    until("the loop", async || match Page::attach(&scene.connection.link, &hung).await {
        Err(PageError::Silent(Liveness::Hung)) => Some(()),
        Ok(_) | Err(PageError::Silent(Liveness::DialogOpen)) => None,
        Err(other) => panic!("{other:?}"),
    })
    .await;
    let titles: Vec<String> =
        scene.connection.tabs.list().await.expect("tabs").into_iter().map(|tab| tab.title).collect();
    assert!(["Alert", "Other", "Loop"].iter().all(|title| titles.iter().any(|it| it == title)), "{titles:?}");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_crash_is_reported_and_a_reload_recovers() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/"], &[]).await;
    let page = scene.page("Start").await;
    for recovers_by_navigation in [false, true] {
        let mut events = page.events();
        scene
            .connection
            .link
            .call(
                Some(page.session()),
                octo_browser::cdp::browser_protocol::page::CrashParams {},
                Duration::from_millis(200),
            )
            .await
            .ok();
        while !matches!(events.recv().await.expect("an event"), PageEvent::Crashed) {}
        assert_eq!(
            page.call(EvaluateParams::new("1"), TEST_TIMEOUT).await.map(drop),
            Err(PageError::Crashed)
        );
        assert_eq!(page.liveness().await, Ok(Liveness::Discarded));
        match recovers_by_navigation {
            true => page.navigate(&scene.site.url("/")).await.expect("revived"),
            false => page.reload().await.expect("revived"),
        };
        assert_eq!(script_result(&page, "document.title").await, "Start");
    }
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_picture_is_taken_of_a_tab_in_the_background_and_of_an_element() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/", "/other"], &[]).await;
    let page = scene.page("Other").await;
    let full = page.picture(PictureArea::Visible, PictureFormat::Png).await.expect("a picture");
    let full = image::load_from_memory(&full.bytes).expect("a PNG");
    assert!(full.width() > 800 && full.height() > 400, "{}x{}", full.width(), full.height());
    page.navigate(&scene.site.url("/")).await.expect("there");
    let heading = page
        .call(
            octo_browser::cdp::browser_protocol::dom::GetDocumentParams {
                depth: Some(-1),
                ..Default::default()
            },
            TEST_TIMEOUT,
        )
        .await
        .expect("nodes")
        .root;
    let mut pending = vec![heading];
    let mut found = None;
    while let Some(node) = pending.pop() {
        if node.node_name == "A" {
            found = Some(node.backend_node_id);
        }
        pending.extend(node.children.unwrap_or_default());
    }
    let link = page
        .picture(PictureArea::Element(found.expect("a link")), PictureFormat::Jpeg(80))
        .await
        .expect("its picture");
    let link = image::load_from_memory(&link.bytes).expect("a JPEG");
    assert!(link.width() < 100 && link.height() < 60, "{}x{}", link.width(), link.height());
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_hundred_tabs_cost_one_command_and_only_the_used_one_is_attached() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/"], &[]).await;
    let other = scene.site.url("/other");
    for _ in 2..100 {
        let open = CreateTargetParams { background: Some(true), ..CreateTargetParams::new(other.clone()) };
        scene.connection.link.call(None, open, TEST_TIMEOUT).await.expect("opened");
    }
    let tabs = until("all tabs", async || {
        let tabs = scene.connection.tabs.list().await.expect("tabs");
        // A page that is still loading has its address as its title.
        let listed = tabs.iter().filter(|tab| tab.title == "Other").count();
        (tabs.len() == 100 && listed == 98).then_some(tabs)
    })
    .await;
    let sent = scene.recording.sent().len();
    let started = Instant::now();
    assert_eq!(scene.connection.tabs.list().await.expect("tabs").len(), 100);
    eprintln!("100 tabs listed in {:?}", started.elapsed());
    assert_eq!(scene.recording.sent().len() - sent, 1, "one command");
    let start = tabs.iter().find(|tab| tab.title == "Start").expect("the first");
    let before = other_tabs(&scene.connection.tabs, start).await;
    let started = Instant::now();
    let page = Page::attach(&scene.connection.link, &start.target).await.expect("attached");
    eprintln!("attached in {:?}", started.elapsed());
    let session = page.session().clone();
    page.navigate(&scene.site.url("/next")).await.expect("there");
    page.picture(PictureArea::Visible, PictureFormat::Png).await.expect("a picture");
    drop(page);
    let session_calls: Vec<_> =
        scene.recording.sent().into_iter().filter_map(|(session, name, _)| Some((session?, name))).collect();
    assert!(
        !session_calls.is_empty() && session_calls.iter().all(|(session_id, _)| *session_id == session),
        "0 commands to other tabs: {session_calls:?}"
    );
    let attached = scene.recording.names().iter().filter(|name| *name == "Target.attachToTarget").count();
    assert_eq!(attached, 1);
    assert_eq!(other_tabs(&scene.connection.tabs, start).await, before);
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn two_sessions_share_the_link_and_a_popup_is_reported_with_its_opener() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/", "/next"], &[]).await;
    let (first, second) = (scene.page("Start").await, scene.page("Next").await);
    let mut opened = scene.connection.tabs.watch().await.expect("watching");
    let (a, b) =
        tokio::join!(script_result(&first, "document.title"), script_result(&second, "document.title"));
    assert_eq!((a, b), ("Start".into(), "Next".into()));
    let open = EvaluateParams { user_gesture: Some(true), ..EvaluateParams::new("void open('/other')") };
    first.call(open, TEST_TIMEOUT).await.expect("opened");
    let popup = opened.next().await.expect("an event");
    assert_eq!(popup.opener.as_ref(), Some(first.target()));
    drop(first);
    assert_eq!(script_result(&second, "document.title").await, "Next", "the other session continues");
    assert_eq!(tab(&scene.connection.tabs, "Other").await.number, popup.number);
    let octo_tab = scene.connection.tabs.open(&scene.site.url("/near")).await.expect("opened");
    assert_eq!(octo_tab.owner, octo_browser::TabOwner::Octo);
    scene.connection.tabs.close(&octo_tab, octo_browser::CloseScope::OwnTabs).await.expect("closed");
    until("the task ends", async || {
        matches!(scene.connection.tabs.find(octo_tab.number).await, Err(octo_browser::TabError::Gone(_)))
            .then_some(())
    })
    .await;
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_minimised_window_is_restored_for_a_picture() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::Managed, &["/"], &[]).await;
    let page = scene.page("Start").await;
    let window = || async {
        let params = GetWindowForTargetParams { target_id: Some(page.target().clone()) };
        page.link().call(None, params, TEST_TIMEOUT).await.expect("a window")
    };
    until("its page", async || scene.display.is_white().then_some(())).await;
    let minimised = Bounds { window_state: Some(WindowState::Minimized), ..Default::default() };
    let minimise = SetWindowBoundsParams::new(window().await.window_id, minimised);
    page.link().call(None, minimise, TEST_TIMEOUT).await.expect("minimised");
    until("the window's absence", async || (!scene.display.is_white()).then_some(())).await;
    assert_eq!(window().await.bounds.window_state, Some(WindowState::Minimized));
    let picture = page.picture(PictureArea::Visible, PictureFormat::Png).await.expect("a picture");
    assert!(image::load_from_memory(&picture.bytes).expect("a PNG").width() > 800);
    until("the window", async || scene.display.is_white().then_some(())).await;
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn an_untrusted_certificate_still_warns() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/"], &[]).await;
    let secure = Site::start_with_tls("<title>Reached</title>").await;
    let page = scene.page("Start").await;
    let error = page.navigate(&secure.secure_url()).await;
    assert_eq!(error, Err(NavigateError::Failed { name: "ERR_CERT_AUTHORITY_INVALID".to_owned() }));
    until("the warning", async || (page.origin() == "null").then_some(())).await;
    assert_ne!(script_result(&page, "document.title").await, "Reached");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_discarded_tab_stays_discarded_until_focused() {
    if chromium().is_none() {
        return;
    }
    let scene = Scene::start(WindowFrames::None, &["/", "/other"], &[]).await;
    tab(&scene.connection.tabs, "Other").await;
    let sleeping = scene.connection.tabs.open("chrome://discards/").await.expect("opened");
    let panel = Page::attach(&scene.connection.link, &sleeping.target).await.expect("attached");
    // The browser's own page for this, with its own button.
    let press = "(() => { let done = false; const walk = root => root.querySelectorAll('*').forEach(it => { \
                 if (it.shadowRoot) walk(it.shadowRoot); \
                 if (it.tagName == 'TR' && it.textContent.includes('/other')) { \
                 const button = [...it.querySelectorAll('*')].find(it => !it.children.length && /Urgent Discard/.test(it.textContent)); \
                 if (button) { button.click(); done = true; } } }); walk(document); return done; })()";
    until("its button", async || (script_result(&panel, press).await == true).then_some(())).await;
    // A sleeping tab has a different id in the protocol than it had when awake.
    let other = until("the sleep", async || {
        let other = tab(&scene.connection.tabs, "Other").await;
        match Page::attach(&scene.connection.link, &other.target).await {
            Err(PageError::Silent(Liveness::Discarded)) => Some(other),
            Ok(_) | Err(PageError::Call(CallError::Gone { .. })) => None,
            Err(error) => panic!("{error:?}"),
        }
    })
    .await;
    let reattached = Page::attach(&scene.connection.link, &other.target).await.map(drop);
    assert_eq!(reattached, Err(PageError::Silent(Liveness::Discarded)), "asking woke it up");
    scene.connection.tabs.activate(&other).await.expect("in front");
    let page =
        until("its return", async || Page::attach(&scene.connection.link, &other.target).await.ok()).await;
    until("its document", async || (script_result(&page, "document.title").await == "Other").then_some(()))
        .await;
    scene.assert_other_tabs_unchanged().await;
}
