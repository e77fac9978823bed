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

/**
 * How long a remark stays, in milliseconds; failures stay until they are closed. It begins anew once the pointer and
 * the focus have left: nobody is to read or reach for something that goes.
 */
const STAY = 8000;
/** How many there are before mere remarks make room. Failures and ways back never do: they would go unread. */
const ROOM = 3;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #next = 1;
  #held = false;
  readonly #ends = new Map<number, ReturnType<typeof setTimeout>>();

  /** Shows a remark. */
  show(text: string, action?: Toast["action"]): void {
    const toast: Toast = { id: this.#next++, text, failure: false, ...(action ? { action } : {}) };
    this.#add(toast);
    this.#wait(toast);
  }

  /** The pointer or the focus is among the remarks, or has left them: meanwhile none goes by itself. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.list.forEach((toast) => this.#wait(toast));
  }

  #wait({ id, failure }: Toast): void {
    clearTimeout(this.#ends.get(id));
    if (!failure && !this.#held)
      this.#ends.set(
        id,
        setTimeout(() => this.close(id), STAY),
      );
  }

  /** Shows what went wrong. */
  fail(thrown: unknown): void {
    const text = explain(asApiError(thrown));
    if (this.list.some((toast) => toast.failure && toast.text === text)) return;
    this.#add({ id: this.#next++, text, failure: true });
  }

  #add(toast: Toast): void {
    let more = this.#held ? 0 : this.list.length + 1 - ROOM;
    const kept = this.list.filter((known) => known.failure || known.action !== undefined || more-- <= 0);
    this.list = [...kept, toast];
  }

  /** Takes a remark away. */
  close(id: number): void {
    clearTimeout(this.#ends.get(id));
    this.#ends.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

/** The window's remarks. */
export const toasts = new Toasts();
