import type { ActivityId, ActivityRow, ActivityState, Update } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { aheadOf, apply, counts, groups, keyOf, tokensOf } from "./activity";

const row = (id: ActivityId, change: Partial<ActivityRow> = {}): ActivityRow => ({
  id,
  name: "Chat",
  of: null,
  folder: "/work",
  session: "session" in id ? id.session : null,
  task: null,
  status: { type: "working" },
  since: 1,
  steps: 0,
  spending: null,
  process: null,
  ...change,
});
const session = (id: string, change: Partial<ActivityRow> = {}) => row({ type: "session", session: id }, change);
const state = (...rows: ActivityRow[]): ActivityState => ({ rows, taken: rows.length, places: 4 });

describe("what runs", () => {
  it("begins with its snapshot, is replaced by every update, and takes nothing of others", () => {
    const first = apply(null, { type: "snapshot", snapshot: { topic: "activity", state: state(session("a")) } });
    expect(first).toEqual({ type: "applied", state: state(session("a")) });
    expect(apply(state(session("a")), { type: "activity", state: state() })).toEqual({
      type: "applied",
      state: state(),
    });
    const other: Update = { type: "tasks", state: { revision: 1, running: 1, waiting: 0 } };
    expect(apply(state(session("a")), other)).toEqual({ type: "applied", state: state(session("a")) });
    expect(apply(state(), { type: "ended" })).toEqual({ type: "ended" });
  });

  it("is shown by kind, in their order, without those there are none of", () => {
    const rows = [row({ type: "command", session: "a", handle: "1" }), session("a"), row({ type: "task", run: "r" })];
    expect(groups(rows).map(({ kind }) => kind)).toEqual(["session", "task", "command"]);
    expect(groups([])).toEqual([]);
  });

  it("has one key for each thing, however it stands", () => {
    const ids: ActivityId[] = [
      { type: "session", session: "a" },
      { type: "sub_agent", session: "a" },
      { type: "task", run: "a" },
      { type: "command", session: "a", handle: "1" },
      { type: "command", session: "a", handle: "2" },
      { type: "command", session: "b", handle: "1" },
    ];
    expect(new Set(ids.map(keyOf)).size).toBe(ids.length);
  });

  it("says of a session's own turn how many are ahead, and of nothing else in it", () => {
    const queued = { status: { type: "queued", ahead: 2 } } as const;
    const task = row({ type: "task", run: "r" }, { session: "t", status: { type: "queued", ahead: 0 } });
    const command = row({ type: "command", session: "c", handle: "1" }, queued);
    const rows = [session("a", queued), session("b"), task, command];
    expect(["a", "b", "t", "c", "nobody"].map((id) => aheadOf(rows, id))).toEqual([2, null, 0, null, null]);
    expect(counts(rows)).toEqual({ working: 1, needs_you: 0, queued: 3 });
  });

  it("counts all tokens that were spent", () => {
    const usage = { input: 1, cache_read: 20, cache_write: 300, output: 4000 };
    expect(tokensOf(session("a", { spending: { calls: 1, usage, cost: 0, unpriced: 0 } }))).toBe(4321);
    expect(tokensOf(session("a"))).toBe(0);
  });
});
