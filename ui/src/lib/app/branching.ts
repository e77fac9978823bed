/** Branches a session into a new one. */
import type { BranchPoint } from "$lib/ipc/types";
import { sessionList } from "./session-list.svelte";
import { navigation } from "./navigation.svelte";

/** Opens a new session with another one's conversation up to a point. On failure the reason has been shown. */
export async function branchFrom(session: string, point: BranchPoint): Promise<void> {
  const info = await sessionList.branch(session, point);
  if (info) navigation.session(info.id);
}
