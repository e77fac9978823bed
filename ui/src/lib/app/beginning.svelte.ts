/** What was chosen for the session that is not started yet, beside its draft: it stays as long as the window lives. */
import type { Effort, Mode, Profile } from "$lib/ipc/types";

/** Null where nothing was chosen: what the settings say is meant. */
class Beginning {
  title = $state("");
  folder = $state<string | null>(null);
  profile = $state<Profile | null>(null);
  mode = $state<Mode | null>(null);
  model = $state<string | null>(null);
  effort = $state<Effort | null>(null);

  /** The session was started: the next one begins anew. */
  clear(): void {
    this.title = "";
    this.folder = this.profile = this.mode = this.model = this.effort = null;
  }
}

/** What this window's next session begins with. */
export const beginning = new Beginning();
