/** A window at 200 %. */
import type { Page } from "playwright-core";

/** The viewport of a 1280 by 800 window at 200 %. */
export const ZOOMED = { width: 640, height: 400 };

/** Returns elements that focus cannot bring into view, and those that need sideways scrolling to be read. */
export function lost(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const root = document.querySelector("dialog[open]") ?? document.body;
    const name = (element: Element): string => element.outerHTML.slice(0, 110);
    const found: string[] = [];
    const shown = (element: Element): boolean =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: false }) &&
      !element.matches("[inert] *, .visually-hidden");
    for (const element of root.querySelectorAll<HTMLElement>("button, input, textarea, select, a[href], h1, h2")) {
      if (!shown(element) || element.matches(":disabled")) continue;
      element.scrollIntoView({ block: "nearest", inline: "nearest" });
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.height === 0) continue;
      const within = box.left >= -1 && box.right <= innerWidth + 1 && box.bottom > 0 && box.top < innerHeight;
      if (!within) found.push(`out of the window: ${name(element)} ${JSON.stringify(box)}`);
    }
    // Code, tables, terminals, diffs and drawings may be wider than the window: their layout carries meaning.
    const wide =
      "pre, .code, .table-scroll, .diff, .side-by-side, .term, .file, .hits, svg, .bill-scroll, .tm-tree, .command-line, textarea, input";
    for (const element of root.querySelectorAll<HTMLElement>("*")) {
      const { overflowX } = getComputedStyle(element);
      if (!["auto", "scroll"].includes(overflowX) || !shown(element) || element.closest(wide)) continue;
      if (element.scrollWidth > element.clientWidth + 1)
        found.push(`scrolls sideways: ${name(element)} ${element.scrollWidth} in ${element.clientWidth}`);
    }
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > innerWidth) found.push(`the window scrolls sideways: ${scrollWidth}`);
    return found;
  });
}
