/** Amounts a person types: dollars and tokens. */

/** The typed number; null for an empty field, "wrong" for anything invalid. */
export type ParsedAmount = number | null | "wrong";

/** The largest amount, in dollars: sums stay exact in nano-dollars. */
const MOST_DOLLARS = 1_000_000;

/** Parses dollars into nano-dollars: `5`, `0.50`, `0,50`, `$5`. Empty means no limit; zero is invalid. */
export function parseDollars(text: string): ParsedAmount {
  const bare = text.trim().replace(/^\$\s*/, "");
  if (bare === "") return null;
  if (!/^\d+(?:[.,]\d{1,4})?$/.test(bare)) return "wrong";
  const dollars = Number(bare.replace(",", "."));
  return dollars > 0 && dollars <= MOST_DOLLARS ? Math.round(dollars * 1e9) : "wrong";
}

/** Formats nano-dollars for a field. */
export function editableDollars(nano: number | null): string {
  if (nano === null) return "";
  const dollars = nano / 1e9;
  return Number.isInteger(dollars) ? String(dollars) : dollars.toFixed(4).replace(/0{1,2}$/, "");
}

/** The smallest and largest compaction threshold, in tokens. */
const LEAST_TOKENS = 10_000;
const MOST_TOKENS = 10_000_000;

/** Parses a number of tokens: `150000`, `150 000`, `150,000`, `150k`, `1.5M`. */
export function parseTokens(text: string): ParsedAmount {
  const bare = text.trim().toLowerCase();
  if (bare === "") return null;
  const [, digits = "", unit = ""] = /^([\d.,\s_]+?)\s*([km]?)$/.exec(bare) ?? [];
  const grouped = /^\d{1,3}(?:[.,\s_]\d{3})+$/.test(digits) && unit === "";
  const plain = grouped ? digits.replace(/\D/g, "") : digits.replace(",", ".");
  if (!/^\d+(?:\.\d+)?$/.test(plain)) return "wrong";
  const tokens = Math.round(Number(plain) * { k: 1000, m: 1_000_000, "": 1 }[unit as "k" | "m" | ""]);
  return tokens >= LEAST_TOKENS && tokens <= MOST_TOKENS ? tokens : "wrong";
}
