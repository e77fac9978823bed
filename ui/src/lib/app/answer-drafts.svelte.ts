/** Unsent answers, per session: switching sessions must not lose them. */
import { SvelteMap } from "svelte/reactivity";

export class AnswerDrafts {
  /** Text typed into a card, by question. */
  readonly words = new SvelteMap<string, string>();
  /** The selected option, by question. */
  readonly choices = new SvelteMap<string, string>();

  /** Drops the unsent answers of questions that are no longer open. */
  keep(open: readonly string[]): void {
    for (const map of [this.words, this.choices]) {
      for (const question of [...map.keys()]) if (!open.includes(question)) map.delete(question);
    }
  }
}

// eslint-disable-next-line svelte/prefer-svelte-reactivity -- each entry is reactive itself
const bySession = new Map<string, AnswerDrafts>();

/** Returns the unsent answers of a session; the same object as long as the window lives. */
export function answerDraftsOf(session: string): AnswerDrafts {
  const drafts = bySession.get(session) ?? new AnswerDrafts();
  bySession.set(session, drafts);
  return drafts;
}
