/** Tools that are only counted, such as a sub-agent's, as text: a model's names for them mean nothing to a person. */
import { TOOL_KINDS } from "$lib/ipc/generated/protocol";
import type { ToolCount } from "$lib/ipc/types";
import { STEP_KINDS, type StepKind } from "$lib/state/step-group";
import { t, tn } from "$lib/words/words.svelte";

/** Summarises tool use, like "2 looks, 1 command". */
export function countedWork(tools: readonly ToolCount[]): string {
  const counts = new Map<StepKind, number>();
  for (const { tool, count } of tools) {
    const kind = TOOL_KINDS[tool] ?? "other";
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  const kinds = STEP_KINDS.filter((kind) => counts.has(kind));
  return kinds.map((kind) => tn(`steps.${kind}`, counts.get(kind) ?? 0)).join(t("list.comma"));
}
