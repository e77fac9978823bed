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
  readonly entries: readonly S[];
  readonly index: number;
}

/** Returns whether two places are equal; a session is one place at any message. */
function same(a: HistoryEntry, b: HistoryEntry): boolean {
  return a.page === b.page && a.section === b.section && a.session === b.session;
}

/** Adds a visited place and drops the ones ahead. Jumping to a message updates the place's message. */
export function visit<S extends HistoryEntry>({ entries, index }: History<S>, entry: S): History<S> {
  const current = entries[index];
  if (current && same(current, entry))
    return entry.message ? { entries: entries.with(index, entry), index } : { entries, index };
  const visited = [...entries.slice(0, index + 1), entry].slice(-MAX_ENTRIES);
  return { entries: visited, index: visited.length - 1 };
}

/** Moves to the nearest place behind or ahead that still exists and differs; null if there is none. */
export function move<S extends HistoryEntry>(
  { entries, index }: History<S>,
  direction: "back" | "forward",
  exists: (entry: S) => boolean,
): History<S> | null {
  const current = entries[index];
  const offset = direction === "back" ? -1 : 1;
  for (let next = index + offset; ; next += offset) {
    const entry = entries[next];
    if (!entry) return null;
    if (exists(entry) && !(current && same(current, entry))) return { entries, index: next };
  }
}
