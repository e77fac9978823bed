/** The slash commands of a folder: Octo's own, and its skills. */
import { call } from "$lib/ipc";
import type { CommandInfo } from "$lib/ipc/types";
import { toasts } from "./toasts.svelte";

/** What the menu of one composer offers. */
export class SlashCommands {
  list = $state.raw<readonly CommandInfo[]>([]);
  #asked = 0;

  /** Reads those of a folder. Until they are there, those that were read before are offered. */
  async read(folder: string): Promise<void> {
    const turn = ++this.#asked;
    const wanted = folder.trim() === "" ? null : folder.trim();
    try {
      const { commands } = await call("app", "list_commands", { folder: wanted });
      if (turn === this.#asked) this.list = commands;
    } catch (error) {
      if (turn === this.#asked) toasts.fail(error);
    }
  }
}
