/** Usage and costs of calls: sums, and the report by day, model and purpose. Pure. */
import type { AboveIdeal, BilledCall, Spending, SpendingLine, Usage } from "$lib/ipc/types";

/** Zero spending. */
export const nothing: Spending = {
  calls: 0,
  usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
  cost: 0,
  unpriced: 0,
};

/** Returns all input tokens, however they were billed. */
export function totalInput(usage: Usage): number {
  return usage.input + usage.cache_read + usage.cache_write;
}

/** Returns the share of the input read from the provider's cache, 0 to 1; null without input. */
export function hitRate(usage: Usage): number | null {
  const input = totalInput(usage);
  return input === 0 ? null : usage.cache_read / input;
}

/** Returns the sum of both. */
export function addSpending(a: Spending, b: Spending): Spending {
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

/** Returns the spending after one more call. */
export function withCall(before: Spending, call: BilledCall): Spending {
  const { usage, cost } = call;
  return addSpending(before, {
    calls: 1,
    usage: usage ?? nothing.usage,
    cost: cost ?? 0,
    unpriced: cost === null ? 1 : 0,
  });
}

/** Returns the total spending of calls. */
export function sumOfCalls(calls: readonly BilledCall[]): Spending {
  return calls.reduce(withCall, nothing);
}

/** Returns the total of report lines. */
export function sumOfLines(lines: readonly SpendingLine[]): Spending {
  return lines.reduce((sum, line) => addSpending(sum, line.spending), nothing);
}

/** Returns the spending above the ideal. */
export function aboveIdeal(aboveIdealCosts: AboveIdeal): number {
  return aboveIdealCosts.missed + aboveIdealCosts.warmth + aboveIdealCosts.failed;
}

/**
 * Returns the spending above the ideal as a fraction of the ideal; null without priced spending. The ideal writes every
 * token to the cache once, reads it from then on, and makes no wasted call.
 */
export function shareAboveIdeal(sum: Spending, aboveIdealCosts: AboveIdeal): number | null {
  const ideal = sum.cost - aboveIdeal(aboveIdealCosts);
  return ideal > 0 ? aboveIdeal(aboveIdealCosts) / ideal : null;
}

/** Returns the share of each day's input read from the cache, 0 to 1; null for days without input. */
export function hitsByDay(lines: readonly SpendingLine[], days: readonly string[]): readonly (number | null)[] {
  const sums = new Map<string, Spending>();
  for (const line of lines) sums.set(line.day, addSpending(sums.get(line.day) ?? nothing, line.spending));
  return days.map((day) => hitRate((sums.get(day) ?? nothing).usage));
}

/** Returns the output tokens per second after the first byte; null if unknown. */
export function outputRate(call: Pick<BilledCall, "usage" | "first_byte_ms" | "total_ms">): number | null {
  if (!call.usage || call.usage.output === 0 || call.first_byte_ms === null) return null;
  const streamed = call.total_ms - call.first_byte_ms;
  return streamed <= 0 ? null : (call.usage.output * 1000) / streamed;
}

/** The ranges of a report. */
export const ranges = ["7", "30", "90", "month"] as const;
/** The last days including today, or this month so far. */
export type Range = (typeof ranges)[number];

/** The start and end of a period, in milliseconds, and its days as `2026-11-22`. */
export interface Period {
  readonly from: number;
  readonly to: number;
  readonly days: readonly string[];
}

/** Returns the day of a moment on this machine's clock. */
export function dayOf(time: number): string {
  const date = new Date(time);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the start of a day. */
export function startOf(day: string): number {
  const [year = 1970, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date).getTime();
}

/** Returns the period of a range as of `now`: whole days, so that days with a clock change count once. */
export function periodOf(range: Range, now: number): Period {
  const today = new Date(now);
  const daysBack = range === "month" ? today.getDate() - 1 : Number(range) - 1;
  const dateAt = (offset: number): number =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset).getTime();
  const days = Array.from({ length: daysBack + 1 }, (_, index) => dayOf(dateAt(index - daysBack)));
  return { from: dateAt(-daysBack), to: dateAt(1), days };
}

/** The criterion that splits a report. */
export type Split = "model" | "purpose";
/** The measured quantity. */
export type Measure = "cost" | "tokens" | "calls";

/** Returns the name of the part a line belongs to. */
function nameOf(line: SpendingLine, split: Split): string {
  return split === "model" ? line.name : line.purpose;
}

/** Returns the amount of a measure. */
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

/** Returns the parts of a report, the most expensive first; equal ones by tokens. */
export function partsOf(lines: readonly SpendingLine[], split: Split): readonly Part[] {
  const sums = new Map<string, Spending>();
  for (const line of lines) {
    const name = nameOf(line, split);
    sums.set(name, addSpending(sums.get(name) ?? nothing, line.spending));
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

/** The number of colours of the chart. */
const SERIES = 4;

/** The bars of a chart: the stacked series from the bottom, and their amounts per day. */
export interface Stacks {
  /** Null for the rest, if there are more parts than colours. */
  readonly series: readonly (string | null)[];
  readonly days: readonly { readonly day: string; readonly values: readonly number[]; readonly total: number }[];
  readonly most: number;
}

/** Returns the chart of a report: the largest parts separately, the others combined. */
export function stacksOf(
  lines: readonly SpendingLine[],
  days: readonly string[],
  split: Split,
  measure: Measure,
): Stacks {
  const parts = partsOf(lines, split)
    .filter((part) => amount(part.spending, measure) > 0)
    .toSorted((a, b) => amount(b.spending, measure) - amount(a.spending, measure));
  const seriesNames = parts.slice(0, parts.length > SERIES ? SERIES - 1 : SERIES).map((part) => part.name);
  const series = parts.length > SERIES ? [...seriesNames, null] : seriesNames;
  const dayValues = new Map(days.map((day) => [day, series.map(() => 0)]));
  for (const line of lines) {
    const values = dayValues.get(line.day);
    if (!values) continue;
    const place = seriesNames.indexOf(nameOf(line, split));
    const seriesIndex = place < 0 ? seriesNames.length : place;
    if (seriesIndex < values.length) values[seriesIndex] = (values[seriesIndex] ?? 0) + amount(line.spending, measure);
  }
  const stacks = [...dayValues].map(([day, values]) => ({ day, values, total: values.reduce((sum, n) => sum + n, 0) }));
  return { series, days: stacks, most: Math.max(0, ...stacks.map((day) => day.total)) };
}

/** Returns axis ticks from 0 to at least `most`: two to five steps of 1, 2 or 5 times a power of ten. */
export function axisTicks(limit: number): readonly number[] {
  if (!(limit > 0)) return [0, 1];
  const roughStep = limit / 4;
  const power = 10 ** Math.floor(Math.log10(roughStep));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= roughStep * (1 - 1e-9)) ?? 10) * power;
  const count = Math.ceil((limit / step) * (1 - 1e-9));
  return Array.from({ length: Math.max(1, count) + 1 }, (_, index) => index * step);
}

/** Returns the days to label under the bars, at most `most`: the first one and every n-th after it. */
export function labelledDays(days: number, limit: number): readonly number[] {
  const interval = Math.max(1, Math.ceil(days / Math.max(1, limit)));
  return Array.from({ length: Math.ceil(days / interval) }, (_, index) => index * interval);
}
