/** Adjacent runs of a task in the list: all but the newest fold into one row. Pure. */
import type { SessionInfo } from "$lib/ipc/types";
import { isUnread } from "./list";

/** The minimum number of runs to fold: a single one takes no more space than the row replacing it. */
const FEWEST = 2;

/** The state of folding. */
export interface Folding {
  /** Unfolded runs: any run that joins one of them is unfolded too. */
  readonly open: ReadonlySet<string>;
  /** Returns whether a session must stay visible in any state. */
  readonly keeps: (id: string) => boolean;
}

/** A single run of a task, or the newest of several, with the foldable ones. */
export interface RunGroup {
  readonly head: SessionInfo;
  /** The runs below the newest, newest first. */
  readonly earlier: readonly SessionInfo[];
  /** The foldable ones among them; empty if there are none. */
  readonly folded: readonly SessionInfo[];
  readonly open: boolean;
}

/**
 * Returns the task a session is a run of; null if it is not a run. The list identifies a run by its source and its
 * task's name, which is its title unless it was renamed.
 */
export function taskOf({ source, title, folder, profile }: SessionInfo): string | null {
  return source === "task" ? JSON.stringify([title, folder, profile]) : null;
}

/** Returns whether a run may fold: the person has seen it, or will see it anyway. */
function folds(info: SessionInfo, { keeps }: Folding): boolean {
  const isFoldable = info.status === "idle" || (info.status === "failed" && !isUnread(info));
  return isFoldable && !info.pinned && !keeps(info.id);
}

/** Groups adjacent runs of a task among a group's sessions. */
export function groupRuns(sessions: readonly SessionInfo[], folding: Folding): readonly RunGroup[] {
  const groups: RunGroup[] = [];
  for (let index = 0; index < sessions.length;) {
    const head = sessions[index];
    if (!head) break;
    const task = taskOf(head);
    let end = index + 1;
    for (let next = sessions[end]; task !== null && next && taskOf(next) === task; next = sessions[end]) end += 1;
    const earlier = sessions.slice(index + 1, end);
    const folded = earlier.filter((info) => folds(info, folding));
    const isFolded = folded.length >= FEWEST;
    groups.push({ head, earlier, folded: isFolded ? folded : [], open: folded.some(({ id }) => folding.open.has(id)) });
    index = end;
  }
  return groups;
}

/**
 * Returns the unfolded runs after a group is toggled. A folded group stays folded, including runs that are visible
 * now and fold later.
 */
export function toggled(open: ReadonlySet<string>, group: RunGroup): ReadonlySet<string> {
  if (!group.open) return new Set([...open, ...group.folded.map(({ id }) => id)]);
  const all = new Set([group.head, ...group.earlier].map(({ id }) => id));
  return new Set([...open].filter((id) => !all.has(id)));
}
