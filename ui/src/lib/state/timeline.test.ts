import type { StepTree, StepView } from "$lib/ipc/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isEmpty, layout, path, initialStep, steps, stepForKey } from "./timeline";

/** Returns a tree of runs given the parents of the steps 1, 2, 3, …; with the core's statuses. */
function tree(parents: readonly number[], active: number, kinds: Record<number, StepView["kind"]> = {}): StepTree {
  const bare = [null, ...parents].map((parent, number): StepView => ({
    number,
    parent,
    kind: number === 0 ? "start" : (kinds[number] ?? "run"),
    turn: number === 0 ? null : `turn-${number}`,
    summary: `task ${number}`,
    status: "undone",
    branch: false,
    started_at: number,
    ended_at: number,
    changed: 0,
    lasting: 0,
    said_after: null,
  }));
  const path = new Set<number>();
  for (let step: number | null = active; step !== null; step = bare[step]?.parent ?? null) path.add(step);
  const tasks = bare.map((task): StepView => ({
    ...task,
    status: task.number === active ? "current" : path.has(task.number) ? "past" : "undone",
  }));
  const redo = tasks.findLast((task) => task.parent === active)?.number ?? null;
  return { tasks, active, conversation: active, undo: tasks[active]?.parent ?? null, redo };
}

const lanes = (tree: StepTree): Record<number, number> =>
  Object.fromEntries(layout(tree).rows.map((row) => [row.task.number, row.lane]));

const anyTree = fc
  .integer({ min: 0, max: 40 })
  .chain((count) =>
    fc.tuple(
      fc.tuple(...Array.from({ length: count }, (_, index) => fc.integer({ min: 0, max: index }))),
      fc.integer({ min: 0, max: count }),
    ),
  )
  .map(([parents, active]) => tree(parents, active));

describe("layout", () => {
  it("puts the newest step first and the current path into the first column", () => {
    // 1-2-3, back to 1, then 4-5.
    const treeLayout = layout(tree([0, 1, 2, 1, 4], 5));
    expect(treeLayout.rows.map((row) => row.task.number)).toEqual([5, 4, 3, 2, 1, 0]);
    expect(lanes(tree([0, 1, 2, 1, 4], 5))).toEqual({ 0: 0, 1: 0, 4: 0, 5: 0, 2: 1, 3: 1 });
    expect(treeLayout.lanes).toBe(2);
  });

  it("keeps redoable steps above the present in the same column", () => {
    const undone = tree([0, 1, 2], 1);
    expect(lanes(undone)).toEqual({ 0: 0, 1: 0, 2: 0, 3: 0 });
    expect(layout(undone).edges.map((edge) => [edge.from.task.number, edge.on])).toEqual([
      [3, false],
      [2, false],
      [1, true],
    ]);
  });

  it("continues along the redo path, not along an older branch", () => {
    expect(lanes({ ...tree([0, 1, 1], 1), redo: 2 })).toMatchObject({ 2: 0, 3: 1 });
    expect(lanes({ ...tree([0, 1, 1], 1), redo: 3 })).toMatchObject({ 3: 0, 2: 1 });
  });

  it("reuses free columns and knows the depth of branches", () => {
    // Two branches in sequence: 2 from 1, then 4 from 3; the active path is 1-3-5.
    const treeLayout = layout(tree([0, 1, 1, 3, 3], 5));
    expect(Object.fromEntries(treeLayout.rows.map((row) => [row.task.number, [row.lane, row.level]]))).toEqual({
      0: [0, 1],
      1: [0, 1],
      3: [0, 1],
      5: [0, 1],
      2: [1, 2],
      4: [1, 2],
    });
    // A branch of a branch.
    expect(layout(tree([0, 1, 2, 2, 1], 5)).rows.find((row) => row.task.number === 3)).toMatchObject({ level: 3 });
  });

  it("draws every tree: each step once, edges downwards and through no other path's step", () => {
    fc.assert(
      fc.property(anyTree, (randomTree) => {
        const treeLayout = layout(randomTree);
        expect(treeLayout.rows.map((row) => row.task.number)).toEqual(
          randomTree.tasks.map((task) => task.number).toReversed(),
        );
        expect(treeLayout.edges.length).toBe(randomTree.tasks.length - 1);
        for (const { from, to, on } of treeLayout.edges) {
          expect(to.row).toBeGreaterThan(from.row);
          expect(on).toBe(from.task.status !== "undone");
          if (treeLayout.lanes === 6) continue;
          // The straight part of the edge: in its own column, down to the row before its end.
          const through = treeLayout.rows.filter(
            (row) => row.lane === from.lane && row.row > from.row && row.row < to.row,
          );
          expect(through).toEqual([]);
        }
        for (const row of treeLayout.rows)
          if (row.task.status !== "undone") expect([row.lane, row.level]).toEqual([0, 1]);
      }),
    );
  });

  it("handles an empty tree and a missing parent", () => {
    expect(layout({ tasks: [], active: 0, conversation: 0, undo: null, redo: null })).toEqual({
      rows: [],
      edges: [],
      lanes: 1,
    });
    const torn = tree([0, 1, 2], 3);
    const treeLayout = layout({ ...torn, tasks: torn.tasks.filter((task) => task.number !== 1) });
    expect(treeLayout.rows.length).toBe(3);
    expect(treeLayout.edges.length).toBe(1);
  });
});

