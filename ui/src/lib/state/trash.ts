/** The trash's totals, kept current. Pure. */
import type { TrashTotals, Update } from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";

/** The trash as of an event. */
export interface TrashState {
  readonly seq: number;
  readonly totals: TrashTotals;
}

/** Applies an update of the trash's subscription. */
export function apply(state: TrashState | null, update: Update): Outcome<TrashState | null> {
  switch (update.type) {
    case "snapshot":
      if (update.snapshot.topic !== "trash") return { type: "applied", state };
      return { type: "applied", state: { seq: update.snapshot.seq, totals: update.snapshot.totals } };
    case "event": {
      const { seq, event } = update.envelope;
      if (!state || seq > state.seq + 1) return { type: "gap" };
      if (seq <= state.seq || event.type !== "trash_changed") return { type: "applied", state };
      return { type: "applied", state: { seq, totals: event.totals } };
    }
    case "delta":
    case "billed":
    case "policy":
    case "browser":
    case "page":
    case "trouble":
    case "library":
    case "tasks":
    case "activity":
    case "chats":
      return { type: "applied", state };
    case "fault":
      return { type: "fault", error: update.error };
    case "ended":
      return { type: "ended" };
    default:
      return { type: "applied", state: unreachable(update, state) };
  }
}
