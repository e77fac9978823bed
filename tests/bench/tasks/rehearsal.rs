//! The scripted model: it works like a real one, with prepared answers.

use super::given::BenchTask;
use anyhow::Result;
use octo_protocol::{ModelDraft, Protocol, Secret};
use octo_testkit::{ModelServer, Reply, Script, TempHome};
use serde_json::json;
use std::{fmt::Write as _, fs};

const MODEL: &str = "scripted";

/// Starts a server for a task, and returns it with its priced model.
///
/// # Errors
/// When the prices cannot be written.
pub fn start(task: &BenchTask, home: &TempHome) -> Result<(ModelServer, ModelDraft)> {
    let server = ModelServer::start((task.rehearsal)().into_iter().fold(Script::new(), Script::reply));
    let rates = json!({ "input": 3, "output": 15, "read": 0.3, "write": 3.75, "write_hour": 6 });
    let prices = json!({ "rates": rates, "date": "2026-11-22", "source": "made up for the scripted server" });
    let markers = json!({ "limit": 4, "lookback": 20, "lives": ["five_minutes", "hour"] });
    let table = json!({ "version": 1, "providers": [{
        "id": MODEL, "name": "Scripted", "protocol": "anthropic", "addresses": [{ "url": server.url() }],
        "caching": { "kind": { "markers": markers }, "minimum": 1024 },
        "rows": [{ "name": MODEL, "prices": prices }],
    }] });
    fs::create_dir_all(home.octo())?;
    fs::write(home.octo().join("presets.json"), table.to_string())?;
    let draft = ModelDraft {
        id: None,
        protocol: Protocol::Anthropic,
        base_url: server.url(),
        model: MODEL.to_owned(),
        key: Some(Secret::new("sk-bench-0123456789")),
        headers: None,
    };
    Ok((server, draft))
}

fn reads(text: &str, files: &[&str]) -> Reply {
    let read = |reply: Reply, file: &&str| reply.and_call("file_reader", json!({ "path": file }));
    files.iter().fold(Reply::text(text), read)
}

fn writes(reply: Reply, path: &str, content: &str) -> Reply {
    reply.and_call("write", json!({ "path": path, "content": content }))
}

fn runs(text: &str, command: &str) -> Reply {
    Reply::text(text).and_call("terminal", json!({ "command": command }))
}

const SLIDES: [(&str, &str, &str); 8] = [
    (
        "Lantern in 2026",
        "<p>Reading lamps for rent, bulbs by subscription.</p>",
        "Two of you are new, so one minute on who we are. We rent out reading lamps. The bulbs come by subscription.",
    ),
    (
        "A good year",
        "<p>Revenue 2,116,700. Costs 1,857,750.</p>",
        "These are the four quarters added up. What is left is 258,950.",
    ),
    (
        "Growth came in the second half",
        "CHART",
        "The first two quarters were flat. The third and fourth were not.",
    ),
    (
        "Subscribers: 5,210 to 8,412",
        "<p>5,210 · 5,604 · 6,890 · 8,412</p>",
        "We began with 5,210. We ended with 8,412.",
    ),
    (
        "Returns are the problem",
        "<p>201 in the second quarter, 347 in the third: up 73 %. Subscribers: up 23 %.</p>",
        "In the third quarter returns grew three times as fast as subscribers. We say so plainly.",
    ),
    (
        "What customers say",
        "<p>“My father reads again. I don't know how else to put it.”</p>\
         <p>“I sent two back before I got one that did not hum.”</p>",
        "One quote for why we do this. One for what must change.",
    ),
    (
        "Risks",
        "<p>The hum comes back. Repairs cost more than new lamps.</p>",
        "Both can be measured within a quarter. We will report on both.",
    ),
    (
        "The decision: a repair bench in Ghent",
        "<p>140,000 in the second quarter of 2027. If yes: lease in February, first repairs in May.</p>",
        "This is the one thing we ask for. If you say yes, we sign the lease in February.",
    ),
];

