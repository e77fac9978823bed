import { describe, expect, it } from "vitest";
import { diskSize, fileSize, parseWhole, permissions } from "./size";

describe("the size of a folder", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [24_576, "25 kB"],
    [999_499, "999 kB"],
    [999_500, "1 MB"],
    [3_400_000, "3.4 MB"],
    [41_600_000, "42 MB"],
    [2_000_000_000, "2 GB"],
    [1_500_000_000_000, "1.5 TB"],
    [2_000_000_000_000_000, "2000 TB"],
  ])("of %i bytes is shown", (bytes, expected) => {
    expect(diskSize(bytes)).toBe(expected);
  });
});

describe("the size of a file", () => {
  it("has at most three digits and one unit", () => {
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
    for (const [bytes, text] of cases) expect(fileSize(bytes)).toBe(text);
  });
});

describe("a whole number", () => {
  it("is parsed if it is at least one", () => {
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

it("formats permission bits as octal digits", () => {
  expect([0o100644, 0o755, 0o4711, 0].map(permissions)).toEqual(["644", "755", "4711", "000"]);
});
