/** The time machine of a session while it is open: what is looked at, and going elsewhere. */
import { asApiError, call } from "$lib/ipc";
import type {
  ApiError,
  CompareWith,
  FileComparison,
  FileSelection,
  RestorePreview,
  RestoreReport,
  RestoreScope,
  TaskChanges,
  TaskTree,
  TaskView,
} from "$lib/ipc/types";
import { type Plan, type Restore, moves, overwriteOf, planOf, undoOf } from "$lib/state/restore";
import { type TimePlace, placeIn } from "$lib/state/timeline";
import { SvelteSet } from "svelte/reactivity";

/** What was read, what is being read, or why it could not be. */
export type Reading<T> =
  | { readonly type: "reading" }
  | { readonly type: "read"; readonly value: T }
  | { readonly type: "failed"; readonly error: ApiError };

/** A restore that was asked for and is looked at before it is done. */
export interface Proposal {
  readonly restore: Restore;
  /** The active task when it was asked for. */
  readonly from: number;
  /** The task the conversation was at then. */
  readonly said: number;
  readonly preview: Reading<RestorePreview>;
}

/** What a restore that was done says, with its way back. */
export interface Done {
  readonly restore: Restore;
  /** The task it went to, or took files from; null where it was not there when the tree was read last. */
  readonly task: TaskView | null;
  readonly report: RestoreReport;
  readonly undo: Restore | null;
  /** The task the conversation is at now. */
  readonly said: number;
}

const READING = { type: "reading" } as const;

export class Timeline {
  readonly session: string;
  tree = $state.raw<Reading<TaskTree>>(READING);
  selected = $state<number | null>(null);
  changes = $state.raw<Reading<TaskChanges>>(READING);
  /** The file that is compared. */
  path = $state<string | null>(null);
  against = $state<CompareWith>("before");
  comparison = $state.raw<Reading<FileComparison>>(READING);
  /** The files that were chosen to be brought back. */
  readonly checked = new SvelteSet<string>();
  proposal = $state.raw<Proposal | null>(null);
  /** Conflicts of the proposal that may be overwritten. */
  readonly overwrite = new SvelteSet<string>();
  /** Set while a restore is being done. */
  restoring = $state(false);
  /** Why the last restore was not done. */
  refused = $state.raw<ApiError | null>(null);
  #place: TimePlace;
  // Counted up with every request, so that an answer that was overtaken is not shown.
  #trees = 0;
  #looks = 0;
  #comparisons = 0;
  #previews = 0;

  #closed = false;

  constructor(session: string, place: TimePlace) {
    this.session = session;
    this.#place = place;
  }

  // Not derived: the remark after a restore asks them when the page is gone.

  /** The tree, once it was read. */
  get known(): TaskTree | null {
    return this.tree.type === "read" ? this.tree.value : null;
  }

  /** The selected task. */
  get task(): TaskView | null {
    return this.known?.tasks.find((task) => task.number === this.selected) ?? null;
  }

  /** What is proposed, told apart; none before the preview is there. */
  get plan(): Plan | null {
    return this.proposal?.preview.type === "read" ? planOf(this.proposal.preview.value) : null;
  }

  /** Ends it: nothing is read any more. A restore can still be taken back. */
  close(): void {
    this.#closed = true;
  }

