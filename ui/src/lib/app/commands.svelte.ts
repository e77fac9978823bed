/** The slash commands of a folder: Octo's own, and its skills. */
import { call } from "$lib/ipc";
import type { CommandInfo } from "$lib/ipc/types";
import { toasts } from "./toasts.svelte";

/** Those that were read last, so that the menu of a new composer is not empty for its first moment. */
let known: readonly CommandInfo[] = [];

/** Reads those that need no folder, once at the start. */
export function prepareCommands(): void {
  void new SlashCommands().read("");
}

/** What the menu of one composer offers. */
export class SlashCommands {
  list = $state.raw<readonly CommandInfo[]>(known);
  #asked = 0;

  /** Reads those of a folder. Until they are there, those that were read before are offered. */
  async read(folder: string): Promise<void> {
    const turn = ++this.#asked;
    const wanted = folder.trim() === "" ? null : folder.trim();
    try {
      const { commands } = await call("app", "list_commands", { folder: wanted });
      if (turn === this.#asked) known = this.list = commands;
    } catch (error) {
      if (turn === this.#asked) toasts.fail(error);
    }
  }
}
