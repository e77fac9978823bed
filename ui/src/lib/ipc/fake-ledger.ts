/** A ledger for the replay: calls that match a turn's usage, and a report with quiet and busy days. */
import { dayOf, nothing, startOf } from "$lib/state/spending";
import type {
  BilledCall,
  CacheMiss,
  MissLine,
  MissedCall,
  ModelEntry,
  SessionInfo,
  Spending,
  SpendingLine,
  SpendingReport,
  SwitchCost,
  TurnView,
  Usage,
} from "./types";

/** The prices of tokens, in nano-dollars each: input, written, read, output. */
const SONNET = [3_000, 3_750, 300, 15_000] as const;
const HAIKU = [1_000, 1_250, 100, 5_000] as const;

function priceOf(usage: Usage, [input, cacheWrite, read, output]: readonly [number, number, number, number]): number {
  return usage.input * input + usage.cache_write * cacheWrite + usage.cache_read * read + usage.output * output;
}

function scaleUsage(usage: Usage, share: number): Usage {
  const scaled = (n: number): number => Math.round(n * share);
  return {
    input: scaled(usage.input),
    cache_read: scaled(usage.cache_read),
    cache_write: scaled(usage.cache_write),
    output: scaled(usage.output),
  };
}

/**
 * Returns the calls of a turn: two successful ones, a failed one between them and, in a long turn, an unpriced summary.
 */
export function fakeCalls(turn: TurnView, entry: ModelEntry | null): BilledCall[] {
  const base = {
    turn: turn.id,
    message: null,
    model: entry?.id ?? null,
    name: entry?.model ?? "claude-sonnet-4-5",
    written_for_an_hour: 0,
    miss: null,
    again: 0,
    again_cost: 0,
  } as const;
  const first = scaleUsage(turn.usage, 0.4);
  const rest = scaleUsage(turn.usage, 0.6);
  const long = turn.usage.cache_read > 20_000;
  const startedAt = turn.started_at;
  return [
    {
      ...base,
      purpose: "turn",
      at: startedAt,
      usage: first,
      cost: priceOf(first, SONNET),
      first_byte_ms: 640,
      total_ms: 4_120,
      outcome: "answered",
      expected_read: first.cache_read,
    },
    ...(long
      ? ([
          {
            ...base,
            purpose: "turn",
            at: startedAt + 5_000,
            usage: null,
            cost: 0,
            first_byte_ms: null,
            total_ms: 310,
            outcome: "failed",
            expected_read: null,
          },
          {
            ...base,
            name: "qwen3-30b",
            purpose: "compaction",
            at: startedAt + 6_000,
            usage: { input: 8_200, cache_read: 0, cache_write: 0, output: 940 },
            cost: null,
            first_byte_ms: 1_210,
            total_ms: 9_800,
            outcome: "answered",
            expected_read: null,
          },
        ] as const)
      : []),
    {
      ...base,
      purpose: "turn",
      at: startedAt + 9_000,
      usage: rest,
      cost: priceOf(rest, SONNET),
      first_byte_ms: 810,
      total_ms: 6_400,
      outcome: turn.end?.type === "stopped" ? "stopped" : "answered",
      expected_read: rest.cache_read + (long ? 41_000 : 0),
      miss: long ? { class: "expired" } : null,
      again: long ? 41_000 : 0,
      again_cost: long ? 141_450_000 : 0,
    },
  ];
}

/** Returns the spending of a period; repeated requests get the same. */
export function fakeReport(from: number, to: number, sessions: readonly SessionInfo[]): SpendingReport {
  const lines: SpendingLine[] = [];
  const end = dayOf(to - 1);
  for (let day = dayOf(from), n = 0; day <= end; n += 1) {
    const number = Math.round(startOf(day) / 86_400_000);
    const seed = ((number * 7919 + number * number * 104_729) % 1009) / 1009;
    if (seed > 0.12) {
      const work: Usage = {
        input: Math.round(9_000 + 42_000 * seed * seed),
        cache_read: Math.round(2_400_000 * seed),
        cache_write: Math.round(52_000 * seed),
        output: Math.round(38_000 * seed),
      };
      const line = (name: string, purpose: SpendingLine["purpose"], spending: Spending): void =>
        void lines.push({ day, name, purpose, spending });
      const spent = (usage: Usage, calls: number, price: readonly [number, number, number, number]): Spending => ({
        calls,
        usage,
        cost: priceOf(usage, price),
        unpriced: 0,
      });
      line("claude-sonnet-4-5", "turn", spent(work, Math.ceil(90 * seed), SONNET));
      line("claude-sonnet-4-5", "compaction", spent(scaleUsage(work, 0.09), 1, SONNET));
      line("claude-sonnet-4-5", "warmth", spent(scaleUsage({ ...work, output: 40 }, 0.06), 3, SONNET));
      line("claude-haiku-4-5", "suggestion", spent(scaleUsage(work, 0.12), Math.ceil(30 * seed), HAIKU));
      if (n % 4 === 1) {
        line("qwen3-30b", "turn", {
          ...nothing,
          calls: 6,
          usage: { ...nothing.usage, input: 31_000, output: 4_200 },
          unpriced: 6,
        });
      }
    }
    const next = new Date(startOf(day));
    day = dayOf(next.setDate(next.getDate() + 1));
  }
  const calls = sessions.slice(0, 4).map((info, index): MissedCall => {
    const miss: CacheMiss = [
      { class: "model" } as const,
      { class: "expired" } as const,
      { class: "messages", first: 3 } as const,
      { class: "provider_silent" } as const,
    ][index] ?? { class: "tools" };
    const billedAgain = Math.round(96_000 / (index + 1));
    return {
      session: info.id,
      title: index === 2 ? null : info.title,
      name: index === 3 ? "qwen3-30b" : "claude-sonnet-4-5",
      at: to - (index * 3 + 1) * 86_400_000,
      miss,
      again: billedAgain,
      cost: index === 3 ? null : billedAgain * 3_450,
    };
  });
  const dearest = calls.filter(({ at }) => at >= from);
  const misses = dearest.map(({ miss, again, cost }): MissLine => ({
    class: miss.class,
    calls: 1,
    again,
    cost: cost ?? 0,
    unpriced: cost === null ? 1 : 0,
  }));
  const above = {
    missed: misses.reduce((sum, { cost }) => sum + cost, 0),
    warmth: lines.reduce((sum, line) => sum + (line.purpose === "warmth" ? line.spending.cost : 0), 0),
    failed: 0,
    unpriced: misses.reduce((sum, { unpriced }) => sum + unpriced, 0),
  };
  return { lines, misses, dearest, above };
}

/** Returns the cost of switching to another model, which rereads all tokens. */
export function fakeSwitch(tokens: number, next: ModelEntry | null, present: ModelEntry | null): SwitchCost {
  const price = next?.facts.price?.input ?? null;
  const cached = present?.facts.price?.cache_read ?? null;
  const priceOf = (perMillion: number | null): number | null =>
    perMillion === null ? null : Math.round((tokens * perMillion) / 1_000_000);
  return { tokens, cost: priceOf(price), instead: priceOf(cached) };
}
