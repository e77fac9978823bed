/** Rules of the message field. Pure. */
import type { CommandInfo } from "$lib/ipc/types";
import { nearness } from "./fuzzy";

/** A full-width slash or enumeration comma at the start is what a Chinese keyboard makes of `/`. */
export function normalised(text: string): string {
  return /^[／、]/.test(text) ? `/${text.slice(1)}` : text;
}

/**
 * The commands that fit what is typed, the nearest first; null when the text is not (or no longer) the name of one.
 * Of equally near ones Octo's own, which have no words of their own, come before skills.
 */
export function commandsFor(text: string, commands: readonly CommandInfo[]): readonly CommandInfo[] | null {
  const typed = /^\/([\p{L}\p{N}_:.-]*)$/u.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return null;
  const own = (command: CommandInfo): number => (command.description === null ? 0 : 1);
  return commands
    .flatMap((command) => {
      const near = nearness(typed, command.name.toLowerCase());
      return near === null ? [] : [{ command, near }];
    })
    .toSorted((a, b) => b.near - a.near || own(a.command) - own(b.command))
    .map(({ command }) => command);
}

/** The command that is written out and still has no argument; null when none is, or it takes none. */
export function wantingArgument(text: string, commands: readonly CommandInfo[]): CommandInfo | null {
  const name = /^\/(\S+) $/.exec(text)?.[1];
  const command = commands.find((known) => known.name === name);
  return command === undefined || command.argument === "" ? null : command;
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
