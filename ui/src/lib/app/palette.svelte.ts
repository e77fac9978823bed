/** The palette's results for the typed text, by group. */
import type { IconName } from "$lib/icons";
import { call } from "$lib/ipc";
import type { SessionHit, SessionInfo } from "$lib/ipc/types";
import { parseQuery, bestMatch, step } from "$lib/state/palette";
import { t } from "$lib/words/words.svelte";
import { type Action, commands, places } from "./actions.svelte";
import { SlashCommands } from "./commands.svelte";
import { sessionList } from "./session-list.svelte";
import { navigation } from "./navigation.svelte";
import type { ShortcutId } from "./shortcuts";
import { toasts } from "./toasts.svelte";

/** A row of the palette. */
export interface Choice {
  readonly id: string;
  readonly icon: IconName;
  readonly label: string;
  /** Another name that matches. */
  readonly also?: string;
  /** Text at the end of the row. */
  readonly end?: string;
  readonly shortcut?: ShortcutId;
  readonly session?: SessionInfo;
  readonly run: () => void;
}

/** A group of rows. */
export interface ChoiceGroup {
  readonly name: "sessions" | "commands" | "places" | "skills" | "messages";
  readonly label: string;
  readonly choices: readonly Choice[];
}

/** The maximum number of rows of a group. */
const SHOWN = 6;
/** The number of requested full-text hits: the first ones may be titles. */
const HITS = 40;
/** How many of the newest sessions are matched fuzzily; the core finds older ones by word. */
const COMPARED = 300;
/** How long typing must pause before texts are searched, in milliseconds; titles are searched at once. */
const PAUSE = 150;

export class Palette {
  text = $state("");
  #titles = $state.raw<readonly SessionInfo[]>([]);
  #hits = $state.raw<readonly SessionHit[]>([]);
  /** Whether a request to the core is pending, which may add results. */
  searching = $state(false);
  readonly #slash = new SlashCommands();
  readonly wanted = $derived(parseQuery(this.text));

  constructor() {
    void this.#slash.read(navigation.folder ?? "");
    $effect(() => this.#search());
  }

  /** Searches the core for titles that are not loaded, and for messages. */
  #search(): (() => void) | undefined {
    const { wanted, only } = this.wanted;
    if (wanted === "" || only === "commands") {
      this.#titles = [];
      this.#hits = [];
      this.searching = false;
      return undefined;
    }
    let superseded = false;
    const fail = (error: unknown): void => {
      if (!superseded) toasts.fail(error);
    };
    const titles = call("sessions", "list_sessions", { query: wanted, offset: 0, limit: SHOWN }).then((page) => {
      if (!superseded) this.#titles = page.sessions;
    }, fail);
    this.searching = true;
    const timer = setTimeout(() => {
      const texts = call("sessions", "search_sessions", { query: wanted, limit: HITS }).then((hits) => {
        if (!superseded) this.#hits = hits.hits.filter((hit) => hit.message !== null);
      }, fail);
      void Promise.all([titles, texts]).then(() => {
        if (!superseded) this.searching = false;
      });
    }, PAUSE);
    return () => {
      superseded = true;
      clearTimeout(timer);
    };
  }

  #sessions(): readonly Choice[] {
    const currentId = navigation.current?.id;
    const loaded = sessionList.inView.slice(0, COMPARED);
    const older = this.#titles.filter((info) => !loaded.some((session) => session.id === info.id));
    return [...loaded, ...older]
      .filter((info) => info.id !== currentId)
      .map((info) => ({
        id: info.id,
        icon: "chat",
        label: info.title || t("session.untitled"),
        session: info,
        run: () => navigation.session(info.id),
      }));
  }

  #skills(): readonly Choice[] {
    return this.#slash.list
      .filter((command) => command.description !== null)
      .map((command) => ({
        id: command.name,
        icon: "skills",
        label: `/${command.name}`,
        end: command.description ?? "",
        run: () => navigation.command(command.name, navigation.folder),
      }));
  }

  #messages(): readonly Choice[] {
    return this.#hits.slice(0, SHOWN).map((hit) => ({
      id: `${hit.info.id}:${hit.message}`,
      icon: "search",
      label: hit.snippet,
      end: hit.info.title || t("session.untitled"),
      run: () => navigation.session(hit.info.id, hit.message),
    }));
  }

  /** The non-empty groups. */
  readonly groups = $derived.by((): readonly ChoiceGroup[] => {
    const { wanted, only } = this.wanted;
    const limit = only === "commands" ? 40 : SHOWN;
    const rank = <T extends Action | Choice>(choices: readonly T[]) => bestMatch(wanted, choices, limit);
    const all: ChoiceGroup[] = [
      { name: "sessions", label: t("palette.sessions"), choices: only === "commands" ? [] : rank(this.#sessions()) },
      { name: "commands", label: t("palette.commands"), choices: rank(commands()) },
      { name: "places", label: t("palette.places"), choices: rank(places()) },
      { name: "skills", label: t("side.skills"), choices: only === "commands" ? [] : rank(this.#skills()) },
    ];
    const messages: ChoiceGroup = { name: "messages", label: t("search.messages"), choices: this.#messages() };
    // A group with only scattered letter matches ranks after a group that contains the word.
    const ranked = all.map((group) => ({ group, near: step(wanted, group.choices) }));
    const groups = ranked.toSorted((a, b) => b.near - a.near).map(({ group }) => group);
    return [...groups, messages].filter((group) => group.choices.length > 0);
  });
  /** All rows in display order. */
  readonly choices = $derived(this.groups.flatMap((group) => group.choices));
}
