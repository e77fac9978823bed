import type { RunStatus, TaskCard, TaskPlan, TaskRun, TaskState } from "$lib/ipc/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as rules from "./schedule";

const plan: TaskPlan = {
  name: "Digest",
  prompt: "Write it.",
  when: { type: "by_hand" },
  zone: "Europe/Berlin",
  folder: "/home/mei",
  profile: "general",
  mode: "ask",
  model: null,
  budget: null,
  minutes: 10,
  retry: { times: 0, minutes: 0 },
  missed: "run_once",
  tell: "trouble",
};
const error = { key: "provider.auth", args: {}, retryable: false };
const run = (id: string, status: RunStatus, change: Partial<TaskRun> = {}): TaskRun => ({
  id,
  task: "digest",
  name: "Digest",
  cause: { type: "time" },
  due: 1000,
  started_at: 1000,
  ended_at: null,
  status,
  session: null,
  cost: 0,
  result: null,
  ...change,
});
const card = (state: TaskState, status: RunStatus | null): TaskCard => ({
  file: "digest",
  content: state === "broken" ? { type: "broken", error, text: "" } : { type: "plan", plan },
  version: "1",
  state,
  next: [],
  last: status && run("a", status),
});

describe("the status of a task", () => {
  const table: [TaskState, RunStatus | null, rules.TaskMark][] = [
    ["active", null, "none"],
    ["active", { type: "running" }, "running"],
    ["active", { type: "waiting", until: 5 }, "none"],
    ["active", { type: "needs_you" }, "asks"],
    ["active", { type: "asked" }, "asks"],
    ["paused", { type: "needs_you" }, "asks"],
    ["paused", { type: "running" }, "running"],
    ["paused", { type: "failed", error }, "paused"],
    ["active", { type: "failed", error }, "failed"],
    ["active", { type: "timed_out" }, "failed"],
    ["active", { type: "over_budget" }, "failed"],
    ["active", { type: "interrupted" }, "failed"],
    ["active", { type: "stopped" }, "none"],
    ["resting", { type: "finished" }, "none"],
    ["active", { type: "skipped", reason: { type: "declined" } }, "none"],
    ["unseen", { type: "finished" }, "asks"],
    ["broken", { type: "running" }, "broken"],
  ];
  it.each(table)("%s, %j: %s", (state, status, expectedMark) =>
    expect(rules.markOf(card(state, status))).toBe(expectedMark),
  );

  it("is named after its file if it has no name", () => {
    expect(rules.nameOf(card("active", null))).toBe("Digest");
    expect(rules.nameOf(card("broken", null))).toBe("digest.md");
  });

  it("knows what can be stopped, and what runs only once", () => {
    const stoppable: RunStatus["type"][] = ["running", "needs_you", "waiting"];
    for (const status of [
      { type: "running" },
      { type: "needs_you" },
      { type: "waiting", until: 1 },
      { type: "asked" },
      { type: "finished" },
      { type: "stopped" },
      { type: "failed", error },
    ] as const) {
      expect(rules.canStop(run("a", status)), status.type).toBe(stoppable.includes(status.type));
      expect(rules.isBusy(card("active", status)), status.type).toBe(stoppable.includes(status.type));
    }
  });

  it("can be started while a retry is pending", () => {
    const cause = { type: "retry", of: "a", number: 1 } as const;
    const retried = { ...card("active", null), last: run("b", { type: "waiting", until: 1 }, { cause }) };
    expect(rules.isBusy(retried)).toBe(false);
    expect(rules.canStop(retried.last)).toBe(true);
  });
});

