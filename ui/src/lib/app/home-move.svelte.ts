/** The location of Octo's home: a copy to restore, a new folder for it, and old folders. */
import { call, host } from "$lib/ipc";
import type { CopyInspection, HomeState } from "$lib/ipc/types";
import { RequestGuard } from "./request-guard.svelte";
import { pick } from "./home.svelte";
import { toasts } from "./toasts.svelte";

export class HomeMove extends RequestGuard<"loading" | "picking" | "inspecting" | "copying" | "changing"> {
  state = $state.raw<HomeState | null>(null);
  /** The copy being previewed. */
  copy = $state.raw<CopyInspection | null>(null);
  /** The folder the home would move to, while the person confirms. */
  target = $state<string | null>(null);
  /** The remaining content of a folder that was deleted. */
  left = $state.raw<{ path: string; names: readonly string[] } | null>(null);

  load(): Promise<void> {
    return this.while("loading", async () => {
      this.state = await call("home", "get_residence", {});
    });
  }

  /** Lets the person pick a copy and previews it. */
  choose(): Promise<void> {
    return this.while("picking", async () => {
      const from = await pick();
      if (from === null) return;
      this.busy = "inspecting";
      this.copy = await call("home", "look_at_copy", { from });
    });
  }

  /** Plans to replace the home with the previewed copy at the next start. */
  restore(): Promise<void> {
    return this.while("copying", async () => {
      if (!this.copy) return;
      this.state = await call("home", "restore_home", { from: this.copy.path });
      this.copy = null;
    });
  }

  /** Lets the person pick the home's new folder. */
  pickTarget(): Promise<void> {
    return this.while("picking", async () => {
      this.target = await pick();
    });
  }

  move(): Promise<void> {
    return this.while("changing", async () => {
      const to = this.target;
      if (to === null) return;
      this.target = null;
      this.state = await call("home", "move_home", { to });
    });
  }

  cancel(): Promise<void> {
    return this.while("changing", async () => {
      this.state = await call("home", "cancel_home_plan", {});
    });
  }

  drop(path: string): Promise<void> {
    return this.while("changing", async () => {
      const { left: remainingFiles, state } = await call("home", "drop_kept_home", { path });
      this.left = remainingFiles.length > 0 ? { path, names: remainingFiles } : null;
      this.state = state;
    });
  }
}

/** Restarts Octo. */
export function restart(): void {
  void host({ type: "restart" }).catch((error: unknown) => toasts.fail(error));
}
