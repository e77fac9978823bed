/** Rules of the message field. Pure. */
import type { CommandInfo } from "$lib/ipc/types";
import { nearness } from "./fuzzy";

/** Normalises a full-width slash or enumeration comma at the start, which a Chinese keyboard produces for `/`. */
export function normalised(text: string): string {
  return /^[／、]/.test(text) ? `/${text.slice(1)}` : text;
}

/**
 * Returns the commands that match the text, best first; null if the text is not (or no longer) a command name. Among
 * equal matches Octo's own commands, which have no description, come before skills.
 */
export function commandsFor(text: string, commands: readonly CommandInfo[]): readonly CommandInfo[] | null {
  const prefix = /^\/([\p{L}\p{N}_:.-]*)$/u.exec(text)?.[1]?.toLowerCase();
  if (prefix === undefined) return null;
  const skillRank = (command: CommandInfo): number => (command.description === null ? 0 : 1);
  return commands
    .flatMap((command) => {
      const score = nearness(prefix, command.name.toLowerCase());
      return score === null ? [] : [{ command, near: score }];
    })
    .toSorted((a, b) => b.near - a.near || skillRank(a.command) - skillRank(b.command))
    .map(({ command }) => command);
}

/** Returns the fully typed command that still lacks its argument; null if there is none, or it takes none. */
export function commandWithoutArgument(text: string, commands: readonly CommandInfo[]): CommandInfo | null {
  const name = /^\/(\S+) $/.exec(text)?.[1];
  const command = commands.find((command) => command.name === name);
  return command === undefined || command.argument === "" ? null : command;
}

/** Returns whether a key event belongs to an IME composition. Some input methods send code 229 without the flag. */
export function composing(event: { isComposing: boolean; keyCode: number }): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Steps through earlier messages: `at` counts back from the newest, 0 being the current text. */
export function recall(history: readonly string[], index: number, step: 1 | -1): { at: number; text: string | null } {
  const next = Math.min(Math.max(index + step, 0), history.length);
  return { at: next, text: next === 0 ? "" : (history.at(-next) ?? null) };
}
