/** Formats numbers of bytes, in powers of a thousand, and permission bits; parses whole numbers. */

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** One gigabyte as the settings count it. */
export const GIGABYTE = 1024 ** 3;

/** Formats the size of a file: 0 B, 6.1 kB, 388 MB. */
export function fileSize(bytes: number): string {
  const { amount, unit } = inUnits(bytes);
  return `${amount.toFixed(unit > 0 && amount < 9.95 ? 1 : 0)} ${UNITS[unit]}`;
}

/** Formats the disk space of a folder, without tenths of a kilobyte: 812 B, 24 kB, 3.4 MB, 12 GB. */
export function diskSize(bytes: number): string {
  const { amount, unit } = inUnits(bytes);
  const digits = amount.toFixed(unit > 1 && amount < 9.95 ? 1 : 0).replace(/\.0$/, "");
  return `${digits} ${UNITS[unit]}`;
}

/** Returns an amount in the largest unit it has at least one of, and the unit's index. */
function inUnits(bytes: number): { readonly amount: number; readonly unit: number } {
  let unit = 0;
  let amount = bytes;
  // A value that rounds to 1000 of a unit is shown as 1 of the next.
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return { amount, unit };
}

/** Formats permission bits the way `ls` numbers them: 644, 4755. */
export function permissions(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(3, "0");
}

/** Parses a whole number of at least one; null for an empty field. */
export function parseWhole(text: string): number | null | "wrong" {
  const bare = text.trim();
  if (bare === "") return null;
  const value = /^\d{1,5}$/.test(bare) ? Number(bare) : 0;
  return value >= 1 ? value : "wrong";
}
