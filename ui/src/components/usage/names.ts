/** What the parts of a usage report are called. */
import { dollars } from "$lib/format/models";
import { tokens } from "$lib/format/figures";
import type { Purpose } from "$lib/ipc/types";
import type { Measure, Split } from "$lib/state/spending";
import { t } from "$lib/words/words.svelte";

/** The name of a part: a model's own, or what the calls were for; null for what is left over. */
export function partName(name: string | null, split: Split): string {
  if (name === null) return t("usage.rest");
  return split === "model" ? name : t(`purpose.${name as Purpose}`);
}

/** How much of a measure, as it is written. */
export function written(amount: number, measure: Measure): string {
  if (measure === "cost") return dollars(amount);
  return measure === "tokens" ? tokens(amount) : Math.round(amount).toLocaleString("en");
}
