/** Runs of one task or of all, newest first, read page by page. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, MissedAnswer, RunTotals, TaskRun } from "$lib/ipc/types";
import { joined, MOST_RUNS } from "$lib/state/schedule";
import { toasts } from "./toasts.svelte";

/** How many are read at a time. */
const PAGE = 20;

export class RunHistory {
  runs = $state.raw<readonly TaskRun[]>([]);
  /** How those of the last thirty days ended; null until it is known. */
  month = $state.raw<RunTotals | null>(null);
  /** Whether there are older ones. */
  more = $state(false);
  problem = $state.raw<ApiError | null>(null);
  busy = $state(false);
  readonly task: string | null;
  #turn = 0;

  /** Those of a task; null for those of all. */
  constructor(task: string | null) {
    this.task = task;
  }

  /** Reads the newest again; what was read beyond them stays. */
  async refresh(): Promise<void> {
    const turn = ++this.#turn;
    const limit = Math.min(MOST_RUNS, Math.max(PAGE, this.runs.length));
    try {
      const { runs, month } = await call("schedule", "list_runs", { task: this.task, after: null, limit });
      if (turn !== this.#turn) return;
      const whole = runs.length < limit;
      this.runs = whole ? runs : joined(runs, this.runs);
      this.month = month;
      // What lies beyond was not asked for again: more of it is known only where it was read before.
      if (whole) this.more = false;
      else if (this.runs.length === runs.length) this.more = true;
      this.problem = null;
    } catch (error) {
      if (turn === this.#turn) this.problem = asApiError(error);
    }
  }

  /** Reads older ones. */
  async further(): Promise<void> {
    const last = this.runs.at(-1);
    if (!last || this.busy) return;
    this.busy = true;
    const turn = this.#turn;
    try {
      const { runs } = await call("schedule", "list_runs", { task: this.task, after: last.id, limit: PAGE });
      if (turn !== this.#turn) return;
      this.runs = [...this.runs, ...runs.filter(({ id }) => !this.runs.some((known) => known.id === id))];
      this.more = runs.length === PAGE;
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.busy = false;
    }
  }

  /** Stops a run, or takes back one that waits. */
  async stop(run: TaskRun): Promise<void> {
    await this.#do(() => call("schedule", "stop_run", { run: run.id }));
  }

  /** Says what becomes of a missed run that asks. */
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
