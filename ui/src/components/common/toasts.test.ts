// @vitest-environment jsdom
import { toasts } from "$lib/app/toasts.svelte";
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { until } from "$lib/testing/dom";
import { flushSync } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import Toasts from "./Toasts.svelte";

const { show, all, target } = mountStage();
const outside = document.createElement("div");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  toasts.list = [];
  outside.innerHTML = `<main><button id="was">Was here</button><textarea data-testid="${testids.composer}"></textarea></main>`;
  document.body.append(outside);
  show(Toasts, {});
});
afterEach(() => {
  toasts.list = [];
  vi.useRealTimers();
  outside.remove();
});

const texts = () => toasts.list.map(({ text }) => text);
const undo = (run: () => void = () => undefined) => ({ label: "Undo", run });
const button = (index: number, kind: "close" | "action") => {
  const button = all(testids.toast)[index]?.querySelector<HTMLElement>(`[data-kind="${kind}"]`);
  if (!button) throw new Error(`no ${kind} in ${index}`);
  return button;
};
const element = (selector: string) => document.querySelector<HTMLElement>(selector);
const pointer = (target: Element | null, type = "pointerover", relatedTarget: Element | null = document.body) => {
  target?.dispatchEvent(new MouseEvent(type, { bubbles: true, relatedTarget }));
  flushSync();
};
const focus = (target: HTMLElement | null) => {
  target?.focus();
  flushSync();
};
const pass = (time: number) => {
  vi.advanceTimersByTime(time);
  flushSync();
};
function say(...texts: string[]): void {
  for (const text of texts) toasts.show(text, undo());
  flushSync();
}
function press(index: number, kind: "close" | "action" = "close"): void {
  button(index, kind).click();
  flushSync();
}

describe("toasts", () => {
  it("stay under the pointer, and for their full time after it leaves", () => {
    say("one", "two");
    pointer(all(testids.toast)[0] ?? null);
    say("three");
    toasts.show("mere");
    toasts.show("another");
    pass(60_000);
    expect(texts()).toEqual(["one", "two", "three", "mere", "another"]);
    pointer(element("#was"));
    pass(7_900);
    expect(texts().length).toBe(5);
    pass(200);
    expect(texts()).toEqual([]);
  });

  it("disappear after the pointer leaves the window", () => {
    say("one");
    pointer(all(testids.toast)[0] ?? null);
    pass(60_000);
    expect(texts()).toEqual(["one"]);
    pointer(all(testids.toast)[0] ?? null, "pointerout", null);
    pass(8_100);
    expect(texts()).toEqual([]);
  });

  it("stay while one of them has the focus", () => {
    say("one", "two");
    focus(element("#was"));
    focus(button(0, "action"));
    pass(60_000);
    focus(button(1, "close"));
    pass(60_000);
    expect(texts()).toEqual(["one", "two"]);
    focus(element("#was"));
    pass(8_100);
    expect(texts()).toEqual([]);
  });

  it("pass the focus to the same button of the next one when closed, and finally back", async () => {
    say("one", "two", "three");
    focus(element("#was"));
    focus(button(1, "close"));
    press(1);
    await until(() => expect(document.activeElement).toBe(button(1, "close")));
    expect(texts()).toEqual(["one", "three"]);
    press(1);
    await until(() => expect(document.activeElement).toBe(button(0, "close")));
    press(0);
    await until(() => expect(document.activeElement).toBe(element("#was")));
    // No toast is held any more.
    say("four");
    pass(8_100);
    expect(texts()).toEqual([]);
  });

  it("pass the focus to the next one's action when undone, or to its only button", async () => {
    const ran: string[] = [];
    toasts.show(
      "one",
      undo(() => void ran.push("one")),
    );
    toasts.show("two", undo());
    toasts.show("mere");
    flushSync();
    focus(button(0, "action"));
    press(0, "action");
    await until(() => expect(document.activeElement).toBe(button(0, "action")));
    await until(() => expect(ran).toEqual(["one"]));
    press(0, "action");
    await until(() => expect(document.activeElement).toBe(button(0, "close")));
  });

  it.each([
    ["the field for a message where what had it is gone", () => element("#was")?.remove(), "textarea"],
    ["the page's main part where there is no field", () => element("main")?.replaceChildren(), "main"],
  ])("give the focus to %s", async (_, happens, expected) => {
    say("one");
    focus(element("#was"));
    focus(button(0, "close"));
    happens();
    press(0);
    await until(() => expect(document.activeElement).toBe(element(expected)));
  });

  it("leave the focus unchanged when closed by the pointer", async () => {
    say("one", "two");
    focus(element("#was"));
    press(0);
    await until(() => expect(texts()).toEqual(["two"]));
    expect(document.activeElement).toBe(element("#was"));
    expect(target.textContent).not.toContain("one");
  });
});
