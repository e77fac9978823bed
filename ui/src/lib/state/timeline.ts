/** The tree of tasks as it is drawn and walked through: newest first, the way to the present in one line. Pure. */
import type { TaskTree, TaskView } from "$lib/ipc/types";

/** More ways beside each other than this share the last column. */
const MOST_LANES = 6;

/** A task's place in the drawing. */
export interface TreeRow {
  readonly task: TaskView;
  /** From the top, the newest task being 0. */
  readonly row: number;
  /** The column; 0 is the way of the present. */
  readonly lane: number;
  /** How many times its way left another one, from 1; for whoever does not see the drawing. */
  readonly level: number;
}

/** The line from a task down to the one it went on from. */
export interface TreeEdge {
  readonly from: TreeRow;
  readonly to: TreeRow;
  /** Whether both are on the way from the start to the present. */
  readonly on: boolean;
}

/** The drawing. */
export interface TreeLayout {
  readonly rows: readonly TreeRow[];
  readonly edges: readonly TreeEdge[];
  /** How many columns it takes. */
  readonly lanes: number;
}

/** Where the window of the time machine opens. */
export type TimePlace =
  /** The present. */
  | { readonly type: "now" }
  /** Where an undo would go. */
  | { readonly type: "before" }
  /** Before a turn. */
  | { readonly type: "before_turn"; readonly turn: string };

/** Lays the tree out. */
export function layout(tree: TaskTree): TreeLayout {
  const newestFirst = tree.tasks.toSorted((a, b) => b.number - a.number);
  const rowOf = new Map(newestFirst.map((task, row) => [task.number, row]));
  const known = new Map(newestFirst.map((task) => [task.number, task]));
  // By parent, the newest first; what names a parent that is not there begins anew.
  const parentOf = (task: TaskView): TaskView | undefined =>
    task.parent === null ? undefined : known.get(task.parent);
  const children = new Map<number | null, TaskView[]>();
  for (const task of newestFirst) {
    const parent = parentOf(task)?.number ?? null;
    children.set(parent, [...(children.get(parent) ?? []), task]);
  }

  const places = new Map<number, { lane: number; level: number }>();
  /** Per column, the rows that are taken in it. */
  const taken: (readonly [number, number])[][] = [];

  /** Gives a way, from its newest task to its oldest, the first column that is free all along. */
  const place = (way: readonly TaskView[], level: number, down: number): void => {
    const [first] = way;
    const top = first ? (rowOf.get(first.number) ?? 0) : 0;
    let lane = level === 1 ? 0 : 1;
    while (lane < MOST_LANES - 1 && taken[lane]?.some(([from, to]) => top <= to && from <= down)) lane += 1;
    (taken[lane] ??= []).push([top, down]);
    for (const task of way) places.set(task.number, { lane, level });
  };
  /** The way on from a task, along the newest of what followed, put before it. */
  const onward = (from: TaskView, first: TaskView | undefined): TaskView[] => {
    const way = [from];
    for (let next = first; next; next = children.get(next.number)?.[0]) way.unshift(next);
    return way;
  };

  const active = known.get(tree.active);
  const back = active ? path(tree, active.number) : [];
  const main = active
    ? [
        ...onward(active, tree.redo === null ? children.get(active.number)?.[0] : known.get(tree.redo)),
        ...back.slice(1),
      ]
    : [];
  place(main, 1, newestFirst.length - 1);
  const open: { task: TaskView; level: number }[] = [];
  const branchOff = (way: readonly TaskView[], level: number): void => {
    for (const task of way) {
      for (const child of children.get(task.number) ?? []) {
        if (!places.has(child.number)) open.push({ task: child, level });
      }
    }
  };
  branchOff(main, 2);
  for (const task of children.get(null) ?? []) if (!places.has(task.number)) open.push({ task, level: 2 });
  for (let at = 0; at < open.length; at += 1) {
    const next = open[at];
    if (!next || places.has(next.task.number)) continue;
    const way = onward(next.task, children.get(next.task.number)?.[0]);
    const parent = parentOf(next.task);
    const down = (rowOf.get((parent ?? next.task).number) ?? 0) - (parent ? 1 : 0);
    place(way, next.level, down);
    branchOff(way, next.level + 1);
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

/** The tasks from one back to the start, itself first. */
export function path(tree: TaskTree, number: number): readonly TaskView[] {
  const known = new Map(tree.tasks.map((task) => [task.number, task]));
  const way: TaskView[] = [];
  // A parent is older than its child; anything else would go round in circles.
  for (let at = known.get(number); at; at = older(known, at)) way.push(at);
  return way;
}

/** The tasks whose turns are in the conversation at the end of one, itself first. */
function told(tree: TaskTree, number: number): readonly TaskView[] {
  const known = new Map(tree.tasks.map((task) => [task.number, task]));
  const way: TaskView[] = [];
  for (let at = known.get(number); at; at = older(known, { ...at, parent: at.said_after ?? at.parent })) way.push(at);
  return way;
}

function older(known: ReadonlyMap<number, TaskView>, task: TaskView): TaskView | undefined {
  return task.parent !== null && task.parent < task.number ? known.get(task.parent) : undefined;
}

/** What the conversation loses and gets back when the session goes to a task: runs, as they are counted by people. */
export function steps(tree: TaskTree, to: number): { readonly undone: number; readonly redone: number } {
  const from = told(tree, tree.conversation);
  const towards = told(tree, to);
  const common = new Set(from.map((task) => task.number));
  const shared = new Set(towards.filter((task) => common.has(task.number)).map((task) => task.number));
  const runs = (way: readonly TaskView[]): number =>
    way.filter((task) => task.kind === "run" && !shared.has(task.number)).length;
  return { undone: runs(from), redone: runs(towards) };
}

/** The task that is selected when the time machine opens; none in an empty tree. */
export function placeIn(tree: TaskTree, place: TimePlace): number | null {
  if (tree.tasks.length === 0) return null;
  switch (place.type) {
    case "now":
      return tree.active;
    case "before":
      return tree.undo ?? tree.active;
    case "before_turn":
      return tree.tasks.find((task) => task.turn === place.turn)?.parent ?? tree.active;
  }
}

/** The task a key leads to from the selected one; null for other keys. */
export function walk(laid: TreeLayout, selected: number | null, key: string): number | null {
  const { rows } = laid;
  const at = rows.find((row) => row.task.number === selected);
  const to = (row: number): number | null => rows[Math.min(Math.max(row, 0), rows.length - 1)]?.task.number ?? null;
  switch (key) {
    case "ArrowUp":
      return to((at?.row ?? rows.length) - 1);
    case "ArrowDown":
      return to((at?.row ?? -1) + 1);
    case "Home":
      return to(0);
    case "End":
      return to(rows.length - 1);
    case "ArrowLeft":
      // Back in time, to what it went on from; forward to what followed in its own column, else in any.
      return laid.edges.find((edge) => edge.from === at)?.to.task.number ?? null;
    case "ArrowRight": {
      const after = laid.edges.filter((edge) => edge.to === at).map((edge) => edge.from);
      return (after.find((row) => row.lane === at?.lane) ?? after[0])?.task.number ?? null;
    }
    default:
      return null;
  }
}

/** Whether anything has happened that could be undone. */
export function isEmpty(tree: TaskTree): boolean {
  return tree.tasks.every((task) => task.kind === "start");
}