  /** Reads the tree, and what is looked at, again: something happened in the session. */
  async load(): Promise<void> {
    if (this.#closed) return;
    const mine = ++this.#trees;
    let tree: Reading<TaskTree>;
    try {
      tree = { type: "read", value: await call("time", "get_task_tree", { session: this.session }) };
    } catch (error) {
      tree = { type: "failed", error: asApiError(error) };
    }
    if (mine !== this.#trees) return;
    // What is there stays readable; what could not be read again is no reason to take it away.
    if (tree.type === "failed" && this.tree.type === "read") return;
    this.tree = tree;
    if (tree.type !== "read") return;
    const there = tree.value.tasks.some((task) => task.number === this.selected);
    if (there && this.selected !== null) await this.#look(this.selected);
    else this.select(placeIn(tree.value, this.#place));
    // What would happen depends on where the session is.
    if (this.proposal && this.proposal.from !== tree.value.active && !this.restoring) this.withdraw();
  }

  /** Shows another task. */
  select(task: number | null): void {
    if (task === this.selected) return;
    this.selected = task;
    this.#drop();
    this.checked.clear();
    this.changes = READING;
    if (task !== null) void this.#look(task);
  }

  async #look(task: number): Promise<void> {
    const mine = ++this.#looks;
    let changes: Reading<TaskChanges>;
    try {
      changes = { type: "read", value: await call("time", "get_task_changes", { session: this.session, task }) };
    } catch (error) {
      changes = { type: "failed", error: asApiError(error) };
    }
    if (mine !== this.#looks) return;
    this.changes = changes;
    if (changes.type !== "read") return;
    const paths = changes.value.paths;
    for (const path of this.checked) if (!paths.some((known) => known.path === path)) this.checked.delete(path);
    const first = paths.find((known) => known.path === this.path) ?? paths.find((known) => !known.folder) ?? paths[0];
    if (!this.proposal) this.compare(first?.path ?? null);
  }

  /** Shows a file beside its other state. */
  compare(path: string | null, against: CompareWith = this.against): void {
    this.path = path;
    this.against = against;
    const task = this.proposal?.restore.task ?? this.selected;
    if (path === null || task === null) return;
    void this.#compare(task, path, this.proposal ? "present" : against);
  }

  async #compare(task: number, path: string, against: CompareWith): Promise<void> {
    const mine = ++this.#comparisons;
    this.comparison = READING;
    let comparison: Reading<FileComparison>;
    try {
      const request = { session: this.session, task, path, with: against };
      comparison = { type: "read", value: await call("time", "compare_file", request) };
    } catch (error) {
      comparison = { type: "failed", error: asApiError(error) };
    }
    if (mine === this.#comparisons) this.comparison = comparison;
  }

  /** Chooses a file to be brought back, or leaves it. */
  check(path: string, chosen: "chosen" | "left"): void {
    if (chosen === "chosen") this.checked.add(path);
    else this.checked.delete(path);
  }

  /** Shows what a restore would do. Nothing is done. */
  async propose(scope: RestoreScope, selection: FileSelection): Promise<void> {
    const task = this.selected;
    if (task === null || this.known === null) return;
    const { active: from, conversation: said } = this.known;
    const mine = ++this.#previews;
    const restore: Restore = { task, scope, selection };
    this.refused = null;
    this.overwrite.clear();
    this.path = null;
    this.proposal = { restore, from, said, preview: READING };
    let preview: Reading<RestorePreview>;
    if (scope === "conversation") {
      const none = { changes: [], conflicts: [], impossible: [], lasting: { marks: [], more: 0 } };
      preview = { type: "read", value: { from, to: task, ...none } };
    } else {
      try {
        preview = {
          type: "read",
          value: await call("time", "preview_restore", { session: this.session, task, selection }),
        };
      } catch (error) {
        preview = { type: "failed", error: asApiError(error) };
      }
    }
    if (mine === this.#previews && this.proposal) this.proposal = { restore, from, said, preview };
  }

  /** Goes back from the preview to the task's files. */
  withdraw(): void {
    if (this.proposal === null) return;
    this.#drop();
    const first = this.changes.type === "read" ? this.changes.value.paths.find((known) => !known.folder) : undefined;
    this.compare(first?.path ?? null);
  }

  #drop(): void {
    this.#previews += 1;
    this.#comparisons += 1;
    this.proposal = null;
    this.refused = null;
    this.overwrite.clear();
    this.path = null;
  }

  /** Does what is proposed; null when it was refused, which [`refused`] explains. */
  async restore(): Promise<Done | null> {
    const { proposal, plan } = this;
    if (!proposal || !plan || this.restoring) return null;
    this.restoring = true;
    this.refused = null;
    try {
      const done = await this.carryOut(proposal.restore, overwriteOf(plan, this.overwrite), proposal.said);
      this.withdraw();
      return done;
    } catch (error) {
      this.refused = asApiError(error);
      return null;
    } finally {
      this.restoring = false;
      void this.load();
    }
  }

  /**
   * Has the core do a restore; rejects with an [`ApiError`] when it refuses. `said` is the task the conversation is at
   * before it.
   */
  async carryOut(restore: Restore, overwrite: string[], said: number): Promise<Done> {
    const report = await call("time", "restore_task", { session: this.session, ...restore, overwrite });
    const task = this.known?.tasks.find((known) => known.number === restore.task) ?? null;
    return { restore, task, report, undo: undoOf(restore, report, said), said: moves(restore) ? restore.task : said };
  }

  /** Gives the present state a name; rejects with an [`ApiError`]. */
  async name(name: string): Promise<TaskView> {
    const task = await call("time", "add_checkpoint", { session: this.session, name });
    await this.load();
    this.select(task.number);
    return task;
  }
}
