/** The palette's matches for the typed text. Pure. */
import { nearness } from "./fuzzy";

/** An item with searchable names. */
export interface SearchableItem {
  readonly label: string;
  /** Another name that matches. */
  readonly also?: string;
}

/** Returns the items whose names match, best first and otherwise in their order; all of them without typed text. */
export function bestMatch<T extends SearchableItem>(text: string, things: readonly T[], limit: number): readonly T[] {
  const query = text.trim().toLowerCase();
  if (query === "") return things.slice(0, limit);
  return things
    .flatMap((thing) => {
      const labelScore = nearness(query, thing.label.toLowerCase());
      const other = thing.also === undefined ? null : nearness(query, thing.also.toLowerCase());
      const score = Math.max(labelScore ?? 0, other ?? 0);
      return score === 0 ? [] : [{ thing, near: score }];
    })
    .toSorted((a, b) => b.near - a.near)
    .slice(0, limit)
    .map(({ thing }) => thing);
}

/** Returns the best match of the items, in whole steps: 0 if there is none, or nothing was typed. */
export function step(text: string, things: readonly SearchableItem[]): number {
  const query = text.trim().toLowerCase();
  if (query === "") return 0;
  return Math.floor(
    Math.max(
      0,
      ...things.flatMap(({ label, also }) =>
        [label, also ?? ""].map((name) => nearness(query, name.toLowerCase()) ?? 0),
      ),
    ),
  );
}

/** A part of a name, and whether it matched. */
export interface Part {
  readonly text: string;
  readonly hit: boolean;
}

/** Returns a name with its match marked: contiguous if possible, else letter by letter. */
export function marked(text: string, name: string): readonly Part[] {
  const query = text.trim().toLowerCase();
  const lower = name.toLowerCase();
  // Lower-casing may change a text's length in rare scripts; then nothing is marked rather than the wrong part.
  if (query === "" || lower.length !== name.length) return [{ text: name, hit: false }];
  const whole = lower.indexOf(query);
  if (whole >= 0) {
    return [
      { text: name.slice(0, whole), hit: false },
      { text: name.slice(whole, whole + query.length), hit: true },
      { text: name.slice(whole + query.length), hit: false },
    ].filter(({ text }) => text !== "");
  }
  const parts: Part[] = [];
  let from = 0;
  for (const letter of query) {
    const index = lower.indexOf(letter, from);
    // It matched by another name.
    if (index < 0) return [{ text: name, hit: false }];
    const last = parts.at(-1);
    if (index === from && last?.hit)
      parts[parts.length - 1] = { text: last.text + name.slice(index, index + letter.length), hit: true };
    else {
      if (index > from) parts.push({ text: name.slice(from, index), hit: false });
      parts.push({ text: name.slice(index, index + letter.length), hit: true });
    }
    from = index + letter.length;
  }
  return from < name.length ? [...parts, { text: name.slice(from), hit: false }] : parts;
}

/** Parses the typed text: `>` at the start limits the search to commands and places. */
export function parseQuery(text: string): { readonly wanted: string; readonly only: "everything" | "commands" } {
  const trimmed = text.trimStart();
  // A Chinese keyboard types the full-width character.
  if (/^[>＞]/.test(trimmed)) return { wanted: trimmed.slice(1).trim(), only: "commands" };
  return { wanted: trimmed.trim(), only: "everything" };
}
