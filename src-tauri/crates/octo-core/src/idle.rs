//! Decides the fate of an idle conversation: keep the provider's cache alive, compact while it still is, or let
//! it expire. Pure.

use octo_llm::{ModelCard, WarmKeepingCosts, keep_warm};
use octo_protocol::{Settings, Switch, Usage};
use std::time::Duration;

/// Share of the limit, in percent, from which an idle conversation is compacted. A shorter one loses more
/// through compaction than it costs to read again.
const MIN_COMPACTION_PERCENT: u64 = 50;
/// Assumed size of a summary, in tokens.
const SUMMARY_TOKENS: u64 = 1_500;
/// Tokens written to the cache after a compaction, including tools and system prompt.
const REWRITTEN_TOKENS: u64 = 10_000;

/// The inputs of the decision about an idle session.
#[derive(Clone, Debug)]
pub(crate) struct IdleSession<'a> {
    /// Size of the conversation, in tokens.
    pub size: u64,
    /// The size from which it is compacted anyway.
    pub limit: u64,
    /// Number of cache refreshes in this pause so far.
    pub refreshes: u32,
    /// The person's own pauses between turns.
    pub pauses: &'a [Duration],
    /// The data sheet of the model.
    pub card: &'a ModelCard,
}

/// The decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleAction {
    /// Refresh the cache this long after the start of the request that last used it.
    Refresh(Duration),
    /// Compact now.
    Compact,
    /// Nothing.
    Nothing,
}

/// Decides by price. Sends nothing if a price is unknown.
pub(crate) fn choose(idle: &IdleSession<'_>, settings: &Settings) -> IdleAction {
    let Some(prices) = &idle.card.prices else { return IdleAction::Nothing };
    let rates = prices.rates_for(idle.size);
    if settings.keep_warm == Switch::On
        && idle.size >= idle.card.caching.minimum
        && let Some(warmth) = WarmKeepingCosts::for_cache(&idle.card.caching, rates)
        && let Some(delay) = keep_warm(idle.pauses, idle.size, &warmth, idle.refreshes)
    {
        return IdleAction::Refresh(delay);
    }
    let cost = |usage: Usage| prices.cost(usage);
    // While the cache lives, reading the conversation is cheap; once it has expired, all of it is written
    // again.
    let compaction = cost(Usage { cache_read: idle.size, output: SUMMARY_TOKENS, ..Usage::default() });
    let after_compaction = cost(Usage { cache_write: REWRITTEN_TOKENS, ..Usage::default() });
    let resend = cost(Usage { cache_write: idle.size, ..Usage::default() });
    let (Some(compaction), Some(after_compaction), Some(resend)) = (compaction, after_compaction, resend)
    else {
        return IdleAction::Nothing;
    };
    let pays = compaction.saturating_add(after_compaction) < resend;
    if pays && idle.size >= idle.limit / 100 * MIN_COMPACTION_PERCENT {
        IdleAction::Compact
    } else {
        IdleAction::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octo_llm::Presets;
    use octo_protocol::Protocol;

    fn card(model: &str) -> ModelCard {
        Presets::built_in().card(Protocol::Anthropic, "https://api.anthropic.com", model)
    }

    #[test]
    fn what_is_done_depends_on_price_size_and_habit() {
        let card = card("claude-sonnet-4-5");
        let (frequent, rarely) =
            ([Duration::from_secs(420)].repeat(40), [Duration::from_secs(40_000)].repeat(40));
        let (enabled, disabled) =
            (Settings::default(), Settings { keep_warm: Switch::Off, ..Settings::default() });
        for (size, refreshes, pauses, settings, expected) in [
            (90_000, 0, &frequent, &enabled, "refresh"),
            (90_000, 0, &frequent, &disabled, "compact"),
            (90_000, 3, &frequent, &enabled, "compact"),
            (90_000, 0, &rarely, &enabled, "compact"),
            (60_000, 0, &rarely, &enabled, "let go"),
            (900, 0, &frequent, &enabled, "let go"),
        ] {
            let idle = IdleSession { size, limit: 160_000, refreshes, pauses, card: &card };
            let action = match choose(&idle, settings) {
                IdleAction::Refresh(delay) => {
                    assert!(delay < Duration::from_secs(300));
                    "refresh"
                }
                IdleAction::Compact => "compact",
                IdleAction::Nothing => "let go",
            };
            assert_eq!(action, expected, "{size} {refreshes} {:?}", settings.keep_warm);
        }
    }

    #[test]
    fn without_prices_nothing_is_sent() {
        let card = ModelCard::unknown(Protocol::Anthropic);
        let pauses = [Duration::from_secs(420)].repeat(40);
        let idle = IdleSession { size: 150_000, limit: 160_000, refreshes: 0, pauses: &pauses, card: &card };
        assert_eq!(choose(&idle, &Settings::default()), IdleAction::Nothing);
    }
}
