/**
 * The tasks of a replay: enough to use their page by hand. Times are in this computer's zone, regardless of a plan's
 * zone. `?no-tasks` leaves it empty.
 */
import { cronTiming, nameOf, planOf, WEEKDAYS } from "$lib/state/schedule";
import { failure } from "./fake-parts";
import type {
  ApiError,
  RunTotals,
  ScheduleRequest,
  SessionInfo,
  Switch,
  TaskCard,
  TaskPlan,
  TaskPreview,
  TaskRun,
  TasksState,
  Timing,
} from "./types";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const HOME = "/home/mei/.octo";
const ZONE = "Europe/Berlin";

/** Moves a task to the trash, with a way to restore it. */
type PutAway = (what: { kind: "task"; name: string; folder: string; size: number }, back: () => void) => void;

/** Returns a timing's times on a day, as minutes; empty if it does not run that day. */
function minutesOn(when: Timing, day: Date, now: number): number[] {
  const minutes = (time: string): number => {
    const [hour = "0", minute = "0"] = time.split(":");
    return Number(hour) * 60 + Number(minute);
  };
  switch (when.type) {
    case "by_hand":
    case "once":
      return [];
    case "every": {
      const from = minutes(when.from);
      if (when.unit === "days")
        return Math.round((day.getTime() - new Date(now).setHours(0, 0, 0, 0)) / DAY) % when.count === 0 ? [from] : [];
      const step = when.count * (when.unit === "hours" ? 60 : 1);
      const until = when.until === null ? 24 * 60 - 1 : minutes(when.until);
      return Array.from({ length: Math.floor((until - from) / step) + 1 }, (_, n) => from + n * step);
    }
    case "weekly":
      return when.days.includes(WEEKDAYS[(day.getDay() + 6) % 7] ?? "monday") ? when.times.map(minutes) : [];
    case "monthly":
      return when.days.includes(day.getDate()) ? when.times.map(minutes) : [];
    case "cron": {
      const simple = cronTiming(when.expression);
      return simple ? minutesOn(simple, day, now) : [9 * 60];
    }
  }
}

/** Returns the next three times. */
function nextTimes(when: Timing, now: number): number[] {
  if (when.type === "once") {
    const time = new Date(when.at).getTime();
    return time > now ? [time] : [];
  }
  const times: number[] = [];
  const day = new Date(now);
  day.setHours(0, 0, 0, 0);
  for (let dayOffset = 0; dayOffset < 400 && times.length < 3; dayOffset += 1) {
    times.push(...minutesOn(when, day, now).map((minute) => new Date(day).setHours(0, minute)));
    for (let index = times.length - 1; index >= 0; index -= 1) if ((times[index] ?? 0) <= now) times.splice(index, 1);
    day.setDate(day.getDate() + 1);
  }
  return times.slice(0, 3);
}

const plan = (name: string, prompt: string, when: Timing, change: Partial<TaskPlan> = {}): TaskPlan => ({
  name,
  prompt,
  when,
  zone: ZONE,
  folder: "/home/mei/code/harbor",
  profile: "general",
  mode: "ask_risky",
  model: null,
  budget: 250_000_000,
  minutes: 10,
  retry: { times: 2, minutes: 5 },
  missed: "run_once",
  tell: "trouble",
  ...change,
});

const daily = (time: string): Timing => ({ type: "weekly", days: [...WEEKDAYS], times: [time] });

/** Returns a time of day some days ago. */
function dateAgo(daysAgo: number, hour: number, minute = 0): number {
  const day = new Date();
  day.setDate(day.getDate() - daysAgo);
  return day.setHours(hour, minute, 0, 0);
}

/** Returns how many days ago a weekday last occurred; Sunday is 0. */
const since = (weekday: number): number => (new Date().getDay() - weekday + 7) % 7 || 7;

let runs = 0;
function run(task: string, name: string, due: number, seconds: number, change: Partial<TaskRun> = {}): TaskRun {
  runs += 1;
  return {
    id: `run-${String(runs).padStart(6, "0")}`,
    task,
    name,
    due,
    cause: { type: "time" },
    started_at: due,
    ended_at: due + seconds * 1000,
    status: { type: "finished" },
    session: null,
    cost: 10_000_000,
    result: null,
    ...change,
  };
}
const undone = { started_at: null, ended_at: null, cost: 0 } as const;

const DIGEST =
  "Read the issues opened in harbor since yesterday, group them by area, and write a digest of at most ten lines to digest.md.";

