/** Formatting of numbers, durations, times and paths. */
import { type LanguageCode, languageOf } from "$lib/words/languages";

/** Formats a number of tokens: 840, 48.2k, 1.21M, 53.6M. */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 99_950) return `${(n / 1000).toFixed(1).replace(/\.0$/, "")}k`;
  if (n < 999_500) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(n < 9_995_000 ? 2 : 1)}M`;
}

/** Formats a share as a whole percentage. */
export function percent(share: number): string {
  // 99.6 % is not all: 100 % only when nothing was paid in full.
  return `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100}%`;
}

/** Formats a duration with `units`: 0.4 s, 41 s, 1 min 52 s, 2 h 5 min. */
export function duration(milliseconds: number, units: { s: string; min: string; h: string }): string {
  const seconds = milliseconds / 1000;
  if (seconds < 19.95) return `${seconds.toFixed(1)} ${units.s}`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} ${units.s}`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60)
    return whole % 60 === 0 ? `${minutes} ${units.min}` : `${minutes} ${units.min} ${whole % 60} ${units.s}`;
  return `${Math.floor(minutes / 60)} ${units.h} ${minutes % 60} ${units.min}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function dateFormat(language: LanguageCode, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = language + JSON.stringify(options);
  const cached = formats.get(key);
  if (cached) return cached;
  const format = new Intl.DateTimeFormat(languageOf(language).dates, options);
  formats.set(key, format);
  return format;
}

/** Formats the time of day, 24 hours. */
export function clock(time: number, language: LanguageCode): string {
  return dateFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(time);
}

/** Formats the day, with the year if it is not this year. */
export function formatDay(time: number, now: number, language: LanguageCode): string {
  const sameYear = new Date(time).getFullYear() === new Date(now).getFullYear();
  return dateFormat(language, { day: "numeric", month: "short", ...(sameYear ? {} : { year: "numeric" }) }).format(
    time,
  );
}

/** Formats the day without its year. */
export function dayAndMonth(time: number, language: LanguageCode): string {
  return dateFormat(language, { day: "numeric", month: "short" }).format(time);
}

/** Returns the midnight at the start of a moment's day. */
export function midnight(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

/** Returns the midnight at the end of a moment's day. */
export function nextMidnight(time: number): number {
  return new Date(time).setHours(24, 0, 0, 0);
}

/** Formats the time of day for today and yesterday, the day for anything earlier. */
export function relativeTime(time: number, now: number, language: LanguageCode): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const before = new Date(midnight);
  before.setDate(before.getDate() - 1);
  return time >= before.getTime() ? clock(time, language) : formatDay(time, now, language);
}

/** Formats day and time, for tooltips. */
export function fullTime(time: number, language: LanguageCode): string {
  return dateFormat(language, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" }).format(time);
}

/** Shortens a path in the person's home with `~`. */
export function shortPath(path: string, home: string): string {
  const base = home.replace(/[\\/]+$/, "");
  if (base === "") return path;
  if (path === base) return "~";
  return path.startsWith(`${base}/`) || path.startsWith(`${base}\\`) ? `~${path.slice(base.length)}` : path;
}

/** Formats a path relative to the session's folder if inside, else with the home as `~`. */
export function localPath(path: string, folder: string, home: string): string {
  const base = folder.replace(/[\\/]+$/, "");
  if (base !== "" && (path.startsWith(`${base}/`) || path.startsWith(`${base}\\`))) return path.slice(base.length + 1);
  return shortPath(path, home);
}

/** Returns the last component of a path. */
export function baseName(path: string): string {
  return (
    path
      .replace(/[\\/]+$/, "")
      .split(/[\\/]/)
      .at(-1) || path
  );
}

/** Returns the host of an address, or the text itself if it is not an address. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
