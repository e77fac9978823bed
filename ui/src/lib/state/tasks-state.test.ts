import type { TasksState, Update } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { apply } from "./tasks-state";

const state = (revision: number): TasksState => ({ revision, running: 1, waiting: revision * 2 });

describe("the state of the tasks", () => {
  it("starts with its snapshot and is replaced by every update", () => {
    const first = apply(null, { type: "snapshot", snapshot: { topic: "tasks", state: state(3) } });
    expect(first).toEqual({ type: "applied", state: state(3) });
    expect(apply(state(3), { type: "tasks", state: state(9) })).toEqual({ type: "applied", state: state(9) });
  });
  it("ignores updates of other topics", () => {
    const other: Update[] = [
      { type: "snapshot", snapshot: { topic: "library", state: { revision: 7, suggestions: 7 } } },
      { type: "library", state: { revision: 7, suggestions: 7 } },
      { type: "page", page: null },
    ];
    for (const update of other) expect(apply(state(1), update)).toEqual({ type: "applied", state: state(1) });
  });
  it("tells a fault, and when it is over", () => {
    const error = { key: "store.full", args: {}, retryable: true };
    expect(apply(state(1), { type: "fault", error })).toEqual({ type: "fault", error });
    expect(apply(state(1), { type: "ended" })).toEqual({ type: "ended" });
  });
});
