/** The usage report as a table for a spreadsheet. Pure. */
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

/** A cell; what a spreadsheet would take for a formula is kept from being one. */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** An amount in nano-dollars as dollars, exact and without an exponent. */
function dollars(nano: number): string {
  const digits = BigInt(Math.round(nano)).toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

/** Lines of a report, one row each, as RFC 4180 has it. */
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
