/** Addresses in an answer that name a local file. */

/** Control characters, which only a screen or terminal interprets; no intended file name contains them. */
const CONTROL = /\p{Cc}/u;
/**
 * Two slashes of either kind at the start lead to another computer on Windows. Markdown reduces two backslashes to one,
 * with which no useful path begins.
 */
const NETWORK = /^(?:\\|\/[\\/])/;
/** The path of a `file:` address on this computer, not on a network share. */
const HERE = /^(?:\/\/(?:localhost)?)?\/(?![\\/])/i;
/** Line numbers after a file: `main.rs:42`, `main.rs:10-20`. */
const LINES = /:\d{1,7}(?:[:-]\d{1,7}){0,3}$/;
/** The longest path of any system, in UTF-16 units. */
const LONGEST = 4_096;

function decoded(address: string): string {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

/** Removes line numbers from a path. In a lookalike such as `tel:42` no dot or slash precedes the colon. */
function withoutLines(path: string): string {
  const before = path.replace(LINES, "");
  return /[./\\]/.test(before) ? before : path;
}

/**
 * Returns the file an address (percent-encoded by the parser) names, as a path or a `file:` address without line
 * numbers; null for anything else: another scheme, a fragment, a network share.
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
  // A colon before any slash ends a scheme, however the name is disguised.
  return /^[^\\/]*:/.test(path) ? null : path;
}

/** Returns whether a file has one of the picture types shown inline. */
export function isShownPicture(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp)$/i.test(path);
}
