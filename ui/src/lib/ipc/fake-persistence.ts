/** The parts of a replay that survive a reload with `?lasting`, as the core and its database survive a page. */
import type { ListState } from "$lib/state/list";
import { open, type SessionState } from "$lib/state/session";
import { idsFrom, idsSoFar } from "./fake-parts";
import { snapshotOf } from "./fake-states";
import type { Draft, SessionInfo, SessionSnapshot, SettingsSnapshot } from "./types";

/** The storage key; kept as long as the tab. */
const KEPT = "octo.replay";

/** The stored state. */
export interface SavedReplay {
  readonly list: Pick<ListState, "seq" | "total"> & { readonly sessions: readonly SessionInfo[] };
  readonly states: readonly (readonly [string, SessionSnapshot])[];
  readonly settings: SettingsSnapshot;
  readonly newDraft: Draft;
  readonly pictures: readonly (readonly [string, string])[];
  readonly ids: number;
}

const asked = (): boolean => new URLSearchParams(location.search).has("lasting");

/** Returns the stored state; null at the first load, and without `?lasting`. */
export function loadReplay(): SavedReplay | null {
  const kept = asked() ? sessionStorage.getItem(KEPT) : null;
  if (kept === null) return null;
  const found = JSON.parse(kept) as SavedReplay;
  idsFrom(found.ids);
  return found;
}

/** Returns the stored sessions. */
export function statesOf({ states }: SavedReplay): [string, SessionState][] {
  return states.map(([name, snapshot]) => [name, open(snapshot)]);
}

/** Stores the current state. */
export function saveReplay(now: {
  list: ListState;
  states: ReadonlyMap<string, SessionState>;
  settings: SettingsSnapshot;
  newDraft: Draft;
  pictures: ReadonlyMap<string, string>;
}): void {
  if (!asked()) return;
  const { seq, sessions, total } = now.list;
  const kept: SavedReplay = {
    list: { seq, sessions, total },
    states: [...now.states].map(([name, state]) => [name, snapshotOf(state)] as const),
    settings: now.settings,
    newDraft: now.newDraft,
    pictures: [...now.pictures],
    ids: idsSoFar(),
  };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}
