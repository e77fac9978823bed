/**
 * Every key the window answers, in one list: the window itself, the palette, tooltips, the overview and the settings
 * all read it. A key is written once for all systems: `Mod` is Cmd on a Mac and Ctrl elsewhere. Several keys of one
 * entry do the same; keys that are pressed after each other stand behind each other. Those of the window itself can be
 * chosen by the person.
 */
import type { WindowShortcut } from "$lib/ipc/types";
import { type WordKey, t } from "$lib/words/words.svelte";
import { type ChosenKeys, chosenKeys } from "./chosen-keys.svelte";
import { commandKey, platform } from "./platform";

/** Where keys are answered. */
export type ShortcutPlace = "window" | "session" | "composer";

/** One thing keys do. */
interface Entry {
  readonly id: string;
  readonly place: ShortcutPlace;
  readonly keys: readonly string[];
  /** The keys on a Mac, where they are others. */
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
  // As each system's browsers have it: with Option, an arrow moves by words in a Mac's fields of text.
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

/** Which shortcut. */
export type ShortcutId = (typeof list)[number]["id"];

/** The places, in the order they are shown. */
export const shortcutPlaces: readonly ShortcutPlace[] = ["window", "session", "composer"];

/** The system keys are written for. */
export type Platform = typeof platform;

const SIGNS: Record<Platform, Record<string, string>> = {
  mac: { Mod: "⌘", Plus: "+", Shift: "⇧", Enter: "↵", Up: "↑", Down: "↓", Tab: "⇥" },
  windows: { Mod: "Ctrl", Plus: "+", Enter: "↵", Up: "↑", Down: "↓", Left: "←", Right: "→" },
  linux: { Mod: "Ctrl", Plus: "+", Enter: "↵", Up: "↑", Down: "↓", Left: "←", Right: "→" },
};

/** One key as it is written on a system: `⇧⌘F` on a Mac, `Ctrl+Shift+F` elsewhere. */
function writtenKey(key: string, system: Platform): string {
  const parts = key.split("+");
  // A Mac writes Shift before Cmd.
  const ordered = system === "mac" ? parts.toSorted((a, b) => Number(b === "Shift") - Number(a === "Shift")) : parts;
  return ordered.map((part) => SIGNS[system][part] ?? part).join(system === "mac" ? "" : "+");
}

/** The keys of a shortcut as they are written on a system, each one by itself. */
export function writtenKeys(id: ShortcutId, system: Platform = platform): readonly string[] {
  return keysOf(id, system).map((keys) => written(keys, system));
}

/** Keys that are pressed after each other, as they are written on a system. */
export function written(keys: string, system: Platform = platform): string {
  return keys
    .split(" ")
    .map((part) => writtenKey(part, system))
    .join(" ");
}

/** One thing keys do, as it is shown. */
export interface Shortcut {
  readonly id: ShortcutId;
  readonly place: ShortcutPlace;
  /** All its keys as they are written on this system, as chosen now. */
  readonly keys: string;
  /** What it does. */
  readonly words: () => string;
}

/** All shortcuts, in the order they are shown. */
export const shortcuts: readonly Shortcut[] = list.map(({ id, place, words }) => ({
  id,
  place,
  get keys() {
    return writtenKeys(id).join(" / ");
  },
  words: () => t(words),
}));

function entry(id: ShortcutId): Entry {
  // Every id is of an entry.
  return list.find((known) => known.id === id) ?? list[0];
}

/** The keys a shortcut has on a system where the person chose none. */
export function usualKeys(id: ShortcutId, system: Platform = platform): readonly string[] {
  const { keys, mac } = entry(id);
  return system === "mac" ? (mac ?? keys) : keys;
}

/** The keys a shortcut has now. A sign that does the same without Mod stays beside what is chosen. */
function keysOf(id: ShortcutId, system: Platform = platform): readonly string[] {
  const usual = usualKeys(id, system);
  const own = isChoosable(id) ? chosenKeys()[id] : undefined;
  return own === undefined ? usual : [own, ...usual.filter((key) => !key.startsWith("Mod+"))];
}

/** The first key of a shortcut, for tooltips and menus. */
export function keyOf(id: ShortcutId, system: Platform = platform): string {
  return writtenKeys(id, system)[0] ?? "";
}

/** The keys of a shortcut as `aria-keyshortcuts` wants them. */
export function ariaKeys(id: ShortcutId, system: Platform = platform): string {
  const mod = system === "mac" ? "Meta" : "Control";
  return keysOf(id, system)
    .map((key) => key.replaceAll("Mod", mod))
    .join(" ");
}

/**
 * The shortcuts the window answers wherever the focus is, whose keys the person may choose; all others belong to the
 * part that has the focus.
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

/** Those that go through the places one was at, whose keys are the system's. */
const steps = ["back", "forward"] as const satisfies readonly ShortcutId[];

/** Whether the person may choose the keys of a shortcut. */
export function isChoosable(id: ShortcutId): id is WindowShortcut {
  return choosable.some((known) => known === id);
}

/** What every field of text answers itself, what closes or quits, and what the zoom has: as the core has it. */
const TAKEN = ["Z", "Y", "A", "X", "C", "V", "Q", "W", "Shift+Z", "Shift+V", "+", "=", "-", "_"];

/** What came of keys that were pressed to be chosen. */
export type KeyChoice =
  | { readonly type: "keys"; readonly keys: string }
  /** Another shortcut has them. */
  | { readonly type: "used"; readonly by: ShortcutId }
  /** Fields of text, the system, or sessions by their number need them. */
  | { readonly type: "taken"; readonly keys: string }
  /** No keys that could be chosen: without Mod, or not pressed to their end. */
  | { readonly type: "none" };

/** Reads keys that are pressed to be chosen for a shortcut. */
export function readChoice(id: WindowShortcut, event: KeyboardEvent): KeyChoice {
  const keys = modKeys(event);
  if (keys === null) return { type: "none" };
  const rest = keys.slice("Mod+".length);
  if (TAKEN.includes(rest) || /^[0-9]$/.test(rest)) return { type: "taken", keys };
  const by = [...choosable, ...steps].find((known) => known !== id && keysOf(known).includes(keys));
  return by === undefined ? { type: "keys", keys } : { type: "used", by };
}

/** What to keep when a shortcut gets keys; its usual ones are no choice. */
export function withChoice(id: WindowShortcut, keys: string | null, chosen: ChosenKeys = chosenKeys()): ChosenKeys {
  const others = Object.entries(chosen).filter(([known]) => known !== id);
  const own = keys === null || usualKeys(id).includes(keys) ? [] : [[id, keys] as const];
  return Object.fromEntries([...others, ...own]);
}

/** What was pressed: a shortcut, and for sessions by number which one, from 0. */
export interface Pressed {
  readonly id: WindowShortcut | (typeof steps)[number] | "nth";
  readonly nth: number;
}

/** Where the brackets are: many keyboards have a letter of their own there. */
const BRACKETS: Partial<Record<string, string>> = { BracketLeft: "[", BracketRight: "]" };

/** The key by its letter; with a keyboard that writes no Latin letters, by its place. */
function letter({ key, code }: Pick<KeyboardEvent, "key" | "code">): string {
  const known = /^[\x21-\x7e]$/.test(key) ? key : (/^Key([A-Z])$/.exec(code)?.[1] ?? BRACKETS[code] ?? key);
  return known.toUpperCase();
}

/** A letter or a sign with Mod, as shortcuts are written; null for everything else. */
function modKeys(event: KeyboardEvent): string | null {
  if (event.altKey || !commandKey(event)) return null;
  const key = letter(event);
  if (!/^[\x21-\x7e]$/.test(key)) return null;
  // Signs may need Shift to be written at all; with letters it means something else.
  const shifted = event.shiftKey && /^[A-Z]$/.test(key);
  return `Mod+${shifted ? "Shift+" : ""}${key}`;
}

/** An arrow with Alt alone, as shortcuts are written; null for everything else. */
function altArrow({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string | null {
  if (!altKey || ctrlKey || metaKey || shiftKey) return null;
  return key === "ArrowLeft" ? "Alt+Left" : key === "ArrowRight" ? "Alt+Right" : null;
}

/** Which shortcut of the window a key is; null when it is none. Whether text is being typed is for the caller to say. */
export function pressed(event: KeyboardEvent, typing: "typing" | "not_typing"): Pressed | null {
  const key = letter(event);
  const wanted = altArrow(event) ?? modKeys(event);
  if (event.altKey && wanted === null) return null;
  if (wanted === null) {
    const plain = typing === "not_typing" && !event.ctrlKey && !event.metaKey;
    return plain && key === "?" ? { id: "overview", nth: 0 } : null;
  }
  if (/^[1-9]$/.test(key)) return { id: "nth", nth: Number(key) - 1 };
  const id = [...choosable, ...steps].find((known) => keysOf(known).includes(wanted));
  return id === undefined ? null : { id, nth: 0 };
}