describe("runs", () => {
  it("have their final or current duration", () => {
    expect(rules.durationOf(run("a", { type: "running" }), 4000)).toBe(3000);
    expect(rules.durationOf(run("a", { type: "finished" }, { ended_at: 2500 }), 9000)).toBe(1500);
    expect(rules.durationOf(run("a", { type: "asked" }, { started_at: null }), 9000)).toBeNull();
    // The clock was set back.
    expect(rules.durationOf(run("a", { type: "running" }), 10)).toBe(0);
  });

  it("reloaded precede older ones, each once", () => {
    const pending = (id: string, due: number): TaskRun => run(id, { type: "finished" }, { due });
    const runs = [pending("c", 30), pending("b", 20), pending("b2", 20), pending("a", 10)];
    const newest = [pending("d", 40), pending("c", 30), pending("b", 20)];
    expect(rules.mergeRuns(newest, runs).map(({ id }) => id)).toEqual(["d", "c", "b", "b2", "a"]);
    expect(rules.mergeRuns([], runs)).toEqual([]);
  });
});

describe("a time of day", () => {
  it.each([
    ["8", "08:00"],
    ["08:30", "08:30"],
    ["8.05", "08:05"],
    ["8：30", "08:30"],
    ["0830", "08:30"],
    [" 23:59 ", "23:59"],
    ["24:00", null],
    ["12:60", null],
    ["830", null],
    ["8:5", null],
    ["noon", null],
    ["", null],
  ])("%j", (text, time) => expect(rules.timeOfDay(text)).toBe(time));

  it("is parsed as it was formatted", () => {
    fc.assert(
      fc.property(fc.nat(23), fc.nat(59), (hour, minute) => {
        const time = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
        expect(rules.timeOfDay(time)).toBe(time);
        expect(rules.timeOfDay(time.replace(":", ""))).toBe(time);
      }),
    );
  });
});

describe("a zone", () => {
  it.each([
    ["Europe/Berlin", true],
    ["UTC", true],
    ["Australia/Lord_Howe", true],
    ["Mars/Olympus", false],
    ["", false],
  ])("%j: %s", (zone, valid) => expect(rules.isZone(zone)).toBe(valid));
});

describe("a cron expression", () => {
  const all = rules.WEEKDAYS;
  const hours = (count: number, from: string, until: string | null) =>
    ({ type: "every", count, unit: "hours", from, until }) as const;
  it.each([
    ["0 8 * * *", { type: "weekly", days: all, times: ["08:00"] }],
    ["30 20,8 * * *", { type: "weekly", days: all, times: ["08:30", "20:30"] }],
    ["0 9 * * 1-5", { type: "weekly", days: all.slice(0, 5), times: ["09:00"] }],
    ["0 9 * * MON,wed", { type: "weekly", days: ["monday", "wednesday"], times: ["09:00"] }],
    ["0 9 * * 0", { type: "weekly", days: ["sunday"], times: ["09:00"] }],
    ["0 9 * * 5-7", { type: "weekly", days: ["friday", "saturday", "sunday"], times: ["09:00"] }],
    ["15 9 1,15 * *", { type: "monthly", days: [1, 15], times: ["09:15"] }],
    ["*/15 * * * *", { type: "every", count: 15, unit: "minutes", from: "00:00", until: null }],
    ["0 */2 * * *", hours(2, "00:00", null)],
    ["5 * * * *", hours(1, "00:05", null)],
    ["0 8-20/2 * * *", hours(2, "08:00", "20:00")],
    ["0 8-19/2 * * *", hours(2, "08:00", "18:00")],
    ["30 9-17 * * *", hours(1, "09:30", "17:30")],
  ])("%s means what the form can say", (expression, timing) => expect(rules.cronTiming(expression)).toEqual(timing));

  it.each([
    "0 9 1 * 1", // days of the month and of the week
    "0 9 * 6 *", // months
    "*/7 * * * *", // begins anew each hour
    "0 */5 * * *", // begins anew each day
    "0,30 9 * * *",
    "*/15 9-17 * * *",
    "0 */2 * * 1",
    "0 9 * * 5-1",
    "0 9 * * MON#1",
    "0 9 L * *",
    "0 25 * * *",
    "0 9 32 * *",
    "@daily",
    "0 8 * *",
    "0 0 8 * * *",
    "",
  ])("%j is left as it is", (expression) => expect(rules.cronTiming(expression)).toBeNull());
});
