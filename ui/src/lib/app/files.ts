/** Files named in a session. */
import { host } from "$lib/ipc";
import type { Conversation } from "./conversation.svelte";
import { toasts } from "./toasts.svelte";

/** Shows a file in the system's file browser, without opening it. The path may be relative to the session's folder. */
export function showFile(session: Conversation, path: string): void {
  const folder = session.state?.info.folder ?? "";
  void host({ type: "reveal_file", path, folder }).catch((error: unknown) => toasts.fail(error));
}
