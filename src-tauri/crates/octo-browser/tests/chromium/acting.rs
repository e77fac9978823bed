//! Acts on a page.

mod moving_targets;
mod pages;
mod timing;

use crate::kit::{
    DebuggingMode, RealChromium, Recording, Site, TEST_TIMEOUT, TestDisplay, WindowFrames, chromium,
    other_tabs, script_result, tab, until,
};
use octo_browser::{
    ActError, ActMethod, ActOutcome, Audience, BrowserAct, DialogReply, DownloadEvent, Downloads,
    LoadProgress, Page, PageReaction, ScrollTarget, TabView, UnsupportedAct, WaitCondition,
    snapshot::{ChangeExtent, FindQuery, WHOLE},
};
use pages::PAGES;
use std::time::{Duration, Instant};

/// Every command that may be sent to a browser to read a page and act on it.
const ALLOWED_COMMANDS: &[&str] = &[
    "Accessibility.enable",
    "Accessibility.getFullAXTree",
    "Browser.getVersion",
    "Browser.getWindowForTarget",
    "Browser.setDownloadBehavior",
    "DOM.enable",
    "DOM.focus",
    "DOM.getBoxModel",
    "DOM.getContentQuads",
    "DOM.getFrameOwner",
    "DOM.getNodeForLocation",
    "DOM.resolveNode",
    "DOM.scrollIntoViewIfNeeded",
    "DOM.setFileInputFiles",
    "DOMSnapshot.captureSnapshot",
    "Emulation.setFocusEmulationEnabled",
    "Input.dispatchDragEvent",
    "Input.dispatchKeyEvent",
    "Input.dispatchMouseEvent",
    "Input.insertText",
    "Input.setInterceptDrags",
    "Inspector.enable",
    "Page.bringToFront",
    "Page.captureScreenshot",
    "Page.createIsolatedWorld",
    "Page.enable",
    "Page.getFrameTree",
    "Page.getLayoutMetrics",
    "Page.handleJavaScriptDialog",
    "Page.navigate",
    "Page.setInterceptFileChooserDialog",
    "Runtime.callFunctionOn",
    "Runtime.evaluate",
    "Runtime.releaseObjectGroup",
    "Runtime.runIfWaitingForDebugger",
    "SystemInfo.getProcessInfo",
    "Target.attachToTarget",
    "Target.getTargetInfo",
    "Target.getTargets",
    "Target.setAutoAttach",
    "Target.setDiscoverTargets",
];

/// A page to act on by element number, next to one of the person's tabs.
pub(crate) struct Scene {
    site: Site,
    display: TestDisplay,
    _chromium: RealChromium,
    recording: Recording,
    connection: octo_browser::BrowserConnection,
    pub(crate) page: Page,
    view: TabView,
    tab: octo_browser::Tab,
    other_tabs_before: Vec<(String, String, String)>,
}

impl Scene {
    pub(crate) async fn start(path: &str, title: &str) -> Self {
        Self::start_with(path, title, &[]).await
    }

    pub(crate) async fn start_with(path: &str, title: &str, extra_arguments: &[&str]) -> Self {
        let site = Site::start(PAGES).await;
        let display = TestDisplay::start(WindowFrames::None).await;
        let urls = [site.url(path), site.url("/other")];
        let arguments = ["--site-per-process", urls[0].as_str(), urls[1].as_str()];
        let arguments: Vec<&str> = extra_arguments.iter().copied().chain(arguments).collect();
        let chromium = RealChromium::start(&display, DebuggingMode::Flag, &arguments).await;
        let recording = Recording::default();
        let connection =
            RealChromium::recorded(&display, recording.wrap()).connect().await.expect("connected");
        tab(&connection.tabs, "Other").await;
        let scene_tab = tab(&connection.tabs, title).await;
        let other_tabs_before = other_tabs(&connection.tabs, &scene_tab).await;
        // On an overloaded machine, a page that is still being laid out is silent for longer than a tab may be.
        let attach = async || Page::attach(&connection.link, &scene_tab.target).await.ok();
        let page = until("the page's answer", attach).await;
        page.begin_focus_emulation().await.expect("acting");
        let mut scene = Self {
            site,
            display,
            _chromium: chromium,
            recording,
            connection,
            page,
            view: TabView::default(),
            tab: scene_tab,
            other_tabs_before,
        };
        scene.view.refresh(&scene.page).await.expect("a snapshot");
        scene
    }

