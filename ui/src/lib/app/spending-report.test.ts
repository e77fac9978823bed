import { type Transport, useTransport } from "$lib/ipc";
import type { Request, Update } from "$lib/ipc/types";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Spent } from "./spending-report.svelte";

const nothing = { lines: [], misses: [], dearest: [], above: { missed: 0, warmth: 0, failed: 0, unpriced: 0 } };
const billed = { type: "billed", session: "s", call: {} } as unknown as Update;
const snapshot: Update = { type: "snapshot", snapshot: { topic: "ledger" } };

describe("what was spent", () => {
  let asked: Request[] = [];
  let tell: (batch: Update[]) => void = () => undefined;
  let watched = 0;
  let answer: () => Promise<unknown> = () => Promise.resolve(nothing);

  beforeEach(() => {
    vi.useFakeTimers();
    asked = [];
    watched = 0;
    answer = () => Promise.resolve(nothing);
    const transport: Transport = {
      request(request) {
        asked.push(request);
        return answer();
      },
      subscribe(topic, onBatch) {
        expect(topic).toEqual({ type: "ledger" });
        watched += 1;
        tell = onBatch;
        return Promise.resolve(() => (watched -= 1));
      },
      onFileDrop: () => () => undefined,
      blobUrl: () => "",
    };
    useTransport(transport);
  });
  afterEach(() => vi.useRealTimers());

  it("is read once it is watched, and again when calls are billed, many at once as one", async () => {
    const spent = new Spent();
    const stop = spent.follow("30");
    expect(asked.length).toBe(0);
    tell([snapshot]);
    await vi.advanceTimersByTimeAsync(0);
    expect([asked.length, spent.report?.period.days.length]).toEqual([1, 30]);
    // Time alone triggers nothing.
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(asked.length).toBe(1);
    for (let n = 0; n < 20; n += 1) tell([billed]);
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.length).toBe(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked.length).toBe(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(3);
    stop();
    expect(watched).toBe(0);
    tell([billed]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(3);
  });

  it("keeps the last figures beside what went wrong, and says it no more once it went well", async () => {
    const spent = new Spent();
    const stop = spent.follow("7");
    tell([snapshot]);
    await vi.advanceTimersByTimeAsync(1_000);
    answer = () => Promise.reject({ key: "store.busy" });
    tell([billed]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([spent.failure?.key, spent.report?.period.days.length]).toEqual(["store.busy", 7]);
    answer = () => Promise.resolve(nothing);
    tell([billed]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(spent.failure).toBeNull();
    stop();
  });
});
