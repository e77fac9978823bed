/** Moves the focus after an answer. */
import type { AnsweredRequest } from "$lib/app/conversation.svelte";
import { testids } from "$lib/testids";

const CARDS = ".ask, .question";

/** Moves the focus of an answered card to the next question, or to the message field. A focus anywhere else stays. */
export function focusNextQuestion(root: Element, about: AnsweredRequest, messageField: () => void): void {
  const done = (card: HTMLElement): boolean =>
    about.type === "budget" ? card.dataset["testid"] === testids.budget : card.dataset["question"] === about.id;
  const focused = document.activeElement;
  const card = focused?.closest<HTMLElement>(CARDS) ?? null;
  if (card ? !done(card) : focused !== null && focused !== document.body) return;
  const next = [...root.querySelectorAll<HTMLElement>(CARDS)].find((other) => !done(other));
  if (next) next.focus();
  else messageField();
}
