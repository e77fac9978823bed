/** An update that was found but not installed. */
import { asApiError, host } from "$lib/ipc";
import type { UpdateDownload, UpdateOffer } from "$lib/ipc/types";
import { explain, t } from "$lib/words/words.svelte";
import { windowVisibility } from "./window-visibility.svelte";
import { navigation } from "./navigation.svelte";
import { toasts } from "./toasts.svelte";

/** How often to poll the download's progress, in milliseconds. */
const GLANCE = 500;

class Updates {
  offer = $state.raw<UpdateOffer | null>(null);
  installing = $state(false);
  /** Set while checking for the newest version: the one found before must not be installed then. */
  checking = $state(false);
  /** The download's progress; null before it started and after it finished. */
  download = $state.raw<UpdateDownload | null>(null);

  /**
   * Records an update found by a background check: shows it once the window is visible, with its changes on request.
   */
  announce(offer: UpdateOffer): void {
    this.offer = offer;
    windowVisibility.whenVisible(() => {
      // Another offer was found in the meantime, or the person checked for updates.
      if (this.offer !== offer) return;
      toasts.show(t("updates.offer", { version: offer.version }), {
        label: t("updates.show"),
        run: () => navigation.settings("about"),
      });
    });
  }

  /** Checks for the newest version now and returns the result. */
  async check(): Promise<"found" | "newest" | "failed"> {
    this.checking = true;
    try {
      const reply = await host({ type: "look_for_update" });
      this.offer = reply.type === "update" ? reply.offer : null;
      return this.offer === null ? "newest" : "found";
    } catch (error) {
      toasts.fail(error);
      return "failed";
    } finally {
      this.checking = false;
    }
  }

  /** Installs the update. On success this page ends. */
  async install(version: string): Promise<void> {
    if (this.installing || this.checking) return;
    this.installing = true;
    const watch = setInterval(() => void this.#look(), GLANCE);
    try {
      await host({ type: "install_update", version });
    } catch (error) {
      this.installing = false;
      // A download the person cancelled is not a failure.
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
