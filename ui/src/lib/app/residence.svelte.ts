/** Where Octo's own folder is: a copy that takes its place, another place for it, and what was put aside. */
import { call, host } from "$lib/ipc";
import type { CopyLook, ResidenceState } from "$lib/ipc/types";
import { Doing } from "./doing.svelte";
import { pick } from "./home.svelte";
import { toasts } from "./toasts.svelte";

export class Residence extends Doing<"loading" | "picking" | "looking" | "copying" | "changing"> {
  state = $state.raw<ResidenceState | null>(null);
  /** The copy the person looks at. */
  copy = $state.raw<CopyLook | null>(null);
  /** The folder the home would go into, while the person is asked. */
  target = $state<string | null>(null);
  /** What is still in a folder that was deleted. */
  left = $state.raw<{ path: string; names: readonly string[] } | null>(null);

  load(): Promise<void> {
    return this.while("loading", async () => {
      this.state = await call("home", "get_residence", {});
    });
  }

  /** Lets the person pick a copy, and looks at it. */
  choose(): Promise<void> {
    return this.while("picking", async () => {
      const from = await pick();
      if (from === null) return;
      this.busy = "looking";
      this.copy = await call("home", "look_at_copy", { from });
    });
  }

  /** Lets the copy that is looked at take the home's place at the next start. */
  restore(): Promise<void> {
    return this.while("copying", async () => {
      if (!this.copy) return;
      this.state = await call("home", "restore_home", { from: this.copy.path });
      this.copy = null;
    });
  }

  /** Lets the person pick where the home goes. */
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
      const { left, state } = await call("home", "drop_kept_home", { path });
      this.left = left.length > 0 ? { path, names: left } : null;
      this.state = state;
    });
  }
}

/** Ends Octo and starts it again. */
export function restart(): void {
  void host({ type: "restart" }).catch((error: unknown) => toasts.fail(error));
}
