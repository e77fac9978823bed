/** Days in the format of date fields: 2026-11-22, in this machine's time. */

/** Returns the start of a day, shifted by `later` days; undefined for an invalid day. */
export function dayOf(text: string | undefined, later: number): number | undefined {
  const found = /^(\d{4,6})-(\d{2})-(\d{2})$/.exec(text ?? "");
  if (!found) return undefined;
  const moment = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + later).getTime();
  return Number.isNaN(moment) ? undefined : moment;
}

/** Returns the day of a moment. */
export function dayText(at: number): string {
  const day = new Date(at);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${String(day.getFullYear()).padStart(4, "0")}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
