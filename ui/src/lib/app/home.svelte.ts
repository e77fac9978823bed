/** Octo's own folder: what it takes, a copy of it, and its end. */
import { call, host } from "$lib/ipc";
import type { Diagnostics, HomeBackup, HomeErased, HomeSizes } from "$lib/ipc/types";
import { Doing } from "./doing.svelte";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** Lets the person pick a folder; null when they did not. */
export async function pick(): Promise<string | null> {
  const reply = await host({ type: "pick_folder", start: preferences.userHome || null });
  return reply.type === "folder" ? reply.path : null;
}

/** Shows something in the system's file browser. */
export function reveal(path: string): void {
  void host({ type: "reveal", path }).catch((error: unknown) => toasts.fail(error));
}

export class HomeData extends Doing<"measuring" | "copying" | "erasing"> {
  sizes = $state.raw<HomeSizes | null>(null);
  backup = $state.raw<HomeBackup | null>(null);
  erased = $state.raw<HomeErased | null>(null);

  /** Measures it. */
  measure(): Promise<void> {
    return this.while("measuring", async () => {
      this.sizes = await call("home", "measure_home", {});
    });
  }

  /** Copies it into a folder the person picks. */
  backUp(): Promise<void> {
    return this.while("copying", async () => {
      const to = await pick();
      if (to === null) return;
      this.backup = null;
      this.backup = await call("home", "back_up_home", { to });
    });
  }

  /** Ends and deletes everything. Nothing answers afterwards. */
  erase(): Promise<void> {
    return this.while("erasing", async () => {
      this.erased = await call("home", "erase_home", { confirm: preferences.home });
    });
  }
}

/** A report of the state: made, looked at, written. */
export class Report extends Doing<"making" | "saving"> {
  made = $state.raw<Diagnostics | null>(null);
  /** Where it was written. */
  saved = $state<string | null>(null);

  make(): Promise<void> {
    return this.while("making", async () => {
      this.saved = null;
      this.made = await call("home", "make_diagnostics", {});
    });
  }

  /** Writes what is shown into a folder the person picks. */
  save(): Promise<void> {
    return this.while("saving", async () => {
      const { made } = this;
      const to = made && (await pick());
      if (!made || to === null) return;
      this.saved = (await call("home", "save_diagnostics", { id: made.id, to })).path;
    });
  }
}