/** Returns the initial tasks. Runs lead to recorded sessions. */
function cards(sessions: readonly SessionInfo[]): { card: TaskCard; runs: TaskRun[] }[] {
  const now = Date.now();
  const sessionOf = (title: string): string | null => sessions.find((info) => info.title === title)?.id ?? null;
  const createCard = (
    file: string,
    content: TaskPlan | { error: ApiError; text: string },
    state: TaskCard["state"],
    taskRuns: TaskRun[],
  ): { card: TaskCard; runs: TaskRun[] } => {
    const plan = "error" in content ? null : content;
    const card: TaskCard = {
      file,
      content: "error" in content ? { type: "broken", ...content } : { type: "plan", plan: content },
      version: "1",
      state,
      next: plan && state === "active" ? nextTimes(plan.when, now) : [],
      last: taskRuns[0] ?? null,
    };
    return { card, runs: taskRuns };
  };
  const digest = (days: number, seconds: number, change: Partial<TaskRun> = {}): TaskRun =>
    run("morning-issue-digest", "Morning issue digest", dateAgo(days, 8), seconds, {
      session: sessionOf("Harbor: release 0.9 plan"),
      ...change,
    });
  const long = Array.from({ length: 30 }, (_, n) => digest(n + 9, 40 + n, { result: `${n % 4} issues` }));
  const flats = { type: "every", count: 2, unit: "hours", from: "08:00", until: "20:00" } as const;
  return [
    createCard(
      "watch-flats",
      plan("Watch flat listings in Santos", "Look for new flats and tell me which ones are new.", flats),
      "active",
      [
        run("watch-flats", "Watch flat listings in Santos", now - 40_000, 0, {
          ended_at: null,
          status: { type: "running" },
          session: sessionOf("Watch flat listings in Santos"),
        }),
        run("watch-flats", "Watch flat listings in Santos", now - 3 * HOUR, 75, { result: "Nothing new" }),
      ],
    ),
    createCard(
      "staging-certificates",
      plan(
        "Check the staging certificates",
        "Check when the certificates of the staging servers run out. Renew what has less than 20 days left.",
        { type: "monthly", days: [1], times: ["09:00"] },
        { mode: "ask" },
      ),
      "active",
      [
        run("staging-certificates", "Check the staging certificates", dateAgo(1, 9), 0, {
          ended_at: null,
          status: { type: "needs_you" },
          session: sessionOf("Check the staging certificates"),
        }),
      ],
    ),
    createCard(
      "nightly-import",
      plan("Nightly import", "Import the new invoices of the mail folder.", daily("02:00"), { missed: "ask" }),
      "active",
      [
        run("nightly-import", "Nightly import", dateAgo(0, 2), 0, {
          ...undone,
          cause: { type: "missed", times: 2 },
          status: { type: "asked" },
        }),
      ],
    ),
    createCard(
      "clean-branches",
      plan(
        "Clean old branches",
        "Delete the branches of harbor that were merged more than 30 days ago, here and at the origin.\n\nNever touch main or release branches.",
        { type: "weekly", days: ["sunday"], times: ["22:00"] },
        { mode: "autonomous", budget: null, minutes: 60, retry: { times: 0, minutes: 0 } },
      ),
      "unseen",
      [],
    ),
    createCard(
      "notes-of-old",
      {
        error: failure("task.line", { line: "when", value: "every blue moon" }),
        text: "---\nname: Notes of old\nwhen: every blue moon\n---\n\nRead my notes and say what is old.\n",
      },
      "broken",
      [],
    ),
    createCard("morning-issue-digest", plan("Morning issue digest", DIGEST, daily("08:00")), "active", [
      digest(0, 72, { result: "7 issues, 3 areas", cost: 40_000_000 }),
      digest(1, 48, { result: "2 issues", cost: 30_000_000 }),
      digest(2, 65, {
        cause: { type: "missed", times: 1 },
        started_at: dateAgo(2, 8, 41),
        ended_at: dateAgo(2, 8, 41) + 65_000,
        cost: 40_000_000,
        result: "5 issues, 2 areas",
      }),
      digest(3, 151, { status: { type: "failed", error: failure("provider.overloaded") } }),
      digest(4, 0, { ...undone, session: null, status: { type: "skipped", reason: { type: "still_running" } } }),
      digest(5, 550, { status: { type: "over_budget" }, cost: 310_000_000 }),
      digest(6, 57, { result: "4 issues, 2 areas", cost: 30_000_000 }),
      digest(7, 22, { result: "None", cause: { type: "hand" } }),
      ...long,
    ]),
    createCard(
      "back-up-notes",
      plan("Back up the notes folder", "Copy the notes to the disk.", daily("03:00"), { folder: "/home/mei/notes" }),
      "active",
      [run("back-up-notes", "Back up the notes folder", dateAgo(0, 3), 12)],
    ),
    createCard(
      "weekly-expenses",
      plan(
        "每周报销汇总",
        "把本周的发票汇总成一张表。",
        { type: "weekly", days: ["friday"], times: ["17:00"] },
        { zone: "Asia/Shanghai" },
      ),
      "active",
      [run("weekly-expenses", "每周报销汇总", dateAgo(since(5), 17), 133, { result: "12 张发票，共 3,480 元" })],
    ),
    createCard(
      "rebuild-index",
      plan("Rebuild the search index", "Rebuild it.", { type: "once", at: `${isoDay(3)}T22:00` }),
      "active",
      [],
    ),
    createCard(
      "cloud-bills",
      plan(
        "Compare cloud bills",
        "Compare this month's bill with the last.",
        { type: "cron", expression: "0 10 * * 1" },
        { missed: "skip" },
      ),
      "active",
      [
        run("cloud-bills", "Compare cloud bills", dateAgo(since(1), 10), 240, { status: { type: "over_budget" } }),
        run("cloud-bills", "Compare cloud bills", dateAgo(since(1) + 7, 10), 0, {
          ...undone,
          cause: { type: "missed", times: 2 },
          status: { type: "skipped", reason: { type: "missed", times: 2 } },
        }),
      ],
    ),
    createCard(
      "clean-downloads",
      plan("Clean the downloads folder", "Sort it.", { type: "weekly", days: ["sunday"], times: ["20:00"] }),
      "paused",
      [run("clean-downloads", "Clean the downloads folder", dateAgo(since(0), 20), 31)],
    ),
  ];
}

