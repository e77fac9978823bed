/** Scheduled tasks as text: their timing, the status of runs, and their limits. */
import type { RunCause, SkipReason, TaskPlan, TaskRun, Timing, Weekday } from "$lib/ipc/types";
import { cronTiming, durationOf, WEEKDAYS } from "$lib/state/schedule";
import { explainBriefly, language, t, tn } from "$lib/words/words.svelte";
import { clock, formatDay, midnight } from "./figures";
import { editableDollars } from "./amounts";

/** The number of times of day listed; if there are more, only their number is shown. */
const NAMED_TIMES = 3;

const listed = (parts: readonly string[]): string => parts.join(t("list.comma"));

/** Formats a day of the month as an ordinal: 1st, 22nd. */
function ordinal(n: number): string {
  const form = new Intl.PluralRules(language(), { type: "ordinal" }).select(n);
  const category = form === "one" || form === "two" || form === "few" ? form : "other";
  return t(`tasks.ordinal.${category}`, { n });
}

function timesWords(times: readonly string[]): string {
  if (times.length <= NAMED_TIMES) return listed(times);
  return tn("tasks.times_more", times.length - NAMED_TIMES + 1, { times: listed(times.slice(0, NAMED_TIMES - 1)) });
}

/** Lists days of the week: single days by name, adjacent ones as a range. */
function daysWords(days: readonly Weekday[]): string {
  const [first] = days;
  if (first === undefined) return "";
  if (days.length === 1) return t(`tasks.on.${first}`);
  const indexes = days.map((weekday) => WEEKDAYS.indexOf(weekday));
  const [from = 0] = indexes;
  const last = days.at(-1) ?? first;
  if (days.length > 2 && indexes.every((weekday, n) => weekday === from + n))
    return t("tasks.range", { from: t(`tasks.weekday.${first}`), to: t(`tasks.weekday.${last}`) });
  return listed(days.map((weekday) => t(`tasks.weekday.${weekday}`)));
}

function weeklyWords(days: readonly Weekday[], times: readonly string[]): string {
  const args = { times: timesWords(times) };
  const all = days.join();
  if (days.length === 7) return t("tasks.when.daily", args);
  if (all === WEEKDAYS.slice(0, 5).join()) return t("tasks.when.workdays", args);
  if (all === WEEKDAYS.slice(5).join()) return t("tasks.when.weekend", args);
  return t("tasks.when.weekly", { ...args, days: daysWords(days) });
}

/** Formats a daily time window: 8–20, 08:30–20:30; empty for all day. */
function betweenWords(from: string, until: string | null): string {
  if (until === null) return from === "00:00" ? "" : t("tasks.from", { from });
  const short = (time: string): string => String(Number(time.split(":")[0]));
  return from.endsWith(":00") && until.endsWith(":00")
    ? t("tasks.between_hours", { from: short(from), to: short(until) })
    : t("tasks.range", { from, to: until });
}

function everyWords(when: Extract<Timing, { type: "every" }>): string {
  if (when.unit === "days")
    return when.count === 1
      ? t("tasks.when.daily", { times: when.from })
      : t("tasks.when.after", { every: tn("tasks.every.days", when.count), times: when.from });
  // Chinese has one form for all numbers, and omits the number if it is one.
  const count = when.count === 1 ? t(`tasks.every.${when.unit}.one`) : tn(`tasks.every.${when.unit}`, when.count);
  const between = betweenWords(when.from, when.until);
  return between === "" ? count : t("tasks.when.after", { every: count, times: between });
}

/** Formats a local date and time given as `YYYY-MM-DDTHH:MM`. */
function localWords(localTime: string, now: number): string {
  const [date = "", time = ""] = localTime.split("T");
  // Noon falls on that day in any time zone of this computer.
  const noon = new Date(`${date}T12:00`).getTime();
  return Number.isNaN(noon) ? localTime : `${formatDay(noon, now, language())} ${time}`;
}

/** Describes a task's timing in plain words. A complex cron expression is shown as it is. */
export function timingWords(when: Timing, now: number): string {
  switch (when.type) {
    case "by_hand":
      return t("tasks.when.by_hand");
    case "once":
      return t("tasks.when.once", { at: localWords(when.at, now) });
    case "every":
      return everyWords(when);
    case "weekly":
      return weeklyWords(when.days, when.times);
    case "monthly":
      return t("tasks.when.monthly", { days: listed(when.days.map(ordinal)), times: timesWords(when.times) });
    case "cron": {
      const simple = cronTiming(when.expression);
      return simple ? timingWords(simple, now) : t("tasks.when.cron", { expression: when.expression });
    }
  }
}

/** Returns the days between two moments in this computer's time zone: 0 today, 1 tomorrow. */
function daysUntil(time: number, now: number): number {
  return Math.round((midnight(time) - midnight(now)) / 86_400_000);
}

function weekdayOf(time: number): string {
  const weekday = WEEKDAYS[(new Date(time).getDay() + 6) % 7] ?? "monday";
  return t(`tasks.weekday.${weekday}`);
}