    /// Returns the number of the first target of this role whose line contains the name.
    async fn current_number(&mut self, role: &str, name: &str) -> u32 {
        self.view.refresh(&self.page).await.expect("a snapshot");
        self.known_number(role, name)
    }

    fn known_number(&self, role: &str, name: &str) -> u32 {
        let query = FindQuery { text: name.to_owned(), role: role.to_owned() };
        let found = self.view.last_snapshot().expect("a snapshot").find(&query, WHOLE).text;
        let prefix = format!("{role} \"{name}\"");
        let after = found.split_once(prefix.as_str()).unwrap_or_else(|| panic!("{prefix}: {found}")).1;
        let after = after.split_once('[').expect("a number").1;
        after.split_once(']').expect("a closing bracket").0.parse().expect("a number")
    }

    pub(crate) async fn node_ref(&mut self, role: &str, name: &str) -> octo_browser::snapshot::NodeRef {
        let current_number = self.current_number(role, name).await;
        self.view.locate(&self.page, current_number).await.expect("located").node_ref
    }

    async fn click(&mut self, role: &str, name: &str) -> Result<ActOutcome, ActError> {
        let node_ref = self.node_ref(role, name).await;
        self.page.perform(&BrowserAct::Click(node_ref), Audience::Person).await
    }

    pub(crate) async fn act(&mut self, act: BrowserAct) -> Result<ActOutcome, ActError> {
        self.page.perform(&act, Audience::Person).await
    }

