// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { ChangedPath, Request, RestorePreview, StepTree, StepView, TimeRequest } from "$lib/ipc/types";
import { beforeEach, describe, expect, it } from "vitest";
import { Timeline } from "./timeline.svelte";

const task = (number: number, status: StepView["status"]): StepView => ({
  number,
  parent: number === 0 ? null : number - 1,
  kind: number === 0 ? "start" : "run",
  turn: number === 0 ? null : `turn-${number}`,
  summary: `task ${number}`,
  status,
  branch: false,
  started_at: 1,
  ended_at: 2,
  changed: 1,
  lasting: 0,
  said_after: null,
});
const tree: StepTree = {
  tasks: [task(0, "past"), task(1, "past"), task(2, "past"), task(3, "current")],
  active: 3,
  conversation: 3,
  undo: 2,
  redo: null,
};
const file = (path: string): ChangedPath => ({
  path,
  change: "edited",
  folder: false,
  added: 1,
  removed: 1,
  unsaved: null,
});
const nothing = { marks: [], more: 0 };
const changes = (...paths: string[]) => ({
  paths: paths.map(file),
  left_out: [],
  left_out_total: 0,
  lasting: nothing,
});
const preview: RestorePreview = {
  from: 3,
  to: 2,
  changes: [file("/p/a")],
  conflicts: [{ path: "/p/mine", change: "edited", source: "both" }],
  impossible: [],
  lasting: nothing,
};
const refusal = { key: "store.busy", args: {}, retryable: true };

