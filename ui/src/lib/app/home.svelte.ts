/** Octo's home: its size, its backup and its deletion. */
import { call, host } from "$lib/ipc";
import type { Diagnostics, HomeBackup, HomeDeletion, HomeSizes } from "$lib/ipc/types";
import { RequestGuard } from "./request-guard.svelte";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** Opens a folder picker; returns null if it was cancelled. */
export async function pick(): Promise<string | null> {
  const reply = await host({ type: "pick_folder", start: preferences.userHome || null });
  return reply.type === "folder" ? reply.path : null;
}

/** Shows a path in the system's file browser. */
export function reveal(path: string): void {
  void host({ type: "reveal", path }).catch((error: unknown) => toasts.fail(error));
}

export class HomeData extends RequestGuard<"measuring" | "copying" | "erasing"> {
  sizes = $state.raw<HomeSizes | null>(null);
  backup = $state.raw<HomeBackup | null>(null);
  erased = $state.raw<HomeDeletion | null>(null);

  /** Measures the home. */
  measure(): Promise<void> {
    return this.while("measuring", async () => {
      this.sizes = await call("home", "measure_home", {});
    });
  }

  /** Backs it up into a folder the person picks. */
  backUp(): Promise<void> {
    return this.while("copying", async () => {
      const to = await pick();
      if (to === null) return;
      this.backup = null;
      this.backup = await call("home", "back_up_home", { to });
    });
  }

  /** Stops Octo and deletes everything. No request is answered afterwards. */
  erase(): Promise<void> {
    return this.while("erasing", async () => {
      this.erased = await call("home", "erase_home", { confirm: preferences.home });
    });
  }
}

/** A diagnostic report: created, previewed, saved. */
export class Report extends RequestGuard<"making" | "saving"> {
  made = $state.raw<Diagnostics | null>(null);
  /** The path it was saved to. */
  saved = $state<string | null>(null);

  make(): Promise<void> {
    return this.while("making", async () => {
      this.saved = null;
      this.made = await call("home", "make_diagnostics", {});
    });
  }

  /** Saves the report on screen into a folder the person picks. */
  save(): Promise<void> {
    return this.while("saving", async () => {
      const { made: report } = this;
      const to = report && (await pick());
      if (!report || to === null) return;
      this.saved = (await call("home", "save_diagnostics", { id: report.id, to })).path;
    });
  }
}
