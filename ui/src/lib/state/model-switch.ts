/** Rules for confirming a model switch. Pure. */
import type { SwitchCost } from "$lib/ipc/types";

/** The number of tokens below which a switch needs no confirmation. */
const FEW = 5_000;

/** Returns whether to show the cost of a switch first; an unknown cost may be high. */
export function needsConfirmation(cost: SwitchCost | null): boolean {
  return cost === null || cost.tokens >= FEW;
}
