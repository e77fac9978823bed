//! What a look at a long page costs, stage by stage. Not a test of anything: it prints.

use crate::kit::{Chromium, Desk, Frame, Site, Start, chromium, tab};
use octo_browser::{
    Page,
    snapshot::{Filter, ReadLayout, ReadTree, Refs, Snapshot, WHOLE},
};
use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

const LIMIT: Duration = Duration::from_secs(30);

/// Time on a processor that all threads of this process had, in milliseconds.
fn spent() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("tasks");
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|line| line.split(' ').next()?.parse::<f64>().ok())
        .sum::<f64>()
        / 1e6
}

async fn stage<T>(name: &str, runs: usize, mut doing: impl AsyncFnMut() -> T) {
    let (mut walls, mut own) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (before, began) = (spent(), Instant::now());
        let _made = std::hint::black_box(doing().await);
        walls.push(began.elapsed().as_secs_f64() * 1e3);
        own.push(spent() - before);
    }
    walls.sort_by(f64::total_cmp);
    own.sort_by(f64::total_cmp);
    eprintln!(
        "{name:40} wall {:7.1} (least {:7.1})  own processor time {:7.1}",
        walls[runs / 2],
        walls[0],
        own[runs / 2]
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it prints figures"]
async fn looks() {
    if chromium().is_none() {
        return;
    }
    let mut rows = String::new();
    for row in 0..300 {
        let _ = write!(
            rows,
            "<tr id=c{row}><td>{row}</td><td>Customer {row}</td><td>{row}.00</td><td><a href='#c{row}'>Open</a></td><td><button>Delete</button></td></tr>"
        );
    }
    let html = format!("<!doctype html><title>Table</title><h1>Customers</h1><table><tbody>{rows}</tbody></table>");
    let site = Site::start(&[("/", &html)]).await;
    let desk = Desk::start(Frame::None).await;
    let _chromium = Chromium::start(&desk, Start::Flag, &["--headless=new", &site.url("/")]).await;
    let connected = Chromium::browser(&desk).connect().await.expect("connected");
    let found = tab(&connected.tabs, "Table").await;
    let page = Page::attach(&connected.link, &found.target).await.expect("attached");
    let runs = 7;
    stage("accessibility tree", runs, async || page.call(ReadTree::default(), LIMIT).await.expect("a tree")).await;
    stage("layout", runs, async || page.call(ReadLayout::default(), LIMIT).await.expect("a layout")).await;
    stage("capture", runs, async || page.capture().await.expect("a capture")).await;
    let captured = page.capture().await.expect("a capture");
    let mut refs = Refs::default();
    stage("joining and writing", runs, async || Snapshot::new(&captured, &mut refs)).await;
    let snapshot = Snapshot::new(&captured, &mut refs);
    stage("overview", runs, async || snapshot.render(4_000, Filter::default())).await;
    stage("whole", runs, async || snapshot.render(WHOLE, Filter::default())).await;
    stage("texts", runs, async || snapshot.texts()).await;
    stage("learnt", runs, async || {
        let mut memory = octo_browser::safety::Memory::default();
        for (origin, text) in snapshot.texts() {
            if let octo_browser::safety::Origin::Site(site) = octo_browser::safety::Origin::read(origin) {
                memory.shown(&site, &text);
            }
        }
        memory
    })
    .await;
    stage("let go", runs, async || drop(captured.clone())).await;
}
