/** Days in the format of date fields: 2026-11-22, in this machine's time. */

/** Returns the start of a day, shifted by `offset` days; undefined for an invalid day. */
export function dayOf(text: string | undefined, offset: number): number | undefined {
  const match = /^(\d{4,6})-(\d{2})-(\d{2})$/.exec(text ?? "");
  if (!match) return undefined;
  const moment = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + offset).getTime();
  return Number.isNaN(moment) ? undefined : moment;
}

/** Returns the day of a moment. */
export function dayText(time: number): string {
  const day = new Date(time);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${String(day.getFullYear()).padStart(4, "0")}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
