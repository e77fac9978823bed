// @vitest-environment jsdom
import { testids } from "$lib/testids";
import { press, until, words, write } from "$lib/testing/dom";
import { FEEDBACK, PERMISSION, sessionStage } from "$lib/testing/session-stage";
import { flushSync } from "svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import { KEY_DELAY } from "../permission/rules";

const { replayed, all, get, open, goTo, later } = sessionStage();

const send = (text: string): void => {
  write(get(testids.composer), text);
  press(get(testids.composer), "Enter");
};

describe("an unfinished answer", () => {
  it("moves by arrow keys from the focused option", async () => {
    await open("feedback");
    const chosen = () => all(testids.feedbackOption).findIndex((option) => option.ariaChecked === "true");
    await until(() => expect(all(testids.feedbackOption).length).toBeGreaterThan(1));
    const [first] = all(testids.feedbackOption);
    first?.focus();
    press(first as HTMLElement, "ArrowDown");
    await until(() => expect(chosen()).toBe(1));
    expect(document.activeElement).toBe(all(testids.feedbackOption)[1]);
    press(document.activeElement as HTMLElement, "ArrowUp");
    await until(() => expect(chosen()).toBe(0));
  });

  it("keeps its option and text across sessions", async () => {
    await open("feedback");
    const chosen = () => all(testids.feedbackOption).map((option) => option.getAttribute("aria-checked"));
    await until(() => expect(chosen().length).toBeGreaterThan(1));
    press(get(testids.feedbackOption), "ArrowDown");
    write(get(testids.feedbackText), "neither");
    await goTo(PERMISSION);
    await until(() => get(testids.questionNoReason).click());
    write(get(testids.questionReason), "because it");
    await goTo(FEEDBACK);
    await until(() => expect(chosen()[1]).toBe("true"));
    expect((get(testids.feedbackText) as HTMLInputElement).value).toBe("neither");
    await goTo(PERMISSION);
    await until(() => expect((get(testids.questionReason) as HTMLInputElement).value).toBe("because it"));
  });
});

describe("a question with options", () => {
  const options = () => all(testids.feedbackOption);
  const answers = () => replayed.of("answer_question").map((call) => "answer" in call && call.answer);
  /** Opens the scene without answering any request. */
  async function begin(): Promise<{ names: string[] }> {
    await open("feedback");
    await until(() => expect(options().length).toBeGreaterThan(1));
    write(get(testids.feedbackText), "");
    later("answer_question");
    return { names: options().map((option) => words(option)) };
  }

  it("is answered once by a press on an option", async () => {
    const { names } = await begin();
    for (const index of [1, 1, 0]) options()[index]?.click();
    flushSync();
    expect(answers().length).toBe(1);
    options()[0]?.click();
    press(get(testids.feedbackOption), "ArrowDown");
    get(testids.feedbackText).closest("form")?.requestSubmit();
    await Promise.resolve();
    expect(answers()).toEqual([{ type: "text", text: names[1] }]);
    expect(options().map((option) => option.ariaChecked)).toEqual(options().map((_, index) => `${index === 1}`));
  });

  it("accepts text alone, or text with an option", async () => {
    const { names } = await begin();
    write(get(testids.feedbackText), " Neither ");
    get(testids.feedbackText).closest("form")?.requestSubmit();
    expect(answers()).toEqual([{ type: "text", text: "Neither" }]);
    await goTo(PERMISSION);
    await goTo(FEEDBACK);
    await until(() => expect(options().length).toBeGreaterThan(1));
    options()[0]?.click();
    expect(answers().at(-1)).toEqual({ type: "text", text: `${names[0]}\nNeither` });
  });

  it("can be answered again after a failure, keeping the focus", async () => {
    await begin();
    replayed.refuse = "answer_question";
    options()[1]?.focus();
    options()[1]?.click();
    await until(() => expect(options()[1]?.ariaDisabled).toBe("false"));
    expect(document.activeElement).toBe(options()[1]);
    replayed.refuse = replayed.instead = null;
    options()[1]?.click();
    await until(() => expect(options()).toEqual([]));
    expect(answers().length).toBe(2);
    await until(() => expect(document.activeElement).toBe(get(testids.composer)));
  });
});

