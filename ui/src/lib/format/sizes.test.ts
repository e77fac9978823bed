import { describe, expect, it } from "vitest";
import { bytes, parseWhole } from "./sizes";

describe("sizes", () => {
  it("have three digits at most and one unit", () => {
    const cases = [
      [0, "0 B"],
      [999, "999 B"],
      [1000, "1.0 kB"],
      [6_100, "6.1 kB"],
      [9_960, "10 kB"],
      [388_000_000, "388 MB"],
      [999_600, "1.0 MB"],
      [5_368_709_120, "5.4 GB"],
    ] as const;
    for (const [n, text] of cases) expect(bytes(n)).toBe(text);
  });
  it("are typed as whole numbers", () => {
    expect(["30", " 5 ", "", "0", "-1", "1.5", "x"].map(parseWhole)).toEqual([
      30,
      5,
      null,
      "wrong",
      "wrong",
      "wrong",
      "wrong",
    ]);
  });
});
