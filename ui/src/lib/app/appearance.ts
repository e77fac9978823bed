/** The window's appearance: its settings as attributes of the page, which the tokens follow. */
import type { Settings } from "$lib/ipc/types";

/** Applies the settings to the page. */
export function applyAppearance(settings: Settings): void {
  const page = document.documentElement.dataset;
  if (settings.theme === "system") delete page["theme"];
  else page["theme"] = settings.theme;
  // Recorded settings and those stored by an earlier Octo have no appearance.
  const { appearance } = settings as Partial<Settings>;
  page["text"] = appearance?.text ?? "usual";
  page["density"] = appearance?.density ?? "compact";
}
