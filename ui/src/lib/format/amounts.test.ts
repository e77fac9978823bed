import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDollars, parseTokens, editableDollars } from "./amounts";

describe("dollars", () => {
  it.each([
    ["5", 5_000_000_000],
    ["0.50", 500_000_000],
    ["0,5", 500_000_000],
    ["$ 12.25", 12_250_000_000],
    ["  ", null],
    ["0", "wrong"],
    ["-1", "wrong"],
    ["1.234,50", "wrong"],
    ["five", "wrong"],
    ["1e9", "wrong"],
    ["99999999", "wrong"],
  ] as const)("%j", (text, value) => expect(parseDollars(text)).toBe(value));

  it("are parsed as they were formatted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000_000_000 }), (tenThousandths) => {
        const nano = tenThousandths * 100_000;
        expect(parseDollars(editableDollars(nano))).toBe(nano);
      }),
    );
    expect([editableDollars(null), editableDollars(2e9), editableDollars(5e8), editableDollars(12.5e6)]).toEqual([
      "",
      "2",
      "0.50",
      "0.0125",
    ]);
  });
});

describe("tokens", () => {
  it.each([
    ["150000", 150_000],
    ["150 000", 150_000],
    ["150,000", 150_000],
    ["150.000", 150_000],
    ["120k", 120_000],
    ["1.5M", 1_500_000],
    ["0,2 m", 200_000],
    ["", null],
    ["5", "wrong"],
    ["many", "wrong"],
    ["20M", "wrong"],
    ["1.2.3", "wrong"],
  ] as const)("%j", (text, value) => expect(parseTokens(text)).toBe(value));
});