function isoDay(dayOffset: number): string {
  const day = new Date();
  day.setDate(day.getDate() + dayOffset);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

export class FakeSchedule {
  readonly #changed: (state: TasksState) => void;
  readonly #away: PutAway;
  #cards: TaskCard[] = [];
  #runs: TaskRun[] = [];
  #revision = 1;

  readonly #atTheirTimes: () => Switch;

  constructor(
    sessions: readonly SessionInfo[],
    changed: (state: TasksState) => void,
    putAway: PutAway,
    atTheirTimes: () => Switch,
  ) {
    this.#changed = changed;
    this.#away = putAway;
    this.#atTheirTimes = atTheirTimes;
    if (new URLSearchParams(location.search).has("no-tasks")) return;
    const createdCards = cards(sessions);
    this.#cards = createdCards.map(({ card }) => card);
    this.#runs = createdCards.flatMap((card) => card.runs).sort((a, b) => b.due - a.due);
  }

  get state(): TasksState {
    const count = (types: readonly TaskRun["status"]["type"][]): number =>
      this.#runs.filter(({ status }) => types.includes(status.type)).length;
    const unrunnable = this.#cards.filter(({ state }) => state === "unseen" || state === "broken").length;
    return {
      revision: this.#revision,
      running: count(["running"]),
      waiting: count(["needs_you", "asked"]) + unrunnable,
    };
  }

  /** Changes a task's file, as another program would. */
  touch(file: string, change: Partial<TaskPlan>): void {
    const card = this.#card(file);
    const plan = planOf(card);
    if (plan)
      this.#put({ ...card, content: { type: "plan", plan: { ...plan, ...change } }, version: `${card.version}+` });
  }

  /** Ends the running run. */
  finish(file: string, change: Partial<TaskRun>): void {
    const running = this.#runs.find((run) => run.task === file && run.ended_at === null);
    if (running) this.#change(running.id, { ended_at: Date.now(), status: { type: "finished" }, ...change });
  }

  answer(call: ScheduleRequest): unknown {
    switch (call.type) {
      case "list_tasks":
        return { tasks: this.#cards, zone: ZONE, at_their_times: this.#atTheirTimes() };
      case "get_task":
        return this.#card(call.task);
      case "preview_task":
        return preview(call.plan);
      case "save_task":
        return this.#save(call.task, call.plan, call.version);
      case "accept_task":
        return this.#state(call.task, "active");
      case "switch_task":
        return this.#state(call.task, call.on === "on" ? "active" : "paused");
      case "run_task": {
        const card = this.#card(call.task);
        const newRun = run(card.file, nameOf(card), Date.now(), 0, {
          cause: { type: "hand" },
          ended_at: null,
          status: { type: "running" },
          cost: 0,
          session: this.#runs.find((run) => run.session !== null)?.session ?? null,
        });
        this.#runs = [newRun, ...this.#runs];
        this.#put({ ...card, last: newRun });
        return newRun;
      }
      case "duplicate_task": {
        const plan = planOf(this.#card(call.task));
        if (!plan) throw failure("task.broken");
        return this.#put(this.#made(`${call.task}-2`, { ...plan, name: `${plan.name} 2` }, "paused"));
      }
      case "delete_task": {
        const card = this.#card(call.task);
        const index = this.#cards.indexOf(card);
        this.#cards = this.#cards.filter((other) => other !== card);
        this.#away({ kind: "task", name: `${card.file}.md`, folder: `${HOME}/tasks`, size: 812 }, () => {
          this.#cards = [...this.#cards.slice(0, index), card, ...this.#cards.slice(index)];
          this.#tell();
        });
        this.#tell();
        return {};
      }
      case "list_runs": {
        const taskRuns = this.#runs.filter((run) => call.task === null || run.task === call.task);
        const after = taskRuns.findIndex((run) => run.id === call.after);
        const page = call.after === null ? taskRuns : after < 0 ? [] : taskRuns.slice(after + 1);
        return { runs: page.slice(0, Math.min(200, call.limit)), month: totals(taskRuns) };
      }
      case "answer_missed":
        this.#change(
          call.run,
          call.answer === "run"
            ? { status: { type: "running" }, started_at: Date.now() }
            : { status: { type: "skipped", reason: { type: "declined" } } },
        );
        return {};
      case "stop_run":
        this.#change(call.run, { status: { type: "stopped" }, ended_at: Date.now() });
        return {};
      default:
        return call satisfies never;
    }
  }

  #card(file: string): TaskCard {
    const card = this.#cards.find((card) => card.file === file);
    if (!card) throw failure("task.unknown");
    return card;
  }

  #made(file: string, plan: TaskPlan, state: TaskCard["state"]): TaskCard {
    const next = state === "paused" ? [] : nextTimes(plan.when, Date.now());
    return { file, content: { type: "plan", plan: plan }, version: "1", state, next, last: null };
  }

  #save(file: string | null, plan: TaskPlan, version: string | null): TaskCard {
    if (file === null) {
      const slug = plan.name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
      return this.#put(this.#made(slug, plan, plan.when.type === "by_hand" ? "resting" : "active"));
    }
    const card = this.#card(file);
    if (card.version !== version) throw failure("task.changed");
    return this.#put({ ...card, ...this.#made(file, plan, card.state), last: card.last, version: `${version}+` });
  }

  #state(file: string, state: TaskCard["state"]): TaskCard {
    const card = this.#card(file);
    const plan = planOf(card);
    return this.#put({ ...card, state, next: plan && state === "active" ? nextTimes(plan.when, Date.now()) : [] });
  }

  #put(card: TaskCard): TaskCard {
    const exists = this.#cards.some(({ file }) => file === card.file);
    this.#cards = exists
      ? this.#cards.map((other) => (other.file === card.file ? card : other))
      : [card, ...this.#cards];
    this.#tell();
    return card;
  }

  #change(id: string, change: Partial<TaskRun>): void {
    this.#runs = this.#runs.map((run) => (run.id === id ? { ...run, ...change } : run));
    this.#cards = this.#cards.map((card) =>
      card.last?.id === id ? { ...card, last: { ...card.last, ...change } } : card,
    );
    this.#tell();
  }

  #tell(): void {
    this.#revision += 1;
    this.#changed(this.state);
  }
}

function preview(plan: TaskPlan): TaskPreview {
  const next = nextTimes(plan.when, Date.now());
  const missing = plan.folder.includes("gone");
  return {
    next,
    errors: [...(missing ? [{ field: "folder", error: failure("session.folder_gone", { folder: plan.folder }) }] : [])],
    remarks: [],
  };
}

function totals(taskRuns: readonly TaskRun[]): RunTotals {
  const since = Date.now() - 30 * DAY;
  const recent = taskRuns.filter(({ due }) => due >= since);
  const count = (types: readonly TaskRun["status"]["type"][]): number =>
    recent.filter(({ status }) => types.includes(status.type)).length;
  return {
    finished: count(["finished"]),
    failed: count(["failed", "timed_out", "over_budget", "interrupted"]),
    skipped: count(["skipped"]),
    cost: recent.reduce((sum, { cost }) => sum + cost, 0),
  };
}
