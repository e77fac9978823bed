import { type Transport, useTransport } from "$lib/ipc";
import type { Request, Update } from "$lib/ipc/types";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SpendingReportStore } from "./spending-report.svelte";

const nothing = { lines: [], misses: [], dearest: [], above: { missed: 0, warmth: 0, failed: 0, unpriced: 0 } };
const billed = { type: "billed", session: "s", call: {} } as unknown as Update;
const snapshot: Update = { type: "snapshot", snapshot: { topic: "ledger" } };

describe("the spending report", () => {
  let calls: Request[] = [];
  let publish: (batch: Update[]) => void = () => undefined;
  let readCount = 0;
  let answer: () => Promise<unknown> = () => Promise.resolve(nothing);

  beforeEach(() => {
    vi.useFakeTimers();
    calls = [];
    readCount = 0;
    answer = () => Promise.resolve(nothing);
    const transport: Transport = {
      request(request) {
        calls.push(request);
        return answer();
      },
      subscribe(topic, onBatch) {
        expect(topic).toEqual({ type: "ledger" });
        readCount += 1;
        publish = onBatch;
        return Promise.resolve(() => (readCount -= 1));
      },
      onFileDrop: () => () => undefined,
      blobUrl: () => "",
    };
    useTransport(transport);
  });
  afterEach(() => vi.useRealTimers());

  it("is loaded once watched, and reloaded once per batch of billed calls", async () => {
    const spent = new SpendingReportStore();
    const stop = spent.follow("30");
    expect(calls.length).toBe(0);
    publish([snapshot]);
    await vi.advanceTimersByTimeAsync(0);
    expect([calls.length, spent.report?.period.days.length]).toEqual([1, 30]);
    // Time alone triggers nothing.
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(calls.length).toBe(1);
    for (let n = 0; n < 20; n += 1) publish([billed]);
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.length).toBe(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.length).toBe(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls.length).toBe(3);
    stop();
    expect(readCount).toBe(0);
    publish([billed]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls.length).toBe(3);
  });

  it("keeps the last figures beside an error, which a success clears", async () => {
    const spent = new SpendingReportStore();
    const stop = spent.follow("7");
    publish([snapshot]);
    await vi.advanceTimersByTimeAsync(1_000);
    answer = () => Promise.reject({ key: "store.busy" });
    publish([billed]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([spent.failure?.key, spent.report?.period.days.length]).toEqual(["store.busy", 7]);
    answer = () => Promise.resolve(nothing);
    publish([billed]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(spent.failure).toBeNull();
    stop();
  });
});
