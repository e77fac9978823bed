/** The places one was at in the window, to go back and forward through. Pure. */

/** How many places are kept. */
export const KEPT = 50;

/** A place that can be come back to: a page, a part of one, or a session with the message it was opened at. */
export interface Spot {
  readonly page: string;
  readonly section?: string;
  readonly session?: string;
  readonly message?: string | null;
}

/** The places in the order they were come to, and which of them one is at. */
export interface Trail<S extends Spot> {
  readonly spots: readonly S[];
  readonly at: number;
}

/** A session is one place, at whatever message it was opened. */
function same(a: Spot, b: Spot): boolean {
  return a.page === b.page && a.section === b.section && a.session === b.session;
}

/** One came to a place: those that lay ahead are no more. A message that is gone to is the one to come back to. */
export function visited<S extends Spot>({ spots, at }: Trail<S>, spot: S): Trail<S> {
  const here = spots[at];
  if (here && same(here, spot)) return spot.message ? { spots: spots.with(at, spot), at } : { spots, at };
  const kept = [...spots.slice(0, at + 1), spot].slice(-KEPT);
  return { spots: kept, at: kept.length - 1 };
}

/** The nearest place behind or ahead that is still there and is another one; null when there is none. */
export function stepped<S extends Spot>(
  { spots, at }: Trail<S>,
  way: "back" | "forward",
  isThere: (spot: S) => boolean,
): Trail<S> | null {
  const here = spots[at];
  const by = way === "back" ? -1 : 1;
  for (let next = at + by; ; next += by) {
    const spot = spots[next];
    if (!spot) return null;
    if (isThere(spot) && !(here && same(here, spot))) return { spots, at: next };
  }
}
