/** The update that was found and not installed. */
import type { UpdateOffer } from "$lib/ipc/types";
import { t } from "$lib/words/words.svelte";
import { attention } from "./attention.svelte";
import { navigation } from "./navigation.svelte";
import { toasts } from "./toasts.svelte";

class Updates {
  offer = $state.raw<UpdateOffer | null>(null);

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
}

export const updates = new Updates();
