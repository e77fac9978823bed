/** Runs of a task that stand below each other in the list: all but the newest are one line until they are wanted. Pure. */
import type { SessionInfo } from "$lib/ipc/types";
import { isUnread } from "./list";

/** From how many runs on they are folded: one by itself takes no more room than the line in its place. */
const FEWEST = 2;

/** What is folded and what is not. */
export interface Folding {
  /** Runs that the person unfolded: whatever joins one of them is unfolded with it. */
  readonly open: ReadonlySet<string>;
  /** Whether a session is to be seen whatever it is. */
  readonly keeps: (id: string) => boolean;
}

/** A run of a task by itself, or the newest of several, with those that fold. */
export interface Stretch {
  readonly head: SessionInfo;
  /** What stands below the head, newest first. */
  readonly earlier: readonly SessionInfo[];
  /** Those of them that fold; empty where nothing does. */
  readonly folded: readonly SessionInfo[];
  readonly open: boolean;
}

/**
 * What a session is a run of: null for none. The list knows a run by who began it and by its task's name, which is its
 * title as long as nobody gave it another one.
 */
export function taskOf({ source, title, folder, profile }: SessionInfo): string | null {
  return source === "task" ? JSON.stringify([title, folder, profile]) : null;
}

/** Whether a run has nothing to say that the person has not seen, or would see in any case. */
function folds(info: SessionInfo, { keeps }: Folding): boolean {
  const told = info.status === "idle" || (info.status === "failed" && !isUnread(info));
  return told && !info.pinned && !keeps(info.id);
}

/** Sessions of a group, with the runs of a task that stand below each other taken together. */
export function stretches(sessions: readonly SessionInfo[], folding: Folding): readonly Stretch[] {
  const found: Stretch[] = [];
  for (let at = 0; at < sessions.length;) {
    const head = sessions[at];
    if (!head) break;
    const task = taskOf(head);
    let end = at + 1;
    for (let next = sessions[end]; task !== null && next && taskOf(next) === task; next = sessions[end]) end += 1;
    const earlier = sessions.slice(at + 1, end);
    const folded = earlier.filter((info) => folds(info, folding));
    const some = folded.length >= FEWEST;
    found.push({ head, earlier, folded: some ? folded : [], open: folded.some(({ id }) => folding.open.has(id)) });
    at = end;
  }
  return found;
}

/** What is unfolded once a stretch is turned. Folded, it stays so also where one of it is seen for now and folds later. */
export function turned(open: ReadonlySet<string>, stretch: Stretch): ReadonlySet<string> {
  if (!stretch.open) return new Set([...open, ...stretch.folded.map(({ id }) => id)]);
  const all = new Set([stretch.head, ...stretch.earlier].map(({ id }) => id));
  return new Set([...open].filter((id) => !all.has(id)));
}
