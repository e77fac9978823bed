/** What going to another task would do, and what the person decided about it. Pure. */
import type {
  ChangedPath,
  FileSelection,
  Impossible,
  Lasting,
  RestoreConflict,
  RestorePreview,
  RestoreReport,
  RestoreScope,
  TaskChange,
} from "$lib/ipc/types";

/** What is asked of the core. */
export interface Restore {
  readonly task: number;
  readonly scope: RestoreScope;
  readonly selection: FileSelection;
}

/** A preview, told apart for reading. */
export interface Plan {
  /** Files that will be written, deleted or changed without a question. */
  readonly changes: readonly ChangedPath[];
  /** Files somebody changed since; each is kept unless it is named. */
  readonly conflicts: readonly RestoreConflict[];
  readonly impossible: readonly Impossible[];
  /** What the tasks in between did that stays as it is. */
  readonly lasting: Lasting;
}

/** No path is in two lists: one that is in conflict is decided there, one that is impossible is not promised. */
export function planOf(preview: RestorePreview): Plan {
  const impossible = new Set(preview.impossible.map(({ path }) => path));
  const conflicts = preview.conflicts.filter(({ path }) => !impossible.has(path));
  const asked = new Set(conflicts.map(({ path }) => path));
  const changes = preview.changes.filter(({ path }) => !impossible.has(path) && !asked.has(path));
  return { changes, conflicts, impossible: preview.impossible, lasting: preview.lasting };
}

/** The paths that may be overwritten: of what was chosen, only what this plan asks about. */
export function overwriteOf(plan: Plan, chosen: ReadonlySet<string>): string[] {
  return plan.conflicts.filter(({ path }) => chosen.has(path)).map(({ path }) => path);
}

/** How many files it touches and leaves, by what happens to them. */
export interface Tally {
  readonly written: number;
  readonly deleted: number;
  readonly permissions: number;
  /** Files in conflict that stay as they are. */
  readonly kept: number;
}

/** Counts what the plan does with the chosen conflicts overwritten. */
export function tally(plan: Plan, chosen: ReadonlySet<string>): Tally {
  const done: TaskChange[] = [
    ...plan.changes.map(({ change }) => change),
    ...plan.conflicts.filter(({ path }) => chosen.has(path)).map(({ change }) => change),
  ];
  const count = (...wanted: TaskChange[]): number => done.filter((change) => wanted.includes(change)).length;
  return {
    written: count("created", "edited", "replaced"),
    deleted: count("deleted"),
    permissions: count("mode"),
    kept: plan.conflicts.length - overwriteOf(plan, chosen).length,
  };
}

/** Whether doing it would change a file. */
export function touches({ written, deleted, permissions }: Tally): boolean {
  return written + deleted + permissions > 0;
}

/** Whether the session moves to the task, rather than only files coming back. */
export function moves({ scope, selection }: Restore): boolean {
  return scope !== "files" && selection.type === "all";
}

/** What takes a restore back; null when it changed nothing. `said` is the task the conversation was at before. */
export function undoOf(restore: Restore, report: RestoreReport, said: number): Restore | null {
  if (report.safety !== null) return { ...restore, task: report.safety };
  // No file was touched, so there is nothing to bring back but the conversation.
  return moves(restore) && restore.task !== said
    ? { task: said, scope: "conversation", selection: { type: "all" } }
    : null;
}
