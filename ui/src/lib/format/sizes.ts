/** Formats file sizes: 0 B, 6.1 kB, 388 MB. */

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Formats a number of bytes, in powers of a thousand. */
export function bytes(n: number): string {
  let unit = 0;
  let amount = n;
  // A value that rounds to 1000 of a unit is shown as 1 of the next.
  while (amount >= (unit === 0 ? 1000 : 999.5) && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && amount < 9.95 ? 1 : 0;
  return `${amount.toFixed(digits)} ${UNITS[unit]}`;
}

/** One gigabyte as the settings count it. */
export const GIGABYTE = 1024 ** 3;

/** Parses a whole number of at least one; null for an empty field. */
export function parseWhole(text: string): number | null | "wrong" {
  const bare = text.trim();
  if (bare === "") return null;
  const value = /^\d{1,5}$/.test(bare) ? Number(bare) : 0;
  return value >= 1 ? value : "wrong";
}
