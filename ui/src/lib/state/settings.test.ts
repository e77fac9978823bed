import type { PolicyState, SettingsSnapshot, Update } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { apply, type SettingsState } from "./settings";

const snapshot = (welcomed: boolean): SettingsSnapshot =>
  ({ settings: { welcomed }, models: [], keychain: "available" }) as unknown as SettingsSnapshot;
const whole = (seq: number): Update => ({
  type: "snapshot",
  snapshot: { topic: "settings", seq, snapshot: snapshot(false) },
});
const file = (fault: boolean): PolicyState => ({
  path: "/h/policy.toml",
  stamp: String(fault),
  rules: [],
  fault: fault ? { key: "policy.malformed", args: {}, retryable: false } : null,
});
const updateOf = (fault: boolean): Update => ({ type: "policy", policy: file(fault) });
const changed = (seq: number): Update => ({
  type: "event",
  envelope: {
    topic: { type: "settings" },
    seq,
    at: 0,
    v: 1,
    event: { type: "settings_changed", snapshot: snapshot(true) },
  },
});

function after(updates: readonly Update[]): SettingsState | null {
  let state: SettingsState | null = null;
  for (const update of updates) {
    const outcome = apply(state, update);
    if (outcome.type !== "applied") throw new Error(outcome.type);
    state = outcome.state;
  }
  return state;
}

describe("the settings", () => {
  it("report a broken policy file and its repair, regardless of sequence numbers", () => {
    const broken = after([whole(3), updateOf(true)]);
    expect(broken).toEqual({ seq: 3, snapshot: snapshot(false), policy: file(true), chats: null });
    expect(after([whole(3), updateOf(true), changed(4)])?.policy).toEqual(file(true));
    expect(after([whole(3), updateOf(true), whole(9)])?.policy).toEqual(file(true));
    expect(after([whole(3), updateOf(true), changed(4), updateOf(false)])).toEqual({
      seq: 4,
      snapshot: snapshot(true),
      policy: file(false),
      chats: null,
    });
  });
  it("keep the chat services across sequence numbers and snapshots", () => {
    const chats = { telegram: { type: "connected" as const }, people: [] };
    const state = after([whole(3), { type: "chats", state: chats }, changed(4), whole(9)]);
    expect(state?.chats).toEqual(chats);
  });
  it("detect a gap and ignore old updates", () => {
    expect(apply(after([whole(3)]), changed(5))).toEqual({ type: "gap" });
    expect(after([whole(3), changed(3)])?.snapshot).toEqual(snapshot(false));
  });
});
