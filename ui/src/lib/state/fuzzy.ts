/** How near what was typed is to a name. Pure. */

/** A name's parts begin behind these. */
const BREAKS = /[-_:.\s/]/;

/** Whether a part of the name begins at a place. */
function begins(name: string, at: number): boolean {
  return at === 0 || BREAKS.test(name.charAt(at - 1));
}

/**
 * How near `typed` is to `name`, both in one case; null when its letters are not in it in this order. Whole steps lie
 * between a name that is it (5), begins with it (4), has a part that begins with it (3), holds it (2) and only holds
 * its letters (1 and a part of one: the more, the more of them stand together or begin a part).
 */
export function nearness(typed: string, name: string): number | null {
  if (typed === "") return 4;
  if (name === typed) return 5;
  if (name.startsWith(typed)) return 4;
  for (let at = name.indexOf(typed); at >= 0; at = name.indexOf(typed, at + 1)) if (begins(name, at)) return 3;
  if (name.includes(typed)) return 2;
  return scattered(typed, name);
}

/** The best way to lay the letters over the name: one point for a letter that follows its predecessor or begins a part. */
function scattered(typed: string, name: string): number | null {
  // The best score of the letters so far, by where in the name the last of them lies.
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
  // Below two, whatever the length.
  return 1 + Math.max(...best.values()) / (typed.length + 1);
}
