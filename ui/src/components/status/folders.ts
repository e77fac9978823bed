/** Folder selection: recent folders and the system's dialog. */
import { preferences } from "$lib/app/preferences.svelte";
import { toasts } from "$lib/app/toasts.svelte";
import { baseName, shortPath } from "$lib/format/figures";
import { host } from "$lib/ipc";
import { t } from "$lib/words/words.svelte";
import type { MenuEntry } from "../common/MenuPanel.svelte";

/** Returns the folder menu: recent folders, then the dialog. */
export function folderEntries(current: string): MenuEntry[] {
  const recent = preferences.settings?.recent_folders ?? [];
  const all = current !== "" && !recent.includes(current) ? [current, ...recent] : recent;
  return [
    ...all.map((path) => ({
      id: path,
      label: baseName(path),
      sub: shortPath(path, preferences.userHome),
      checked: path === current,
    })),
    { id: "pick", label: t("folder.other"), icon: "folder" as const, apart: all.length > 0 },
  ];
}

/** Opens the folder dialog; returns null if it was cancelled. */
export async function pickFolder(start: string): Promise<string | null> {
  try {
    const reply = await host({ type: "pick_folder", start: start === "" ? null : start });
    return reply.type === "folder" ? reply.path : null;
  } catch (error) {
    toasts.fail(error);
    return null;
  }
}
