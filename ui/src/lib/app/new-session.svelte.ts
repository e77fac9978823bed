/** The choices for a session not started yet, next to its draft: kept as long as the window lives. */
import type { Effort, Mode, Profile } from "$lib/ipc/types";

/** Null means the setting's default. */
class NewSessionOptions {
  title = $state("");
  folder = $state<string | null>(null);
  profile = $state<Profile | null>(null);
  mode = $state<Mode | null>(null);
  model = $state<string | null>(null);
  effort = $state<Effort | null>(null);

  /** Clears the choices after the session has started. */
  clear(): void {
    this.title = "";
    this.folder = this.profile = this.mode = this.model = this.effort = null;
  }
}

/** The choices for this window's next session. */
export const newSession = new NewSessionOptions();
