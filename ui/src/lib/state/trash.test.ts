import type { Event, Update } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { apply, type TrashState } from "./trash";

const totals = (things: number) => ({ things, bytes: things * 10 });
const event = (seq: number, event: Event): Update => ({
  type: "event",
  envelope: { topic: { type: "trash" }, seq, at: 0, v: 1, event },
});
const changed = (seq: number, things: number): Update => event(seq, { type: "trash_changed", totals: totals(things) });
const state: TrashState = { seq: 3, totals: totals(1) };

describe("the trash's totals", () => {
  it("begin with the snapshot and follow the events", () => {
    const first = apply(null, { type: "snapshot", snapshot: { topic: "trash", ...state } });
    expect(first).toEqual({ type: "applied", state });
    expect(apply(state, changed(4, 2))).toEqual({ type: "applied", state: { seq: 4, totals: totals(2) } });
  });
  it("detect a gap and ignore old updates", () => {
    expect(apply(state, changed(5, 2))).toEqual({ type: "gap" });
    expect(apply(null, changed(1, 2))).toEqual({ type: "gap" });
    expect(apply(state, changed(3, 9))).toEqual({ type: "applied", state });
  });
});
