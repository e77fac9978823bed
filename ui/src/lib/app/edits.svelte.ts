/** Texts of the library that were changed and not saved. They outlive the page: whoever goes away finds them again. */
import { SvelteMap } from "svelte/reactivity";

/** A text that is edited. */
export class Edit {
  text = $state("");
  /** What it began with. */
  base: string;

  constructor(base: string) {
    this.base = $state(base);
    this.text = base;
  }

  get changed(): boolean {
    return this.text !== this.base;
  }
}

/** The texts that are edited, by what they are of. */
export const edits = new SvelteMap<string, Edit>();

/** Begins to edit a text, or goes on where one was left. */
export function edit(key: string, base: string): Edit {
  const known = edits.get(key);
  if (known) return known;
  const begun = new Edit(base);
  edits.set(key, begun);
  return begun;
}
