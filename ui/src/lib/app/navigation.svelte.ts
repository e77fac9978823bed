/** What is on screen. */
import { type Trail, stepped, visited } from "$lib/state/trail";
import { Conversation } from "./conversation.svelte";
import { newDraft } from "./drafts.svelte";
import { library } from "./library.svelte";
import { ownWindow } from "./own-window";
import { preferences } from "./preferences.svelte";

/** The pages of settings. */
export type SettingsPage =
  | "models"
  | "general"
  | "behaviour"
  | "tasks"
  | "rules"
  | "browser"
  | "chats"
  | "knowledge"
  | "appearance"
  | "shortcuts"
  | "notifications"
  | "data"
  | "about";

/** A place in the window. */
export type Place =
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

/** A place as it is come back to: a session by its id, at the message it was opened at. The first run is none. */
type Kept =
  Exclude<Place, { page: "welcome" | "session" }> | { page: "session"; session: string; message: string | null };

/** Where the last place is kept between runs; only a hint, losing it is harmless. */
const LAST = "octo.last-session";

class Navigation {
  place = $state.raw<Place>({ page: "new", folder: null });
  sideOpen = $state(true);
  /** Raised to put the focus into the search field. */
  searchAsked = $state(0);
  /** Where one was before the settings. */
  #before: Place | null = null;
  #trail: Trail<Kept> = { spots: [], at: -1 };

  #go(place: Exclude<Place, { page: "session" }>): void {
    this.#leave();
    this.place = place;
    if (place.page !== "welcome") this.#trail = visited(this.#trail, place);
  }

  #leave(): void {
    if (this.place.page === "session") this.place.conversation.close();
  }

  /** Opens a session, and a message in it. */
  session(id: string, message: string | null = null): void {
    this.#trail = visited(this.#trail, { page: "session", session: id, message });
    if (this.place.page === "session" && this.place.conversation.id === id) {
      if (message) void this.place.conversation.jump(message);
      return;
    }
    this.#leave();
    const conversation = new Conversation(id, () => this.home(id));
    this.place = { page: "session", conversation };
    // Windows beside the first are for a moment.
    if (ownWindow.number === 0) localStorage.setItem(LAST, id);
    if (message) conversation.jumpWhenOpen(message);
  }

  /** A session that is not started yet, in a folder where one is meant. */
  fresh(folder: string | null = null): void {
    this.#go({ page: "new", folder });
  }

  /** A session that is not started yet, with a command at the start of its message. */
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
    if (this.place.page !== "settings") this.#before = this.place;
    this.#go({ page: "settings", section });
  }

  /** From the settings back to where one was before them. */
  back(): void {
    const before = this.#before;
    if (before === null || before.page === "welcome") this.home();
    else if (before.page === "session") this.session(before.conversation.id);
    // The folder it began with may have been changed since: what was chosen is kept.
    else if (before.page === "new") this.fresh();
    else this.#go(before);
  }

  /** To the nearest place one was at before this one, or after it; what was deleted meanwhile is left out. */
  step(way: "back" | "forward"): void {
    const trail = stepped(this.#trail, way, (spot) => spot.page !== "session" || !library.isGone(spot.session));
    const spot = trail?.spots[trail.at];
    if (!trail || !spot) return;
    if (spot.page === "session") this.session(spot.session, spot.message);
    else if (spot.page === "new") this.fresh();
    else if (spot.page === "settings") this.settings(spot.section);
    else this.#go(spot);
    // Going there is no new place.
    this.#trail = trail;
  }

  /** Where one comes back to: the session that was open last, else the newest, else a new one. */
  home(gone: string | null = null): void {
    const last = localStorage.getItem(LAST);
    // The list may not know yet what is gone.
    const sessions = library.sessions.filter((info) => info.id !== gone);
    const newest = sessions.toSorted((a, b) => b.updated_at - a.updated_at)[0];
    const known = sessions.find((info) => info.id === last) ?? newest;
    if (known) this.session(known.id);
    else this.fresh();
  }

  /** Whether a session was open last. */
  get remembers(): boolean {
    return localStorage.getItem(LAST) !== null;
  }

  /** Puts the focus into the search field, wherever one is. */
  search(): void {
    if (this.place.page === "settings") this.back();
    else if (this.place.page === "welcome") this.home();
    this.sideOpen = true;
    this.searchAsked += 1;
  }

  /** Opens or closes the sidebar; in narrow windows it starts closed. */
  toggleSide(): void {
    this.sideOpen = !this.sideOpen;
  }

  /** The folder of the session on screen, else of the one that was open last, else the one used last. */
  get folder(): string | null {
    const last = localStorage.getItem(LAST);
    const known = library.sessions.find((info) => info.id === (this.current?.id ?? last));
    return known?.folder ?? preferences.settings?.recent_folders[0] ?? null;
  }

  /** The session on screen. */
  get current(): Conversation | null {
    return this.place.page === "session" ? this.place.conversation : null;
  }
}

/** The window's navigation. */
export const navigation = new Navigation();
