/** Runs of one task or of all, newest first, loaded page by page. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, MissedAnswer, RunTotals, TaskRun } from "$lib/ipc/types";
import { mergeRuns, MOST_RUNS } from "$lib/state/schedule";
import { toasts } from "./toasts.svelte";

/** The number of runs per page. */
const PAGE = 20;

export class RunHistory {
  runs = $state.raw<readonly TaskRun[]>([]);
  /** The results of the last thirty days; null until loaded. */
  month = $state.raw<RunTotals | null>(null);
  /** Whether there are older runs. */
  more = $state(false);
  problem = $state.raw<ApiError | null>(null);
  busy = $state(false);
  readonly task: string | null;
  #generation = 0;

  /** Creates the list of a task's runs; null means all runs. */
  constructor(task: string | null) {
    this.task = task;
  }

  /** Reloads the newest runs; older loaded ones stay. */
  async refresh(): Promise<void> {
    const generation = ++this.#generation;
    const limit = Math.min(MOST_RUNS, Math.max(PAGE, this.runs.length));
    try {
      const { runs, month } = await call("schedule", "list_runs", { task: this.task, after: null, limit });
      if (generation !== this.#generation) return;
      const reachedEnd = runs.length < limit;
      this.runs = reachedEnd ? runs : mergeRuns(runs, this.runs);
      this.month = month;
      // Older runs were not requested again: whether more exist is known only if they were read before.
      if (reachedEnd) this.more = false;
      else if (this.runs.length === runs.length) this.more = true;
      this.problem = null;
    } catch (error) {
      if (generation === this.#generation) this.problem = asApiError(error);
    }
  }

  /** Loads older runs. */
  async further(): Promise<void> {
    const last = this.runs.at(-1);
    if (!last || this.busy) return;
    this.busy = true;
    const generation = this.#generation;
    try {
      const { runs } = await call("schedule", "list_runs", { task: this.task, after: last.id, limit: PAGE });
      if (generation !== this.#generation) return;
      this.runs = [...this.runs, ...runs.filter(({ id }) => !this.runs.some((run) => run.id === id))];
      this.more = runs.length === PAGE;
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.busy = false;
    }
  }

  /** Stops a run, or cancels a waiting one. */
  async stop(run: TaskRun): Promise<void> {
    await this.#do(() => call("schedule", "stop_run", { run: run.id }));
  }

  /** Answers the question of a missed run. */
  async answer(run: TaskRun, answer: MissedAnswer): Promise<void> {
    await this.#do(() => call("schedule", "answer_missed", { run: run.id, answer }));
  }

  async #do(request: () => Promise<unknown>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await request();
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.busy = false;
    }
    await this.refresh();
  }
}
