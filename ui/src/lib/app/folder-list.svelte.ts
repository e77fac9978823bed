/** The list of sessions by the folders they work in: which folders there are, and what is in those that are open. */
import { call } from "$lib/ipc";
import type { SessionFolder, SessionInfo } from "$lib/ipc/types";
import { grouped } from "$lib/state/list";
import { SvelteSet } from "svelte/reactivity";
import { library } from "./library.svelte";
import { toasts } from "./toasts.svelte";

/** How many sessions of a folder are read at once. */
const PAGE = 50;
/** For how long changes of the list are gathered before the folders are read again, in milliseconds. */
const GATHER = 200;

/** What is known of an open folder. */
interface Shelf {
  readonly sessions: readonly SessionInfo[];
  /** How many the core has, those that stand apart counted too. */
  readonly total: number;
}

class FolderList {
  folders = $state.raw<readonly SessionFolder[]>([]);
  /** Set once they were read. */
  known = $state(false);
  readonly #open = new SvelteSet<string>();
  #shelves = $state.raw<ReadonlyMap<string, Shelf>>(new Map());
  #round = 0;

  isOpen(path: string): boolean {
    return this.#open.has(path);
  }

  /** What is shown of a folder: what waits for the person and what is pinned stands above all folders. */
  sessionsOf(path: string): readonly SessionInfo[] {
    return (this.#shelves.get(path)?.sessions ?? []).filter((info) => info.status !== "waiting" && !info.pinned);
  }

  hasMore(path: string): boolean {
    const shelf = this.#shelves.get(path);
    return shelf !== undefined && shelf.sessions.length < shelf.total;
  }

  /** The sessions in the order they are shown. */
  get inView(): readonly SessionInfo[] {
    const apart = grouped(library.sessions, 0).filter(({ name }) => name === "needs_you" || name === "pinned");
    const open = this.folders.filter(({ path }) => this.isOpen(path));
    return [...apart.flatMap(({ sessions }) => sessions), ...open.flatMap(({ path }) => this.sessionsOf(path))];
  }

  /** Reads everything that is shown, in a moment; the function returned takes that back. */
  look(): () => void {
    const timer = setTimeout(() => void this.#read(), this.known ? GATHER : 0);
    return () => clearTimeout(timer);
  }

  async #read(): Promise<void> {
    const round = ++this.#round;
    try {
      const { folders } = await call("sessions", "list_folders", {});
      if (round !== this.#round) return;
      // What was used last is what is looked for first.
      if (!this.known && folders[0]) this.#open.add(folders[0].path);
      this.folders = folders;
      this.known = true;
      const open = folders.map(({ path }) => path).filter((path) => this.#open.has(path));
      const shelves = await Promise.all(
        open.map(async (path): Promise<[string, Shelf]> => [path, await this.#shelf(path, "as_far")]),
      );
      if (round === this.#round) this.#shelves = new Map(shelves);
    } catch (error) {
      if (round === this.#round) toasts.fail(error);
    }
  }

  /** A folder's sessions from the first one on: as far as they were read, or a page further. */
  async #shelf(path: string, how: "as_far" | "further"): Promise<Shelf> {
    const had = this.#shelves.get(path)?.sessions.length ?? 0;
    const wanted = Math.max(PAGE, how === "further" ? had + PAGE : had);
    const sessions: SessionInfo[] = [];
    let total: number;
    do {
      const page = await call("sessions", "list_sessions", {
        query: "",
        filter: { folder: path },
        offset: sessions.length,
        limit: PAGE,
      });
      sessions.push(...page.sessions);
      total = page.sessions.length === 0 ? sessions.length : page.total;
    } while (sessions.length < Math.min(wanted, total));
    return { sessions, total };
  }

  /** Opens a folder, or closes it. */
  async toggle(path: string): Promise<void> {
    if (this.#open.delete(path)) return;
    this.#open.add(path);
    await this.more(path);
  }

  /** Reads a page of a folder's sessions further. */
  async more(path: string): Promise<void> {
    try {
      const shelf = await this.#shelf(path, "further");
      this.#shelves = new Map([...this.#shelves, [path, shelf]]);
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** The window's list by folders. */
export const folderList = new FolderList();
