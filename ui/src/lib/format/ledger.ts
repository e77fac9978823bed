/** Ledger lines as text. */
import type { BilledCall, CacheMiss, Spending } from "$lib/ipc/types";
import { sentences, t, tn } from "$lib/words/words.svelte";
import { tokens } from "./figures";
import { dollars } from "./models";

/** Formats a cost: an amount, "price unknown" if no call has one, and the number of unpriced calls if some have one. */
export function costWords(spending: Spending): string {
  if (spending.unpriced === 0) return dollars(spending.cost);
  if (spending.unpriced >= spending.calls) return t("model.price_unknown");
  return t("usage.cost_and_unknown", { cost: dollars(spending.cost), n: spending.unpriced });
}

/** Formats a cost briefly, for tight spaces: a plus means there is more. */
export function costBriefly(spending: Spending): string {
  if (spending.unpriced === 0) return dollars(spending.cost);
  return spending.unpriced >= spending.calls ? "$?" : `${dollars(spending.cost)} +`;
}

/** Explains why less was read from the cache than expected; null if nothing is missing. */
export function missWords(call: BilledCall): string | null {
  const { miss, expected_read: expected, usage } = call;
  if (!miss) return null;
  const why = missReason(miss);
  if (expected === null) return why;
  const figures = { expected: tokens(expected), read: tokens(usage?.cache_read ?? 0) };
  return sentences(t("miss.figures", figures), why);
}

/** Returns the reason of a miss. */
export function missReason(miss: CacheMiss): string {
  return miss.class === "messages" ? t("miss.messages", { n: miss.first + 1 }) : t(`miss.${miss.class}`);
}

/** Formats a number of calls. */
export function callsWords(n: number): string {
  return tn("count.calls", n);
}
