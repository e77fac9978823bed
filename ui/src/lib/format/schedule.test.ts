// @vitest-environment jsdom
import type { RunStatus, SkipReason, TaskPlan, TaskRun, Timing } from "$lib/ipc/types";
import { setLanguage } from "$lib/words/words.svelte";
import { afterEach, describe, expect, it } from "vitest";
import { WEEKDAYS } from "../state/schedule";
import * as words from "./schedule";

/** A Saturday. */
const NOW = new Date(2026, 10, 21, 14, 2).getTime();
const dateAt = (day: number, hour: number, minute = 0, month = 10): number =>
  new Date(2026, month, day, hour, minute).getTime();
afterEach(() => setLanguage("en"));

const weekly = (days: readonly number[], ...times: string[]): Timing => ({
  type: "weekly",
  days: days.map((day) => WEEKDAYS[day] ?? "monday"),
  times,
});
const everyCount = (count: number, unit: "minutes" | "hours" | "days", from: string, until: string | null): Timing => ({
  type: "every",
  count,
  unit,
  from,
  until,
});

describe("the schedule of a task", () => {
  const table: [Timing, string, string][] = [
    [{ type: "by_hand" }, "Manual", "手动"],
    [{ type: "once", at: "2026-11-24T22:00" }, "Once, 24 Nov 22:00", "仅一次，11月24日 22:00"],
    [everyCount(2, "hours", "08:00", "20:00"), "Every 2 hours, 8–20", "每 2 小时，8–20 点"],
    [everyCount(1, "hours", "00:00", null), "Every hour", "每小时"],
    [everyCount(3, "hours", "08:30", null), "Every 3 hours, from 08:30", "每 3 小时，从 08:30 起"],
    [everyCount(15, "minutes", "08:30", "17:45"), "Every 15 minutes, 08:30–17:45", "每 15 分钟，08:30至17:45"],
    [everyCount(1, "days", "08:00", null), "Every day, 08:00", "每天 08:00"],
    [everyCount(3, "days", "08:00", null), "Every 3 days, 08:00", "每 3 天，08:00"],
    [weekly([0, 1, 2, 3, 4, 5, 6], "08:00"), "Every day, 08:00", "每天 08:00"],
    [weekly([0, 1, 2, 3, 4], "08:00", "20:00"), "Mon–Fri, 08:00, 20:00", "周一至周五 08:00、20:00"],
    [weekly([5, 6], "10:00"), "Weekends, 10:00", "周末 10:00"],
    [weekly([4], "17:00"), "Fridays, 17:00", "每周五 17:00"],
    [weekly([0, 2, 4], "09:00"), "Mon, Wed, Fri, 09:00", "每周一、周三、周五 09:00"],
    [weekly([1, 2, 3], "09:00"), "Tue–Thu, 09:00", "每周二至周四 09:00"],
    [weekly([1, 2], "09:00"), "Tue, Wed, 09:00", "每周二、周三 09:00"],
    [
      weekly([0], "06:00", "07:00", "08:00", "09:00"),
      "Mondays, 06:00, 07:00 and 2 more",
      "每周一 06:00、07:00 及另外 2 个时间",
    ],
    [{ type: "monthly", days: [1], times: ["09:00"] }, "1st of the month, 09:00", "每月 1 日 09:00"],
    [
      { type: "monthly", days: [2, 13, 23, 31], times: ["09:00"] },
      "2nd, 13th, 23rd, 31st of the month, 09:00",
      "每月 2 日、13 日、23 日、31 日 09:00",
    ],
    [{ type: "cron", expression: "0 10 * * 1" }, "Mondays, 10:00", "每周一 10:00"],
    [{ type: "cron", expression: "0 9 1-7 * 1" }, "Cron 0 9 1-7 * 1", "Cron 0 9 1-7 * 1"],
  ];
  it.each(table)("%j", async (timing, english, chinese) => {
    expect(words.timingWords(timing, NOW)).toBe(english);
    await setLanguage("zh");
    expect(words.timingWords(timing, NOW)).toBe(chinese);
  });

  it("names another year", () => {
    expect(words.timingWords({ type: "once", at: "2027-01-02T09:00" }, NOW)).toBe("Once, 2 Jan 2027 09:00");
  });
});

describe("times", () => {
  it.each([
    [dateAt(21, 16), "Today 16:00", "今天 16:00"],
    [dateAt(22, 8), "Tomorrow 08:00", "明天 08:00"],
    [dateAt(20, 8), "Yesterday 08:00", "昨天 08:00"],
    [dateAt(27, 17), "Fri 17:00", "周五 17:00"],
    [dateAt(16, 17), "Mon 17:00", "周一 17:00"],
    [dateAt(1, 9, 0, 11), "1 Dec 09:00", "12月1日 09:00"],
    [dateAt(2, 9), "2 Nov", "11月2日"],
  ])("%d", async (moment, english, chinese) => {
    expect(words.nearTime(moment, NOW)).toBe(english);
    await setLanguage("zh");
    expect(words.nearTime(moment, NOW)).toBe(chinese);
  });

  it("of one day share a line", async () => {
    expect(words.nextTimeLines([dateAt(21, 16), dateAt(21, 18), dateAt(22, 8)], NOW)).toEqual([
      "Today 16:00, 18:00",
      "Tomorrow 08:00",
    ]);
    expect(words.nextTimeLines([dateAt(23, 8), dateAt(28, 8)], NOW)).toEqual(["Mon 23 Nov 08:00", "Sat 28 Nov 08:00"]);
    await setLanguage("zh");
    expect(words.nextTimeLines([dateAt(23, 8), dateAt(23, 20)], NOW)).toEqual(["11月23日周一 08:00、20:00"]);
  });
});

