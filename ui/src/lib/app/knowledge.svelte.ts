/** The state of skills and memories, kept current: a revision and the number of pending suggestions. */
import type { LibraryState } from "$lib/ipc/types";
import { apply } from "$lib/state/knowledge";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class Knowledge {
  #state = $state.raw<LibraryState | null>(null);
  #following: Following<LibraryState> | undefined;

  /** (Re)subscribes. */
  begin(): void {
    this.#following?.stop();
    this.#following = follow<LibraryState>({ type: "library" }, apply, {
      state: (state) => (this.#state = state),
      ended: () => undefined,
      fault: (error) => {
        toasts.fail(error);
        return "again";
      },
    });
  }

  /** A revision that changes with every skill, suggestion or memory, so that readers reload. */
  get revision(): number {
    return this.#state?.revision ?? 0;
  }

  /** The number of suggestions waiting for the person. */
  get suggestions(): number {
    return this.#state?.suggestions ?? 0;
  }
}

/** This window's library state. */
export const knowledge = new Knowledge();
