/**
 * Every key the window handles, in one list read by the window itself, the palette, tooltips, the overview and the
 * settings. A key is written once for all systems: `Mod` is Cmd on a Mac and Ctrl elsewhere. Several keys of one entry
 * do the same; the keys of a sequence follow each other. The person can choose those of the window itself.
 */
import type { WindowShortcut } from "$lib/ipc/types";
import { type WordKey, t } from "$lib/words/words.svelte";
import { type ChosenKeys, chosenKeys } from "./chosen-keys.svelte";
import { commandKey, platform } from "./platform";

/** Where keys are handled. */
export type ShortcutPlace = "window" | "session" | "composer";

/** An action and its keys. */
interface Entry {
  readonly id: string;
  readonly place: ShortcutPlace;
  readonly keys: readonly string[];
  /** The keys on a Mac, if they differ. */
  readonly mac?: readonly string[];
  readonly words: WordKey;
}

const list = [
  { id: "palette", place: "window", keys: ["Mod+K"], words: "keys.palette" },
  { id: "new", place: "window", keys: ["Mod+N"], words: "keys.new" },
  { id: "search", place: "window", keys: ["Mod+Shift+F"], words: "keys.search" },
  { id: "nth", place: "window", keys: ["Mod+1 … Mod+9"], words: "keys.sessions" },
  { id: "side", place: "window", keys: ["Mod+B"], words: "keys.side" },
  { id: "activity", place: "window", keys: ["Mod+J"], words: "keys.activity" },
  { id: "settings", place: "window", keys: ["Mod+,"], words: "keys.settings" },
  // Follows each system's browsers: on a Mac, Option with an arrow moves by words in text fields.
  { id: "back", place: "window", keys: ["Alt+Left"], mac: ["Mod+["], words: "keys.back" },
  { id: "forward", place: "window", keys: ["Alt+Right"], mac: ["Mod+]"], words: "keys.forward" },
  { id: "larger", place: "window", keys: ["Mod+Plus"], words: "keys.larger" },
  { id: "smaller", place: "window", keys: ["Mod+-"], words: "keys.smaller" },
  { id: "usual_size", place: "window", keys: ["Mod+0"], words: "keys.usual_size" },
  { id: "overview", place: "window", keys: ["Mod+/", "?"], words: "keys.overview" },
  { id: "stop", place: "session", keys: ["Esc"], words: "keys.stop" },
  { id: "time", place: "session", keys: ["Mod+T"], words: "keys.time" },
  { id: "time_back", place: "session", keys: ["Esc Esc"], words: "keys.time_back" },
  { id: "answer", place: "session", keys: ["Enter", "N"], words: "keys.answer" },
  { id: "send", place: "composer", keys: ["Enter"], words: "keys.send" },
  { id: "newline", place: "composer", keys: ["Shift+Enter"], words: "keys.newline" },
  { id: "commands", place: "composer", keys: ["/"], words: "keys.commands" },
  { id: "recall", place: "composer", keys: ["Up"], words: "keys.recall" },
  { id: "suggestion", place: "composer", keys: ["Tab"], words: "keys.suggestion" },
  { id: "move", place: "window", keys: ["Up", "Down"], words: "keys.move" },
  { id: "row_menu", place: "window", keys: ["Shift+F10"], words: "keys.row_menu" },
] as const satisfies readonly Entry[];

/** The id of a shortcut. */
export type ShortcutId = (typeof list)[number]["id"];

/** The places, in display order. */
export const shortcutPlaces: readonly ShortcutPlace[] = ["window", "session", "composer"];

/** The system to format keys for. */
export type Platform = typeof platform;

const SIGNS: Record<Platform, Record<string, string>> = {
  mac: { Mod: "⌘", Plus: "+", Shift: "⇧", Enter: "↵", Up: "↑", Down: "↓", Tab: "⇥" },
  windows: { Mod: "Ctrl", Plus: "+", Enter: "↵", Up: "↑", Down: "↓", Left: "←", Right: "→" },
  linux: { Mod: "Ctrl", Plus: "+", Enter: "↵", Up: "↑", Down: "↓", Left: "←", Right: "→" },
};

