/** Platform differences: how keys are written, and which is the command key. */

/** The operating system. */
export const platform: "mac" | "windows" | "linux" = /Mac|iPhone|iPad/.test(navigator.userAgent)
  ? "mac"
  : navigator.userAgent.includes("Windows")
    ? "windows"
    : "linux";

/** Returns whether the command key is down: Cmd on a Mac, Ctrl elsewhere. */
export function commandKey(event: KeyboardEvent): boolean {
  return platform === "mac" ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
}
