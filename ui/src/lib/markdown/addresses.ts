/** Which addresses in an answer name a file of this computer. */

/** What only a screen or a terminal would make something of; no file that is meant has it in its name. */
const CONTROL = /\p{Cc}/u;
/**
 * Two slashes at the beginning, of whichever kind, lead to another computer on Windows. Of two backslashes Markdown leaves
 * one, with which no path begins that would be missed.
 */
const NETWORK = /^(?:\\|\/[\\/])/;
/** A folder of a network is no such address: what `file:` is followed by is a path of this computer. */
const HERE = /^(?:\/\/(?:localhost)?)?\/(?![\\/])/i;
/** A line, or lines, of a file: `main.rs:42`, `main.rs:10-20`. */
const LINES = /:\d{1,7}(?:[:-]\d{1,7}){0,3}$/;
/** No system has longer paths, in UTF-16 units. */
const LONGEST = 4_096;

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/** A path without the lines it was named with. What only looks like that has no dot and no slash before: `tel:42`. */
function withoutLines(path: string): string {
  const before = path.replace(LINES, "");
  return /[./\\]/.test(before) ? before : path;
}

/**
 * The file an address as the parser gives it (percent-encoded) names, as a path or a `file:` address; null where it
 * names something else: another scheme, a place in the text, a folder of the network. Lines are left out.
 */
export function fileOf(address: string): string | null {
  const [whole = ""] = address.split("#", 1);
  if (whole.length > LONGEST) return null;
  if (/^file:/i.test(whole)) {
    const rest = decoded(whole.slice("file:".length));
    return HERE.test(rest) && !CONTROL.test(rest) ? whole : null;
  }
  const path = withoutLines(decoded(whole));
  if (path === "" || path.startsWith("?") || CONTROL.test(path) || NETWORK.test(path)) return null;
  if (/^[a-z]:[\\/]/i.test(path)) return path;
  // A colon before any slash ends a scheme, whatever tricks its name plays.
  return /^[^\\/]*:/.test(path) ? null : path;
}

/** Whether a file is of the kinds of pictures that are shown where they are named. */
export function isShownPicture(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp)$/i.test(path);
}
