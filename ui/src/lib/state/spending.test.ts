import type { AboveIdeal, BilledCall, Spending, SpendingLine } from "$lib/ipc/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  amount,
  aboveIdeal,
  dayOf,
  hitRate,
  hitsByDay,
  labelledDays,
  axisTicks,
  nothing,
  outputRate,
  partsOf,
  periodOf,
  shareAboveIdeal,
  stacksOf,
  startOf,
  sumOfCalls,
  sumOfLines,
} from "./spending";

const usage = { input: 10, cache_read: 80, cache_write: 10, output: 5 };
const call: BilledCall = {
  turn: "t",
  message: null,
  purpose: "turn",
  model: null,
  name: "m",
  at: 1,
  usage,
  written_for_an_hour: 0,
  again: 0,
  again_cost: 0,
  cost: 70,
  first_byte_ms: 500,
  total_ms: 1500,
  outcome: "answered",
  expected_read: null,
  miss: null,
};
const line = (day: string, name: string, purpose: SpendingLine["purpose"], part: Partial<Spending>): SpendingLine => ({
  day,
  name,
  purpose,
  spending: { ...nothing, calls: 1, ...part },
});

describe("totals", () => {
  it("distinguish an unknown price from a free call", () => {
    const sum = sumOfCalls([call, { ...call, cost: 0 }, { ...call, usage: null, cost: null }]);
    expect(sum).toEqual({
      calls: 3,
      usage: { input: 20, cache_read: 160, cache_write: 20, output: 10 },
      cost: 70,
      unpriced: 1,
    });
  });

  it("give the cached share, or none without input", () => {
    expect(hitRate(usage)).toBe(0.8);
    expect(hitRate({ ...nothing.usage, output: 3 })).toBeNull();
  });

  it("give a rate only if there is one", () => {
    expect(outputRate({ usage: { ...usage, output: 200 }, first_byte_ms: 500, total_ms: 1500 })).toBe(200);
    expect(outputRate({ usage: null, first_byte_ms: 500, total_ms: 1500 })).toBeNull();
    expect(outputRate({ usage, first_byte_ms: null, total_ms: 1500 })).toBeNull();
    expect(outputRate({ usage, first_byte_ms: 1500, total_ms: 1500 })).toBeNull();
  });
});

describe("periods", () => {
  const now = new Date(2026, 10, 22, 15, 30).getTime();

  it("end today and have the stated number of days", () => {
    const week = periodOf("7", now);
    expect(week.days).toEqual([
      "2026-11-16",
      "2026-11-17",
      "2026-11-18",
      "2026-11-19",
      "2026-11-20",
      "2026-11-21",
      "2026-11-22",
    ]);
    expect([new Date(week.from).getHours(), new Date(week.to).getDate()]).toEqual([0, 23]);
    expect(periodOf("month", now).days[0]).toBe("2026-11-01");
    expect(periodOf("month", now).days.length).toBe(22);
  });

  it("cover their days exactly once across clock changes", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(2020, 0, 1), max: new Date(2035, 0, 1), noInvalidDate: true }),
        fc.constantFrom("7", "30", "90", "month"),
        (date, range) => {
          const { from, to, days } = periodOf(range, date.getTime());
          expect(new Set(days).size).toBe(days.length);
          expect([dayOf(from), dayOf(to - 1)]).toEqual([days[0], days.at(-1)]);
          expect(days.map((day) => dayOf(startOf(day)))).toEqual(days);
        },
      ),
    );
  });
});

