// @vitest-environment jsdom
import type { UpdateOffer } from "$lib/ipc/types";
import { setLanguage } from "$lib/words/words.svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { navigation } from "./navigation.svelte";
import { toasts } from "./toasts.svelte";
import { updates } from "./updates.svelte";

const offer = (version: string): UpdateOffer => ({ version, notes: "", released: null });
const toastTexts = (): string[] => toasts.list.map(({ text }) => text);
const visibility = vi.spyOn(document, "visibilityState", "get");

function become(state: DocumentVisibilityState): void {
  visibility.mockReturnValue(state);
  document.dispatchEvent(new Event("visibilitychange"));
}

beforeEach(async () => {
  vi.useFakeTimers();
  await setLanguage("en");
  toasts.list = [];
  become("visible");
});

afterEach(() => {
  vi.useRealTimers();
});

it("is announced at once in a visible window, with a link to its notes", () => {
  updates.announce(offer("9.1.0"));
  expect(toastTexts()).toEqual([expect.stringContaining("9.1.0")]);
  toasts.list[0]?.action?.run();
  expect(navigation.view).toMatchObject({ page: "settings", section: "about" });
});

it("found while the window was hidden is announced when it becomes visible", () => {
  become("hidden");
  updates.announce(offer("9.1.0"));
  vi.advanceTimersByTime(60_000);
  expect([toastTexts(), updates.offer?.version]).toEqual([[], "9.1.0"]);
  become("visible");
  vi.advanceTimersByTime(7_000);
  expect(toastTexts()).toEqual([expect.stringContaining("9.1.0")]);
  become("hidden");
  become("visible");
  expect(toastTexts()).toHaveLength(1);
  vi.advanceTimersByTime(2_000);
  expect(toastTexts()).toEqual([]);
});

it("announces only the newest available version", () => {
  become("hidden");
  updates.announce(offer("9.1.0"));
  updates.announce(offer("9.2.0"));
  become("visible");
  expect(toastTexts()).toEqual([expect.stringContaining("9.2.0")]);
  toasts.list = [];
  become("hidden");
  updates.announce(offer("9.3.0"));
  updates.offer = null;
  become("visible");
  expect(toastTexts()).toEqual([]);
});
