/** How the window looks: its settings as attributes of the page, which the tokens follow. */
import type { Settings } from "$lib/ipc/types";

/** Dresses the page as the settings say. */
export function dress(settings: Settings): void {
  const page = document.documentElement.dataset;
  if (settings.theme === "system") delete page["theme"];
  else page["theme"] = settings.theme;
  // Settings as they were recorded or stored by an earlier Octo have no appearance.
  const { appearance } = settings as Partial<Settings>;
  page["text"] = appearance?.text ?? "usual";
  page["density"] = appearance?.density ?? "compact";
}
