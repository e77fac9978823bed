/** Whether Octo is attached to the person's browser, kept current. */
import { call } from "$lib/ipc";
import type { ApiError, BrowserState } from "$lib/ipc/types";
import { apply } from "$lib/state/browser";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class BrowserLink {
  /** The state; null until received. */
  state = $state.raw<BrowserState | null>(null);
  /** Why the state is unavailable. */
  problem = $state.raw<ApiError | null>(null);
  #following: Following<BrowserState> | undefined;

  /** (Re)subscribes. */
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

  /** Attaches; [`state`] reports the progress. */
  async attach(): Promise<void> {
    await call("browser", "attach_browser", {}).catch((error: unknown) => toasts.fail(error));
  }

  /** Cancels the wait for Allow, or ends the connection. */
  async detach(): Promise<void> {
    await call("browser", "detach_browser", {}).catch((error: unknown) => toasts.fail(error));
  }
}

/** This window's browser state. */
export const browser = new BrowserLink();
