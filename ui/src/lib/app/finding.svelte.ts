/** What is looked for in the list: words, and which sessions are meant. */
import { call } from "$lib/ipc";
import type { SessionFilter, SessionHit, SessionInfo } from "$lib/ipc/types";
import { untrack } from "svelte";
import { toasts } from "./toasts.svelte";

/** How many lines a page of what was found has. */
const PAGE = 100;
/** How many hits in texts are shown; the core gives titles beside them, which are found page by page here. */
const HITS = 80;
/** How long typing pauses before texts are searched, in milliseconds; titles are searched at once. */
const PAUSE = 150;

/** Whether a filter lets everything through. */
export function isEmpty(filter: SessionFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

export class Finding {
  query = $state("");
  filter = $state.raw<SessionFilter>({});
  /** Sessions whose title fits, as far as they are loaded; with no words, all the filter lets through. */
  sessions = $state.raw<readonly SessionInfo[]>([]);
  total = $state(0);
  hits = $state.raw<readonly SessionHit[]>([]);
  /** Set while the first answer to what is looked for now is awaited. */
  looking = $state(false);
  readonly #words = $derived(this.query.trim());
  /** Whether anything is looked for at all. */
  readonly active = $derived(this.#words !== "" || !isEmpty(this.filter));
  /** What was looked for last; null when nothing was. */
  #looked: { readonly query: string; readonly filter: SessionFilter } | null = null;
  #round = 0;
  #loading = false;

  /** Looks again; the function returned ends it. What came of an earlier look is never shown after a later one. */
  look(): () => void {
    const [query, filter, active] = [this.#words, this.filter, this.active];
    const round = ++this.#round;
    // The list changed, not what is looked for: nobody should lose their place in it.
    const again = this.#looked?.query === query && this.#looked.filter === filter && !untrack(() => this.looking);
    this.#looked = active ? { query, filter } : null;
    if (!active) {
      this.sessions = [];
      this.hits = [];
      this.total = 0;
      this.looking = false;
      return () => undefined;
    }
    this.looking = !again;
    const fail = (error: unknown): void => {
      if (round === this.#round) toasts.fail(error);
    };
    void untrack(() => this.#read(round, again ? "as_far" : "first_page")).catch(fail);
    const timer = setTimeout(() => {
      if (query === "") {
        this.hits = [];
        return;
      }
      void call("sessions", "search_sessions", { query, filter, limit: HITS })
        .then((found) => {
          if (round === this.#round) this.hits = found.hits.filter((hit) => hit.message !== null);
        })
        .catch(fail);
    }, PAUSE);
    return () => clearTimeout(timer);
  }

  /** Reads the sessions from the first one on: one page, or as far as they were loaded. */
  async #read(round: number, how: "first_page" | "as_far"): Promise<void> {
    const query = { query: this.#words, filter: this.filter, limit: PAGE };
    const sessions: SessionInfo[] = [];
    let total: number;
    do {
      const page = await call("sessions", "list_sessions", { ...query, offset: sessions.length });
      if (round !== this.#round) return;
      sessions.push(...page.sessions);
      total = page.sessions.length === 0 ? sessions.length : page.total;
    } while (how === "as_far" && sessions.length < Math.min(this.sessions.length, total));
    this.sessions = sessions;
    this.total = total;
    this.looking = false;
  }

  /** Loads a further page of sessions. */
  async more(): Promise<void> {
    if (this.#loading || this.sessions.length >= this.total) return;
    this.#loading = true;
    const round = this.#round;
    try {
      const page = await call("sessions", "list_sessions", {
        query: this.#words,
        filter: this.filter,
        offset: this.sessions.length,
        limit: PAGE,
      });
      if (round !== this.#round) return;
      const known = this.sessions.map((info) => info.id);
      this.sessions = [...this.sessions, ...page.sessions.filter((info) => !known.includes(info.id))];
      // A page without anything new is the end, whatever was counted before.
      this.total = page.sessions.length === 0 ? this.sessions.length : page.total;
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.#loading = false;
    }
  }

  /** Forgets the words and the filter. */
  clear(): void {
    this.query = "";
    this.filter = {};
  }
}
