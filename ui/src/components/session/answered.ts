/** Where the focus goes when something was answered. */
import type { Answered } from "$lib/app/conversation.svelte";
import { testids } from "$lib/testids";

const CARDS = ".ask, .question";

/**
 * A card goes when it is answered. The focus it had goes to what is asked next, else to the message field; a focus that
 * is anywhere else stays there.
 */
export function goOn(root: Element, about: Answered, messageField: () => void): void {
  const done = (card: HTMLElement): boolean =>
    about.type === "budget" ? card.dataset["testid"] === testids.budget : card.dataset["question"] === about.id;
  const at = document.activeElement;
  const card = at?.closest<HTMLElement>(CARDS) ?? null;
  if (card ? !done(card) : at !== null && at !== document.body) return;
  const next = [...root.querySelectorAll<HTMLElement>(CARDS)].find((other) => !done(other));
  if (next) next.focus();
  else messageField();
}
