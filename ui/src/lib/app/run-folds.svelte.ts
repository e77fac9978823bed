/** Runs of a task in the list: which of them the person unfolded, as long as the window lives. */
import type { SessionInfo } from "$lib/ipc/types";
import { grouped } from "$lib/state/list";
import { type Folding, type Stretch, turned } from "$lib/state/runs";
import { linesOfGroups } from "$lib/state/side";
import { library } from "./library.svelte";
import { navigation } from "./navigation.svelte";

class RunFolds {
  #open = $state.raw<ReadonlySet<string>>(new Set());

  /** How the list is folded; `keeps` names what is to be seen beside the session on screen. */
  folding(keeps: string | null = null): Folding {
    const current = navigation.current?.id ?? null;
    return {
      open: this.#open,
      keeps: (id) => id === current || id === keeps || library.trouble(id) !== null,
    };
  }

  /** Unfolds what is folded, and folds it again. */
  turn(stretch: Stretch): void {
    this.#open = turned(this.#open, stretch);
  }

  /** The sessions that have a line in the list, in its order. */
  get inView(): readonly SessionInfo[] {
    const lines = linesOfGroups(grouped(library.sessions, Date.now()), this.folding());
    return lines.flatMap((line) => (line.kind === "session" ? [line.info] : []));
  }
}

/** The window's. */
export const runFolds = new RunFolds();
