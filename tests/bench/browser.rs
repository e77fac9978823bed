//! Octo's browser compared with Playwright MCP and chrome-devtools-mcp: the same pages, the same headless
//! Chromium, a fresh one with one tab for each.
//!
//! The bench's own observer script (`pages/witness.js`) runs in every page and frame. It counts the elements
//! that can really be clicked or filled in, is notified by an event at the element itself when a tool gave it a
//! handle, and records when the page received an input. Tokens are Octo's own estimate for all three.

mod chromium;
mod octo;
mod own;
mod peers;
mod site;

use crate::{
    say,
    table::{Figures, Table, Unit},
};
use anyhow::{Context as _, Result, ensure};
use chromium::Targets;
use peers::Peer;
use site::Site;
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// Number of clicks and fills per page, alternating.
const RUNS: usize = 5;
/// Default size of a snapshot of Octo's tool, in estimated tokens.
const SNAPSHOT: usize = 4_000;
/// The goal of the project's fifth issue: a third of another tool's tokens.
const THIRD: f64 = 0.333;

/// A page, and the actions in it.
struct BenchPage {
    name: &'static str,
    path: &'static str,
    title: &'static str,
    /// Name of the button to click, as all three tools write it.
    button: &'static str,
    /// Name of the field to fill in.
    field: &'static str,
    text: FillText,
}

