/** Settings, models and the state of the person's own rules, kept current. Pure. */
import type { ChatState, PolicyState, SettingsSnapshot, Update } from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";

/** Settings and models as of an event. */
export interface SettingsState {
  readonly seq: number;
  readonly snapshot: SettingsSnapshot;
  /** The last published `policy.toml`, which has no sequence number. */
  readonly policy: PolicyState | null;
  /** The last published chat services, also without a sequence number. */
  readonly chats: ChatState | null;
}

/** Applies an update of the settings' subscription. */
export function apply(state: SettingsState | null, update: Update): Outcome<SettingsState | null> {
  switch (update.type) {
    case "snapshot":
      if (update.snapshot.topic !== "settings") return { type: "applied", state };
      return {
        type: "applied",
        state: {
          seq: update.snapshot.seq,
          snapshot: update.snapshot.snapshot,
          policy: state?.policy ?? null,
          chats: state?.chats ?? null,
        },
      };
    case "event": {
      const { seq, event } = update.envelope;
      if (!state || seq > state.seq + 1) return { type: "gap" };
      if (seq <= state.seq || event.type !== "settings_changed") return { type: "applied", state };
      return { type: "applied", state: { ...state, seq, snapshot: event.snapshot } };
    }
    case "policy":
      return { type: "applied", state: state && { ...state, policy: update.policy } };
    case "chats":
      return { type: "applied", state: state && { ...state, chats: update.state } };
    case "delta":
    case "trouble":
    case "billed":
    case "browser":
    case "page":
    case "library":
    case "tasks":
    case "activity":
      return { type: "applied", state };
    case "fault":
      return { type: "fault", error: update.error };
    case "ended":
      return { type: "ended" };
    default:
      return { type: "applied", state: unreachable(update, state) };
  }
}