/// The slide deck.
pub fn deck() -> Vec<Reply> {
    let mut chart = String::from(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 220">"#);
    for (index, revenue) in [412_300, 438_750, 561_200, 704_450].into_iter().enumerate() {
        let (left, height) = (index * 110 + 10, revenue / 4_000);
        let top = 200 - height;
        let _ = write!(chart, r#"<rect x="{left}" y="{top}" width="90" height="{height}"/>"#);
        let _ = write!(chart, r#"<text x="{left}" y="{}">{revenue}</text>"#, top - 4);
    }
    chart.push_str("</svg>");
    let (mut page, mut notes) =
        (String::from("<!doctype html><meta charset=utf-8><title>Lantern</title>\n"), String::new());
    for (title, body, note) in SLIDES {
        let _ = writeln!(page, "<section><h2>{title}</h2>{}</section>", body.replace("CHART", &chart));
        let _ = writeln!(notes, "## {title}\n\n{note}\n");
    }
    let sums = "awk -F, 'NR > 1 { r += $2; c += $3 } END { print r, c }' figures.csv; \
                grep -c '<section' deck.html; grep -c '^## ' notes.md";
    vec![
        reads("I read what there is first.", &["brief.md", "figures.csv", "quotes.md"]),
        writes(
            writes(Reply::text("Eight slides, with the request last."), "deck.html", &page),
            "notes.md",
            &notes,
        ),
        runs("I check the totals and the counts.", sums),
        Reply::text("The deck has eight slides and eight notes. The totals are 2,116,700 and 1,857,750."),
    ]
}

const PLAN: &str = "\
# Tideline: twelve weeks

## Audience

People who swim in the sea all year, most of them between 35 and 60, in clubs.

## Message

Know before you go. No account, no subscription.

## Channels

Asked what they would look at, 9 name newsletters, 9 podcasts, 3 instagram and 3 local radio.

## Calendar

See calendar.csv: newsletters and podcasts take turns, and week 9 is empty.

## Budget

See budget.csv: 17,600 dollars, never more than 1,600 in a week.

## Measures

1,200 sold in twelve weeks: 100 a week, looked at each Monday.

## Risks

Noor falls ill: the newsletters are written four weeks ahead.
";

/// The marketing plan.
pub fn plan() -> Vec<Reply> {
    let (mut budget, mut calendar) =
        (String::from("channel,week,usd\n"), String::from("week,monday,channel,what\n"));
    let mondays = [
        "2027-03-01",
        "2027-03-08",
        "2027-03-15",
        "2027-03-22",
        "2027-03-29",
        "2027-04-05",
        "2027-04-12",
        "2027-04-19",
        "2027-04-26",
        "2027-05-03",
        "2027-05-10",
        "2027-05-17",
    ];
    for (week, monday) in (1..).zip(mondays) {
        let channel = if week % 2 == 0 { "podcast" } else { "newsletter" };
        let (channel, content) =
            if week == 9 { ("none", "holiday") } else { (channel, "one piece, one offer") };
        if week != 9 {
            let _ = writeln!(budget, "{channel},{week},1600");
        }
        let _ = writeln!(calendar, "{week},{monday},{channel},{content}");
    }
    let reply = writes(Reply::text("The plan and its two tables."), "plan.md", PLAN);
    let reply = writes(writes(reply, "budget.csv", &budget), "calendar.csv", &calendar);
    vec![
        reads("I read what there is first.", &["product.md", "limits.md", "survey.csv"]),
        runs("I count the survey.", "cut -d, -f5 survey.csv | tail -n +2 | sort | uniq -c"),
        reply,
        runs("I add the budget up.", "awk -F, 'NR > 1 { s += $3 } END { print s }' budget.csv"),
        Reply::text("The plan spends 17,600 of 18,000 dollars and leaves the holiday alone."),
    ]
}

/// The content pipeline.
pub fn pipeline() -> Vec<Reply> {
    let command = "bash build.sh && ls out && cat out/index.tsv out/problems.txt out/salt-and-light.html";
    let twice = "before=$(cat out/* | cksum) && bash build.sh && [ \"$before\" = \"$(cat out/* | cksum)\" ] && echo same";
    vec![
        reads(
            "I read what it must do.",
            &["pipeline.md", "articles/salt-and-light.md", "articles/bridges.md"],
        ),
        writes(Reply::text("The script."), "build.sh", include_str!("rehearsal/build.sh")),
        runs("I run it and look.", command),
        runs("And once more.", twice),
        Reply::text("build.sh makes four pages; bridges.md is left out, since its date is none."),
    ]
}