describe("keyboard navigation", () => {
  const treeLayout = layout(tree([0, 1, 2, 1, 4], 5));
  it.each([
    ["ArrowDown", 5, 4],
    ["ArrowDown", 0, 0],
    ["ArrowUp", 5, 5],
    ["ArrowUp", 2, 3],
    ["Home", 0, 5],
    ["End", 5, 0],
    ["ArrowLeft", 4, 1],
    ["ArrowLeft", 2, 1],
    ["ArrowLeft", 0, null],
    ["ArrowRight", 1, 4],
    ["ArrowRight", 2, 3],
    ["ArrowRight", 5, null],
    ["a", 5, null],
  ] as const)("%s from %i", (key, from, to) => {
    expect(stepForKey(treeLayout, from, key)).toBe(to);
  });

  it("starts at an end if nothing is selected", () => {
    expect([stepForKey(treeLayout, null, "ArrowDown"), stepForKey(treeLayout, null, "ArrowUp")]).toEqual([5, 0]);
    expect(
      stepForKey(layout({ tasks: [], active: 0, conversation: 0, undo: null, redo: null }), null, "ArrowDown"),
    ).toBeNull();
  });
});

describe("steps", () => {
  it("count runs that leave and rejoin the conversation, not saved states", () => {
    const branched = tree([0, 1, 2, 3, 1, 5], 6, { 4: "safety", 5: "checkpoint" });
    expect(steps(branched, 3)).toEqual({ undone: 1, redone: 2 });
    expect(steps(branched, 4)).toEqual({ undone: 1, redone: 2 });
    expect(steps(branched, 0)).toEqual({ undone: 2, redone: 0 });
    expect(steps(branched, 6)).toEqual({ undone: 0, redone: 0 });
  });

  it("follow the conversation where it differs from the files", () => {
    // Files of 3 continue from 2, its conversation from 1; then only the conversation went back to 1.
    const smallTree = tree([0, 1, 2], 3);
    const tasks = smallTree.tasks.map((task) => (task.number === 3 ? { ...task, said_after: 1 } : task));
    expect(steps({ ...smallTree, tasks }, 1)).toEqual({ undone: 1, redone: 0 });
    expect(steps({ ...smallTree, tasks }, 2)).toEqual({ undone: 1, redone: 1 });
    expect(steps({ ...smallTree, tasks, conversation: 1 }, 3)).toEqual({ undone: 0, redone: 1 });
    expect(steps({ ...smallTree, tasks, conversation: 1 }, 1)).toEqual({ undone: 0, redone: 0 });
  });

  it("are symmetric: one direction undoes what the other redoes", () => {
    fc.assert(
      fc.property(anyTree, fc.nat(), (randomTree, pick) => {
        const to = randomTree.tasks[pick % randomTree.tasks.length]?.number ?? 0;
        const outcome = steps(randomTree, to);
        const reverse = steps({ ...randomTree, active: to, conversation: to }, randomTree.active);
        expect(reverse).toEqual({ undone: outcome.redone, redone: outcome.undone });
      }),
    );
  });
});

describe("the initial step", () => {
  const smallTree = tree([0, 1, 2], 3);
  it("is the present, the previous step or the one before a turn", () => {
    expect(initialStep(smallTree, { type: "now" })).toBe(3);
    expect(initialStep(smallTree, { type: "before" })).toBe(2);
    expect(initialStep(smallTree, { type: "before_turn", turn: "turn-2" })).toBe(1);
    expect(initialStep(smallTree, { type: "before_turn", turn: "of another session" })).toBe(3);
    expect(initialStep({ ...smallTree, active: 0, undo: null }, { type: "before" })).toBe(0);
    expect(initialStep({ tasks: [], active: 0, conversation: 0, undo: null, redo: null }, { type: "now" })).toBeNull();
  });

  it("is none in an empty tree", () => {
    expect([
      isEmpty(smallTree),
      isEmpty(tree([], 0)),
      isEmpty({ tasks: [], active: 0, conversation: 0, undo: null, redo: null }),
    ]).toEqual([false, true, true]);
  });
});

it("ends a path in any tree", () => {
  const round = tree([0, 1], 2);
  const tasks = round.tasks.map((task) => (task.number === 1 ? { ...task, parent: 2 } : task));
  expect(path({ ...round, tasks }, 2).map((task) => task.number)).toEqual([2, 1]);
});