    pub(crate) async fn status_text(&self) -> String {
        script_result(&self.page, "said.textContent").await.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the ids of the windows on the screen.
    pub(crate) fn windows(&self) -> String {
        self.display.run_xdotool(&["search", "--onlyvisible", "--name", "."])
    }

    /// Clicks a point of the screen with the person's own mouse.
    pub(crate) fn click_as_person(&self, [x, y]: [i32; 2]) {
        self.display.run_xdotool(&[
            "mousemove",
            &x.to_string(),
            &y.to_string(),
            "click",
            "1",
            "sleep",
            "0.5",
        ]);
    }

    /// Checks that the person's other tabs are unchanged and nothing was sent to them.
    pub(crate) async fn assert_other_tabs_unchanged(self) {
        assert_eq!(other_tabs(&self.connection.tabs, &self.tab).await, self.other_tabs_before);
        self.recording.assert_only(ALLOWED_COMMANDS, self.tab.target.inner());
        drop(self.page);
        let _ = &self.display;
    }
}

#[tokio::test]
async fn every_kind_of_field_is_filled_and_the_form_submitted() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/form", "Form").await;
    let name = scene.node_ref("textbox", "Name").await;
    let outcome = scene.act(BrowserAct::Type(name.clone(), "Ada".to_owned())).await.expect("typed");
    assert_eq!((outcome.method, outcome.reaction), (ActMethod::Input, PageReaction::Unchanged));
    let diff = scene.view.changes(&scene.page, 500).await.expect("a snapshot");
    assert!(diff.change == ChangeExtent::Lines && diff.text.contains("Ada"), "{}", diff.text);
    scene.act(BrowserAct::Type(name.clone(), " é中".to_owned())).await.expect("typed");
    let keys = script_result(&scene.page, "keys.textContent").await;
    assert_eq!(
        keys, "keydown:A input keydown:d input keydown:a input input ",
        "characters with a key are typed, and Enter never"
    );
    assert_eq!(script_result(&scene.page, "document.querySelector('[name=name]').value").await, "Ada é中");
    let fills: &[(&str, &str, &str, ActMethod)] = &[
        ("textbox", "Mail", "new@example.org", ActMethod::Input),
        ("textbox", "Text", "two\nlines", ActMethod::Input),
        ("textbox", "Rich", "plain", ActMethod::Input),
        ("date", "Day", "2026-11-22", ActMethod::Set),
        ("time", "Hour", "09:30", ActMethod::Set),
        ("slider", "Size", "7", ActMethod::Set),
        ("color", "Paint", "#ff0000", ActMethod::Set),
        ("checkbox", "Tick", "true", ActMethod::Input),
        ("checkbox", "Tick", "on", ActMethod::Nothing),
        ("radio", "Beta", "true", ActMethod::Input),
        ("combobox", "List", "two", ActMethod::Set),
    ];
    for (role, name, text, method) in fills {
        let node_ref = scene.node_ref(role, name).await;
        let outcome = scene.act(BrowserAct::Fill(node_ref, (*text).to_owned())).await;
        assert_eq!(outcome.as_ref().map(|outcome| outcome.method), Ok(*method), "{name}: {outcome:?}");
    }
    let option = scene.node_ref("option", "Red").await;
    scene.act(BrowserAct::Select(option, vec!["Red".to_owned(), "blue".to_owned()])).await.expect("chosen");
    for (role, name, text, expected) in [
        ("date", "Day", "22.11.2026", UnsupportedAct::ValueRejected),
        ("slider", "Size", "70", UnsupportedAct::ValueRejected),
        ("color", "Paint", "red", UnsupportedAct::ValueRejected),
        ("textbox", "Shut", "x", UnsupportedAct::Disabled),
        ("button", "Send", "x", UnsupportedAct::NotATextField),
    ] {
        let node_ref = scene.node_ref(role, name).await;
        assert_eq!(
            scene.act(BrowserAct::Fill(node_ref, text.to_owned())).await,
            Err(expected.into()),
            "{name}"
        );
    }
    let list = scene.node_ref("combobox", "List").await;
    for (values, expected) in [
        (
            vec!["Three".to_owned()],
            UnsupportedAct::NoSuchOption(["One", "Two", "Three"].map(str::to_owned).to_vec()),
        ),
        (vec!["One".to_owned(), "Two".to_owned()], UnsupportedAct::SingleChoice),
    ] {
        assert_eq!(scene.act(BrowserAct::Select(list.clone(), values)).await, Err(expected.into()));
    }
    assert_eq!(script_result(&scene.page, "rich.textContent").await, "plain");
    assert_eq!(
        scene
            .act(BrowserAct::Press(Some(name.clone()), "Mod+A".to_owned()))
            .await
            .map(|outcome| outcome.method),
        Ok(ActMethod::Input)
    );
    scene.act(BrowserAct::Press(Some(name.clone()), "Delete".to_owned())).await.expect("deleted");
    scene.act(BrowserAct::Fill(name, "Grace".to_owned())).await.expect("filled");
    scene.click("button", "Send").await.expect("sent");
    assert_eq!(
        scene.status_text().await,
        "sent name=Grace&mail=new%40example.org&text=two%0Alines&day=2026-11-22&hour=09%3A30&size=7&paint=%23ff0000&tick=on&one=b&list=2&many=Red&many=Blue&shut=shut true"
    );
    assert_eq!(
        scene.act(BrowserAct::Press(None, "Hyper+X".to_owned())).await,
        Err(UnsupportedAct::UnknownKey.into())
    );
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn a_covered_element_is_not_clicked_and_its_cover_is_reported() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/cover", "Cover").await;
    let covered = scene.click("button", "Below").await;
    let Err(ActError::Covered(cover)) = covered else { panic!("{covered:?}") };
    assert_eq!(cover.description, "div#lid \"Cookie wall\"");
    assert_eq!(scene.status_text().await, "");
    scene.click("button", "Accept").await.expect("accepted");
    scene.click("button", "Below").await.expect("free now");
    assert_eq!(scene.status_text().await, "pressed");
    // The page scrolls to it, and out from under the fixed header.
    scene.click("button", "Far").await.expect("scrolled to");
    assert_eq!(scene.status_text().await, "far");
    // Scrolling is smooth; a position read after it has stopped no longer changes.
    scene.act(BrowserAct::Scroll(ScrollTarget::By(None, 0.0, -100_000.0))).await.expect("scrolled");
    scene.act(BrowserAct::Scroll(ScrollTarget::By(None, 0.0, 2_000.0))).await.expect("scrolled");
    const REMAINING_SCROLL_SCRIPT: &str = "function() { const e = this.scrollingElement; return Math.min(2000, e.scrollHeight - e.clientHeight) - e.scrollTop }";
    let document = scene.page.element_at(5.0, 5.0).await.expect("a place");
    let remaining_scroll = scene
        .page
        .call_function_on_node(
            &document,
            &REMAINING_SCROLL_SCRIPT.replace("this", "this.ownerDocument"),
            Vec::new(),
        )
        .await;
    assert!(
        remaining_scroll.as_ref().is_ok_and(|remaining_scroll| remaining_scroll
            .as_f64()
            .is_some_and(|remaining_scroll| remaining_scroll.abs() < 1.0)),
        "{remaining_scroll:?}"
    );
    scene.click("button", "Far").await.expect("from below");
    scene.act(BrowserAct::Scroll(ScrollTarget::ToText("head".to_owned()))).await.expect("there");
    let missing = scene.act(BrowserAct::Scroll(ScrollTarget::ToText("nowhere".to_owned()))).await;
    assert_eq!(missing, Err(UnsupportedAct::NoSuchText.into()));
    let dead = scene.page.element_at(5.0, 5.0).await.expect("a place");
    let node_name =
        scene.page.call_function_on_node(&dead, "function() { return this.localName }", Vec::new()).await;
    assert_eq!(node_name, Ok("header".into()));
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn actions_work_in_closed_shadow_roots_and_frames_of_other_sites() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/shadow", "Shadow").await;
    scene.click("button", "Hidden deep").await.expect("pressed");
    assert_eq!(scene.status_text().await, "deep true");
    let deep_field = scene.node_ref("textbox", "Deep").await;
    scene.act(BrowserAct::Fill(deep_field, "well".to_owned())).await.expect("filled");
    assert_eq!(scene.status_text().await, "well");

