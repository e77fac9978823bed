//! Checks of the results that need no opinion.

use super::given::PIPELINE;
use anyhow::{Context as _, Result, bail, ensure};
use jiff::{ToSpan as _, civil::Date};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A check, and its failure, if any.
#[derive(Debug)]
pub struct Check {
    /// The expected property.
    pub what: &'static str,
    /// Why it does not apply; `None` if the check passed.
    pub fault: Option<String>,
}

/// Timeout of the pipeline's second run.
const BUILDING: Duration = Duration::from_secs(60);

fn check(name: &'static str, outcome: Result<()>) -> Check {
    Check { what: name, fault: outcome.err().map(|error| format!("{error:#}")) }
}

fn read(folder: &Path, name: &str) -> Result<String> {
    fs::read_to_string(folder.join(name)).with_context(|| name.to_owned())
}

/// The slide deck.
pub fn deck(folder: &Path) -> Vec<Check> {
    let page = read(folder, "deck.html").map(|page| page.to_lowercase());
    let on_page = |test: &dyn Fn(&str) -> Result<()>| match &page {
        Ok(page) => test(page),
        Err(error) => bail!("{error:#}"),
    };
    let slides = |page: &str| page.matches("<section").count();
    vec![
        check(
            "eight to ten slides, each with a heading",
            on_page(&|page| {
                let headings: usize = ["<h1", "<h2", "<h3"].iter().map(|tag| page.matches(tag).count()).sum();
                let slides = slides(page);
                ensure!((8..=10).contains(&slides), "{slides} slides");
                ensure!(headings >= slides, "{headings} headings on {slides} slides");
                Ok(())
            }),
        ),
        check(
            "nothing is loaded from elsewhere",
            on_page(&|page| {
                let without_namespace = page.replace("http://www.w3.org/", "");
                for loads in ["http://", "https://", "src=\"//", "<link", "@import"] {
                    ensure!(!without_namespace.contains(loads), "there is {loads}");
                }
                Ok(())
            }),
        ),
        check(
            "a chart in SVG",
            on_page(&|page| {
                ensure!(page.contains("<svg"), "there is no <svg>");
                Ok(())
            }),
        ),
        check(
            "the year's totals are right",
            on_page(&|page| {
                let numbers = join_digit_groups(page);
                for total in ["2116700", "1857750"] {
                    ensure!(numbers.contains(total), "{total} is not there");
                }
                Ok(())
            }),
        ),
        check(
            "a note for each slide",
            on_page(&|page| {
                let notes = read(folder, "notes.md")?;
                let notes = notes.lines().filter(|line| line.starts_with("## ")).count();
                ensure!(notes == slides(page), "{notes} notes for {} slides", slides(page));
                Ok(())
            }),
        ),
    ]
}

/// Returns a text with the separators inside numbers removed: `1,857,750` and `1 857 750` are one number each.
fn join_digit_groups(text: &str) -> String {
    let text = text.replace("&nbsp;", " ").replace("&thinsp;", " ").replace("&#8239;", " ");
    let characters: Vec<char> = text.chars().collect();
    let is_between = |index: usize| {
        let digit = |index: Option<usize>| {
            index.and_then(|index| characters.get(index)).is_some_and(char::is_ascii_digit)
        };
        let groups = matches!(characters[index], ',' | '.' | '\'' | ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}');
        groups && digit(index.checked_sub(1)) && digit(Some(index + 1))
    };
    (0..characters.len()).filter(|&index| !is_between(index)).map(|index| characters[index]).collect()
}

/// The marketing plan.
pub fn plan(folder: &Path) -> Vec<Check> {
    vec![
        check("the plan has its seven parts in order", parts(folder)),
        check("the budget keeps to its limits", budget(folder)),
        check("the calendar has its twelve weeks", calendar(folder)),
    ]
}

fn parts(folder: &Path) -> Result<()> {
    let plan = read(folder, "plan.md")?;
    let found: Vec<&str> = plan.lines().filter_map(|line| line.strip_prefix("## ")).map(str::trim).collect();
    let due = ["Audience", "Message", "Channels", "Calendar", "Budget", "Measures", "Risks"];
    ensure!(found == due, "{found:?}");
    Ok(())
}

/// Returns the rows of a table with these columns; only the last field may contain a comma.
fn rows<const N: usize>(text: &str, columns: [&str; N]) -> Result<Vec<[String; N]>> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let head = lines.next().unwrap_or_default();
    ensure!(head == columns.join(","), "the columns are {head}");
    let row = |line: &str| {
        let fields: Vec<String> = line.splitn(N, ',').map(|field| field.trim().to_owned()).collect();
        fields.try_into().ok().with_context(|| format!("{line}: not {N} fields"))
    };
    lines.map(row).collect()
}

