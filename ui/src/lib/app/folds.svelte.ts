/** What the person opened and closed by hand in transcripts. */
import { SvelteMap } from "svelte/reactivity";

/** Where it is kept between runs whether reasoning is shown; only a preference, losing it is harmless. */
const REASONING = "octo.reasoning";

// Not reactive: each map is.
// eslint-disable-next-line svelte/prefer-svelte-reactivity
const bySession = new Map<string, SvelteMap<string, boolean>>();

/** What is open or closed by hand in a session, by row; the same map as long as the window lives. */
export function foldsOf(session: string): SvelteMap<string, boolean> {
  const known = bySession.get(session) ?? new SvelteMap<string, boolean>();
  bySession.set(session, known);
  return known;
}

class ReasoningShown {
  #chosen = $state<boolean | null>(null);

  /** Whether reasoning is open where nothing else was chosen by hand: in every session, also after a restart. */
  get open(): boolean {
    return this.#chosen ?? localStorage.getItem(REASONING) === "open";
  }

  set open(open: boolean) {
    this.#chosen = open;
    localStorage.setItem(REASONING, open ? "open" : "closed");
  }
}

/** Whether thinking is worth seeing to the person. */
export const reasoningShown = new ReasoningShown();
