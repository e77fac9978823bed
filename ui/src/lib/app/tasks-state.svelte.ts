/** The state of scheduled tasks, kept current: a revision and the numbers of running and waiting runs. */
import type { TasksState } from "$lib/ipc/types";
import { apply } from "$lib/state/tasks-state";
import { WholeState } from "./whole-state.svelte";

class TasksStateStore extends WholeState<TasksState> {
  constructor() {
    super({ type: "tasks" }, apply);
  }

  /** A revision that changes with every task or run, so that readers reload. */
  get revision(): number {
    return this.state?.revision ?? 0;
  }

  /** The number of runs in progress. */
  get running(): number {
    return this.state?.running ?? 0;
  }

  /** The number of runs and tasks waiting for the person. */
  get waiting(): number {
    return this.state?.waiting ?? 0;
  }
}

/** This window's task state. */
export const tasksState = new TasksStateStore();
