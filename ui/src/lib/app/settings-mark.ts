/** Finding a row of settings on its page by what is written on it, and marking it for a moment. */

/** How long a row stays marked, in milliseconds. */
const MARKED = 2_400;
/** What can bear the words of a row. */
const BEARERS = "h1, h2, .block, .grow, .label, summary, b, dt, dd";

/** The row of a page that bears these words; null where there is none (yet). */
export function rowOf(page: ParentNode, words: string): HTMLElement | null {
  const bears = (element: Element): boolean =>
    [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? "").replace(/\s+/g, " ").trim() === words,
    );
  const bearer = [...page.querySelectorAll<HTMLElement>(BEARERS)].find(bears);
  return bearer?.closest<HTMLElement>(".item, section") ?? bearer ?? null;
}

/** Scrolls to the row and marks it; whether it is there. */
export function mark(page: ParentNode, words: string): boolean {
  const row = rowOf(page, words);
  if (!row) return false;
  row.scrollIntoView({ block: "center" });
  row.classList.add("found");
  setTimeout(() => row.classList.remove("found"), MARKED);
  row.querySelector<HTMLElement>("button:not(:disabled), input:not(:disabled), [tabindex='0']")?.focus();
  return true;
}
