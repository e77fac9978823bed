/** The rows the person opened and closed in transcripts. */
import { SvelteMap } from "svelte/reactivity";

/** The storage key of the reasoning preference; losing it is harmless. */
const REASONING = "octo.reasoning";

// eslint-disable-next-line svelte/prefer-svelte-reactivity -- each map is reactive itself
const bySession = new Map<string, SvelteMap<string, boolean>>();

/** Returns the rows opened or closed in a session, by key; the same map as long as the window lives. */
export function foldsOf(session: string): SvelteMap<string, boolean> {
  const folds = bySession.get(session) ?? new SvelteMap<string, boolean>();
  bySession.set(session, folds);
  return folds;
}

class ReasoningShown {
  #chosen = $state<boolean | null>(null);

  /** Whether reasoning is open by default: in every session, also after a restart. */
  get open(): boolean {
    return this.#chosen ?? localStorage.getItem(REASONING) === "open";
  }

  set open(open: boolean) {
    this.#chosen = open;
    localStorage.setItem(REASONING, open ? "open" : "closed");
  }
}

/** Whether the person wants to see reasoning. */
export const reasoningShown = new ReasoningShown();