describe("parts of a report", () => {
  const lines = [
    line("2026-11-21", "a", "turn", { cost: 5, usage }),
    line("2026-11-22", "a", "compaction", { cost: 4 }),
    line("2026-11-22", "b", "turn", { cost: 7 }),
    line("2026-11-22", "free", "turn", { usage, unpriced: 1 }),
  ];

  it("are sorted by cost, by model and by purpose", () => {
    expect(partsOf(lines, "model").map((part) => [part.name, part.spending.cost])).toEqual([
      ["a", 9],
      ["b", 7],
      ["free", 0],
    ]);
    expect(partsOf(lines, "purpose").map((part) => [part.name, part.spending.calls])).toEqual([
      ["turn", 3],
      ["compaction", 1],
    ]);
  });

  it("are stacked by day, including empty days, and free parts are omitted from the cost", () => {
    const stacks = stacksOf(lines, ["2026-11-20", "2026-11-21", "2026-11-22"], "model", "cost");
    expect(stacks.series).toEqual(["a", "b"]);
    expect(stacks.days.map((day) => day.values)).toEqual([
      [0, 0],
      [5, 0],
      [4, 7],
    ]);
    expect(stacks.most).toBe(11);
    expect(stacksOf(lines, ["2026-11-22"], "model", "calls").series).toEqual(["a", "b", "free"]);
  });

  it("beyond the number of colours are merged", () => {
    const many = ["a", "b", "c", "d", "e"].map((name, index) => line("2026-11-22", name, "turn", { cost: 10 - index }));
    expect(stacksOf(many.slice(0, 4), ["2026-11-22"], "model", "cost").series).toEqual(["a", "b", "c", "d"]);
    const stacks = stacksOf(many, ["2026-11-22"], "model", "cost");
    expect(stacks.series).toEqual(["a", "b", "c", null]);
    expect(stacks.days[0]?.values).toEqual([10, 9, 8, 13]);
  });

  it("sum to the total under any split", () => {
    const days = ["2026-11-20", "2026-11-21", "2026-11-22"];
    const lineOf = fc
      .tuple(
        fc.constantFrom(...days),
        fc.constantFrom("a", "b", "c", "d", "e", "f"),
        fc.constantFrom("turn", "compaction", "warmth", "suggestion"),
        fc.nat(1000),
      )
      .map(([day, name, purpose, cost]) =>
        line(day, name, purpose as SpendingLine["purpose"], { cost, usage: { ...usage, input: cost } }),
      );
    fc.assert(
      fc.property(
        fc.array(lineOf, { maxLength: 40 }),
        fc.constantFrom("model", "purpose"),
        fc.constantFrom("cost", "tokens", "calls"),
        (lines, split, measure) => {
          const whole = amount(sumOfLines(lines), measure);
          const total = stacksOf(lines, days, split, measure).days.reduce((sum, day) => sum + day.total, 0);
          expect(total).toBe(whole);
          expect(partsOf(lines, split).reduce((sum, part) => sum + amount(part.spending, measure), 0)).toBe(whole);
        },
      ),
    );
  });
});

describe("axes", () => {
  it.each([
    [1.42e9, [0, 5e8, 1e9, 1.5e9]],
    [7, [0, 2, 4, 6, 8]],
    [40, [0, 10, 20, 30, 40]],
    [0, [0, 1]],
  ])("up to %d have round marks", (limit, marks) => expect(axisTicks(limit)).toEqual(marks));

  it("cover the data with few ticks", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e13, noNaN: true }), (limit) => {
        const marks = axisTicks(limit);
        expect(marks.at(-1)).toBeGreaterThanOrEqual(limit * (1 - 1e-6));
        expect(marks.length).toBeGreaterThanOrEqual(3);
        expect(marks.length).toBeLessThanOrEqual(6);
      }),
    );
  });

  it("label as many days as fit", () => {
    expect(labelledDays(7, 10)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(labelledDays(30, 10).length).toBe(10);
    expect(labelledDays(3, 0)).toEqual([0]);
  });
});

describe("the cost above the ideal", () => {
  const aboveIdealCosts = (missed: number, warmth = 0, failed = 0): AboveIdeal => ({
    missed,
    warmth,
    failed,
    unpriced: 0,
  });
  const spent = (cost: number): Spending => ({ ...nothing, calls: 1, cost });

  it("is a share of the ideal cost", () => {
    expect([aboveIdeal(aboveIdealCosts(3, 4, 5)), shareAboveIdeal(spent(112), aboveIdealCosts(3, 4, 5))]).toEqual([
      12, 0.12,
    ]);
    expect(shareAboveIdeal(spent(100), aboveIdealCosts(0))).toBe(0);
  });

  it("is not shown without prices or without an ideal cost", () => {
    expect([shareAboveIdeal(spent(0), aboveIdealCosts(0)), shareAboveIdeal(spent(5), aboveIdealCosts(5))]).toEqual([
      null,
      null,
    ]);
  });
});

describe("the share read from the cache", () => {
  it("is computed per day over all lines, and unknown for days without input", () => {
    const line = (day: string, input: number, cache_read: number): SpendingLine => ({
      day,
      name: "m",
      purpose: "turn",
      spending: { ...nothing, usage: { ...nothing.usage, input, cache_read } },
    });
    const lines = [line("2026-11-20", 10, 30), line("2026-11-20", 0, 60), line("2026-11-22", 5, 0)];
    expect(hitsByDay(lines, ["2026-11-20", "2026-11-21", "2026-11-22"])).toEqual([0.9, null, 0]);
  });
});
