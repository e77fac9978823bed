/** Fuzzy matching of typed text against names. Pure. */

/** The characters that separate the parts of a name. */
const BREAKS = /[-_:.\s/]/;

/** Returns whether a part of the name starts at an index. */
function startsPart(name: string, index: number): boolean {
  return index === 0 || BREAKS.test(name.charAt(index - 1));
}

/**
 * Returns how well `query` matches `name`, both in the same case; null if its letters do not occur in this order. Whole
 * steps separate a name that equals it (5), starts with it (4), has a part that starts with it (3), contains it (2) or
 * only contains its letters (1 plus a fraction: the more letters are adjacent or start a part, the higher).
 */
export function nearness(query: string, name: string): number | null {
  if (query === "") return 4;
  if (name === query) return 5;
  if (name.startsWith(query)) return 4;
  for (let index = name.indexOf(query); index >= 0; index = name.indexOf(query, index + 1))
    if (startsPart(name, index)) return 3;
  if (name.includes(query)) return 2;
  return scatteredScore(query, name);
}

/**
 * Returns the best score of placing the letters in the name: one point for a letter that follows its predecessor or
 * starts a part.
 */
function scatteredScore(query: string, name: string): number | null {
  // The best score of the letters so far, keyed by the position of the last one in the name.
  let best = new Map<number, number>([[-1, 0]]);
  for (const letter of query) {
    const next = new Map<number, number>();
    for (const [last, score] of best) {
      for (let index = name.indexOf(letter, last + 1); index >= 0; index = name.indexOf(letter, index + 1)) {
        const points = score + (startsPart(name, index) || (last >= 0 && index === last + 1) ? 1 : 0);
        if (points > (next.get(index) ?? -1)) next.set(index, points);
      }
    }
    best = next;
  }
  if (best.size === 0) return null;
  // Always below two, for any length.
  return 1 + Math.max(...best.values()) / (query.length + 1);
}
