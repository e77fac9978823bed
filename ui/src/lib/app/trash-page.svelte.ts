/** The content of the trash, page by page, and its actions. */
import { call } from "$lib/ipc";
import type {
  EmptyReport,
  OnConflict,
  ConflictingFile,
  RestoreOutcome,
  TrashChoice,
  TrashEntry,
  TrashKind,
  TrashTotals,
} from "$lib/ipc/types";
import { apply, type TrashState } from "$lib/state/trash";
import { SvelteSet } from "svelte/reactivity";
import { follow, type Following } from "./follow";
import { toasts } from "./toasts.svelte";

/** The number of rows of a page. */
const PAGE = 200;

/** Returns the ids for a temporary lookup, hence not reactive. */
function idsOf(entries: readonly TrashEntry[]): ReadonlyMap<string, true> {
  return new Map(entries.map((entry) => [entry.id, true] as const));
}

/** The kinds to filter by. */
export type KindChoice = "all" | TrashKind;

/** An entry whose original path is taken. */
export interface Conflict {
  readonly id: string;
  readonly present: ConflictingFile;
}

/** The trash while its page is open. */
export class TrashPage {
  entries = $state.raw<readonly TrashEntry[]>([]);
  /** The totals of the entries matching the search and the filters. */
  found = $state.raw<TrashTotals>({ things: 0, bytes: 0 });
  totals = $state.raw<TrashTotals>({ things: 0, bytes: 0 });
  projects = $state.raw<readonly string[]>([]);
  opened = $state(false);
  query = $state("");
  kind = $state<KindChoice>("all");
  project = $state<string | null>(null);
  readonly chosen = new SvelteSet<string>();
  /** The entry being previewed. */
  current = $state<string | null>(null);
  #loading = 0;
  #following: Following<TrashState>;

  constructor() {
    this.#following = follow<TrashState>({ type: "trash" }, apply, {
      state: (state) => {
        this.totals = state.totals;
        void this.refresh();
      },
      ended: () => undefined,
      fault: (error) => {
        toasts.fail(error);
        return "again";
      },
    });
  }

  close(): void {
    this.#following.stop();
  }

  async #page(offset: number, limit: number) {
    const kind = this.kind === "all" ? null : this.kind;
    return call("trash", "list_trash", { query: this.query, kind, project: this.project, offset, limit });
  }

  /** Reloads the list up to the part already loaded. */
  async refresh(): Promise<void> {
    const turn = ++this.#loading;
    try {
      const overview = await call("trash", "get_trash", {});
      const limit = Math.max(PAGE, this.entries.length);
      const entries: TrashEntry[] = [];
      let total = this.found;
      while (entries.length < limit) {
        const page = await this.#page(entries.length, Math.min(PAGE, limit - entries.length));
        if (turn !== this.#loading) return;
        entries.push(...page.entries);
        total = page.found;
        if (page.entries.length < PAGE) break;
      }
      this.entries = entries;
      this.found = total;
      this.totals = overview.totals;
      this.projects = overview.projects;
      const ids = idsOf(entries);
      for (const id of this.chosen) if (!ids.has(id)) this.chosen.delete(id);
      if (this.current !== null && !ids.has(this.current)) this.current = null;
      this.opened = true;
    } catch (error) {
      toasts.fail(error);
    }
  }

  /** Reloads the list from its start after a change of search or filter. */
  async restart(): Promise<void> {
    this.entries = [];
    this.chosen.clear();
    await this.refresh();
  }

  /** Loads another page. */
  async more(): Promise<void> {
    if (this.entries.length >= this.found.things) return;
    const turn = ++this.#loading;
    try {
      const page = await this.#page(this.entries.length, PAGE);
      if (turn !== this.#loading) return;
      const ids = idsOf(this.entries);
      this.entries = [...this.entries, ...page.entries.filter((entry) => !ids.has(entry.id))];
      this.found = page.found;
    } catch (error) {
      toasts.fail(error);
    }
  }

  toggle(id: string): void {
    if (!this.chosen.delete(id)) this.chosen.add(id);
  }

  /** Selects all listed entries, or none. */
  toggleAll(): void {
    if (this.chosen.size > 0) this.chosen.clear();
    else for (const entry of this.entries) this.chosen.add(entry.id);
  }

  /** The total bytes of the selection. */
  get chosenBytes(): number {
    return this.entries.reduce((sum, entry) => sum + (this.chosen.has(entry.id) ? entry.size : 0), 0);
  }

  /** Restores entries; returns their outcomes. */
  async restore(
    ids: readonly string[],
    to: string | null,
    on_conflict: OnConflict,
  ): Promise<readonly RestoreOutcome[]> {
    try {
      const report = await call("trash", "restore_trash", { ids: [...ids], to, on_conflict });
      const failed = report.outcomes.find((outcome) => outcome.type === "failed");
      if (failed) toasts.fail(failed.error);
      return report.outcomes;
    } catch (error) {
      toasts.fail(error);
      return [];
    } finally {
      await this.refresh();
    }
  }

  /** Returns how much would be deleted permanently. */
  async count(which: TrashChoice): Promise<TrashTotals | null> {
    try {
      return await call("trash", "count_trash", { which });
    } catch (error) {
      toasts.fail(error);
      return null;
    }
  }

  /** Deletes entries permanently. */
  async empty(which: TrashChoice): Promise<EmptyReport | null> {
    try {
      const report = await call("trash", "empty_trash", { which });
      if (report.error) toasts.fail(report.error);
      return report;
    } catch (error) {
      toasts.fail(error);
      return null;
    } finally {
      await this.refresh();
    }
  }
}