    scene.page.navigate(&scene.site.url("/frames")).await.expect("there");
    until("the frame", async || {
        let frames = scene.page.frames().await.expect("frames");
        frames
            .iter()
            .any(|frame| frame.session != *scene.page.session() && frame.url.ends_with("/inner"))
            .then_some(())
    })
    .await;
    let inside_button = scene.node_ref("button", "Inside").await;
    assert_ne!(inside_button.session, *scene.page.session().inner());
    scene.act(BrowserAct::Click(inside_button.clone())).await.expect("pressed");
    let said_text = async |scene: &Scene| {
        scene
            .page
            .call_function_on_node(
                &inside_button,
                "function() { return document.querySelector('#said').textContent }",
                Vec::new(),
            )
            .await
    };
    assert_eq!(said_text(&scene).await, Ok("in true".into()));
    let within = scene.node_ref("textbox", "Within").await;
    scene.act(BrowserAct::Fill(within, "across".to_owned())).await.expect("filled");
    assert_eq!(said_text(&scene).await, Ok("across".into()));
    // An element over the frame covers the frame's content too.
    let lid = "lid.style.cssText = 'position:fixed;inset:0;background:#fff'; lid.id = 'lid'; true";
    assert_eq!(crate::kit::script_result(&scene.page, lid).await, true);
    let covered = scene.act(BrowserAct::Click(inside_button.clone())).await;
    assert!(
        matches!(&covered, Err(ActError::Covered(cover)) if cover.description == "div#lid"),
        "{covered:?}"
    );
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn transformed_elements_are_hit_on_a_high_density_screen() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start_with("/zoom", "Zoom", &["--force-device-scale-factor=1.5"]).await;
    for name in ["Zoomed", "Turned", "Framed"] {
        scene.click("button", name).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    }
    assert_eq!(scene.status_text().await, "Zoomed Turned Framed ");
    let inside_button = scene.node_ref("button", "Inside").await;
    scene
        .act(BrowserAct::Click(inside_button.clone()))
        .await
        .expect("pressed in a frame that is shown smaller");
    let script = "function() { return document.querySelector('#said').textContent }";
    assert_eq!(
        scene.page.call_function_on_node(&inside_button, script, Vec::new()).await,
        Ok("in true".into())
    );
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn elements_are_dragged_by_mouse_and_by_native_drag_and_drop() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/drag", "Drag").await;
    let (parcel, target) = (scene.node_ref("button", "Parcel").await, scene.node_ref("button", "Box").await);
    scene.act(BrowserAct::Drag(parcel.clone(), target.clone())).await.expect("dragged");
    assert_eq!(scene.status_text().await, "dropped parcel");
    let slider = scene.node_ref("button", "Slider").await;
    scene.act(BrowserAct::Drag(slider, parcel)).await.expect("dragged");
    assert_eq!(scene.status_text().await, "moved true");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn files_are_uploaded_and_downloaded() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/files", "Files").await;
    let files: Vec<_> = ["a.txt", "b.txt"].map(|name| scene.display.home().join(name)).to_vec();
    for file in &files {
        std::fs::write(file, "hello").expect("written");
    }
    let field = scene.node_ref("button", "One file").await;
    scene.act(BrowserAct::Upload(field.clone(), files[..1].to_vec())).await.expect("given");
    assert_eq!(scene.status_text().await, "a.txt5");
    assert_eq!(
        scene.act(BrowserAct::Upload(field, files.clone())).await,
        Err(UnsupportedAct::SingleFile.into())
    );
    let choose = scene.node_ref("button", "Choose").await;
    scene.act(BrowserAct::Upload(choose, files)).await.expect("given");
    assert_eq!(scene.status_text().await, "through 2");
    let link = scene.node_ref("link", "Get it").await;
    assert_eq!(
        scene.act(BrowserAct::Upload(link, Vec::new())).await,
        Err(UnsupportedAct::NotAFileField.into())
    );