/** Formats one key for a system: `⇧⌘F` on a Mac, `Ctrl+Shift+F` elsewhere. */
function writtenKey(key: string, system: Platform): string {
  const parts = key.split("+");
  // A Mac writes Shift before Cmd.
  const ordered = system === "mac" ? parts.toSorted((a, b) => Number(b === "Shift") - Number(a === "Shift")) : parts;
  return ordered.map((part) => SIGNS[system][part] ?? part).join(system === "mac" ? "" : "+");
}

/** Returns the keys of a shortcut formatted for a system, one entry per key. */
export function writtenKeys(id: ShortcutId, system: Platform = platform): readonly string[] {
  return keysOf(id, system).map((keys) => formatKeys(keys, system));
}

/** Formats a key sequence for a system. */
export function formatKeys(keys: string, system: Platform = platform): string {
  return keys
    .split(" ")
    .map((part) => writtenKey(part, system))
    .join(" ");
}

/** A shortcut as displayed. */
export interface Shortcut {
  readonly id: ShortcutId;
  readonly place: ShortcutPlace;
  /** All its current keys, formatted for this system. */
  readonly keys: string;
  /** Returns its description. */
  readonly words: () => string;
}

/** All shortcuts, in display order. */
export const shortcuts: readonly Shortcut[] = list.map(({ id, place, words }) => ({
  id,
  place,
  get keys() {
    return writtenKeys(id).join(", ");
  },
  words: () => t(words),
}));

function entry(id: ShortcutId): Entry {
  // Every id belongs to an entry.
  return list.find((shortcut) => shortcut.id === id) ?? list[0];
}

/** Returns the default keys of a shortcut on a system. */
export function usualKeys(id: ShortcutId, system: Platform = platform): readonly string[] {
  const { keys, mac } = entry(id);
  return system === "mac" ? (mac ?? keys) : keys;
}

/**
 * Returns the current keys of a shortcut. A key without Mod for the same action stays in addition to the chosen ones.
 */
function keysOf(id: ShortcutId, system: Platform = platform): readonly string[] {
  const usual = usualKeys(id, system);
  const ownKeys = isChoosable(id) ? chosenKeys()[id] : undefined;
  return ownKeys === undefined ? usual : [ownKeys, ...usual.filter((key) => !key.startsWith("Mod+"))];
}

/** Returns the first key of a shortcut, for tooltips and menus. */
export function keyOf(id: ShortcutId, system: Platform = platform): string {
  return writtenKeys(id, system)[0] ?? "";
}

/** Returns the keys of a shortcut in `aria-keyshortcuts` format. */
export function ariaKeys(id: ShortcutId, system: Platform = platform): string {
  const mod = system === "mac" ? "Meta" : "Control";
  return keysOf(id, system)
    .map((key) => key.replaceAll("Mod", mod))
    .join(" ");
}

/**
 * The shortcuts the window handles regardless of the focus, whose keys the person may choose; all others belong to the
 * focused part.
 */
export const choosable = [
  "palette",
  "new",
  "search",
  "side",
  "activity",
  "settings",
  "overview",
  "time",
] as const satisfies readonly (ShortcutId & WindowShortcut)[];

/** The history shortcuts, whose keys follow the system. */
const steps = ["back", "forward"] as const satisfies readonly ShortcutId[];

/** Returns whether the person may choose the keys of a shortcut. */
export function isChoosable(id: ShortcutId): id is WindowShortcut {
  return choosable.some((shortcut) => shortcut === id);
}

/** Keys reserved for text editing, closing and quitting, and zoom; the same list as in the core. */
const TAKEN = ["Z", "Y", "A", "X", "C", "V", "Q", "W", "Shift+Z", "Shift+V", "+", "=", "-", "_"];

