import type { TaskPlan, Timing } from "$lib/ipc/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WEEKDAYS } from "./schedule";
import { blankForm, formOf, type FormFault, type PlanField, readForm, type TaskForm, tomorrowOf } from "./task-form";

const base = {
  zone: "Europe/Berlin",
  folder: "/home/mei/harbor",
  profile: "general",
  mode: "ask_risky",
  tomorrow: "2026-11-23",
} as const;
const form = (change: Partial<TaskForm> = {}): TaskForm => ({
  ...blankForm(base),
  name: "Digest",
  prompt: "Write it.",
  ...change,
});

describe("the form of a new task", () => {
  it("has limits and asks before risky actions", () => {
    const { plan } = readForm(form());
    expect(plan).toMatchObject({ budget: 1_000_000_000, minutes: 30, retry: { times: 1, minutes: 10 } });
    expect(blankForm({ ...base, mode: "autonomous" }).mode).toBe("ask_risky");
    expect(blankForm({ ...base, mode: "ask" }).mode).toBe("ask");
  });
  it("shows when it would run before it has a name", () => {
    const { plan, faults } = readForm(blankForm(base));
    expect(plan?.when).toEqual({ type: "weekly", days: WEEKDAYS, times: ["08:00"] });
    expect(Object.fromEntries(faults)).toEqual({ name: "name", prompt: "prompt" });
  });
  it("starts tomorrow, also across months and years", () => {
    expect(tomorrowOf(new Date(2026, 10, 22, 23, 59).getTime())).toBe("2026-11-23");
    expect(tomorrowOf(new Date(2027, 1, 28, 0, 0).getTime())).toBe("2027-03-01");
    expect(tomorrowOf(new Date(2026, 11, 31, 12, 0).getTime())).toBe("2027-01-01");
  });
});

describe("the errors of a form", () => {
  const table: [Partial<TaskForm>, PlanField, FormFault][] = [
    [{ name: "  " }, "name", "name"],
    [{ prompt: "\n" }, "prompt", "prompt"],
    [{ kind: "once", date: "" }, "when", "date"],
    [{ kind: "once", date: "2026-13-40" }, "when", "date"],
    [{ kind: "once", time: "25" }, "when", "time"],
    [{ kind: "every", count: "0" }, "when", "count"],
    [{ kind: "every", count: "1.5" }, "when", "count"],
    [{ kind: "every", count: "4", unit: "minutes" }, "when", "often"],
    [{ kind: "every", from: "20:00", until: "8" }, "when", "until"],
    [{ kind: "every", from: "late" }, "when", "time"],
    [{ kind: "weekly", weekdays: [] }, "when", "weekdays"],
    [{ kind: "weekly", times: [] }, "when", "times"],
    [{ kind: "weekly", times: ["08:00", ""] }, "when", "time"],
    [{ kind: "monthly", days: [] }, "when", "days"],
    [{ kind: "cron", expression: "0 8 * *" }, "when", "cron"],
    [{ zone: "Mars/Olympus" }, "zone", "zone"],
    [{ folder: "" }, "folder", "folder"],
    [{ folder: "code/harbor" }, "folder", "folder"],
    [{ budget: "0" }, "budget", "budget"],
    [{ minutes: "0" }, "minutes", "minutes"],
    [{ minutes: "1441" }, "minutes", "minutes"],
    [{ retries: "6" }, "retry", "retry"],
    [{ retryAfter: "soon" }, "retry", "retry"],
    [{ retryAfter: "0" }, "retry", "retry"],
  ];
  it.each(table)("%j: %s", (change, field, fault) => {
    const { plan, faults } = readForm(form(change));
    expect(Object.fromEntries(faults)).toEqual({ [field]: fault });
    // Its times can still be computed unless they are the wrong field.
    expect(plan === null).toBe(field === "when");
  });

  it.each<Partial<TaskForm>>([
    { kind: "every", count: "4", unit: "days", until: "nonsense" },
    { kind: "every", until: "" },
    { kind: "by_hand", times: [] },
    { budget: "" },
    { retries: "0", retryAfter: "soon" },
    { folder: "C:\\Users\\mei" },
    { folder: "\\\\server\\share" },
  ])("nothing: %j", (change) => expect([...readForm(form(change)).faults]).toEqual([]));
});

describe("a plan", () => {
  const time = fc
    .tuple(fc.nat(23), fc.nat(59))
    .map(([hour, minute]) => `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`);
  const times = fc.uniqueArray(time, { minLength: 1, maxLength: 4 }).map((all) => all.sort());
  const timing: fc.Arbitrary<Timing> = fc.oneof(
    fc.constant<Timing>({ type: "by_hand" }),
    time.map((time): Timing => ({ type: "once", at: `2026-12-24T${time}` })),
    fc
      .tuple(fc.integer({ min: 5, max: 60 }), fc.constantFrom("minutes", "hours", "days"))
      .chain(([count, unit]) => time.map((from): Timing => ({ type: "every", count, unit, from, until: null }))),
    fc.constant<Timing>({ type: "every", count: 2, unit: "hours", from: "08:00", until: "20:00" }),
    fc
      .tuple(fc.subarray([...WEEKDAYS], { minLength: 1 }), times)
      .map(([days, all]): Timing => ({ type: "weekly", days, times: all })),
    fc
      .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1 }), times)
      .map(([days, all]): Timing => ({ type: "monthly", days: days.sort((a, b) => a - b), times: all })),
    fc.constant<Timing>({ type: "cron", expression: "0 9 * * 1#1" }),
  );
  it("is unchanged by a round trip through its form", () => {
    fc.assert(
      fc.property(
        timing,
        fc.option(fc.integer({ min: 1, max: 100_000 }).map((n) => n * 100_000)),
        fc.integer({ min: 1, max: 1440 }),
        fc.integer({ min: 1, max: 5 }),
        (when, budget, minutes, retries) => {
          const plan: TaskPlan = {
            name: "Digest",
            prompt: "Write it.",
            when,
            zone: "Asia/Shanghai",
            folder: "/home/mei",
            profile: "coding",
            mode: "autonomous",
            model: "m",
            budget,
            minutes,
            retry: { times: retries, minutes: retries * 7 },
            missed: "ask",
            tell: "nothing",
          };
          const read = readForm(formOf(plan, "2026-11-23"));
          expect([...read.faults]).toEqual([]);
          expect(read.plan).toEqual(plan);
        },
      ),
    );
  });

  it("is formatted in the usual way", () => {
    const weekly = readForm(form({ weekdays: ["friday", "monday"], times: ["20.30", "8", "08:00"] })).plan?.when;
    expect(weekly).toEqual({ type: "weekly", days: ["monday", "friday"], times: ["08:00", "20:30"] });
    const monthly = readForm(form({ kind: "monthly", days: [15, 2] })).plan?.when;
    expect(monthly).toEqual({ type: "monthly", days: [2, 15], times: ["08:00"] });
    const cron = readForm(form({ kind: "cron", expression: " 0  8 * * 1 " })).plan?.when;
    expect(cron).toEqual({ type: "cron", expression: "0 8 * * 1" });
    expect(readForm(form({ name: " a ", folder: " /b " })).plan).toMatchObject({ name: "a", folder: "/b" });
    // Without retries there is no delay.
    expect(readForm(form({ retries: "0", retryAfter: "7" })).plan?.retry).toEqual({ times: 0, minutes: 0 });
  });
});
