/** Toasts: short messages at the edge of the window, some with an undo. */
import { asApiError } from "$lib/ipc";
import { explain } from "$lib/words/words.svelte";

/** A toast. */
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly failure: boolean;
  readonly action?: { readonly label: string; run(): void };
}

/**
 * How long a toast stays, in milliseconds; failures stay until closed. The time restarts once the pointer and the focus
 * have left, so that no toast vanishes while being read or reached for.
 */
const STAY = 8000;
/**
 * The number of toasts above which plain ones are dropped. Failures and undos are never dropped: they would go unread.
 */
const ROOM = 3;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #next = 1;
  #paused = false;
  readonly #ends = new Map<number, ReturnType<typeof setTimeout>>();

  /** Shows a toast. */
  show(text: string, action?: Toast["action"]): void {
    const toast: Toast = { id: this.#next++, text, failure: false, ...(action ? { action } : {}) };
    this.#add(toast);
    this.#wait(toast);
  }

  /** Pauses or resumes the timers while the pointer or the focus is among the toasts. */
  hold(paused: boolean): void {
    if (paused === this.#paused) return;
    this.#paused = paused;
    this.list.forEach((toast) => this.#wait(toast));
  }

  #wait({ id, failure }: Toast): void {
    clearTimeout(this.#ends.get(id));
    if (!failure && !this.#paused)
      this.#ends.set(
        id,
        setTimeout(() => this.close(id), STAY),
      );
  }

  /** Shows an error. */
  fail(thrown: unknown): void {
    const text = explain(asApiError(thrown));
    if (this.list.some((toast) => toast.failure && toast.text === text)) return;
    this.#add({ id: this.#next++, text, failure: true });
  }

  #add(toast: Toast): void {
    let more = this.#paused ? 0 : this.list.length + 1 - ROOM;
    const remaining = this.list.filter((toast) => toast.failure || toast.action !== undefined || more-- <= 0);
    this.list = [...remaining, toast];
  }

  /** Closes a toast. */
  close(id: number): void {
    clearTimeout(this.#ends.get(id));
    this.#ends.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

/** This window's toasts. */
export const toasts = new Toasts();
