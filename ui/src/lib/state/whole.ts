/** Subscriptions that tell their whole state with every update, and have no numbers. Pure. */
import type { Update } from "$lib/ipc/types";
import type { Outcome } from "./outcome";

/** How updates of such a subscription are applied; `told` is the state an update tells, if it is one of its own. */
export function wholeState<T>(
  told: (update: Update) => T | null,
): (state: T | null, update: Update) => Outcome<T | null> {
  return (state, update) => {
    if (update.type === "fault") return { type: "fault", error: update.error };
    if (update.type === "ended") return { type: "ended" };
    return { type: "applied", state: told(update) ?? state };
  };
}
