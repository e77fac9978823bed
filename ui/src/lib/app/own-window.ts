/** Which of Octo's windows this page is in, and what the window was opened for. */
import { host } from "$lib/ipc";
import { toasts } from "./toasts.svelte";

/** What a window was opened for, as the shell writes it into the page's address. */
export interface OwnWindow {
  /** 0 for the one Octo opens with: it carries out what comes from outside and remembers where it was. */
  readonly number: number;
  /** The session it was opened to show; null for the first. */
  readonly session: string | null;
}

/** Reads it from the part of an address behind its question mark. */
export function readWindow(search: string): OwnWindow {
  const query = new URLSearchParams(search);
  const number = Number(query.get("window") ?? 0);
  return Number.isSafeInteger(number) && number > 0
    ? { number, session: query.get("session") }
    : { number: 0, session: null };
}

/** This window. */
export const ownWindow = readWindow(location.search);

/** Shows a session in a window of its own. */
export function openWindow(session: string): void {
  host({ type: "open_window", session }).catch((error: unknown) => toasts.fail(error));
}
