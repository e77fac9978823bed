/** The session list by folder: the folders, and the sessions of the open ones. */
import { call } from "$lib/ipc";
import type { SessionFolder, SessionInfo } from "$lib/ipc/types";
import { groupSessions } from "$lib/state/list";
import { SvelteSet } from "svelte/reactivity";
import { sessionList } from "./session-list.svelte";
import { toasts } from "./toasts.svelte";

/** The number of sessions of a folder loaded at once. */
const PAGE = 50;
/** How long list changes are gathered before the folders are reloaded, in milliseconds. */
const GATHER = 200;

/** The loaded part of an open folder. */
interface FolderSessions {
  readonly sessions: readonly SessionInfo[];
  /** The core's total, including sessions listed separately. */
  readonly total: number;
}

class FolderList {
  folders = $state.raw<readonly SessionFolder[]>([]);
  /** Set once the folders are loaded. */
  loaded = $state(false);
  readonly #open = new SvelteSet<string>();
  #loadedFolders = $state.raw<ReadonlyMap<string, FolderSessions>>(new Map());
  #round = 0;

  isOpen(path: string): boolean {
    return this.#open.has(path);
  }

  /** Returns the listed sessions of a folder: waiting and pinned ones are above all folders. */
  sessionsOf(path: string): readonly SessionInfo[] {
    return (this.#loadedFolders.get(path)?.sessions ?? []).filter((info) => info.status !== "waiting" && !info.pinned);
  }

  hasMore(path: string): boolean {
    const sessions = this.#loadedFolders.get(path);
    return sessions !== undefined && sessions.sessions.length < sessions.total;
  }

  /** The sessions in display order. */
  get inView(): readonly SessionInfo[] {
    const topSessions = groupSessions(sessionList.sessions, 0).filter(
      ({ name }) => name === "needs_you" || name === "pinned",
    );
    const open = this.folders.filter(({ path }) => this.isOpen(path));
    return [...topSessions.flatMap(({ sessions }) => sessions), ...open.flatMap(({ path }) => this.sessionsOf(path))];
  }

  /** Schedules a reload of everything shown; the returned function cancels it. */
  scheduleReload(): () => void {
    const timer = setTimeout(() => void this.#read(), this.loaded ? GATHER : 0);
    return () => clearTimeout(timer);
  }

  async #read(): Promise<void> {
    const round = ++this.#round;
    try {
      const { folders } = await call("sessions", "list_folders", {});
      if (round !== this.#round) return;
      // The folder used last is the most likely target.
      if (!this.loaded && folders[0]) this.#open.add(folders[0].path);
      this.folders = folders;
      this.loaded = true;
      const open = folders.map(({ path }) => path).filter((path) => this.#open.has(path));
      const pages = await Promise.all(
        open.map(async (path): Promise<[string, FolderSessions]> => [path, await this.#load(path, "as_far")]),
      );
      if (round === this.#round) this.#loadedFolders = new Map(pages);
    } catch (error) {
      if (round === this.#round) toasts.fail(error);
    }
  }

  /** Loads a folder's sessions from the start: as many as were loaded, or one page more. */
  async #load(path: string, extent: "as_far" | "further"): Promise<FolderSessions> {
    const loadedCount = this.#loadedFolders.get(path)?.sessions.length ?? 0;
    const limit = Math.max(PAGE, extent === "further" ? loadedCount + PAGE : loadedCount);
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
    } while (sessions.length < Math.min(limit, total));
    return { sessions, total };
  }

  /** Opens or closes a folder. */
  async toggle(path: string): Promise<void> {
    if (this.#open.delete(path)) return;
    this.#open.add(path);
    await this.more(path);
  }

  /** Loads another page of a folder's sessions. */
  async more(path: string): Promise<void> {
    try {
      const sessions = await this.#load(path, "further");
      this.#loadedFolders = new Map([...this.#loadedFolders, [path, sessions]]);
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** This window's list by folder. */
export const folderList = new FolderList();
