/** Whether Octo is attached to the person's browser, kept current. */
import { call } from "$lib/ipc";
import type { ApiError, BrowserState } from "$lib/ipc/types";
import { apply } from "$lib/state/browser";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class BrowserLink {
  /** How it is; null before that was told. */
  state = $state.raw<BrowserState | null>(null);
  /** Why that cannot be told. */
  problem = $state.raw<ApiError | null>(null);
  #following: Following<BrowserState> | undefined;

  /** (Re)begins to follow it. */
  begin(): void {
    this.#following?.stop();
    this.problem = null;
    this.#following = follow<BrowserState>({ type: "browser" }, apply, {
      state: (state) => {
        this.state = state;
        this.problem = null;
      },
      ended: () => undefined,
      fault: (error) => {
        this.problem = error;
        return "again";
      },
    });
  }

  /** The name of the browser Octo is attached to. */
  get name(): string | null {
    return this.state?.type === "attached" ? this.state.browser : null;
  }

  /** Attaches; how that goes is told by [`state`]. */
  async attach(): Promise<void> {
    await call("browser", "attach_browser", {}).catch((error: unknown) => toasts.fail(error));
  }

  /** Gives up waiting for the person's Allow, or ends the connection. */
  async detach(): Promise<void> {
    await call("browser", "detach_browser", {}).catch((error: unknown) => toasts.fail(error));
  }
}

/** The window's knowledge of the browser. */
export const browser = new BrowserLink();
