/** Which of the window's dialogs are open, and what its parts are asked to open. */
import { host } from "$lib/ipc";
import type { SessionInfo } from "$lib/ipc/types";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

class Dialogs {
  /** The session that is to be exported. */
  exporting = $state.raw<SessionInfo | null>(null);
  /** The session on screen whose title is to be written anew. */
  renaming = $state<string | null>(null);
  /** The file a session is to be imported from. */
  importing = $state<string | null>(null);

  /** Lets the person pick the file of a session and shows what is in it. */
  async import(): Promise<void> {
    try {
      const reply = await host({ type: "pick_files", start: preferences.userHome || null });
      this.importing = reply.type === "files" ? (reply.paths[0] ?? null) : null;
    } catch (error) {
      toasts.fail(error);
    }
  }
}

/** The window's dialogs. */
export const dialogs = new Dialogs();
