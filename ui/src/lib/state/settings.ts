/** Settings and models, kept current. Pure. */
import type { SettingsSnapshot, Update } from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";

/** Settings and models as of an event. */
export interface SettingsState {
  readonly seq: number;
  readonly snapshot: SettingsSnapshot;
}

/** Applies an update of the settings' subscription. */
export function apply(state: SettingsState | null, update: Update): Outcome<SettingsState | null> {
  switch (update.type) {
    case "snapshot":
      if (update.snapshot.topic !== "settings") return { type: "applied", state };
      return { type: "applied", state: { seq: update.snapshot.seq, snapshot: update.snapshot.snapshot } };
    case "event": {
      const { seq, event } = update.envelope;
      if (!state || seq > state.seq + 1) return { type: "gap" };
      if (seq <= state.seq || event.type !== "settings_changed") return { type: "applied", state };
      return { type: "applied", state: { seq, snapshot: event.snapshot } };
    }
    case "delta":
    case "trouble":
    case "billed":
    case "browser":
    case "page":
      return { type: "applied", state };
    case "fault":
      return { type: "fault", error: update.error };
    case "ended":
      return { type: "ended" };
    default:
      return { type: "applied", state: unreachable(update, state) };
  }
}
