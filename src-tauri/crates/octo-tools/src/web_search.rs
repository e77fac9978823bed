//! The `web_search` tool: searches the web with the first provider that answers.

mod engine;
mod engine_query;
mod parse;

pub use engine::{SearchEngine, SearchEngines, WebSearch};

use crate::{CallConcurrency, Effects, Outcome, Tool, ToolContext, ToolError, ToolOutput, untrusted};
use engine_query::EngineRefusal;
use octo_protocol::{ToolView, WebResult};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{fmt::Write, path::Path, time::Instant};

const DEFAULT_RESULTS: u32 = 10;
const MAX_RESULTS: u32 = 20;

pub(crate) struct WebSearchTool;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct WebSearchInput {
    /// What to look for.
    query: String,
    /// Default 10, at most 20.
    max_results: Option<u32>,
}

impl Tool for WebSearchTool {
    const NAME: &'static str = "web_search";
    const DESCRIPTION: &'static str =
        "Searches the web: titles, addresses, snippets. Read a page with web_fetch.";
    type Input = WebSearchInput;

    fn effects(&self, _input: &WebSearchInput, _cwd: &Path) -> Effects {
        // The person chooses the provider, not the model.
        Effects { order: CallConcurrency::Parallel, ..Effects::none() }
    }

    async fn preview(&self, input: &WebSearchInput, _context: &ToolContext) -> Result<ToolView, ToolError> {
        let query = query(input)?.to_owned();
        Ok(ToolView::WebResults { query, provider: None, results: Vec::new() })
    }

    async fn run(&self, input: WebSearchInput, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let query = query(&input)?.to_owned();
        let limit = input.max_results.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS) as usize;
        let mut causes: Vec<(&'static str, EngineRefusal)> = Vec::new();
        for engine in context.search.engines().await {
            let name = engine.name();
            if let Some(remaining) = context.search.remaining_pause(engine.kind, Instant::now()) {
                causes.push((name, EngineRefusal::Resting(remaining)));
                continue;
            }
            let reply = tokio::select! {
                () = context.cancel.cancelled() => return Err(ToolError::new("The search was stopped.")),
                reply = engine_query::query_engine(&engine, &context.http, &query, limit) => reply,
            };
            match reply {
                Ok(results) => return Ok(result_output(&engine, query, results)),
                Err(refusal) => {
                    if refusal.is_by_provider() {
                        context.search.pause(engine.kind, Instant::now());
                    }
                    causes.push((name, refusal));
                }
            }
        }
        Err(all_engines_failed(&causes))
    }
}

fn query(input: &WebSearchInput) -> Result<&str, ToolError> {
    match input.query.trim() {
        "" => Err(ToolError::new("The query is empty. Say in `query` what to look for.")),
        query => Ok(query),
    }
}

fn result_output(engine: &SearchEngine, query: String, results: Vec<WebResult>) -> ToolOutput {
    let mut list = String::new();
    for (index, result) in results.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(list, "{}. {}\n   {}", index + 1, result.title, result.url);
        if !result.snippet.is_empty() {
            let _ = writeln!(list, "   {}", result.snippet);
        }
    }
    let text =
        format!("{} results for: {query}\n{}", results.len(), untrusted::frame_results(engine.name(), &list));
    let view = ToolView::WebResults { query, provider: Some(engine.kind), results };
    ToolOutput { text, images: Vec::new(), view, outcome: Outcome::Done }
}

fn all_engines_failed(causes: &[(&str, EngineRefusal)]) -> ToolError {
    let list: Vec<String> = causes.iter().map(|(name, refusal)| format!("{name}: {refusal}")).collect();
    let causes = if list.is_empty() { "none is set up".to_owned() } else { list.join("; ") };
    ToolError::new(format!(
        "No search provider answered ({causes}). web_fetch still reads pages whose address you know; the person \
         can set up a provider with a key in the settings."
    ))
}

#[cfg(test)]
mod tests;
