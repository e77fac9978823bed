import { describe, expect, it } from "vitest";
import { EscapePairs } from "./escape";

describe("Escape", () => {
  it("counts as a pair if pressed twice within a short time", () => {
    const pairs = new EscapePairs();
    expect([1000, 1400, 1500, 2200, 2600].map((time) => pairs.press(time))).toEqual([false, true, false, false, true]);
  });

  it("that stopped a turn does not start a pair", () => {
    const pairs = new EscapePairs();
    pairs.press(1000);
    pairs.forget();
    expect(pairs.press(1100)).toBe(false);
  });
});
