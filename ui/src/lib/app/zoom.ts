/** How large everything in the windows is, by keys and in the settings; the shell makes it so. */
import { commandKey } from "./platform";
import { preferences } from "./preferences.svelte";

/** What can be chosen, in percent; the usual size is among them. The core keeps to the range. */
export const ZOOMS = [75, 100, 125, 150, 175, 200] as const;
const USUAL = 100;

/** What keys of a zoom do; null for all others. Signs are pressed with Shift on some keyboards and without on others. */
function wanted(event: KeyboardEvent): "larger" | "smaller" | "usual" | null {
  if (event.altKey || !commandKey(event)) return null;
  if (event.key === "+" || event.key === "=") return "larger";
  if (event.key === "-" || event.key === "_") return "smaller";
  return event.key === "0" && !event.shiftKey ? "usual" : null;
}

/** The next one from a zoom, which may be none of them. */
export function zoomed(now: number, way: "larger" | "smaller" | "usual"): number {
  if (way === "usual") return USUAL;
  const next = way === "larger" ? ZOOMS.find((zoom) => zoom > now) : ZOOMS.findLast((zoom) => zoom < now);
  return next ?? now;
}

/** Answers the keys of the zoom, wherever the focus is: who cannot read a page cannot look for another one. */
export function zoomBy(event: KeyboardEvent): boolean {
  const way = wanted(event);
  const appearance = preferences.settings?.appearance;
  if (way === null || !appearance) return false;
  event.preventDefault();
  const zoom = zoomed(appearance.zoom, way);
  if (zoom !== appearance.zoom) void preferences.change({ appearance: { ...appearance, zoom } });
  return true;
}
