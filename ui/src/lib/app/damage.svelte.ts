/** A damaged database: Octo did not start, and what can take its place. */
import { call } from "$lib/ipc";
import type { DatabaseBackup } from "$lib/ipc/types";
import { Doing } from "./doing.svelte";

export class Damage extends Doing<"looking" | "replacing"> {
  /** Whether it is known yet what there is. */
  looked = $state(false);
  /** The newest backup that can be used. */
  backup = $state.raw<DatabaseBackup | null>(null);

  look(): Promise<void> {
    return this.while("looking", async () => {
      this.backup = (await call("home", "look_at_damage", {})).backup;
      this.looked = true;
    });
  }

  /** Sets the damaged database aside for the backup, or for an empty one; where it is then, null where that failed. */
  async replace(): Promise<string | null> {
    let aside: string | null = null;
    await this.while("replacing", async () => {
      aside = (await call("home", "replace_database", { backup: this.backup?.path ?? null })).aside;
    });
    // What was looked at may be gone.
    if (aside === null) await this.#lookAgain();
    return aside;
  }

  async #lookAgain(): Promise<void> {
    const { problem } = this;
    await this.look();
    this.problem ??= problem;
  }
}
