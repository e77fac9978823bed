/** The folders the list can be filtered by. Pure. */
import { baseName, shortPath } from "$lib/format/figures";
import type { SessionInfo } from "$lib/ipc/types";

/** An offered folder. */
export interface FolderChoice {
  readonly path: string;
  /** Its name; its path if several share the name. */
  readonly name: string;
}

/** Returns the recent folders, then all others used by listed sessions, the last used first; and the chosen one. */
export function folderChoices(
  recent: readonly string[],
  sessions: readonly Pick<SessionInfo, "folder" | "updated_at">[],
  chosen: string | undefined,
  home: string,
): readonly FolderChoice[] {
  const used = sessions.toSorted((a, b) => b.updated_at - a.updated_at).map((info) => info.folder);
  const first = chosen === undefined || recent.includes(chosen) || used.includes(chosen) ? [] : [chosen];
  const paths = [...new Set([...first, ...recent, ...used])].filter((path) => path !== "");
  const called = new Map<string, number>();
  for (const path of paths) called.set(baseName(path), (called.get(baseName(path)) ?? 0) + 1);
  return paths.map((path) => ({
    path,
    name: (called.get(baseName(path)) ?? 0) > 1 ? shortPath(path, home) : baseName(path),
  }));
}
