/** Lines of the ledger in words. */
import type { BilledCall, CacheMiss, Spending } from "$lib/ipc/types";
import { sentences, t, tn } from "$lib/words/words.svelte";
import { tokens } from "./figures";
import { dollars } from "./models";

/** What was spent: an amount, "price unknown" where no call has one, and how many have none beside those that do. */
export function costWords(spending: Spending): string {
  if (spending.unpriced === 0) return dollars(spending.cost);
  if (spending.unpriced >= spending.calls) return t("model.price_unknown");
  return t("usage.cost_and_unknown", { cost: dollars(spending.cost), n: spending.unpriced });
}

/** The same in a word or two, for where there is no room: a plus says that there is more. */
export function costBriefly(spending: Spending): string {
  if (spending.unpriced === 0) return dollars(spending.cost);
  return spending.unpriced >= spending.calls ? "$?" : `${dollars(spending.cost)} +`;
}

/** Why less came from the cache than should have; null where nothing is missing. */
export function missWords(call: BilledCall): string | null {
  const { miss, expected_read: expected, usage } = call;
  if (!miss) return null;
  const why = missReason(miss);
  if (expected === null) return why;
  const figures = { expected: tokens(expected), read: tokens(usage?.cache_read ?? 0) };
  return sentences(t("miss.figures", figures), why);
}

/** The reason of a miss. */
export function missReason(miss: CacheMiss): string {
  return miss.class === "messages" ? t("miss.messages", { n: miss.first + 1 }) : t(`miss.${miss.class}`);
}

/** How many calls there were. */
export function callsWords(n: number): string {
  return tn("count.calls", n);
}
