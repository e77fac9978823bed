/** The zoom of all windows, by keyboard and in the settings; the shell applies it. */
import { commandKey } from "./platform";
import { preferences } from "./preferences.svelte";

/** The zoom levels offered, in percent, including the default. The core enforces the range. */
export const ZOOMS = [75, 100, 125, 150, 175, 200] as const;
const USUAL = 100;

/** Returns the zoom action of a key event, or null. Keyboards differ in which symbols need Shift. */
function zoomKey(event: KeyboardEvent): "larger" | "smaller" | "usual" | null {
  if (event.altKey || !commandKey(event)) return null;
  if (event.key === "+" || event.key === "=") return "larger";
  if (event.key === "-" || event.key === "_") return "smaller";
  return event.key === "0" && !event.shiftKey ? "usual" : null;
}

/** Returns the next level from a zoom, which may lie between the levels. */
export function zoomed(now: number, change: "larger" | "smaller" | "usual"): number {
  if (change === "usual") return USUAL;
  const next = change === "larger" ? ZOOMS.find((zoom) => zoom > now) : ZOOMS.findLast((zoom) => zoom < now);
  return next ?? now;
}

/** Handles the zoom keys on every page: a person who cannot read the page cannot look for another one. */
export function zoomBy(event: KeyboardEvent): boolean {
  const change = zoomKey(event);
  const appearance = preferences.settings?.appearance;
  if (change === null || !appearance) return false;
  event.preventDefault();
  const zoom = zoomed(appearance.zoom, change);
  if (zoom !== appearance.zoom) void preferences.change({ appearance: { ...appearance, zoom } });
  return true;
}
