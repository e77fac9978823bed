/** The window's open dialogs, and requests to open parts of the window. */
import { host } from "$lib/ipc";
import type { SessionInfo } from "$lib/ipc/types";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

class Dialogs {
  /** The session to export. */
  exporting = $state.raw<SessionInfo | null>(null);
  /** The session on screen whose title is being edited. */
  renaming = $state<string | null>(null);
  /** The file to import a session from. */
  importing = $state<string | null>(null);

  /** Lets the person pick a session file and previews it. */
  async import(): Promise<void> {
    try {
      const reply = await host({ type: "pick_files", start: preferences.userHome || null });
      this.importing = reply.type === "files" ? (reply.paths[0] ?? null) : null;
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** This window's dialogs. */
export const dialogs = new Dialogs();
