/** Short remarks at the edge of the window, some with a way back. */
import { asApiError } from "$lib/ipc";
import { explain } from "$lib/words/words.svelte";

/** A remark. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly failure: boolean;
  readonly action?: { readonly label: string; run(): void };
}

/** How long a remark stays, in milliseconds; failures stay until they are closed. */
const STAY = 8000;
/** How many there are before mere remarks make room. Failures and ways back never do: they would go unread. */
const ROOM = 3;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #next = 1;

  /** Shows a remark. */
  show(text: string, action?: Toast["action"]): void {
    const toast: Toast = { id: this.#next++, text, failure: false, ...(action ? { action } : {}) };
    this.#add(toast);
    setTimeout(() => this.close(toast.id), STAY);
  }

  /** Shows what went wrong. */
  fail(thrown: unknown): void {
    const text = explain(asApiError(thrown));
    if (this.list.some((toast) => toast.failure && toast.text === text)) return;
    this.#add({ id: this.#next++, text, failure: true });
  }

  #add(toast: Toast): void {
    let more = this.list.length + 1 - ROOM;
    const kept = this.list.filter((known) => known.failure || known.action !== undefined || more-- <= 0);
    this.list = [...kept, toast];
  }

  /** Takes a remark away. */
  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

/** The window's remarks. */
export const toasts = new Toasts();
