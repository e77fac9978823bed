//! Octo's tool as a model uses it: the whole agent, with calls scripted by a model. A call's time is the time
//! between the model's answer and the next request, so it includes the permission check, the live pictures for
//! the person, and storing.

use super::{
    PageResult, RUNS, ServedPage, ToolResults,
    chromium::{Chromium, attach, targets},
    numbers_of, own,
};
use crate::{seed, table::Figures};
use anyhow::{Context as _, Result, bail, ensure};
use octo_browser::{
    TabView,
    snapshot::{LineSelection, RenderFilter, RenderedSnapshot, WHOLE, estimate_tokens},
};
use octo_protocol::{
    Block, BrowserChoice, ChooseBrowser, DetachBrowser, Event, Mode, Profile, StartSession, TurnEnd,
};
use octo_testkit::{ModelServer, Reply, Script, TempHome};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

/// A longer turn counts as hung.
const TURN: Duration = Duration::from_secs(300);

/// Runs the agent through all pages, in one browser.
///
/// # Errors
/// When it does not do its part.
pub async fn measure(pages: &[ServedPage], own_figures: &own::OwnFigures) -> Result<ToolResults> {
    let chromium = Chromium::start("about:blank").await?;
    let mut results = Vec::new();
    for page in pages {
        results.push(one(&chromium, page).await.with_context(|| page.page.name.to_owned())?);
    }
    Ok(ToolResults { seen: results, first: own_figures.first_from_nothing, memory: own_figures.memory })
}

/// Returns the model's script for a page.
fn script(page: &ServedPage) -> Script {
    let (url, button, field, text) = (page.url.clone(), page.page.button, page.page.field, page.page.text);
    Script::from_fn(move |request| {
        let read: String = request.all_results().iter().map(|result| format!("{}\n", result.text)).collect();
        let number = |label: &str| handle_of(&read, label).unwrap_or_default();
        let made = request.answers();
        let call = match made {
            0 => json!({ "action": "open", "url": url }),
            1 => json!({ "action": "act", "kind": "wait", "ms": 500 }),
            2 => json!({ "action": "snapshot" }),
            made if made >= 3 + 2 * RUNS => return Reply::text("Done."),
            // An unused argument that makes the calls differ from each other.
            made if made % 2 == 1 => {
                json!({ "action": "act", "kind": "click", "ref": number(button), "ms": made })
            }
            made => {
                json!({ "action": "act", "kind": "fill", "ref": number(field), "text": text.of(made), "ms": made })
            }
        };
        Reply::call("browser", call)
    })
}

/// Returns the number of a target, where it was last read.
fn handle_of(read: &str, label: &str) -> Option<u32> {
    let remaining = read.rsplit_once(label)?.1;
    remaining.split_once('[')?.1.split_once(']')?.0.parse().ok()
}

async fn one(chromium: &Chromium, page: &ServedPage) -> Result<PageResult> {
    let home = TempHome::new();
    let server = ModelServer::start(script(page));
    let octo = seed::start(&home).await?;
    seed::add_model(&octo, server.url()).await?;
    let choice = BrowserChoice::Folder { path: chromium.folder().display().to_string() };
    octo.call(ChooseBrowser { choice }).await?;
    let mut events = octo.events();
    octo.call(StartSession {
        folder: home.work().to_str().context("a path in Unicode")?.to_owned(),
        profile: Profile::GENERAL,
        mode: Mode::Autonomous,
        model: None,
        effort: None,
        title: None,
        blocks: vec![Block::Text { text: "Measure.".to_owned() }],
    })
    .await?;
    let ended = tokio::time::timeout(TURN, async {
        loop {
            match &events.recv().await?.event {
                Event::TurnEnded { turn } => return anyhow::Ok(turn.end.clone()),
                Event::QuestionAsked { question } => bail!("the person is asked: {question:?}"),
                _ => {}
            }
        }
    });
    let end = ended.await.context("the turn hangs")??;
    ensure!(end == Some(TurnEnd::Finished), "the turn ended so: {end:?}");
    octo.call(DetachBrowser {}).await?;
    octo.shutdown().await;
    let requests = server.requests();
    let results = requests.last().context("requests")?.all_results();
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    ensure!(texts.len() == 3 + 2 * RUNS, "{} results: {texts:#?}", texts.len());
    for text in &texts {
        ensure!(!text.contains("Not done"), "{text}");
    }
    let gaps: Vec<Duration> = server
        .timings()
        .windows(2)
        .map(|pair| {
            Ok(pair[1].received_at.duration_since(pair[0].last_byte.context("every answer has an end")?))
        })
        .collect::<Result<_>>()?;
    let acts = |remainder: usize| -> Vec<Duration> {
        (3..3 + 2 * RUNS).filter(|index| index % 2 == remainder).map(|index| gaps[index]).collect()
    };
    let replies: Vec<usize> = texts[3..].iter().map(|text| estimate_tokens(text)).collect();
    let NumberedMarks { whole, listed, shown, targets } = marks(chromium, page, texts[2]).await?;
    Ok(PageResult {
        snapshot: estimate_tokens(texts[2]),
        whole,
        listed,
        look: gaps[2],
        reply: numbers_of(&replies)?.median,
        // The reply says what changed.
        with_change: numbers_of(&replies)?.median,
        click: Figures::of_times(&acts(1))?,
        fill: Figures::of_times(&acts(0))?,
        told: Figures::of_times(&acts(1))?,
        shown,
        targets,
    })
}