    let mut downloads = Downloads::watch(&scene.connection.link).await.expect("watching");
    let outcome = scene.click("link", "Get it").await.expect("pressed");
    assert_eq!(outcome.reaction, PageReaction::Unchanged, "a download is no navigation");
    let download =
        tokio::time::timeout(TEST_TIMEOUT, downloads.next()).await.expect("an event").expect("connected");
    let DownloadEvent::Began { name, frame, guid, .. } = download else { panic!("{download:?}") };
    assert_eq!((name.as_str(), &frame), ("report.txt", scene.page.main_frame()));
    let outcome =
        tokio::time::timeout(TEST_TIMEOUT, downloads.next()).await.expect("an event").expect("connected");
    assert!(matches!(&outcome, DownloadEvent::Done { guid: it, bytes: 5, .. } if *it == guid), "{outcome:?}");
    scene.assert_other_tabs_unchanged().await;
}

#[tokio::test]
async fn an_action_reports_pages_dialogs_and_other_tabs() {
    if chromium().is_none() {
        return;
    }
    let mut scene = Scene::start("/go", "Go").await;
    assert_eq!(scene.click("link", "Part").await.expect("pressed").reaction, PageReaction::AddressChanged);
    let outcome = scene.click("button", "Ask").await.expect("pressed");
    assert!(
        matches!(&outcome.reaction, PageReaction::Dialog(dialog) if dialog.message == "Sure?"),
        "{outcome:?}"
    );
    let result = scene.act(BrowserAct::Press(None, "Tab".to_owned())).await;
    assert!(matches!(result, Err(ActError::Page(octo_browser::PageError::Dialog(_)))), "{result:?}");
    let reaction = scene.page.observe_reaction();
    scene.page.answer(DialogReply::Accept).await.expect("answered");
    assert_eq!(reaction.wait().await, Ok(PageReaction::Unchanged));
    assert_eq!(scene.status_text().await, "true");
    scene.click("button", "Later").await.expect("pressed");
    scene.act(BrowserAct::Wait(WaitCondition::Text("late".to_owned()))).await.expect("came");
    let started = Instant::now();
    scene.act(BrowserAct::Wait(WaitCondition::TextGone("never there".to_owned()))).await.expect("gone");
    scene.act(BrowserAct::Wait(WaitCondition::Time(Duration::from_millis(50)))).await.expect("waited");
    assert!(started.elapsed() < Duration::from_secs(5));

    let mut opened = scene.connection.tabs.watch().await.expect("watching");
    assert_eq!(scene.click("link", "New tab").await.expect("pressed").reaction, PageReaction::Unchanged);
    let popup = opened.next().await.expect("an event");
    assert_eq!(popup.opener.as_ref(), Some(scene.page.target()));
    scene.other_tabs_before.push((
        popup.target.inner().clone(),
        "There".to_owned(),
        scene.site.url("/there"),
    ));
    scene.other_tabs_before.sort();

    let before = scene.page.document();
    assert_eq!(
        scene.click("link", "Go there").await.expect("pressed").reaction,
        PageReaction::Navigated(LoadProgress::Done)
    );
    assert_ne!(scene.page.document(), before);
    let diff = scene.view.changes(&scene.page, 500).await.expect("a snapshot");
    assert!(diff.change == ChangeExtent::Page && diff.text.contains("# There"), "{}", diff.text);
    let mut after = other_tabs(&scene.connection.tabs, &scene.tab).await;
    after.sort();
    // The browser decides the order of a list.
    assert_eq!(after, scene.other_tabs_before);
    scene.recording.assert_only(ALLOWED_COMMANDS, scene.tab.target.inner());
}
