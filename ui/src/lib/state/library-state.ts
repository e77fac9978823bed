/** The library's state as published by one subscription: a revision and the number of pending suggestions. Pure. */
import type { LibraryState } from "$lib/ipc/types";
import { wholeState } from "./whole-state";

/** Applies an update of the subscription. */
export const apply = wholeState<LibraryState>((update) => {
  if (update.type === "library") return update.state;
  return update.type === "snapshot" && update.snapshot.topic === "library" ? update.snapshot.state : null;
});
