//! The cost of Octo's own connection to the browser: an act compared with the same input sent raw, the first
//! act after attaching, and memory. Alternating on one page, in one tab.

use super::{
    ServedPage,
    chromium::{Chromium, PATIENCE, attach, input_time, script_result, wall_clock},
};
use crate::{
    memory,
    table::{Figures, Table, Unit},
};
use anyhow::{Context as _, Result};
use octo_browser::{
    Audience, BrowserAct, Page, TabView,
    cdp::browser_protocol::{
        dom::{BackendNodeId, FocusParams},
        input::{
            DispatchKeyEventParams, DispatchKeyEventType, DispatchMouseEventParams, DispatchMouseEventType,
            MouseButton,
        },
    },
    snapshot::{NodeRef, RenderFilter, WHOLE},
};
use std::time::{Duration, Instant};

/// Number of alternating runs.
const RUNS: usize = 31;
/// Number of fresh browsers for the first act.
const FIRSTS: usize = 3;
/// The goals of the project's fifth issue: milliseconds, milliseconds, millions of bytes.
const FIRST: f64 = 100.0;
const OVERHEAD: f64 = 10.0;
const MEMORY: f64 = 10.0;

/// Figures that are also listed with the other tools.
pub struct OwnFigures {
    /// From nothing to the first click the page received.
    pub first_from_nothing: f64,
    /// Additional memory of the process with a connection.
    pub memory: f64,
}

/// Times of one method, over all runs.
#[derive(Default)]
struct MethodTimes {
    /// Until the call was over, without the page's time to react.
    whole: Vec<f64>,
    /// Until the page received the input.
    felt: Vec<f64>,
    /// The page's time to react.
    waited: Vec<f64>,
}

/// Adds the rows.
///
/// # Errors
/// When a page does not do what it is asked.
pub async fn measure(table: &mut Table, form: &ServedPage) -> Result<OwnFigures> {
    let mut firsts = (Vec::new(), Vec::new());
    let mut memories = Vec::new();
    for _ in 0..FIRSTS {
        let (from_nothing, attached, growth) = first(form).await?;
        firsts.0.push(from_nothing);
        firsts.1.push(attached);
        memories.push(growth);
    }
    let chromium = Chromium::start(&form.url).await?;
    let connected = chromium.browser().connect().await?;
    let page = attach(&connected, form.page.title).await?;
    page.begin_focus_emulation().await?;
    for (name, button) in [
        ("a click that changes the page", form.page.button),
        ("a click that changes nothing", "button \"Stand still\""),
    ] {
        let node_ref = place(&page, button).await?;
        let (mut octo_times, mut raw) = (MethodTimes::default(), MethodTimes::default());
        for run in 0..=RUNS {
            let point = page.element_rect(&node_ref).await.map_err(anyhow::Error::from)?.middle();
            let raw_times = run_raw(&page, "click", raw_click(&page, point)).await?;
            let our_times = act(&page, &BrowserAct::Click(node_ref.clone()), "click").await?;
            if run > 0 {
                raw.push(raw_times);
                octo_times.push(our_times);
            }
        }
        rows(table, name, &octo_times, &raw)?;
    }
    let field = place(&page, form.page.field).await?;
    let (mut octo_times, mut raw) = (MethodTimes::default(), MethodTimes::default());
    for run in 0..=RUNS {
        let text = format!("Ada Lovelace {run}");
        let raw_times = run_raw(&page, "input", raw_fill(&page, &field, &text)).await?;
        let our_times = act(&page, &BrowserAct::Fill(field.clone(), text), "input").await?;
        if run > 0 {
            raw.push(raw_times);
            octo_times.push(our_times);
        }
    }
    rows(table, "a field filled with some 15 letters", &octo_times, &raw)?;
    let own = OwnFigures { first_from_nothing: Figures::of(firsts.0.clone())?.median, memory: 0.0 };
    table.add(
        "From no connection to the first click the page felt",
        Unit::Milliseconds,
        Figures::of(firsts.0)?,
    );
    table.add_with_goal(
        "From being attached to the first click the page felt",
        Unit::Milliseconds,
        Figures::of(firsts.1)?,
        FIRST,
    );
    let memory = Figures::of(memories)?;
    table.add_with_goal(
        "Memory of a connection, an attached page and a snapshot of it",
        Unit::Megabytes,
        memory,
        MEMORY,
    );
    Ok(OwnFigures { memory: memory.median, ..own })
}

impl MethodTimes {
    fn push(&mut self, [whole, felt, waited]: [f64; 3]) {
        self.whole.push(whole);
        self.felt.push(felt);
        self.waited.push(waited);
    }
}

fn rows(table: &mut Table, label: &str, octo_times: &MethodTimes, raw: &MethodTimes) -> Result<()> {
    let pairs = |octo_times: &[f64], raw: &[f64]| {
        Figures::of(octo_times.iter().zip(raw).map(|(octo_times, raw)| octo_times - raw))
    };
    let add_row = |table: &mut Table, name: &str, times: &[f64]| -> Result<()> {
        table.add(format!("{label}: {name}"), Unit::Milliseconds, Figures::of(times.iter().copied())?);
        Ok(())
    };
    add_row(table, "the same input sent raw", &raw.whole)?;
    add_row(table, "Octo's act, without what the page is given to answer", &octo_times.whole)?;
    add_row(table, "what the page is given to answer", &octo_times.waited)?;
    let overhead = pairs(&octo_times.whole, &raw.whole)?;
    table.add_with_goal(
        format!("{label}: Octo's act beyond the raw input"),
        Unit::Milliseconds,
        overhead,
        OVERHEAD,
    );
    let later = pairs(&octo_times.felt, &raw.felt)?;
    table.add_with_goal(
        format!("{label}: how much later the page feels it"),
        Unit::Milliseconds,
        later,
        OVERHEAD,
    );
    Ok(())
}

