import type { Event, SessionInfo, Update } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { type ListState, apply, extend, groupSessions, inOrder, isUnread } from "./list";

const line = (id: string, change: Partial<SessionInfo> = {}): SessionInfo => ({
  id,
  title: id,
  folder: "/x",
  profile: "general",
  mode: "ask",
  model: null,
  source: "window",
  pinned: false,
  status: "idle",
  created_at: 1,
  updated_at: 1,
  usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
  ...change,
});
const event = (seq: number, event: Event): Update => ({
  type: "event",
  envelope: { topic: { type: "sessions" }, seq, at: 1, v: 1, event },
});
const base: ListState = {
  seq: 1,
  sessions: [line("b", { updated_at: 5 }), line("a", { updated_at: 3 })],
  total: 2,
  troubles: new Map(),
};

function next(state: ListState, what: Event): ListState {
  const outcome = apply(state, event(state.seq + 1, what));
  if (outcome.type !== "applied" || !outcome.state) throw new Error(outcome.type);
  return outcome.state;
}

describe("the list", () => {
  it("moves a changed session into order and counts a new one", () => {
    const moved = next(base, { type: "session_listed", info: line("a", { updated_at: 9 }) });
    expect(moved.sessions.map((info) => info.id)).toEqual(["a", "b"]);
    const added = next(moved, { type: "session_listed", info: line("c", { updated_at: 2, pinned: true }) });
    expect(added.sessions.map((info) => info.id)).toEqual(["c", "a", "b"]);
    expect(added.total).toBe(3);
    const removed = next(added, { type: "session_removed", id: "a" });
    expect(removed.sessions.map((info) => info.id)).toEqual(["c", "b"]);
    expect(removed.total).toBe(2);
  });

  it("requests a snapshot after a gap", () => {
    expect(apply(base, event(4, { type: "session_removed", id: "a" }))).toEqual({ type: "gap" });
  });

  it("appends a page without duplicates", () => {
    const more = extend(base, [line("a", { updated_at: 3 }), line("z", { updated_at: 1 })], 3);
    expect(more.sessions.map((info) => info.id)).toEqual(["b", "a", "z"]);
  });

  describe("a partly loaded list", () => {
    /** The core's sessions, and the first ones, which are loaded. */
    const all = ["a", "b", "c", "d", "e", "f"].map((id, index) =>
      line(id, { created_at: 1, updated_at: 90 - index * 10 }),
    );
    const loaded: ListState = { seq: 1, sessions: all.slice(0, 3), total: 6, troubles: new Map() };
    const ids = (state: ListState) => state.sessions.map((info) => info.id).join("");
    /** Returns the next page as the core gives it after a change. */
    const rest = (state: ListState, changed: SessionInfo): string => {
      const now = inOrder([...all.filter((info) => info.id !== changed.id), changed]);
      return ids(extend(state, now.slice(state.sessions.length), now.length));
    };

    it("leaves a session beyond it to its page, so that paging skips none", () => {
      const renamed = line("e", { updated_at: 50, title: "renamed" });
      const state = next(loaded, { type: "session_listed", info: renamed });
      expect([ids(state), state.total]).toEqual(["abc", 6]);
      expect(rest(state, renamed)).toBe("abcdef");
    });

    it("drops a session that moved beyond it, and no other", () => {
      const pinned = { ...loaded, sessions: inOrder([...loaded.sessions.slice(0, 2), line("f", { pinned: true })]) };
      const released = line("f", { updated_at: 40 });
      const state = next(pinned, { type: "session_listed", info: released });
      expect(ids(state)).toBe("ab");
      expect(rest(state, released)).toBe("abcdef");
      const renamed = line("c", { updated_at: 70, title: "renamed" });
      expect(ids(next(loaded, { type: "session_listed", info: renamed }))).toBe("abc");
    });

    it("shows a session that belongs to it, and counts a new one anywhere", () => {
      const moved = line("f", { updated_at: 99 });
      const state = next(loaded, { type: "session_listed", info: moved });
      expect([ids(state), state.total]).toEqual(["fabc", 6]);
      expect(rest(state, moved)).toBe("fabcde");
      const pins = { ...loaded, sessions: loaded.sessions.map((info) => ({ ...info, pinned: true })) };
      const added = next(pins, { type: "session_listed", info: line("n", { created_at: 95, updated_at: 95 }) });
      expect([ids(added), added.total]).toEqual(["abc", 7]);
    });
  });

  it("groups by attention, pins and days", () => {
    const now = new Date(2026, 10, 21, 14).getTime();
    const day = (daysAgo: number): number => new Date(2026, 10, 21 - daysAgo, 9).getTime();
    const groups = groupSessions(
      [
        line("w", { status: "waiting", pinned: true, updated_at: day(0) }),
        line("p", { pinned: true, updated_at: day(9) }),
        line("t", { updated_at: day(0) }),
        line("y", { updated_at: day(1) }),
        line("e", { updated_at: day(2) }),
      ],
      now,
    );
    expect(groups.map((group) => [group.name, group.sessions.map((info) => info.id)])).toEqual([
      ["needs_you", ["w"]],
      ["pinned", ["p"]],
      ["today", ["t"]],
      ["yesterday", ["y"]],
      ["earlier", ["e"]],
    ]);
  });
});

describe("a changed session", () => {
  it("is placed as sorting the whole list would place it", () => {
    const anyChange = fc.record({
      id: fc.constantFrom("a", "b", "c", "d", "e", "f"),
      updated_at: fc.integer({ min: 0, max: 4 }),
      pinned: fc.boolean(),
      status: fc.constantFrom("idle" as const, "waiting" as const, "running" as const),
    });
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 20 }), (changes) => {
        let state = base;
        for (const { id, ...change } of changes)
          state = next(state, { type: "session_listed", info: line(id, change) });
        expect(state.sessions).toEqual(inOrder(state.sessions));
        expect(new Set(state.sessions.map((info) => info.id)).size).toBe(state.sessions.length);
      }),
    );
  });

  it("comes first while it waits for the person", () => {
    const state = next(base, { type: "session_listed", info: line("z", { status: "waiting", updated_at: 0 }) });
    expect(state.sessions.map((info) => info.id)).toEqual(["z", "b", "a"]);
  });

  it("is unread from its end until the person opens it", () => {
    expect(isUnread(line("a", { updated_at: 5 }))).toBe(true);
    expect(isUnread(line("a", { updated_at: 5, read_at: 5 }))).toBe(false);
    expect(isUnread(line("a", { updated_at: 6, read_at: 5, status: "failed" }))).toBe(true);
    // Running and waiting sessions show their status instead.
    expect(isUnread(line("a", { updated_at: 6, read_at: 5, status: "running" }))).toBe(false);
    expect(isUnread(line("a", { updated_at: 6, status: "waiting" }))).toBe(false);
  });
});

describe("trouble", () => {
  it("stays with its session until it ends", () => {
    const trouble = { error: { key: "store.full", args: {}, retryable: true }, stage: "ended" as const };
    const state = apply(base, { type: "trouble", session: "a", trouble });
    if (state.type !== "applied" || !state.state) throw new Error(state.type);
    const updated = next(state.state, { type: "session_listed", info: line("c", { updated_at: 9 }) });
    expect([...updated.troubles]).toEqual([["a", trouble]]);
    const ended = apply(updated, { type: "trouble", session: "a", trouble: null });
    expect(ended.type === "applied" && ended.state?.troubles.size).toBe(0);
  });
});