/// The cost of reading, and the observer's count of numbered elements.
struct NumberedMarks {
    /// Tokens of the whole page.
    whole: usize,
    /// Tokens of all its targets alone: a snapshot restricted to `targets`.
    listed: usize,
    /// Elements with a number in the reply.
    shown: super::Targets,
    /// Elements with a number in the whole page, and in the targets alone.
    targets: super::Targets,
}

async fn marks(chromium: &Chromium, page: &ServedPage, reply: &str) -> Result<NumberedMarks> {
    const TELL: &str =
        "function() { this.dispatchEvent(new CustomEvent('witness-mark', { composed: true })); }";
    let connected = chromium.browser().connect().await?;
    let watched = attach(&connected, page.page.title).await?;
    watched.navigate("about:blank").await?;
    watched.navigate(&page.url).await?;
    page.come_to_rest().await;
    let mut view = TabView::default();
    let snapshot = view.refresh(&watched).await?;
    // The reply's numbers belong to the finished session; its lines are found again in this snapshot.
    let overview = snapshot.render(super::SNAPSHOT, RenderFilter::default());
    let short = &overview.text;
    ensure!(
        handles(short).len() == handles(reply).len(),
        "the page shows something else than before:\n{reply}\n{short}"
    );
    let full = snapshot.render(WHOLE, RenderFilter::default()).text;
    let filter = RenderFilter { content: LineSelection::Targets, ..RenderFilter::default() };
    let (first_render, every) = (snapshot.render(super::SNAPSHOT, filter), snapshot.render(WHOLE, filter));
    let mut counts = Vec::new();
    for text in [short, &full] {
        for number in handles(text) {
            let Ok(node_ref) = view.refs().lookup(number) else { continue };
            watched.call_function_on_node(node_ref, TELL, Vec::<Value>::new()).await?;
        }
        counts.push(targets(&watched).await?);
    }
    let total = counts.pop().context("two counts")?;
    let shown_count = counts.pop().context("two counts")?;
    // Each part has its own frame, like the overview.
    let frame = estimate_tokens(reply).saturating_sub(overview.tokens);
    let read = |first_render: &RenderedSnapshot, full: &str| {
        let remaining = if first_render.omitted.is_empty() { 0 } else { estimate_tokens(full) };
        frame + first_render.tokens + remaining + frame * remaining.div_ceil(super::SNAPSHOT)
    };
    let numbered = |text: &str| handles(text).into_iter().collect::<BTreeSet<_>>();
    ensure!(numbered(&every.text) == numbered(&full), "the list of targets has others than the whole page");
    Ok(NumberedMarks {
        whole: read(&overview, &full),
        listed: read(&first_render, &every.text),
        shown: shown_count,
        targets: total,
    })
}

fn handles(text: &str) -> Vec<u32> {
    text.split('[').skip(1).filter_map(|rest| rest.split_once(']')?.0.parse().ok()).collect()
}