/// Text to write into a field.
#[derive(Clone, Copy)]
enum FillText {
    /// A different text each time.
    Another,
    /// Always the same text: a page that filters by it shows only the remainder.
    Same(&'static str),
}

impl FillText {
    fn of(self, run: usize) -> String {
        match self {
            Self::Another => format!("text {run}"),
            Self::Same(text) => text.to_owned(),
        }
    }
}

const PAGES: [BenchPage; 6] = [
    BenchPage {
        name: "shop, frames and shadow roots",
        path: "/shop.html",
        title: "Blue Mug Shop",
        button: "button \"Gift wrap all\"",
        field: "searchbox \"Search\"",
        text: FillText::Another,
    },
    BenchPage {
        name: "admin dashboard",
        path: "/admin.html",
        title: "Orders - Console",
        button: "button \"Refresh\"",
        field: "textbox \"Filter\"",
        text: FillText::Another,
    },
    BenchPage {
        name: "table of 300 rows",
        path: "/table.html",
        title: "Customers",
        button: "button \"Mark all\"",
        field: "textbox \"Filter\"",
        text: FillText::Another,
    },
    BenchPage {
        name: "long documentation",
        path: "/docs.html",
        title: "Reference of the parser",
        button: "button \"Fold all\"",
        field: "textbox \"Search the manual\"",
        text: FillText::Another,
    },
    BenchPage {
        name: "Swagger UI",
        path: "/swagger.html",
        title: "Pets API",
        button: "button \"Schemas\"",
        field: "textbox \"Filter by tag",
        text: FillText::Same("e"),
    },
    BenchPage {
        name: "form",
        path: "/form.html",
        title: "Sign up",
        button: "button \"Check what I wrote\"",
        field: "textbox \"Name *\"",
        text: FillText::Another,
    },
];

/// A page with its address.
struct ServedPage {
    page: &'static BenchPage,
    url: String,
}

impl ServedPage {
    /// Swagger UI renders after its page has loaded; all tools get the same pause.
    async fn come_to_rest(&self) {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// A tool's result for a page.
struct PageResult {
    /// Tokens of the reply to a snapshot.
    snapshot: usize,
    /// Tokens of everything read to have the whole page: the reply, and the following parts if it is an
    /// overview.
    whole: usize,
    /// Tokens of everything read to have every target of the page; for a tool that can list only targets, of
    /// that list to its end.
    listed: usize,
    /// Duration of the snapshot.
    look: Duration,
    /// Median tokens of the reply to an act.
    reply: f64,
    /// The same, including the text that shows the act's changes.
    with_change: f64,
    click: Figures,
    fill: Figures,
    /// Duration of a click until its changes are reported.
    told: Figures,
    /// Targets with a handle in the reply.
    shown: Targets,
    /// Targets with a handle in the whole page.
    targets: Targets,
}

/// A tool's results for all pages.
struct ToolResults {
    seen: Vec<PageResult>,
    /// From the first call to a click the page received, in milliseconds.
    first: f64,
    /// Memory of its own processes, in millions of bytes.
    memory: f64,
}

/// Adds the rows and the tables.
///
/// # Errors
/// When a tool or the browser is missing, or does not do its part.
pub async fn measure(table: &mut Table) -> Result<()> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench");
    let modules: PathBuf = bench.join("peers/node_modules");
    ensure!(modules.is_dir(), "the other tools are not installed: cargo xtask bench browser installs them");
    let site = Site::start(&bench.join("pages"), &modules.join("swagger-ui-dist")).await?;
    let pages = PAGES.each_ref().map(|page| ServedPage { page, url: site.url(page.path) });
    let form = pages.last().context("a form")?;
    say("browser: Octo against raw input");
    let figures = own::measure(table, form).await?;
    say("browser: Octo");
    let mut tools = vec![("Octo".to_owned(), octo::measure(&pages, &figures).await.context("Octo")?)];
    for peer in Peer::ALL {
        let name = format!("{} {}", peer.name(), peer.version(&modules)?);
        say(&format!("browser: {name}"));
        let measured = peers::measure(peer, &modules, &pages, form).await.with_context(|| name.clone())?;
        tools.push((name, measured));
    }
    aims(table, &tools)?;
    table.note(matrix(&pages, &tools));
    table.note(whole(&tools));
    table.note(missed(&pages, &tools));
    table.note(format!(
        "All three drive the same headless Chromium over one connection. Octo's times are those of its whole agent \
         between two calls of a scripted model, with the question whether it may, pictures for the person, and the \
         store; the others' are those of a call over MCP. Octo's reply to an act says what changed; the others' say \
         that it was done (Playwright MCP names a file with a new snapshot), so what it changed is read by a snapshot \
         after it. {RUNS} clicks and {RUNS} fills of each page, medians. An aim for tokens is for all pages together, \
         least and most are single pages. Octo's snapshot is an overview where a page is long, and the whole is read in \
         parts or found in: the targets in the overview stand beside its tokens, those of the whole page beside the \
         tokens of the overview and of all parts. A first click is felt after attaching to a page that is \
         loaded, with the snapshot before it. The memory of the others is that of their Node processes (PSS), without \
         the browser. Tokens are estimated the same way for all (`octo_browser::snapshot::estimate_tokens`)."
    ));
    Ok(())
}

/// Octo's tokens against the others', over all pages.
fn aims(table: &mut Table, tools: &[(String, ToolResults)]) -> Result<()> {
    let Some(((_, octo), peers)) = tools.split_first() else { return Ok(()) };
    for (name, peer) in peers {
        for (label, tokens) in [
            (
                "Tokens of the snapshots' replies",
                (|result: &PageResult| result.snapshot as f64) as fn(&PageResult) -> f64,
            ),
            ("Tokens of lists of all targets", |result: &PageResult| result.listed as f64),
            ("Tokens until the model reads what an act changed", |result: &PageResult| result.with_change),
        ] {
            let ratio = |octo_value: f64, peer_value: f64| octo_value / peer_value;
            let pairs = octo.seen.iter().zip(&peer.seen);
            let each = Figures::of(
                pairs.map(|(octo_value, peer_value)| ratio(tokens(octo_value), tokens(peer_value))),
            )?;
            let sum = |measured: &ToolResults| measured.seen.iter().map(tokens).sum::<f64>();
            // The goal is for all pages together; minimum and maximum are of single pages.
            let total = Figures { median: ratio(sum(octo), sum(peer)), ..each };
            table.add_with_goal(format!("{label}, Octo to {name}"), Unit::Times, total, THIRD);
        }
        let replies = marks_for_tokens(octo, peer, |result| (result.snapshot, result.shown.marked));
        let listed = marks_for_tokens(octo, peer, |result| (result.listed, result.targets.marked));
        let pages = marks_for_tokens(octo, peer, |result| (result.whole, result.targets.marked));
        table.note(format!(
            "Aim: at most a third of the tokens of {name} with more targets marked by the same tokens. Of the snapshots' \
             replies alone {replies}. Of lists of targets alone, which Octo's snapshot is asked for by `targets` and which \
             are read to their end, {listed}. Of the whole pages, the parts after an overview counted with it, {pages}."
        ));
    }
    Ok(())
}

/// Returns Octo's tokens per mark relative to another tool's, both counted in the same text: an overview with
/// few tokens has no advantage if it leaves targets out.
fn marks_for_tokens(
    octo: &ToolResults,
    peer: &ToolResults,
    value: fn(&PageResult) -> (usize, usize),
) -> String {
    let total_of = |measured: &ToolResults| {
        let of_each = measured.seen.iter().map(value);
        of_each.fold((0, 0), |(tokens, marks), (more, marked)| (tokens + more, marks + marked))
    };
    let ((tokens, marks), (their_tokens, their_marks)) = (total_of(octo), total_of(peer));
    let ratio = tokens as f64 / their_tokens as f64;
    let verdict = if ratio <= THIRD && marks > their_marks { "met" } else { "not met" };
    format!("{verdict}: {ratio:.2} × the tokens, {marks} targets to {their_marks}")
}

fn matrix(pages: &[ServedPage], tools: &[(String, ToolResults)]) -> String {
    let mut text = "| Page | Tool | Snapshot, tokens | All targets, tokens | Whole page, tokens | Act's reply, tokens | With what it changed | Targets in the reply | Targets in the whole | Present | Snapshot | Click | Fill | Click, and what it changed |\n\
        | :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
        .to_owned();
    for (index, page) in pages.iter().enumerate() {
        for (name, measured) in tools {
            let Some(result) = measured.seen.get(index) else { continue };
            let tool = name.split(' ').next().unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n| {} | {tool} | {} | {} | {} | {:.0} | {:.0} | {} | {} | {} | {:.0} ms | {:.0} ms | {:.0} ms | {:.0} ms |",
                page.page.name,
                result.snapshot,
                result.listed,
                result.whole,
                result.reply,
                result.with_change,
                result.shown.marked,
                result.targets.marked,
                result.targets.present,
                result.look.as_secs_f64() * 1e3,
                result.click.median,
                result.fill.median,
                result.told.median,
            );
        }
    }
    text
}

fn whole(tools: &[(String, ToolResults)]) -> String {
    let mut text = "| Tool, all pages | Snapshots, tokens | All targets, tokens | Whole pages, tokens | Acts' replies, tokens | With what they changed | Targets in replies | Targets in the whole | Present | First click felt | Memory |\n\
        | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
        .to_owned();
    for (name, ToolResults { seen: result, first, memory }) in tools {
        let sum = |value: fn(&PageResult) -> f64| result.iter().map(value).sum::<f64>();
        let _ = write!(
            text,
            "\n| {name} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {first:.0} ms | {memory:.1} MB |",
            sum(|result| result.snapshot as f64),
            sum(|result| result.listed as f64),
            sum(|result| result.whole as f64),
            sum(|result| result.reply),
            sum(|result| result.with_change),
            sum(|result| result.shown.marked as f64),
            sum(|result| result.targets.marked as f64),
            sum(|result| result.targets.present as f64),
        );
    }
    text
}

/// Lists the elements without a handle, so that the counts above can be verified.
fn missed(pages: &[ServedPage], tools: &[(String, ToolResults)]) -> String {
    let mut text = "Targets that got no handle (the first of each page):".to_owned();
    for (name, measured) in tools {
        for (page, result) in pages.iter().zip(&measured.seen) {
            if !result.targets.missed.is_empty() {
                let _ = write!(
                    text,
                    "\n* {name}, {}: {}",
                    page.page.name,
                    result.targets.missed.join("; ").trim()
                );
            }
        }
    }
    text
}

fn numbers_of(numbers: &[usize]) -> Result<Figures> {
    Figures::of(numbers.iter().map(|number| *number as f64))
}