/** Formats a nearby moment: Today 16:00, Fri 17:00, 1 Dec 09:00; a distant past one as its day. */
export function nearTime(at: number, now: number): string {
  const time = clock(at, language());
  const days = daysUntil(at, now);
  if (days === 0) return t("tasks.today", { time });
  if (days === 1) return t("tasks.tomorrow", { time });
  if (days === -1) return t("tasks.yesterday", { time });
  if (Math.abs(days) < 7) return `${weekdayOf(at)} ${time}`;
  const date = formatDay(at, now, language());
  return days < 0 ? date : `${date} ${time}`;
}

/** Formats the next times, one line per day: Today 16:00, 18:00. */
export function nextTimeLines(next: readonly number[], now: number): string[] {
  const lines: { day: number; times: string[] }[] = [];
  for (const at of next) {
    const time = clock(at, language());
    const last = lines.at(-1);
    if (last?.day === midnight(at)) last.times.push(time);
    else lines.push({ day: midnight(at), times: [time] });
  }
  return lines.map((line) => {
    const times = listed(line.times);
    const days = daysUntil(line.day, now);
    if (days === 0) return t("tasks.today", { time: times });
    if (days === 1) return t("tasks.tomorrow", { time: times });
    return t("tasks.day", { weekday: weekdayOf(line.day), day: formatDay(line.day, now, language()), times });
  });
}

/** Formats a duration like a clock: 0:48, 12:05, 1:02:30. */
export function clockDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const two = (n: number): string => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** Formats a cost in cents: $0.04; empty for zero. */
export function money(nano: number): string {
  if (nano === 0) return "";
  return nano < 5_000_000 ? "<$0.01" : `$${(nano / 1e9).toFixed(2)}`;
}

/** Explains why a time was skipped. */
export function skipWords(reason: SkipReason): string {
  switch (reason.type) {
    case "missed":
      return tn("tasks.skip.missed", reason.times);
    case "unrunnable":
      return t("tasks.skip.unrunnable", { why: explainBriefly(reason.error) });
    case "could_not_start":
      return t("tasks.skip.could_not_start", { why: explainBriefly(reason.error) });
    case "still_running":
    case "declined":
    case "replaced":
    case "day_budget":
      return t(`tasks.skip.${reason.type}`);
  }
}

/** Describes a run's status, or why it ended. */
export function statusWords(run: TaskRun, now: number): string {
  const { status } = run;
  switch (status.type) {
    case "waiting":
      return status.until > now
        ? t("tasks.status.waits_until", { at: nearTime(status.until, now) })
        : t("tasks.status.waiting");
    case "running":
      return t("tasks.status.running", { span: clockDuration(durationOf(run, now) ?? 0) });
    case "failed":
      return explainBriefly(status.error);
    case "skipped":
      return skipWords(status.reason);
    case "asked":
    case "needs_you":
    case "finished":
    case "timed_out":
    case "over_budget":
    case "stopped":
    case "interrupted":
      return t(`tasks.status.${status.type}`);
  }
}

/** Describes a run's status briefly, for a list. */
export function briefStatus(run: TaskRun, now: number): string {
  const { status } = run;
  switch (status.type) {
    case "finished":
      return nearTime(run.started_at ?? run.due, now);
    case "waiting":
    case "running":
      return statusWords(run, now);
    case "asked":
    case "needs_you":
    case "failed":
    case "timed_out":
    case "over_budget":
    case "stopped":
    case "interrupted":
    case "skipped":
      return t(`tasks.brief.${status.type}`);
  }
}

/** Describes the trigger of a run; empty if it was the schedule. */
export function causeWords(cause: RunCause): string {
  switch (cause.type) {
    case "time":
      return "";
    case "hand":
      return t("tasks.cause.hand");
    case "missed":
      return t("tasks.cause.missed");
    case "retry":
      return t("tasks.cause.retry", { n: cause.number });
  }
}

/** Returns the first words of an answer as one line, without Markdown syntax. */
function plain(answer: string): string {
  return answer
    .replace(/^\s*(?:#+|[-*>])\s+/, "")
    .replace(/(\*{1,3}|`+)(\S(?:.*?\S)?)\1/g, "$2")
    .trim();
}

/** Returns a run's summary: its answer if there is one, else its status. */
export function runWords(run: TaskRun, now: number): string {
  const answer = run.status.type === "finished" ? plain(run.result ?? "") : "";
  const words = answer === "" ? statusWords(run, now) : answer;
  // A missed run needs no cause.
  const cause = run.status.type === "skipped" || run.status.type === "asked" ? "" : causeWords(run.cause);
  return cause === "" ? words : t("tasks.run_cause", { cause, words });
}

/** Describes the limits of a run: $0.25 a run, 10 min, 2 retries. */
export function limitWords(plan: TaskPlan): string {
  const { budget, minutes, retry } = plan;
  return listed([
    budget === null ? t("tasks.limit.no_budget") : t("tasks.limit.budget", { dollars: `$${cents(budget)}` }),
    t("tasks.limit.minutes", { n: minutes }),
    ...(retry.times > 0 ? [tn("tasks.limit.retries", retry.times)] : []),
  ]);
}

/** Formats dollars with cents if needed. */
function cents(nano: number): string {
  const dollars = editableDollars(nano);
  return dollars.includes(".") ? dollars : `${dollars}.00`;
}
