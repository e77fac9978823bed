/** Fuzzy matching of typed text against names. Pure. */

/** The characters that separate the parts of a name. */
const BREAKS = /[-_:.\s/]/;

/** Returns whether a part of the name starts at an index. */
function begins(name: string, at: number): boolean {
  return at === 0 || BREAKS.test(name.charAt(at - 1));
}

/**
 * Returns how well `typed` matches `name`, both in the same case; null if its letters do not occur in this order. Whole
 * steps separate a name that equals it (5), starts with it (4), has a part that starts with it (3), contains it (2) or
 * only contains its letters (1 plus a fraction: the more letters are adjacent or start a part, the higher).
 */
export function nearness(typed: string, name: string): number | null {
  if (typed === "") return 4;
  if (name === typed) return 5;
  if (name.startsWith(typed)) return 4;
  for (let at = name.indexOf(typed); at >= 0; at = name.indexOf(typed, at + 1)) if (begins(name, at)) return 3;
  if (name.includes(typed)) return 2;
  return scattered(typed, name);
}

/**
 * Returns the best score of placing the letters in the name: one point for a letter that follows its predecessor or
 * starts a part.
 */
function scattered(typed: string, name: string): number | null {
  // The best score of the letters so far, keyed by the position of the last one in the name.
  let best = new Map<number, number>([[-1, 0]]);
  for (const letter of typed) {
    const next = new Map<number, number>();
    for (const [last, score] of best) {
      for (let at = name.indexOf(letter, last + 1); at >= 0; at = name.indexOf(letter, at + 1)) {
        const points = score + (begins(name, at) || (last >= 0 && at === last + 1) ? 1 : 0);
        if (points > (next.get(at) ?? -1)) next.set(at, points);
      }
    }
    best = next;
  }
  if (best.size === 0) return null;
  // Always below two, for any length.
  return 1 + Math.max(...best.values()) / (typed.length + 1);
}
