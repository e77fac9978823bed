// @vitest-environment jsdom
import { setLanguage } from "$lib/words/words.svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toasts } from "./toasts.svelte";

beforeEach(async () => {
  await setLanguage("en");
  vi.useFakeTimers();
  toasts.list = [];
});
afterEach(() => vi.useRealTimers());

const texts = () => toasts.list.map(({ text }) => text);
const fail = (message: string) => toasts.fail(new Error(message));
const undo = { label: "Undo", run: () => undefined };

describe("toasts", () => {
  it("are replaced oldest first", () => {
    for (const text of ["one", "two", "three", "four"]) toasts.show(text);
    expect(texts()).toEqual(["two", "three", "four"]);
  });

  it("do not replace failures or undo actions", () => {
    fail("disk");
    toasts.show("deleted", undo);
    const [failure] = texts();
    for (const text of ["one", "two", "three"]) toasts.show(text);
    expect(texts()).toEqual([failure, "deleted", "three"]);
  });

  it("are never replaced if they are failures", () => {
    for (const key of ["store.full", "store.busy", "session.unknown", "command.unknown", "host.failed"])
      toasts.fail({ key, args: {}, retryable: false });
    expect(toasts.list.length).toBe(5);
    toasts.show("one");
    expect(toasts.list.filter(({ failure }) => failure).length).toBe(5);
    expect(texts().at(-1)).toBe("one");
    vi.advanceTimersByTime(60_000);
    expect(toasts.list.every(({ failure }) => failure)).toBe(true);
  });
});
