/** Going on in a new session from a place in another one. */
import type { BranchPoint } from "$lib/ipc/types";
import { library } from "./library.svelte";
import { navigation } from "./navigation.svelte";

/** Opens a new session with the conversation of another one up to a place. Where there is none, it was said why. */
export async function branchFrom(session: string, at: BranchPoint): Promise<void> {
  const info = await library.branch(session, at);
  if (info) navigation.session(info.id);
}
