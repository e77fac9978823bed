/** Finds a settings row by its text and highlights it briefly. */

/** How long a row stays highlighted, in milliseconds. */
const HIGHLIGHT_MS = 2_400;
/** The elements that contain a row's text. */
const ROW_TEXT_SELECTOR = "h1, h2, .block, .grow, .label, summary, b, dt, dd";

/** Returns the row of a page with this text; null if it does not exist (yet). */
export function rowOf(page: ParentNode, words: string): HTMLElement | null {
  const containsText = (element: Element): boolean =>
    [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? "").replace(/\s+/g, " ").trim() === words,
    );
  const bearer = [...page.querySelectorAll<HTMLElement>(ROW_TEXT_SELECTOR)].find(containsText);
  return bearer?.closest<HTMLElement>(".item, section") ?? bearer ?? null;
}

/** Scrolls to the row and highlights it; returns whether it exists. */
export function highlight(page: ParentNode, words: string): boolean {
  const row = rowOf(page, words);
  if (!row) return false;
  row.scrollIntoView({ block: "center" });
  row.classList.add("found");
  setTimeout(() => row.classList.remove("found"), HIGHLIGHT_MS);
  row.querySelector<HTMLElement>("button:not(:disabled), input:not(:disabled), [tabindex='0']")?.focus();
  return true;
}
