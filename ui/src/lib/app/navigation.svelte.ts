/** The current page of the window. */
import { type History, move, visit } from "$lib/state/history";
import { Conversation } from "./conversation.svelte";
import { newDraft } from "./drafts.svelte";
import { sessionList } from "./session-list.svelte";
import { thisWindow } from "./own-window";
import { preferences } from "./preferences.svelte";
import type { SettingsPage } from "./settings-pages";

/** A page of the window. */
export type AppView =
  | { page: "welcome" }
  | { page: "new"; folder: string | null }
  | { page: "session"; conversation: Conversation }
  | { page: "activity" }
  | { page: "tasks" }
  | { page: "skills" }
  | { page: "memory" }
  | { page: "usage" }
  | { page: "trash" }
  | { page: "settings"; section: SettingsPage };

/** A history entry: a session by its id, at the message it was opened at. Onboarding has none. */
type HistoryLocation =
  Exclude<AppView, { page: "welcome" | "session" }> | { page: "session"; session: string; message: string | null };

/** The storage key of the last session; only a hint, losing it is harmless. */
const LAST = "octo.last-session";

class Navigation {
  view = $state.raw<AppView>({ page: "new", folder: null });
  sideOpen = $state(true);
  /** Incremented to focus the search field. */
  searchRequests = $state(0);
  /** The page before the settings. */
  #before: AppView | null = null;
  #trail: History<HistoryLocation> = { entries: [], index: -1 };

  #go(view: Exclude<AppView, { page: "session" }>): void {
    this.#leave();
    this.view = view;
    if (view.page !== "welcome") this.#trail = visit(this.#trail, view);
  }

  #leave(): void {
    if (this.view.page === "session") this.view.conversation.close();
  }

  /** Opens a session, optionally at a message. */
  session(id: string, message: string | null = null): void {
    this.#trail = visit(this.#trail, { page: "session", session: id, message });
    if (this.view.page === "session" && this.view.conversation.id === id) {
      if (message) void this.view.conversation.jump(message);
      return;
    }
    this.#leave();
    const conversation = new Conversation(id, () => this.home(id));
    this.view = { page: "session", conversation };
    // Only the first window persists; further windows are temporary.
    if (thisWindow.number === 0) localStorage.setItem(LAST, id);
    if (message) conversation.jumpWhenOpen(message);
  }

  /** Opens the new-session page, optionally for a folder. */
  fresh(folder: string | null = null): void {
    this.#go({ page: "new", folder });
  }

  /** Opens the new-session page with a command at the start of the message. */
  command(name: string, folder: string | null): void {
    newDraft().head(name);
    this.fresh(folder);
  }

  welcome(): void {
    this.#go({ page: "welcome" });
  }

  activity(): void {
    this.#go({ page: "activity" });
  }

  tasks(): void {
    this.#go({ page: "tasks" });
  }

  skills(): void {
    this.#go({ page: "skills" });
  }

  memory(): void {
    this.#go({ page: "memory" });
  }

  usage(): void {
    this.#go({ page: "usage" });
  }

  trash(): void {
    this.#go({ page: "trash" });
  }

  settings(section: SettingsPage = "models"): void {
    if (this.view.page !== "settings") this.#before = this.view;
    this.#go({ page: "settings", section });
  }

  /** Returns from the settings to the page before them. */
  back(): void {
    const before = this.#before;
    if (before === null || before.page === "welcome") this.home();
    else if (before.page === "session") this.session(before.conversation.id);
    // The initial folder may have changed since: the person's choice is kept.
    else if (before.page === "new") this.fresh();
    else this.#go(before);
  }

  /** Goes to the nearest earlier or later history entry, skipping deleted sessions. */
  step(direction: "back" | "forward"): void {
    const history = move(
      this.#trail,
      direction,
      (entry) => entry.page !== "session" || !sessionList.isGone(entry.session),
    );
    const entry = history?.entries[history.index];
    if (!history || !entry) return;
    if (entry.page === "session") this.session(entry.session, entry.message);
    else if (entry.page === "new") this.fresh();
    else if (entry.page === "settings") this.settings(entry.section);
    else this.#go(entry);
    // Moving through the history adds no entry.
    this.#trail = history;
  }

  /** Opens the default page: the session open last, else the newest, else a new one. */
  home(deletedSession: string | null = null): void {
    const last = localStorage.getItem(LAST);
    // The list may still contain the removed session.
    const sessions = sessionList.sessions.filter((info) => info.id !== deletedSession);
    const newest = sessions.toSorted((a, b) => b.updated_at - a.updated_at)[0];
    const session = sessions.find((info) => info.id === last) ?? newest;
    if (session) this.session(session.id);
    else this.fresh();
  }

  /** Whether a session was open last. */
  get remembers(): boolean {
    return localStorage.getItem(LAST) !== null;
  }

  /** Focuses the search field on any page. */
  search(): void {
    if (this.view.page === "settings") this.back();
    else if (this.view.page === "welcome") this.home();
    this.sideOpen = true;
    this.searchRequests += 1;
  }

  /** Opens or closes the sidebar; in narrow windows it starts closed. */
  toggleSide(): void {
    this.sideOpen = !this.sideOpen;
  }

  /** The folder of the session on screen, else of the one open last, else the one used last. */
  get folder(): string | null {
    const last = localStorage.getItem(LAST);
    const session = sessionList.sessions.find((info) => info.id === (this.current?.id ?? last));
    return session?.folder ?? preferences.settings?.recent_folders[0] ?? null;
  }

  /** The session on screen. */
  get current(): Conversation | null {
    return this.view.page === "session" ? this.view.conversation : null;
  }
}

/** This window's navigation. */
export const navigation = new Navigation();
