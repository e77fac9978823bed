/** The usage report as CSV. Pure. */
import type { SpendingLine } from "$lib/ipc/types";

const COLUMNS = [
  "day",
  "model",
  "purpose",
  "calls",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "cost_usd",
  "calls_without_price",
];

/** Formats a cell; escapes text that a spreadsheet would treat as a formula. */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Formats nano-dollars as dollars, exact and without an exponent. */
function dollars(nano: number): string {
  const digits = BigInt(Math.round(nano)).toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

/** Formats report lines as CSV rows (RFC 4180). */
export function csvOf(lines: readonly SpendingLine[]): string {
  const rows = lines.map(({ day, name, purpose, spending: { calls, usage, cost, unpriced } }) =>
    [
      cell(day),
      cell(name),
      cell(purpose),
      calls,
      usage.input,
      usage.cache_read,
      usage.cache_write,
      usage.output,
      dollars(cost),
      unpriced,
    ].join(","),
  );
  return [COLUMNS.join(","), ...rows, ""].join("\r\n");
}
