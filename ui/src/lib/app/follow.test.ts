import { type Transport, useTransport } from "$lib/ipc";
import type { ApiError, SessionInfo, Topic, Update } from "$lib/ipc/types";
import { type ListState, apply } from "$lib/state/list";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AfterFault, type Following, follow } from "./follow";

const error: ApiError = { key: "store.busy", args: {}, retryable: true };
const fault: Update = { type: "fault", error };
const snapshot = (seq: number): Update => ({
  type: "snapshot",
  snapshot: { topic: "sessions", seq, sessions: [], total: 0 },
});
const listed = (seq: number): Update => ({
  type: "event",
  envelope: {
    topic: { type: "sessions" },
    seq,
    at: 1,
    v: 1,
    event: { type: "session_listed", info: { id: String(seq), updated_at: seq } as SessionInfo },
  },
});

/** The subscriptions made, oldest first. */
let subscriptions: { deliver: (...batch: Update[]) => void; ended: boolean }[] = [];
let refused = false;
const transport: Transport = {
  request: () => Promise.resolve({}),
  subscribe: (_: Topic, onBatch) => {
    const subscription = { deliver: (...batch: Update[]) => onBatch(batch), ended: false };
    subscriptions.push(subscription);
    return refused ? Promise.reject(error) : Promise.resolve(() => void (subscription.ended = true));
  },
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};

let following: Following<ListState>;
let states: number[] = [];
let faults = 0;
function begin(after: AfterFault): void {
  following = follow<ListState>({ type: "sessions" }, apply, {
    state: (state) => states.push(state.seq),
    ended: () => undefined,
    fault: () => {
      faults += 1;
      return after;
    },
  });
}
const latest = () => {
  const subscription = subscriptions.at(-1);
  if (!subscription) throw new Error("nothing was begun");
  return subscription;
};

beforeEach(() => {
  vi.useFakeTimers();
  subscriptions = [];
  states = [];
  faults = 0;
  refused = false;
  useTransport(transport);
});
afterEach(() => {
  following.stop();
  vi.useRealTimers();
});

describe("a subscription after a fault", () => {
  it("restarts by itself from a fresh snapshot", async () => {
    begin("again");
    await vi.advanceTimersByTimeAsync(0);
    latest().deliver(snapshot(1));
    latest().deliver(fault, listed(2));
    expect([subscriptions[0]?.ended, faults, states]).toEqual([true, 1, [1]]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(subscriptions.length).toBe(2);
    latest().deliver(snapshot(7), listed(8));
    expect(states).toEqual([1, 8]);
  });

  it("waits longer each time and reports the fault once", async () => {
    refused = true;
    begin("again");
    const after = async (ms: number): Promise<number> => {
      await vi.advanceTimersByTimeAsync(ms);
      return subscriptions.length;
    };
    const counts = [
      await after(0),
      await after(1_000),
      await after(1_000),
      await after(1_000),
      await after(3_999),
      await after(1),
    ];
    expect(counts).toEqual([1, 2, 2, 3, 3, 4]);
    await after(600_000);
    const before = subscriptions.length;
    expect([await after(30_000), faults]).toEqual([before + 1, 1]);
    refused = false;
    await after(30_000);
    latest().deliver(snapshot(1));
    latest().deliver(fault);
    expect(faults).toBe(2);
    // Starts from the shortest delay again.
    const count = subscriptions.length;
    expect(await after(1_000)).toBe(count + 1);
  });

  it("does not restart after a manual restart or a stop", async () => {
    begin("wait");
    latest().deliver(snapshot(1));
    latest().deliver(fault);
    latest().deliver(fault);
    await vi.advanceTimersByTimeAsync(600_000);
    expect([subscriptions.length, faults]).toEqual([1, 2]);
    following.stop();
    begin("again");
    latest().deliver(fault);
    following.stop();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(subscriptions.length).toBe(2);
  });
});
