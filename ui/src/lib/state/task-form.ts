/** A task's form: its fields, the plan they describe, and their errors. Pure. */
import { parseDollars, editableDollars } from "$lib/format/amounts";
import type { MissedRun, Mode, Profile, TaskNotifications, TaskPlan, TimeUnit, Timing, Weekday } from "$lib/ipc/types";
import { isZone, timeOfDay, WEEKDAYS } from "./schedule";

/** The fields of the form. */
export interface TaskForm {
  name: string;
  prompt: string;
  kind: Timing["type"];
  /** For a single run: `YYYY-MM-DD`, and the time of day. */
  date: string;
  time: string;
  /** For repeated runs. */
  count: string;
  unit: TimeUnit;
  from: string;
  until: string;
  /** For runs on certain days. */
  weekdays: readonly Weekday[];
  days: readonly number[];
  times: readonly string[];
  expression: string;
  zone: string;
  folder: string;
  profile: Profile;
  mode: Mode;
  model: string | null;
  budget: string;
  minutes: string;
  retries: string;
  retryAfter: string;
  missed: MissedRun;
  tell: TaskNotifications;
}

/** The plan fields that can be faulty. */
export type PlanField = keyof TaskPlan;

/** A field's error. The core checks again, and more thoroughly. */
export type FormFault =
  | "name"
  | "prompt"
  | "date"
  | "time"
  | "times"
  | "count"
  | "often"
  | "until"
  | "weekdays"
  | "days"
  | "cron"
  | "zone"
  | "folder"
  | "budget"
  | "minutes"
  | "retry";

/** The result of reading a form. */
export interface FormReading {
  /** The plan without its faulty fields; null while its timing is unknown. */
  readonly plan: TaskPlan | null;
  readonly faults: ReadonlyMap<PlanField, FormFault>;
}

/** The maximum number of retries. */
const MOST_RETRIES = 5;
/** The longest run, or delay before a retry, that can be entered here, in minutes: a day. */
const DAY_MINUTES = 1440;
/** The shortest interval between two runs, in minutes. */
const LEAST_MINUTES = 5;

/** The defaults of a new task. */
export interface FormBase {
  readonly zone: string;
  readonly folder: string;
  readonly profile: Profile;
  readonly mode: Mode;
  /** Tomorrow's date, `YYYY-MM-DD`. */
  readonly tomorrow: string;
}

