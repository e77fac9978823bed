/** Walks a page with Tab. */
import type { Page } from "playwright-core";

/** The record kept in the page: elements that had the focus, and those that had it without showing it. */
interface Walked {
  walked: { seen: Set<string>; unseen: Set<string> };
}

/** The minimum number of presses in each direction: a list of results may be longer than its rendered part. */
const LONG = 150;

/**
 * Presses Tab until everything had the focus; returns the elements never reached, and those focused invisibly. Elements
 * behind a dialog are exempt, and so are those arrow keys lead to (one of a group is enough).
 */
export async function walk(page: Page): Promise<{ reached: number; missed: string[]; unseen: string[] }> {
  await page.evaluate(() => {
    // A suggestion list next to a field leaves the keys to the field.
    const over = "dialog[open], [popover=auto]:popover-open";
    const root = [...document.querySelectorAll(over)].at(-1) ?? document.body;
    const wanted = [
      ...root.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, [tabindex]"),
    ].filter(
      (element) =>
        element.tabIndex >= 0 &&
        !element.matches(":disabled, [inert] *") &&
        element.checkVisibility({ visibilityProperty: true }) &&
        // The checked radio button represents its whole group.
        !(element instanceof HTMLInputElement && element.type === "radio" && !element.checked),
    );
    wanted.forEach((element, at) => (element.dataset["wanted"] = String(at)));
    // Some fields show focus by their frame's border: records the style without it.
    const first = document.activeElement;
    if (first instanceof HTMLElement) first.blur();
    const frames = ".composer, .palette-input, .quick";
    for (const frame of document.querySelectorAll<HTMLElement>(frames))
      frame.dataset["rests"] = getComputedStyle(frame).borderColor;
    const walked = { seen: new Set<string>(), unseen: new Set<string>() };
    Object.assign(window, { walked });
    // A popover has focus inside it from the start.
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
      // A field in a frame may show focus by the frame.
      if (!shows(at) && !shows(at.closest(".field")) && !edge) walked.unseen.add(at.outerHTML.slice(0, 120));
      const nth = at.dataset["wanted"];
      if (nth !== undefined) walked.seen.add(nth);
    });
  });
  // Walks back if some elements were missed: a list may render more while moving down, and Tab leaves a
  // popover.
  const count = await page.locator("[data-wanted]").count();
  // More presses than elements mean a focus trap; a date field takes several presses.
  const there = Math.max(LONG, count * 2 + 10);
  for (let press = 1; press <= there * 2 + count; press += 1) {
    await page.keyboard.press(press <= there ? "Tab" : "Shift+Tab");
    if (press < count - 1 || press % 5 !== 0) continue;
    // Skips elements a scrolling list has unmounted.
    const all = await page.evaluate(() => {
      const { seen } = (window as unknown as Walked).walked;
      const wanted = [...document.querySelectorAll<HTMLElement>("[data-wanted]")];
      return wanted.every((element) => seen.has(element.dataset["wanted"] ?? ""));
    });
    if (all) break;
  }
  await reachFromNeighbours(page);
  return page.evaluate(() => {
    const { seen, unseen } = (window as unknown as Walked).walked;
    const missed = [...document.querySelectorAll<HTMLElement>("[data-wanted]")]
      .filter((element) => !seen.has(element.dataset["wanted"] ?? ""))
      .map((element) => element.outerHTML.slice(0, 120));
    return { reached: seen.size, missed, unseen: [...unseen] };
  });
}

/**
 * Reaches what is left from an element beside it that Tab has reached: a list that renders more while the focus moves
 * through it can take all presses.
 */
async function reachFromNeighbours(page: Page): Promise<void> {
  for (let key = await focusNeighbour(page, 0); key !== null;) {
    await page.keyboard.press(key.press);
    // An element that was reached is a neighbour of the one before it.
    key = await focusNeighbour(page, (await isReached(page, key.missed)) ? 0 : key.missed + 1);
  }
}

/** Returns whether the element at this place had the focus. */
function isReached(page: Page, place: number): Promise<boolean> {
  return page.evaluate((place) => {
    const { seen } = (window as unknown as Walked).walked;
    const element = [...document.querySelectorAll<HTMLElement>("[data-wanted]")][place];
    return element !== undefined && seen.has(element.dataset["wanted"] ?? "");
  }, place);
}

/** Focuses a reached element beside the first missed one from this place on; returns the key that leads there. */
function focusNeighbour(page: Page, from: number): Promise<{ press: "Tab" | "Shift+Tab"; missed: number } | null> {
  return page.evaluate((from) => {
    const { seen } = (window as unknown as Walked).walked;
    const wanted = [...document.querySelectorAll<HTMLElement>("[data-wanted]")];
    const isReached = (element: HTMLElement | undefined): element is HTMLElement =>
      element !== undefined && seen.has(element.dataset["wanted"] ?? "");
    for (let at = from; at < wanted.length; at += 1) {
      if (isReached(wanted[at])) continue;
      for (const [neighbour, press] of [
        [wanted[at - 1], "Tab"],
        [wanted[at + 1], "Shift+Tab"],
      ] as const) {
        if (!isReached(neighbour)) continue;
        neighbour.focus();
        return { press, missed: at };
      }
    }
    return null;
  }, from);
}