const run = (status: RunStatus, change: Partial<TaskRun> = {}): TaskRun => ({
  id: "r",
  task: "digest",
  name: "Digest",
  cause: { type: "time" },
  due: dateAt(21, 8),
  started_at: dateAt(21, 8),
  ended_at: dateAt(21, 8, 1),
  status,
  session: null,
  cost: 0,
  result: null,
  ...change,
});

describe("a run", () => {
  const error = { key: "store.full", args: {}, retryable: true };
  const table: [RunStatus, string, string][] = [
    [{ type: "asked" }, "Missed. Run it now?", "Missed"],
    [{ type: "waiting", until: NOW - 1 }, "Queued", "Queued"],
    [{ type: "waiting", until: dateAt(21, 14, 7) }, "Next try: Today 14:07", "Next try: Today 14:07"],
    [{ type: "needs_you" }, "Waiting for your answer", "Needs you"],
    [{ type: "finished" }, "Done", "Today 08:00"],
    [{ type: "failed", error }, "The disk is full.", "Failed"],
    [{ type: "timed_out" }, "Stopped at its time limit", "Took too long"],
    [{ type: "over_budget" }, "Stopped at its budget", "Over budget"],
    [{ type: "stopped" }, "You stopped it", "Stopped"],
    [{ type: "interrupted" }, "Its session was deleted", "Interrupted"],
    [{ type: "skipped", reason: { type: "still_running" } }, "Skipped: the last run was not finished", "Skipped"],
  ];
  it.each(table)("%j", async (status, whole, brief) => {
    expect(words.statusWords(run(status), NOW)).toBe(whole);
    expect(words.briefStatus(run(status), NOW)).toBe(brief);
    await setLanguage("zh");
    expect(words.statusWords(run(status), NOW)).toMatch(/\p{Script=Han}/u);
    expect(words.briefStatus(run(status), NOW)).toMatch(/\p{Script=Han}/u);
  });

  it("shows its seconds while it runs", () => {
    const running = run({ type: "running" }, { started_at: NOW - 40_000, ended_at: null });
    expect(words.statusWords(running, NOW)).toBe("Running, 0:40");
    expect(words.statusWords(running, NOW + 3_600_000)).toBe("Running, 1:00:40");
  });

  const reasons: [SkipReason, string][] = [
    [{ type: "missed", times: 1 }, "Missed while the computer slept or Octo was closed"],
    [{ type: "missed", times: 3 }, "Missed 3 times while the computer slept or Octo was closed"],
    [{ type: "declined" }, "Skipped: you said no"],
    [{ type: "replaced" }, "Not retried: a new run replaced it"],
    [{ type: "day_budget" }, "Skipped: the daily budget was used up"],
    [{ type: "could_not_start", error }, "Could not start: The disk is full."],
  ];
  it.each(reasons)("shows why it was skipped: %j", (reason, expected) => {
    const skipped = run({ type: "skipped", reason }, { cause: { type: "missed", times: 3 } });
    expect(words.runWords(skipped, NOW)).toBe(expected);
  });

  it("shows its answer, and its cause unless it was the schedule", () => {
    const done = { type: "finished" } as const;
    expect(words.runWords(run(done, { result: "7 issues" }), NOW)).toBe("7 issues");
    expect(words.runWords(run(done, { result: " " }), NOW)).toBe("Done");
    const marked = "## There are **two** notes in `a_b*.md`, 2 * 3 lines";
    expect(words.runWords(run(done, { result: marked }), NOW)).toBe("There are two notes in a_b*.md, 2 * 3 lines");
    expect(words.runWords(run(done, { result: "2 issues", cause: { type: "missed", times: 1 } }), NOW)).toBe(
      "Late: 2 issues",
    );
    expect(words.runWords(run(done, { cause: { type: "hand" } }), NOW)).toBe("Manual: Done");
    const retryRun = run({ type: "timed_out" }, { cause: { type: "retry", of: "r0", number: 2 } });
    expect(words.runWords(retryRun, NOW)).toBe("Retry 2: Stopped at its time limit");
  });
});

describe("figures", () => {
  it.each([
    [0, "0:00"],
    [72_400, "1:12"],
    [725_000, "12:05"],
    [3_750_000, "1:02:30"],
  ])("%d ms: %s", (span, expected) => expect(words.clockDuration(span)).toBe(expected));

  it.each([
    [0, ""],
    [1_000_000, "<$0.01"],
    [40_000_000, "$0.04"],
    [1_140_000_000, "$1.14"],
  ])("%d: %s", (nano, expected) => expect(words.money(nano)).toBe(expected));

  it("show the limits of one run", async () => {
    const plan = { budget: 250_000_000, minutes: 10, retry: { times: 2, minutes: 5 } } as TaskPlan;
    expect(words.limitWords(plan)).toBe("$0.25 per run, 10 min, 2 retries");
    expect(words.limitWords({ ...plan, budget: null, retry: { times: 0, minutes: 0 } })).toBe("no budget, 10 min");
    expect(words.limitWords({ ...plan, budget: 2e9, retry: { times: 1, minutes: 5 } })).toBe(
      "$2.00 per run, 10 min, 1 retry",
    );
    await setLanguage("zh");
    expect(words.limitWords(plan)).toBe("每次 $0.25、10 分钟、重试 2 次");
  });
});
