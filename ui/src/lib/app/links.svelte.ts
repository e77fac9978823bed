/** Links open in the person's browser after they have seen the target. */
import { host } from "$lib/ipc";
import { toasts } from "./toasts.svelte";

class Links {
  /** The clicked link, while the person decides. */
  pending = $state.raw<{ url: string; at: DOMRect } | null>(null);

  ask(url: string, from: Element): void {
    if (/^https?:/i.test(url)) this.pending = { url, at: from.getBoundingClientRect() };
  }

  open(): void {
    const url = this.pending?.url;
    this.pending = null;
    if (url) void host({ type: "open_url", url }).catch((error: unknown) => toasts.fail(error));
  }
}

/** This window's links. */
export const navigationLinks = new Links();
