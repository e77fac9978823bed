/** Links are opened in the person's browser, after they have seen where they lead. */
import { host } from "$lib/ipc";
import { toasts } from "./toasts.svelte";

class Links {
  /** The link that was clicked, while the person decides. */
  asked = $state.raw<{ url: string; at: DOMRect } | null>(null);

  ask(url: string, from: Element): void {
    if (/^https?:/i.test(url)) this.asked = { url, at: from.getBoundingClientRect() };
  }

  open(): void {
    const url = this.asked?.url;
    this.asked = null;
    if (url) void host({ type: "open_url", url }).catch((error: unknown) => toasts.fail(error));
  }
}

/** The window's links. */
export const navigationLinks = new Links();
