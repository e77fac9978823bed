/** Which of Octo's windows this page is in, and the window's purpose. */
import { host } from "$lib/ipc";
import { toasts } from "./toasts.svelte";

/** The window's purpose, written by the shell into the page's address. */
export interface WindowInfo {
  /** 0 for the window Octo opens with: it handles open requests and remembers its last session. */
  readonly number: number;
  /** The session it was opened for; null for the first window. */
  readonly session: string | null;
}

/** Parses the query string of an address. */
export function readWindow(search: string): WindowInfo {
  const query = new URLSearchParams(search);
  const number = Number(query.get("window") ?? 0);
  return Number.isSafeInteger(number) && number > 0
    ? { number, session: query.get("session") }
    : { number: 0, session: null };
}

/** This window. */
export const thisWindow = readWindow(location.search);

/** Opens a session in its own window. */
export function openWindow(session: string): void {
  host({ type: "open_window", session }).catch((error: unknown) => toasts.fail(error));
}
