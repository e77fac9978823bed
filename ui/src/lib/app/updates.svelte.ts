/** The update that was found and not installed. */
import { asApiError, host } from "$lib/ipc";
import type { UpdateDownload, UpdateOffer } from "$lib/ipc/types";
import { explain, t } from "$lib/words/words.svelte";
import { attention } from "./attention.svelte";
import { navigation } from "./navigation.svelte";
import { toasts } from "./toasts.svelte";

/** How often it is asked how far a download is, in milliseconds. */
const GLANCE = 500;

class Updates {
  offer = $state.raw<UpdateOffer | null>(null);
  installing = $state(false);
  /** While the newest is asked for: the one that was found before is not to be installed in its place. */
  looking = $state(false);
  /** How far the one that is installed has come; null before anything came, and once all did. */
  download = $state.raw<UpdateDownload | null>(null);

  /** Octo found one by itself: the person is told once they can see it, and sees what changed when they want to. */
  found(offer: UpdateOffer): void {
    this.offer = offer;
    attention.once(() => {
      // Meanwhile another one was found, or the person looked for themselves.
      if (this.offer !== offer) return;
      toasts.show(t("updates.offer", { version: offer.version }), {
        label: t("updates.show"),
        run: () => navigation.settings("about"),
      });
    });
  }

  /** Asks for the newest one now, and says what came of it. */
  async look(): Promise<"found" | "newest" | "failed"> {
    this.looking = true;
    try {
      const reply = await host({ type: "look_for_update" });
      this.offer = reply.type === "update" ? reply.offer : null;
      return this.offer === null ? "newest" : "found";
    } catch (error) {
      toasts.fail(error);
      return "failed";
    } finally {
      this.looking = false;
    }
  }

  /** Installs the one that was found. Where that succeeds this page ends. */
  async install(version: string): Promise<void> {
    if (this.installing || this.looking) return;
    this.installing = true;
    const watch = setInterval(() => void this.#look(), GLANCE);
    try {
      await host({ type: "install_update", version });
    } catch (error) {
      this.installing = false;
      // What the person stopped is no failure.
      if (asApiError(error).key === "updates.given_up") toasts.show(explain(asApiError(error)));
      else toasts.fail(error);
    } finally {
      clearInterval(watch);
      this.download = null;
    }
  }

  async stop(): Promise<void> {
    try {
      await host({ type: "cancel_update" });
    } catch (error) {
      toasts.fail(error);
    }
  }

  async #look(): Promise<void> {
    const reply = await host({ type: "get_update_download" }).catch(() => null);
    if (this.installing && reply?.type === "update_download") this.download = reply.download;
  }
}

export const updates = new Updates();
