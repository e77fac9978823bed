//! How providers' prompt caches handle Octo's requests.
//!
//! The real core runs each workload once per wire format, against the scripted server. The requests it sent are
//! then replayed to the simulated cache of each kind on a separate clock, with the person's pauses between them
//! and the refreshes that [`octo_llm::keep_warm`] requests. Nothing depends on the machine: the figures are the
//! same each time.

mod bill;
mod harness;
mod workloads;

use crate::{say, table::Table};
use anyhow::{Context as _, Result};
use bill::{Bill, WarmKeeping};
use harness::{BenchCacheKind, WorkloadTrace};
use octo_llm::{CacheKind, Caching};
use octo_protocol::Protocol;
use octo_testkit::CachePolicy;
use serde_json::Value;
use std::fmt::Write as _;
use workloads::{WORKLOADS, Workload};

/// Seeds of the person's pauses.
const SEEDS: u64 = 20;
/// Tokens of the whole prefix; average and maximum tokens of a tool's schema; and tokens of the system prompt
/// without skills.
const PREFIX: u64 = 4_500;
const TOOL_AVERAGE: u64 = 160;
const TOOL_MOST: u64 = 450;
const SYSTEM: u64 = 1_200;

/// Returns the kinds of caches, each with its wire format.
fn kinds() -> Vec<BenchCacheKind> {
    let caching = |kind, minimum| Caching { kind, minimum };
    let prefix = CacheKind::Prefix { step: 128, life_seconds: 300, keyed: true };
    let points = CacheKind::Breakpoints { limit: 3, lookback: 80, life_seconds: 1800 };
    let units = CacheKind::Units { life_seconds: 7200 };
    let chance = CacheKind::Probabilistic { probability: 0.8, life_seconds: 300 };
    [
        ("Anthropic", Protocol::Anthropic, Caching::anthropic(), CachePolicy::anthropic()),
        ("Bedrock", Protocol::Bedrock, Caching::anthropic(), CachePolicy::bedrock()),
        (
            "OpenAI from 5.6",
            Protocol::OpenaiResponses,
            caching(points, 1024),
            CachePolicy::openai_breakpoints(),
        ),
        (
            "OpenAI before 5.6",
            Protocol::OpenaiResponses,
            caching(prefix, 1024),
            CachePolicy::openai_automatic(),
        ),
        ("DeepSeek", Protocol::OpenaiChat, caching(units, 64), CachePolicy::deepseek()),
        ("Gemini", Protocol::OpenaiChat, caching(chance, 4096), CachePolicy::gemini(1)),
        ("no cache", Protocol::OpenaiChat, Caching::NONE, CachePolicy::none()),
    ]
    .map(|(name, protocol, caching, policy)| BenchCacheKind { name, protocol, caching, policy })
    .into()
}

/// Adds the tables.
///
/// # Errors
/// When the core deviates from the script, or sends a request a provider refuses.
pub async fn measure(table: &mut Table) -> Result<()> {
    let mut text = String::from(
        "| Workload | Cache | Requests | Refreshes | Input | Read | Written | Output | Hit rate | Cost $ | Ideal $ | \
         Ratio | Aim | Misses |\n| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | :-- |\n",
    );
    let mut notes = Vec::new();
    let mut fixed = None;
    for workload in WORKLOADS {
        for kind in kinds() {
            say(&format!("{} with {}", workload.name, kind.name));
            let trace = harness::record(workload, &kind)
                .await
                .with_context(|| format!("{} with {}", workload.name, kind.name))?;
            let bill = bills(workload, &kind, &trace, WarmKeeping::Warm)?;
            writeln!(text, "{}", row(workload, kind.name, &kind, &bill))?;
            if bill.refreshes > 0 {
                let cold = bills(workload, &kind, &trace, WarmKeeping::Left)?;
                let name = format!("{}, not kept warm", kind.name);
                writeln!(text, "{}", row(workload, &name, &kind, &cold))?;
            }
            if kind.protocol == Protocol::Anthropic {
                fixed = fixed.or_else(|| trace.requests.first().map(|sent| sent.request.body.clone()));
                notes.extend(compactions(workload, &bill));
            }
        }
    }
    table.note(text);
    for note in notes {
        table.note(note);
    }
    if let Some(body) = fixed {
        table.note(prefix(&body)?);
    }
    table.note(format!(
        "Tokens are bytes / 4. Prices in $ per million: 3 input, 15 output, 3.75 written for five minutes, 6 for an \
         hour, 0.3 read; OpenAI before 5.6 and Gemini write for free; DeepSeek 0.139, 0.28, read 0.028. The ideal \
         sends the same requests but the refreshes, writes each token once per model and reads it afterwards. Pauses \
         are log-normal with a median of 40 s, one in eight over five minutes; their figures are the sum over {SEEDS} \
         seeds. Next-message suggestions are off."
    ));
    Ok(())
}

