/** The effects of a restore, and the person's decisions about them. Pure. */
import type {
  ChangedPath,
  FileSelection,
  UnrestorablePath,
  LastingEffects,
  RestoreConflict,
  RestorePreview,
  RestoreReport,
  RestoreScope,
  StepChange,
} from "$lib/ipc/types";

/** The restore to request from the core. */
export interface Restore {
  readonly task: number;
  readonly scope: RestoreScope;
  readonly selection: FileSelection;
}

/** A preview, sorted for display. */
export interface Plan {
  /** Files that will be written, deleted or changed without a question. */
  readonly changes: readonly ChangedPath[];
  /** Files changed by others since; each is kept unless the restore names it. */
  readonly conflicts: readonly RestoreConflict[];
  readonly impossible: readonly UnrestorablePath[];
  /** Effects of the steps in between that cannot be undone. */
  readonly lasting: LastingEffects;
}

/**
 * Returns the plan of a preview. No path is in two lists: a conflicting one is decided there, an impossible one is not
 * promised.
 */
export function planOf(preview: RestorePreview): Plan {
  const impossible = new Set(preview.impossible.map(({ path }) => path));
  const conflicts = preview.conflicts.filter(({ path }) => !impossible.has(path));
  const conflicting = new Set(conflicts.map(({ path }) => path));
  const changes = preview.changes.filter(({ path }) => !impossible.has(path) && !conflicting.has(path));
  return { changes, conflicts, impossible: preview.impossible, lasting: preview.lasting };
}

/** Returns the paths to overwrite: the chosen ones this plan asks about. */
export function overwritePaths(plan: Plan, chosen: ReadonlySet<string>): string[] {
  return plan.conflicts.filter(({ path }) => chosen.has(path)).map(({ path }) => path);
}

/** The number of files to touch and to leave, by effect. */
export interface Tally {
  readonly written: number;
  readonly deleted: number;
  readonly permissions: number;
  /** Conflicting files that stay unchanged. */
  readonly kept: number;
}

/** Counts the plan's effects if the chosen conflicts are overwritten. */
export function tally(plan: Plan, chosen: ReadonlySet<string>): Tally {
  const done: StepChange[] = [
    ...plan.changes.map(({ change }) => change),
    ...plan.conflicts.filter(({ path }) => chosen.has(path)).map(({ change }) => change),
  ];
  const count = (...kinds: StepChange[]): number => done.filter((change) => kinds.includes(change)).length;
  return {
    written: count("created", "edited", "replaced"),
    deleted: count("deleted"),
    permissions: count("mode"),
    kept: plan.conflicts.length - overwritePaths(plan, chosen).length,
  };
}

/** Returns whether the restore would change a file. */
export function changesFiles({ written, deleted, permissions }: Tally): boolean {
  return written + deleted + permissions > 0;
}

/** Returns whether the session moves to the step, as opposed to restoring only files. */
export function movesSession({ scope, selection }: Restore): boolean {
  return scope !== "files" && selection.type === "all";
}

/** Returns the restore that undoes another; null if that changed nothing. `conversationEnd` is the conversation's step
 * before it. */
export function undoOf(restore: Restore, report: RestoreReport, conversationEnd: number): Restore | null {
  if (report.safety !== null) return { ...restore, task: report.safety };
  // No file was touched, so only the conversation can be restored.
  return movesSession(restore) && restore.task !== conversationEnd
    ? { task: conversationEnd, scope: "conversation", selection: { type: "all" } }
    : null;
}
