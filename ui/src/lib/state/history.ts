/** The window's navigation history. Pure. */

/** The maximum number of places. */
export const MAX_ENTRIES = 50;

/** A place to return to: a page, a part of one, or a session with the message it was opened at. */
export interface HistoryEntry {
  readonly page: string;
  readonly section?: string;
  readonly session?: string;
  readonly message?: string | null;
}

/** The visited places in order, and the index of the current one. */
export interface History<S extends HistoryEntry> {
  readonly spots: readonly S[];
  readonly at: number;
}

/** Returns whether two places are equal; a session is one place at any message. */
function same(a: HistoryEntry, b: HistoryEntry): boolean {
  return a.page === b.page && a.section === b.section && a.session === b.session;
}

/** Adds a visited place and drops the ones ahead. Jumping to a message updates the place's message. */
export function visit<S extends HistoryEntry>({ spots, at }: History<S>, spot: S): History<S> {
  const here = spots[at];
  if (here && same(here, spot)) return spot.message ? { spots: spots.with(at, spot), at } : { spots, at };
  const kept = [...spots.slice(0, at + 1), spot].slice(-MAX_ENTRIES);
  return { spots: kept, at: kept.length - 1 };
}

/** Moves to the nearest place behind or ahead that still exists and differs; null if there is none. */
export function move<S extends HistoryEntry>(
  { spots, at }: History<S>,
  way: "back" | "forward",
  isThere: (spot: S) => boolean,
): History<S> | null {
  const here = spots[at];
  const by = way === "back" ? -1 : 1;
  for (let next = at + by; ; next += by) {
    const spot = spots[next];
    if (!spot) return null;
    if (isThere(spot) && !(here && same(here, spot))) return { spots, at: next };
  }
}