/** Returns the day after a moment's, in this computer's time zone: `YYYY-MM-DD`. */
export function tomorrowOf(now: number): string {
  const day = new Date(now);
  day.setDate(day.getDate() + 1);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/**
 * Returns the form of a new task. A run is unattended, so it has limits, and asks before risky actions even where
 * sessions do not.
 */
export function blankForm(base: FormBase): TaskForm {
  return {
    name: "",
    prompt: "",
    kind: "weekly",
    date: base.tomorrow,
    time: "09:00",
    count: "2",
    unit: "hours",
    from: "08:00",
    until: "20:00",
    weekdays: WEEKDAYS,
    days: [1],
    times: ["08:00"],
    expression: "0 8 * * *",
    zone: base.zone,
    folder: base.folder,
    profile: base.profile,
    mode: base.mode === "autonomous" ? "ask_risky" : base.mode,
    model: null,
    budget: "1",
    minutes: "30",
    retries: "1",
    retryAfter: "10",
    missed: "run_once",
    tell: "trouble",
  };
}

/** Returns the form of a plan. Fields its timing does not use keep the defaults. */
export function formOf(plan: TaskPlan, tomorrow: string): TaskForm {
  const blank = blankForm({ ...plan, tomorrow });
  return {
    ...blank,
    ...timingForm(plan.when),
    name: plan.name,
    prompt: plan.prompt,
    mode: plan.mode,
    model: plan.model,
    budget: editableDollars(plan.budget),
    minutes: String(plan.minutes),
    retries: String(plan.retry.times),
    retryAfter: plan.retry.times === 0 && plan.retry.minutes === 0 ? blank.retryAfter : String(plan.retry.minutes),
    missed: plan.missed,
    tell: plan.tell,
  };
}

/** Returns the form's timing fields. */
export function timingForm(when: Timing): Partial<TaskForm> {
  const kind = when.type;
  switch (when.type) {
    case "by_hand":
      return { kind };
    case "once": {
      const [date = "", time = ""] = when.at.split("T");
      return { kind, date, time };
    }
    case "every": {
      const { count, unit, from, until } = when;
      return { kind, count: String(count), unit, from, until: until ?? "" };
    }
    case "weekly":
      return { kind, weekdays: WEEKDAYS.filter((day) => when.days.includes(day)), times: [...when.times] };
    case "monthly":
      return { kind, days: [...when.days], times: [...when.times] };
    case "cron":
      return { kind, expression: when.expression };
  }
}

/** Parses a whole number within bounds; null for anything else. */
function whole(text: string, least: number, limit: number): number | null {
  const bare = text.trim();
  const value = /^\d{1,5}$/.test(bare) ? Number(bare) : -1;
  return value >= least && value <= limit ? value : null;
}

function timesOf(texts: readonly string[]): string[] | "times" | "time" {
  const times = texts.map(timeOfDay);
  if (times.length === 0) return "times";
  return times.every((time) => time !== null) ? [...new Set(times)].sort() : "time";
}

/** Returns the form's timing, or its fault. */
function timingOf(form: TaskForm): Timing | FormFault {
  switch (form.kind) {
    case "by_hand":
      return { type: "by_hand" };
    case "once": {
      const time = timeOfDay(form.time);
      if (!/^\d{4}-\d{2}-\d{2}$/.test(form.date) || Number.isNaN(Date.parse(form.date))) return "date";
      return time === null ? "time" : { type: "once", at: `${form.date}T${time}` };
    }
    case "every": {
      const count = whole(form.count, 1, 9999);
      const from = timeOfDay(form.from);
      const until = form.unit === "days" || form.until.trim() === "" ? "" : timeOfDay(form.until);
      if (count === null) return "count";
      if (from === null || until === null) return "time";
      if (form.unit === "minutes" && count < LEAST_MINUTES) return "often";
      if (until !== "" && until <= from) return "until";
      return { type: "every", count, unit: form.unit, from, until: until === "" ? null : until };
    }
    case "weekly": {
      const times = timesOf(form.times);
      if (form.weekdays.length === 0) return "weekdays";
      const days = WEEKDAYS.filter((day) => form.weekdays.includes(day));
      return typeof times === "string" ? times : { type: "weekly", days, times };
    }
    case "monthly": {
      const times = timesOf(form.times);
      if (form.days.length === 0) return "days";
      const days = [...form.days].sort((a, b) => a - b);
      return typeof times === "string" ? times : { type: "monthly", days, times };
    }
    case "cron": {
      const expression = form.expression.trim().replace(/\s+/g, " ");
      return expression.split(" ").length === 5 ? { type: "cron", expression } : "cron";
    }
  }
}

/** Returns whether a path is absolute: `/home`, `C:\\`, `\\\\server`. */
function isAbsolute(path: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path);
}

/** Reads a form. */
export function readForm(form: TaskForm): FormReading {
  const faults = new Map<PlanField, FormFault>();
  const name = form.name.trim();
  const folder = form.folder.trim();
  const when = timingOf(form);
  const budget = parseDollars(form.budget);
  const minutes = whole(form.minutes, 1, DAY_MINUTES);
  const times = whole(form.retries, 0, MOST_RETRIES);
  const retryDelay = whole(form.retryAfter, 1, DAY_MINUTES);
  const zone = form.zone.trim();
  if (name === "") faults.set("name", "name");
  if (form.prompt.trim() === "") faults.set("prompt", "prompt");
  if (typeof when === "string") faults.set("when", when);
  if (!isZone(zone)) faults.set("zone", "zone");
  if (!isAbsolute(folder)) faults.set("folder", "folder");
  if (budget === "wrong") faults.set("budget", "budget");
  if (minutes === null) faults.set("minutes", "minutes");
  if (times === null || (times > 0 && retryDelay === null)) faults.set("retry", "retry");
  if (typeof when === "string") return { plan: null, faults };
  const { profile, mode, model, missed, tell } = form;
  const plan: TaskPlan = {
    name,
    prompt: form.prompt.trim(),
    when,
    zone,
    folder,
    profile,
    mode,
    model,
    budget: budget === "wrong" ? null : budget,
    minutes: minutes ?? 1,
    retry: { times: times ?? 0, minutes: times === 0 ? 0 : (retryDelay ?? 0) },
    missed,
    tell,
  };
  return { plan, faults };
}
