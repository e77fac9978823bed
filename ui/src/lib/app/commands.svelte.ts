/** A folder's slash commands: Octo's own, and its skills. */
import { call } from "$lib/ipc";
import type { CommandInfo } from "$lib/ipc/types";
import { toasts } from "./toasts.svelte";

/** The commands read last, so that a new composer's menu is not empty at first. */
let catalogue: readonly CommandInfo[] = [];

/** Loads the commands that need no folder, once at start. */
export function prepareCommands(): void {
  void new SlashCommands().read("");
}

/** The menu entries of one composer. */
export class SlashCommands {
  list = $state.raw<readonly CommandInfo[]>(catalogue);
  #requests = 0;

  /** Loads a folder's commands. Until they arrive, the previous ones are offered. */
  async read(folder: string): Promise<void> {
    const turn = ++this.#requests;
    const folderPath = folder.trim() === "" ? null : folder.trim();
    try {
      const { commands } = await call("app", "list_commands", { folder: folderPath });
      if (turn === this.#requests) catalogue = this.list = commands;
    } catch (error) {
      if (turn === this.#requests) toasts.fail(error);
    }
  }
}
