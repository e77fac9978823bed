/** A damaged database: Octo did not start, and its possible replacements. */
import { call } from "$lib/ipc";
import type { DatabaseBackup } from "$lib/ipc/types";
import { RequestGuard } from "./request-guard.svelte";

export class Damage extends RequestGuard<"looking" | "replacing"> {
  /** Whether the replacements are known. */
  looked = $state(false);
  /** The newest usable backup. */
  backup = $state.raw<DatabaseBackup | null>(null);

  look(): Promise<void> {
    return this.while("looking", async () => {
      this.backup = (await call("home", "look_at_damage", {})).backup;
      this.looked = true;
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
    if (movedTo === null) await this.#lookAgain();
    return movedTo;
  }

  async #lookAgain(): Promise<void> {
    const { problem } = this;
    await this.look();
    this.problem ??= problem;
  }
}
