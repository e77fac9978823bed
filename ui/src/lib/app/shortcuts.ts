/** All keys there are, in one place: what the page of shortcuts and the search in settings show. */
import { t } from "$lib/words/words.svelte";
import { platform, shortcut } from "./platform";

/** Where keys hold. */
export type ShortcutPlace = "window" | "session" | "composer";

/** A key and what it does. */
export interface Shortcut {
  readonly id: string;
  readonly place: ShortcutPlace;
  /** The key as it is written on this system. */
  readonly keys: string;
  /** What it does. */
  readonly words: () => string;
}

/** All of them, by place. */
export const shortcuts: readonly Shortcut[] = [
  { id: "new", place: "window", keys: shortcut("N"), words: () => t("keys.new") },
  { id: "search", place: "window", keys: shortcut("K"), words: () => t("keys.search") },
  { id: "settings", place: "window", keys: shortcut(","), words: () => t("keys.settings") },
  {
    id: "sessions",
    place: "window",
    keys: platform === "mac" ? "⌘1 … ⌘9" : "Ctrl+1 … Ctrl+9",
    words: () => t("keys.sessions"),
  },
  { id: "stop", place: "session", keys: "Esc", words: () => t("keys.stop") },
  { id: "time_back", place: "session", keys: "Esc Esc", words: () => t("keys.time_back") },
  { id: "time", place: "session", keys: shortcut("T"), words: () => t("keys.time") },
  { id: "answer", place: "session", keys: "↵ / N", words: () => t("keys.answer") },
  { id: "recall", place: "composer", keys: "↑", words: () => t("keys.recall") },
  { id: "suggestion", place: "composer", keys: "Tab", words: () => t("keys.suggestion") },
  { id: "commands", place: "composer", keys: "/", words: () => t("keys.commands") },
  {
    id: "newline",
    place: "composer",
    keys: platform === "mac" ? "⇧↵" : "Shift+Enter",
    words: () => t("keys.newline"),
  },
];

/** The places, in the order they are shown. */
export const shortcutPlaces: readonly ShortcutPlace[] = ["window", "session", "composer"];
