/** What Octo has learned, as one subscription tells it: that something changed, and how many suggestions wait. Pure. */
import type { LibraryState, Update } from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";

/** Applies an update of the library's subscription. It has no numbers: every update tells the whole state. */
export function apply(state: LibraryState | null, update: Update): Outcome<LibraryState | null> {
  switch (update.type) {
    case "snapshot":
      return { type: "applied", state: update.snapshot.topic === "library" ? update.snapshot.state : state };
    case "library":
      return { type: "applied", state: update.state };
    case "event":
    case "delta":
    case "trouble":
    case "billed":
    case "policy":
    case "browser":
    case "page":
    case "tasks":
      return { type: "applied", state };
    case "fault":
      return { type: "fault", error: update.error };
    case "ended":
      return { type: "ended" };
    default:
      return { type: "applied", state: unreachable(update, state) };
  }
}
