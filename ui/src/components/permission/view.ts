/** Enter answers only what can be read: a card that is not wholly in view is brought there first. */
import { composing } from "$lib/state/composing";

/** What part of the window an element's list shows, from top to bottom. */
function shownPart(element: Element): { from: number; to: number } {
  const list = element.closest(".scroll")?.getBoundingClientRect();
  return { from: Math.max(0, list?.top ?? 0), to: Math.min(innerHeight, list?.bottom ?? innerHeight) };
}

/** Whether an element is wholly in view, but for a fraction of a pixel. */
export function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const { from, to } = shownPart(element);
  return top > from - 1 && bottom < to + 1;
}

/** Brings a card into view, or as much of it as fits. */
export function bringIntoView(card: Element): void {
  card.scrollIntoView({ block: "nearest" });
}

/**
 * Withholds Enter from a card that is partly out of view; returns whether it did. If the card does not fit into the view,
 * the focused button or field must be in view: a person who moved there has read what is above it.
 */
export function withholdKey(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || composing(event)) return false;
  const card = event.currentTarget as HTMLElement;
  const { from, to } = shownPart(card);
  const fitsInView = card.getBoundingClientRect().height < to - from + 2;
  if (isInView(fitsInView ? card : (event.target as HTMLElement))) return false;
  event.preventDefault();
  event.stopPropagation();
  bringIntoView(card);
  return true;
}
