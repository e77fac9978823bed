/** The state of all tasks as one subscription tells it: that something changed, and what a badge shows. Pure. */
import type { TasksState, Update } from "$lib/ipc/types";
import { type Outcome, unreachable } from "./outcome";

/** Applies an update of the tasks' subscription. It has no numbers: every update tells the whole state. */
export function apply(state: TasksState | null, update: Update): Outcome<TasksState | null> {
  switch (update.type) {
    case "snapshot":
      return { type: "applied", state: update.snapshot.topic === "tasks" ? update.snapshot.state : state };
    case "tasks":
      return { type: "applied", state: update.state };
    case "event":
    case "delta":
    case "trouble":
    case "billed":
    case "policy":
    case "browser":
    case "page":
    case "library":
      return { type: "applied", state };
    case "fault":
      return { type: "fault", error: update.error };
    case "ended":
      return { type: "ended" };
    default:
      return { type: "applied", state: unreachable(update, state) };
  }
}
