import type { ChangedPath, RestorePreview, RestoreReport, StepChange } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { type Restore, movesSession, overwritePaths, planOf, tally, changesFiles, undoOf } from "./restore";

const change = (path: string, change: StepChange): ChangedPath => ({
  path,
  change,
  folder: false,
  added: null,
  removed: null,
  unsaved: null,
});
const preview: RestorePreview = {
  from: 4,
  to: 2,
  changes: [
    change("/p/a", "edited"),
    change("/p/b", "deleted"),
    change("/p/c", "mode"),
    change("/p/d", "created"),
    // Listed twice: decided where the plan asks, and never promised where it is impossible.
    change("/p/mine", "edited"),
    change("/p/lost", "edited"),
  ],
  conflicts: [
    { path: "/p/mine", change: "edited", source: "both" },
    { path: "/p/new", change: "deleted", source: "others_only" },
    { path: "/p/lost", change: "edited", source: "both" },
  ],
  impossible: [{ path: "/p/lost", why: { type: "not_kept", why: "too_large" } }],
  lasting: { marks: [], more: 2 },
};
const all: Restore = { task: 2, scope: "both", selection: { type: "all" } };
const report: RestoreReport = { active: 2, safety: 5, changed: 4, kept: [], impossible: [] };

describe("a plan", () => {
  const plan = planOf(preview);

  it("lists every path once", () => {
    expect(plan.changes.map(({ path }) => path)).toEqual(["/p/a", "/p/b", "/p/c", "/p/d"]);
    expect(plan.conflicts.map(({ path }) => path)).toEqual(["/p/mine", "/p/new"]);
  });

  it("overwrites only selected conflicts", () => {
    expect(overwritePaths(plan, new Set())).toEqual([]);
    expect(overwritePaths(plan, new Set(["/p/new", "/p/a", "/elsewhere", "/p/lost"]))).toEqual(["/p/new"]);
  });

  it.each([
    [[], { written: 2, deleted: 1, permissions: 1, kept: 2 }],
    [["/p/mine"], { written: 3, deleted: 1, permissions: 1, kept: 1 }],
    [["/p/mine", "/p/new"], { written: 3, deleted: 2, permissions: 1, kept: 0 }],
  ])("with %j chosen", (chosen, counts) => {
    expect(tally(plan, new Set(chosen))).toEqual(counts);
  });

  it("that keeps every conflict and changes nothing else is empty", () => {
    const empty = planOf({ ...preview, changes: [] });
    expect(changesFiles(tally(empty, new Set()))).toBe(false);
    expect(changesFiles(tally(empty, new Set(["/p/new"])))).toBe(true);
  });
});

describe("irreversible effects", () => {
  it("are listed as the core reports them", () => {
    expect(planOf(preview).lasting).toEqual({ marks: [], more: 2 });
  });
});

describe("the undo of a restore", () => {
  it("restores the saved state with the same scope and files", () => {
    expect(undoOf(all, report, 4)).toEqual({ ...all, task: 5 });
    const chosen: Restore = { task: 2, scope: "files", selection: { type: "chosen", paths: ["/p/a"] } };
    expect(undoOf(chosen, { ...report, active: 4 }, 4)).toEqual({ ...chosen, task: 5 });
  });

  it("covers only the conversation if no file changed, and nothing if nothing was done", () => {
    const talk: Restore = { ...all, scope: "conversation" };
    expect(undoOf(talk, { ...report, safety: null }, 4)).toEqual({ ...talk, task: 4 });
    expect(undoOf(all, { ...report, safety: null }, 4)).toEqual({ ...talk, task: 4 });
    expect(undoOf(all, { ...report, safety: null }, 2)).toBeNull();
    expect(undoOf(talk, { ...report, safety: null, active: 4 }, 2)).toBeNull();
    expect(undoOf(talk, { ...report, safety: null, active: 4 }, 3)).toEqual({ ...talk, task: 3 });
    expect(undoOf({ ...all, scope: "files" }, { ...report, safety: null }, 4)).toBeNull();
  });

  it("affects the session only if its conversation moves", () => {
    expect([
      movesSession(all),
      movesSession({ ...all, scope: "conversation" }),
      movesSession({ ...all, scope: "files" }),
    ]).toEqual([true, true, false]);
    expect(movesSession({ ...all, selection: { type: "chosen", paths: [] } })).toBe(false);
  });
});