/** The result of recording keys for a shortcut. */
export type KeyChoice =
  | { readonly type: "keys"; readonly keys: string }
  /** Another shortcut uses them. */
  | { readonly type: "used"; readonly by: ShortcutId }
  /** Text fields, the system, or sessions by number need them. */
  | { readonly type: "taken"; readonly keys: string }
  /** Not a valid choice: without Mod, or incomplete. */
  | { readonly type: "none" };

/** Reads the keys pressed for a shortcut. */
export function readChoice(id: WindowShortcut, event: KeyboardEvent): KeyChoice {
  const keys = modKeys(event);
  if (keys === null) return { type: "none" };
  const rest = keys.slice("Mod+".length);
  if (TAKEN.includes(rest) || /^[0-9]$/.test(rest)) return { type: "taken", keys };
  const conflicting = [...choosable, ...steps].find((shortcut) => shortcut !== id && keysOf(shortcut).includes(keys));
  return conflicting === undefined ? { type: "keys", keys } : { type: "used", by: conflicting };
}

/** Returns the settings after a shortcut gets new keys; its default keys are stored as no choice. */
export function withChoice(id: WindowShortcut, keys: string | null, chosen: ChosenKeys = chosenKeys()): ChosenKeys {
  const others = Object.entries(chosen).filter(([otherId]) => otherId !== id);
  const choice = keys === null || usualKeys(id).includes(keys) ? [] : [[id, keys] as const];
  return Object.fromEntries([...others, ...choice]);
}

/** A pressed shortcut, and for sessions by number the index, from 0. */
export interface ShortcutPress {
  readonly id: WindowShortcut | (typeof steps)[number] | "nth";
  readonly index: number;
}

/** The bracket keys by position: many keyboards have a letter there. */
const BRACKETS: Partial<Record<string, string>> = { BracketLeft: "[", BracketRight: "]" };

/** Returns the key's letter; on a keyboard without Latin letters, by its position. */
function letter({ key, code }: Pick<KeyboardEvent, "key" | "code">): string {
  const character = /^[\x21-\x7e]$/.test(key) ? key : (/^Key([A-Z])$/.exec(code)?.[1] ?? BRACKETS[code] ?? key);
  return character.toUpperCase();
}

/** Returns a letter or symbol with Mod in shortcut notation; null for all other keys. */
function modKeys(event: KeyboardEvent): string | null {
  if (event.altKey || !commandKey(event)) return null;
  const key = letter(event);
  if (!/^[\x21-\x7e]$/.test(key)) return null;
  // Some characters need Shift to be typed at all; with letters Shift changes the meaning.
  const shifted = event.shiftKey && /^[A-Z]$/.test(key);
  return `Mod+${shifted ? "Shift+" : ""}${key}`;
}

/** Returns an arrow with Alt alone in shortcut notation; null for all other keys. */
function altArrow({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string | null {
  if (!altKey || ctrlKey || metaKey || shiftKey) return null;
  return key === "ArrowLeft" ? "Alt+Left" : key === "ArrowRight" ? "Alt+Right" : null;
}

/** Returns the window shortcut of a key event; null if it is none. The caller tells whether text is being typed. */
export function pressed(event: KeyboardEvent, typing: "typing" | "not_typing"): ShortcutPress | null {
  const key = letter(event);
  const keys = altArrow(event) ?? modKeys(event);
  if (event.altKey && keys === null) return null;
  if (keys === null) {
    const plain = typing === "not_typing" && !event.ctrlKey && !event.metaKey;
    return plain && key === "?" ? { id: "overview", index: 0 } : null;
  }
  if (/^[1-9]$/.test(key)) return { id: "nth", index: Number(key) - 1 };
  const id = [...choosable, ...steps].find((shortcut) => keysOf(shortcut).includes(keys));
  return id === undefined ? null : { id, index: 0 };
}
