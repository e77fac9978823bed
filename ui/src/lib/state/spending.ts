/** What calls used and cost: sums, and the report by day, model and purpose. Pure. */
import type { AboveIdeal, BilledCall, Spending, SpendingLine, Usage } from "$lib/ipc/types";

/** Nothing spent. */
export const nothing: Spending = {
  calls: 0,
  usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
  cost: 0,
  unpriced: 0,
};

/** All input tokens, however they were billed. */
export function totalInput(usage: Usage): number {
  return usage.input + usage.cache_read + usage.cache_write;
}

/** What part of the input came from the provider's cache, 0 to 1; null where there was no input. */
export function hitRate(usage: Usage): number | null {
  const input = totalInput(usage);
  return input === 0 ? null : usage.cache_read / input;
}

/** Both together. */
export function together(a: Spending, b: Spending): Spending {
  return {
    calls: a.calls + b.calls,
    usage: {
      input: a.usage.input + b.usage.input,
      cache_read: a.usage.cache_read + b.usage.cache_read,
      cache_write: a.usage.cache_write + b.usage.cache_write,
      output: a.usage.output + b.usage.output,
    },
    cost: a.cost + b.cost,
    unpriced: a.unpriced + b.unpriced,
  };
}

/** What was spent after one more call. */
export function withCall(before: Spending, call: BilledCall): Spending {
  const { usage, cost } = call;
  return together(before, {
    calls: 1,
    usage: usage ?? nothing.usage,
    cost: cost ?? 0,
    unpriced: cost === null ? 1 : 0,
  });
}

/** What calls used and cost together. */
export function sumOfCalls(calls: readonly BilledCall[]): Spending {
  return calls.reduce(withCall, nothing);
}

/** What lines of a report come to. */
export function sumOfLines(lines: readonly SpendingLine[]): Spending {
  return lines.reduce((sum, line) => together(sum, line.spending), nothing);
}

/** What was spent beyond the ideal. */
export function beyond(above: AboveIdeal): number {
  return above.missed + above.warmth + above.failed;
}

/**
 * How much more than the ideal was spent, as a part of the ideal; null where nothing with a price was spent. The
 * ideal writes every token to the cache once, reads it from then on, and makes no call in vain.
 */
export function shareBeyond(sum: Spending, above: AboveIdeal): number | null {
  const ideal = sum.cost - beyond(above);
  return ideal > 0 ? beyond(above) / ideal : null;
}

/** What part of each day's input came from the cache, 0 to 1; null for days without input. */
export function hitsByDay(lines: readonly SpendingLine[], days: readonly string[]): readonly (number | null)[] {
  const sums = new Map<string, Spending>();
  for (const line of lines) sums.set(line.day, together(sums.get(line.day) ?? nothing, line.spending));
  return days.map((day) => hitRate((sums.get(day) ?? nothing).usage));
}

/** Output tokens a second after the first byte; null where that cannot be told. */
export function outputRate(call: Pick<BilledCall, "usage" | "first_byte_ms" | "total_ms">): number | null {
  if (!call.usage || call.usage.output === 0 || call.first_byte_ms === null) return null;
  const streamed = call.total_ms - call.first_byte_ms;
  return streamed <= 0 ? null : (call.usage.output * 1000) / streamed;
}

/** The times a report can be asked for. */
export const ranges = ["7", "30", "90", "month"] as const;
/** The last so many days with today, or this month so far. */
export type Range = (typeof ranges)[number];

/** From when up to when, in milliseconds, and the days in between as `2026-11-22`. */
export interface Period {
  readonly from: number;
  readonly to: number;
  readonly days: readonly string[];
}

/** The day of a moment on this machine's clock. */
export function dayOf(at: number): string {
  const date = new Date(at);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The moment a day begins. */
export function startOf(day: string): number {
  const [year = 1970, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date).getTime();
}

/** The period a range means as of `now`: whole days, so that days with a change of the clock count once. */
export function periodOf(range: Range, now: number): Period {
  const today = new Date(now);
  const back = range === "month" ? today.getDate() - 1 : Number(range) - 1;
  const at = (offset: number): number =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset).getTime();
  const days = Array.from({ length: back + 1 }, (_, place) => dayOf(at(place - back)));
  return { from: at(-back), to: at(1), days };
}

/** What is told apart in a report. */
export type Split = "model" | "purpose";
/** What is measured. */
export type Measure = "cost" | "tokens" | "calls";

/** The name of what a line belongs to. */
function nameOf(line: SpendingLine, split: Split): string {
  return split === "model" ? line.name : line.purpose;
}

/** How much of a measure was spent. */
export function amount(spending: Spending, measure: Measure): number {
  if (measure === "cost") return spending.cost;
  if (measure === "calls") return spending.calls;
  return totalInput(spending.usage) + spending.usage.output;
}

/** A part of a report with its sum. */
export interface Part {
  readonly name: string;
  readonly spending: Spending;
}

/** The parts of a report, the dearest first; what costs the same by its tokens. */
export function partsOf(lines: readonly SpendingLine[], split: Split): readonly Part[] {
  const sums = new Map<string, Spending>();
  for (const line of lines) {
    const name = nameOf(line, split);
    sums.set(name, together(sums.get(name) ?? nothing, line.spending));
  }
  return [...sums]
    .map(([name, spending]) => ({ name, spending }))
    .toSorted(
      (a, b) =>
        b.spending.cost - a.spending.cost ||
        amount(b.spending, "tokens") - amount(a.spending, "tokens") ||
        (a.name < b.name ? -1 : 1),
    );
}

/** How many colours the chart has. */
const SERIES = 4;

/** The bars of a chart: what is stacked, from the bottom, and for every day how much of each. */
export interface Stacks {
  /** Null for what is left over: more parts than there are colours. */
  readonly series: readonly (string | null)[];
  readonly days: readonly { readonly day: string; readonly values: readonly number[]; readonly total: number }[];
  readonly most: number;
}

/** The chart of a report: the largest parts by themselves, the others as one. */
export function stacksOf(
  lines: readonly SpendingLine[],
  days: readonly string[],
  split: Split,
  measure: Measure,
): Stacks {
  const parts = partsOf(lines, split)
    .filter((part) => amount(part.spending, measure) > 0)
    .toSorted((a, b) => amount(b.spending, measure) - amount(a.spending, measure));
  const own = parts.slice(0, parts.length > SERIES ? SERIES - 1 : SERIES).map((part) => part.name);
  const series = parts.length > SERIES ? [...own, null] : own;
  const found = new Map(days.map((day) => [day, series.map(() => 0)]));
  for (const line of lines) {
    const values = found.get(line.day);
    if (!values) continue;
    const place = own.indexOf(nameOf(line, split));
    const at = place < 0 ? own.length : place;
    if (at < values.length) values[at] = (values[at] ?? 0) + amount(line.spending, measure);
  }
  const drawn = [...found].map(([day, values]) => ({ day, values, total: values.reduce((sum, n) => sum + n, 0) }));
  return { series, days: drawn, most: Math.max(0, ...drawn.map((day) => day.total)) };
}

/** The marks of an axis from 0 to at least `most`: two to five steps of 1, 2 or 5 times a power of ten. */
export function marksTo(most: number): readonly number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const count = Math.ceil((most / step) * (1 - 1e-9));
  return Array.from({ length: Math.max(1, count) + 1 }, (_, place) => place * step);
}

/** Which days are written under the bars so that at most `most` are: the first one and every so-manieth. */
export function labelled(days: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(days / Math.max(1, most)));
  return Array.from({ length: Math.ceil(days / every) }, (_, place) => place * every);
}
