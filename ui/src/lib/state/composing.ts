/** Rules of the message field. Pure. */
import type { CommandInfo } from "$lib/ipc/types";

/** A full-width slash or enumeration comma at the start is what a Chinese keyboard makes of `/`. */
export function normalised(text: string): string {
  return /^[／、]/.test(text) ? `/${text.slice(1)}` : text;
}

/** The commands that fit what is typed; null when the text is not (or no longer) the name of one. */
export function commandsFor(text: string, commands: readonly CommandInfo[]): readonly CommandInfo[] | null {
  const typed = /^\/([\w-]*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return null;
  // The one that is written out comes first, though another may begin with it.
  const fit = (name: string): number =>
    name === typed ? 0 : name.startsWith(typed) ? 1 : name.includes(typed) ? 2 : 3;
  return commands.filter(({ name }) => fit(name) < 3).toSorted((a, b) => fit(a.name) - fit(b.name));
}

/** Whether a key event belongs to an input method that is composing. Code 229 is what some send without the flag. */
export function composing(event: { isComposing: boolean; keyCode: number }): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Goes through earlier messages: `at` counts back from the newest, 0 being what is typed now. */
export function recall(history: readonly string[], at: number, step: 1 | -1): { at: number; text: string | null } {
  const next = Math.min(Math.max(at + step, 0), history.length);
  return { at: next, text: next === 0 ? "" : (history.at(-next) ?? null) };
}
