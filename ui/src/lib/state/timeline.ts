/** The tree of steps, its drawing and navigation: newest first, the path to the present in one column. Pure. */
import type { StepTree, StepView } from "$lib/ipc/types";

/** The maximum number of columns; further branches share the last one. */
const MOST_LANES = 6;

/** A step's position in the drawing. */
export interface TreeRow {
  readonly task: StepView;
  /** Its row from the top; the newest step is 0. */
  readonly row: number;
  /** The column; 0 is the path to the present. */
  readonly lane: number;
  /** How many times its path branched off, counted from 1; for a screen reader. */
  readonly level: number;
}

/** The edge from a step down to its parent. */
export interface TreeEdge {
  readonly from: TreeRow;
  readonly to: TreeRow;
  /** Whether both are on the path from the start to the present. */
  readonly on: boolean;
}

/** The drawing. */
export interface TreeLayout {
  readonly rows: readonly TreeRow[];
  readonly edges: readonly TreeEdge[];
  /** The number of columns. */
  readonly lanes: number;
}

/** Where the time machine opens. */
export type TimeMachineTarget =
  /** The present. */
  | { readonly type: "now" }
  /** The target of an undo. */
  | { readonly type: "before" }
  /** Before a turn. */
  | { readonly type: "before_turn"; readonly turn: string };

/** Computes the drawing of a tree. */
export function layout(tree: StepTree): TreeLayout {
  const newestFirst = tree.tasks.toSorted((a, b) => b.number - a.number);
  const rowOf = new Map(newestFirst.map((task, row) => [task.number, row]));
  const stepsByNumber = new Map(newestFirst.map((task) => [task.number, task]));
  // Groups steps by parent, newest first; a step whose parent is missing becomes a root.
  const parentOf = (task: StepView): StepView | undefined =>
    task.parent === null ? undefined : stepsByNumber.get(task.parent);
  const children = new Map<number | null, StepView[]>();
  for (const task of newestFirst) {
    const parent = parentOf(task)?.number ?? null;
    children.set(parent, [...(children.get(parent) ?? []), task]);
  }

  const places = new Map<number, { lane: number; level: number }>();
  /** The occupied ranges of rows, per column. */
  const occupied: (readonly [number, number])[][] = [];

  /** Places a path, given from its newest step to its oldest, in the first column free along its whole length. */
  const addPath = (path: readonly StepView[], level: number, down: number): void => {
    const [first] = path;
    const top = first ? (rowOf.get(first.number) ?? 0) : 0;
    let lane = level === 1 ? 0 : 1;
    while (lane < MOST_LANES - 1 && occupied[lane]?.some(([from, to]) => top <= to && from <= down)) lane += 1;
    (occupied[lane] ??= []).push([top, down]);
    for (const task of path) places.set(task.number, { lane, level });
  };
  /** Returns the path that continues from a step along the newest descendants. */
  const onward = (from: StepView, first: StepView | undefined): StepView[] => {
    const path = [from];
    for (let next = first; next; next = children.get(next.number)?.[0]) path.unshift(next);
    return path;
  };

  const active = stepsByNumber.get(tree.active);
  const currentPath = active ? path(tree, active.number) : [];
  const main = active
    ? [
        ...onward(active, tree.redo === null ? children.get(active.number)?.[0] : stepsByNumber.get(tree.redo)),
        ...currentPath.slice(1),
      ]
    : [];
  addPath(main, 1, newestFirst.length - 1);
  const open: { task: StepView; level: number }[] = [];
  const branchOff = (path: readonly StepView[], level: number): void => {
    for (const task of path) {
      for (const child of children.get(task.number) ?? []) {
        if (!places.has(child.number)) open.push({ task: child, level });
      }
    }
  };
  branchOff(main, 2);
  for (const task of children.get(null) ?? []) if (!places.has(task.number)) open.push({ task, level: 2 });
  for (let index = 0; index < open.length; index += 1) {
    const next = open[index];
    if (!next || places.has(next.task.number)) continue;
    const path = onward(next.task, children.get(next.task.number)?.[0]);
    const parent = parentOf(next.task);
    const down = (rowOf.get((parent ?? next.task).number) ?? 0) - (parent ? 1 : 0);
    addPath(path, next.level, down);
    branchOff(path, next.level + 1);
  }

  const rows = newestFirst.map((task, row): TreeRow => ({
    task,
    row,
    ...(places.get(task.number) ?? { lane: MOST_LANES - 1, level: 1 }),
  }));
  const edges = rows.flatMap((from): TreeEdge[] => {
    const to = rows[rowOf.get(from.task.parent ?? -1) ?? -1];
    return to ? [{ from, to, on: from.task.status !== "undone" && to.task.status !== "undone" }] : [];
  });
  return { rows, edges, lanes: Math.max(1, ...rows.map((row) => row.lane + 1)) };
}

