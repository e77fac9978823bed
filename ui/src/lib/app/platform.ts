/** What differs between systems: how keys are written, and which one commands. */

/** The system the window runs on. */
export const platform: "mac" | "windows" | "linux" = /Mac|iPhone|iPad/.test(navigator.userAgent)
  ? "mac"
  : navigator.userAgent.includes("Windows")
    ? "windows"
    : "linux";

/** Whether the key that commands is down: Cmd on a Mac, Ctrl elsewhere. */
export function commandKey(event: KeyboardEvent): boolean {
  return platform === "mac" ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
}