fn budget(folder: &Path) -> Result<()> {
    let mut weeks: BTreeMap<u32, u64> = BTreeMap::new();
    for [channel, week, usd] in rows(&read(folder, "budget.csv")?, ["channel", "week", "usd"])? {
        let excluded = ["television", "tv", "outdoor", "poster", "billboard"];
        let channel_name = channel.to_lowercase();
        ensure!(!excluded.iter().any(|word| channel_name.contains(word)), "{channel} was refused");
        let week = week.parse().with_context(|| format!("week {week}"))?;
        *weeks.entry(week).or_default() += usd.parse::<u64>().with_context(|| format!("{usd} dollars"))?;
    }
    let total: u64 = weeks.values().sum();
    ensure!((16_000..=18_000).contains(&total), "{total} dollars in all");
    for (week, usd) in weeks {
        ensure!((1..=12).contains(&week), "there is no week {week}");
        ensure!(usd <= 3_000, "week {week} costs {usd} dollars");
        ensure!(week != 9 || usd == 0, "the holiday costs {usd} dollars");
    }
    Ok(())
}

fn calendar(folder: &Path) -> Result<()> {
    let rows = rows(&read(folder, "calendar.csv")?, ["week", "monday", "channel", "what"])?;
    ensure!(rows.len() == 12, "{} lines", rows.len());
    let first_day = Date::constant(2027, 3, 1);
    for (number, [week, monday, ..]) in (0..).zip(&rows) {
        let due = (week.clone(), first_day.checked_add((7 * number).days())?.to_string());
        ensure!(*week == (number + 1).to_string(), "week {week} comes as number {}", number + 1);
        ensure!(*monday == due.1, "week {week} begins on {monday}");
    }
    Ok(())
}

/// The content pipeline.
pub fn pipeline(folder: &Path) -> Vec<Check> {
    vec![
        check("the articles are as they were", articles(folder)),
        check("the index lists the four pages, newest first", index(folder)),
        check("the pages are there, and escaped", pages(folder)),
        check("what was left out is named", problems(folder)),
        check("building again gives the same bytes", again(folder)),
    ]
}

fn articles(folder: &Path) -> Result<()> {
    for (path, content) in PIPELINE {
        ensure!(read(folder, path)? == *content, "{path} was changed");
    }
    Ok(())
}

const PAGES: [[&str; 4]; 4] = [
    ["2026-11-02", "the-last-ferry", "The last ferry", "Piet Loos"],
    ["2026-10-05", "a-map-of-smells", "A map of smells", "Ines Faro"],
    ["2026-09-14", "salt-and-light", "Salt & light", "Ines Faro"],
    ["2025-12-24", "the-clockmaker", "The clockmaker", "Ana Sá"],
];

fn index(folder: &Path) -> Result<()> {
    let index = read(folder, "out/index.tsv")?;
    let found: Vec<Vec<&str>> = index.lines().map(|line| line.split('\t').collect()).collect();
    ensure!(found == PAGES, "{found:?}");
    Ok(())
}

fn pages(folder: &Path) -> Result<()> {
    let mut found: Vec<String> =
        output_files(folder)?.into_keys().filter(|name| name.ends_with(".html")).collect();
    found.sort();
    let mut due = PAGES.map(|[_, name, ..]| format!("{name}.html"));
    due.sort();
    ensure!(found == due, "{found:?}");
    let page = read(folder, "out/salt-and-light.html")?;
    for part in ["Salt &amp; light</h1>", "&lt;always&gt;", "<p>The pans of Aveiro"] {
        ensure!(page.contains(part), "{part} is not in salt-and-light.html");
    }
    Ok(())
}

fn problems(folder: &Path) -> Result<()> {
    let problems = read(folder, "out/problems.txt")?;
    let lines: Vec<&str> = problems.lines().filter(|line| !line.trim().is_empty()).collect();
    ensure!(lines.len() == 1 && lines[0].starts_with("bridges"), "{lines:?}");
    Ok(())
}

fn again(folder: &Path) -> Result<()> {
    let before = output_files(folder)?;
    let mut build = Command::new("bash")
        .arg("build.sh")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let deadline = Instant::now() + BUILDING;
    let status = loop {
        if let Some(status) = build.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            build.kill()?;
            build.wait()?;
            bail!("it did not end");
        }
        thread::sleep(Duration::from_millis(20));
    };
    ensure!(status.success(), "{status}");
    let after = output_files(folder)?;
    let changed = after.iter().find(|(name, bytes)| before.get(*name) != Some(bytes));
    ensure!(changed.is_none(), "{:?} is not the same", changed.map(|(name, _)| name));
    ensure!(before.len() == after.len(), "{} files, {} before", after.len(), before.len());
    Ok(())
}

/// The files of `out/`.
fn output_files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder.join("out")).context("out")? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
        }
    }
    Ok(files)
}
