/** The tasks that run at their time, kept current: when something of them changed, and how many run and wait. */
import type { TasksState } from "$lib/ipc/types";
import { apply } from "$lib/state/agenda";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class Agenda {
  #state = $state.raw<TasksState | null>(null);
  #following: Following<TasksState> | undefined;

  /** (Re)begins to follow them. */
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

  /** Another number whenever a task or a run changed: what was read is read again. */
  get revision(): number {
    return this.#state?.revision ?? 0;
  }

  /** How many runs are going on. */
  get running(): number {
    return this.#state?.running ?? 0;
  }

  /** How many runs and tasks wait for the person. */
  get waiting(): number {
    return this.#state?.waiting ?? 0;
  }
}

/** The window's tasks. */
export const agenda = new Agenda();
