/** The state of skills and memories, kept current: a revision and the number of pending suggestions. */
import type { LibraryState } from "$lib/ipc/types";
import { apply } from "$lib/state/library-state";
import { WholeState } from "./whole-state.svelte";

class LibraryStateStore extends WholeState<LibraryState> {
  constructor() {
    super({ type: "library" }, apply);
  }

  /** A revision that changes with every skill, suggestion or memory, so that readers reload. */
  get revision(): number {
    return this.state?.revision ?? 0;
  }

  /** The number of suggestions waiting for the person. */
  get suggestions(): number {
    return this.state?.suggestions ?? 0;
  }
}

/** This window's library state. */
export const libraryState = new LibraryStateStore();
