/** What Octo has learned, as one subscription tells it: that something changed, and how many suggestions wait. Pure. */
import type { LibraryState } from "$lib/ipc/types";
import { wholeState } from "./whole";

/** Applies an update of the subscription. */
export const apply = wholeState<LibraryState>((update) => {
  if (update.type === "library") return update.state;
  return update.type === "snapshot" && update.snapshot.topic === "library" ? update.snapshot.state : null;
});
