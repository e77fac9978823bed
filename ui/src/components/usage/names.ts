/** Labels for the parts of a usage report. */
import { dollars } from "$lib/format/models";
import { tokens } from "$lib/format/figures";
import type { Purpose } from "$lib/ipc/types";
import type { Measure, Split } from "$lib/state/spending";
import { t } from "$lib/words/words.svelte";

/** Returns the label of a part: a model's own name, or the purpose of the calls; null means the rest. */
export function partName(name: string | null, split: Split): string {
  if (name === null) return t("usage.others");
  return split === "model" ? name : t(`purpose.${name as Purpose}`);
}

/** Formats an amount of a measure. */
export function formatAmount(amount: number, measure: Measure): string {
  if (measure === "cost") return dollars(amount);
  return measure === "tokens" ? tokens(amount) : Math.round(amount).toLocaleString("en");
}
