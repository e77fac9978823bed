/** Answers that were begun and not sent, per session: going to another session and back must not lose them. */
import { SvelteMap } from "svelte/reactivity";

export class BegunAnswers {
  /** Words typed into a card, by question. */
  readonly words = new SvelteMap<string, string>();
  /** The option that was chosen, by question. */
  readonly choices = new SvelteMap<string, string>();

  /** Forgets what was begun for questions that are not open any more. */
  keep(open: readonly string[]): void {
    for (const begun of [this.words, this.choices]) {
      for (const question of [...begun.keys()]) if (!open.includes(question)) begun.delete(question);
    }
  }
}

// Not reactive: what was begun is.
// eslint-disable-next-line svelte/prefer-svelte-reactivity
const bySession = new Map<string, BegunAnswers>();

/** What was begun in a session; the same object as long as the window lives. */
export function begunIn(session: string): BegunAnswers {
  const known = bySession.get(session) ?? new BegunAnswers();
  bySession.set(session, known);
  return known;
}
