/** Unsaved edits of library texts. They outlive the page, so that returning to it finds them. */
import { SvelteMap } from "svelte/reactivity";

/** A text being edited. */
export class Edit {
  text = $state("");
  /** The text before the edit. */
  base: string;

  constructor(base: string) {
    this.base = $state(base);
    this.text = base;
  }

  get changed(): boolean {
    return this.text !== this.base;
  }
}

/** The edited texts, by key. */
export const edits = new SvelteMap<string, Edit>();

/** Starts editing a text, or resumes its edit. */
export function edit(key: string, base: string): Edit {
  const stored = edits.get(key);
  if (stored) return stored;
  const edit = new Edit(base);
  edits.set(key, edit);
  return edit;
}
