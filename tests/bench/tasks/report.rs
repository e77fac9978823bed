//! The table of calls, and the report.

use super::{checks::Check, options::Options};
use octo_protocol::{BilledCall, Cost, Language, Spending, TurnEnd, Usage, words};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

/// A finished task.
pub struct FinishedTask {
    /// Its name.
    pub task: &'static str,
    /// How its turn ended.
    pub end: TurnEnd,
    /// The duration.
    pub took: Duration,
    /// The number of turns.
    pub turns: usize,
    /// Their calls, oldest first.
    pub calls: Vec<BilledCall>,
    /// The session's total spending.
    pub spending: Spending,
    /// The created files, with their sizes in bytes.
    pub files: Vec<(String, u64)>,
    /// Checks of the results.
    pub checks: Vec<Check>,
}

const COLUMNS: &str = "task,number,purpose,model,at_ms,input,cache_read,cache_write,output,cost_usd,first_byte_ms,\
                       total_ms,outcome,expected_read,miss\n";

/// Returns every call as a row. Unknown values are empty.
pub fn csv(finished: &[FinishedTask]) -> String {
    let mut text = COLUMNS.to_owned();
    for finished in finished {
        for (number, call) in (1..).zip(&finished.calls) {
            let usage = |class: fn(&Usage) -> u64| call.usage.as_ref().map(class);
            let fields = [
                finished.task.to_owned(),
                i32::to_string(&number),
                spelled(&json!(call.purpose)),
                quoted(&call.name),
                call.at.to_string(),
                known(usage(|usage| usage.input)),
                known(usage(|usage| usage.cache_read)),
                known(usage(|usage| usage.cache_write)),
                known(usage(|usage| usage.output)),
                call.cost.map_or_else(String::new, |cost| cost.to_string().replace('$', "")),
                known(call.first_byte_ms),
                call.total_ms.to_string(),
                spelled(&json!(call.outcome)),
                known(call.expected_read),
                spelled(&json!(call.miss)["class"]),
            ];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

fn known(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Returns the protocol's own name of a value.
fn spelled(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The report.
pub fn markdown(options: &Options, finished: &[FinishedTask]) -> String {
    let mut text = match &options.model {
        Some(model) => format!("Tasks with `{}`, over `{}`.", model.name, model.protocol_name),
        None => "Tasks with the scripted server: its answers are written beforehand and its tokens are bytes / 4, so \
                 this shows that the work, the ledger and the checks go together, and nothing of a model."
            .to_owned(),
    };
    text.push_str(
        "\n\n| Task | Turns | Calls | Input | Read | Written | Output | Hit rate | Cost $ | Time | Checks |\n\
         | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for finished in finished {
        let usage = finished.spending.usage;
        let passed = finished.checks.iter().filter(|check| check.fault.is_none()).count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} s | {passed} of {} |",
            finished.task,
            finished.turns,
            finished.spending.calls,
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output,
            share(usage.cache_read, usage.total_input()),
            cost(&finished.spending),
            finished.took.as_secs_f64(),
            finished.checks.len(),
        );
    }
    for finished in finished {
        let _ = write!(text, "\n`{}` {}.", finished.task, ended(&finished.end));
        let mut purposes: BTreeMap<String, usize> = BTreeMap::new();
        for call in &finished.calls {
            *purposes
                .entry(format!("{} ({})", spelled(&json!(call.purpose)), spelled(&json!(call.outcome))))
                .or_default() += 1;
        }
        let purposes: Vec<String> =
            purposes.into_iter().map(|(purpose, count)| format!("{count} {purpose}")).collect();
        let _ = writeln!(text, " Calls of its turns: {}.\n", purposes.join(", "));
        for check in &finished.checks {
            match &check.fault {
                None => writeln!(text, "- holds: {}", check.what),
                Some(fault) => writeln!(text, "- **does not hold**: {}: {fault}", check.what),
            }
            .unwrap_or_default();
        }
        let files: Vec<String> =
            finished.files.iter().map(|(name, bytes)| format!("`{name}` ({bytes})")).collect();
        let files = if files.is_empty() { "nothing".to_owned() } else { files.join(", ") };
        let _ = writeln!(text, "- made, with bytes: {files}");
    }
    text
}

fn ended(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Finished => "was finished".to_owned(),
        TurnEnd::Stopped => "was stopped: its budget or its time was used up".to_owned(),
        TurnEnd::Failed { error } => {
            format!("failed: {}", words::explain(Language::En, error).trim_end_matches('.'))
        }
    }
}

fn share(part: u64, total: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    let share = part as f64 / total.max(1) as f64;
    format!("{:.1} %", share * 100.0)
}

/// Returns the known cost, and the number of calls not included.
fn cost(spending: &Spending) -> String {
    match (spending.cost, spending.unpriced) {
        (cost, 0) => format!("{:.4}", cost.as_dollars()),
        (Cost::ZERO, _) => "unknown".to_owned(),
        (cost, unpriced) => format!("{:.4} and {unpriced} calls unknown", cost.as_dollars()),
    }
}
