/** Rules of the tasks page: a card's mark, the merging of run pages, and the validation of times. Pure. */
import type { TaskCard, TaskPlan, TaskRun, Timing, Weekday } from "$lib/ipc/types";

/** The days of the week in order. */
export const WEEKDAYS: readonly Weekday[] = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
];

/** The maximum number of runs per request, as enforced by the core. */
export const MOST_RUNS = 200;

/** The icon before a row's name. */
export type TaskMark = "asks" | "running" | "broken" | "failed" | "paused" | "none";

/** Returns the plan of a card; null if its file cannot be read. */
export function planOf(card: TaskCard): TaskPlan | null {
  return card.content.type === "plan" ? card.content.plan : null;
}

/** Returns a task's name; its file's name if the file cannot be read. */
export function nameOf(card: TaskCard): string {
  return planOf(card)?.name ?? `${card.file}.md`;
}

/** A run's state as shown by its icon. */
export type RunMark = "asks" | "running" | "waiting" | "done" | "failed" | "skipped" | "stopped";

/** Returns the mark of a run. */
export function runMark(run: TaskRun): RunMark {
  switch (run.status.type) {
    case "asked":
    case "needs_you":
      return "asks";
    case "running":
      return "running";
    case "waiting":
      return "waiting";
    case "finished":
      return "done";
    case "failed":
    case "timed_out":
    case "over_budget":
    case "interrupted":
      return "failed";
    case "stopped":
      return "stopped";
    case "skipped":
      return "skipped";
  }
}

/**
 * Returns the mark of a task: first anything that needs the person, then anything in progress, then the last result.
 */
export function markOf(card: TaskCard): TaskMark {
  if (card.state === "broken") return "broken";
  const last = card.last === null ? "done" : runMark(card.last);
  if (card.state === "unseen" || last === "asks") return "asks";
  if (last === "running") return "running";
  if (card.state === "paused") return "paused";
  return last === "failed" ? "failed" : "none";
}

/** Returns whether a run is in progress or pending, so that it can be stopped. */
export function canStop(run: TaskRun): boolean {
  const { type } = run.status;
  return type === "running" || type === "needs_you" || type === "waiting";
}

/** Returns whether a run is a retry that has not started: a new run replaces it. */
export function isPendingRetry(run: TaskRun): boolean {
  return run.status.type === "waiting" && run.cause.type === "retry";
}

/** Returns whether a task is running, so that it cannot be started again. */
export function isBusy(card: TaskCard): boolean {
  return card.last !== null && canStop(card.last) && !isPendingRetry(card.last);
}

/** Returns a run's duration so far, in milliseconds; null if it did not start. */
export function durationOf(run: TaskRun, now: number): number | null {
  if (run.started_at === null) return null;
  return Math.max(0, (run.ended_at ?? now) - run.started_at);
}

/** Returns the reloaded runs, then the older ones loaded before. */
export function mergeRuns(newest: readonly TaskRun[], older: readonly TaskRun[]): readonly TaskRun[] {
  const last = newest.at(-1);
  if (!last) return [];
  const ids = new Set(newest.map((run) => run.id));
  return [...newest, ...older.filter((run) => run.due <= last.due && !ids.has(run.id))];
}

/** Normalises a typed time of day (8, 8:30, 0830, 8.30, 8：30) to `08:30`; null if invalid. */
export function timeOfDay(text: string): string | null {
  const match = /^(\d{1,2})(?:[:.：](\d{2}))?$|^(\d{2})(\d{2})$/.exec(text.trim());
  if (!match) return null;
  const hour = Number(match[1] ?? match[3]);
  const minute = Number(match[2] ?? match[4] ?? 0);
  if (hour > 23 || minute > 59) return null;
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

/** Returns whether a time zone with this name exists. */
export function isZone(zone: string): boolean {
  try {
    return zone !== "" && new Intl.DateTimeFormat("en", { timeZone: zone }).format(0) !== "";
  } catch {
    return false;
  }
}

function whole(text: string, least: number, limit: number): number | null {
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= least && value <= limit ? value : null;
}

/** Parses the items of a list as numbers; null if one is invalid. */
function numbers(text: string, least: number, limit: number): number[] | null {
  const items = text.split(",").map((item) => whole(item, least, limit));
  return items.every((item) => item !== null) ? [...new Set(items)].sort((a, b) => a - b) : null;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** Returns the days a cron field names: numbers, names and ranges of either; null for anything else. */
function cronDays(text: string): Weekday[] | null {
  const names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
  const day = (item: string): number | null => {
    const name = names.indexOf(item.toLowerCase());
    return name >= 0 ? name : whole(item, 0, 7);
  };
  const weekdays = new Set<number>();
  for (const part of text.split(",")) {
    const ends = part.split("-").map(day);
    const [from, to = from] = ends;
    if (ends.length > 2 || from === null || to === null || from === undefined || to === undefined || from > to)
      return null;
    for (let day = from; day <= to; day += 1) weekdays.add(day % 7);
  }
  return WEEKDAYS.filter((_, day) => weekdays.has((day + 1) % 7));
}

/** Returns the hours a cron field steps through; null for anything else. */
function cronSteps(hour: string, minute: number): Timing | null {
  const match = /^(?:\*|(\d{1,2})-(\d{1,2}))(?:\/(\d{1,2}))?$/.exec(hour);
  if (!match) return null;
  const count = Number(match[3] ?? 1);
  const timing = { type: "every" as const, count, unit: "hours" as const };
  if (count < 1) return null;
  if (match[1] === undefined) {
    // Steps that do not divide the day restart at midnight.
    return 24 % count === 0 ? { ...timing, from: `00:${two(minute)}`, until: null } : null;
  }
  const from = whole(match[1], 0, 23);
  const to = whole(match[2] ?? "", 0, 23);
  if (from === null || to === null || from >= to) return null;
  const until = from + Math.floor((to - from) / count) * count;
  return until === from
    ? null
    : { ...timing, from: `${two(from)}:${two(minute)}`, until: `${two(until)}:${two(minute)}` };
}

/**
 * Converts a simple cron expression to a timing of the form; null if there is no equivalent. Only unambiguous ones: an
 * expression that names both days of the month and of the week, or months, stays as it is.
 */
export function cronTiming(expression: string): Timing | null {
  const fields = expression.trim().split(/\s+/);
  const [minutes = "", hours = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5 || month !== "*") return null;
  const daily = day === "*" && weekday === "*";
  const step = /^\*\/(\d{1,2})$/.exec(minutes);
  if (step) {
    const count = Number(step[1]);
    if (!daily || hours !== "*" || count < 1 || 60 % count !== 0) return null;
    return { type: "every", count, unit: "minutes", from: "00:00", until: null };
  }
  const minute = whole(minutes, 0, 59);
  if (minute === null) return null;
  const listed = numbers(hours, 0, 23);
  if (listed === null) return daily ? cronSteps(hours, minute) : null;
  const times = listed.map((hour) => `${two(hour)}:${two(minute)}`);
  if (day !== "*") {
    const days = weekday === "*" ? numbers(day, 1, 31) : null;
    return days && { type: "monthly", days, times };
  }
  const days = weekday === "*" ? [...WEEKDAYS] : cronDays(weekday);
  return days && { type: "weekly", days, times };
}