describe("a key", () => {
  let elapsed = 0;
  const begin = performance.now.bind(performance);
  /** Lets a question have been there long enough to be answered. */
  const settle = (): void => void (elapsed += KEY_DELAY + 1);
  const answers = () => replayed.of("answer_question").map((call) => "answer" in call && call.answer);
  /** Lays out an element, whose list shows the window's first 500 px. */
  function lay(element: HTMLElement, top: number, bottom: number): void {
    element.getBoundingClientRect = () => new DOMRect(0, top, 100, bottom - top);
  }
  /** The first of the cards, laid out; and a message field without words. */
  async function scene(name: string, id: string, top: number, bottom: number): Promise<HTMLElement> {
    await open(name);
    await until(() => get(id));
    write(get(testids.composer), "");
    vi.spyOn(performance, "now").mockImplementation(() => begin() + elapsed);
    lay(get(testids.transcript), 0, 500);
    const card = get(id);
    lay(card, top, bottom);
    card.scrollIntoView = () => lay(card, 100, 400);
    settle();
    return card;
  }
  /** Whether a key was used up. */
  function used(element: HTMLElement, key: string): boolean {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    element.dispatchEvent(event);
    flushSync();
    return event.defaultPrevented;
  }

  afterEach(() => vi.restoreAllMocks());

  it("in the message field types text and never answers a question", async () => {
    const card = await scene("permission", testids.question, 100, 400);
    for (const letter of ["n", "N", "y"]) expect(used(get(testids.composer), letter)).toBe(false);
    expect(answers()).toEqual([]);
    // The card with the focus takes it.
    card.focus();
    settle();
    expect(used(card, "n")).toBe(true);
    await until(() => expect(answers()).toEqual([{ type: "no", reason: null }]));
  });

  it.each([
    [450, 650],
    [-20, 200],
    [900, 1100],
  ])("answers no card that is not wholly in view (%i to %i of 500), but brings it there", async (top, bottom) => {
    const card = await scene("permission", testids.question, top, bottom);
    expect(used(get(testids.composer), "Enter")).toBe(true);
    expect([answers(), card.getBoundingClientRect().top]).toEqual([[], 100]);
    // Pressed twice, it was meant for what was seen before.
    used(get(testids.composer), "Enter");
    expect(answers()).toEqual([]);
    settle();
    used(get(testids.composer), "Enter");
    await until(() => expect(answers()).toEqual([{ type: "once" }]));
  });

  it("on the card or its buttons answers nothing either", async () => {
    const card = await scene("permission", testids.question, 450, 650);
    card.focus();
    settle();
    expect(used(card, "Enter")).toBe(true);
    expect(answers()).toEqual([]);
    lay(card, 450, 650);
    lay(get(testids.questionOnce), 600, 620);
    expect(used(get(testids.questionOnce), "Enter")).toBe(true);
    expect(card.getBoundingClientRect().top).toBe(100);
    // In view the button takes it itself.
    expect(used(get(testids.questionOnce), "Enter")).toBe(false);
    // A card with no room for all of it is answered where its buttons are.
    lay(card, -300, 450);
    lay(get(testids.questionOnce), 400, 420);
    expect(used(get(testids.questionOnce), "Enter")).toBe(false);
    settle();
    expect(used(card, "Enter")).toBe(true);
    expect(answers()).toEqual([]);
  });

  it("answers no question that is partly out of view", async () => {
    const card = await scene("feedback", testids.feedback, 450, 650);
    const option = all(testids.feedbackOption)[1] as HTMLElement;
    expect(used(option, "Enter")).toBe(true);
    expect(card.getBoundingClientRect().top).toBe(100);
    expect(used(option, "Enter")).toBe(false);
    lay(card, -10, 290);
    expect(used(get(testids.feedbackText), "Enter")).toBe(true);
    expect(used(get(testids.feedbackText), "a")).toBe(false);
    expect(answers()).toEqual([]);
  });

  it("that sent a message answers nothing when pressed again", async () => {
    await scene("permission", testids.question, 100, 400);
    send("and this");
    await until(() => expect(replayed.of("send").length).toBe(1));
    used(get(testids.composer), "Enter");
    expect(answers()).toEqual([]);
    settle();
    used(get(testids.composer), "Enter");
    await until(() => expect(answers()).toEqual([{ type: "once" }]));
  });
});
