// @vitest-environment jsdom
import { flushSync } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { everySecond, startOfToday } from "./clock.svelte";

const EVENING = new Date(2026, 4, 9, 23, 58, 30).getTime();
const MIDNIGHT = new Date(2026, 4, 10).getTime();
const visibility = vi.spyOn(document, "visibilityState", "get");
let end = (): void => undefined;

function become(state: DocumentVisibilityState): void {
  visibility.mockReturnValue(state);
  document.dispatchEvent(new Event("visibilitychange"));
  flushSync();
}

/** Collects the values a reader yields as it reruns. */
function track(read: () => () => number): number[] {
  const all: number[] = [];
  end = $effect.root(() => {
    const now = read();
    $effect(() => void all.push(now()));
  });
  flushSync();
  return all;
}

function pass(milliseconds: number): void {
  vi.advanceTimersByTime(milliseconds);
  flushSync();
}

beforeEach(() => {
  vi.useFakeTimers({ now: EVENING });
  become("visible");
});

afterEach(() => {
  end();
  expect(vi.getTimerCount(), "no timer is left").toBe(0);
  vi.useRealTimers();
});

it("runs a counter's timer only while it counts in a visible window", () => {
  let runs = $state(false);
  const seconds = track(() => everySecond(() => runs));
  pass(10_000);
  expect([seconds, vi.getTimerCount()]).toEqual([[EVENING], 0]);
  runs = true;
  flushSync();
  pass(1_000);
  expect(seconds.slice(1)).toEqual([EVENING + 10_000, EVENING + 11_000]);

  become("hidden");
  expect(vi.getTimerCount()).toBe(0);
  pass(60_000);
  expect(seconds).toHaveLength(3);
  become("visible");
  expect(seconds.at(-1)).toBe(EVENING + 71_000);
});

it("renders the day once, and again at midnight", () => {
  const days = track(startOfToday);
  pass(89_999);
  expect(days).toEqual([new Date(2026, 4, 9).getTime() + 1]);
  pass(1);
  expect(days.slice(1)).toEqual([MIDNIGHT + 1]);
  pass(3_600_000);
  expect(days).toHaveLength(2);
});

it("shows the new day within a minute after sleeping past midnight", () => {
  const days = track(startOfToday);
  // The timers' own clock was suspended in the meantime.
  vi.setSystemTime(MIDNIGHT + 8 * 3_600_000);
  pass(60_000);
  expect(days.at(-1)).toBe(MIDNIGHT + 1);
});

it("does not wait for midnight while hidden, and shows the current day when visible again", () => {
  const days = track(startOfToday);
  become("hidden");
  expect(vi.getTimerCount()).toBe(0);
  pass(3_600_000);
  expect(days).toHaveLength(1);
  become("visible");
  expect(days.slice(1)).toEqual([MIDNIGHT + 1]);
});
