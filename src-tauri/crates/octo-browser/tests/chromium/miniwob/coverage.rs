//! All pages of MiniWoB++: what is marked against what has a handler, and what a page takes.

use super::{Playground, is_soak};
use crate::kit::PATIENCE;
use octo_browser::{
    Page, View,
    cdp::browser_protocol::page::{
        AddScriptToEvaluateOnNewDocumentParams, RemoveScriptToEvaluateOnNewDocumentParams,
    },
    snapshot::{Filter, WHOLE, estimate_tokens},
};

/// Remembers what gets a handler, from before the page's own scripts run.
const REMEMBER: &str = "(() => {
    const kinds = ['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'dblclick'];
    const heard = window.__heard = new Set();
    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function(kind, ...rest) {
        if (kinds.includes(kind) && this instanceof Element) heard.add(this);
        return add.call(this, kind, ...rest);
    };
})()";

/// Visible elements of the task that have a handler or are interactive by themselves.
const COUNT: &str = "(() => {
    const kinds = ['onclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'ondblclick'];
    const native = 'a[href],button,input:not([type=hidden]),select,textarea';
    const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.getBoundingClientRect().width > 0 && one.getBoundingClientRect().height > 0;
    const area = document.querySelector('#area') || document.body;
    return [...area.querySelectorAll('*')].filter((one) => seen(one) && (window.__heard.has(one) || kinds.some((kind) => one[kind]) || one.matches(native))).length;
})()";

/// What a page came to.
struct Row {
    task: String,
    present: u64,
    marked: usize,
    tokens: usize,
}

async fn read(page: &Page, url: &str, task: &str) -> Row {
    page.navigate(url).await.expect("there");
    crate::kit::said(page, "core.EPISODE_MAX_TIME = 1e7; Math.seedrandom('1'); core.startEpisodeReal(); 1")
        .await;
    page.quiet().await.expect("quiet");
    let mut view = View::default();
    let snapshot = view.look(page).await.expect("a look");
    let text = snapshot.render(WHOLE, Filter::default()).text;
    let marked = snapshot.targets();
    if std::env::var_os("OCTO_MINIWOB_TEXT").is_some() {
        let goal = crate::kit::said(page, "core.getUtterance()").await;
        eprintln!("=== {task}\n{goal}\n{text}");
    }
    let present = crate::kit::said(page, COUNT).await.as_u64().expect("a count");
    Row { task: task.to_owned(), present, marked, tokens: estimate_tokens(&text) }
}

#[tokio::test]
async fn every_target_of_a_page_is_marked() {
    let Some(ground) = Playground::start().await else { return };
    let remember = AddScriptToEvaluateOnNewDocumentParams::new(REMEMBER);
    let script = ground.page.call(remember, PATIENCE).await.expect("remembered").identifier;
    let mut tasks: Vec<String> = std::fs::read_dir(ground.folder.join("miniwob"))
        .expect("pages")
        .filter_map(|entry| {
            entry.expect("a page").file_name().to_str()?.strip_suffix(".html").map(str::to_owned)
        })
        .collect();
    tasks.sort();
    assert_eq!(tasks.len(), 130);
    if !is_soak() {
        // A tenth, by their places in the alphabet.
        tasks = tasks.into_iter().step_by(10).collect();
    }
    let mut rows = Vec::new();
    for task in &tasks {
        rows.push(read(&ground.page, &ground.url(task), task).await);
    }
    let remove = RemoveScriptToEvaluateOnNewDocumentParams::new(script);
    ground.page.call(remove, PATIENCE).await.expect("removed");
    for Row { task, present, marked, tokens } in &rows {
        let short = if (*marked as u64) < *present { " SHORT" } else { "" };
        eprintln!("{task}: {marked} marked, {present} present, {tokens} tokens{short}");
    }
    let mut tokens: Vec<usize> = rows.iter().map(|row| row.tokens).collect();
    tokens.sort_unstable();
    let short: Vec<&str> =
        rows.iter().filter(|row| (row.marked as u64) < row.present).map(|row| row.task.as_str()).collect();
    eprintln!(
        "{} pages: {} targets present, {} marked, {} pages short {short:?}; {} tokens, median {}",
        rows.len(),
        rows.iter().map(|row| row.present).sum::<u64>(),
        rows.iter().map(|row| row.marked).sum::<usize>(),
        short.len(),
        tokens.iter().sum::<usize>(),
        tokens[tokens.len() / 2],
    );
    // Playwright MCP and chrome-devtools-mcp are short on 26 to 34 of the 130.
    assert!(short.len() * 40 <= rows.len(), "{short:?}");
}
