/** The time machine of a session while it is open: its selection, and restores. */
import { asApiError, call } from "$lib/ipc";
import type {
  ApiError,
  ComparisonTarget,
  FileComparison,
  FileSelection,
  RestorePreview,
  RestoreReport,
  RestoreScope,
  StepChanges,
  StepTree,
  StepView,
} from "$lib/ipc/types";
import { type Plan, type Restore, movesSession, overwritePaths, planOf, undoOf } from "$lib/state/restore";
import { type TimeMachineTarget, initialStep } from "$lib/state/timeline";
import { SvelteSet } from "svelte/reactivity";

/** The loaded value, its pending load, or the load error. */
export type Reading<T> =
  | { readonly type: "reading" }
  | { readonly type: "read"; readonly value: T }
  | { readonly type: "failed"; readonly error: ApiError };

/** A requested restore, previewed before it is carried out. */
export interface Proposal {
  readonly restore: Restore;
  /** The active step at the time of the request. */
  readonly from: number;
  /** The conversation's step at that time. */
  readonly said: number;
  readonly preview: Reading<RestorePreview>;
}

/** A completed restore, with its undo. */
export interface Done {
  readonly restore: Restore;
  /** The step it went to, or took files from; null if the last loaded tree does not contain it. */
  readonly task: StepView | null;
  readonly report: RestoreReport;
  readonly undo: Restore | null;
  /** The conversation's current step. */
  readonly said: number;
}

const READING = { type: "reading" } as const;

export class Timeline {
  readonly session: string;
  tree = $state.raw<Reading<StepTree>>(READING);
  selected = $state<number | null>(null);
  changes = $state.raw<Reading<StepChanges>>(READING);
  /** The file being compared. */
  path = $state<string | null>(null);
  against = $state<ComparisonTarget>("before");
  comparison = $state.raw<Reading<FileComparison>>(READING);
  /** The files selected for a restore. */
  readonly checked = new SvelteSet<string>();
  proposal = $state.raw<Proposal | null>(null);
  /** Conflicts of the plan that may be overwritten. */
  readonly overwrite = new SvelteSet<string>();
  /** Set during a restore. */
  restoring = $state(false);
  /** Why the last restore was refused. */
  refused = $state.raw<ApiError | null>(null);
  #place: TimeMachineTarget;
  // Incremented with every request, so that outdated answers are dropped.
  #trees = 0;
  #looks = 0;
  #comparisons = 0;
  #previews = 0;

  #closed = false;

  constructor(session: string, target: TimeMachineTarget) {
    this.session = session;
    this.#place = target;
  }

  // Not derived: the toast after a restore reads them after the page has closed.

  /** The loaded tree. */
  get stepTree(): StepTree | null {
    return this.tree.type === "read" ? this.tree.value : null;
  }

  /** The selected step. */
  get task(): StepView | null {
    return this.stepTree?.tasks.find((task) => task.number === this.selected) ?? null;
  }

  /** The restore plan; null until the preview is loaded. */
  get plan(): Plan | null {
    return this.proposal?.preview.type === "read" ? planOf(this.proposal.preview.value) : null;
  }

  /** Closes it and stops loading. A restore can still be undone. */
  close(): void {
    this.#closed = true;
  }

