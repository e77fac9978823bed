/** Rules of the page of tasks: what a card's mark is, how runs are put together, and when times make sense. Pure. */
import type { TaskCard, TaskPlan, TaskRun, Timing, Weekday } from "$lib/ipc/types";

/** The days of a week in their order. */
export const WEEKDAYS: readonly Weekday[] = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
];

/** The most runs one request asks for; the core gives no more. */
export const MOST_RUNS = 200;

/** What a row shows before its name. */
export type TaskMark = "asks" | "running" | "broken" | "failed" | "paused" | "none";

/** The plan of a card; null where its file cannot be read. */
export function planOf(card: TaskCard): TaskPlan | null {
  return card.content.type === "plan" ? card.content.plan : null;
}

/** What a task is called; one that cannot be read goes by its file. */
export function nameOf(card: TaskCard): string {
  return planOf(card)?.name ?? `${card.file}.md`;
}

/** How a run ended, as far as a mark shows it. */
export type RunMark = "asks" | "running" | "waiting" | "done" | "failed" | "skipped" | "stopped";

/** The mark of a run. */
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

/** The mark of a task: what needs the person comes before what goes on, and that before what is over. */
export function markOf(card: TaskCard): TaskMark {
  if (card.state === "broken") return "broken";
  const last = card.last === null ? "done" : runMark(card.last);
  if (card.state === "unseen" || last === "asks") return "asks";
  if (last === "running") return "running";
  if (card.state === "paused") return "paused";
  return last === "failed" ? "failed" : "none";
}

/** Whether a run is going on, or will, so that it can be stopped. */
export function canStop(run: TaskRun): boolean {
  const { type } = run.status;
  return type === "running" || type === "needs_you" || type === "waiting";
}

/** Whether a run is another try that has not begun: a new run takes its place. */
export function onlyWaits(run: TaskRun): boolean {
  return run.status.type === "waiting" && run.cause.type === "retry";
}

/** Whether a task is at work, so that it cannot be set off a second time. */
export function isBusy(card: TaskCard): boolean {
  return card.last !== null && canStop(card.last) && !onlyWaits(card.last);
}

/** How long a run took, or takes so far, in milliseconds; null for one that did not begin. */
export function spanOf(run: TaskRun, now: number): number | null {
  if (run.started_at === null) return null;
  return Math.max(0, (run.ended_at ?? now) - run.started_at);
}

/** What was read anew, then what is older and was read before. */
export function joined(newest: readonly TaskRun[], known: readonly TaskRun[]): readonly TaskRun[] {
  const last = newest.at(-1);
  if (!last) return [];
  const there = new Set(newest.map((run) => run.id));
  return [...newest, ...known.filter((run) => run.due <= last.due && !there.has(run.id))];
}

/** A time of day as it may be typed (8, 8:30, 0830, 8.30, 8：30) in the form `08:30`; null for what is none. */
export function timeOfDay(text: string): string | null {
  const found = /^(\d{1,2})(?:[:.：](\d{2}))?$|^(\d{2})(\d{2})$/.exec(text.trim());
  if (!found) return null;
  const hour = Number(found[1] ?? found[3]);
  const minute = Number(found[2] ?? found[4] ?? 0);
  if (hour > 23 || minute > 59) return null;
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

/** Whether there is a zone of this name. */
export function isZone(zone: string): boolean {
  try {
    return zone !== "" && new Intl.DateTimeFormat("en", { timeZone: zone }).format(0) !== "";
  } catch {
    return false;
  }
}

function whole(text: string, least: number, most: number): number | null {
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= least && value <= most ? value : null;
}

/** The items of a list, each as a number; null when one is none. */
function numbers(text: string, least: number, most: number): number[] | null {
  const items = text.split(",").map((item) => whole(item, least, most));
  return items.every((item) => item !== null) ? [...new Set(items)].sort((a, b) => a - b) : null;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** The days a field of cron names: numbers, names and ranges of either; null for anything else. */
function cronDays(text: string): Weekday[] | null {
  const names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
  const day = (item: string): number | null => {
    const name = names.indexOf(item.toLowerCase());
    return name >= 0 ? name : whole(item, 0, 7);
  };
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const ends = part.split("-").map(day);
    const [from, to = from] = ends;
    if (ends.length > 2 || from === null || to === null || from === undefined || to === undefined || from > to)
      return null;
    for (let at = from; at <= to; at += 1) found.add(at % 7);
  }
  return WEEKDAYS.filter((_, at) => found.has((at + 1) % 7));
}

/** The hours a field of cron steps through; null for anything else. */
function cronSteps(hour: string, minute: number): Timing | null {
  const found = /^(?:\*|(\d{1,2})-(\d{1,2}))(?:\/(\d{1,2}))?$/.exec(hour);
  if (!found) return null;
  const count = Number(found[3] ?? 1);
  const every = { type: "every" as const, count, unit: "hours" as const };
  if (count < 1) return null;
  if (found[1] === undefined) {
    // Steps that do not fill the day begin anew at midnight.
    return 24 % count === 0 ? { ...every, from: `00:${two(minute)}`, until: null } : null;
  }
  const from = whole(found[1], 0, 23);
  const to = whole(found[2] ?? "", 0, 23);
  if (from === null || to === null || from >= to) return null;
  const until = from + Math.floor((to - from) / count) * count;
  return until === from
    ? null
    : { ...every, from: `${two(from)}:${two(minute)}`, until: `${two(until)}:${two(minute)}` };
}

/**
 * What a simple expression of cron means in the terms of the form; null where there is no such term. Only what is
 * certain: an expression that names days of the month and of the week, or months, is left as it is.
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
