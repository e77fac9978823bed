import type { LibraryState, Update } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { apply } from "./library-state";

const state = (revision: number): LibraryState => ({ revision, suggestions: revision * 2 });
const totals = { things: 1, bytes: 1 };

describe("the library state", () => {
  it("starts with its snapshot and is replaced by every update", () => {
    const first = apply(null, { type: "snapshot", snapshot: { topic: "library", state: state(3) } });
    expect(first).toEqual({ type: "applied", state: state(3) });
    // No numbers can be missed: each update carries the whole state.
    expect(apply(state(3), { type: "library", state: state(9) })).toEqual({ type: "applied", state: state(9) });
  });
  it("ignores updates of other topics", () => {
    const other: Update[] = [
      { type: "snapshot", snapshot: { topic: "trash", seq: 1, totals } },
      { type: "page", page: null },
    ];
    for (const update of other) expect(apply(state(1), update)).toEqual({ type: "applied", state: state(1) });
  });
  it("ends with its topic", () => {
    expect(apply(state(1), { type: "ended" })).toEqual({ type: "ended" });
  });
});
