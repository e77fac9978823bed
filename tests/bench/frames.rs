//! The time between frames of the window while it is busy, compared with a plain Tauri window's.

use crate::{
    say,
    seed::{self, LONG, SESSIONS, SeededHome},
    table::{Figures, Table, Unit},
};
use anyhow::{Context as _, Result, ensure};
use octo_protocol::SetModel;
use octo_testkit::{ModelServer, Reply, Script};
use octo_tests::{Application, Desktop, Theme};
use serde_json::Value;
use std::{path::PathBuf, time::Duration};

/// Number of windows of each kind.
const RUNS: usize = 3;
/// How long frames are counted, in milliseconds.
const SPAN: u32 = 6_000;
/// 500 tokens per second are some 2,000 characters; a piece of this many arrives every [`PACE`].
const PIECE: usize = 60;
const PACE: Duration = Duration::from_millis(30);
/// More pieces than arrive while the test waits for the window and counts frames.
const PIECES: usize = 1_500;
/// Pixels scrolled per frame.
const STEP: u32 = 40;

/// The window's work while its frames are counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum WindowWork {
    Blank,
    Streaming,
    Transcript,
    List,
}

/// Adds the rows.
///
/// # Errors
/// When a window does not open or does not do its work.
pub async fn measure(table: &mut Table, seeded: &SeededHome) -> Result<()> {
    if !cfg!(target_os = "linux") {
        say("frames are only measured on Linux: only there is a private desktop");
        return Ok(());
    }
    let desktop = Desktop::start()?;
    let plain_window =
        std::env::var_os("OCTO_PLAIN_WINDOW").context("OCTO_PLAIN_WINDOW: cargo xtask bench sets it")?;
    let plain_window = PathBuf::from(plain_window);
    let mut samples = Vec::new();
    for _ in 0..RUNS {
        let app =
            Application::open_program(&desktop, &plain_window, &seeded.home.home(), Theme::Light).await?;
        samples.push((WindowWork::Blank, frames(&app, "").await?));
        app.close().await?;
        samples.extend(busy(&desktop, seeded).await?);
    }
    for (work, label) in [
        (WindowWork::Blank, "the blank page of a plain Tauri window".to_owned()),
        (WindowWork::Streaming, format!("500 tokens a second come into a transcript of {LONG} messages")),
        (WindowWork::Transcript, format!("a transcript of {LONG} messages is scrolled")),
        (WindowWork::List, format!("a list of {SESSIONS} sessions is scrolled")),
    ] {
        for (part, name) in [(0.5, "half of them"), (0.99, "99 of 100")] {
            let quantile = |frames: &[f64]| place(frames, part);
            let figures =
                samples.iter().filter(|(kind, _)| *kind == work).map(|(_, frames)| quantile(frames));
            table.add(
                format!("Frame after frame, {name} within, {label}"),
                Unit::Milliseconds,
                Figures::of(figures)?,
            );
        }
    }
    table.note(format!(
        "Frames are those the page is called for (`requestAnimationFrame`), {} s for each kind of work in each of {RUNS} \
         windows, on a virtual screen without a graphics card. What is scrolled moves by {STEP} pixels each frame.",
        SPAN / 1_000
    ));
    Ok(())
}

/// Measures Octo's window with its three kinds of work.
async fn busy(desktop: &Desktop, seeded: &SeededHome) -> Result<Vec<(WindowWork, Vec<f64>)>> {
    let paragraph = "The part was sent again after the connection came back, so the store says so.\n\n";
    let text: String = paragraph.chars().cycle().take(PIECE * PIECES).collect();
    let reply = Reply::text(text).in_chunks(PIECES).paced(PACE);
    let server = ModelServer::start(Script::new().reply(reply));
    let octo = seed::start(&seeded.home).await?;
    let model = seed::add_model(&octo, server.url()).await?;
    octo.call(SetModel { session: seeded.long, model }).await?;
    octo.shutdown().await;

    let app = Application::open(desktop, &seeded.home.octo(), Theme::Light).await?;
    app.click(&format!("session-row[data-session='{}']", seeded.long)).await?;
    // Whatever the last turn looks like, its end is visible.
    app.find("turn-end").await?;
    let mut samples = Vec::new();
    for (work, id, direction) in
        [(WindowWork::List, "session-list", 1), (WindowWork::Transcript, "transcript", -1)]
    {
        let scroll = format!(
            "const scroller = document.querySelector('[data-testid={id}]'); \
             scroller.dispatchEvent(new WheelEvent('wheel')); \
             let gone = 0; \
             work = () => {{ \
                 const before = scroller.scrollTop; \
                 scroller.scrollTop += {direction} * {STEP}; \
                 gone += Math.abs(scroller.scrollTop - before); \
             }}; \
             measure = () => gone;"
        );
        // The distance is summed frame by frame: its end position says little, because content loaded above
        // moves it down.
        samples.push((work, frames(&app, &scroll).await.with_context(|| format!("{work:?}"))?));
    }
    app.fill("composer", "Go on").await?;
    app.click("send").await?;
    let selector = "[data-testid=transcript] [data-testid=answer]";
    let grows =
        format!("measure = () => [...document.querySelectorAll('{selector}')].at(-1).textContent.length;");
    app.text_where("transcript", "the answer's first words", |text| text.contains("The part was sent"))
        .await?;
    samples.push((WindowWork::Streaming, frames(&app, &grows).await.context("Streaming")?));
    app.click("stop").await?;
    app.find("turn-end[data-end=stopped]").await?;
    app.close().await?;
    Ok(samples)
}

/// Counts frames while the work started by `setup` runs; fails if it had no effect.
async fn frames(app: &Application, setup: &str) -> Result<Vec<f64>> {
    let script = format!(
        "const done = arguments[0]; let work = () => {{}}; let measure = () => null; {setup} \
         const frames = []; const before = measure(); let began = null; let last = null; \
         const frame = (at) => {{ \
             if (last === null) began = at; else frames.push(at - last); \
             last = at; work(); \
             if (at - began < {SPAN}) requestAnimationFrame(frame); \
             else done({{ frames, moved: Math.abs(measure() - before) }}); \
         }}; \
         requestAnimationFrame(frame);"
    );
    let result = app.script_async(&script).await?;
    let distance = result["moved"].as_f64().context("how far it came")?;
    ensure!(setup.is_empty() || distance > 1_000.0, "the page did its work: it moved by {distance}");
    let frames = result["frames"].as_array().context("a list of frames")?;
    let mut frames: Vec<f64> = frames.iter().filter_map(Value::as_f64).collect();
    frames.sort_by(f64::total_cmp);
    ensure!(frames.len() > 10, "only {} frames", frames.len());
    Ok(frames)
}

/// Returns the quantile of sorted numbers.
fn place(sorted: &[f64], part: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts far below 2^53, and never negative"
    )]
    let index = (sorted.len() as f64 * part) as usize;
    sorted.get(index).or(sorted.last()).copied().unwrap_or_default()
}