  /** Reloads the tree and the selection after a change in the session. */
  async load(): Promise<void> {
    if (this.#closed) return;
    const request = ++this.#trees;
    let tree: Reading<StepTree>;
    try {
      tree = { type: "read", value: await call("time", "get_task_tree", { session: this.session }) };
    } catch (error) {
      tree = { type: "failed", error: asApiError(error) };
    }
    if (request !== this.#trees) return;
    // A failed refresh keeps the tree already shown.
    if (tree.type === "failed" && this.tree.type === "read") return;
    this.tree = tree;
    if (tree.type !== "read") return;
    const isSelectedPresent = tree.value.tasks.some((task) => task.number === this.selected);
    if (isSelectedPresent && this.selected !== null) await this.#look(this.selected);
    else this.select(initialStep(tree.value, this.#place));
    // The plan depends on the current step of the session.
    if (this.proposal && this.proposal.from !== tree.value.active && !this.restoring) this.withdraw();
  }

  /** Selects a step. */
  select(task: number | null): void {
    if (task === this.selected) return;
    this.selected = task;
    this.#drop();
    this.checked.clear();
    this.changes = READING;
    if (task !== null) void this.#look(task);
  }

  async #look(task: number): Promise<void> {
    const request = ++this.#looks;
    let changes: Reading<StepChanges>;
    try {
      changes = { type: "read", value: await call("time", "get_task_changes", { session: this.session, task }) };
    } catch (error) {
      changes = { type: "failed", error: asApiError(error) };
    }
    if (request !== this.#looks) return;
    this.changes = changes;
    if (changes.type !== "read") return;
    const paths = changes.value.paths;
    for (const path of this.checked) if (!paths.some((entry) => entry.path === path)) this.checked.delete(path);
    const first = paths.find((entry) => entry.path === this.path) ?? paths.find((entry) => !entry.folder) ?? paths[0];
    if (!this.proposal) this.compare(first?.path ?? null);
  }

  /** Compares a file with its other state. */
  compare(path: string | null, against: ComparisonTarget = this.against): void {
    this.path = path;
    this.against = against;
    const task = this.proposal?.restore.task ?? this.selected;
    if (path === null || task === null) return;
    void this.#compare(task, path, this.proposal ? "present" : against);
  }

  async #compare(task: number, path: string, against: ComparisonTarget): Promise<void> {
    const ownRequest = ++this.#comparisons;
    this.comparison = READING;
    let comparison: Reading<FileComparison>;
    try {
      const request = { session: this.session, task, path, with: against };
      comparison = { type: "read", value: await call("time", "compare_file", request) };
    } catch (error) {
      comparison = { type: "failed", error: asApiError(error) };
    }
    if (ownRequest === this.#comparisons) this.comparison = comparison;
  }

  /** Selects or deselects a file for the restore. */
  check(path: string, chosen: "chosen" | "left"): void {
    if (chosen === "chosen") this.checked.add(path);
    else this.checked.delete(path);
  }

  /** Previews a restore, without carrying it out. */
  async propose(scope: RestoreScope, selection: FileSelection): Promise<void> {
    const task = this.selected;
    if (task === null || this.stepTree === null) return;
    const { active: from, conversation: conversationEnd } = this.stepTree;
    const request = ++this.#previews;
    const restore: Restore = { task, scope, selection };
    this.refused = null;
    this.overwrite.clear();
    this.path = null;
    this.proposal = { restore, from, said: conversationEnd, preview: READING };
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
    if (request === this.#previews && this.proposal) this.proposal = { restore, from, said: conversationEnd, preview };
  }

  /** Returns from the preview to the step's files. */
  withdraw(): void {
    if (this.proposal === null) return;
    this.#drop();
    const first = this.changes.type === "read" ? this.changes.value.paths.find((entry) => !entry.folder) : undefined;
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

  /** Carries out the plan; returns null if it was refused, which [`refused`] explains. */
  async restore(): Promise<Done | null> {
    const { proposal, plan } = this;
    if (!proposal || !plan || this.restoring) return null;
    this.restoring = true;
    this.refused = null;
    try {
      const done = await this.carryOut(proposal.restore, overwritePaths(plan, this.overwrite), proposal.said);
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
   * Carries out a restore; rejects with an [`ApiError`] if the core refuses. `conversationEnd` is the
   * conversation's step before it.
   */
  async carryOut(restore: Restore, overwrite: string[], conversationEnd: number): Promise<Done> {
    const report = await call("time", "restore_task", { session: this.session, ...restore, overwrite });
    const task = this.stepTree?.tasks.find((step) => step.number === restore.task) ?? null;
    return {
      restore,
      task,
      report,
      undo: undoOf(restore, report, conversationEnd),
      said: movesSession(restore) ? restore.task : conversationEnd,
    };
  }

  /** Names the current state; rejects with an [`ApiError`]. */
  async name(name: string): Promise<StepView> {
    const task = await call("time", "add_checkpoint", { session: this.session, name });
    await this.load();
    this.select(task.number);
    return task;
  }
}
