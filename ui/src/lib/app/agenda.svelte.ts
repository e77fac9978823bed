/** The state of scheduled tasks, kept current: a revision and the numbers of running and waiting runs. */
import type { TasksState } from "$lib/ipc/types";
import { apply } from "$lib/state/agenda";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class Agenda {
  #state = $state.raw<TasksState | null>(null);
  #following: Following<TasksState> | undefined;

  /** (Re)subscribes. */
  begin(): void {
    this.#following?.stop();
    this.#following = follow<TasksState>({ type: "tasks" }, apply, {
      state: (state) => (this.#state = state),
      ended: () => undefined,
      fault: (error) => {
        toasts.fail(error);
        return "again";
      },
    });
  }

  /** A revision that changes with every task or run, so that readers reload. */
  get revision(): number {
    return this.#state?.revision ?? 0;
  }

  /** The number of runs in progress. */
  get running(): number {
    return this.#state?.running ?? 0;
  }

  /** The number of runs and tasks waiting for the person. */
  get waiting(): number {
    return this.#state?.waiting ?? 0;
  }
}

/** This window's task state. */
export const agenda = new Agenda();
