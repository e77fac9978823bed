/** Folding of task runs in the list: which ones the person unfolded, as long as the window lives. */
import type { SessionInfo } from "$lib/ipc/types";
import { groupSessions } from "$lib/state/list";
import { type Folding, type RunGroup, toggled } from "$lib/state/run-folding";
import { groupRows } from "$lib/state/sidebar";
import { sessionList } from "./session-list.svelte";
import { navigation } from "./navigation.svelte";

class RunFolds {
  #open = $state.raw<ReadonlySet<string>>(new Set());

  /** Returns the folding of the list; `keeps` names a session to keep visible in addition to the one on screen. */
  folding(keeps: string | null = null): Folding {
    const current = navigation.current?.id ?? null;
    return {
      open: this.#open,
      keeps: (id) => id === current || id === keeps || sessionList.trouble(id) !== null,
    };
  }

  /** Toggles the folding of a group. */
  turn(group: RunGroup): void {
    this.#open = toggled(this.#open, group);
  }

  /** The sessions that have a row in the list, in its order. */
  get inView(): readonly SessionInfo[] {
    const lines = groupRows(groupSessions(sessionList.sessions, Date.now()), this.folding());
    return lines.flatMap((line) => (line.kind === "session" ? [line.info] : []));
  }
}

/** This window's folding. */
export const runFolds = new RunFolds();
