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

describe("remarks", () => {
  it("make room for what comes, the oldest first", () => {
    for (const text of ["one", "two", "three", "four"]) toasts.show(text);
    expect(texts()).toEqual(["two", "three", "four"]);
  });

  it("push out neither failures nor ways back", () => {
    fail("disk");
    toasts.show("deleted", undo);
    const [failure] = texts();
    for (const text of ["one", "two", "three"]) toasts.show(text);
    expect(texts()).toEqual([failure, "deleted", "three"]);
  });

  it("are not pushed out at all where they are failures, however many there are", () => {
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
