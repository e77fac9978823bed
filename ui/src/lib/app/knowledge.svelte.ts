/** What Octo has learned, kept current: when skills and memories changed, and how many suggestions wait. */
import type { LibraryState } from "$lib/ipc/types";
import { apply } from "$lib/state/knowledge";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class Knowledge {
  #state = $state.raw<LibraryState | null>(null);
  #following: Following<LibraryState> | undefined;

  /** (Re)begins to follow it. */
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

  /** Another number whenever a skill, a suggestion or a memory changed: what was read is read again. */
  get revision(): number {
    return this.#state?.revision ?? 0;
  }

  /** How many suggestions wait for the person. */
  get suggestions(): number {
    return this.#state?.suggestions ?? 0;
  }
}

/** The window's knowledge of what was learned. */
export const knowledge = new Knowledge();
