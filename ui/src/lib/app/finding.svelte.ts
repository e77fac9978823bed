/** What is looked for in the list: words, and which sessions are meant. */
import { call } from "$lib/ipc";
import type { SessionFilter, SessionHit, SessionInfo } from "$lib/ipc/types";
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
  #round = 0;
  #loading = false;

  /** Looks again; the function returned ends it. What came of an earlier look is never shown after a later one. */
  look(): () => void {
    const [query, filter, active] = [this.#words, this.filter, this.active];
    const round = ++this.#round;
    if (!active) {
      this.sessions = [];
      this.hits = [];
      this.total = 0;
      this.looking = false;
      return () => undefined;
    }
    this.looking = true;
    const fail = (error: unknown): void => {
      if (round === this.#round) toasts.fail(error);
    };
    void call("sessions", "list_sessions", { query, filter, offset: 0, limit: PAGE })
      .then((found) => {
        if (round !== this.#round) return;
        this.sessions = found.sessions;
        this.total = found.total;
        this.looking = false;
      })
      .catch(fail);
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
