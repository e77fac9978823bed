/** Going through a page by Tab. */
import type { Page } from "playwright-core";

/** What was noted in the page: what had the focus, and what had it without showing it. */
interface Walked {
  walked: { seen: Set<string>; unseen: Set<string> };
}

/** How many presses are tried at least, each way: what is found may be longer than what of it is drawn. */
const LONG = 150;

/**
 * Presses Tab until everything had the focus and gives what was never reached, and what had the focus without
 * showing it. Things that arrow keys lead to (one of them can be reached), and things behind a dialog, are not wanted.
 */
export async function walk(page: Page): Promise<{ reached: number; missed: string[]; unseen: string[] }> {
  await page.evaluate(() => {
    // A list of choices beside a field leaves the keys to the field.
    const over = "dialog[open], [popover=auto]:popover-open";
    const root = [...document.querySelectorAll(over)].at(-1) ?? document.body;
    const wanted = [
      ...root.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, [tabindex]"),
    ].filter(
      (element) =>
        element.tabIndex >= 0 &&
        !element.matches(":disabled, [inert] *") &&
        element.checkVisibility({ visibilityProperty: true }) &&
        // Of radio buttons one stands for all.
        !(element instanceof HTMLInputElement && element.type === "radio" && !element.checked),
    );
    wanted.forEach((element, at) => (element.dataset["wanted"] = String(at)));
    // Some fields show the focus by their frame's edge: what that is like without it.
    const first = document.activeElement;
    if (first instanceof HTMLElement) first.blur();
    const frames = ".composer, .palette-input, .quick";
    for (const frame of document.querySelectorAll<HTMLElement>(frames))
      frame.dataset["rests"] = getComputedStyle(frame).borderColor;
    const walked = { seen: new Set<string>(), unseen: new Set<string>() };
    Object.assign(window, { walked });
    // One is in what opens at a button from the start.
    if (root.matches("[popover]") && wanted[0]) {
      const begin = wanted.find((element) => element === first) ?? wanted[0];
      begin.focus();
      walked.seen.add(begin.dataset["wanted"] ?? "");
    }
    const shows = (element: Element | null): boolean => {
      if (!element) return false;
      const style = getComputedStyle(element);
      return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    };
    addEventListener("focusin", ({ target: at }) => {
      if (!(at instanceof HTMLElement)) return;
      const frame = at.closest<HTMLElement>(frames);
      const edge =
        at.matches("textarea, input") &&
        frame !== null &&
        getComputedStyle(frame).borderColor !== frame.dataset["rests"];
      // A field in a frame shows it by the frame.
      if (!shows(at) && !shows(at.closest(".field")) && !edge) walked.unseen.add(at.outerHTML.slice(0, 120));
      const nth = at.dataset["wanted"];
      if (nth !== undefined) walked.seen.add(nth);
    });
  });
  // Back again where that was not all: a list may draw more as one goes down, and what opens at a button is left by Tab.
  const count = await page.locator("[data-wanted]").count();
  // More presses than there are things mean that the focus is caught somewhere; a date has several places in it.
  const there = Math.max(LONG, count * 2 + 10);
  for (let press = 1; press <= there * 2 + count; press += 1) {
    await page.keyboard.press(press <= there ? "Tab" : "Shift+Tab");
    if (press < count - 1 || press % 5 !== 0) continue;
    // What is drawn no more, in a list that moves on, is not there to be reached.
    const all = await page.evaluate(() => {
      const { seen } = (window as unknown as Walked).walked;
      const wanted = [...document.querySelectorAll<HTMLElement>("[data-wanted]")];
      return wanted.every((element) => seen.has(element.dataset["wanted"] ?? ""));
    });
    if (all) break;
  }
  return page.evaluate(() => {
    const { seen, unseen } = (window as unknown as Walked).walked;
    const missed = [...document.querySelectorAll<HTMLElement>("[data-wanted]")]
      .filter((element) => !seen.has(element.dataset["wanted"] ?? ""))
      .map((element) => element.outerHTML.slice(0, 120));
    return { reached: seen.size, missed, unseen: [...unseen] };
  });
}