/// Measures a fresh browser whose tab shows the page: the time from nothing, and from being attached, to a
/// received click, and the additional memory.
async fn first(form: &ServedPage) -> Result<(f64, f64, f64)> {
    let chromium = Chromium::start(&form.url).await?;
    let browser = chromium.browser();
    // It is loaded before anything attaches.
    let watching = chromium.browser().connect().await?;
    drop(attach(&watching, form.page.title).await?);
    let before = memory::own();
    let started = wall_clock();
    let connected = browser.connect().await?;
    let page = attach(&connected, form.page.title).await?;
    let attached = wall_clock();
    let mut view = TabView::default();
    let number = number(&mut view, &page, form.page.button).await?;
    let node_ref = view.locate(&page, number).await?.node_ref;
    page.begin_focus_emulation().await?;
    page.perform(&BrowserAct::Click(node_ref), Audience::Person).await?;
    let growth = memory::own() - before;
    let felt = input_time(&page, "click").await?.context("the click was felt")?;
    Ok((felt - started, felt - attached, growth))
}

/// Returns the number of a target, as a model reads it.
async fn number(view: &mut TabView, page: &Page, label: &str) -> Result<u32> {
    let text = view.refresh(page).await?.render(WHOLE, RenderFilter::default()).text;
    let remaining = text.split_once(label).with_context(|| format!("{label} in {text}"))?.1;
    let number =
        remaining.split_once('[').and_then(|(_, remaining)| remaining.split_once(']')).context("a number")?.0;
    Ok(number.parse()?)
}

async fn place(page: &Page, label: &str) -> Result<NodeRef> {
    let mut view = TabView::default();
    let number = number(&mut view, page, label).await?;
    Ok(view.locate(page, number).await?.node_ref)
}

/// Runs Octo's act, while the person watches.
async fn act(page: &Page, act: &BrowserAct, kind: &str) -> Result<[f64; 3]> {
    script_result(page, "witness.forget()").await?;
    let (wall_start, started) = (wall_clock(), Instant::now());
    let outcome = page.perform(act, Audience::Person).await?;
    let elapsed = started.elapsed();
    rest().await;
    let felt = input_time(page, kind).await?.context("it was felt")?;
    let waited = outcome.settle_time.as_secs_f64() * 1e3;
    Ok([elapsed.as_secs_f64() * 1e3 - waited, felt - wall_start, waited])
}

async fn run_raw(page: &Page, kind: &str, action: impl Future<Output = Result<()>>) -> Result<[f64; 3]> {
    script_result(page, "witness.forget()").await?;
    let (wall_start, started) = (wall_clock(), Instant::now());
    action.await?;
    let elapsed = started.elapsed();
    rest().await;
    let felt = input_time(page, kind).await?.context("it was felt")?;
    Ok([elapsed.as_secs_f64() * 1e3, felt - wall_start, 0.0])
}

/// Waits until one method's pending drawing no longer delays the other.
async fn rest() {
    tokio::time::sleep(Duration::from_millis(60)).await;
}

/// Clicks at a position known before; a click consists only of the three events.
async fn raw_click(page: &Page, (x, y): (f64, f64)) -> Result<()> {
    let event = |kind, count| DispatchMouseEventParams {
        button: Some(MouseButton::Left),
        click_count: Some(count),
        ..DispatchMouseEventParams::new(kind, x, y)
    };
    page.call(DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, x, y), PATIENCE).await?;
    page.call(event(DispatchMouseEventType::MousePressed, 1), PATIENCE).await?;
    page.call(event(DispatchMouseEventType::MouseReleased, 1), PATIENCE).await?;
    Ok(())
}

/// Sets the focus, selects everything, and types a key per letter: down and up, without waiting in between.
async fn raw_fill(page: &Page, node_ref: &NodeRef, text: &str) -> Result<()> {
    let focus =
        FocusParams { backend_node_id: Some(BackendNodeId::new(node_ref.node)), ..FocusParams::default() };
    page.call(focus, PATIENCE).await?;
    let select = DispatchKeyEventParams {
        commands: Some(vec!["selectAll".to_owned()]),
        ..DispatchKeyEventParams::new(DispatchKeyEventType::RawKeyDown)
    };
    let mut keys = vec![select];
    for character in text.chars() {
        let down = DispatchKeyEventParams {
            text: Some(character.to_string()),
            key: Some(character.to_string()),
            ..DispatchKeyEventParams::new(DispatchKeyEventType::KeyDown)
        };
        let up = DispatchKeyEventParams {
            key: Some(character.to_string()),
            ..DispatchKeyEventParams::new(DispatchKeyEventType::KeyUp)
        };
        keys.extend([down, up]);
    }
    let sent = keys.into_iter().map(|key| page.call(key, PATIENCE));
    futures::future::try_join_all(sent).await?;
    Ok(())
}
