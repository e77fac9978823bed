import { describe, expect, it } from "vitest";
import { permissions, size } from "./size";

describe("size", () => {
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
  ])("%i bytes", (bytes, expected) => {
    expect(size(bytes)).toBe(expected);
  });
});

it("permissions are written as they are typed", () => {
  expect([0o100644, 0o755, 0o4711, 0].map(permissions)).toEqual(["644", "755", "4711", "000"]);
});