/// Sums over the seeds, if there are pauses.
fn bills(
    workload: &Workload,
    kind: &BenchCacheKind,
    trace: &WorkloadTrace,
    keeping: WarmKeeping,
) -> Result<Bill> {
    let seeds = if trace.requests.iter().any(|sent| sent.pause_before) { SEEDS } else { 1 };
    let mut total = Bill::default();
    for seed in 1..=seeds {
        total += bill::replay(trace, kind, seed, keeping).with_context(|| workload.name)?;
    }
    Ok(total)
}

fn row(workload: &Workload, name: &str, kind: &BenchCacheKind, bill: &Bill) -> String {
    let usage = bill.usage;
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let hit_rate = usage.cache_read as f64 / usage.total_input() as f64;
    let uses_markers = matches!(kind.caching.kind, CacheKind::Markers { .. });
    let goal = workload.aim.filter(|_| uses_markers).map_or(String::new(), |goal| format!("{goal:.2}"));
    let misses: Vec<String> = bill.misses.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {:.1} % | {:.3} | {:.3} | {:.3} | {goal} | {} |",
        workload.name,
        name,
        bill.requests,
        bill.refreshes,
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
        hit_rate * 100.0,
        bill.cost,
        bill.ideal,
        bill.cost / bill.ideal,
        misses.join(", "),
    )
}

/// Returns the share each compaction read, and the tokens the request after it wrote.
fn compactions(workload: &Workload, bill: &Bill) -> Vec<String> {
    let row_of = |compaction: &bill::Compaction| {
        format!(
            "`{}`: a compaction read {:.1} % of its {} tokens from the cache (aim 95 %); the request after it wrote \
             {} tokens (aim below 10,000).",
            workload.name,
            compaction.share_read * 100.0,
            compaction.input,
            compaction.written_after
        )
    };
    bill.compactions.iter().map(row_of).collect()
}

/// Returns the part common to every request.
fn prefix(body: &Value) -> Result<String> {
    let tokens = |value: &Value| value.to_string().len() as u64 / 4;
    let tools = body["tools"].as_array().context("tools")?;
    let sizes: Vec<u64> = tools.iter().map(tokens).collect();
    let total: u64 = sizes.iter().sum();
    let average = total / sizes.len().max(1) as u64;
    let blocks = body["system"].as_array().context("a system prompt")?;
    let system: u64 = blocks.iter().map(tokens).sum();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    let skills: u64 = texts
        .filter_map(|text| text.split_once("\n# Skills\n"))
        .map(|(_, listing)| listing.len() as u64 / 4)
        .sum();
    let mut text = format!(
        "Fixed prefix: {} tokens (aim {PREFIX}): {} tools {total} (average {average}, aim {TOOL_AVERAGE}; largest {}, aim \
         {TOOL_MOST}), system prompt {} (aim {SYSTEM}), skills {skills}.\n\n| Tool | Tokens |\n| :-- | --: |\n",
        total + system,
        tools.len(),
        sizes.iter().max().unwrap_or(&0),
        system - skills,
    );
    for (tool, size) in tools.iter().zip(&sizes) {
        writeln!(text, "| {} | {size} |", tool["name"].as_str().unwrap_or_default())?;
    }
    Ok(text)
}
