/** Slash commands as text: Octo's own from the catalogue, skills in their own words. */
import type { CommandInfo } from "$lib/ipc/types";
import { language, lookUp } from "$lib/words/words.svelte";

/** Describes a command. */
export function commandWords(command: CommandInfo): string {
  const translated = (language() === "zh" ? command.description_zh : null) ?? command.description;
  return translated ?? lookUp(`command.${command.name}`) ?? "";
}

/** Describes its argument; empty if it takes none. */
export function argumentWords(command: CommandInfo): string {
  if (command.description === null) return lookUp(`command.${command.name}.argument`) ?? command.argument;
  return (language() === "zh" ? command.argument_zh : null) ?? command.argument;
}
