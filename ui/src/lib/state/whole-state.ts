/** Subscriptions whose updates carry the whole state and have no sequence numbers. Pure. */
import type { Update } from "$lib/ipc/types";
import type { Outcome } from "./outcome";

/** Returns how to apply updates of such a subscription; `stateOf` extracts the state from an update of its own. */
export function wholeState<T>(
  stateOf: (update: Update) => T | null,
): (state: T | null, update: Update) => Outcome<T | null> {
  return (state, update) => {
    if (update.type === "fault") return { type: "fault", error: update.error };
    if (update.type === "ended") return { type: "ended" };
    return { type: "applied", state: stateOf(update) ?? state };
  };
}
