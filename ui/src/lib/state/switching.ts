/** When a change of the model is asked about first. Pure. */
import type { SwitchCost } from "$lib/ipc/types";

/** Fewer tokens than this are read anew without a question. */
const FEW = 5_000;

/** Whether the person should see what a switch costs before it is made; one that could not be estimated may cost anything. */
export function worthAsking(cost: SwitchCost | null): boolean {
  return cost === null || cost.tokens >= FEW;
}
