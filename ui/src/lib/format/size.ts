/** Formats sizes on disk: 812 B, 24 kB, 3.4 MB, 12 GB; 1 kB is 1000 bytes. */
export function size(bytes: number): string {
  let n = bytes;
  let unit = "B";
  for (const next of ["kB", "MB", "GB", "TB"]) {
    // A value that rounds to 1000 is shown as 1 of the next unit.
    if (n < 999.5) break;
    n /= 1000;
    unit = next;
  }
  const digits =
    unit === "B" || unit === "kB" || n >= 9.95 ? Math.round(n).toString() : n.toFixed(1).replace(/\.0$/, "");
  return `${digits} ${unit}`;
}

/** Formats permission bits the way `ls` numbers them: 644, 4755. */
export function permissions(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(3, "0");
}
