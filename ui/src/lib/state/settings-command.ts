/** The settings page an agent's command offers: `octo settings open NAME`, which changes nothing by itself. Pure. */
import type { SettingsPage } from "$lib/app/navigation.svelte";
import { settingsPages } from "$lib/app/settings-pages";
import type { ToolView } from "$lib/ipc/types";

/** The whole line: nothing may stand beside it. */
const LINE = /^[ \t]*octo[ \t]+settings[ \t]+open[ \t]+(\S+)\s*$/;

/** The page a command that ended well offers to open; null for every other call, and for a page there is none of. */
export function offeredPage(view: ToolView | null): SettingsPage | null {
  if (view?.type !== "command" || view.state?.type !== "exited" || view.state.code !== 0) return null;
  const name = LINE.exec(view.command)?.[1];
  return settingsPages.find((page) => page.id === name)?.id ?? null;
}
