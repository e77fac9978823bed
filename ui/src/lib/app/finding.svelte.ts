/** What is looked for in the list: words, and which sessions are meant. */
import { call } from "$lib/ipc";
import type { SessionFilter, SessionHit, SessionInfo } from "$lib/ipc/types";
import { untrack } from "svelte";
import { toasts } from "./toasts.svelte";

/** How many lines a page of what was found has. */
const PAGE = 100;
/** How many hits are asked for, titles among them: the most the core gives. */
const HITS = 100;
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
  /** The sessions in whose texts the words are. */
  hits = $state.raw<readonly SessionHit[]>([]);
  /** Whether there are more hits than these. */
  cut = $state(false);
  /** Set while the first answers to what is looked for now are awaited: titles, which are shown meanwhile, and texts. */
  looking = $state(false);
  readonly #words = $derived(this.query.trim());
  /** Whether anything is looked for at all. */
  readonly active = $derived(this.#words !== "" || !isEmpty(this.filter));
  /** What was looked for last, what of it is not answered yet, and when its texts are searched; null when nothing was. */
  #looked: { query: string; filter: SessionFilter; titles: boolean; texts: boolean; due: number } | null = null;
  #round = 0;
  /** Which search of texts was asked for last, and which one is shown. */
  #search = { asked: 0, shown: 0 };
  #loading = false;

  /** Looks again; the function returned ends it. What came of an earlier look is never shown after a later one. */
  look(): () => void {
    const [query, filter, active] = [this.#words, this.filter, this.active];
    const round = ++this.#round;
    if (!active) {
      this.#looked = null;
      this.sessions = [];
      this.#show([]);
      this.total = 0;
      this.looking = false;
      return () => undefined;
    }
    const now = performance.now();
    let looked = this.#looked;
    if (looked?.query !== query || looked.filter !== filter) {
      looked = { query, filter, titles: true, texts: query !== "", due: now + PAUSE };
      this.#looked = looked;
      this.looking = true;
    }
    const fail = (error: unknown): void => {
      if (looked === this.#looked) toasts.fail(error);
    };
    // Where only the list changed, nobody should lose their place in it.
    void untrack(() => this.#read(round, looked.titles ? "first_page" : "as_far")).catch(fail);
    if (query === "") {
      this.#show([]);
      return () => undefined;
    }
    // A list that changes all the time does not put the first search off.
    const pause = looked.texts && looked.due > now ? looked.due - now : PAUSE;
    const timer = setTimeout(() => {
      const nth = ++this.#search.asked;
      void call("sessions", "search_sessions", { query, filter, limit: HITS })
        .then(({ hits }) => {
          if (looked !== this.#looked || nth < this.#search.shown) return;
          this.#search.shown = nth;
          this.#show(hits);
          this.#answered("texts");
        })
        .catch(fail);
    }, pause);
    return () => clearTimeout(timer);
  }

  #show(found: readonly SessionHit[]): void {
    const hits = found.filter((hit) => hit.message !== null);
    this.cut = found.length >= HITS;
    // The one over tells that there are more than are shown.
    this.hits = this.cut ? hits.slice(0, -1) : hits;
  }

  #answered(what: "titles" | "texts"): void {
    if (!this.#looked) return;
    this.#looked[what] = false;
    this.looking = this.#looked.titles || this.#looked.texts;
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
    this.#answered("titles");
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
