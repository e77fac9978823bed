/** The state of all tasks as published by one subscription: a revision and the badge's numbers. Pure. */
import type { TasksState } from "$lib/ipc/types";
import { wholeState } from "./whole-state";

/** Applies an update of the subscription. */
export const apply = wholeState<TasksState>((update) => {
  if (update.type === "tasks") return update.state;
  return update.type === "snapshot" && update.snapshot.topic === "tasks" ? update.snapshot.state : null;
});