let calls: TimeRequest[] = [];
/** The answer to each type of request; tests override the ones they need. */
let answers: { [K in TimeRequest["type"]]: (call: TimeRequest) => unknown };
const transport: Transport = {
  request: (request: Request) => {
    if (request.domain !== "time") throw new Error(request.domain);
    calls.push(request.call);
    return Promise.resolve().then(() => answers[request.call.type](request.call));
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};
const callsOf = (type: TimeRequest["type"]) => calls.filter((call) => call.type === type);
/** Waits until all pending answers have arrived. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

/** Opens a time machine and waits for its first answers. */
async function opened(type: "now" | "before" = "before"): Promise<Timeline> {
  const timeline = new Timeline("s", { type });
  await timeline.load();
  await settle();
  return timeline;
}

beforeEach(() => {
  calls = [];
  answers = {
    get_task_tree: () => tree,
    get_task_changes: () => changes("/p/a", "/p/b"),
    compare_file: () => ({ old: { type: "absent" }, new: { type: "absent" }, diff: null }),
    preview_restore: () => preview,
    restore_task: () => ({ active: 2, safety: 4, changed: 1, kept: ["/p/mine"], impossible: [] }),
    add_checkpoint: () => ({ ...task(4, "current"), kind: "checkpoint", summary: "mine" }),
    get_time_space: () => ({ bytes: 0, blobs: 0, budget: 0 }),
    collect_time: () => ({}),
  };
  useTransport(transport);
});

describe("opening", () => {
  it("selects its target step and compares its first file", async () => {
    const timeline = await opened();
    expect(timeline.selected).toBe(2);
    expect(callsOf("get_task_changes")).toEqual([{ type: "get_task_changes", session: "s", task: 2 }]);
    expect(callsOf("compare_file")).toEqual([
      { type: "compare_file", session: "s", task: 2, path: "/p/a", with: "before" },
    ]);
    expect((await opened("now")).selected).toBe(3);
  });

  it("shows why nothing was loaded, and keeps the old tree if a reload fails", async () => {
    answers.get_task_tree = () => Promise.reject(refusal);
    const timeline = await opened();
    expect(timeline.tree).toMatchObject({ type: "failed", error: refusal });
    answers.get_task_tree = () => tree;
    await timeline.load();
    expect([timeline.stepTree?.active, timeline.selected]).toEqual([3, 2]);
    answers.get_task_tree = () => Promise.reject(refusal);
    await timeline.load();
    expect(timeline.stepTree?.active).toBe(3);
  });

  it("keeps the selection when the tree is reloaded, as far as it still exists", async () => {
    const timeline = await opened();
    timeline.check("/p/a", "chosen");
    timeline.check("/p/b", "chosen");
    timeline.compare("/p/b");
    answers.get_task_changes = () => changes("/p/b", "/p/c");
    await timeline.load();
    expect([timeline.selected, timeline.path, [...timeline.checked]]).toEqual([2, "/p/b", ["/p/b"]]);
  });
});

describe("selecting another step", () => {
  it("starts with no files checked and ignores an outdated reply", async () => {
    const timeline = await opened();
    timeline.check("/p/a", "chosen");
    let late: (value: unknown) => void = () => undefined;
    answers.get_task_changes = (call) =>
      "task" in call && call.task === 1 ? new Promise((resolve) => (late = resolve)) : changes("/p/zero");
    timeline.select(1);
    await settle();
    expect([timeline.changes.type, timeline.checked.size]).toEqual(["reading", 0]);
    timeline.select(0);
    await settle();
    late(changes("/p/late"));
    await settle();
    expect(timeline.changes).toMatchObject({ type: "read", value: { paths: [{ path: "/p/zero" }] } });
    expect(timeline.path).toBe("/p/zero");
  });

  it("and another file ignores an outdated comparison", async () => {
    const timeline = await opened();
    let late: (value: unknown) => void = () => undefined;
    answers.compare_file = (call) =>
      "path" in call && call.path === "/p/b"
        ? new Promise((resolve) => (late = resolve))
        : { old: { type: "folder" }, new: { type: "folder" }, diff: null };
    timeline.compare("/p/b");
    timeline.compare("/p/a", "present");
    await settle();
    late({ old: { type: "link" }, new: { type: "link" }, diff: null });
    await settle();
    expect(timeline.comparison).toMatchObject({ type: "read", value: { old: { type: "folder" } } });
    expect(callsOf("compare_file").at(-1)).toMatchObject({ path: "/p/a", with: "present" });
  });
});

describe("restoring", () => {
  it("does nothing before its preview, and keeps conflicting files unless selected", async () => {
    const timeline = await opened();
    expect(await timeline.restore()).toBeNull();
    await timeline.propose("both", { type: "all" });
    expect(callsOf("restore_task")).toEqual([]);
    const done = await timeline.restore();
    expect(callsOf("restore_task")).toEqual([
      { type: "restore_task", session: "s", task: 2, scope: "both", selection: { type: "all" }, overwrite: [] },
    ]);
    expect(done?.undo).toEqual({ task: 4, scope: "both", selection: { type: "all" } });
    expect(timeline.proposal).toBeNull();
  });

  it("overwrites selected files and clears the selection with the preview", async () => {
    const timeline = await opened();
    await timeline.propose("both", { type: "all" });
    timeline.overwrite.add("/p/mine");
    timeline.withdraw();
    await timeline.propose("both", { type: "all" });
    expect([...timeline.overwrite]).toEqual([]);
    timeline.overwrite.add("/p/mine");
    await timeline.restore();
    expect(callsOf("restore_task")).toMatchObject([{ overwrite: ["/p/mine"] }]);
  });

  it("names no files if only the conversation is restored", async () => {
    const timeline = await opened();
    await timeline.propose("conversation", { type: "all" });
    expect([callsOf("preview_restore").length, timeline.plan?.changes.length]).toEqual([0, 0]);
    answers.restore_task = () => ({ active: 2, safety: null, changed: 0, kept: [], impossible: [] });
    expect((await timeline.restore())?.undo).toEqual({ task: 3, scope: "conversation", selection: { type: "all" } });
  });

  it("compares with the present during the preview", async () => {
    const timeline = await opened();
    await timeline.propose("both", { type: "all" });
    timeline.compare("/p/a");
    expect(callsOf("compare_file").at(-1)).toMatchObject({ path: "/p/a", with: "present" });
    timeline.withdraw();
    expect(callsOf("compare_file").at(-1)).toMatchObject({ path: "/p/a", with: "before" });
  });

  it("shows a refusal and can be retried, but runs only once at a time", async () => {
    const timeline = await opened();
    await timeline.propose("both", { type: "all" });
    answers.restore_task = () => Promise.reject(refusal);
    expect(await timeline.restore()).toBeNull();
    expect([timeline.refused, timeline.proposal?.restore.task]).toEqual([refusal, 2]);
    answers.restore_task = () => ({ active: 2, safety: 4, changed: 1, kept: [], impossible: [] });
    calls = [];
    await Promise.all([timeline.restore(), timeline.restore()]);
    expect(callsOf("restore_task").length).toBe(1);
    expect(timeline.refused).toBeNull();
  });

  it("previews again if the session changed meanwhile", async () => {
    const timeline = await opened();
    await timeline.propose("both", { type: "all" });
    await timeline.load();
    expect(timeline.proposal).not.toBeNull();
    answers.get_task_tree = () => ({ ...tree, tasks: [...tree.tasks, task(4, "current")], active: 4 });
    await timeline.load();
    expect(timeline.proposal).toBeNull();
  });

  it("is impossible without a preview", async () => {
    const timeline = await opened();
    answers.preview_restore = () => Promise.reject(refusal);
    await timeline.propose("both", { type: "all" });
    expect(timeline.proposal?.preview).toMatchObject({ type: "failed", error: refusal });
    expect(await timeline.restore()).toBeNull();
    expect(callsOf("restore_task")).toEqual([]);
  });
});

describe("closing the time machine", () => {
  it("stops loading, and the last restore can still be undone", async () => {
    const timeline = await opened();
    await timeline.propose("both", { type: "all" });
    const done = await timeline.restore();
    timeline.close();
    await settle();
    calls = [];
    await timeline.load();
    expect(calls).toEqual([]);
    if (!done?.undo) throw new Error("no way back");
    answers.restore_task = () => ({ active: 4, safety: 5, changed: 1, kept: [], impossible: [] });
    const undone = await timeline.carryOut(done.undo, [], done.report.active);
    expect(callsOf("restore_task")).toMatchObject([{ task: 4, scope: "both", overwrite: [] }]);
    // An undo can itself be undone.
    expect(undone.undo).toMatchObject({ task: 5 });
  });
});

describe("naming a state", () => {
  it("names the present state and selects it", async () => {
    const timeline = await opened();
    answers.get_task_tree = () => ({ ...tree, tasks: [...tree.tasks, task(4, "current")], active: 4 });
    await timeline.name("mine");
    expect(callsOf("add_checkpoint")).toEqual([{ type: "add_checkpoint", session: "s", name: "mine" }]);
    expect(timeline.selected).toBe(4);
    answers.add_checkpoint = () => Promise.reject(refusal);
    await expect(timeline.name("other")).rejects.toEqual(refusal);
  });
});
