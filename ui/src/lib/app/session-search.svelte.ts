/** The search of the session list: words and a filter. */
import { call } from "$lib/ipc";
import type { SessionFilter, SessionHit, SessionInfo } from "$lib/ipc/types";
import { untrack } from "svelte";
import { toasts } from "./toasts.svelte";

/** The number of rows of a result page. */
const PAGE = 100;
/** The number of requested hits, including titles: the core's maximum. */
const HITS = 100;
/** How long typing must pause before texts are searched, in milliseconds; titles are searched at once. */
const PAUSE = 150;

/** Returns whether a filter matches everything. */
export function isEmpty(filter: SessionFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

export class SessionSearch {
  query = $state("");
  filter = $state.raw<SessionFilter>({});
  /** The loaded sessions whose titles match; without words, all that match the filter. */
  sessions = $state.raw<readonly SessionInfo[]>([]);
  total = $state(0);
  /** The sessions whose texts contain the words. */
  hits = $state.raw<readonly SessionHit[]>([]);
  /** Whether there are more hits than shown. */
  cut = $state(false);
  /** Set while the first results of the current query are pending: titles, which are shown meanwhile, and texts. */
  searching = $state(false);
  readonly #words = $derived(this.query.trim());
  /** Whether a search is active. */
  readonly active = $derived(this.#words !== "" || !isEmpty(this.filter));
  /** The last query, its pending parts, and the time of its text search; null without one. */
  #lastSearch: { query: string; filter: SessionFilter; titles: boolean; texts: boolean; due: number } | null = null;
  #round = 0;
  /** The number of the text search requested last, and of the one displayed. */
  #search = { requested: 0, shown: 0 };
  #loading = false;

  /** Searches again and returns a function that cancels it. Results of an earlier search never replace later ones. */
  start(): () => void {
    const [query, filter, active] = [this.#words, this.filter, this.active];
    const round = ++this.#round;
    if (!active) {
      this.#lastSearch = null;
      this.sessions = [];
      this.#show([]);
      this.total = 0;
      this.searching = false;
      return () => undefined;
    }
    const now = performance.now();
    let lastSearch = this.#lastSearch;
    if (lastSearch?.query !== query || lastSearch.filter !== filter) {
      lastSearch = { query, filter, titles: true, texts: query !== "", due: now + PAUSE };
      this.#lastSearch = lastSearch;
      this.searching = true;
    }
    const fail = (error: unknown): void => {
      if (lastSearch === this.#lastSearch) toasts.fail(error);
    };
    // If only the list changed, the scroll position is kept.
    void untrack(() => this.#read(round, lastSearch.titles ? "first_page" : "as_far")).catch(fail);
    if (query === "") {
      this.#show([]);
      return () => undefined;
    }
    // A constantly changing list must not delay the first search.
    const pause = lastSearch.texts && lastSearch.due > now ? lastSearch.due - now : PAUSE;
    const timer = setTimeout(() => {
      const request = ++this.#search.requested;
      void call("sessions", "search_sessions", { query, filter, limit: HITS })
        .then(({ hits }) => {
          if (lastSearch !== this.#lastSearch || request < this.#search.shown) return;
          this.#search.shown = request;
          this.#show(hits);
          this.#answered("texts");
        })
        .catch(fail);
    }, pause);
    return () => clearTimeout(timer);
  }

  #show(matches: readonly SessionHit[]): void {
    const hits = matches.filter((hit) => hit.message !== null);
    this.cut = matches.length >= HITS;
    // The one extra hit shows that there are more.
    this.hits = this.cut ? hits.slice(0, -1) : hits;
  }

  #answered(source: "titles" | "texts"): void {
    if (!this.#lastSearch) return;
    this.#lastSearch[source] = false;
    this.searching = this.#lastSearch.titles || this.#lastSearch.texts;
  }

  /** Loads the sessions from the start: one page, or as many as were loaded. */
  async #read(round: number, extent: "first_page" | "as_far"): Promise<void> {
    const query = { query: this.#words, filter: this.filter, limit: PAGE };
    const sessions: SessionInfo[] = [];
    let total: number;
    do {
      const page = await call("sessions", "list_sessions", { ...query, offset: sessions.length });
      if (round !== this.#round) return;
      sessions.push(...page.sessions);
      total = page.sessions.length === 0 ? sessions.length : page.total;
    } while (extent === "as_far" && sessions.length < Math.min(this.sessions.length, total));
    this.sessions = sessions;
    this.total = total;
    this.#answered("titles");
  }

  /** Loads another page of sessions. */
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
      const ids = this.sessions.map((info) => info.id);
      this.sessions = [...this.sessions, ...page.sessions.filter((info) => !ids.includes(info.id))];
      // A page without new sessions is the end, whatever the previous count.
      this.total = page.sessions.length === 0 ? this.sessions.length : page.total;
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.#loading = false;
    }
  }

  /** Clears the words and the filter. */
  clear(): void {
    this.query = "";
    this.filter = {};
  }
}
