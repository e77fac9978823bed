/** A damaged database: Octo did not start, and its possible replacements. */
import { call } from "$lib/ipc";
import type { DatabaseBackup } from "$lib/ipc/types";
import { RequestGuard } from "./request-guard.svelte";

export class Damage extends RequestGuard<"loading" | "replacing"> {
  /** Whether the replacements are known. */
  loaded = $state(false);
  /** The newest usable backup. */
  backup = $state.raw<DatabaseBackup | null>(null);

  load(): Promise<void> {
    return this.while("loading", async () => {
      this.backup = (await call("home", "look_at_damage", {})).backup;
      this.loaded = true;
    });
  }

  /**
   * Moves the damaged database away and replaces it with the backup or an empty one; returns its new path, or null on
   * failure.
   */
  async replace(): Promise<string | null> {
    let movedTo: string | null = null;
    await this.while("replacing", async () => {
      movedTo = (await call("home", "replace_database", { backup: this.backup?.path ?? null })).aside;
    });
    // The inspected copy may have been removed.
    if (movedTo === null) await this.#reload();
    return movedTo;
  }

  async #reload(): Promise<void> {
    const { problem } = this;
    await this.load();
    this.problem ??= problem;
  }
}