/** Returns the steps from one back to the start, including itself. */
export function path(tree: StepTree, number: number): readonly StepView[] {
  const stepsByNumber = new Map(tree.tasks.map((task) => [task.number, task]));
  const path: StepView[] = [];
  // A parent is older than its child; anything else would loop.
  for (let step = stepsByNumber.get(number); step; step = older(stepsByNumber, step)) path.push(step);
  return path;
}

/** Returns the steps whose turns are in the conversation at the end of one, including itself. */
function conversationPath(tree: StepTree, number: number): readonly StepView[] {
  const stepsByNumber = new Map(tree.tasks.map((task) => [task.number, task]));
  const path: StepView[] = [];
  for (
    let step = stepsByNumber.get(number);
    step;
    step = older(stepsByNumber, { ...step, parent: step.said_after ?? step.parent })
  )
    path.push(step);
  return path;
}

function older(stepsByNumber: ReadonlyMap<number, StepView>, task: StepView): StepView | undefined {
  return task.parent !== null && task.parent < task.number ? stepsByNumber.get(task.parent) : undefined;
}

/** Returns how many runs the conversation loses and regains when the session goes to a step. */
export function steps(tree: StepTree, to: number): { readonly undone: number; readonly redone: number } {
  const from = conversationPath(tree, tree.conversation);
  const towards = conversationPath(tree, to);
  const common = new Set(from.map((task) => task.number));
  const shared = new Set(towards.filter((task) => common.has(task.number)).map((task) => task.number));
  const runs = (path: readonly StepView[]): number =>
    path.filter((task) => task.kind === "run" && !shared.has(task.number)).length;
  return { undone: runs(from), redone: runs(towards) };
}

/** Returns the step to select when the time machine opens; null in an empty tree. */
export function initialStep(tree: StepTree, target: TimeMachineTarget): number | null {
  if (tree.tasks.length === 0) return null;
  switch (target.type) {
    case "now":
      return tree.active;
    case "before":
      return tree.undo ?? tree.active;
    case "before_turn":
      return tree.tasks.find((task) => task.turn === target.turn)?.parent ?? tree.active;
  }
}

/** Returns the step a key moves to from the selected one; null for other keys. */
export function stepForKey(layout: TreeLayout, selected: number | null, key: string): number | null {
  const { rows } = layout;
  const selectedRow = rows.find((row) => row.task.number === selected);
  const to = (row: number): number | null => rows[Math.min(Math.max(row, 0), rows.length - 1)]?.task.number ?? null;
  switch (key) {
    case "ArrowUp":
      return to((selectedRow?.row ?? rows.length) - 1);
    case "ArrowDown":
      return to((selectedRow?.row ?? -1) + 1);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowLeft":
      // Back: the step it continued from. Forward: the next step in its own column, else in any.
      return layout.edges.find((edge) => edge.from === selectedRow)?.to.task.number ?? null;
    case "ArrowRight": {
      const after = layout.edges.filter((edge) => edge.to === selectedRow).map((edge) => edge.from);
      return (after.find((row) => row.lane === selectedRow?.lane) ?? after[0])?.task.number ?? null;
    }
    default:
      return null;
  }
}

/** Returns whether the tree has no step that could be undone. */
export function isEmpty(tree: StepTree): boolean {
  return tree.tasks.every((task) => task.kind === "start");
}
